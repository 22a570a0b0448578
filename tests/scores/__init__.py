"""Tests of systems scored on queries."""
