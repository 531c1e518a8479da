"""Risk against the size of a model, a panel for each context length."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ..models.arms import ARMS
from . import Figure, Problem, Tables, style
from .describe import describe
from .lines import computed, trained

if TYPE_CHECKING:
    from .hints import Axes, Config, Curve, Line2D, MplFigure, Setting

HEIGHT = 2.6  # inches of a panel


class Sizes(Figure):
    """A figure of a setting's first model in several sizes, a panel per n, defined by `points`."""

    axis: ClassVar[str]  # label of the x axis
    symbol: ClassVar[str]
    logarithmic: ClassVar[bool] = False

    def points(self, settings: Mapping[str, Setting]) -> list[tuple[int, str, int]]:
        """Size, setting and layers of each point."""
        raise NotImplementedError

    def arms(self, base: Setting) -> Sequence[str]:
        return self.block.get("arms", base.arms)

    def problems(self, config: Config) -> Iterator[Problem]:
        yield from self.arm_problems(config.settings[self.setting_names[0]])

    def needs(self, config: Config) -> dict[str, list[str]]:
        names = dict.fromkeys(name for _, name, _ in self.points(config.settings))
        base = dict.fromkeys(("specs", "theory", "bayes"), self.setting_names)
        return {"risks": list(names), **base}

    def curves(self, config: Config) -> list[Curve]:
        base = config.settings[self.setting_names[0]]
        found = []
        for _, name, layers in self.points(config.settings):
            found += config.settings[name].select_curves(base.model, layers, self.arms(base))
        return found

    def plot_spec(self, config: Config) -> dict[str, Any]:
        base = config.settings[self.setting_names[0]]
        return {
            "setting": base.name,
            "model": base.model,
            "arms": list(dict.fromkeys(curve.arm for curve in self.curves(config))),
            "n": list(self.block.get("n", base.n)),
            "points": [list(point) for point in self.points(config.settings)],
            "axis": self.axis,
            "symbol": self.symbol,
            "logarithmic": self.logarithmic,
        }

    @staticmethod
    def draw(plot_spec: Mapping[str, Any], tables: Tables, note: str) -> MplFigure:
        style.use_style()
        lengths = plot_spec["n"]
        width = len(lengths) * style.PANEL_SIZE[0]
        figure, body = style.framed(width, HEIGHT, _legend(plot_spec, tables), note)
        axes = body.subplots(1, len(lengths), squeeze=False)[0]
        for n, ax in zip(lengths, axes, strict=True):
            _draw_panel(ax, plot_spec, tables, n)
            ax.set_title(f"$n={n}$")
        axes[0].set_ylabel(r"risk / $\mathrm{E}[y^2]$")
        style.despine(axes)
        mix = tables["specs"][plot_spec["setting"]]
        body.suptitle(describe(mix).replace("\n", " "), fontsize=8)
        return figure


def _draw_panel(ax: Axes, plot_spec: Mapping[str, Any], tables: Tables, n: int) -> None:
    import pandas as pd

    base, model, points = plot_spec["setting"], plot_spec["model"], plot_spec["points"]
    sizes = sorted({size for size, _, _ in points})
    shown = []
    for arm in plot_spec["arms"]:
        parts = [
            trained(tables, setting, model, layers, arm).assign(size=size)
            for size, setting, layers in points
        ]
        curve = pd.concat(parts).query("n == @n").sort_values("size")
        shown.append(curve)
        error = 2 * curve.normalized_se
        ax.errorbar(curve["size"], curve.normalized, error, ls="-", lw=1.2, **style.marked(arm))
        theorem = computed(tables, base, arm, "theorem").query("n == @n")
        for value in theorem.normalized:
            ax.axhline(value, ls="--", lw=1, color=style.darker(arm), zorder=1)
    bayes = tables["bayes"][(tables["bayes"].setting == base) & (tables["bayes"].n == n)]
    for value in bayes.normalized:
        ax.axhline(value, color=style.BAYES_STYLE["color"], ls=style.BAYES_STYLE["ls"])
    style.note_diverged(ax, pd.concat(shown), "size", plot_spec["symbol"], model)
    if plot_spec["logarithmic"]:
        ax.set_xscale("log")
        ax.minorticks_off()
    ax.set_xticks(sizes, [str(size) for size in sizes])
    ax.set_xlabel(plot_spec["axis"])
    style.from_zero(ax)


def _legend(plot_spec: Mapping[str, Any], tables: Tables) -> list[Line2D]:
    """Entries for what is drawn: some arms have no theorem, some settings no Bayes-optimal risk."""
    base, arms = plot_spec["setting"], plot_spec["arms"]
    handles = [style.arm_key(arm) for arm in ARMS if arm in arms]
    if any(len(computed(tables, base, arm, "theorem")) for arm in arms):
        handles.append(style.line_key("--", "dashed: linear, theorem"))
    bayes = tables["bayes"]
    if ((bayes.setting == base) & bayes.n.isin(plot_spec["n"])).any():
        handles.append(style.key(**style.BAYES_STYLE))
    return handles
