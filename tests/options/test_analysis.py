"""Scores, means, lengths and differences agree with measures that score each list by itself."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from quem import lists as measures
from tests.options.made import analysed, drawn, study_in

if TYPE_CHECKING:
    from pathlib import Path


def codes(result: object) -> set[str]:
    """Give the codes of the warnings."""
    return {doubt.code for doubt in result.warnings}  # type: ignore[attr-defined]


def test_scores_are_those_of_the_measures_with_several_correct_options(tmp_path: Path) -> None:
    """Each list by each measure, where questions have one to three correct options."""
    _, lists = drawn(50, systems=2, seed=6)
    rng = np.random.default_rng(0)
    correct = {
        f"Q{q}": [f"o{o}" for o in rng.permutation(8)[: rng.integers(1, 4)]] for q in range(50)
    }
    key = "question,correct\n" + "".join(f"{q},{o}\n" for q, own in correct.items() for o in own)
    result = analysed(study_in(tmp_path, lists, key))
    offered: dict[tuple[str, str], list[str]] = {}
    for line in lists.splitlines()[1:]:
        question, system, option, _ = line.split(",")
        offered.setdefault((question, system), []).append(option)
    longest = max(map(len, offered.values()))
    for row in result.tables()["lists"].to_dict("records"):
        listed, answers = offered[row["question"], row["system"]], correct[row["question"]]
        places = [listed.index(o) + 1 for o in answers if o in listed]
        assert (row["place_of_correct"] or 0) == min(places, default=0)
        for name in result.findings.scorer.names:
            values = {"max_length": longest} if name == "OLAR" else {}
            expected = measures.score(listed, answers, name, **values).value  # type: ignore[arg-type]
            assert row[name] == pytest.approx(expected, nan_ok=True), (listed, answers, name)
        if places:
            # At least one correct option, and the first of them.
            m = 0.998 / (longest * (longest - 1))
            n, first = len(listed), min(places)
            assert row["LAR"] == pytest.approx((1 + 1 / n) / 2)
            assert row["OLAR"] == pytest.approx((1 + 1 / n + m / first) / (2 + m))
    several = sum(len(own) > 1 for own in correct.values())
    assert f"{several} with several correct options" in result.summary()
    assert "a correct option is in" in result.summary()


def test_missing_lists_count_as_empty_or_not_at_all(tmp_path: Path) -> None:
    """An empty list scores 0 by AP and has no OLAR; left out, it has neither."""
    path = study_in(tmp_path, "question,option\nQ1,a\nQ2,b\n")
    empty, out = analysed(path), analysed(path, missing="leave-out")
    at = empty.findings.scorer.names.index
    assert empty.findings.system_scores[0].scores[at("AP")] == pytest.approx(2 / 3)
    assert empty.findings.system_scores[0].scores[at("OLAR")] == 1
    assert empty.findings.system_scores[0].share == pytest.approx(2 / 3)
    assert out.findings.system_scores[0].scores[at("AP")] == 1
    assert out.findings.system_scores[0].mean_length == 1
    assert codes(empty) >= {"missing-lists", "empty-lists"}
    assert "empty-lists" not in codes(out)
    assert "they are left out of its means" in next(
        d.message for d in out.warnings if d.code == "missing-lists"
    )
    reasons = {(u.reason, u.count) for u in empty.findings.undefined}
    assert reasons == {("the list is empty", 1)}
    assert len(out.tables()["lists"]) == 2


def test_the_longest_list_can_be_told(tmp_path: Path) -> None:
    """OLAR goes by max_length, which the data or the setting tells; longer lists have none."""
    path = study_in(tmp_path)
    assert analysed(path).findings.scorer.max_length == 3
    result = analysed(path, max_length=9, measures=["OLAR", "OLAR(max_length=4)", "OLAR(m=0)"])
    names = [measure.name for measure in result.findings.scorer.measures]
    assert names == ["OLAR(max_length=9)", "OLAR(max_length=4)", "OLAR(m=0)"]
    short = analysed(path, max_length=2)
    assert "beyond-max-length" in codes(short)
    assert short.findings.system_scores[0].defined[-1] == 2


def test_any_measure_can_be_the_headline(tmp_path: Path) -> None:
    """A headline that is not among the measures joins them; one that is undefined is told."""
    result = analysed(study_in(tmp_path), measures=["AP@1", "kendall"], headline="RR")
    assert result.findings.scorer.names == ("AP@1", "kendall", "RR")
    assert result.findings.headline == "RR"
    (message,) = (d.message for d in result.warnings if d.code == "undefined-measure")
    assert message.startswith("kendall is undefined for every list: ")


@pytest.mark.parametrize(
    ("named", "headline", "names"),
    [
        (["lar", "olar"], "OLAR", ("LAR", "OLAR")),
        (["AP", "ap"], "map", ("AP",)),
        (["OLAR(max_length=2)"], "olar(max_length=2)", ("OLAR(max_length=2)",)),
        (["OLAR(max_length=2)"], "OLAR", ("OLAR(max_length=2)", "OLAR")),
        (["OLAR(max_length=5)", "olar"], "OLAR", ("OLAR", "OLAR(max_length=3)")),
        ("lar map RBP(rel=1, p=0.8) rbp.80", "lar", ("LAR", "AP", "RBP(p=0.8)")),
    ],
)
def test_a_measure_in_two_spellings_is_one_column(
    tmp_path: Path, named: object, headline: str, names: tuple[str, ...]
) -> None:
    """In the study file and as settings, also where the headline is spelled differently."""
    settings = {"measures": named, "headline": headline}
    result = analysed(study_in(tmp_path, analysis=settings))
    assert result.findings.scorer.names == names
    assert analysed(study_in(tmp_path), **settings).findings.scorer.names == names
    assert result.findings.headline in result.summary()


def test_one_list_is_a_study(tmp_path: Path) -> None:
    """One question and one system give scores without intervals, and all outputs."""
    path = study_in(tmp_path, "question,option,confidence\nQ1,a,0.5\n", "question,correct\nQ1,a\n")
    result = analysed(path)
    (entry,) = result.findings.system_scores
    assert entry.scores[-1] == 1
    assert np.isnan(entry.intervals).all()
    assert "OLAR 1.000; the correct option is in 100% of lists of 1.0 option" in result.summary()
    assert result.to_html()
    drawn_figures = {"scores", "lengths", "thresholds", "reliability"}
    assert set(result.figures()) == drawn_figures


def test_means_over_few_questions_are_not_ranked(tmp_path: Path) -> None:
    """A system that answers 2 of 8 questions, both rightly: shown with n, and not tested."""
    key = "question,correct\n" + "".join(f"Q{n},a\n" for n in range(8))
    lists = "question,system,option\nQ0,lucky,a\nQ1,lucky,a\n" + "".join(
        f"Q{n},full,{'ab'[n % 2]}\n" for n in range(8)
    )
    result = analysed(study_in(tmp_path, lists, key), measures=["OLAR", "AP"])
    messages = {doubt.code: doubt.message for doubt in result.warnings}
    assert "OLAR of lucky (2)" in messages["few-defined"]
    document = result.to_dict()
    scores = {(s["system"], m["measure"]): m for s in document["systems"] for m in s["scores"]}
    assert [scores["lucky", name]["ranked"] for name in ("OLAR", "AP")] == [False, True]
    # A missing list counts as an empty one, so that AP is 0 there.
    assert scores["lucky", "AP"]["mean"] == 2 / 8
    pairs = {pair["measure"]: pair for pair in document["differences"]}
    assert [pairs[name]["tested"] for name in ("OLAR", "AP")] == [False, True]
    assert math.isnan(pairs["OLAR"]["p"])
    text = result.summary()
    assert "1.000 n = 2 †" in text
    assert "† fewer than half of them: not ranked and not tested" in text
    failures = next(line.split() for line in text.splitlines() if "failures" in line)
    assert sorted(failures[1:]) == ["0", "6"]


def test_a_system_that_is_never_right_is_doubted(tmp_path: Path) -> None:
    """Its options may be named otherwise; so are few questions doubted, if there are intervals."""
    result = analysed(study_in(tmp_path, "question,option\nQ1,1\nQ2,2\nQ3,3\n"))
    assert codes(result) == {"never-correct", "few-questions"}
    assert "few-questions" not in codes(analysed(study_in(tmp_path), bootstrap=0))
