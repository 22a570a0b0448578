"""What judges decided, for other programs."""
