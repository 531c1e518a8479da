"""Real regressions: contexts are rows of a unit in a table, tasks are groups of units.

Rows of a unit are not independent, so that a model has to be trained with the query's own x: the
engine `with_query` does, in place of `moments`.
"""

CONTEXTS_PER_UNIT = 200  # for training and for the held-out risk
FOLDS = 5  # where a setting does not say
ENGINES = {"moments": "with_query"}  # the views that a table can serve, and by which engine
