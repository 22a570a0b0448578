"""`quem track`: years of versions between sessions of experts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from scipy import stats

import quem
from quem.cli import main
from quem.errors import QuemError
from quem.method.line import fit_line
from quem.track import track, track_versions
from tests.machines.made import GOLDEN, calls_of, run_of, write_run, write_study

if TYPE_CHECKING:
    from pathlib import Path

    from quem.studyfile.runs import Call

YEARS = np.arange(1.0, 13.0)
PEOPLE = [f"S{n}" for n in range(1, 13)]
# The last version is the machine's alone.
QUALITY = {"v1": 3.2, "v2": 4.4, "v3": 5.6, "v4": 6.8}


def tracked_study(
    folder: Path, quality: dict[str, float] = QUALITY, *, noise: float = 0.6, **last: object
) -> Path:
    """Write versions that two experts ranked but for the last, and a machine that likes them."""
    rng = np.random.default_rng(1)
    solvers = [*PEOPLE, *quality]
    made = np.append(YEARS, [*quality.values()]) + rng.normal(0, 0.6, (6, len(solvers)))
    ranks = np.full((2, *made.shape), np.nan)
    by_experts = made[:, :-1] + rng.normal(0, 0.4, (2, 6, len(solvers) - 1))
    ranks[..., :-1] = by_experts.argsort(-1).argsort(-1) + 1
    systems: list[dict[str, object]] = [
        {"id": name, "of": "bot", "date": f"2026-0{number}-01"}
        for number, name in enumerate(quality, 1)
    ]
    systems[-1] |= last
    path = write_study(folder, YEARS.tolist(), ranks, systems=systems)
    liked = made + 2 * (np.arange(len(solvers)) >= len(PEOPLE))
    if noise > 1:
        liked = rng.normal(0, noise, (6, len(solvers)))
    liked = liked + rng.normal(0, 0.2, (2, *liked.shape))
    write_run(path, run_of("M1", calls_of(solvers, liked)))
    return path


def run_track(path: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["track", str(path), *options])


@pytest.mark.parametrize(("name", "count"), [("track", 4), ("track_three_versions", 3)])
def test_golden_values(name: str, count: int) -> None:
    data, expected = GOLDEN["track"], GOLDEN[name]
    years = np.array(GOLDEN["study"]["years_of_subjects"])
    experts, machine = (
        fit_line(np.array(data[f"people_{by}"]), years) for by in ("experts", "machine")
    )
    h, m = (np.array(data[f"versions_{by}"][:count]) for by in ("experts", "machine"))
    found = track(experts, machine, (h, m), data["new_version_machine"])
    differences = experts.predict(h) - machine.predict(m)
    assert differences == pytest.approx(expected["differences"], abs=1e-6)
    half = stats.t.ppf(0.975, found.df) * found.error
    numbers = (found.years, found.years - half, found.years + half, found.df)
    wanted = tuple(expected[key] for key in ("estimate", "low", "high", "df"))
    assert numbers == pytest.approx(wanted, abs=1e-6)
    assert found.side == "inside"
    assert found.at_least(found.years + half) == pytest.approx(0.025)


@pytest.mark.parametrize("unsteady", [0.5, 2])
def test_intervals_hold_the_next_version(unsteady: float) -> None:
    """Of 600 simulated studies, however steadily the machine likes versions."""
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(600):
        years = np.append(YEARS, rng.uniform(1, 12, 5))
        quality = years + rng.normal(0, 1, 17)
        by_experts = quality + rng.normal(0, 0.5, 17)
        liking = np.where(np.arange(17) < 12, 0, 2 + rng.normal(0, unsteady, 17))
        by_machine = quality + liking + rng.normal(0, 0.7, 17)
        line, own = (fit_line(x[:12], YEARS) for x in (by_experts, by_machine))
        found = track(line, own, (by_experts[12:16], by_machine[12:16]), by_machine[16])
        covered += abs(found.years - years[16]) <= stats.t.ppf(0.975, found.df) * found.error
    assert covered / 600 > 0.93


def among_people(orders: list[list[str]]) -> dict[str, float]:
    """The average rank of everybody among the people, the worst first in each order."""
    ranks: dict[str, list[float]] = {}
    for order in orders:
        for at, solver in enumerate(order):
            below = sum(one in PEOPLE for one in order[:at])
            ranks.setdefault(solver, []).append(1 + below * (1 if solver in PEOPLE else 11 / 12))
    return {solver: float(np.mean(of)) for solver, of in ranks.items()}


def test_a_version_gets_years_corrected_for_liking(tmp_path: Path) -> None:
    """Near its quality, by the averages among the people; and a table and a chart."""
    path = tracked_study(tmp_path)
    study = quem.load_study(path, kind="experience")
    findings = track_versions(study)
    assert findings.calibrated == ("v1", "v2", "v3")
    assert -findings.differences.mean() == pytest.approx(2, abs=0.7)
    last = findings.versions[-1]
    assert (last.system, last.by) == ("v4", "machine")
    assert last.experience == pytest.approx(6.8, abs=1)
    assert study.rankings is not None
    tasks = study.rankings.dropna(subset="rank").sort_values("rank").groupby(["judge", "problem"])
    of_experts = among_people([[*of["solver"]] for _, of in tasks])
    of_machine = among_people([[s for (s,) in reversed(c.ranked)] for c in findings.run.calls])
    both = (of_experts, of_machine)
    line, own = (fit_line(np.array([of[p] for p in PEOPLE]), YEARS) for of in both)
    h, m = (np.array([of[v] for v in ("v1", "v2", "v3")]) for of in both)
    expected = track(line, own, (h, m), of_machine["v4"])
    half = stats.t.ppf(0.975, expected.df) * expected.error
    interval = expected.years - half, expected.years + half
    assert (last.experience, last.low, last.high) == pytest.approx((expected.years, *interval))
    out = tmp_path / "out"
    done = run_track(path, "--out", str(out))
    assert "years too generous to v1, v2, and v3" in " ".join(done.stdout.split())
    assert {file.name for file in out.iterdir()} == {"course.png", "course.svg", "versions.csv"}
    table = pd.read_csv(out / "versions.csv")
    assert table["by"].tolist() == ["experts", "experts", "experts", "machine"]
    assert table["experience"].iloc[-1] == pytest.approx(last.experience)


@pytest.mark.parametrize(("wanted", "code"), [("3", 0), ("6.5", 4)])
def test_continuous_integration_can_fail(tmp_path: Path, wanted: str, code: int) -> None:
    out = str(tmp_path / "out")
    done = run_track(tracked_study(tmp_path), "--out", out, "--fail-below", wanted)
    assert (done.exit_code, "v4 has a probability of" in done.stderr) == (code, True)


def without_v4(call: Call) -> Call:
    ranked = tuple(tied for tied in call.ranked if tied != ("v4",))
    order = tuple(one for one in call.order if one != "v4")
    return call.model_copy(update={"order": order, "ranked": ranked})


TWO = {"v1": 3.2, "v2": 4.4, "v4": 5.6}
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("", {"quality": TWO}, "experts and M1 both ranked 2 versions of bot, and 3 are"),
    ("", {"quality": {**QUALITY, "v4": 0.5}}, "it is below what the machine was calibrated on"),
    ("", {"architecture": "other"}, "it is of another architecture"),
    ("", {"noise": 5.0}, "by M1 more experienced people are not clearly better"),
    ("two problems", {}, "M1 ranked it on P1 and P2, and the calibrated versions on 6 problems"),
    ("failed", {}, "M1 cannot be used: 50% of its calls have no valid ranking"),
    ("blocks", {}, "M1 ranked blocks, whose ranks cannot be compared"),
    ("server", {}, "the service of M1 changed in the middle of the run"),
]


@pytest.mark.parametrize(("change", "options", "reason"), REFUSED)
def test_refusals_name_the_reason_and_the_remedy(
    tmp_path: Path, change: str, options: dict[str, Any], reason: str
) -> None:
    path = tracked_study(tmp_path, **options)
    (run,) = (quem.load_study(path, kind="experience").machines or {})["M1"]
    update: dict[str, dict[str, Any]] = {
        "failed": {"status": "refused", "ranked": ()},
        "blocks": {"block": 2},
        "server": {"fingerprint": "new"},
    }
    calls = [
        call.model_copy(update=update.get(change, {}) if call.repeat or change == "blocks" else {})
        for call in run.calls
    ]
    if change == "two problems":
        calls = [call if call.problem in ("P1", "P2") else without_v4(call) for call in calls]
    write_run(path, run.model_copy(update={"calls": tuple(calls)}))
    done = run_track(path, "--json", "--fail-below", "1")
    last = json.loads(done.stdout)["versions"][-1]
    assert (done.exit_code, last["by"]) == (4, "nobody")
    assert last["refused"].startswith(reason)
    assert last["refused"].endswith("have experts rank this version")


def test_experts_whose_ranks_allow_no_years_calibrate_nothing(tmp_path: Path) -> None:
    """Without years by `quem analyze`, `quem track` states no years."""
    path = tracked_study(tmp_path)
    table = pd.read_csv(path.with_name("rankings.csv"))
    mixed = dict(zip(PEOPLE, np.random.default_rng(0).permutation(PEOPLE), strict=True))
    table["solver"] = table["solver"].replace(mixed)
    table.to_csv(path.with_name("rankings.csv"), index=False)
    with pytest.raises(QuemError, match="allow no years: "):
        track_versions(quem.load_study(path, kind="experience"), "M1")
