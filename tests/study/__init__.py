"""Tests of reading study files."""
