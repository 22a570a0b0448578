"""Zoo, spect and pima, whose data are not part of the project, against what is kept of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.golden.outcomes import DATA, DATA_RUNS, departures, kept, outcome
from tests.trials.runner import registered

if TYPE_CHECKING:
    import random
    from pathlib import Path


def _said(results: list[dict[str, Any]]) -> str:
    return "; ".join(result["said"] for result in results)


@registered("golden-data", count=1, table=_said, resumed=False)
def golden_data(rng: random.Random, folder: Path) -> dict[str, Any]:
    """Zoo, spect and pima give what tests/golden keeps of them; skipped without their data."""
    del rng, folder
    if not DATA.is_dir():
        return {"said": f"skipped: there is no folder {DATA}; see studies/ccbr/README.md"}
    found = [departures(name, kept(name), outcome(run)) for name, run in DATA_RUNS.items()]
    wanted = f"`python -m tests.golden {' '.join(DATA_RUNS)}` keeps what they are now:"
    assert not any(found), "\n".join([wanted, *filter(None, found)])
    return {"said": f"nothing departs: {', '.join(DATA_RUNS)}"}
