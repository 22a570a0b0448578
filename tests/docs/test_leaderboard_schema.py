"""analysis.json of a leaderboard is as its schema says, and the schema allows nothing else."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.leaderboard.compare import compare_scores
from quem.report.files import json_text
from tests.docs.schema import fits, mappings, mistakes, shortened
from tests.leaderboard.made import FEW, compared, table_of, write_retrievers

if TYPE_CHECKING:
    from pathlib import Path


def _plain(result: Any) -> Any:  # noqa: ANN401  JSON
    return json.loads(json_text(result.to_dict()))


def test_what_comes_out_fits(tmp_path: Path) -> None:
    """Two versions, a leaderboard, and one where much is undefined fit the schema."""
    one = write_retrievers(tmp_path, "one", {"a": 0.3, "b": 0.9})
    two = write_retrievers(tmp_path, "two", {"a": 1.5}, seed=2)
    assert mistakes(_plain(compared(one, two))) == []
    assert mistakes(_plain(compared(one, level=0.9))) == []
    values = np.full((3, 9, 2), np.nan)
    values[0] = 1.0
    document = _plain(compare_scores([table_of(values, (("A", "higher"), ("B", "lower")))], **FEW))
    assert mistakes(document) == []
    assert document["systems"][1]["by_measure"][0]["place"] is None
    assert document["differences"][0]["verdict"] is None


def test_other_keys_are_refused() -> None:
    """A key more or fewer, in any mapping of the document, does not fit."""
    rng = np.random.default_rng(2)
    values = rng.random((3, 30, 2))
    values[0, :, 0] += 1
    values[1, :, 1] += 1
    document = _plain(compare_scores([table_of(values, (("A", "higher"), ("B", "higher")))]))
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
        for key in keys:
            changed = deepcopy(document)
            del list(mappings(changed))[index][key]
            assert not fits(changed), f"{key} is missing beside {sorted(keys)}"
