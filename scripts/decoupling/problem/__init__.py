"""Task mixtures, their contexts, and what models see of these."""
