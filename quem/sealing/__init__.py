"""Sealed studies: what was planned before the first ranking, and what differs from it since."""
