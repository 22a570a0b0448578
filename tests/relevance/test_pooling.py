"""Pools of lists, safe names, and the texts that judges read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from quem.blinding.rendering import render_solution
from quem.relevance.making import safe_names
from quem.relevance.texts import case_text
from quem.retrieval.lists import CaseLists, lists_of
from quem.retrieval.pooling import pooled
from quem.solutions import find_solutions
from quem.studyfile.reading import draft_relevance

if TYPE_CHECKING:
    from pathlib import Path

CASES = tuple(f"c{n}" for n in range(12))
QUERIES = ("q0", "q1", "q2")


def _lists(seed: int, *, tied: bool = False) -> CaseLists:
    rng = np.random.default_rng(seed)

    def one() -> tuple[np.ndarray, np.ndarray]:
        places = rng.permutation(len(CASES))[: rng.integers(0, 10)].astype(np.int32)
        steps = rng.integers(0, 2 if tied else 1, len(places)) if tied else np.ones(len(places))
        return places, 100.0 - np.cumsum(steps)

    return lists_of(QUERIES, CASES, [one() for _ in QUERIES])


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.integers(1, 12), st.one_of(st.none(), st.integers(1, 40)))
def test_pool_is_the_union_of_the_best(seed: int, depth: int, budget: int | None) -> None:
    """Each pair of the lists' heads that is not judged, once; a budget ends at one depth."""
    lists = [_lists(seed + n) for n in range(3)]
    rng = np.random.default_rng(seed)
    judged = {(q, c) for q in QUERIES for c in CASES if rng.random() < 0.2}
    heads = {
        (q, rank): {one.cases[place] for one in lists for place in one.of(at)[0][rank : rank + 1]}
        for at, q in enumerate(QUERIES)
        for rank in range(depth)
    }
    union = {(q, case) for (q, _), cases in heads.items() for case in cases}
    found = pooled(lists, depth, judged, budget=budget, seed=seed)
    taken = [(q, case) for q, cases in found.candidates.items() for case in cases]
    assert len(taken) == len(set(taken)) == found.n_taken
    assert set(taken) <= union - judged
    assert found.n_found == len(union)
    assert found.n_judged == len(union & judged)
    assert found.n_taken == min(len(union - judged), budget or len(union))
    # Down to the depth that is told, nothing is lacking, and below the next one nothing is there.
    first = {
        pair: min(rank for (q, rank), cases in heads.items() if q == pair[0] and pair[1] in cases)
        for pair in union
    }
    assert all(pair in {*taken, *judged} for pair in union if first[pair] < found.depth)
    assert all(first[pair] <= found.depth for pair in taken)
    assert all(cases for cases in found.candidates.values())


@settings(max_examples=100)
@given(st.lists(st.text(min_size=1, max_size=200), unique=True, max_size=20))
def test_names_are_safe_for_every_id(ids: list[str]) -> None:
    """Each id has one name, no two the same on any system, without signs that paths have."""
    names = safe_names(ids)
    assert list(names) == ids
    assert len({name.casefold() for name in names.values()}) == len(ids)
    for name in names.values():
        assert 0 < len(name) <= 60
        assert not set(name) & set('/\\:*?"<>|.') | set(name) & {"\n", "\0"}
        assert name.isprintable()
        assert name.strip() == name


NASTY = (
    "1. a|b\n# no heading\n<script>alert(1)</script> *x* _y_ [l](http://z) $m$\n\n    code\n- item"
)


def test_texts_hold_no_markup(tmp_path: Path) -> None:
    """Whatever a case says is read as it is: beside its name, and as a text below."""
    texts = {
        "lines": case_text({"na|me": "a|b *c* <b>d</b>", "n": 3.0, "gone": None, "list": ["x", 2]}),
        "long": case_text({"title": "T", "text": NASTY}),
        "columns": case_text({"title": "T", "text": NASTY, "year": 1999}, ["text"]),
    }
    shown = {}
    for name, text in texts.items():
        folder = tmp_path / name / "solutions" / "P"
        folder.mkdir(parents=True)
        (folder / "c.md").write_text(text)
        (tmp_path / name / "study.yaml").write_text(
            "kind: relevance\nproblems: [{id: P}]\ncandidates: [{problem: P, id: c}]\n"
        )
        draft = draft_relevance(tmp_path / name / "study.yaml")
        found, wrong, _ = find_solutions(draft, complete=True)
        assert not wrong
        parts = render_solution(found.by_problem["P"]["c"], lambda *_: "")
        shown[name] = "".join(str(part.html) for part in parts.parts)
    assert "<strong>na|me:</strong> a|b *c* &lt;b&gt;d&lt;/b&gt;<br>" in shown["lines"]
    assert "<strong>n:</strong> 3<br>" in shown["lines"]
    assert "<strong>list:</strong> x, 2</p>" in shown["lines"]
    assert "gone" not in shown["lines"]
    for page in (shown["long"], shown["columns"]):
        assert "&lt;script&gt;alert(1)&lt;/script&gt; *x* _y_ [l](http://z) $m$" in page
        for tag in ("<h1", "<h2", "<script", "<ol", "<ul", "<li", "<pre", "<em", "<a "):
            assert tag not in page
        assert "1. a|b<br" in page
    assert "1999" not in shown["columns"]
    assert case_text({"gone": None}) == ""
    assert case_text({"gone": None, "text": "red *bike*"}) == "red \\*bike\\*"
