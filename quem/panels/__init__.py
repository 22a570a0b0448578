"""Reference panels: subjects' solutions, years, and rankings, frozen to place later systems."""
