"""Simulate what it is worth to be told the task of a context, in a setting."""

from decoupling.tables import IDENTITY
from decoupling.theory.command import tabulate
from decoupling.theory.identity import identity_table

if __name__ == "__main__":
    tabulate(__doc__, identity_table, IDENTITY)
