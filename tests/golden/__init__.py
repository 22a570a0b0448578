"""What quem says of each shipped study, kept; ``python -m tests.golden`` keeps what it says now."""
