"""The shipped study of option lists gives Table 1 of the paper, and its README shows it."""

from __future__ import annotations

import json
import re
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from scipy.stats import kendalltau, spearmanr

import quem
from tests.docs.pages import table_rows
from tests.lists.golden import GOLDEN

if TYPE_CHECKING:
    from quem.options.result import OptionsResult

FOLDER = Path(__file__).resolve().parents[2] / "studies" / "option-lists"
EXPECTED = json.loads((FOLDER / "expected.json").read_text("utf-8"))["study.yaml"]
NAMES, TABLE = EXPECTED["measures"], EXPECTED["table"]
README = (FOLDER / "README.md").read_text("utf-8")
UNRANKED = ("F1", "F1s", "LAR")
_CELL = re.compile(r"(Yes|No|[\d.]+)(★?)")


@cache
def result() -> OptionsResult:
    """Analyse the study."""
    analysis: OptionsResult = quem.analyze(quem.load_study(FOLDER / "study.yaml", kind="options"))
    return analysis


@cache
def scores() -> dict[str, dict[str, float]]:
    """The score of each list by each measure."""
    table = result().tables()["lists"]
    return {row["question"]: {n: row[n] for n in NAMES} for row in table.to_dict("records")}


def rounded(value: float, name: str) -> Decimal:
    """Round half up, to as many digits as the paper prints."""
    digits = Decimal("0.001") if name == "OLAR" else Decimal("0.01")
    return Decimal(round(value, 12)).quantize(Decimal("1e-9")).quantize(digits, ROUND_HALF_UP)


def gold(kind: str, name: str) -> int:
    """The gold rank of a list, for a measure of ordered or of unordered lists."""
    rank: int = TABLE[kind]["gold"][name not in UNRANKED]
    return rank


def starred(kind: str, name: str) -> bool:
    """Whether a list scores no lower than some list of a better gold rank."""
    better = [scores()[k][name] for k in TABLE if gold(k, name) < gold(kind, name)]
    return bool(better) and scores()[kind][name] >= min(better) - 1e-12


def correlation(function: Any, name: str, *, exact: bool = False) -> float:  # noqa: ANN401
    """Correlate scores, rounded as printed unless told otherwise, with the gold ranks."""
    values = [
        scores()[k][name] if exact else float(rounded(scores()[k][name], name)) for k in TABLE
    ]
    return float(function(values, [-gold(k, name) for k in TABLE]).statistic)


def test_the_lists_are_those_of_the_table() -> None:
    """Each question has the list of its name, and what is expected is what the paper prints."""
    findings = result().findings
    assert findings.data.key.ids == tuple(TABLE)
    assert findings.lengths[0].tolist() == [len(kind) for kind in TABLE]
    assert findings.places[0].tolist() == [kind.find("c") + 1 for kind in TABLE]
    printed = GOLDEN["option_lists"]
    assert {
        k: {key: row[key] for key in ("gold", "printed", "starred")} for k, row in TABLE.items()
    } == printed["table"]
    assert EXPECTED["properties"] == printed["properties"]
    assert result().warnings == ()


@pytest.mark.parametrize("name", NAMES)
def test_all_cells_and_stars_come_out(name: str) -> None:
    """20 scores by each of 12 measures, to every printed digit, and which of them are starred."""
    for kind, row in TABLE.items():
        assert rounded(scores()[kind][name], name) == Decimal(row["printed"][NAMES.index(name)])
        assert starred(kind, name) == (name in row["starred"]), kind


@pytest.mark.parametrize("name", NAMES)
def test_properties_and_correlations_come_out(name: str) -> None:
    """The three rows of properties, and the two of correlations."""
    promised = dict(result().findings.properties)[name]
    assert [prop.holds for prop in promised] == EXPECTED["properties"][name]
    for key, function in (("kendall", kendalltau), ("spearman", spearmanr)):
        assert correlation(function, name) == pytest.approx(EXPECTED[key][name], abs=5e-4)


def readme_cells() -> dict[str, dict[str, tuple[str, str]]]:
    """The table of the README: row, measure, and what is printed and starred."""
    rows = [row for row in table_rows(README) if len(row) == len(NAMES) + 3]
    head, *body = rows
    return {
        row[0]: {
            name: (match[1], match[2])
            for name, cell in zip(head, row, strict=True)
            if name in NAMES and (match := _CELL.fullmatch(cell))
        }
        for row in body
    }


def test_readme_shows_the_table() -> None:
    """Every cell of its table is the printed one, which is the one computed now."""
    cells = readme_cells()
    shown = {name: {kind: cells[kind][name] for kind in cells} for name in NAMES}
    for at, name in enumerate(NAMES):
        starred_ones = {k: "★" if starred(k, name) else "" for k in TABLE}
        wanted = {k: (row["printed"][at], starred_ones[k]) for k, row in TABLE.items()}
        for word, holds in zip(
            ("Correctness", "Confidence", "Priority"), EXPECTED["properties"][name], strict=True
        ):
            wanted[word] = ("Yes" if holds else "No", "")
        wanted["Kendall's τ"] = (f"{EXPECTED['kendall'][name]:g}", "")
        wanted["Spearman's ρ"] = (f"{EXPECTED['spearman'][name]:g}", "")
        assert shown[name] == wanted


def test_readme_explains_with_the_right_numbers() -> None:
    """The numbers in its remarks are computed ones."""
    for name, tau, rho in (("APL", "0.819", "0.923"), ("APs", "0.850", "0.931")):
        assert f"{correlation(kendalltau, name, exact=True):.3f}" == tau
        assert f"{correlation(spearmanr, name, exact=True):.3f}" == rho
        assert f"{tau} and {rho}" in README
    example = quem.lists.properties("OLAR(m=0.0499)", max_length=6).confidence.counterexample
    assert example is not None
    better, worse = f"{example.better_score:.4f}", f"{example.worse_score:.4f}"
    assert f"`{example.better}` ({better}) scores below `{example.worse}` ({worse})" in README
