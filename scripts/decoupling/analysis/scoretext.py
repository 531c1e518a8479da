"""The scoreboard as Markdown, and as a web page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..tables import DEVIATIONS
from .page import markdown as as_table
from .scoreboard import (
    ABOVE,
    BELOW,
    BROKEN,
    DIVERGED,
    HOLDS,
    MATCHES,
    NO_THEOREM,
    TOLERANCE,
)

if TYPE_CHECKING:
    import pandas as pd

MEANING = {
    MATCHES: f"no point is further than {TOLERANCE:.0%} from the theorem",
    ABOVE: "the worst point is further above: training did not reach the theorem",
    BELOW: "the worst point is further below: what the theorem assumes costs that much",
    DIVERGED: "some point has no finite risk; deviations are those of the others",
    HOLDS: "no theorem: no point is above what the model contains, nor below Bayes",
    BROKEN: "some point is, by more than 3 standard errors: above means not trained enough",
    NO_THEOREM: "arms that no theorem covers",
}
INTRODUCTION = """# Scoreboard

{note}

A row per trained curve of every panel. A deviation is (risk − reference) / reference, where the
risk is the best seed's: *worst* is the one largest in absolute value over n, *mean* the mean over
n, both signed. Empty: there is no such reference.

- *theorem*: Theorem 1, 2 or 3, under Assumption 1, or Theorem 4, with one W for all tasks.
- *optimum*: the least risk of one-layer attention, without the assumption, that was found
  numerically, from several starts.
- *centred*: the closed form of the mixture without its common mean, which attention can reach.
- *published*: the authors' results, minima over seeds of noisy estimates and so biased low.

Deeper models, softmax attention and transformers have no theorem, but bounds: no more risk than
with fewer layers, prompts, heads or attention heads, and no less than the Bayes-optimal predictor.
(Softmax attends even to a prompt of zeros, so that the arm without a prompt is no special case of
those with one.) Both sides are evaluated on the same held-out contexts. *error* is the largest
standard error of a point's risk, *tail* the largest share of the risk that 0.1% of these contexts
carry.

Theorem and optimum of fine-tuning are for plain's optimal weights. The weights that plain training
finds are slightly others, and fine-tuned they can end on either side of both.
"""
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Scoreboard</title>
<style>{style}</style>
</head>
<body>
{body}</body>
</html>
"""
STYLE = """
body { font: 14px/1.45 sans-serif; margin: 1.5em; color: #222; }
p, ul { max-width: 50em; }
table { border-collapse: collapse; margin: 1.5em 0; }
th, td { padding: 0.2em 0.7em; text-align: left; border-bottom: 1px solid #ddd; }
td { white-space: nowrap; }
th { background: #f2f2f2; position: sticky; top: 0; }
"""


def markdown(table: pd.DataFrame, note: str) -> str:
    """The introduction, counts of verdicts with their meaning, and the table."""
    counts = table.verdict.value_counts()
    verdicts = [[name, str(counts.get(name, 0)), text] for name, text in MEANING.items()]
    curve = ["panel", "model", "layers", "arm"]
    last = ["seeds_ok_least", "verdict", "broken", "error_worst", "tail_worst"]
    shown = table[[*curve, *DEVIATIONS, *last]]
    header = " | ".join(name.replace("_", " ") for name in shown)
    parts = [
        INTRODUCTION.format(note=note),
        as_table("verdict | curves | meaning", verdicts) + "\n",
        as_table(header, map(_cells, shown.itertuples(index=False))) + "\n",
    ]
    return "\n".join(parts)


def page(text: str) -> str:
    """The Markdown as a self-contained web page."""
    from markdown_it import MarkdownIt

    return PAGE.format(style=STYLE, body=MarkdownIt().enable("table").render(text))


def percent(value: float) -> str:
    """A share as percent, with a sign unless it rounds to zero, and two decimals if small; empty
    for NaN."""
    if math.isnan(value):
        return ""
    if abs(value) < 0.1:
        return f"{value:+z.2%}".replace("+0.00%", "0.00%")
    return f"{value:+.0%}"


def _cells(row: tuple) -> list[str]:
    """A row's texts. Deviations have a sign; the last two, shares of a risk, have none."""
    *others, error, tail = row
    cells = [percent(value) if isinstance(value, float) else str(value) for value in others]
    return cells + ["" if not share > 0 else f"{share:.2%}" for share in (error, tail)]
