"""Tests of relevance judgments and of the pools that they are made on."""
