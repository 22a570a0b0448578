"""Tests of the parts of an analysis of an experience study."""
