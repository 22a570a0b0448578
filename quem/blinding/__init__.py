"""Blinding: pages, images, and texts that do not reveal the authors of solutions.

The judging server sends the output of this package, and `quem check` searches it for names.
"""
