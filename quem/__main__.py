"""``python -m quem``."""

import sys
from pathlib import Path

# Python puts the current folder first, where a file of a study may have a library's name.
if not sys.flags.safe_path and sys.path and Path(sys.path[0]).resolve() == Path.cwd():
    del sys.path[0]

from quem.cli import run

run()
