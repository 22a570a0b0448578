"""Retrievers, measured against a ground truth (ProCAKE's evaluation, with uncertainty)."""
