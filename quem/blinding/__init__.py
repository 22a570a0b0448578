"""What judges receive of solutions: pages, images and texts that do not tell whose they are.

The judging server sends what is made here, and `quem check` searches the same for names.
"""
