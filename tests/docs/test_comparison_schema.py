"""analysis.json of a comparison is as its schema says, and the schema allows nothing else."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

import quem
from quem.report.files import json_text
from tests.docs.pages import ROOT
from tests.docs.schema import fits, mappings, mistakes

FOLDER = ROOT / "studies/assembly-planners"
CASES: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "systems": (("study",), {}),
    "studies": (("study", "next-year"), {}),
    "help": (("assistance",), {}),
    "two systems": (("study",), {"systems": ["stacker", "fitter-1"], "level": 0.9}),
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
    """One ranking of two systems, and systems of which one is open, leave nulls, and fit."""
    small = quem.simulate_study(problems=1, judges=1, systems=(4.0, 30.0))
    within = json.loads(json_text(quem.compare(small).to_dict()))
    across = json.loads(json_text(quem.compare(small, quem.simulate_study(seed=1)).to_dict()))
    assert within["pairs"][0]["years"] is None
    assert within["pairs"][0]["interval"] == [None, None]
    assert None in across["pairs"][1]["interval"]
    assert mistakes(within) == mistakes(across) == []


@pytest.mark.parametrize("case", ["systems", "studies", "help"])
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
        # `assistance` is there where people were helped, and `pairs` in every comparison.
        for key in set(keys) - {"pairs", "assistance"}:
            changed = deepcopy(document)
            del list(mappings(changed))[index][key]
            assert not fits(changed), f"{key} is missing beside {sorted(keys)}"
