"""Studies whose solvers are scored by worths: what is computed, and what is left out and why."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import quem
from quem.errors import QuemError
from quem.experience.simulation import Scenario, simulate
from quem.rankings import Rankings
from quem.report.files import json_text
from tests.experience.made import random_ranks, study_of

if TYPE_CHECKING:
    from quem.experience.loading import Study
    from quem.experience.result import ExperienceResult

FAST = {"bootstrap": 0, "permutations": 0}


@pytest.fixture(scope="module")
def blocked() -> Study:
    """A study of 14 subjects and 2 systems in blocks of 6, with ties."""
    scenario = Scenario(14, 3, 2, (6.5, 9.0), ties=1.5, block_size=6)
    return simulate(scenario, 1, seed=4).study(0, **FAST)


def data_of(study: Study) -> Rankings:
    """The rankings of a study that has some."""
    assert isinstance(study.data, Rankings)
    return study.data


def with_rows(study: Study, keep: np.ndarray) -> Study:
    """The study with some of its ranks only."""
    data = data_of(study)
    columns = ("judge", "problem", "solver", "block", "occasion", "rank", "failed", "recognized")
    return replace(study, data=replace(data, **{c: getattr(data, c)[keep] for c in columns}))


def codes(result: ExperienceResult) -> list[str]:
    """The codes of the warnings."""
    return [doubt.code for doubt in result.warnings]


def test_expected_ranks_are_sums_of_chances(blocked: Study) -> None:
    """A solver's score is 1 + the sum of the chances of beating each other one, ties one half."""
    findings = quem.analyze(blocked).findings
    assert findings.pooled is not None
    model = findings.pooled.model
    worth, delta = np.exp(model.log_worth), model.ties[2]
    for s, a in enumerate(worth):
        expected = 1.0
        for j, b in enumerate(worth):
            draw = delta * np.sqrt(a * b)
            expected += 0.0 if j == s else (a + draw / 2) / (a + b + draw)
        assert findings.averages.average[s] == pytest.approx(expected)
    n = len(worth)
    assert findings.averages.average.sum() == pytest.approx(n * (n + 1) / 2)


def test_ranks_against_people_only(blocked: Study) -> None:
    """With the reference humans the sum is over subjects; others are located among them."""
    everybody, people = (
        quem.analyze(blocked, reference=reference).findings for reference in ("all", "humans")
    )
    assert everybody.pooled is not None
    beats = everybody.pooled.model.beats()
    subjects = everybody.averages.of_kind("subject")
    n = len(subjects)
    located = beats[:, subjects].sum(axis=1)
    among = np.append(located[subjects] - 0.5, located[n:] * (n - 1) / n) + 1
    np.testing.assert_allclose(people.averages.average, among)
    assert people.averages.average[subjects].sum() == pytest.approx(n * (n + 1) / 2)


def test_blocks_are_scored_by_worths(blocked: Study) -> None:
    """Blocks need no setting: worths are used, and every output says so."""
    result = quem.analyze(blocked)
    assert result.findings.settings.score == "pl"
    assert (result.findings.agreement, result.findings.anova, result.findings.bootstrap) == (
        None,
    ) * 3
    assert "blocks" in codes(result)
    assert not {"unequal-groups", "agreement-skipped", "anova-skipped"} & set(codes(result))
    assert "bootstrap-skipped" not in codes(quem.analyze(blocked, bootstrap=100))
    assert "× expected rank" in result.summary()
    assert "judges ranked 18 blocks of 6 solutions" in result.summary()
    html = result.to_html()
    assert "A Plackett-Luce model, with ties as in Turner et al. (2020)" in html
    assert "The analysis of permutations" in html
    assert "average rank" not in html.casefold().replace("average ranks of", "")
    assert result.ranks is not None
    assert result.ranks["score"].isna().all()
    figure = result.plot("ranks")
    assert figure is not None
    assert "within blocks" in figure.axes[0].get_title(loc="left")


def test_one_block_a_group_is_the_plain_analysis() -> None:
    """Whatever block each group is in, as long as it is one, not a byte of the result changes."""
    ranks, years = random_ranks(np.random.default_rng(3), subjects=7)
    design: dict[str, Any] = {"design": {"block_size": 8}}
    plain = study_of(ranks, years, bootstrap=20)
    numbered = study_of(ranks, years, bootstrap=20, blocks=dict.fromkeys(ranks, 3))
    designed = replace(plain, spec=type(plain.spec).model_validate({**dumped(plain), **design}))
    texts = {json_text(quem.analyze(s).to_dict()) for s in (plain, numbered, designed)}
    assert len(texts) == 1
    assert json.loads(texts.pop())["settings"]["score"] == "rank"
    assert quem.analyze(plain).to_html() == quem.analyze(designed).to_html()


def dumped(study: Study) -> dict[str, Any]:
    """What the study file says."""
    content: dict[str, Any] = study.spec.model_dump(by_alias=True, exclude_unset=True)
    return content


def test_worths_of_complete_groups() -> None:
    """Asked for on whole groups, worths agree with average ranks, and other parts stay."""
    ranks, years = random_ranks(np.random.default_rng(5), subjects=9, problems=5)
    by_rank, by_worth = (
        quem.analyze(study_of(ranks, years, score=score, bootstrap=50)) for score in ("rank", "pl")
    )
    a, b = (result.findings.averages.average for result in (by_rank, by_worth))
    assert float(np.corrcoef(a, b).min()) > 0.99
    assert by_worth.findings.agreement is not None
    assert by_worth.findings.bootstrap is None
    assert "plackett-luce" in codes(by_worth)
    assert "blocks" not in codes(by_worth)
    labels = {variant.label for variant in by_worth.findings.variants}
    assert "score: rank" in labels
    assert by_worth.ranks is not None
    assert (by_worth.ranks["score"] == by_worth.ranks["adjusted_rank"]).all()
    differences = quem.compare(
        study_of(
            {**ranks, **{(j, p, "K1"): r for (j, p, s), r in ranks.items() if s == "K0"}},
            years,
            score="pl",
        )
    )
    assert float(differences.differences["mean_difference"].iloc[0]) == 0


@pytest.mark.parametrize("what", ["judge", "problem"])
def test_without_one_is_the_study_without(blocked: Study, what: str) -> None:
    """Leaving out a judge or a problem fits the worths of the remaining rankings anew."""
    findings = quem.analyze(blocked).findings
    data = data_of(blocked)
    left = findings.judges if what == "judge" else findings.problems
    assert len(left) == 2 * len(np.unique(getattr(data, what)))
    for one in left[:4]:
        names = data.judges if what == "judge" else data.problems
        rest = with_rows(blocked, getattr(data, what) != names.index(one.id))
        table = quem.analyze(rest).estimates.set_index("system").loc[one.system]
        assert one.estimate == pytest.approx(table["experience"], abs=1e-7)
        ends = (table["prediction_low"], table["prediction_high"])
        assert (one.low, one.high) == pytest.approx(ends, abs=1e-7)


def test_without_recognized_authors_is_the_study_without(blocked: Study) -> None:
    """Marked ranks are taken out of their blocks, and the worths of the rest are fitted anew."""
    data = data_of(blocked)
    marks = np.arange(len(data.rank)) % 13 == 0
    marked = replace(blocked, data=replace(data, recognized=marks))
    recognized = quem.analyze(marked).findings.recognized
    assert recognized is not None
    rest = quem.analyze(with_rows(blocked, ~marks)).estimates["experience"]
    assert [e.estimate for e in recognized.estimates] == pytest.approx(rest.tolist(), abs=1e-7)


def test_what_is_left_may_fall_apart() -> None:
    """Where two parts meet in one judge's blocks only, nothing can be said without that judge."""
    ranks, years = random_ranks(np.random.default_rng(6), judges=2, subjects=7, problems=2)
    halves = {cell: 1 + (cell[2] > "S2") for cell in ranks if cell[0] == "J0"}
    odd = {cell: 1 + int(cell[2][1]) % 2 for cell in ranks if cell[0] == "J1"}
    findings = quem.analyze(study_of(ranks, years, blocks=halves | odd)).findings
    without = {left.id: left.estimate for left in findings.judges}
    assert np.isnan(list(without.values())).all()
    assert np.isfinite([left.estimate for left in findings.subjects]).all()


def test_parts_that_never_met_are_refused() -> None:
    """Solvers that no chain of comparisons joins have no common scale; the message names them."""
    ranks, years = random_ranks(np.random.default_rng(7), subjects=6)
    study = study_of(ranks, years, blocks={cell: 1 + (cell[2] > "S2") for cell in ranks})
    message = (
        r"rankings: the solvers fall into parts that were never compared with each other: "
        r"\(S0, S1, S2, and K0\); \(S3, S4, and S5\); let a judge rank solutions of different parts"
    )
    with pytest.raises(QuemError, match=message):
        quem.analyze(study)


def test_who_is_always_above_is_named() -> None:
    """Sets that won or lost all comparisons with others are named, with what that means."""
    years = {f"S{i}": float(i) for i in range(6)}
    orders = ([0, 1, 2, 4, 3, 5], [1, 0, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5])
    ranks = {
        ("J0", f"P{p}", f"S{s}"): float(place)
        for p, o in enumerate(orders)
        for place, s in enumerate(o)
    }
    result = quem.analyze(study_of(ranks, years, score="pl"))
    (message,) = [doubt.message for doubt in result.warnings if doubt.code == "always-above"]
    assert message.startswith(
        "S5 was always ranked above all others it was compared with; S0 and S1 were always ranked "
        "below all others they were compared with; the distance is determined only by the ridge"
    )


@pytest.mark.parametrize(
    "settings", [{"score": "blom"}, {"normalize": "expected"}, {"normalize": "percentile"}]
)
def test_scores_of_ranks_need_whole_groups(blocked: Study, settings: dict[str, str]) -> None:
    """Other scores made of ranks are refused for blocks."""
    (key,) = settings
    with pytest.raises(QuemError, match=f"{key}: needs ranks of whole groups, and some were"):
        quem.analyze(blocked, **settings)


def test_worths_are_not_normalized() -> None:
    """Worths know the sizes of groups, so that `normalize` has nothing to do."""
    ranks, years = random_ranks(np.random.default_rng(8))
    study = study_of(ranks, years)
    with pytest.raises(QuemError, match="pl scores know the size of each group"):
        quem.analyze(study, score="pl", normalize="expected")


def test_systems_in_blocks_are_not_compared(blocked: Study) -> None:
    """Comparing systems of one study needs ranks of whole groups."""
    with pytest.raises(QuemError, match="judged in blocks, and ranks of different blocks do not"):
        quem.compare(blocked)


def test_a_failed_solution_is_last_in_its_block() -> None:
    """Solutions that failed are tied below all others of their block."""
    ranks, years = random_ranks(np.random.default_rng(9), subjects=7)
    blocks = {cell: 1 + (int(cell[2][1]) // 2 ** int(cell[1][1])) % 2 for cell in ranks}
    plain = quem.analyze(study_of(ranks, years, blocks=blocks))
    failing = {cell: None if cell[2] == "K0" else rank for cell, rank in ranks.items()}
    failed = quem.analyze(study_of(failing, years, blocks=blocks))
    (before, after) = (
        result.averages.set_index("solver")["average_rank"] for result in (plain, failed)
    )
    assert after["K0"] < before["K0"]
    assert after["K0"] == after.min()


def test_fewer_problems_in_blocks(blocked: Study) -> None:
    """A system judged on fewer problems is told of; pooled worths give nothing to widen by."""
    data = data_of(blocked)
    system = data.solvers.index("K1")
    rest = with_rows(blocked, (data.solver != system) | (data.problem == 0))
    result = quem.analyze(rest)
    (message,) = [doubt.message for doubt in result.warnings if doubt.code == "fewer-problems"]
    assert "not widened for that, because worths are fitted to all problems at once" in message
    assert result.findings.estimates[0].n_problems == 1
    assert not result.findings.estimates[0].widened


def test_influence_is_left_out_where_it_takes_too_long(
    blocked: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where too many worths would have to be fitted, that is not done, and said."""
    monkeypatch.setattr("quem.experience.expected_ranks.MOST_REFITTED", 10)
    result = quem.analyze(blocked)
    assert (result.findings.judges, result.findings.problems) == ((), ())
    assert len(result.findings.subjects) > 0
    assert "influence-skipped" in codes(result)
    assert "influence-skipped" not in codes(
        quem.analyze(with_rows(blocked, data_of(blocked).judge == 0))
    )
    assert result.to_html()
