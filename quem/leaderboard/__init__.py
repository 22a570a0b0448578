"""Leaderboards of systems that were scored on the same queries, of whatever kind of study."""
