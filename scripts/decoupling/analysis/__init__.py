"""Analysis of runs: the best seed, bounds, the scoreboard, cross-validation, tables of results."""
