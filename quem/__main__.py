"""``python -m quem``."""

from quem.cli import run

run()
