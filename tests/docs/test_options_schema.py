"""analysis.json of option lists is as its schema says, and the schema allows nothing else."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from quem.report.files import json_text
from tests.docs.pages import ROOT
from tests.docs.schema import fits, mappings, mistakes, shortened
from tests.options.made import analysed, drawn, study_in

if TYPE_CHECKING:
    from pathlib import Path


def _output(path: Path, **settings: object) -> Any:  # noqa: ANN401  JSON
    return json.loads(json_text(analysed(path, **settings).to_dict()))


def test_what_comes_out_fits(tmp_path: Path) -> None:
    """The shipped study, one with gaps and one of a single empty list fit the schema."""
    assert mistakes(_output(ROOT / "studies/option-lists/study.yaml")) == []
    assert mistakes(_output(study_in(tmp_path), missing="leave-out", samples=0)) == []
    document = _output(study_in(tmp_path, "question,option\nQ1,\n"))
    assert mistakes(document) == []
    assert document["thresholds"] == []


def test_other_keys_are_refused(tmp_path: Path) -> None:
    """A key more or fewer, in any mapping of the document, does not fit."""
    key, lists = drawn(6, systems=2)
    text = lists + "Q0,s2,,\nQ1,s2,o1,0.5\n"
    document = _output(study_in(tmp_path, text, key))
    assert mistakes(document) == []
    document = shortened(document)
    assert fits(document)
    seen = set()
    for index, mapping in enumerate(mappings(document)):
        keys = tuple(mapping)
        if keys in seen:
            continue
        seen.add(keys)
        changed = deepcopy(document)
        list(mappings(changed))[index]["surplus"] = 1
        assert not fits(changed), f"a key more beside {sorted(mapping)}"
        for name in keys:
            changed = deepcopy(document)
            del list(mappings(changed))[index][name]
            assert not fits(changed), f"{name} is missing beside {sorted(keys)}"
    assert len(seen) > 9
