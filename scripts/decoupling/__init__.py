"""Task-specific prompts for in-context learning: risks, training and theory.

The mathematics of arXiv 2503.02102 for one-layer linear attention (and its
deeper relatives) on mixtures of linear-regression tasks. Nothing in here knows
of Snakemake; every module can be imported and tested alone.
"""
