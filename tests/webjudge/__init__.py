"""The judging app, by its pages and its JSON."""
