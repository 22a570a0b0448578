"""Pools of lists, safe names, and the texts that judges read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from quem.blinding.rendering import render_solution
from quem.relevance.making import safe_names
from quem.retrieval.lists import CaseLists, lists_of
from quem.retrieval.pooling import pooled
from quem.retrieval.texts import case_text
from quem.solutions import find_solutions
from quem.studyfile.reading import draft_relevance

if TYPE_CHECKING:
    from pathlib import Path

CASES = tuple(f"c{n}" for n in range(12))
QUERIES = ("q0", "q1", "q2")


def _lists(seed: int, *, tied: bool) -> CaseLists:
    rng = np.random.default_rng(seed)

    def one() -> tuple[np.ndarray, np.ndarray]:
        places = rng.permutation(len(CASES))[: rng.integers(0, 10)].astype(np.int32)
        return places, 100.0 - np.cumsum(rng.integers(not tied, 2, len(places)))

    return lists_of(QUERIES, CASES, [one() for _ in QUERIES])


@given(seed=st.integers(0, 10_000), depth=st.integers(1, 12), tied=st.booleans())
def test_pool_is_the_union_of_the_best(seed: int, depth: int, *, tied: bool) -> None:
    """Of each list as many as the depth, and none that is worse than one that is left out."""
    lists = [_lists(seed + n, tied=tied) for n in range(3)]
    found = pooled(lists, depth, seed)
    for at, query in enumerate(QUERIES):
        taken = {case for of, case in found if of == query}
        sure, possible = set(), set()
        for one in lists:
            places, similarity = one.of(at)
            worst = similarity[:depth].min(initial=np.inf)
            named = [CASES[place] for place in places.tolist()]
            better = {case for case, s in zip(named, similarity, strict=True) if s > worst}
            equal = {case for case, s in zip(named, similarity, strict=True) if s == worst}
            assert len((better | equal) & taken) >= min(depth, len(named))
            sure |= better
            possible |= better | equal
        assert sure <= taken <= possible
        assert tied or taken == possible


@given(st.lists(st.text(min_size=1, max_size=80), unique=True, max_size=9))
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
        "alone": case_text({"text": NASTY, "year": None}),
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
    for page in (shown["long"], shown["alone"]):
        assert "&lt;script&gt;alert(1)&lt;/script&gt; *x* _y_ [l](http://z) $m$" in page
        for tag in ("<h1", "<h2", "<script", "<ol", "<ul", "<li", "<pre", "<em", "<a "):
            assert tag not in page
        assert "1. a|b<br" in page
    assert case_text({"gone": None}) == ""
    assert case_text({"gone": None, "text": "red *bike*"}) == "red \\*bike\\*"
