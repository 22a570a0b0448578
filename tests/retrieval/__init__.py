"""Tests of the evaluation of retrievers."""
