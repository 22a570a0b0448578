"""Option lists evaluated: scores, means, lengths, promises, and the report."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from quem import lists as measures
from quem.options import evaluate
from quem.report.files import write_report
from tests.options.made import analysed, drawn, study_in

if TYPE_CHECKING:
    from pathlib import Path

    from quem.options.result import OptionsResult


def codes(result: OptionsResult) -> dict[str, str]:
    return {doubt.code: doubt.message for doubt in result.warnings}


def scores(result: OptionsResult) -> pd.DataFrame:
    table = result.table_of_scores
    keys = pd.MultiIndex.from_product([table.systems, table.queries])
    return pd.DataFrame(table.values.reshape(len(keys), -1), keys, list(table.columns))


def test_scores_are_those_of_the_measures_with_several_correct_options(tmp_path: Path) -> None:
    """Each list by each measure, where questions have one to three correct options."""
    _, lists = drawn(50, systems=2, seed=6)
    rng = np.random.default_rng(0)
    correct = {
        f"Q{q}": [f"o{o}" for o in rng.permutation(8)[: rng.integers(1, 4)]] for q in range(50)
    }
    key = "question,correct\n" + "".join(f"{q},{o}\n" for q, own in correct.items() for o in own)
    names = ["OLAR", "LAR", "F1s", "AP", "RR", "nDCGL", "RBPL"]
    result = analysed(study_in(tmp_path, lists, key), measures=names)
    rows = pd.read_csv(tmp_path / "lists.csv")
    offered: Any = rows.groupby(["system", "question"], sort=False)["option"].agg(list)
    longest = int(offered.map(len).max())
    table = scores(result)
    for (system, question), listed in offered.items():
        row, answers = table.loc[(system, question)], correct[question]
        for name in names:
            values: Any = {"max_length": longest} if name == "OLAR" else {}
            expected = measures.score(listed, answers, name, **values).value
            assert row[name] == pytest.approx(expected, nan_ok=True), (listed, answers, name)
        if places := [listed.index(o) + 1 for o in answers if o in listed]:
            # At least one correct option, and the first of them.
            m, n = 0.998 / (longest * (longest - 1)), len(listed)
            assert row["LAR"] == pytest.approx((1 + 1 / n) / 2)
            assert row["OLAR"] == pytest.approx((1 + 1 / n + m / min(places)) / (2 + m))
    assert "questions have several correct options" in result.to_html()
    right = [bool({*listed} & {*correct[q]}) for (_, q), listed in offered.items()]
    found = pd.DataFrame({"length": offered.map(len)}).assign(right=right, score=table["OLAR"])
    grouped = found.reset_index().groupby(["system", "length"])
    own = grouped.agg(lists=("right", "size"), correct=("right", "sum"), mean=("score", "mean"))
    lengths = result.table("lengths").set_index(["system", "length"])
    assert len(lengths) == len(own)
    np.testing.assert_allclose(lengths.loc[own.index, list(own)], own)


@pytest.mark.parametrize(
    ("chosen", "columns"),
    [
        ("OLAR map ap AP", ("OLAR", "AP")),
        (["OLAR(max_length=2)"], ("OLAR(max_length=2)",)),
        (["OLAR(max_length=5)", "olar"], ("OLAR", "OLAR(max_length=9)")),
        ("lar map RBP(rel=1, p=0.8) rbp.80", ("LAR", "AP", "RBP(p=0.8)")),
    ],
)
def test_one_measure_is_one_column(
    tmp_path: Path, chosen: object, columns: tuple[str, ...]
) -> None:
    settings = {"measures": chosen, "max_length": 9}
    assert analysed(study_in(tmp_path), **settings).table_of_scores.columns == columns
    result = analysed(study_in(tmp_path, analysis=settings))
    assert result.table_of_scores.columns == columns
    assert result.summary()


def test_the_longest_list_can_be_told(tmp_path: Path) -> None:
    """OLAR depends on max_length, from the data or the setting; longer lists have no score."""
    path = study_in(tmp_path)
    longest = {"OLAR": 3, "OLAR(max_length=4)": 4}
    for settings, most in (({}, 3), ({"max_length": 9}, 9)):
        result = analysed(path, measures=[*longest], **settings)
        for name, length in (longest | {"OLAR": most}).items():
            expected = measures.score(["a", "b"], ["a"], "OLAR", max_length=length).value
            assert scores(result).loc[("x", "Q1"), name] == pytest.approx(expected)
    short = analysed(path, max_length=2)
    assert codes(short)["beyond-max-length"].startswith("1 list has more options")
    assert np.isnan(scores(short)["OLAR"].to_dict()["x", "Q2"])


def test_missing_lists_count_as_empty_or_not_at_all(tmp_path: Path) -> None:
    """An empty list scores 0 by AP and has no OLAR; left out, it has neither."""
    path = study_in(tmp_path, "question,option\nQ1,a\nQ2,b\n")
    empty, out = analysed(path), analysed(path, missing="leave-out")
    for result, share, length in ((empty, 2 / 3, 2 / 3), (out, 1, 1)):
        means = result.means.set_index("measure")["mean"]
        assert means["AP"] == pytest.approx(share)
        assert means["OLAR"] == 1
        (row,) = result.table("systems").to_dict("records")
        assert (row["correct"], row["length"]) == pytest.approx((share, length))
        assert (row["lists"], row["missing"], row["empty"]) == (2, 1, 0)
    assert codes(empty).keys() >= {"missing-lists", "empty-lists"}
    assert "empty-lists" not in codes(out)


def test_one_list_is_a_study(tmp_path: Path) -> None:
    """One question and one system give scores without intervals, and all outputs."""
    path = study_in(tmp_path, "question,option,confidence\nQ1,a,0.5\n", "question,correct\nQ1,a\n")
    result = analysed(path)
    row = result.means.set_index("measure").loc["OLAR"]
    assert row["mean"] == 1
    assert row[["low", "high"]].isna().all()
    assert result.to_html()
    assert set(result.figures()) == {"thresholds", "reliability"}


def test_means_over_few_questions_are_not_ranked(tmp_path: Path) -> None:
    """A system with 2 of 8 questions, both right, is reported but not tested."""
    key = "question,correct\n" + "".join(f"Q{n},a\n" for n in range(8))
    full = "".join(f"Q{n},full,{'ab'[n % 2]}\n" for n in range(8))
    lists = f"question,system,option\nQ0,lucky,a\nQ1,lucky,a\n{full}"
    result = analysed(study_in(tmp_path, lists, key), measures=["OLAR", "AP"])
    assert codes(result)["few-defined"].startswith("lucky is neither ranked nor tested by OLAR")
    # A missing list counts as an empty one, so that AP is 0 there.
    assert result.means.set_index(["system", "measure"])["mean"]["lucky", "AP"] == 2 / 8
    p = result.differences.set_index("measure")["p"]
    assert (np.isnan(p["OLAR"]), np.isnan(p["AP"])) == (True, False)


@pytest.mark.parametrize(
    ("rows", "settings", "expected"),
    [
        ("Q1,1\nQ2,2\nQ3,3\n", {"samples": 99}, {"never-correct", "few-queries"}),
        ("Q1,a\n", {}, {"missing-lists", "empty-lists", "few-defined"}),
        ("Q1,a\nQ2,b\nQ3,c\n", {"measures": "kendall"}, {"undefined-measure"}),
    ],
)
def test_what_is_doubtful_is_warned_of(
    tmp_path: Path, rows: str, settings: dict[str, object], expected: set[str]
) -> None:
    """The codes of the warnings, and no others."""
    result = analysed(study_in(tmp_path, f"question,option\n{rows}"), **{"samples": 0, **settings})
    assert codes(result).keys() == expected


def quick_hit(items: list[str], truth: dict[str, float]) -> float:
    return float(any(item in truth for item in items[:2]))


def test_every_study_says_what_its_measures_promise() -> None:
    """Of the user's measures too, unless less is better; the table is in tests/studies."""
    chosen: list[Any] = ["OLAR(max_length=3)", quick_hit, "MAE"]
    result = evaluate({"s": {"Q": ["a", "b", "c"]}}, {"Q": "b"}, measures=chosen, samples=0)
    promises = result.table("promises").set_index("measure")
    assert list(promises.index) == ["OLAR(max_length=3)", "quick_hit"]
    kept = promises[["correctness", "confidence", "priority"]]
    assert kept.all(axis=1).tolist() == [True, False]
    best_first = ["c", "cw", "wc", "cww", "wcw", "wwc", "w", "ww", "www"]
    assert result.table("table1")["list"].tolist() == best_first * 2
    # A sample of questions is followed by the properties alone.
    assert "cww" in result.summary()
    assert "cw" not in evaluate({"s": {"Q": ["a", "b"]}}, {"Q": "b"}).summary()


def test_report_is_complete(tmp_path: Path) -> None:
    key, lists = drawn(40, systems=3, seed=7)
    (tmp_path / "study").mkdir()
    result = analysed(study_in(tmp_path / "study", lists, key))
    write_report(result, tmp_path / "report")
    written = {path.name: path.read_bytes() for path in (tmp_path / "report").iterdir()}
    others = {name for name in result.file_names if name.endswith((".md", ".tex", ".pdf", ".png"))}
    others |= {"judge-next.csv"}  # all options of a list are judged
    assert set(written) == result.file_names - others | {"table.md", "table.tex"}
    assert json.loads(written["analysis.json"])["kind"] == "options"
    rows = list(csv.DictReader(written["scores.csv"].decode().splitlines()))
    assert len(rows) == 120
    assert float(rows[0]["OLAR"]) == pytest.approx(result.table_of_scores.values[0, 0, 0])
    assert repr(result).startswith("<OptionsResult of Example: OLAR s0 0.")


def test_names_are_escaped(tmp_path: Path) -> None:
    name = "<script>alert(1)</script>"
    text = "question,option,confidence\nQ1,a,0.5\nQ2,b,0.4\nQ2,c,0.3\nQ3,,\n"
    path = study_in(tmp_path, text, systems=[{"id": "x", "name": name}], title=name)
    page = analysed(path).to_html()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
