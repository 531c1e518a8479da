"""Training: recipes, the optimiser, stages, checkpoints."""
