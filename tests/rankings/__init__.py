"""Tests of reading rankings."""
