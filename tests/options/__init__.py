"""Tests of the kind ``options``."""
