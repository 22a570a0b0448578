"""analysis.json of a comparison is as its schema says, and the schema allows nothing else."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

import quem
from quem.report.files import json_text
from tests.docs.pages import ROOT
from tests.docs.schema import fits, mappings, mistakes
from tests.made import random_ranks, study_of

YEARS = (1.0, 2.0, 4.0, 6.0, 8.0, 11.0, 12.0)
FOLDER = ROOT / "studies/assembly-planners"
CASES: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "systems": (("study",), {}),
    "studies": (("study", "next-year"), {}),
    "assistance": (("assistance",), {}),
    "named": (("study",), {"systems": ["stacker", "fitter-1"]}),
}


def _output(case: str) -> Any:  # noqa: ANN401  JSON
    names, more = CASES[case]
    studies = [quem.load_study(FOLDER / f"{name}.yaml", kind="experience") for name in names]
    return json.loads(json_text(quem.compare(*studies, **more).to_dict()))


@pytest.mark.parametrize("case", CASES)
def test_comparisons_fit(case: str) -> None:
    """Every sort of comparison fits the schema."""
    assert mistakes(_output(case)) == []


def test_what_is_undefined_fits() -> None:
    """One problem, systems that never met and one outside the range leave nulls, and fit."""
    rng = np.random.default_rng(1)
    small = study_of(random_ranks(rng, YEARS, (4.0, 30.0), judges=1, problems=1), YEARS, 2)
    other = study_of(random_ranks(rng, YEARS, (6.0,)), YEARS)
    pairs = json.loads(json_text(quem.compare(small).to_dict()))
    apart = json.loads(json_text(quem.compare(small, other).to_dict()))
    assert pairs["pairs"][0]["years"] is pairs["pairs"][0]["ahead"] is None
    assert apart["pairs"][0]["won"] is None
    assert mistakes(pairs) == mistakes(apart) == []


@pytest.mark.parametrize("case", ["systems", "studies", "assistance"])
def test_other_keys_are_refused(case: str) -> None:
    """A key more or fewer, in any mapping of the document, does not fit."""
    document = _output(case)
    seen = set()
    for index, mapping in enumerate(mappings(document)):
        keys = tuple(mapping)
        if keys in seen:
            continue
        seen.add(keys)
        changed = deepcopy(document)
        list(mappings(changed))[index]["surplus"] = 1
        assert not fits(changed), f"a key more beside {sorted(mapping)}"
        # Of the entries of rows a study may lack some.
        for key in set(keys) - {"pairs", "assistance"}:
            changed = deepcopy(document)
            del list(mappings(changed))[index][key]
            assert not fits(changed), f"{key} is missing beside {sorted(keys)}"
