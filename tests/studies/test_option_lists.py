"""The shipped study of option lists gives Table 1 of the paper."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from scipy.stats import kendalltau, spearmanr

import quem
from tests.lists.golden import GOLDEN

if TYPE_CHECKING:
    import pandas as pd

    from quem.options.result import OptionsResult

FOLDER = Path(__file__).resolve().parents[2] / "studies" / "option-lists"
EXPECTED = json.loads((FOLDER / "expected.json").read_text("utf-8"))["study.yaml"]
NAMES, TABLE = EXPECTED["measures"], EXPECTED["table"]
README = (FOLDER / "README.md").read_text("utf-8")
UNRANKED = ("F1", "F1s", "LAR")
PROPERTIES = ("correctness", "confidence", "priority")
# tau-b and rho of the printed numbers, unrounded, from an independent computation.
CORRELATIONS = {
    "F1": (0.9701425001453319, 0.9922479451004091),
    "F1s": (0.985184366143778, 0.9941916256019201),
    "LAR": (1, 1),
    **dict.fromkeys(("AP", "RR", "nDCG", "RBP"), (0.7456011350793257, 0.8554690030016078)),
    "APL": (0.8265265073884384, 0.9257334816963324),
    "APs": (0.8571548551391923, 0.9337850649444772),
    **dict.fromkeys(("nDCGL", "RBPL"), (0.8111071056538127, 0.9182081675086764)),
    "OLAR": (1, 1),
}


@cache
def result() -> OptionsResult:
    """Analyze the study."""
    return quem.analyze(quem.load_study(FOLDER / "study.yaml", kind="options"))


def of_measure(name: str) -> pd.DataFrame:
    """All lists with their scores by a measure."""
    table = result().table("table1")
    return table[table.measure == name].set_index("list").loc[list(TABLE)]


def test_what_is_expected_is_what_the_paper_prints() -> None:
    """And the lists of the study are those of the table."""
    printed = GOLDEN["option_lists"]
    assert {
        k: {key: row[key] for key in ("gold", "printed", "starred")} for k, row in TABLE.items()
    } == printed["table"]
    assert EXPECTED["properties"] == printed["properties"]
    scores = result().table_of_scores
    assert scores.queries == tuple(TABLE)
    for at, name in enumerate(NAMES):
        assert scores.values[0, :, at] == pytest.approx(of_measure(name)["score"].to_numpy())
    assert result().warnings == ()


@pytest.mark.parametrize("name", NAMES)
def test_the_table_comes_out(name: str) -> None:
    """By each of 12 measures 20 scores to every printed digit, 20 stars, and what is below."""
    own = of_measure(name)
    at = NAMES.index(name)
    assert own.printed.to_dict() == {kind: row["printed"][at] for kind, row in TABLE.items()}
    assert own.star.to_dict() == {kind: name in row["starred"] for kind, row in TABLE.items()}
    ordered = name not in UNRANKED
    assert own.gold.to_dict() == {kind: row["gold"][ordered] for kind, row in TABLE.items()}
    (promised,) = (
        row for row in result().table("promises").to_dict("records") if row["measure"] == name
    )
    assert [promised[key] for key in PROPERTIES] == EXPECTED["properties"][name]
    correlations = promised["tau"], promised["rho"]
    assert correlations == pytest.approx(CORRELATIONS[name], abs=1e-9)
    paper = EXPECTED["kendall"][name], EXPECTED["spearman"][name]
    assert correlations == pytest.approx(paper, abs=5e-4)


def test_the_page_prints_the_table() -> None:
    """Every row, with its gold rank, stars, properties, and correlations."""
    rows = re.findall(r"<tr>.*?</tr>", result().to_html(), re.DOTALL)
    seen = [re.sub(r"<[^>]+>", " ", row).split() for row in rows]
    for names in (UNRANKED, tuple(name for name in NAMES if name not in UNRANKED)):
        assert ["List", "Gold", *names] in seen
        for kind, row in TABLE.items():
            printed = dict(zip(NAMES, row["printed"], strict=True))
            cells = [f"{'*' * (name in row['starred'])}{printed[name]}" for name in names]
            assert [kind, str(row["gold"][names != UNRANKED]), *cells] in seen
        for at, word in enumerate(PROPERTIES):
            holds = ["yes" if EXPECTED["properties"][name][at] else "no" for name in names]
            assert [word.title(), *holds] in seen
        for word, key in (("tau-b", "kendall"), ("rho", "spearman")):
            assert [word, *(f"{EXPECTED[key][name]:.3f}" for name in names)] in seen


def test_readme_explains_with_the_right_numbers() -> None:
    """The numbers in its remarks are computed ones."""
    for name, tau, rho in (("APL", "0.819", "0.923"), ("APs", "0.850", "0.931")):
        own = of_measure(name)
        assert f"{kendalltau(own.score.round(12), -own.gold).statistic:.3f}" == tau
        assert f"{spearmanr(own.score.round(12), -own.gold).statistic:.3f}" == rho
        assert f"{tau} and {rho}" in README
    example = quem.lists.properties("OLAR(m=0.0499)", max_length=6).confidence.counterexample
    assert example is not None
    better, worse = f"{example.better_score:.4f}", f"{example.worse_score:.4f}"
    assert f"`{example.better}` ({better}) scores below `{example.worse}` ({worse})" in README
