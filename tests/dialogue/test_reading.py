"""Case bases and queries as people save them, and errors in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import quem
from tests.dialogue.made import write

if TYPE_CHECKING:
    from pathlib import Path

    from quem.dialogue.loading import DialogueStudy

PLAIN = "size,color,fault\n1.5,red,A\n2,blue,B\n7,red,A\n4,,B\n"


def load(folder: Path, cases: str, keys: str = "", queries: str = "") -> DialogueStudy:
    """A study whose case base is read with some keys."""
    for name, default in (("class: ", "class: fault"), ("file: ", "file: cases.csv")):
        keys = keys if name in keys else f"{default}, {keys}"
    more = f"cases: {{{keys}}}\n" + ("queries: {file: queries.csv}\n" if queries else "")
    (folder / "queries.csv").write_text(queries, encoding="utf-8")
    (folder / "more.csv").write_text("size,fault\n1,A\n", encoding="utf-8")
    return quem.load_study(write(folder, more, cases=cases), kind="dialogue")


def test_columns_are_what_they_look_like(tmp_path: Path) -> None:
    """Numbers are numeric, words are categories, the most frequent first; blanks are missing."""
    cases = load(tmp_path, PLAIN).cases
    assert cases.attributes == ("size", "color")
    assert cases.categories == (None, ("red", "blue"))
    assert_array_equal(cases.values.T, [[1.5, 2, 7, 4], [0, 1, 0, np.nan]])
    assert cases.labels == ("A", "B")
    assert_array_equal(cases.classes, [0, 1, 0, 1])
    assert cases.ids == ("1", "2", "3", "4")


def test_without_a_header(tmp_path: Path) -> None:
    """The first line is a case; columns with two values are categories unless declared numeric."""
    text, keys = "A,1,0\nB,0,0\nB,1,1\n", "header: false, columns: [fault, x, y]"
    cases = load(tmp_path, text, keys).cases
    assert cases.attributes == ("x", "y")
    assert cases.categories[0] is not None
    numeric = load(tmp_path, text, f"{keys}, numeric: all").cases
    assert numeric.categories == (None, None)
    assert_array_equal(numeric.values[:, 0], [1, 0, 1])


def sizes(*rows: str) -> str:
    return "\n".join(("size,fault", *rows, ""))


NAMED = "header: false, columns: [size, color, fault]"


@pytest.mark.parametrize(
    ("text", "keys", "message"),
    [
        (PLAIN, "class: falt", "cases.class: column 'falt' not found; did you mean fault?"),
        (PLAIN, "id: bike", "cases.id: column 'bike' not found"),
        (PLAIN, "ignore: [sizes]", "cases.ignore[1]: column 'sizes' not found; did you mean size?"),
        (PLAIN, "ignore: [size, color]", "cases.file: no attribute is left"),
        (PLAIN, "weights: {x: 1}", "cases.weights.x: column 'x' not found"),
        (PLAIN, "weights: {fault: 1}", "cases.weights.fault: the class has no weight"),
        (PLAIN, "weights: {size: 0, color: 0}", "cases.weights: at least one attribute needs a"),
        (PLAIN, "numeric: [size], categorical: [size]", "cases.categorical: 'size' is both"),
        (PLAIN, "numeric: all, categorical: all", "'all' is both numeric and categorical"),
        (PLAIN, "file: [cases.csv, more.csv]", "more.csv:1: has other columns than cases.csv"),
        ("A,1\nB,2\nA,3\n", "", "cases.class: column 'fault' not found; if the files"),
        ("1,A\n2,B\n", NAMED, "cases.csv:1: has 2 columns, and 3 are named"),
        ("id,size,fault\n,1,A\nb,2,B\nc,3,B\n", "id: id", "cases.csv:2:1: id: is empty"),
        ("size,size,fault\n1,2,A\n", "", "several columns are named 'size'"),
        ("size;fault\n1,5;A\n2;B\n3;A\n", "numeric: all", "cases.csv:2:1: size: '1,5' has a deci"),
        (sizes("1,A", "x,B", "2,A"), "numeric: all", "cases.csv:3:1: size: 'x' is not a number"),
        (sizes("1,A", "inf,B", "2,A"), "numeric: all", "cases.csv:3:1: size: 'inf' is not"),
        (sizes("1,A", "2,A", "1e999,B"), "", "cases.csv:4:1: size: '1e999' is not a finite"),
        (sizes("1,A", "2,B"), "", "cases.csv: there are 2 cases with a class"),
        (sizes("1,2,A"), "", "cases.csv:2:3: this line has 3 cells, the header 2"),
    ],
)
def test_wrong_case_bases(tmp_path: Path, text: str, keys: str, message: str) -> None:
    with pytest.raises(quem.QuemError) as caught:
        load(tmp_path, text, keys)
    assert message in str(caught.value).replace(f"{tmp_path}/", "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("size,fault\n1,A\n", "queries.csv: has no column 'color', as the cases do"),
        ("a,b\n1,A\n", "queries.csv: has no columns 'fault', 'size', and 'color', as the cases"),
        ("size,color,fault\n1,red,\n", "queries.csv: there is no query with a class"),
    ],
)
def test_wrong_queries(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(quem.QuemError) as caught:
        load(tmp_path, PLAIN, queries=text)
    assert message in str(caught.value)


def told(study: DialogueStudy) -> list[str]:
    folder = f"{study.path.parent}/"
    return [f"{one.code}: {one.message.replace(folder, '')}" for one in study.warnings]


@pytest.mark.parametrize(
    ("text", "keys", "doubt"),
    [
        (PLAIN + "3,red,\n", "", "no-class: 1 case has no fault (cases.csv:6)"),
        (PLAIN.replace("B", "A"), "", "one-class: all cases have the same fault"),
        (sizes("1,A", "2,B", "3,C"), "", "class-unique: no two cases have the same fault"),
        ("size,no,fault\n1,,A\n2,?,B\n3,,A\n", "", "empty-attribute: no case has a value of no"),
        ("id,x,fault\nf,1,A\nf,2,B\nn,3,A\n", "id: id", "case-named-twice: "),
        (sizes(*(f"{n},A" for n in range(30)), "n/a,B"), "", "nearly-numeric: cases.csv:32:1: "),
        (sizes("1,A", "3,A", "4,B", "2x,B"), "", "nearly-numeric: cases.csv:5:1: size: '2x' is"),
    ],
)
def test_what_is_doubtful(tmp_path: Path, text: str, keys: str, doubt: str) -> None:
    assert any(one.startswith(doubt) for one in told(load(tmp_path, text, keys)))


def test_queries_have_the_codes_of_the_cases(tmp_path: Path) -> None:
    """Columns come in any order; what no case has gets a code of its own, and a warning."""
    text = "fault,note,color,size\nB,x,blue,3\nC,y,pink,9\nA,,red,?\n,,red,1\n"
    study = load(tmp_path, PLAIN, queries=text)
    queries = study.queries
    assert queries is not None
    assert queries.attributes == ("size", "color")
    assert queries.categories == (None, ("red", "blue", "pink"))
    assert_array_equal(queries.values, [[3, 1], [9, 2], [np.nan, 0]])
    assert_array_equal(queries.classes, [1, 2, 0])
    assert queries.labels == ("A", "B", "C")
    starts = (
        "no-class: 1 query has no fault (queries.csv:5)",
        "unseen-class: 1 query has a fault that no case has ('C')",
        "unseen-value: queries have values that no case has: size (1) and color (1)",
    )
    assert all(one.startswith(start) for one, start in zip(told(study), starts, strict=True))


def test_queries_that_are_cases(tmp_path: Path) -> None:
    text = "size,color,fault\n4.0,,B\n4,,A\n2,blue,B\n2,red,B\n"
    (doubt,) = told(load(tmp_path, PLAIN, queries=text))
    assert doubt.startswith("query-in-cases: 2 queries have all values and the fault of a case")
