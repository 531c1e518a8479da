"""The prompt's share of softmax attention, against context length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ..models.arms import ARMS
from . import Figure, Tables, names, style
from .describe import describe

if TYPE_CHECKING:
    from .hints import Axes, Config, Curve, Line2D, MplFigure, Setting, pd

HEIGHT = 2.6  # inches of a panel
APART = 0.012  # of the x axis, between arms
ENGINE = "softmax"  # of models with such a share


class PromptShare(Figure):
    """A panel per setting: mean and spread of the share in the head with the largest."""

    subject = "settings of softmax attention with prompts"
    properties: ClassVar = {"settings": names("The settings that are drawn, a panel each")}
    required = ("settings",)

    @classmethod
    def can_draw(cls, setting: Setting) -> bool:
        """Only settings of softmax attention with prompts."""
        return super().can_draw(setting) and len(cls.prompted_curves(setting)) > 0

    @staticmethod
    def prompted_curves(setting: Setting) -> list[Curve]:
        """Curves of softmax attention with a prompt."""
        return [c for c in setting.curves if c.trains.prompted and c.model_class.engine == ENGINE]

    def needs(self, config: Config) -> dict[str, list[str]]:
        return {"specs": self.setting_names, "prompt_share": self.setting_names}

    def plot_spec(self, config: Config) -> dict[str, Any]:
        return {"settings": self.setting_names}

    def curves(self, config: Config) -> list[Curve]:
        return [
            curve
            for base in self.setting_names
            for curve in self.prompted_curves(config.settings[base])
        ]

    @staticmethod
    def draw(plot_spec: Mapping[str, Any], tables: Tables, note: str) -> MplFigure:
        style.use_style()
        settings, shares = plot_spec["settings"], tables["prompt_share"]
        arms = [arm for arm in ARMS if arm in set(shares.arm)]
        width = len(settings) * style.PANEL_SIZE[0]
        figure, body = style.framed(width, HEIGHT, _legend(arms), note)
        axes = body.subplots(1, len(settings), squeeze=False, sharey=True)[0]
        for name, ax in zip(settings, axes, strict=True):
            _draw_panel(ax, shares[shares.setting == name], arms)
            ax.set_title(describe(tables["specs"][name]))
        axes[0].set_ylabel("prompt's share of attention")
        style.despine(axes)
        return figure


KIND = PromptShare


def _draw_panel(ax: Axes, shares: pd.DataFrame, arms: Sequence[str]) -> None:
    apart = APART * max(shares.n.max() - shares.n.min(), 1)
    for i, arm in enumerate(arms):
        rows = shares[(shares.arm == arm) & (shares["head"] == 1)].sort_values("n")
        bars = [rows.share - rows.low, rows.high - rows.share]
        at = rows.n + (i - (len(arms) - 1) / 2) * apart  # side by side
        ax.errorbar(at, rows.share, bars, ls="-", lw=1, elinewidth=0.7, **style.marked(arm))
    ax.set(xlabel="context length $n$", ylim=(0, 1))
    style.whole_ticks(ax, shares.n)


def _legend(arms: Sequence[str]) -> list[Line2D]:
    bars = style.key("bars: 10% to 90% of contexts", color="0.2", marker="|", ls="none")
    return [*(style.arm_key(arm) for arm in arms), bars]
