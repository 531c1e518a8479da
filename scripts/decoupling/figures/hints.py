"""Names in annotations of figures, for type checkers alone: kinds import Matplotlib when they draw,
and never the config."""

# ruff: noqa: F401
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MplFigure
    from matplotlib.lines import Line2D

    from ..config import Config
    from ..config.settings import Setting
    from ..models.curve import Curve
    from ..problem.mixture import TaskMixture
