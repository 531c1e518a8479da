"""What is computed instead of trained: theorems, the exact optimum, the Bayes-optimal predictor."""
