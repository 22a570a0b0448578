"""Tests of the QUEM method: every number against a computation of another kind."""
