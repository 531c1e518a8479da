"""Risk against the size of a model, a panel for each context length."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ..models.arms import ARMS
from . import Figure, Problem, Tables, style
from .describe import describe
from .lines import computed, trained

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawn
    from matplotlib.lines import Line2D

    from ..config import Config
    from ..config.settings import Setting
    from ..models.curve import Curve

HEIGHT = 2.6  # inches of a panel


class Sizes(Figure):
    """A figure of one setting's first model in several sizes, a panel per n; all else follows from
    its points."""

    axis: ClassVar[str]  # what sizes are
    symbol: ClassVar[str]
    logarithmic: ClassVar[bool] = False

    def points(self, settings: Mapping[str, Setting]) -> list[tuple[int, str, int]]:
        """Size, setting and layers of each."""
        raise NotImplementedError

    def arms(self, base: Setting) -> Sequence[str]:
        return self.block.get("arms", base.arms)

    def problems(self, config: Config) -> Iterator[Problem]:
        yield from self.arm_problems(config.settings[self.bases[0]])

    def needs(self, config: Config) -> dict[str, list[str]]:
        names = dict.fromkeys(name for _, name, _ in self.points(config.settings))
        return {"risks": list(names), **dict.fromkeys(("specs", "theory", "bayes"), self.bases)}

    def curves(self, config: Config) -> list[Curve]:
        base = config.settings[self.bases[0]]
        found = []
        for _, name, layers in self.points(config.settings):
            found += config.settings[name].drawn(base.model, layers, self.arms(base))
        return found

    def drawing(self, config: Config) -> dict[str, Any]:
        base = config.settings[self.bases[0]]
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
    def draw(drawing: Mapping[str, Any], tables: Tables, note: str) -> Drawn:
        return draw_sizes(drawing, tables, note)


def draw_sizes(drawing: Mapping[str, Any], tables: Tables, note: str) -> Drawn:
    """`drawing` has the setting whose theorems are drawn, `model`, `arms`, `n`, (size, setting,
    layers) of all `points`, and what the sizes are: `axis`, `symbol`, `logarithmic`."""
    style.use_style()
    lengths = drawing["n"]
    width = len(lengths) * style.PANEL_SIZE[0]
    figure, body = style.framed(width, HEIGHT, _legend(drawing, tables), note)
    axes = body.subplots(1, len(lengths), squeeze=False)[0]
    for n, ax in zip(lengths, axes, strict=True):
        _draw_panel(ax, drawing, tables, n)
        ax.set_title(f"$n={n}$")
    axes[0].set_ylabel(r"risk / $\mathrm{E}[y^2]$")
    style.despine(axes)
    mix = tables["specs"][drawing["setting"]]
    body.suptitle(describe(mix).replace("\n", " "), fontsize=8)
    return figure


def _draw_panel(ax: Axes, drawing: Mapping[str, Any], tables: Tables, n: int) -> None:
    import pandas as pd

    base, model, points = drawing["setting"], drawing["model"], drawing["points"]
    sizes = sorted({size for size, _, _ in points})
    shown = []
    for arm in drawing["arms"]:
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
    style.note_diverged(ax, pd.concat(shown), "size", drawing["symbol"], model)
    if drawing["logarithmic"]:
        ax.set_xscale("log")
        ax.minorticks_off()
    ax.set_xticks(sizes, [str(size) for size in sizes])
    ax.set_xlabel(drawing["axis"])
    style.from_zero(ax)


def _legend(drawing: Mapping[str, Any], tables: Tables) -> list[Line2D]:
    """What is drawn: not every arm has a theorem, nor every setting a Bayes-optimal risk."""
    base, arms = drawing["setting"], drawing["arms"]
    handles = [style.arm_key(arm) for arm in ARMS if arm in arms]
    if any(len(computed(tables, base, arm, "theorem")) for arm in arms):
        handles.append(style.line_key("--", "dashed: linear, theorem"))
    bayes = tables["bayes"]
    if ((bayes.setting == base) & bayes.n.isin(drawing["n"])).any():
        handles.append(style.key(**style.BAYES_STYLE))
    return handles
