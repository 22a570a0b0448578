"""Case bases as people really save them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from quem.dialogue.reading import ReadCases, read_cases
from quem.studyfile.dialogue import Cases

if TYPE_CHECKING:
    from pathlib import Path

    from quem.dialogue.reading import EncodedCases

PLAIN = "size,color,fault\n1.5,red,A\n2,blue,B\n7,red,A\n4,,B\n"


def read(tmp_path: Path, *texts: str | bytes, **keys: Any) -> ReadCases:  # noqa: ANN401
    files: list[tuple[Path, str]] = []
    for index, text in enumerate(texts):
        path = tmp_path / f"cases{index}.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        files.append((path, path.name))
    return read_cases(files, columns(files, **keys))


def columns(files: list[tuple[Path, str]], **keys: Any) -> Cases:  # noqa: ANN401
    return Cases(file=tuple(name for _, name in files), **{"label": "fault", **keys})


def cases_of(result: ReadCases) -> EncodedCases:
    assert result.mistakes == []
    assert result.misplaced == []
    assert result.cases is not None
    return result.cases


def test_columns_are_what_they_look_like(tmp_path: Path) -> None:
    """Numbers are numeric, words are categories, the most frequent first; blanks are missing."""
    cases = cases_of(read(tmp_path, PLAIN))
    assert cases.attributes == ("size", "color")
    assert cases.categories == (None, ("red", "blue"))
    assert_array_equal(cases.values[:, 0], [1.5, 2, 7, 4])
    assert_array_equal(cases.values[:, 1], [0, 1, 0, np.nan])
    assert cases.labels == ("A", "B")
    assert_array_equal(cases.classes, [0, 1, 0, 1])
    assert cases.ids == ("1", "2", "3", "4")


def test_without_a_header(tmp_path: Path) -> None:
    """The first line is a case, and the columns are named by the study."""
    text = "A,1,0\nB,0,0\nB,1,1\n"
    names = ("fault", "x", "y")
    cases = cases_of(read(tmp_path, text, header=False, columns=names))
    assert len(cases) == 3
    assert cases.attributes == ("x", "y")
    # Two values alone are categories, until told otherwise.
    assert cases.categories[0] is not None
    numeric = cases_of(read(tmp_path, text, header=False, columns=names, numeric="all"))
    assert numeric.categories == (None, None)
    assert_array_equal(numeric.values[:, 0], [1, 0, 1])


MISNAMED: list[tuple[dict[str, Any], str]] = [
    ({"label": "falt"}, "class: column 'falt' not found; did you mean fault?"),
    ({"id": "bike"}, "id: column 'bike' not found"),
    ({"ignore": ("sizes",)}, "ignore.0: column 'sizes' not found; did you mean size?"),
    ({"weights": {"x": 1.0}}, "weights.x: column 'x' not found"),
    ({"weights": {"fault": 1.0}}, "weights.fault: the class has no weight"),
    ({"weights": {"size": 0.0, "color": 0.0}}, "weights: at least one attribute needs a weight"),
    ({"numeric": ("size",), "categorical": ("size",)}, "categorical: 'size' is both numeric and"),
    ({"numeric": "all", "categorical": "all"}, "'all' is both numeric and categorical"),
    ({"ignore": ("size", "color")}, "file: no attribute is left"),
]


@pytest.mark.parametrize(("keys", "message"), MISNAMED)
def test_keys_that_do_not_fit(tmp_path: Path, keys: dict[str, Any], message: str) -> None:
    result = read(tmp_path, PLAIN, **keys)
    assert result.cases is None
    lines = [f"{'.'.join(map(str, loc))}: {text}" for loc, text in result.misplaced]
    assert any(message in line for line in lines), lines


def sizes(*rows: str) -> str:
    return "\n".join(("size,fault", *rows, ""))


ALL_NUMERIC = {"numeric": "all"}
NAMED: dict[str, Any] = {"header": False, "columns": ("size", "color", "fault")}


@pytest.mark.parametrize(
    ("texts", "keys", "message"),
    [
        ((sizes("1,A", "x,B", "2,A"),), ALL_NUMERIC, "cases0.csv:3:1: size: 'x' is not a number"),
        ((sizes("1,A", "inf,B", "2,A"),), ALL_NUMERIC, "cases0.csv:3:1: size: 'inf' is not a fini"),
        (("size;fault\n1,5;A\n2;B\n3;A\n",), ALL_NUMERIC, "cases0.csv:2:1: size: '1,5' has a dec"),
        ((sizes("1,A", "2,A", "1e999,B"),), {}, "cases0.csv:4:1: size: '1e999' is not a finite"),
        ((sizes("1,A", "2,B"),), {}, "cases0.csv: there are 2 cases with a class"),
        ((PLAIN, sizes("1,A")), {}, "cases1.csv:1: has other columns than cases0.csv"),
        (("size,size,fault\n1,2,A\n",), {}, "several columns are named 'size'"),
        ((sizes("1,2,A"),), {}, "cases0.csv:2:3: this line has 3 cells, the header 2"),
        (("1,A\n2,B\n",), NAMED, "cases0.csv:1: has 2 columns, and 3 are named"),
        (("id,size,fault\n,1,A\nb,2,B\nc,3,B\n",), {"id": "id"}, "cases0.csv:2:1: id: is empty"),
        (("A,1\nB,2\nA,3\n",), {}, "class: column 'fault' not found; if the files have no header"),
    ],
)
def test_files_that_do_not_do(
    tmp_path: Path, texts: tuple[str, ...], keys: dict[str, Any], message: str
) -> None:
    result = read(tmp_path, *texts, **keys)
    assert result.cases is None
    lines = [*map(str, result.mistakes), *(f"{loc[0]}: {text}" for loc, text in result.misplaced)]
    assert any(message in line for line in lines), lines


@pytest.mark.parametrize(
    ("text", "keys", "code", "words"),
    [
        (PLAIN + "3,red,\n", {}, "no-class", "1 case has no fault (cases0.csv:6)"),
        (PLAIN.replace("B", "A"), {}, "one-class", "all cases have the same fault"),
        (sizes("1,A", "2,B", "3,C"), {}, "class-unique", "no two cases have the same fault"),
        ("size,no,fault\n1,,A\n2,?,B\n3,,A\n", {}, "empty-attribute", "no case has a value of no"),
        ("id,x,fault\nf,1,A\nf,2,B\nn,3,A\n", {"id": "id"}, "case-named-twice", "'f'"),
        (
            sizes(*(f"{i},A" for i in range(30)), "n/a,B"),
            {},
            "nearly-numeric",
            "cases0.csv:32:1: size: 'n/a' is not",
        ),
        (
            sizes("1,A", "3,A", "4,B", "2.5x,B"),
            {},
            "nearly-numeric",
            "cases0.csv:5:1: size: '2.5x' is not",
        ),
    ],
)
def test_what_is_doubtful(
    tmp_path: Path, text: str, keys: dict[str, Any], code: str, words: str
) -> None:
    result = read(tmp_path, text, **keys)
    cases_of(result)
    assert any(doubt.code == code and words in doubt.message for doubt in result.warnings), (
        result.warnings
    )


def queries_of(tmp_path: Path, text: str, cases: str = PLAIN, **keys: Any) -> ReadCases:  # noqa: ANN401
    base = cases_of(read(tmp_path, cases, **keys))
    path = tmp_path / "queries.csv"
    path.write_text(text, encoding="utf-8")
    files = [(path, path.name)]
    return read_cases(files, columns(files, **keys), base)


def test_queries_have_the_codes_of_the_cases(tmp_path: Path) -> None:
    """Columns come in any order; what no case has gets a code of its own, and a warning."""
    text = "fault,note,color,size\nB,x,blue,3\nC,y,pink,9\nA,,red,?\n,,red,1\n"
    result = queries_of(tmp_path, text)
    queries = cases_of(result)
    assert queries.attributes == ("size", "color")
    assert queries.categories == (None, ("red", "blue", "pink"))
    assert_array_equal(queries.values, [[3, 1], [9, 2], [np.nan, 0]])
    assert_array_equal(queries.classes, [1, 2, 0])
    assert queries.labels == ("A", "B", "C")
    starts = {
        "no-class": "1 query has no fault (queries.csv:5)",
        "unseen-class": "1 query has a fault that no case has ('C')",
        "unseen-value": "queries have values that no case has: size (1) and color (1)",
    }
    for warning, (code, start) in zip(result.warnings, starts.items(), strict=True):
        assert warning.code == code
        assert warning.message.startswith(start)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("size,fault\n1,A\n", "queries.csv: has no column 'color', as the cases do"),
        ("a,b\n1,A\n", "queries.csv: has no columns 'fault', 'size', and 'color', as the cases"),
        ("size,color,fault\n1,red,\n", "queries.csv: there is no query with a class"),
    ],
)
def test_queries_that_do_not_do(tmp_path: Path, text: str, message: str) -> None:
    result = queries_of(tmp_path, text)
    assert result.cases is None
    assert message in str(result.mistakes[0])


def test_queries_that_are_cases(tmp_path: Path) -> None:
    text = "size,color,fault\n4.0,,B\n4,,A\n2,blue,B\n2,red,B\n"
    result = queries_of(tmp_path, text)
    assert [warning.code for warning in result.warnings] == ["query-in-cases"]
    assert "2 queries have all values and the fault of a case" in result.warnings[0].message
