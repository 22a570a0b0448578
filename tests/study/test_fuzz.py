"""Whatever a study or its rankings hold: a result, or mistakes that a user can mend."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import quem
from quem.errors import QuemError
from tests.examples import SOLVERS, long_csv, study_with, write_study

often = settings(
    max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
KEYS = [
    *"kind id title description experience_unit problems judges subjects systems assisted".split(),
    *"withheld missing rankings solutions judging design analysis name experience".split(),
    *"statement version of date by person problem solver reason from file form interval".split(),
    *"level years reference_population share at_least years_error repeat block_size".split(),
    *"blocks identity_words <<".split(),
    "",
]
WORDS = [
    *"experience S1 S2 sys J1 P1 W rankings.csv missing.csv . .. ~ long wide preflib".split(),
    *"averages store linear log sqrt quadratic cubic auto calibration mean blom expected".split(),
    *"percentile humans failed absent -1 1e400 1e308 5e-324 .inf .nan nan 0x10 12:30".split(),
    *"yes 1996-01-01".split(),
]
CELLS = [
    *"- NA failed absent 0 1 2 3 1,5 2.5 -3 1e308 -1e308 1e-320 1e999 S1 S2 S3 S4 S5".split(),
    *('S6 sys nobody " J1 J2 P1 P2 J1:P1 ٣'.split()),
    *("", "9" * 5000, '"a\nb"', " 3 ", "\x00", "\ufeff", "x" * 200),
]
RANKS = st.sampled_from("1 2 3 4 7 2.5 - failed 1e308 -1e308 1e-300".split())
cells = st.sampled_from(CELLS)
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
) | st.sampled_from(WORDS)
trees = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), inner, max_size=5)
    ),
    max_leaves=20,
)


def outcome(study: object, **files: str | bytes) -> list[str]:
    """Load and analyze a study; gives the mistakes, each of which says something in one line."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_study(Path(folder), study, **files)
        try:
            result = quem.analyze(quem.load_study(path))
        except QuemError as error:
            mistakes = error.mistakes
        else:
            # Everything that is said of it can be written down.
            json.dumps(result.to_dict()).encode()
            result.summary().encode()
            return []
    assert mistakes
    assert all(mistake.message for mistake in mistakes)
    told = [*map(str, mistakes)]
    assert not [mistake for mistake in told if "\n" in mistake]
    return told


@often
@given(st.binary(max_size=300))
@example(b"\xff\xfe\x00")
@example(b"a: [" * 2000)
@example(b"a: &a [*a]\n")
@example(b"kind: [1]\n")
def test_any_bytes_are_no_study(raw: bytes) -> None:
    assert outcome(raw)


@often
@given(st.text(st.sampled_from("abc:-[]{}#&*!|>'\"%@`,? \n\t0\\~é\x85\u2028"), max_size=60))
def test_any_yaml_like_text_is_mistakes(text: str) -> None:
    """Text of YAML's own signs, which bends its parser, is refused as mistakes."""
    assert outcome(text)


@often
@given(trees)
@example({"kind": ["experience"]})
@example({"missing": [{"problem": "P1", "solver": "S1", "reason": ["failed"]}]})
def test_any_tree_is_mistakes(tree: object) -> None:
    """A tree of known keys and wrong values is refused as mistakes."""
    assert outcome(tree)


@st.composite
def mutations(draw: st.DrawFn) -> dict[str, Any]:
    """A valid study in which up to three values, at any depth, are something else."""
    study = study_with(
        missing=[{"problem": "P1", "solver": "S6", "reason": "absent"}],
        withheld=["W"],
        assisted=[{"id": "S1+", "by": "sys", "person": "S1"}],
        analysis={"form": "linear", "level": 0.9, "score": "rank", "at_least": [5]},
        design={"block_size": 8},
        judging={"repeat": 1, "identity_words": ["x"]},
    )
    for _ in range(draw(st.integers(1, 3))):
        node: Any = study
        while True:
            keys = [*node, "title"] if isinstance(node, dict) else [*range(len(node))]
            key = draw(st.sampled_from(keys))
            below = node.get(key) if isinstance(node, dict) else node[key]
            if not (isinstance(below, dict | list) and below and draw(st.booleans())):
                break
            node = below
        node[key] = draw(trees)
    return study


def of_years(scale: float) -> dict[str, Any]:
    return study_with(subjects=[{"id": f"S{i}", "experience": i * scale} for i in range(1, 7)])


@often
@given(mutations())
@example(study_with(subjects=[{"id": f"S{i}", "experience": e} for i, e in enumerate("123", 1)]))
@example(of_years(1e-200))
@example(of_years(1e307))
def test_any_change_of_a_valid_study_is_read_or_refused(study: dict[str, Any]) -> None:
    outcome(study, rankings__csv=long_csv().replace("J1,P1,S6,6\n", ""))


HEADERS = {
    "long": "judge,problem,solver,rank,reason,block,occasion\n",
    "wide": "solver,J1,,J2,\n,P1,P2,P1,P2\n",
    "averages": "solver,average_rank\n",
    "preflib": "# ALTERNATIVE NAME 1: S1\n# ALTERNATIVE NAME 2: S2\n# ALTERNATIVE NAME 3: S3\n",
}


def read_as(layout: str, table: str | bytes, **settings_: object) -> list[str]:
    """Take a table for rankings in a layout; gives the mistakes."""
    if layout == "preflib":
        source = [{"file": "table.toi", "problem": "P1"}]
        return outcome(study_with(rankings=source), table__toi=table)
    study = study_with(rankings={"from": layout, "file": "table.csv"}, analysis=settings_)
    return outcome(study, table__csv=table)


@pytest.mark.parametrize("layout", HEADERS)
@often
@given(raw=st.binary(max_size=200))
@example(raw=b"\xef\xbb\xbf\xff")
@example(raw=b",,\n,,\n")
@example(raw=b'"\n')
@example(raw=b"sep=;")
def test_any_bytes_are_no_rankings(layout: str, raw: bytes) -> None:
    assert read_as(layout, raw)


@pytest.mark.parametrize("layout", ["long", "wide", "averages"])
@often
@given(rows=st.lists(st.lists(cells, max_size=7).map(",".join), max_size=8))
@example(rows=['"a\nb"', '"a\nb"'])
def test_any_cells_are_read_or_refused(layout: str, rows: list[str]) -> None:
    """A table with a right header and any cells gives a result or mistakes."""
    read_as(layout, HEADERS[layout] + "\n".join(rows))


@often
@given(st.lists(st.text(st.sampled_from("1234:{},# -x\t"), max_size=20), max_size=5))
def test_any_orders_are_read_or_refused(lines: list[str]) -> None:
    """PrefLib names followed by anything give a result or mistakes."""
    read_as("preflib", HEADERS["preflib"] + "\n".join(lines))


@often
@given(st.lists(st.floats(allow_nan=False) | st.integers(-3, 9), min_size=7, max_size=7))
@example([1, 1, 1, 1, 1, 0.5, 4e-293])
def test_any_averages_are_analyzed_or_refused(values: list[float]) -> None:
    """Average ranks of any size give a result or mistakes."""
    rows = [f"{solver},{value}\n" for solver, value in zip(SOLVERS, values, strict=True)]
    read_as("averages", HEADERS["averages"] + "".join(rows))


@often
@given(st.data(), st.sampled_from(["all", "humans"]), st.sampled_from(["rank", "blom"]))
def test_any_ranks_are_analyzed_or_refused(data: st.DataObject, reference: str, score: str) -> None:
    """Ranks with ties, gaps, failures, blocks and occasions give a result or mistakes."""
    small = st.sampled_from(["", "1", "2"])
    rows = [
        f"{judge},{problem},{solver},{data.draw(RANKS)},,{data.draw(small)},{data.draw(small)}\n"
        for judge in ("J1", "J2")
        for problem in ("P1", "P2")
        for solver in ("S1", "S2", "S3", "S4", "sys")
        if data.draw(st.integers(0, 5))
    ]
    table = HEADERS["long"] + "".join(rows)
    read_as("long", table, reference=reference, score=score, form="auto")
