"""Real regressions: contexts are rows of a unit in a table, tasks are groups of units.

Rows of a unit are not independent, so that the moments that a model is trained on have the query's
own x in them.
"""

CONTEXTS_PER_UNIT = 200  # for training and for the held-out risk
FOLDS = 5  # where a setting does not say
