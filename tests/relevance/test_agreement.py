"""Agreement and consensus, pools, safe names, and the texts that judges read."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations
from statistics import median_low
from typing import TYPE_CHECKING

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from quem.blinding.rendering import render_solution
from quem.relevance.analysis import consensus_grade
from quem.relevance.making import safe_names
from quem.relevance.result import alphas, in_common
from quem.retrieval.lists import CaseLists, lists_of
from quem.retrieval.pooling import case_text, pooled
from quem.scores.inference import Inference
from quem.solutions import find_solutions
from quem.studyfile.reading import draft_relevance
from tests.relevance.made import drawn

if TYPE_CHECKING:
    from pathlib import Path

SEEDS = st.integers(0, 10_000)


@settings(max_examples=30)
@given(SEEDS, st.integers(2, 6), st.integers(2, 10))
def test_alpha_is_that_of_another_program(seed: int, judges: int, grades: int) -> None:
    """Over all queries, and of each query by itself."""
    judgments = drawn(seed, judges=judges, grades=grades)
    found = alphas(judgments, Inference(samples=0))
    assert np.isnan(found.interval).all()
    for query, alpha in [(None, found.overall), *enumerate(found.by_query.tolist())]:
        own = judgments.first[:, judgments.query == query] if query is not None else judgments.first
        kept = own[:, (~np.isnan(own)).sum(axis=0) > 1]
        if len(np.unique(kept[~np.isnan(kept)])) < 2:
            assert np.isnan(alpha)
            continue
        expected = krippendorff.alpha(own, level_of_measurement="ordinal")
        assert alpha == pytest.approx(expected, abs=1e-12)


def test_interval_is_that_of_resampled_queries() -> None:
    """Percentiles of alpha over samples of whole queries, each computed from its judgments."""
    judgments = drawn(5, candidates=48)
    found = alphas(judgments, Inference(level=0.9, seed=7))
    assert found.interval[0] < found.overall < found.interval[1]
    n = len(judgments.queries)
    values = []
    for drawn_queries in np.random.default_rng(7).integers(0, n, size=(2000, n)):
        taken = [judgments.first[:, judgments.query == query] for query in drawn_queries]
        values.append(krippendorff.alpha(np.hstack(taken), level_of_measurement="ordinal"))
    assert found.interval == pytest.approx(np.quantile(values, [0.05, 0.95]), abs=1e-9)


@settings(max_examples=30)
@given(SEEDS)
def test_kappa_is_that_of_another_program(seed: int) -> None:
    """Of two judges, and of a judge who judged twice."""
    judgments = drawn(seed, judges=3)
    for one, other in combinations(range(3), 2):
        common = in_common(judgments.first[one], judgments.first[other])
        both = ~np.isnan(judgments.first[[one, other]]).any(axis=0)
        a, b = judgments.first[[one, other]][:, both].astype(int)
        counts = np.zeros((3, 3))
        np.add.at(counts, (a, b), 1)
        assert (common.n, common.same) == (both.sum(), (a == b).mean())
        if len({*a.tolist(), *b.tolist()}) > 1:
            expected = cohens_kappa(counts, wt="quadratic").kappa
            assert common.weighted_kappa == pytest.approx(expected, abs=1e-12)
    for first, again in zip(judgments.first, judgments.again, strict=True):
        common = in_common(first, again)
        assert common.n == (~np.isnan(first) & ~np.isnan(again)).sum()
        # Whoever says the same again agrees with themselves.
        assert common.n == 0 or common.same == 1


@settings(max_examples=30)
@given(SEEDS, st.integers(1, 6))
def test_consensus_is_that_of_a_loop(seed: int, judges: int) -> None:
    """The lower median, and the lowest of the most frequent grades."""
    judgments = drawn(seed, judges=judges)
    median, mode = (consensus_grade(judgments, rule) for rule in ("median", "mode"))
    for at, column in enumerate(judgments.first.T):
        said = column[~np.isnan(column)].tolist()
        if not said:
            assert np.isnan([median[at], mode[at]]).all()
            continue
        counts = Counter(said)
        assert median[at] == median_low(said)
        assert mode[at] == min(g for g, n in counts.items() if n == max(counts.values()))


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
    (tmp_path / "solutions/P").mkdir(parents=True)
    for name, text in texts.items():
        (tmp_path / f"solutions/P/{name}.md").write_text(text)
    listed = ", ".join(f"{{problem: P, id: {name}}}" for name in texts)
    path = tmp_path / "study.yaml"
    path.write_text(f"kind: relevance\nproblems: [{{id: P}}]\ncandidates: [{listed}]\n")
    found, wrong, _ = find_solutions(draft_relevance(path), complete=True)
    assert not wrong
    shown = {
        name: "".join(str(part.html) for part in render_solution(one, lambda *_: "").parts)
        for name, one in found.by_problem["P"].items()
    }
    assert "<strong>na|me:</strong> a|b *c* &lt;b&gt;d&lt;/b&gt;<br>" in shown["lines"]
    assert "<strong>n:</strong> 3<br>" in shown["lines"]
    assert "<strong>list:</strong> x, 2</p>" in shown["lines"]
    assert "gone" not in shown["lines"]
    for page in (shown["long"], shown["alone"]):
        assert "1. a|b<br" in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt; *x* _y_ [l](http://z) $m$" in page
        assert not re.search("<(h1|h2|script|ol|ul|li|pre|em|a)[ >]", page)
    assert case_text({"gone": None, "text": "red *bike*"}) == "red \\*bike\\*"
