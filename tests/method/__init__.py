"""Tests of the method, one module a step."""
