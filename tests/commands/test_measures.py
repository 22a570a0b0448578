"""``quem measures``: the list, an explanation, JSON, and names that do not exist."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from quem.lists import DEFINITIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.commands.conftest import Outcome


def test_lists_all(quem_command: Callable[..., Outcome]) -> None:
    """Without a name, each measure has its line."""
    code, out, err = quem_command("measures")
    assert (code, err) == (0, "")
    listed = [line.split()[0] for line in out.splitlines() if line.startswith("  ")]
    assert sorted(listed) == sorted(DEFINITIONS)


def test_explains_one(quem_command: Callable[..., Outcome]) -> None:
    """An explanation has the parts of a definition, and an example with its score."""
    code, out, err = quem_command("measures", "quality_stromer")
    assert (code, err) == (0, "")
    for label in ("definition", "range", "k", "ties", "short lists", "unknown items", "undefined"):
        assert f"\n  {label} " in out
    assert "quality_stromer@2  0.6\n" in out


def test_json(quem_command: Callable[..., Outcome]) -> None:
    """JSON holds what the text holds; a bound that there is not is null."""
    _, out, _ = quem_command("measures", "--json")
    document = json.loads(out)
    assert document["format"] == 1
    assert [one["name"] for one in document["measures"]] == list(DEFINITIONS)
    assert document["measures"][0]["range"] == [0, None]
    _, out, _ = quem_command("measures", "OLAR", "--json")
    document = json.loads(out)
    assert document["parameters"][1]["default"] == 5
    assert document["example"]["scores"][0]["score"] == pytest.approx(0.662609558190)
    assert [entry["holds"] for entry in document["properties"]] == [True, True, True]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nDGC", "there is no measure 'nDGC'; did you mean nDCG? `quem measures` lists them"),
        ("zebra", "there is no measure 'zebra'; `quem measures` lists them"),
        ("AP(p=1)", "AP: there is no parameter 'p'; it takes rel, unjudged, k"),
        ("hits@0", "hits: k: should be a whole number of at least 1, and not '0'"),
        ("AP@@", "'AP@@' is not a measure; write it like AP, AP@10, RBP(p=0.8) or AP(rel=2)@10"),
    ],
)
def test_wrong_names(quem_command: Callable[..., Outcome], name: str, message: str) -> None:
    """A measure that does not exist is wrong usage, and one line says what would be right."""
    code, out, err = quem_command("measures", name)
    assert (code, out) == (2, "")
    assert err.endswith(f"Error: {message}\n")
