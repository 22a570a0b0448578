"""Whatever a study or its rankings hold: a result, or mistakes that a user can mend."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import quem
from quem.errors import QuemError
from tests.examples import SOLVERS, long_csv, study_with, write_study

if TYPE_CHECKING:
    from collections.abc import Callable

often = settings(
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

KEYS = (
    *("kind", "id", "title", "description", "experience_unit", "problems", "judges", "subjects"),
    *("systems", "assisted", "withheld", "missing", "rankings", "solutions", "judging", "design"),
    *("analysis", "name", "experience", "statement", "version", "of", "date", "by", "person"),
    *("problem", "solver", "reason", "from", "file", "form", "interval", "level", "years"),
    *("reference_population", "share", "at_least", "years_error", "repeat"),
    *("block_size", "blocks", "identity_words", "<<", ""),
)
WORDS = (
    *(
        "experience",
        "S1",
        "S2",
        "sys",
        "J1",
        "P1",
        "W",
        "rankings.csv",
        "missing.csv",
        ".",
        "..",
        "~",
    ),
    *(
        "long",
        "wide",
        "preflib",
        "averages",
        "store",
        "linear",
        "log",
        "sqrt",
        "quadratic",
        "cubic",
    ),
    *(
        "auto",
        "calibration",
        "mean",
        "blom",
        "expected",
        "percentile",
        "humans",
        "failed",
        "absent",
    ),
    *(
        "-1",
        "1e400",
        "1e308",
        "5e-324",
        ".inf",
        ".nan",
        "nan",
        "0x10",
        "12:30",
        "yes",
        "1996-01-01",
    ),
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(WORDS)
)
trees = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), inner, max_size=5)
    ),
    max_leaves=20,
)
CELLS = (
    *("", "-", "NA", "failed", "absent", "0", "1", "2", "3", "1,5", "2.5", "-3", "1e308", "-1e308"),
    *("1e-320", "1e999", "9" * 5000, "S1", "S2", "S3", "S4", "S5", "S6", "sys", "nobody", '"'),
    *("J1", "J2", "P1", "P2", "J1:P1", '"a\nb"', " 3 ", "٣", "\x00", "\ufeff", "x" * 200),
)
cells = st.sampled_from(CELLS)


def outcome(study: object, **files: str | bytes) -> str:
    """Load, and where that works analyse; give the mistakes, which have to say something."""
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
            return ""
    assert mistakes
    for mistake in mistakes:
        assert mistake.message
        assert "\n" not in str(mistake)
    return "\n".join(map(str, mistakes))


@often
@given(st.binary(max_size=300))
@example(b"\xff\xfe\x00")
@example(b"a: [" * 2000)
@example(b"a: &a [*a]\n")
@example(b"kind: [1]\n")
def test_any_bytes_are_a_study_or_mistakes(raw: bytes) -> None:
    """Bytes that are no study are refused as mistakes."""
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
    """Draw a valid study in which up to three values, at any depth, are something else."""
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
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            key = draw(st.sampled_from([*keys, "title"] if isinstance(node, dict) else keys))
            below = node.get(key) if isinstance(node, dict) else node[key]
            if isinstance(below, dict | list) and below and draw(st.booleans()):
                node = below
                continue
            node[key] = draw(trees)
            break
    return study


@often
@given(mutations())
@example(study_with(subjects=[{"id": f"S{i}", "experience": e} for i, e in enumerate("123", 1)]))
@example(study_with(subjects=[{"id": f"S{i}", "experience": i * 1e-200} for i in range(1, 7)]))
@example(study_with(subjects=[{"id": f"S{i}", "experience": i * 1e307} for i in range(1, 7)]))
def test_any_change_of_a_valid_study_is_read_or_refused(study: dict[str, Any]) -> None:
    """A valid study in which some values are something else gives a result or mistakes."""
    outcome(study, rankings__csv=long_csv().replace("J1,P1,S6,6\n", ""))


SOURCES: dict[str, object] = {
    "long": {"from": "long", "file": "table.csv"},
    "wide": {"from": "wide", "file": "table.csv"},
    "averages": {"from": "averages", "file": "table.csv"},
    "preflib": [{"file": "table.toi", "problem": "P1"}],
}
HEADERS = {
    "long": "judge,problem,solver,rank,reason,block,occasion\n",
    "wide": "solver,J1,,J2,\n,P1,P2,P1,P2\n",
    "averages": "solver,average_rank\n",
    "preflib": "# ALTERNATIVE NAME 1: S1\n# ALTERNATIVE NAME 2: S2\n# ALTERNATIVE NAME 3: S3\n",
}


def read_as(layout: str, table: str | bytes) -> str:
    """Take a table for rankings in a layout; give the mistakes."""
    name = "table__toi" if layout == "preflib" else "table__csv"
    return outcome(study_with(rankings=SOURCES[layout]), **{name: table})


@pytest.mark.parametrize("layout", SOURCES)
@often
@given(raw=st.binary(max_size=200))
@example(raw=b"\xef\xbb\xbf\xff")
@example(raw=b",,\n,,\n")
@example(raw=b'"\n')
@example(raw=b"sep=;")
def test_any_bytes_are_no_rankings(layout: str, raw: bytes) -> None:
    """Bytes that are no rankings are refused as mistakes, in every layout."""
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


@st.composite
def averages(draw: st.DrawFn) -> str:
    """Draw average ranks of any size for every solver."""
    values = draw(st.lists(st.floats(allow_nan=False) | st.integers(-3, 9), min_size=7, max_size=7))
    rows = [f"{s},{v}\n" for s, v in zip(SOLVERS, values, strict=True)]
    return HEADERS["averages"] + "".join(rows)


@often
@given(averages())
@example("solver,average_rank\nS1,1\nS2,1\nS3,1\nS4,1\nS5,1\nS6,0.5\nsys,4e-293\n")
def test_any_averages_are_analysed_or_refused(table: str) -> None:
    """Average ranks of any size give a result or mistakes."""
    read_as("averages", table)


@st.composite
def ranks(draw: st.DrawFn) -> str:
    """Draw a long table of the right cells with any ranks, reasons, blocks and occasions."""
    rank: Callable[[], str] = lambda: draw(  # noqa: E731
        st.sampled_from(
            ["1", "2", "3", "4", "7", "2.5", "-", "failed", "1e308", "-1e308", "1e-300"]
        )
    )
    small = st.sampled_from(["", "1", "2"])
    rows = [
        f"{j},{p},{s},{rank()},,{draw(small)},{draw(small)}\n"
        for j in ("J1", "J2")
        for p in ("P1", "P2")
        for s in ("S1", "S2", "S3", "S4", "sys")
        if draw(st.integers(0, 5))
    ]
    return HEADERS["long"] + "".join(rows)


@often
@given(ranks(), st.sampled_from(["all", "humans"]), st.sampled_from(["rank", "blom"]))
def test_any_ranks_are_analysed_or_refused(table: str, reference: str, score: str) -> None:
    """Ranks with ties, gaps, failures, blocks and occasions give a result or mistakes."""
    settings_ = {"reference": reference, "score": score, "form": "auto"}
    source = {"from": "long", "file": "table.csv"}
    outcome(study_with(rankings=source, analysis=settings_), table__csv=table)
