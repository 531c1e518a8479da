"""What is computed instead of trained: closed forms, the numerical optimum, Bayes-optimal risks."""
