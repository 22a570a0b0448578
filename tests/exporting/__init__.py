"""Export of rankings for other programs."""
