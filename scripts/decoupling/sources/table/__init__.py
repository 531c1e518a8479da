"""Real regressions: contexts are rows of a unit in a table, tasks are groups of units.

Rows of a unit are not independent, so that models are trained on moments that include the query.
"""

CONTEXTS_PER_UNIT = 200  # for training and for the held-out risk
FOLDS = 5  # the default


def owning_setting(name: str) -> str:
    """The setting that a fold, `{setting}.fold{i}`, belongs to; any other name as it is."""
    return name.partition(".fold")[0]
