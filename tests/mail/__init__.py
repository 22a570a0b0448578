"""Letters to judges."""
