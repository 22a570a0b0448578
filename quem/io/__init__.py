"""Reading of input: tables, text, numbers, and Python functions that a study names."""
