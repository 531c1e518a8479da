"""What jobs there are: their files, their parameters, and the resources they ask for."""

from . import comparisons, pages, specs, tables, training

__all__ = ["comparisons", "pages", "specs", "tables", "training"]
