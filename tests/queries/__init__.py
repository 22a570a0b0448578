"""Tests of what evaluations of lists share."""
