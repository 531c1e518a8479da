"""Real data: held-out risks of a table's arms, beside theory and baselines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ..analysis.gate import REDUCED, out_of_gate, with_theory
from ..models.arms import ARMS
from ..sources.table import CONTEXTS_PER_UNIT
from ..tables import BASELINE
from . import Figure, Tables, names, style

if TYPE_CHECKING:
    from .hints import Axes, Config, Curve, Line2D, MplFigure, Setting, pd

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
FAR = 2  # times the highest trained risk: up to here, references widen the axis
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
    """The facts of a setting that its panel shows."""
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
    """A column per setting: above, theory with the model that it describes; below, baselines."""

    may_share_name = True

    @staticmethod
    def draw(plot_spec: Mapping[str, Any], tables: Tables, note: str) -> MplFigure:
        style.use_style()
        real, settings = tables["real"], plot_spec["settings"]
        columns = min(len(settings), style.MOST_COLUMNS)
        blocks = -(-len(settings) // columns)  # of two rows
        width = max(COLUMN * columns, 2.2 * COLUMN)
        foot = (
            f"{small_print(note, settings)} Axes of risks do not begin at 0; lines can leave them."
        )
        height = blocks * (2 * ROW + 0.2)
        figure, body = style.framed(width, height, _legend(real, settings), foot, lines=3)
        axes = body.subplots(2 * blocks, columns, squeeze=False)
        for i, setting in enumerate(settings):
            block, column = divmod(i, columns)
            rows = real[real.setting == setting["name"]]
            letter = f"({chr(ord('a') + i)}) " if len(settings) > 1 else ""
            _draw_setting(axes[2 * block : 2 * block + 2, column], setting, rows, letter)
        for ax in axes.flat:
            if not ax.has_data():
                ax.remove()
        models = [sorted({s[key] for s in settings}) for key in ("theory_model", "model")]
        for i, ax in enumerate(axes[:, 0]):
            ax.set_ylabel(f"{' or '.join(models[i % 2])}\n" + r"held-out risk / $\mathrm{E}[y^2]$")
        style.despine(axes.flat)
        return figure


KIND = Real


def small_print(note: str, settings: Sequence[Mapping[str, Any]]) -> str:
    parts = " or ".join(map(str, sorted({setting["folds"] for setting in settings})))
    by = ", ".join(sorted({setting["fold_by"] for setting in settings}))
    return (
        f"{note}; the best seed is chosen on training units.\nHeld out: {parts} folds by {by},"
        f" {CONTEXTS_PER_UNIT} contexts a unit. Bars: two standard errors, bootstrap over the same;"
        " beside theory, of the difference.\nGate: E[y²] by the mixture over measured E[y²]."
    )


def gate_text(rows: pd.DataFrame) -> str:
    about = rows.iloc[0]
    return f"{about.gate:.3f} ± {about.gate_se:.3f}"


def title(setting: Mapping[str, Any], rows: pd.DataFrame) -> str:
    """A setting's name, its amount of data, and its gate, with a warning if it fails."""
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


def _draw_setting(
    pair: Sequence[Axes], setting: Mapping[str, Any], rows: pd.DataFrame, letter: str
) -> None:
    upper, lower = pair
    _draw_theory(upper, with_theory(rows, setting["theory_model"], setting["model"]))
    _draw_baselines(lower, rows, setting["model"])
    for ax, limits in zip(pair, _limits(setting, rows), strict=True):
        margin = 0.06 * (limits[1] - limits[0])
        ax.set_ylim(limits[0] - margin, limits[1] + margin)
        ax.set_xscale("log")
        lengths = sorted(set(rows.n))
        ax.set_xticks(lengths, [str(n) for n in lengths] if ax is lower else [])
        ax.minorticks_off()
    lower.set_xlabel("context length $n$")
    colour = WARNING if out_of_gate(rows) else "black"
    upper.set_title(letter + title(setting, rows), fontsize=7, color=colour)


def _limits(setting: Mapping[str, Any], rows: pd.DataFrame) -> list[tuple[float, float]]:
    """Limits of the y axes with theory and with baselines. They include trained risks with their
    bars, and references that do not lie far above, as least squares can."""
    found = []
    lines = rows[(rows.model == BASELINE) & (rows.arm != "ols")].normalized
    theory = with_theory(rows, setting["theory_model"], setting["model"])
    own = rows[rows.model == setting["model"]]
    for points, error, others in (
        (theory, theory.measured_se, theory[list(PREDICTED)].to_numpy().ravel()),
        (own, own.normalized_se, lines.to_numpy()),
    ):
        low, high = (points.normalized - 2 * error).min(), (points.normalized + 2 * error).max()
        near = others[others < FAR * high]
        found.append((min([low, *near]), max([high, *near])))
    return found


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


def _legend(real: pd.DataFrame, settings: Sequence[Mapping[str, Any]]) -> list[Line2D]:
    """The legend; least squares is in it if some panel shows its line."""
    handles = [style.arm_key(arm, "none") for arm, _ in _arms(real[real.model != BASELINE])]
    handles.append(style.line_key(PREDICTED["theorem"], "theorem, Gaussian $x$ (above)"))
    handles.append(style.line_key(PREDICTED["measured"], "theorem, measured $x$ (above)"))
    seen = set()
    for setting in settings:
        rows = real[real.setting == setting["name"]]
        _, (_, top) = _limits(setting, rows)
        seen |= set(rows[(rows.model == BASELINE) & (rows.normalized <= top)].arm)
    lines = [(label, ls) for name, (ls, label) in BASELINES.items() if name in seen]
    return handles + [style.key(f"{label} (below)", ls=ls, color=GREY) for label, ls in lines]
