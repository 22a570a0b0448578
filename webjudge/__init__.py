"""The judging app, which shows anonymised solutions to judges; it comes with a later version."""
