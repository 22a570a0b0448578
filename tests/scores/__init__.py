"""Scores of systems: reading, tests, and tables."""
