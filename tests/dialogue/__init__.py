"""Tests of conversational CBR."""
