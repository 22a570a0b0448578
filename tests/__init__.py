"""Tests of quem."""
