"""`quem track`: years of versions between sessions of experts."""

from __future__ import annotations

import json
from collections import defaultdict
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
from tests.machines.made import GOLDEN, call_of, run_of, write_run, write_study

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

YEARS = np.arange(1.0, 13.0)
PROBLEMS = [f"P{n}" for n in range(1, 7)]
PEOPLE = [f"S{n}" for n in range(1, 13)]
# The last version is the machine's alone.
QUALITY = {"v1": 3.2, "v2": 4.4, "v3": 5.6, "v4": 6.8}
MANY = {"machines": [{"id": "M1", "command": "judge"}], "machine": {}}


def tracked_study(
    folder: Path,
    quality: dict[str, float] | None = None,
    *,
    unranked: int = 1,
    liking: float = 2.0,
    **changed: Any,  # noqa: ANN401
) -> Path:
    """Write versions that two experts ranked but for the last, and a machine that likes them."""
    quality = quality or QUALITY
    rng = np.random.default_rng(1)
    solvers = [*PEOPLE, *quality]
    made = np.append(YEARS, list(quality.values())) + rng.normal(0, 0.6, (6, len(solvers)))
    shown = len(solvers) - unranked
    ranks = np.full((2, 6, len(solvers)), np.nan)
    errors = rng.normal(0, 0.4, (2, 6, shown))
    ranks[..., :shown] = (made[:, :shown] + errors).argsort(-1).argsort(-1) + 1
    path = write_study(
        folder, years=YEARS.tolist(), systems=list(quality), problems=PROBLEMS, ranks=ranks, **MANY
    )
    text = path.read_text("utf-8")
    for number, name in enumerate(quality, 1):
        keys = {"id": name, "of": "bot", "date": f"2026-0{number}-01"}
        keys |= changed if name == list(quality)[-1] else {}
        inside = ", ".join(f"{key}: {value}" for key, value in keys.items())
        text = text.replace(f"- id: {name}\n", f"- {{{inside}}}\n")
    path.write_text(text, "utf-8")
    write_run(path, run_of("M1", calls(made, solvers, liking)))
    return path


def calls(made: Any, solvers: list[str], liking: float, seed: int = 2) -> list[Any]:  # noqa: ANN401
    """Let a machine rank all solutions in two orders."""
    rng = np.random.default_rng(seed)
    liked = made + liking * (np.arange(len(solvers)) >= len(PEOPLE))
    return [
        call_of(problem, repeat, solvers, (liked[at] + rng.normal(0, 0.2, len(solvers))).tolist())
        for at, problem in enumerate(PROBLEMS)
        for repeat in range(2)
    ]


def without(call: Any, solver: str) -> Any:  # noqa: ANN401
    """Leave a solver out of a call."""
    tied = [tuple(one for one in group if one != solver) for group in call.ranked]
    order = tuple(one for one in call.order if one != solver)
    return call.model_copy(update={"order": order, "ranked": tuple(filter(None, tied))})


def run_track(path: Path, *options: str) -> Result:
    """Run `quem track`."""
    return CliRunner().invoke(main, ["track", str(path), *options])


def tracked(path: Path) -> dict[str, Any]:
    """Give what `quem track --json` says of the last version."""
    done = run_track(path, "--json")
    if done.exception:
        raise done.exception
    last: dict[str, Any] = json.loads(done.stdout)["versions"][-1]
    return last


@pytest.mark.parametrize(("name", "count"), [("track", 4), ("track_three_versions", 3)])
def test_golden_values(name: str, count: int) -> None:
    """Years of a version that only the machine ranked."""
    data, expected = GOLDEN["track"], GOLDEN[name]
    years = np.array(GOLDEN["study"]["years_of_subjects"])
    experts, machine = (
        fit_line(np.array(data[f"people_{by}"]), years) for by in ("experts", "machine")
    )
    h, m = (np.array(data[f"versions_{by}"][:count]) for by in ("experts", "machine"))
    found = track(experts, machine, (h, m), data["new_version_machine"])
    assert experts.predict(h) - machine.predict(m) == pytest.approx(
        expected["differences"], abs=1e-6
    )
    half = stats.t.ppf(0.975, found.df) * found.error
    assert found.years == pytest.approx(expected["estimate"], abs=1e-6)
    assert found.years - half == pytest.approx(expected["low"], abs=1e-6)
    assert found.years + half == pytest.approx(expected["high"], abs=1e-6)
    assert found.df == pytest.approx(expected["df"], abs=1e-6)
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


def among_people(orders: Iterable[list[str]]) -> dict[str, float]:
    """The average rank of everybody among the people, the worst first in each order."""
    ranks = defaultdict(list)
    for order in orders:
        for at, solver in enumerate(order):
            below = len([one for one in order[:at] if one in PEOPLE])
            ranks[solver].append(1 + below * (1 if solver in PEOPLE else 11 / 12))
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
    of_experts = among_people([*of["solver"]] for _, of in tasks)
    of_machine = among_people(
        [s for tied in reversed(call.ranked) for s in tied] for call in findings.run.calls
    )
    line, own = (
        fit_line(np.array([of[p] for p in PEOPLE]), YEARS) for of in (of_experts, of_machine)
    )
    h, m = (np.array([of[v] for v in ("v1", "v2", "v3")]) for of in (of_experts, of_machine))
    expected = track(line, own, (h, m), of_machine["v4"])
    half = stats.t.ppf(0.975, expected.df) * expected.error
    assert last.experience == pytest.approx(expected.years)
    assert (last.low, last.high) == pytest.approx((expected.years - half, expected.years + half))
    out = tmp_path / "out"
    done = run_track(path, "--out", str(out))
    assert "years too generous to v1, v2, and v3" in " ".join(done.stdout.split())
    assert {file.name for file in out.iterdir()} == {"course.png", "course.svg", "versions.csv"}
    table = pd.read_csv(out / "versions.csv")
    assert table["by"].tolist() == ["experts", "experts", "experts", "machine"]
    assert table["experience"].iloc[-1] == pytest.approx(last.experience)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--fail-below", "3"], 0),
        (["--fail-below", "6.5"], 4),
    ],
)
def test_continuous_integration_can_fail(tmp_path: Path, options: list[str], code: int) -> None:
    """Where the newest version does not surely reach what is wanted."""
    done = run_track(tracked_study(tmp_path), "--out", str(tmp_path / "out"), *options)
    assert done.exit_code == code
    assert "v4 has a probability of" in done.stderr


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("two versions", "both ranked 2 versions of bot, and 3 are needed"),
        ("two problems", "ranked it on P1 and P2, and the calibrated versions on 6 problems"),
        ("failed", "50% of its calls have no valid ranking"),
        ("blocks", "ranked blocks, whose ranks cannot be compared"),
        ("architecture", "it is of another architecture"),
        ("server", "the service of M1 changed in the middle of the run"),
        ("noise", "more experienced people are not clearly better"),
        ("below", "it is below what the machine was calibrated on"),
    ],
)
def test_refusals_name_the_reason_and_the_remedy(tmp_path: Path, change: str, reason: str) -> None:
    """No years then; and continuous integration fails."""
    options: dict[str, Any] = {change: "other"} if change == "architecture" else {}
    quality = {"v1": 3.2, "v2": 4.4, "v3": 5.6} if change == "two versions" else QUALITY
    quality = {**QUALITY, "v4": 0.5} if change == "below" else quality
    path = tracked_study(tmp_path, quality, **options)
    study = quem.load_study(path, kind="experience")
    (run,) = (study.machines or {})["M1"]
    others: dict[str, tuple[Any, ...]] = {
        "two problems": tuple(
            call if call.problem in ("P1", "P2") else without(call, "v4") for call in run.calls
        ),
        "failed": tuple(
            call.model_copy(update={"status": "refused", "ranked": ()} if call.repeat else {})
            for call in run.calls
        ),
        "blocks": tuple(call.model_copy(update={"block": 2}) for call in run.calls),
    }
    if change in others:
        write_run(path, run.model_copy(update={"calls": others[change]}))
    elif change == "server":
        first, *rest = run.calls
        moved = first.model_copy(update={"fingerprint": "new"})
        write_run(path, run.model_copy(update={"calls": (moved, *rest)}))
    elif change == "noise":
        made = np.random.default_rng(3).normal(0, 5, (6, len(PEOPLE) + len(quality)))
        new = tuple(calls(made, [*PEOPLE, *quality], 2))
        write_run(path, run.model_copy(update={"number": 2, "calls": new}))
    last = tracked(path)
    assert last["by"] == "nobody"
    assert reason in last["refused"]
    assert "have experts rank this version" in last["refused"]
    assert run_track(path, "--json", "--fail-below", "1").exit_code == 4


def test_experts_whose_ranks_allow_no_years_calibrate_nothing(tmp_path: Path) -> None:
    """What `quem analyze` refuses to say in years, nothing says in years."""
    path = tracked_study(tmp_path)
    table = path.with_name("rankings.csv")
    mixed = dict(zip(PEOPLE, np.random.default_rng(0).permutation(PEOPLE), strict=True))
    rows = [line.split(",") for line in table.read_text("utf-8").splitlines()]
    lines = [",".join([judge, p, mixed.get(s, s), rank]) for judge, p, s, rank in rows]
    table.write_text("\n".join(lines), "utf-8")
    with pytest.raises(QuemError, match="allow no years: "):
        track_versions(quem.load_study(path, kind="experience"), "M1")
