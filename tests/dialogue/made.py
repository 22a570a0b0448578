"""Case bases, and studies of them in a folder."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import strategies as st

from quem.dialogue.reading import EncodedCases

if TYPE_CHECKING:
    from collections.abc import Sequence


CASES = (
    "color,size,fault\nred,1,A\nred,2,A\nblue,3,B\nblue,5,B\ngreen,8,A\nred,9,B\nblue,4,A\n"
    "green,6,B\n"
)


def write(folder: Path, more: str = "", *, cases: str = CASES) -> Path:
    """Write a small study whose own functions are there."""
    (folder / "cases.csv").write_text(cases, encoding="utf-8")
    shutil.copy(Path(__file__).with_name("mine.py"), folder)
    study = folder / "study.yaml"
    # A study that says something else about its cases does so first.
    first = "" if "cases:" in more else "cases: {file: cases.csv, class: fault}\n"
    study.write_text(f"kind: dialogue\n{first}{more}", encoding="utf-8")
    return study


def encoded(
    columns: Sequence[Sequence[float]],
    categories: Sequence[tuple[str, ...] | None],
    classes: Sequence[int],
    weights: Sequence[float],
) -> EncodedCases:
    """Cases of two classes from the columns of their attributes; NaN is missing."""
    return EncodedCases(
        tuple(str(i + 1) for i in range(len(classes))),
        tuple(f"a{i + 1}" for i in range(len(columns))),
        np.array(columns, dtype=float).T,
        tuple(categories),
        np.array(classes),
        ("A", "B"),
        np.array(weights, dtype=float),
    )


@st.composite
def case_bases(draw: st.DrawFn, *, most: int = 9, complete: bool = False) -> EncodedCases:
    """Small case bases with ties and missing values, categorical and numeric."""
    n = draw(st.integers(3, most))
    columns, weights = [], []
    categories = draw(st.lists(st.sampled_from([("x", "y", "z"), None]), min_size=1, max_size=4))
    for names in categories:
        numbers = (0.0, 1.0, 2.5, 3.0, 10.0) if names is None else (0.0, 1.0, 2.0)
        cell = st.sampled_from(numbers if complete else (*numbers, np.nan))
        column = draw(st.lists(cell, min_size=n, max_size=n))
        columns.append([1.0, *column[1:]] if np.isnan(column).all() else column)
        weights.append(draw(st.sampled_from([1.0, 2.0, 0.5])))
    classes = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    return encoded(columns, categories, classes, weights)


@st.composite
def queries_to(draw: st.DrawFn, base: EncodedCases) -> EncodedCases:
    """A few queries to a case base, also with values and classes that no case has."""
    values = []
    for names in base.categories:
        numbers = st.sampled_from([-4.0, 0.0, 1.0, 2.5, 7.0, 30.0])
        # One category more than there are.
        cell = numbers if names is None else st.integers(0, len(names)).map(float)
        cells = st.one_of(cell, st.just(np.nan))
        values.append(draw(st.lists(cells, min_size=3, max_size=3)))
    return replace(
        base,
        ids=("q1", "q2", "q3"),
        values=np.array(values).T,
        categories=tuple(n if n is None else (*n, "never") for n in base.categories),
        classes=np.array(draw(st.lists(st.integers(0, 2), min_size=3, max_size=3))),
        labels=(*base.labels, "C"),
    )
