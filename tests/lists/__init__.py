"""Tests of the list measures: printed numbers, other implementations, brute force and laws."""
