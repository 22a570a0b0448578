"""The commands, one module each. What is slow to import is imported when a command runs."""
