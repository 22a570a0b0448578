"""The estimates without solutions whose author the judge recognized."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import rankdata

import quem
from quem.experience.influence import without_recognized
from quem.experience.presentation.methods import methods_paragraph
from quem.rankings import Rankings
from quem.report.files import json_text
from tests.docs.schema import mistakes
from tests.experience.made import cells_of, random_ranks, study_of

if TYPE_CHECKING:
    from quem.experience.influence import Recognized
    from tests.experience.made import Cell

YEARS = {"A": 1.0, "B": 4.0, "C": 9.0, "D": 11.0}


def one_group(**solvers: float | None) -> dict[Cell, float | None]:
    """Ranks of one judge on one problem."""
    return {("J", "P", solver): rank for solver, rank in solvers.items()}


def some_of(ranks: dict[Cell, float | None], seed: int, share: float = 0.15) -> set[Cell]:
    """Draw some of the cells."""
    rng = np.random.default_rng(seed)
    return {cell for cell in ranks if rng.random() < share}


def recognized_in(*args: Any, **settings: Any) -> Recognized:  # noqa: ANN401
    """Analyse a study and give what the analysis says of recognized authors."""
    recognized = quem.analyze(study_of(*args, **settings)).findings.recognized
    assert recognized is not None
    return recognized


def by_hand(
    ranks: dict[Cell, float | None], years: dict[str, float], recognized: set[Cell]
) -> dict[str, float]:
    """Each system's estimate on a line through the averages of what is left, in loops."""
    scores: dict[str, list[float]] = {}
    for group in dict.fromkeys(cell[:2] for cell in ranks):
        left = [c for c in ranks if c[:2] == group and c not in recognized]
        adjusted = rankdata([ranks[cell] for cell in left])
        for cell, rank in zip(left, adjusted, strict=True):
            scores.setdefault(cell[2], []).append(float(rank))
    average = {solver: np.mean(values) for solver, values in scores.items()}
    subjects = [s for s in years if s in average]
    slope, intercept = np.polyfit([average[s] for s in subjects], [years[s] for s in subjects], 1)
    return {s: float(intercept + slope * x) for s, x in average.items() if s not in years}


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_estimates_agree_with_loops(seed: int, ties: bool) -> None:  # noqa: FBT001
    """Estimate and change are those of a line fitted by hand to the ranks that are left."""
    ranks, years = random_ranks(np.random.default_rng(seed), systems=2, missing=0.1, ties=ties)
    marked = some_of(ranks, seed)
    headline = by_hand(ranks, years, set())
    recognized = recognized_in(ranks, years, recognized=marked)
    wanted = by_hand(ranks, years, marked)
    assert (recognized.n_ranks, recognized.of_ranks) == (len(marked), len(ranks))
    assert recognized.n_judges == len({judge for judge, _, _ in marked})
    assert {left.system: left.estimate for left in recognized.estimates} == pytest.approx(wanted)
    for left in recognized.estimates:
        assert left.change == pytest.approx(wanted[left.system] - headline[left.system])


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"form": "sqrt"},
        {"form": "quadratic", "normalize": "percentile"},
        {"normalize": "expected", "level": 0.8},
        {"score": "blom"},
        {"reference": "humans"},
        {"reference": "humans", "normalize": "expected"},
    ],
    ids=str,
)
def test_a_recognized_solution_is_as_good_as_absent(settings: dict[str, Any]) -> None:
    """Under every setting, estimate and interval are those of a study without these ranks."""
    ranks, years = random_ranks(np.random.default_rng(9), systems=2, subjects=8, missing=0.1)
    marked = some_of(ranks, 9)
    left = {cell: rank for cell, rank in ranks.items() if cell not in marked}
    absent = quem.analyze(study_of(left, years, **settings)).findings.estimates
    recognized = recognized_in(ranks, years, recognized=marked, **settings)
    wanted = {e.system: (e.experience, *e.prediction) for e in absent}
    assert len(wanted) == 2
    for without in recognized.estimates:
        got = (without.estimate, without.low, without.high)
        assert got == pytest.approx(wanted[without.system])


def test_the_others_close_ranks() -> None:
    """In the judge's group the others are ranked among themselves; other groups stay."""
    ranks = one_group(A=1, B=2, C=2, D=4, K=5) | {("J", "Q", s): 1.0 for s in "AB"}
    marked = {("J", "P", "B")}
    left = without_recognized(cells_of(study_of(ranks, YEARS, recognized=marked)))
    np.testing.assert_array_equal(left.adjusted, [1, np.nan, 2, 3, 4, 1.5, 1.5])
    assert left.size.tolist() == [4, 0, 4, 4, 4, 2, 2]


def test_blocks_are_groups_of_their_own() -> None:
    """A solution that is recognized in one block moves nobody in the other."""
    ranks = one_group(A=1, B=2, C=1, K=2)
    blocks = {("J", "P", "C"): 2, ("J", "P", "K"): 2}
    study = study_of(ranks, YEARS, blocks=blocks, recognized={("J", "P", "A")})
    left = without_recognized(cells_of(study))
    np.testing.assert_array_equal(left.adjusted, [np.nan, 1, 1, 2])


def test_the_withheld_solver_keeps_its_own_gap() -> None:
    """The rank that a recognized solution leaves is no gap that a withheld solver could take."""
    ranks = one_group(A=1, B=2, C=4, D=5, K=6)
    cells = cells_of(study_of(ranks, YEARS, withheld=["W"], recognized={("J", "P", "B")}))
    left = without_recognized(cells)
    assert [left.solvers[solver] for solver in left.solver] == ["A", "B", "C", "D", "K", "W"]
    np.testing.assert_array_equal(left.adjusted, [1, np.nan, 3, 4, 5, 2])


def test_marks_without_effect() -> None:
    """Of failed and withheld solutions, and of a second occasion, a mark changes nothing."""
    ranks, years = random_ranks(np.random.default_rng(2), judges=2)
    ranks |= {("J0", "P0", "F"): None, ("J0", "P0", "W"): 2.5}
    study = study_of(
        ranks,
        {**years, "F": 3.0},
        withheld=["W"],
        recognized={("J0", "P0", "F"), ("J0", "P0", "W")},
    )
    assert quem.analyze(study).findings.recognized is None
    again = {cell: rank for cell, rank in ranks.items() if cell[0] == "J0"}
    study = study_of(ranks, {**years, "F": 3.0}, withheld=["W"], again=again)
    assert isinstance(study.data, Rankings)
    late = replace(study.data, recognized=study.data.occasion == 2)
    assert late.recognized.any()
    assert quem.analyze(replace(study, data=late)).findings.recognized is None


def test_nothing_left_to_fit_is_said() -> None:
    """With too few subjects left the estimates are null, and every text says why."""
    ranks, years = random_ranks(np.random.default_rng(4), judges=1, problems=1, subjects=7)
    marked = {cell for cell in ranks if cell[2] in ("S0", "S1", "S2", "S3", "S4")}
    analysis = quem.analyze(study_of(ranks, years, recognized=marked))
    document = json.loads(json_text(analysis.to_dict()))
    assert mistakes(document) == []
    assert document["influence"]["recognized"] == {
        "n_ranks": 5,
        "n_judges": 1,
        "estimates": [
            {
                "system": "K0",
                "estimate": None,
                "reason": "not-fitted",
                "interval": [None, None],
                "change": None,
            }
        ],
    }
    (message,) = (d.message for d in analysis.warnings if d.code == "recognized-authors")
    assert message.startswith("5 of 8 ranks are of solutions whose author the judge recognized")
    assert message.endswith("excluding them, no skill function can be fitted")
    assert "Without them no skill function can be fitted" in analysis.to_html()
    assert "excluding them, no skill function could be fitted" in methods_paragraph(
        analysis.findings
    )


def test_subjects_who_become_alike_cannot_be_fitted() -> None:
    """What is left of the ranks may put all subjects at one average."""
    ranks = one_group(A=1, B=1, C=1, D=4, K=3)
    recognized = recognized_in(ranks, YEARS, recognized={("J", "P", "D")})
    assert not recognized.fitted


@pytest.mark.parametrize("normalize", ["none", "expected", "percentile"])
def test_a_study_may_be_recognized_as_a_whole(normalize: str) -> None:
    """With every author recognized nothing is left, and that is said."""
    ranks, years = random_ranks(np.random.default_rng(4), judges=2)
    recognized = recognized_in(ranks, years, recognized=set(ranks), normalize=normalize)
    assert (recognized.n_ranks, recognized.of_ranks, recognized.fitted) == (42, 42, False)


def test_a_system_recognized_everywhere_has_no_estimate() -> None:
    """Its estimate without is null; the other systems have theirs."""
    ranks, years = random_ranks(np.random.default_rng(5), systems=2)
    marked = {cell for cell in ranks if cell[2] == "K1"}
    analysis = quem.analyze(study_of(ranks, years, recognized=marked))
    recognized = analysis.findings.recognized
    assert recognized is not None
    assert recognized.fitted
    assert np.isfinite([left.estimate for left in recognized.estimates]).tolist() == [True, False]
    (message,) = (d.message for d in analysis.warnings if d.code == "recognized-authors")
    assert "the estimate for K0 is " in message
    assert message.endswith(" and K1 has no ranks")
    assert "no estimate for K1" in methods_paragraph(analysis.findings)


def test_every_text_tells_the_change() -> None:
    """Warning, summary, report, methods and figure give the estimate without."""
    ranks, years = random_ranks(np.random.default_rng(6))
    marked = some_of(ranks, 6, 0.1)
    analysis = quem.analyze(study_of(ranks, years, recognized=marked))
    (left,) = recognized_in(ranks, years, recognized=marked).estimates
    without, plain = f"{left.estimate:.1f}", f"{left.estimate - left.change:.1f}"
    assert without != plain
    message = (
        f"{len(marked)} of {len(ranks)} ranks are of solutions whose author the judge recognized; "
        f"excluding them, the estimate for K0 is {without} instead of {plain} years"
    )
    assert [d.message for d in analysis.warnings if d.code == "recognized-authors"] == [message]
    assert f"excluding {len(marked)} ranks with a recognized author {without}" in analysis.summary()
    assert "Excluding ranks with a recognized author" in analysis.to_html()
    assert f"excluding them gave {without} years for K0" in methods_paragraph(analysis.findings)
    assert analysis.ranks is not None
    assert int(analysis.ranks["recognized"].sum()) == len(marked)


def test_one_mark_is_told_in_the_singular() -> None:
    """A single recognized solution is one rank and not several."""
    ranks, years = random_ranks(np.random.default_rng(7))
    analysis = quem.analyze(study_of(ranks, years, recognized={("J1", "P1", "S2")}))
    (message,) = (d.message for d in analysis.warnings if d.code == "recognized-authors")
    assert message.startswith("1 of 63 ranks is of a solution whose author the judge recognized")
    assert "excluding 1 rank with a recognized author" in analysis.summary()


def test_marks_change_no_other_number() -> None:
    """The ranks count: all but the key and the warning is as without marks; so without a system."""
    ranks, years = random_ranks(np.random.default_rng(8))
    for some_ranks in (ranks, {cell: r for cell, r in ranks.items() if cell[2] != "K0"}):
        plain, marked = (
            quem.analyze(study_of(some_ranks, years, recognized=cells, bootstrap=50))
            for cells in ((), {("J0", "P0", "S1")})
        )
        documents = [json.loads(json_text(analysis.to_dict())) for analysis in (plain, marked)]
        for document in documents:
            assert mistakes(document) == []
        parts = [document["influence"].pop("recognized") for document in documents]
        assert parts[0] is None
        assert parts[1]["n_ranks"] == 1
        documents[1]["warnings"] = [
            w for w in documents[1]["warnings"] if w["code"] != "recognized-authors"
        ]
        assert documents[0] == documents[1]
        assert plain.ranks is not None
        assert "recognized" not in plain.ranks
        assert "ecognised" not in plain.to_html()
