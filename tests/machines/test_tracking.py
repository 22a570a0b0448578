"""`quem track`: years of versions between sessions of experts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import quem
from quem.cli import main
from quem.errors import QuemError
from quem.machines.result import TrackResult
from quem.machines.track import line_of, track
from quem.machines.tracking import track_versions
from quem.report.files import json_text
from tests.docs.schema import mistakes
from tests.machines.made import call_of, run_of, write_run, write_study

if TYPE_CHECKING:
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
        keys = {"id": name, "of": "bot", "date": f"2026-0{number}-01", "family": "acme"}
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
    """Give analysis.json of `quem track`."""
    done = run_track(path, "--json")
    if done.exception:
        raise done.exception
    document: dict[str, Any] = json.loads(done.stdout)
    assert mistakes(document) == []
    return document


def test_a_version_gets_years_corrected_for_liking(tmp_path: Path) -> None:
    """Near its quality, and by the formulas of the method."""
    path = tracked_study(tmp_path)
    document = tracked(path)
    assert document["calibrated"] == ["v1", "v2", "v3"]
    assert document["generous"] == pytest.approx(2, abs=0.7)
    last = document["versions"][-1]
    assert (last["system"], last["by"]) == ("v4", "machine")
    assert last["experience"] == pytest.approx(6.8, abs=1)
    assert {w["code"] for w in document["warnings"]} == {"few-calibrations"}
    study = quem.load_study(path, kind="experience")
    findings = track_versions(study, "M1")
    humans = quem.analyze(study, reference="humans", bootstrap=0, permutations=0)
    averages = dict(
        zip(humans.findings.averages.solvers, humans.findings.averages.average, strict=True)
    )
    if humans.findings.machines and humans.findings.machines.share:
        pytest.fail("experts ranked all problems, so machines add nothing")
    experts = line_of(np.array([averages[p] for p in PEOPLE]), YEARS)
    # The machine's averages, solver by solver, among the people.
    by_machine = {}
    for solver in (*PEOPLE, *QUALITY):
        each = []
        for call in findings.run.calls:
            order = [s for tied in reversed(call.ranked) for s in tied]
            below = len([s for s in order[: order.index(solver)] if s in PEOPLE])
            each.append(1 + below * (1 if solver in PEOPLE else 11 / 12))
        by_machine[solver] = float(np.mean(each))
    machine = line_of(np.array([by_machine[p] for p in PEOPLE]), YEARS)
    pairs = tuple(np.array([of[v] for v in ("v1", "v2", "v3")]) for of in (averages, by_machine))
    expected = track(experts, machine, pairs, by_machine["v4"])  # type: ignore[arg-type]
    assert last["experience"] == pytest.approx(expected.years)
    assert last["interval"] == pytest.approx(list(expected.interval))


def test_what_was_said_is_held_against_what_experts_find(tmp_path: Path) -> None:
    """It is kept once per run, and shown when experts have ranked the version."""
    path = tracked_study(tmp_path / "a")
    said = tracked(path)["versions"][-1]
    tracked(path)
    kept = (path.parent / "machines" / "track.jsonl").read_text("utf-8").splitlines()
    assert len(kept) == 1
    later = tracked_study(tmp_path / "b", {**QUALITY, "v5": 7.4})
    (later.parent / "machines" / "track.jsonl").write_text(f"{kept[0]}\n", "utf-8")
    document = tracked(later)
    assert [one["system"] for one in document["said"]] == ["v4"]
    assert document["said"][0]["experience"] == pytest.approx(said["experience"])
    text = run_track(later, "--out", str(tmp_path / "out")).stdout
    assert "v4: M1 said" in text
    assert "experts found" in text
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "What was said before experts ranked" in page
    assert (tmp_path / "out" / "course.svg").exists()
    (later.parent / "machines" / "track.jsonl").write_text("nothing\n", "utf-8")
    with pytest.raises(QuemError, match="was not written by"):
        track_versions(quem.load_study(later, kind="experience"), "M1")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--fail-below", "3"], 0),
        (["--fail-below", "6.5"], 4),
        (["--fail-below", "6.5", "--probability", "0.2"], 0),
    ],
)
def test_continuous_integration_can_fail(tmp_path: Path, options: list[str], code: int) -> None:
    """Where the newest version does not surely reach what is wanted."""
    done = run_track(tracked_study(tmp_path), "--out", str(tmp_path / "out"), *options)
    assert done.exit_code == code
    assert "v4 has at least" in done.stderr


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("two versions", "both ranked 2 versions of bot, and 3 are needed"),
        ("two problems", "ranked it on P1 and P2, and the calibrated versions on 6 problems"),
        ("failed", "50% of its calls have no valid ranking"),
        ("blocks", "ranked blocks, whose ranks cannot be compared"),
        ("model", "has another model than in run 1"),
        ("services", "has another service than in run 1"),
        ("repeats", "has another number of repeats than in run 1"),
        ("family", "it is of another family than the versions that experts ranked"),
        ("architecture", "it is of another architecture"),
        ("server", "the service of M1 changed in the middle of the run"),
        ("prompt", "has another prompt than in run 1"),
        ("people", "the solution of S1 on P1 is another one than before"),
        ("drift", "judges otherwise than in run 1"),
        ("noise", "more experienced people are not clearly better"),
        ("below", "it is below what the machine was calibrated on"),
    ],
)
def test_refusals_name_the_reason_and_the_remedy(tmp_path: Path, change: str, reason: str) -> None:
    """No years then; and continuous integration fails."""
    options: dict[str, Any] = {change: "other"} if change in ("family", "architecture") else {}
    quality = {"v1": 3.2, "v2": 4.4, "v3": 5.6} if change == "two versions" else QUALITY
    quality = {**QUALITY, "v4": 0.5} if change == "below" else quality
    path = tracked_study(tmp_path, quality, **options)
    study = quem.load_study(path, kind="experience")
    (run,) = (study.machines or {})["M1"]
    changes: dict[str, dict[str, Any]] = {
        "prompt": {"prompt": "1" * 64},
        "people": {"digests": {"P1": {"S1": "bb"}}},
    }
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
    elif change in ("model", "services", "repeats"):
        now: dict[str, dict[str, Any]] = {
            "model": {"declared_model": "newer"},
            "services": {"calls": tuple(c.model_copy(update={"model": "b"}) for c in run.calls)},
            "repeats": {"repeats": 1, "calls": run.calls[::2]},
        }
        write_run(path, run.model_copy(update={"number": 2, **now[change]}))
    elif change == "server":
        first, *rest = run.calls
        moved = first.model_copy(update={"fingerprint": "new"})
        write_run(path, run.model_copy(update={"calls": (moved, *rest)}))
    elif change in ("drift", "noise"):
        rng = np.random.default_rng(3)
        made = rng.normal(0, 5, (6, len(PEOPLE) + len(quality)))
        if change == "drift":
            made = np.append(YEARS, list(quality.values())) + rng.normal(0, 3, made.shape)
        new = run.model_copy(
            update={"number": 2, "calls": tuple(calls(made, [*PEOPLE, *quality], 2))}
        )
        write_run(path, new)
    elif change in changes:
        write_run(path, run.model_copy(update={"digests": {"P1": {"S1": "aa"}}}))
        write_run(path, run.model_copy(update={"number": 2, **changes[change]}))
    last = tracked(path)["versions"][-1]
    assert last["by"] == "nobody"
    assert reason in last["refused"]
    assert "have experts rank this version" in last["refused"]
    assert run_track(path, "--json", "--fail-below", "1").exit_code == 4


def test_above_what_is_calibrated_there_is_a_bound_alone(tmp_path: Path) -> None:
    """And a chart with an arrow."""
    path = tracked_study(tmp_path, {**QUALITY, "v4": 9.5})
    last = tracked(path)["versions"][-1]
    assert last["experience"] is None
    assert last["lower_bound"] > 4
    assert last["interval"][1] is None
    findings = track_versions(quem.load_study(path, kind="experience"), "M1")
    result = TrackResult(findings)
    assert "at least" in result.summary()
    assert "TrackResult of made: v4" in repr(result)
    assert len(result.versions) == 4
    assert result.plot("course") is not None
    assert mistakes(json.loads(json_text(result.to_dict()))) == []


def test_an_old_calibration_and_an_unsteady_liking_are_warned_of(tmp_path: Path) -> None:
    """Five versions since experts ranked; and a machine that likes each otherwise."""
    quality = {f"v{n}": 3.0 + 0.5 * n for n in range(1, 9)}
    codes = {w["code"] for w in tracked(tracked_study(tmp_path, quality, unranked=5))["warnings"]}
    assert "calibration-old" in codes


def test_nothing_to_track(tmp_path: Path) -> None:
    """One message each."""
    path = tracked_study(tmp_path, unranked=0)
    with pytest.raises(QuemError, match="ranked no system that experts have not ranked"):
        track_versions(quem.load_study(path, kind="experience"), "M1")
    (tmp_path / "machines/M1/runs/0001.json").unlink()
    with pytest.raises(QuemError, match="has ranked nothing yet"):
        track_versions(quem.load_study(path, kind="experience"), "M1")


def test_experts_whose_ranks_allow_no_years_calibrate_nothing(tmp_path: Path) -> None:
    """What `quem analyze` refuses to say in years, nothing says in years."""
    path = tracked_study(tmp_path)
    table = path.with_name("rankings.csv")
    mixed = dict(zip(PEOPLE, np.random.default_rng(0).permutation(PEOPLE), strict=True))
    rows = [line.split(",") for line in table.read_text("utf-8").splitlines()]
    lines = [",".join([judge, p, mixed.get(s, s), rank]) for judge, p, s, rank in rows]
    table.write_text("\n".join(lines), "utf-8")
    with pytest.raises(QuemError, match="allow no years: With these people average rank does not"):
        track_versions(quem.load_study(path, kind="experience"), "M1")


def test_versions_are_those_of_one_name(tmp_path: Path) -> None:
    """Systems that share none are no versions of each other; several names need a choice."""
    path = tracked_study(tmp_path, {**QUALITY, "v5": 6.2}, unranked=2)
    text = path.read_text("utf-8")
    path.write_text(text.replace("{id: v5, of: bot", "{id: v5, of: cat"), "utf-8")
    study = quem.load_study(path, kind="experience")
    with pytest.raises(QuemError, match="new versions of bot and cat; name one by --of"):
        track_versions(study, "M1")
    with pytest.raises(QuemError, match="no new version of 'dog'"):
        track_versions(study, "M1", "dog")
    findings = track_versions(study, "M1", "bot")
    assert [one.system.id for one in findings.versions] == ["v1", "v2", "v3", "v4"]
    assert [np.isfinite(one.generous) for one in findings.versions] == [True] * 3 + [False]
    assert np.mean([one.generous for one in findings.versions[:3]]) == pytest.approx(
        findings.generous
    )
    path.write_text(text.replace("of: bot, ", ""), "utf-8")
    alone = track_versions(quem.load_study(path, kind="experience"), "M1", "v4")
    assert "both ranked 0 versions of v4" in alone.versions[0].refused


def test_what_is_said_of_the_same_run_after_another_session_is_kept_too(tmp_path: Path) -> None:
    """Experts who rank more change the correction, and so the years."""
    path = tracked_study(tmp_path, {**QUALITY, "v5": 6.2}, unranked=2)
    said = {v["system"]: v["experience"] for v in tracked(path)["versions"]}
    ranked = tracked_study(tmp_path / "later", {**QUALITY, "v5": 6.2}, unranked=1)
    path.with_name("rankings.csv").write_bytes(ranked.with_name("rankings.csv").read_bytes())
    now = tracked(path)
    kept = (path.parent / "machines" / "track.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["system"] for line in kept] == ["v4", "v5", "v5"]
    assert json.loads(kept[1])["years"] == pytest.approx(said["v5"])
    assert json.loads(kept[2])["years"] == pytest.approx(now["versions"][-1]["experience"])
    file = path.parent / "machines" / "track.jsonl"
    file.unlink()
    file.mkdir()
    with pytest.raises(QuemError, match="cannot be read"):
        track_versions(quem.load_study(path, kind="experience"), "M1")
