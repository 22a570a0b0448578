"""Scores, means, lengths, and promises agree with measures that score each list by itself."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from quem import lists as measures
from quem.options import evaluate
from tests.options.made import analysed, drawn, study_in

if TYPE_CHECKING:
    from pathlib import Path

    from quem.options.result import OptionsResult


def codes(result: OptionsResult) -> dict[str, str]:
    """The messages of the warnings by their codes."""
    return {doubt.code: doubt.message for doubt in result.warnings}


def scores(result: OptionsResult) -> pd.DataFrame:
    """The score of each system on each question, by the name of the measure."""
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
    offered: dict[tuple[str, str], list[str]] = {}
    for line in lists.splitlines()[1:]:
        question, system, option, _ = line.split(",")
        offered.setdefault((system, question), []).append(option)
    longest = max(map(len, offered.values()))
    for (system, question), row in scores(result).iterrows():  # type: ignore[misc]
        listed, answers = offered[system, question], correct[question]
        for name in names:
            values = {"max_length": longest} if name == "OLAR" else {}
            expected = measures.score(listed, answers, name, **values).value  # type: ignore[arg-type]
            assert row[name] == pytest.approx(expected, nan_ok=True), (listed, answers, name)
        if places := [listed.index(o) + 1 for o in answers if o in listed]:
            # At least one correct option, and the first of them.
            m = 0.998 / (longest * (longest - 1))
            n, first = len(listed), min(places)
            assert row["LAR"] == pytest.approx((1 + 1 / n) / 2)
            assert row["OLAR"] == pytest.approx((1 + 1 / n + m / first) / (2 + m))
    several = sum(len(own) > 1 for own in correct.values())
    assert f"{several} questions have several correct options" in result.to_html()
    olar = scores(result)["OLAR"].to_dict()
    for group in result.table("lengths").itertuples():
        alike = [
            key
            for key, listed in offered.items()
            if key[0] == group.system and len(listed) == group.length
        ]
        assert group.lists == len(alike)
        assert group.correct == sum(bool({*offered[key]} & {*correct[key[1]]}) for key in alike)
        assert group.mean == pytest.approx(mean(olar[key] for key in alike))


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
    """In any spelling, whether the study or the call names it."""
    settings = {"measures": chosen, "max_length": 9}
    assert analysed(study_in(tmp_path), **settings).table_of_scores.columns == columns
    result = analysed(study_in(tmp_path, analysis=settings))
    assert result.table_of_scores.columns == columns
    assert result.summary()


def test_the_longest_list_can_be_told(tmp_path: Path) -> None:
    """OLAR goes by max_length, which the data or the setting tells; longer lists have none."""
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
    (row,) = result.means[result.means.measure == "OLAR"].to_dict("records")
    assert row["mean"] == 1
    assert np.isnan([row["low"], row["high"]]).all()
    assert result.to_html()
    assert set(result.figures()) == {"thresholds", "reliability"}


def test_means_over_few_questions_are_not_ranked(tmp_path: Path) -> None:
    """A system that answers 2 of 8 questions, both rightly, is told, and not tested."""
    key = "question,correct\n" + "".join(f"Q{n},a\n" for n in range(8))
    lists = "question,system,option\nQ0,lucky,a\nQ1,lucky,a\n" + "".join(
        f"Q{n},full,{'ab'[n % 2]}\n" for n in range(8)
    )
    result = analysed(study_in(tmp_path, lists, key), measures=["OLAR", "AP"])
    assert "lucky is neither ranked nor tested by OLAR" in codes(result)["few-defined"]
    # A missing list counts as an empty one, so that AP is 0 there.
    means = result.means.set_index(["system", "measure"])["mean"]
    assert means["lucky", "AP"] == 2 / 8
    p = result.differences.set_index("measure")["p"]
    assert np.isnan(p["OLAR"])
    assert not np.isnan(p["AP"])


@pytest.mark.parametrize(
    ("lists", "settings", "expected"),
    [
        ("question,option\nQ1,1\nQ2,2\nQ3,3\n", {"samples": 99}, {"never-correct", "few-queries"}),
        ("question,option\nQ1,a\n", {}, {"missing-lists", "empty-lists", "few-defined"}),
        (
            *("question,option\nQ1,a\nQ2,b\nQ3,c\n", {"measures": "kendall"}),
            {"undefined-measure"},
        ),
    ],
)
def test_what_is_doubtful_is_warned_of(
    tmp_path: Path, lists: str, settings: dict[str, object], expected: set[str]
) -> None:
    """The codes of the warnings, and no others."""
    assert (
        codes(analysed(study_in(tmp_path, lists), **{"samples": 0, **settings})).keys() == expected
    )


def quick_hit(items: list[str], truth: dict[str, float]) -> float:
    return float(any(item in truth for item in items[:2]))


def test_every_study_says_what_its_measures_promise() -> None:
    """Properties, gold ranks, and stars of all lists of up to three options, one by one."""
    chosen: list[Any] = ["OLAR(max_length=3)", quick_hit, "MAE"]
    result = evaluate({"s": {"Q": ["a", "b", "c"]}}, {"Q": "b"}, measures=chosen, samples=0)
    promises = result.table("promises").set_index("measure")
    # Of MAE less is better.
    assert list(promises.index) == ["OLAR(max_length=3)", "quick_hit"]
    assert promises.loc["OLAR(max_length=3)", ["correctness", "confidence", "priority"]].all()
    assert not promises.loc["quick_hit", ["correctness", "confidence", "priority"]].any()
    table = result.table("table1")
    best_first = ["c", "cw", "wc", "cww", "wcw", "wwc", "w", "ww", "www"]
    for name in promises.index:
        own = table[table.measure == name]
        assert list(own.list) == best_first
        assert list(own.gold) == [*range(1, 10)]
        value = dict(zip(own.list, own.score, strict=True))
        for at, one in enumerate(best_first):
            options = [f"{sign}{i if sign == 'w' else ''}" for i, sign in enumerate(one)]
            score = measures.score(options, ["c"], quick_hit if name == "quick_hit" else name)
            assert value[one] == pytest.approx(score.value)
            star = any(value[one] >= value[better] - 1e-12 for better in best_first[:at])
            assert own.star.iloc[at] == star
    # A sample of questions is followed by the properties alone.
    assert "cww" in result.summary()
    assert "cw" not in evaluate({"s": {"Q": ["a", "b"]}}, {"Q": "b"}).summary()
