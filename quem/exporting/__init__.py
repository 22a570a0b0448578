"""Judgments in the formats of other programs: preferences, results, scores in logs."""
