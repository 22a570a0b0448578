"""Parts with one table each: against SciPy, pandas, loops, and the study without."""

from __future__ import annotations

import shutil
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau, rankdata, sem, t

import quem
from tests.parts.made import Ranks, key_of, random_ranks, study_of, warned

P3 = Path(__file__).parents[2] / "studies" / "p3-1997"
RETESTED = ("n_groups", "n_ranks", "tau_b", "rank_difference", "same_order")


def ranked_again(ranks: Ranks, seed: int, *groups: tuple[str, str], noise: float = 2) -> Ranks:
    """Draw second rankings of some groups, with ties and a few solutions left out."""
    rng = np.random.default_rng(seed)
    cells = [cell for cell in ranks if cell[:2] in groups and rng.random() > 0.15]
    return {c: float(np.round((ranks[c] + rng.normal(0, noise)) / 2 + 9)) for c in cells}


def retested_by_hand(first: Ranks, second: Ranks, judges: set[str]) -> tuple[float, ...]:
    """Groups, ranks, tau-b, difference in rank, and share of pairs, in loops."""
    taus, differences, pairs = [], [], []
    groups = sorted({cell[:2] for cell in second if cell[0] in judges})
    for group in groups:
        both = [c for c in second if c[:2] == group and c in first]
        a, b = (rankdata([r[c] for c in both]) for r in (first, second))
        taus.append(kendalltau(a, b).statistic)
        differences += np.abs(a - b).tolist()
        for i, j in combinations(range(len(both)), 2):
            pairs.append(np.sign(a[i] - a[j]) == np.sign(b[i] - b[j]))
    figures = (np.nanmean(taus), np.mean(differences), np.mean(pairs))
    return (len(groups), len(differences), *map(float, figures))


@pytest.mark.parametrize("seed", range(5))
def test_retests_agree_with_loops(seed: int) -> None:
    """Tau-b is SciPy's; the difference in rank and the share of pairs are counted in loops."""
    rng = np.random.default_rng(seed)
    ranks, years = random_ranks(rng, subjects=8, ties=seed % 2 == 1)
    again = ranked_again(ranks, seed, ("J0", "P0"), ("J0", "P2"), ("J2", "P1"))
    ranks = {cell: rank for cell, rank in ranks.items() if rng.random() > 0.15}
    assert not again.keys() <= ranks.keys()
    rows = key_of(study_of(ranks, years, again=again), "retest")
    assert [row["judge"] for row in rows] == ["J0", "J2", ""]
    for row in rows:
        judges = {row["judge"]} if row["judge"] else {"J0", "J2"}
        wanted = retested_by_hand(ranks, again, judges)
        assert [row[name] for name in RETESTED] == pytest.approx(wanted)


def test_nothing_repeated_gives_no_retest() -> None:
    ranks, years = random_ranks(np.random.default_rng(4))
    assert key_of(study_of(ranks, years), "retest") is None
    assert key_of(study_of(ranks, years, occasion=2), "retest") is None
    assert key_of(study_of(ranks, years, again={("J0", "P0", "S0"): 1.0}), "retest") is None
    two: Ranks = {("J0", "P0", "S0"): 1.0, ("J0", "P0", "S1"): 2.0}
    rows = key_of(study_of(ranks, years, again=two), "retest")
    assert [row["n_ranks"] for row in rows] == [2, 2]


@pytest.mark.parametrize(
    ("problems", "upside_down", "named"),
    [(1, 1, False), (2, 2, True), (2, 1, True), (3, 1, False)],
)
def test_an_inconsistent_judge_is_named(problems: int, upside_down: int, *, named: bool) -> None:
    """Tau-b below .3 over 8 ranks or more is told, of that judge only."""
    ranks, years = random_ranks(np.random.default_rng(9), judges=2)
    turned = [("J1", f"P{problem}") for problem in range(upside_down)]
    again = {
        cell: 8 - rank if cell[:2] in turned else rank
        for cell, rank in ranks.items()
        if int(cell[1][1]) < problems
    }
    result = quem.analyze(study_of(ranks, years, again=again))
    told = [one.message.split("'")[0] for one in warned(result, "inconsistent-judge")]
    assert told == ["judge J1"] * named


def estimates_of(study: quem.Study) -> dict[str, float]:
    return {one["system"]: one["paper"]["experience"] for one in key_of(study, "estimates")}


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("form", ["linear", "log", "quadratic"])
@pytest.mark.parametrize("blocks", [1, 2])
def test_a_recognized_solution_is_as_good_as_absent(form: str, blocks: int, *, ties: bool) -> None:
    """With any form, and in blocks, the estimate is that of a study without these ranks."""
    rng = np.random.default_rng(9)
    ranks, years = random_ranks(rng, systems=2, subjects=9, missing=0.1, ties=ties)
    marked = {cell for cell in ranks if rng.random() < 0.15}
    keys: dict[str, Any] = {
        "analysis": {"form": form},
        "blocks": {cell: 1 + int(rng.integers(blocks)) for cell in ranks},
    }
    left = {cell: rank for cell, rank in ranks.items() if cell not in marked}
    wanted, plain = (estimates_of(study_of(of, years, **keys)) for of in (left, ranks))
    result = quem.analyze(study_of(ranks, years, recognized=marked, **keys))
    found = result.to_dict()["recognized"]
    assert (found["n_ranks"], found["of_ranks"]) == (len(marked), len(ranks))
    assert found["n_judges"] == len({judge for judge, _, _ in marked})
    assert {one["system"]: one["experience"] for one in found["estimates"]} == pytest.approx(
        wanted, rel=1e-5
    )
    assert len(wanted) == 2
    (warning,) = warned(result, "recognized-authors")
    assert f"{wanted['K0']:.1f} instead of {plain['K0']:.1f} years" in warning.message
    assert result.ranks is not None
    assert int(result.ranks["recognized"].sum()) == len(marked)


def test_recognized_people_may_leave_nothing_to_fit() -> None:
    """With too few subjects left there is no estimate, and the warning stays."""
    ranks, years = random_ranks(np.random.default_rng(4), judges=1, problems=1, subjects=7)
    marked = {cell for cell in ranks if cell[2] in ("S0", "S1", "S2", "S3", "S4")}
    result = quem.analyze(study_of(ranks, years, recognized=marked))
    assert result.to_dict()["recognized"] == {
        "n_ranks": 5,
        "of_ranks": 8,
        "n_judges": 1,
        "estimates": [{"system": "K0", "experience": None}],
    }
    assert len(warned(result, "recognized-authors")) == 1


def test_nothing_is_said_where_nobody_was_recognized() -> None:
    result = quem.analyze(study_of(*random_ranks(np.random.default_rng(6))))
    assert "recognized" not in result.to_dict()
    assert not warned(result, "recognized-authors")


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
    minutes = {who: {p: s / 60 for p, s in own.items() if s} for who, own in seconds.items()}
    minutes = {who: own for who, own in minutes.items() if own}
    logs = [np.mean(np.log([*own.values()])) for own in minutes.values()]
    assert found["typical"] == pytest.approx(np.exp(np.mean(logs)))
    low, high = t.interval(0.9, len(logs) - 1, np.mean(logs), sem(logs))
    assert found["interval"] == pytest.approx([np.exp(low), np.exp(high)])
    everything = [one for own in minutes.values() for one in own.values()]
    assert (found["n"], found["n_people"]) == (len(everything), len(minutes))
    assert found["median"] == pytest.approx(np.median(everything))
    assert found["hours"] == pytest.approx(sum(everything) / 60)
    tau = kendalltau([years[who] for who in minutes], logs).statistic
    assert found["tau"] == pytest.approx(tau)
    for row in found["problems"]:
        mine = [own[row["problem"]] for own in minutes.values() if row["problem"] in own]
        assert row["n"] == len(mine)
        low, high = row["quartiles"]
        drawn = [row["least"], low, row["median"], high, row["most"]]
        assert drawn == pytest.approx(np.percentile(mine, [0, 25, 50, 75, 100]))


def test_one_person_has_no_interval_and_nobody_no_times() -> None:
    ranks, years = random_ranks(np.random.default_rng(4))
    assert key_of(study_of(ranks, years), "times") is None
    people = [{"id": s, "experience": y} for s, y in years.items()]
    people[0]["seconds"] = {"P1": 900.0}
    found = key_of(study_of(ranks, people), "times")
    assert (found["typical"], found["n_people"]) == (pytest.approx(15), 1)
    assert (found["interval"], found["tau"]) == (None, None)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_profiles_are_means_over_the_judges_who_ranked_the_system(
    seed: int, missing: float
) -> None:
    """Means of system and people, and who is below, by pandas over rankings with the system."""
    rng = np.random.default_rng(seed)
    ranks, years = random_ranks(rng, judges=4, problems=5, systems=2, missing=missing)
    result = quem.analyze(study_of(ranks, years))
    table = result.ranks
    assert table is not None
    rows = result.table("problems").set_index(["system", "problem"])
    for system in ("K0", "K1"):
        ranked = table.groupby(["judge", "problem"], observed=True)["solver"]
        there = table[ranked.transform(lambda of, own=system: (of == own).any())]
        means = there.groupby(["problem", "solver"], observed=True)["adjusted_rank"].mean()
        own = means.xs(system, level="solver")
        assert rows.loc[system].index.tolist() == list(own.index)
        for problem, mean in own.to_dict().items():
            people = means.loc[str(problem)].filter(items=list(years))
            row: Any = rows.loc[(system, str(problem))]
            assert row["mean_rank"] == pytest.approx(mean)
            assert row["people"] == pytest.approx(people.mean())
            assert row["below"] == (people < mean - 1e-9).sum()
            assert row["n_people"] == len(people)


def test_one_problem_has_no_profile() -> None:
    """Neither one problem nor blocks have one, and both draw nothing."""
    ranks, years = random_ranks(np.random.default_rng(1), problems=1)
    assert key_of(study_of(ranks, years), "problems") is None
    ranks, years = random_ranks(np.random.default_rng(1), subjects=9)
    rng = np.random.default_rng(2)
    for blocks in (None, {cell: 1 + int(rng.integers(2)) for cell in ranks}):
        result = quem.analyze(study_of(ranks, years, blocks=blocks))
        assert ("problems" in result.to_dict()) == (blocks is None)
        assert (result.plot("profile") is None) == (blocks is not None)


def test_what_the_study_states_and_what_it_leaves_open(tmp_path: Path) -> None:
    """Facts come from the data and the study file; the rest is not stated."""
    path = shutil.copytree(P3, tmp_path / "study") / "study.yaml"
    path.write_text(f"{path.read_text()}\nbaseline: {{payment: nothing}}\n")
    result = quem.analyze(quem.load_study(path, kind="experience"))
    facts = {one["aspect"]: one["answer"] for one in result.to_dict()["baseline"]}
    assert facts["People"] == "7 subjects with 2 to 10 years of experience"
    assert facts["Payment"] == "nothing"
    assert facts["Recruitment"] == ""
    result.report(tmp_path / "report")
    page = (tmp_path / "report/report.html").read_text()
    assert "The study does not state: recruitment, consent, instructions" in page
