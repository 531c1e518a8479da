"""Compute the closed forms and the numerical optimum of a setting."""

from decoupling.tables import THEORY
from decoupling.theory.command import tabulate
from decoupling.theory.table import theory_table

if __name__ == "__main__":
    tabulate(__doc__, theory_table, THEORY)
