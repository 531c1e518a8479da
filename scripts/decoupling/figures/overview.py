"""The overview, the paper's Figure 1: every arm between plain training and Theorem 4."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from . import Figure, Problem, Tables, style, text
from .describe import describe
from .lines import ALONE, computed, finish, plot_dashed, plot_trained, trained
from .smooth import filled

if TYPE_CHECKING:
    from .hints import Axes, Config, Curve, MplFigure

MODEL = "attention"
PLACES = {  # arm: rows and columns of the grid, title
    "plain": ((0, slice(2, 4)), "plain training: coupled"),
    "finetune": ((1, slice(1, 3)), "prompts fine-tuned"),
    "joint": ((1, slice(3, 5)), "prompts trained jointly"),
    "joint_heads": ((2, slice(2, 4)), "prompts and heads: decoupled"),
}
GREY = "0.6"


class Overview(Figure):
    properties: ClassVar = {"setting": text("The setting whose arms the overview shows")}
    required = ("setting",)
    label = "overview"

    def problems(self, config: Config) -> Iterator[Problem]:
        source = self.block["setting"]
        setting = config.settings[source]
        wanted = {"models": [MODEL], "layers": [1], "arms": sorted(PLACES)}
        for key, values in wanted.items():
            missing = [str(value) for value in values if value not in getattr(setting, key)]
            if missing:
                yield "setting", f"settings.{source}.{key} lacks {', '.join(missing)}; add it"

    def needs(self, config: Config) -> dict[str, list[str]]:
        return {table: [self.block["setting"]] for table in ("specs", "risks", "theory")}

    def plot_spec(self, config: Config) -> dict[str, Any]:
        return {"setting": self.block["setting"]}

    def curves(self, config: Config) -> list[Curve]:
        return config.settings[self.block["setting"]].select_curves(MODEL, 1, PLACES)

    @staticmethod
    def draw(plot_spec: Mapping[str, Any], tables: Tables, note: str) -> MplFigure:
        style.use_style()
        setting = plot_spec["setting"]
        figure, body = style.framed(2 * style.PANEL_SIZE[0], 6.6, [], note)
        grid = body.add_gridspec(3, 5, width_ratios=[0.5, 1, 1, 1, 1])
        upper = trained(tables, setting, MODEL, 1, "plain")
        lower = computed(tables, setting, "joint_heads", "theorem")
        lower = filled(lower, tables["specs"][setting])
        for arm, (place, title) in PLACES.items():
            ax = body.add_subplot(grid[place])
            ax.plot(upper.n, upper.normalized, "-", color=GREY)
            plot_dashed(ax, lower, color=GREY)
            curve = trained(tables, setting, MODEL, 1, arm)
            plot_trained(ax, curve, arm, **(ALONE if arm == "joint_heads" else {}))
            style.note_diverged(ax, curve, "n", "n", MODEL)
            ax.set_title(title)
            finish(ax)
        _draw_arrow(body.add_subplot(grid[:, 0]))
        title = "Grey: plain training (solid) and Theorem 4 (dashed)\n"
        body.suptitle(title + describe(tables["specs"][setting]), fontsize=8)
        return figure


KIND = Overview


def _draw_arrow(ax: Axes) -> None:
    ax.axis("off")
    arrow = {"arrowstyle": "<->", "color": "0.3", "lw": 1.5}
    ax.annotate("", (0.5, 0.02), (0.5, 0.98), xycoords="axes fraction", arrowprops=arrow)
    for height, word in ((0.85, "coupled"), (0.15, "decoupled")):
        ax.text(0.2, height, word, rotation=90, ha="center", va="center", color="0.3")
