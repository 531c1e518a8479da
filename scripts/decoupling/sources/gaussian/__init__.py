"""Gaussian task mixtures, the paper's Definitions 1 and 2."""
