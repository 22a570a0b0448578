"""analysis.json of a dialogue study is as its schema says, and the schema allows nothing else."""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cache
from typing import TYPE_CHECKING, Any

import quem
from quem.dialogue.loading import DialogueStudy
from quem.report.files import json_text
from tests.docs.pages import ROOT
from tests.docs.schema import fits, mappings, mistakes, shortened

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = ROOT / "studies/ccbr"
QUICK: dict[str, Any] = {"orders": 1, "samples": 19}


@cache
def _output() -> Any:  # noqa: ANN401  JSON
    study = quem.load_study(FOLDER / "bikes.yaml")
    assert isinstance(study, DialogueStudy)
    result = quem.analyze(study, **QUICK)
    return json.loads(json_text(result.to_dict()))


def test_dialogues_fit() -> None:
    """The result fits the schema."""
    assert mistakes(_output()) == []


def test_other_targets_fit(tmp_path: Path) -> None:
    """Leave-one-in, and queries of a file, fit too."""
    for queries in ("leave-one-in", "bikes.csv"):
        (tmp_path / "bikes.csv").write_bytes((FOLDER / "bikes.csv").read_bytes())
        study = tmp_path / "study.yaml"
        study.write_text(
            "kind: dialogue\ncases: {file: bikes.csv, class: fault, id: bike}\n"
            f"queries: {queries}\n",
            encoding="utf-8",
        )
        result = quem.analyze(quem.load_study(study), **QUICK)
        assert mistakes(json.loads(json_text(result.to_dict()))) == []


def test_what_is_undefined_fits() -> None:
    """Without intervals and tests there are nulls, which fit."""
    study = quem.load_study(FOLDER / "bikes.yaml")
    document = json.loads(json_text(quem.analyze(study, orders=1, samples=0).to_dict()))
    assert document["means"][0]["interval"] is None
    assert document["agreement"][0]["interval"] is None
    assert mistakes(document) == []


def test_other_keys_are_refused() -> None:
    """A key more or fewer, in any mapping of the document, does not fit."""
    document = shortened(_output())
    assert fits(document)
    seen = set()
    for index, mapping in enumerate(mappings(document)):
        keys = tuple(mapping)
        if keys in seen:
            continue
        seen.add(keys)
        changed = deepcopy(document)
        list(mappings(changed))[index]["surprise"] = 1
        assert not fits(changed), keys
        changed = deepcopy(document)
        del list(mappings(changed))[index][keys[0]]
        assert not fits(changed), keys
    assert len(seen) > 10
