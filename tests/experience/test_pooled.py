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
    from quem.experience.result import ExperienceResult
    from quem.rankings.loading import Study

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


def test_blocks_are_scored_by_worths(blocked: Study) -> None:
    """Blocks need no setting: worths are used, and every output says so."""
    result = quem.analyze(blocked)
    assert result.findings.settings.score == "pl"
    assert (result.findings.agreement, result.findings.anova, result.findings.bootstrap) == (
        None,
    ) * 3
    assert "blocks" in codes(result)
    assert not {"unequal-groups", "too-large"} & set(codes(result))
    assert "too-large" not in codes(quem.analyze(blocked, bootstrap=100))
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


def test_influence_is_left_out_where_it_takes_too_long(
    blocked: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where too many worths would have to be fitted, that is not done, and said."""
    monkeypatch.setattr("quem.experience.expected_ranks.MOST_REFITTED", 10)
    result = quem.analyze(blocked)
    assert (result.findings.judges, result.findings.problems) == ((), ())
    assert len(result.findings.subjects) > 0
    assert "too-large" in codes(result)
    assert "too-large" not in codes(quem.analyze(with_rows(blocked, data_of(blocked).judge == 0)))
    assert result.to_html()
