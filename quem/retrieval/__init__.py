"""Retrievers against a ground truth: studies, and lists that judges grade."""
