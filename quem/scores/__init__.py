"""Scores of systems on queries: one table with the same statistics for every kind."""
