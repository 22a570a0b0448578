"""Comparing systems: in one study, between studies, and with and without assistance."""
