"""What is to be learned: task mixtures, and what a context of one is to a model."""
