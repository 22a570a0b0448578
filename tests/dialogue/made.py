"""Case bases for tests."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import strategies as st

from quem.dialogue.reading import EncodedCases

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypothesis.strategies import SearchStrategy


def case_base(
    rows: Sequence[Sequence[str | float | None]],
    classes: Sequence[str],
    weights: Sequence[float] | None = None,
) -> EncodedCases:
    """Cases from rows: texts are categories, numbers are numbers, None is missing."""
    columns: list[list[float]] = []
    categories: list[tuple[str, ...] | None] = []
    for column in zip(*rows, strict=True):
        texts = Counter(value for value in column if isinstance(value, str))
        if texts:
            names = sorted(texts, key=lambda text: (-texts[text], text))
            columns.append([np.nan if v is None else names.index(str(v)) for v in column])
            categories.append(tuple(names))
        else:
            columns.append([np.nan if v is None else float(v) for v in column])
            categories.append(None)
    labels = sorted(set(classes))
    m = len(columns)
    return EncodedCases(
        tuple(str(i + 1) for i in range(len(rows))),
        tuple(f"a{i + 1}" for i in range(m)),
        np.array(columns, dtype=float).T,
        tuple(categories),
        np.array([labels.index(label) for label in classes]),
        tuple(labels),
        np.ones(m) if weights is None else np.array(weights, dtype=float),
    )


@st.composite
def case_bases(draw: st.DrawFn, *, most: int = 9, complete: bool = False) -> EncodedCases:
    """Small case bases with ties and missing values, categorical and numeric."""
    n = draw(st.integers(3, most))
    kinds = draw(st.lists(st.sampled_from(["words", "numbers"]), min_size=1, max_size=4))
    cells: dict[str, SearchStrategy[str | float | None]] = {
        "words": st.sampled_from(["x", "y", "z"]),
        "numbers": st.sampled_from([0.0, 1.0, 2.5, 3.0, 10.0]),
    }
    columns = []
    for kind in kinds:
        cell = cells[kind] if complete else st.one_of(cells[kind], st.none())
        column = draw(st.lists(cell, min_size=n, max_size=n))
        if all(value is None for value in column):
            column[0] = "x" if kind == "words" else 1.0
        columns.append(column)
    classes = draw(st.lists(st.sampled_from("AB"), min_size=n, max_size=n))
    weights = draw(
        st.lists(st.sampled_from([1.0, 2.0, 0.5]), min_size=len(kinds), max_size=len(kinds))
    )
    return case_base(list(zip(*columns, strict=True)), classes, weights)


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
        labels=(*base.labels, "C", "D")[: max(3, len(base.labels))],
    )
