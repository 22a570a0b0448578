"""How fast quem is, how much memory it needs, and how large it is."""
