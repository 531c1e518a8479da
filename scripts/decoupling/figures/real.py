"""Real data: held-out risks of a table's arms, beside theory and baselines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ..analysis.cross_validation import REDUCED, out_of_gate, with_theory
from ..models.arms import ARMS
from ..sources.table import CONTEXTS_PER_UNIT
from ..tables import BASELINE
from . import Figure, Tables, names, style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MplFigure
    from matplotlib.lines import Line2D

    from ..config import Config
    from ..config.settings import Setting
    from ..models.curve import Curve

COLUMN, ROW = 2.3, 2.1  # inches, of a panel
BASELINES = {  # line style, label
    "ridge": ("-", "ridge on the context"),
    "ols": (":", "least squares on the context"),
    "pooled": ((0, (6, 2)), "pooled regression"),
    "group_mean": ("--", "group's mean"),
    "blup": ("-.", "BLUP"),
}
PREDICTED = {"theorem": (0, (1, 1.5)), "measured": "-"}  # columns, and their lines
GREY, WARNING = "0.5", "#A00000"
STEP = 1.035  # from arm to arm, so that points at one n do not hide each other


class OfTables(Figure):
    """A figure of settings that have a table."""

    subject = "settings of a table"
    properties: ClassVar = {"settings": names("Settings with a table")}
    required = ("settings",)

    @classmethod
    def can_draw(cls, setting: Setting) -> bool:
        return bool(setting.folds)

    def needs(self, config: Config) -> dict[str, list[str]]:
        return {"real": self.setting_names}

    def curves(self, config: Config) -> list[Curve]:
        return [curve for name in self.setting_names for curve in config.settings[name].curves]

    def plot_spec(self, config: Config) -> dict[str, Any]:
        return {"settings": [_described(config.settings[name]) for name in self.setting_names]}


def _described(setting: Setting) -> dict[str, Any]:
    """What a panel says of a setting, and shows of it."""
    block = setting.block
    return {
        "name": setting.name,
        "model": setting.model,
        "theory_model": REDUCED if REDUCED in setting.models else setting.model,
        "dim": len(block["features"]) + block.get("intercept", False),
        "group": block["group"],
        "fold_by": block.get("fold_by", block["unit"]),
        "folds": len(setting.folds),
        "intercept": block.get("intercept", False),
        "differences": block.get("differences", False),
    }


class Real(OfTables):
    """A column per setting: theory above, with the model that it is of; baselines below."""

    may_share_name = True

    @staticmethod
    def draw(plot_spec: Mapping[str, Any], tables: Tables, note: str) -> MplFigure:
        style.use_style()
        real, settings = tables["real"], plot_spec["settings"]
        width = max(COLUMN * len(settings), 2.2 * COLUMN)
        foot = small_print(note, settings)
        figure, body = style.framed(width, 2 * ROW + 0.2, _legend(real), foot, lines=3)
        axes = body.subplots(2, len(settings), squeeze=False, sharex="col", sharey="col")
        for i, (setting, pair) in enumerate(zip(settings, axes.T, strict=True)):
            rows = real[real.setting == setting["name"]]
            _draw_theory(pair[0], with_theory(rows, setting["theory_model"], setting["model"]))
            _draw_baselines(pair[1], rows, setting["model"])
            _finish(pair, rows)
            letter = f"({chr(ord('a') + i)}) " if len(settings) > 1 else ""
            colour = WARNING if out_of_gate(rows) else "black"
            pair[0].set_title(letter + title(setting, rows), fontsize=7, color=colour)
        models = [sorted({s[key] for s in settings}) for key in ("theory_model", "model")]
        for ax, names_ in zip(axes[:, 0], models, strict=True):
            ax.set_ylabel(f"{' or '.join(names_)}\n" + r"held-out risk / $\mathrm{E}[y^2]$")
        style.despine(axes.flat)
        return figure


KIND = Real


def small_print(note: str, settings: Sequence[Mapping[str, Any]]) -> str:
    parts = " or ".join(map(str, sorted({setting["folds"] for setting in settings})))
    by = ", ".join(sorted({setting["fold_by"] for setting in settings}))
    return (
        f"{note}; the best seed is chosen on training units\n{CONTEXTS_PER_UNIT} contexts a unit."
        f" Held out: {parts} folds by {by}. Bars: two standard errors, bootstrap over the same;"
        " beside theory, of the difference.\nGate: E[y²] by the mixture over measured E[y²]."
    )


def gate_text(rows: pd.DataFrame) -> str:
    about = rows.iloc[0]
    return f"{about.gate:.3f} ± {about.gate_se:.3f}"


def title(setting: Mapping[str, Any], rows: pd.DataFrame) -> str:
    """Its name, how much data there is, and the gate, with a warning where it fails."""
    about = rows.iloc[0]
    tokens = "differences" if setting["differences"] else "rows"
    tokens += ", intercept" if setting["intercept"] else ""
    gate = "GATE FAILS: " if out_of_gate(rows) else "gate: "
    return (
        f"{setting['name']}: tasks by {setting['group']}\n$d={setting['dim']}$, {tokens};"
        f" {about.units} of {about.units_total} units\n{gate}{gate_text(rows)}"
    )


def _arms(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    for arm in ARMS:
        curve = rows[rows.arm == arm].sort_values("n")
        if len(curve):
            yield arm, curve


def _draw_theory(ax: Axes, trained: pd.DataFrame) -> None:
    for arm, curve in _arms(trained):
        for column, line in PREDICTED.items():
            ax.plot(curve.n, curve[column], ls=line, lw=1, color=ARMS[arm].colour)
        _draw_points(ax, curve, arm, curve.measured_se)


def _draw_baselines(ax: Axes, rows: pd.DataFrame, model: str) -> None:
    for name, (line, _) in BASELINES.items():
        curve = rows[(rows.model == BASELINE) & (rows.arm == name)].sort_values("n")
        ax.plot(curve.n, curve.normalized, ls=line, lw=1, color=GREY, zorder=1)
    for arm, curve in _arms(rows[rows.model == model]):
        _draw_points(ax, curve, arm, curve.normalized_se)


def _draw_points(ax: Axes, curve: pd.DataFrame, arm: str, error: pd.Series) -> None:
    place = curve.n * STEP ** (list(ARMS).index(arm) - 2)
    look = {"ls": "none", "elinewidth": 0.7, "zorder": 3, **style.marked(arm)}
    ax.errorbar(place, curve.normalized, 2 * error, **look)


def _finish(pair: Sequence[Axes], rows: pd.DataFrame) -> None:
    shown = rows[rows.model != BASELINE][["normalized", *PREDICTED]]
    pair[0].set_ylim(0, 1.08 * min(shown.max().max(), 1.5))  # least squares can be far above
    pair[0].set_xscale("log")
    lengths = sorted(set(rows.n))
    pair[1].set_xticks(lengths, [str(n) for n in lengths])
    for ax in pair:
        ax.minorticks_off()
    pair[1].set_xlabel("context length $n$")


def _legend(real: pd.DataFrame) -> list[Line2D]:
    handles = []
    for arm, _ in _arms(real):
        handle = style.arm_key(arm)
        handle.set_linestyle("none")
        handles.append(handle)
    handles.append(style.line_key(PREDICTED["theorem"], "theorem, Gaussian $x$ (above)"))
    handles.append(style.line_key(PREDICTED["measured"], "theorem, measured $x$ (above)"))
    grey = [style.key(f"{label} (below)", ls=ls, color=GREY) for ls, label in BASELINES.values()]
    return [*handles, *grey]
