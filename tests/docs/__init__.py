"""Tests that hold what users read against the code."""
