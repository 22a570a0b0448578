"""Reads what people have: tables, text, numbers, and functions that a study names."""
