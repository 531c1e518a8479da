"""Simulate the Bayes-optimal predictor of a setting."""

from decoupling.tables import BAYES
from decoupling.theory.bayes import bayes_table
from decoupling.theory.command import tabulate

if __name__ == "__main__":
    tabulate(__doc__, bayes_table, BAYES)
