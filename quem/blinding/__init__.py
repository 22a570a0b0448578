"""What judges receive of solutions: pages, images and texts that do not reveal their authors.

The judging server sends what is made here, and `quem check` searches the same for names.
"""
