"""Task mixtures, their contexts, and the parts of these that models see."""
