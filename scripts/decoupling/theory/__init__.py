"""Computed risks: closed forms, the numerical optimum, the Bayes-optimal predictor."""
