"""Trials: what the suite tries a few times is tried many times by ``nox -s trials -- NAME``."""
