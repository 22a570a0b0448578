"""Golden outputs of the shipped studies; ``python -m tests.golden`` updates them."""
