"""``python -m tests.golden [NAME...]``: keep what quem says now; zoo, spect and pima if named."""

from __future__ import annotations

import sys

from tests.golden.outcomes import DATA_RUNS, KEPT, RUNS, keep, outcome

for name in sys.argv[1:] or RUNS:
    keep(name, outcome((RUNS | DATA_RUNS)[name]))
for path in KEPT.glob("*.json"):
    if path.stem not in RUNS | DATA_RUNS:
        path.unlink()
