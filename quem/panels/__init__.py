"""Reference panels: people's solutions, years, and rankings, frozen to place later systems on."""
