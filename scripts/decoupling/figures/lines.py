"""Panels of risk against context length.

Solid lines are trained, dashed ones theorems, the optimum or another model, the dotted one the
Bayes-optimal predictor; hollow markers are the authors' published risks. Trained risks that a
closed form predicts are markers alone: the closed form is their curve, which a line between markers
would not be.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..models.arms import ARMS
from ..theory.theorems import CLOSED_FORMS
from . import style
from .describe import describe
from .smooth import filled

if TYPE_CHECKING:
    from . import Tables
    from .hints import Axes, Line2D, MplFigure, pd

COMPUTED = {  # dashed lines, and their label
    "theorem": "theorem",
    "optimum": "numerical optimum",
    "centred": "centred theorem",
}
TITLE_WIDTH = 48  # letters that fit above a panel
VISIBLE_ERROR = 0.01  # of the y axis' span: smaller standard errors hide behind the marker
ALONE = {"ls": "none", "zorder": 3}  # markers on top of the theorem that they lie on
HOLLOW = {"ms": 7, "mfc": "none", "mew": 0.8, "ls": "none"}


def trained(tables: Tables, setting: str, model: str, layers: int, arm: str) -> pd.DataFrame:
    """A trained curve."""
    t = tables["risks"]
    rows = (t.setting == setting) & (t.arm == arm) & (t.model == model) & (t.layers == layers)
    return t[rows].sort_values("n")


def computed(tables: Tables, setting: str, arm: str, reference: str) -> pd.DataFrame:
    t = tables["theory"]
    return t[(t.setting == setting) & (t.arm == arm) & (t.curve == reference)].sort_values("n")


def _solid(tables: Tables, panel: Mapping[str, Any], arm: str) -> pd.DataFrame:
    return trained(tables, panel["setting"], panel["model"], panel["layers"], arm)


def _dashed(tables: Tables, panel: Mapping[str, Any], arm: str) -> pd.DataFrame:
    """The curve that an arm is compared with; empty if there is none."""
    if arm not in panel["dashed_arms"]:
        return tables["risks"][:0]
    if panel["dashed"] in COMPUTED:
        return computed(tables, panel["setting"], arm, panel["dashed"])
    return trained(tables, panel["setting"], panel["dashed"], 1, arm)


def _joined(tables: Tables, panel: Mapping[str, Any], arm: str) -> bool:
    """Whether a line joins the markers: not if the dashed line is their own closed form. With a
    `dashed_label` it is another model's."""
    closed = panel["dashed"] in CLOSED_FORMS and "dashed_label" not in panel
    return not (closed and len(_dashed(tables, panel, arm)))


def _published(tables: Tables, panel: Mapping[str, Any]) -> pd.DataFrame:
    t = tables["published"]
    rows = (t.setting == panel["setting"]) & (t.model == panel["model"])
    points = t[rows & t.arm.isin(panel["arms"])].sort_values("n")
    power = tables["specs"][panel["setting"]].label_power
    return points.assign(normalized=points.risk / power)


def draw_panels(panels: Sequence[Mapping[str, Any]], tables: Tables, note: str) -> MplFigure:
    style.use_style()
    columns = {1: 1, 2: 2, 4: 2}.get(len(panels), 3)
    rows = -(-len(panels) // columns)
    size = columns * style.panel_width(columns), rows * style.PANEL_SIZE[1]
    figure, body = style.framed(*size, _legend(panels, tables), note)
    axes = body.subplots(rows, columns, squeeze=False)
    for i, (panel, ax) in enumerate(zip(panels, axes.flat, strict=False)):
        letter = f"({_letter(i)}) " if len(panels) > 1 else ""
        _draw_panel(ax, panel, tables, letter, narrow=columns > 2)
    for ax in axes[:, 1:].flat:
        ax.set_ylabel("")  # the first of the row has it
    for ax in axes.flat[len(panels) :]:
        ax.remove()
    for first in range(0, len(panels), columns):
        row = slice(first, min(first + columns, len(panels)))
        _share_heights(panels[row], axes.flat[row], tables)
    return figure


def _share_heights(
    panels: Sequence[Mapping[str, Any]], axes: Sequence[Axes], tables: Tables
) -> None:
    """Panels of one mixture in a row share the y axis, so that depths can be compared."""
    mixtures = {tables["specs"][panel["setting"]].fingerprint for panel in panels}
    if len(mixtures) == 1:
        bottoms, tops = zip(*(ax.get_ylim() for ax in axes), strict=True)
        for ax in axes:
            ax.set_ylim(min(bottoms), max(tops))


def _letter(i: int) -> str:
    return chr(ord("a") + i)


def _draw_panel(
    ax: Axes, panel: Mapping[str, Any], tables: Tables, letter: str, narrow: bool
) -> None:
    import pandas as pd

    shown = []
    closed = [arm for arm in panel["arms"] if not _joined(tables, panel, arm)]
    for arm in panel["arms"]:
        solid, dashed = _solid(tables, panel, arm), _dashed(tables, panel, arm)
        joins = ALONE if arm in closed else {"lw": 0.6 if closed else None}
        plot_trained(ax, solid, arm, **joins)
        shown += [solid] if panel["dashed"] in ("none", *COMPUTED) else [solid, dashed]
        if panel["dashed"] in COMPUTED and len(dashed):
            dashed = filled(dashed, tables["specs"][panel["setting"]])
        if len(dashed):
            plot_dashed(ax, dashed, ARMS[arm].colour if arm in closed else style.darker(arm))
    if panel["overlay"] == "published":
        _plot_published(ax, _published(tables, panel))
    if panel["bayes"]:
        bayes = tables["bayes"]
        style.plot_bayes(ax, bayes[bayes.setting == panel["setting"]].sort_values("n"), "n")
    _draw_errors(ax, panel, tables)
    style.note_diverged(ax, pd.concat(shown), "n", "n", panel["model"])
    title = textwrap.fill(letter + panel["title"], TITLE_WIDTH)
    size = 6.5 if narrow else None
    ax.set_title(f"{title}\n{describe(tables['specs'][panel['setting']])}", fontsize=size)
    finish(ax)


def plot_trained(ax: Axes, curve: pd.DataFrame, arm: str, **joins: Any) -> None:
    """Markers; `joins` changes the look of the line between them."""
    ax.plot(curve.n, curve.normalized, **style.marked(arm), **joins)


def plot_dashed(ax: Axes, curve: pd.DataFrame, color: Any) -> None:
    marker = "_" if len(curve) == 1 else None  # a line through one point would not be seen
    ax.plot(curve.n, curve.normalized, "--", color=color, marker=marker, ms=12, zorder=2.5)


def _plot_published(ax: Axes, points: pd.DataFrame) -> None:
    """The authors' attention models, in markers large enough to be seen around ours."""
    for arm, rows in points.groupby("arm"):
        look = {"marker": ARMS[arm].marker, "mec": ARMS[arm].colour}
        ax.plot(rows.n, rows.normalized, zorder=4, **look, **HOLLOW)


def _draw_errors(ax: Axes, panel: Mapping[str, Any], tables: Tables) -> None:
    """Two standard errors of held-out risks, where they would be seen."""
    low, high = ax.get_ylim()
    for arm in panel["arms"]:
        curve = _solid(tables, panel, arm)
        error = 2 * curve.normalized_se
        if error.max() > VISIBLE_ERROR * (high - low):
            ax.errorbar(
                curve.n, curve.normalized, error, fmt="none", color=ARMS[arm].colour, lw=0.8
            )


def finish(ax: Axes) -> None:
    ax.set_xlabel("context length $n$")
    ax.set_ylabel(r"risk / $\mathrm{E}[y^2]$")
    style.from_zero(ax)
    style.whole_ticks(ax, [x for line in ax.lines for x in line.get_xdata()])
    style.despine([ax])


def _legend(panels: Sequence[Mapping[str, Any]], tables: Tables) -> list[Line2D]:
    """Legend entries for what the panels show."""
    handles = _arm_keys(panels, tables)
    dashed: dict[str, list[str]] = {}  # panels, by label
    for i, panel in enumerate(panels):
        if any(len(_dashed(tables, panel, arm)) for arm in panel["arms"]):
            other = COMPUTED.get(panel["dashed"], f"{panel['dashed']} model")
            label = panel.get("dashed_label", other)
            dashed.setdefault(label, []).append(_letter(i))
    if dashed:
        where = [f"{label} ({', '.join(letters)})" for label, letters in dashed.items()]
        models = " or ".join(sorted({panel["model"] for panel in panels}))
        handles.append(style.key(f"markers: {models}, trained", color="0.2", marker="o", ls="none"))
        handles.append(
            style.line_key("--", f"dashed: {', '.join(where if len(dashed) > 1 else dashed)}")
        )
    if any(len(_published(tables, p)) for p in panels if p["overlay"] == "published"):
        handles.append(style.key("hollow: published", marker="o", mec="0.2", **HOLLOW))
    bayes = {panel["setting"] for panel in panels if panel["bayes"]}
    if bayes & set(tables["bayes"].setting):
        handles.append(style.key(**style.BAYES_STYLE))
    return handles


def _arm_keys(panels: Sequence[Mapping[str, Any]], tables: Tables) -> list[Line2D]:
    """Entries of the drawn arms, with a line if some panel has one."""
    joined: dict[str, bool] = {}
    for panel in panels:
        for arm in panel["arms"]:
            if len(_solid(tables, panel, arm)) or len(_dashed(tables, panel, arm)):
                joined[arm] = joined.get(arm, False) or _joined(tables, panel, arm)
    return [style.arm_key(arm, "-" if joined[arm] else "none") for arm in ARMS if arm in joined]
