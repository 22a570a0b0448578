"""Studies judged in blocks or by pairs: their expected ranks, and what follows from them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.optimize import minimize
from scipy.special import expit, log_expit

import quem
from quem.errors import QuemError

if TYPE_CHECKING:
    from pathlib import Path

    from quem.method.core import SystemEstimate
    from quem.parts.result import ExperienceResult

# Judge, problem, solver, block, rank; or judge, problem, winner, loser, tie
Rows = list[tuple[Any, ...]]
Made = tuple[Rows, dict[str, float]]
LONG = ("judge", "problem", "solver", "block", "rank")
PAIRS = ("judge", "problem", "winner", "loser", "tie")


def analyzed(folder: Path, rows: Rows, years: dict[str, float]) -> ExperienceResult:
    """Analyze a study of files; who has no years is a system."""
    header = PAIRS if len(str(rows[0][3])) > 1 else LONG
    table = pd.DataFrame(rows, columns=header)
    solvers = {one for key in ("solver", "winner", "loser") for one in table.get(key, ())}
    content = {
        "id": "made",
        "title": "Made",
        "problems": [{"id": p} for p in sorted(set(table["problem"]))],
        "judges": [{"id": j} for j in sorted(set(table["judge"]))],
        "subjects": [{"id": s, "experience": y} for s, y in years.items()],
        "systems": [{"id": s} for s in sorted(solvers - years.keys())],
        "rankings": {"from": "long" if header == LONG else "decisions", "file": "rows.csv"},
    }
    (folder / "study.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    table.to_csv(folder / "rows.csv", index=False)
    return quem.analyze(quem.load_study(folder / "study.yaml", kind="experience"))


def blocked(seed: int, *, judges: int = 3, problems: int = 3, n: int = 8) -> Made:
    """Two blocks of a problem for each judge that share solvers, with some ties."""
    rng = np.random.default_rng(seed)
    years = {f"S{i}": 1.5 * i + 1 for i in range(n - 1)}
    solvers, skill = [*years, "KBS"], np.array([*years.values(), 6.0])
    rows: Rows = []
    for problem in range(problems):
        quality = skill + rng.normal(0, 2, n)
        for judge in range(judges):
            order = rng.permutation(n)
            for block, members in enumerate((order[: n // 2 + 1], order[n // 2 - 1 :]), 1):
                seen = np.round((quality[members] + rng.normal(0, 2, len(members))) / 2)
                ranks = np.unique(seen, return_inverse=True)[1] + 1
                for solver, rank in zip(members, ranks.tolist(), strict=True):
                    rows.append((f"J{judge}", f"P{problem}", solvers[solver], block, rank))
    return rows, years


def pairs(seed: int, *, decisions: int = 400, odd: str = "") -> Made:
    """Decisions drawn from the model without ties; an odd judge decides against all others."""
    rng = np.random.default_rng(seed)
    years = {f"S{i}": 2.0 * i + 1 for i in range(5)}
    solvers, theta = [*years, "KBS"], np.linspace(-1.5, 1.5, 6)
    rows: Rows = []
    for _ in range(decisions):
        a, b = rng.choice(6, 2, replace=False)
        judge = f"J{rng.integers(8)}"
        if (rng.random() > expit(theta[a] - theta[b])) != (judge == odd):
            a, b = b, a
        rows.append((judge, f"P{rng.integers(4)}", solvers[a], solvers[b], ""))
    return rows, years


def kbs(result: ExperienceResult) -> SystemEstimate:
    (one,) = result.core.estimates
    return one


def codes(result: ExperienceResult) -> set[str]:
    return {one.code for one in result.warnings}


def test_pairs_are_bradley_terry(tmp_path: Path) -> None:
    """Expected ranks, places, and the paper's line are those of a general optimizer's worths."""
    rows, years = pairs(1)
    names = [*years, "KBS"]
    won = np.array([[names.index(row[2]), names.index(row[3])] for row in rows])

    def loss(theta: np.ndarray) -> float:
        return float(0.005 * theta @ theta - log_expit(theta[won[:, 0]] - theta[won[:, 1]]).sum())

    theta = minimize(loss, np.zeros(6), method="BFGS", options={"gtol": 1e-6}).x
    ranks = 0.5 + expit(theta[:, np.newaxis] - theta).sum(axis=1)

    result = analyzed(tmp_path, rows, years)

    averages = result.core.averages
    assert [averages.rank[averages.solvers.index(name)] for name in names] == pytest.approx(
        ranks, abs=1e-5
    )
    assert averages.place == pytest.approx((averages.rank - 0.5) / 6)
    assert averages.rank.sum() == pytest.approx(21)
    slope, intercept = np.polyfit(ranks[:5], list(years.values()), 1)
    assert kbs(result).experience == pytest.approx(intercept + slope * ranks[5], abs=1e-4)
    counted = dict(zip(averages.solvers, averages.n_ranks.tolist(), strict=True))
    assert counted == {name: int((won == at).sum()) for at, name in enumerate(names)}
    assert result.table("worths")["log_worth"].to_numpy() == pytest.approx(
        theta - theta.mean(), abs=1e-4
    )


@pytest.mark.parametrize("made", [blocked(2), pairs(2)])
def test_without_one_is_the_study_without(made: Made, tmp_path: Path) -> None:
    """Leave-one-out estimates equal those of the study without that judge or problem."""
    rows, years = made
    whole = kbs(analyzed(tmp_path, rows, years))
    assert [one.what for one in whole.rests_on] == ["judge", "problem", "subject"]
    for at, one in enumerate(whole.rests_on[:2]):
        left = {
            name: kbs(analyzed(tmp_path, [r for r in rows if r[at] != name], years)).experience
            for name in sorted({row[at] for row in rows})
        }
        assert one.experience == pytest.approx(left[one.id], abs=1e-5)
        moved = {name: abs(years - whole.experience) for name, years in left.items()}
        assert moved[one.id] == pytest.approx(max(moved.values()), abs=1e-5)


def test_counts_are_decisions(tmp_path: Path) -> None:
    rows, years = pairs(3, decisions=150)
    before = kbs(analyzed(tmp_path, rows, years))
    lines = [f"{','.join(row)},{count}\n" for row, count in Counter(rows).items()]
    text = "".join([",".join([*PAIRS, "count\n"]), *lines])
    (tmp_path / "rows.csv").write_text(text, encoding="utf-8")
    after = kbs(quem.analyze(quem.load_study(tmp_path / "study.yaml", kind="experience")))
    assert after.experience == pytest.approx(before.experience, abs=1e-6)
    assert after.error.value == pytest.approx(before.error.value, rel=1e-5)
    for one, other in zip(before.rests_on, after.rests_on, strict=True):
        assert one.id == other.id
        assert one.experience == pytest.approx(other.experience, abs=1e-5)


@pytest.mark.parametrize("is_rare", [True, False])
def test_errors_enter_both_estimates(tmp_path: Path, *, is_rare: bool) -> None:
    """A system varies as people do at least; what is beyond widens both estimates."""
    rows, years = blocked(6, problems=4)
    if is_rare:  # in fewer blocks, so that its rank is less sure
        rows = [row for row in rows if row[2] != "KBS" or row[0] == "J0" or row[1] == "P0"]
    result = analyzed(tmp_path, rows, years)
    of, worths = kbs(result), result.table("worths").set_index("solver")
    averages = result.core.averages
    weight = dict(zip(averages.solvers, averages.place * (1 - averages.place), strict=True))
    variance = {s: (worths["rank_error"][s] / 8) ** 2 / weight[s] for s in worths.index}
    usual = np.mean([variance[s] for s in years])
    beyond = max(0.0, variance["KBS"] - usual)
    assert (beyond > 0) == is_rare
    assert of.error.value == pytest.approx((usual + beyond) / weight["KBS"])
    assert of.added.value == pytest.approx(beyond / weight["KBS"])
    sums = usual**2 / (3 * len(years)) + beyond**2 / 3
    assert of.error.df == pytest.approx((usual + beyond) ** 2 / sums)
    assert of.added.df == (pytest.approx(3) if is_rare else np.inf)


def test_parts_that_never_met_are_refused(tmp_path: Path) -> None:
    rows, years = blocked(5, n=6)
    apart = [(j, p, s, 1 + (s in ("S0", "S1", "S2")), rank) for j, p, s, _, rank in rows]
    unique = list({row[:4]: row for row in apart}.values())
    message = r"the solvers fall into parts .*: \(S0, S1, and S2\); \(S3, S4, and KBS\)"
    with pytest.raises(QuemError, match=message):
        analyzed(tmp_path, unique, years)


def test_what_is_left_may_fall_apart(tmp_path: Path) -> None:
    """Where parts meet in one judge's blocks only, nothing is said of leaving that judge out."""
    rows, years = blocked(6, judges=2, n=6)
    halves = [
        (j, p, s, 1 + (s in ("S0", "S1", "S2") if j == "J0" else s in ("S0", "S3")), rank)
        for j, p, s, _, rank in rows
    ]
    result = analyzed(tmp_path, list({row[:4]: row for row in halves}.values()), years)
    assert "J1" not in [one.id for one in kbs(result).rests_on]
    assert np.isfinite(kbs(result).experience)


def test_an_odd_judge_and_chance_are_told(tmp_path: Path) -> None:
    """A judge against all others has a high infit; a scale of chance has a low separation."""
    rows, years = pairs(7, odd="J3")
    result = analyzed(tmp_path, rows, years)
    assert {"blocks", "inconsistent-judge"} <= codes(result)
    fit = result.table("judge-fit").set_index("judge")
    assert fit["infit"].idxmax() == "J3"
    assert fit["n_choices"].sum() == 400
    rng = np.random.default_rng(8)
    chance = [(j, p, *rng.permutation([a, b]).tolist(), tie) for j, p, a, b, tie in rows[:30]]
    assert "low-separation" in codes(analyzed(tmp_path, chance, years))
    assert "low-separation" not in codes(result)


def test_one_block_a_group_is_the_plain_analysis(tmp_path: Path) -> None:
    rows, years = blocked(9)
    whole = [row for row in rows if row[3] == 1]
    numbered = [(*row[:3], 3, row[4]) for row in whole]
    plain, other = (analyzed(tmp_path, of, years) for of in (whole, numbered))
    assert "worths" not in plain.to_dict()
    assert {k: v for k, v in plain.to_dict().items() if k != "ranks"} == other.to_dict()


def test_all_outputs_have_the_worths(tmp_path: Path) -> None:
    result = analyzed(tmp_path, *blocked(10, problems=4))
    document, worths = result.to_dict()["worths"], result.table("worths")
    assert (document["n_rankings"], document["df"]) == (24, 3)
    assert [row["solver"] for row in document["solvers"]] == worths["solver"].tolist()
    assert [row["judge"] for row in document["judges"]] == ["J0", "J1", "J2"]
    assert 0 < document["separation"] < 1
    assert "× expected rank" in result.summary()
    assert "average rank" not in result.summary()
    assert "A Plackett-Luce model, with ties" in result.to_html()
