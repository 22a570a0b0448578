"""Tests of scored systems."""
