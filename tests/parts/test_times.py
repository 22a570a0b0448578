"""How long people took, against loops and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tests.parts.made import key_of, random_ranks, study_of


def test_times_agree_with_a_loop_and_scipy() -> None:
    """Geometric means over subjects, Student's t on logarithms, quartiles, and tau-b."""
    rng = np.random.default_rng(5)
    ranks, years = random_ranks(rng, subjects=9, problems=4)
    seconds = {
        who: {f"P{p}": float(rng.lognormal(6, 0.5)) for p in range(4) if rng.random() > 0.2}
        for who in years
    }
    # A clock that never ran says nothing.
    seconds["S0"]["P0"] = 0.0
    people = [{"id": s, "experience": y, "seconds": seconds[s]} for s, y in years.items()]
    found = key_of(study_of(ranks, people, analysis={"level": 0.9}), "times")
    minutes = {
        who: {p: s / 60 for p, s in own.items() if s}
        for who, own in seconds.items()
        if any(own.values())
    }
    logs = [np.mean(np.log([*own.values()])) for own in minutes.values()]
    assert found["typical"] == pytest.approx(np.exp(np.mean(logs)))
    low, high = stats.t.interval(0.9, len(logs) - 1, np.mean(logs), stats.sem(logs))
    assert found["interval"] == pytest.approx([np.exp(low), np.exp(high)])
    everything = [one for own in minutes.values() for one in own.values()]
    assert (found["n"], found["n_people"]) == (len(everything), len(minutes))
    assert found["median"] == pytest.approx(np.median(everything))
    assert found["hours"] == pytest.approx(sum(everything) / 60)
    assert found["tau"] == pytest.approx(
        stats.kendalltau([years[who] for who in minutes], logs).statistic
    )
    for row in found["problems"]:
        mine = [own[row["problem"]] for own in minutes.values() if row["problem"] in own]
        assert row["n"] == len(mine)
        assert (row["least"], row["most"]) == pytest.approx((min(mine), max(mine)))
        assert [row["quartiles"][0], row["median"], row["quartiles"][1]] == pytest.approx(
            np.percentile(mine, [25, 50, 75])
        )


def test_one_person_has_no_interval_and_nobody_no_times() -> None:
    """One subject's time has neither interval nor tau-b; without any there is no key."""
    ranks, years = random_ranks(np.random.default_rng(4))
    assert key_of(study_of(ranks, years), "times") is None
    people = [{"id": s, "experience": y} for s, y in years.items()]
    people[0]["seconds"] = {"P1": 900.0}
    found = key_of(study_of(ranks, people), "times")
    assert (found["typical"], found["n_people"]) == (pytest.approx(15), 1)
    assert (found["interval"], found["tau"]) == (None, None)
