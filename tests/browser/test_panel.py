"""People once: their panel is made, a system is placed on it, judged in Chromium, and measured."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING
from zipfile import ZipFile

import numpy as np
import pytest
from scipy.stats import t as student

from quem.panels.anchors import seed_of
from quem.panels.package import read_panel
from tests.browser.sessions import document, quem, session

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

PROBLEMS = ["P1", "P2", "P3", "P4"]
PEOPLE = {f"S{years}": years for years in range(1, 10)}
ALONE = "S9"  # does not agree to be shown again
SYSTEM = ("bot", 5.4)


def made(problem: str, solver: str, quality: float) -> float:
    """Say how good a solution is: the quality of its solver, and chance."""
    digest = hashlib.sha256(f"{problem} {solver}".encode()).digest()
    return quality + digest[0] / 64 - 2


def write_solution(path: Path, problem: str, solver: str, quality: float) -> None:
    """Write a solution that judges read its quality in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"quality {made(problem, solver, quality):.3f}\n", "utf-8")


def write_study(folder: Path) -> Path:
    """Write the people's study: two judges ranked them, and one person does not agree."""
    lines = ["id: people", "title: People", "problems:"]
    lines += [f"  - {{id: {problem}, title: Case {problem[1:]}}}" for problem in PROBLEMS]
    lines += ["judges: [{id: J1}, {id: J2}]", "rankings: rankings.csv", "subjects:"]
    lines += [
        f"  - {{id: {one}, experience: {years}, reuse: {str(one != ALONE).lower()}}}"
        for one, years in PEOPLE.items()
    ]
    rows = ["judge,problem,solver,rank"]
    for problem in PROBLEMS:
        qualities = {one: made(problem, one, years) for one, years in PEOPLE.items()}
        for judge, favorite in (("J1", "S3"), ("J2", "S6")):
            of = {**qualities, favorite: qualities[favorite] + 2}
            rows += [
                f"{judge},{problem},{one},{rank}"
                for rank, one in enumerate(sorted(of, key=of.__getitem__), 1)
            ]
        for one, years in PEOPLE.items():
            write_solution(folder / "solutions" / problem / f"{one}.txt", problem, one, years)
    (folder / "rankings.csv").write_text("\n".join(rows) + "\n", "utf-8")
    (folder / "study.yaml").write_text("\n".join(lines) + "\n", "utf-8")
    return folder / "study.yaml"


def score(below: float, levels: list[float], people: int) -> float:
    """Turn a place into a rank, from the method's text."""
    r = [0.5, *sorted(levels), people + 0.5]
    low, high = int(np.floor(below)), int(np.ceil(below))
    return (r[low] + r[low + 1] + r[high] + r[high + 1]) / 4


def test_a_system_is_placed_on_people_who_are_not_asked_again(
    browser: Browser, tmp_path: Path
) -> None:
    """Make, place, judge, analyze, verify; the numbers are those of another computation."""
    study = write_study(tmp_path / "people")
    file = tmp_path / "panel.zip"
    printed = quem("panel", "make", study, "--out", file).split()[-1]
    panel = read_panel(file)
    assert panel.digest == printed
    assert sorted(one.experience for one in panel.spec.people) == [*range(1, 9)]
    with ZipFile(file) as archive:
        assert not [name for name in archive.namelist() if "S1" in name]
    name, quality = SYSTEM
    for problem in PROBLEMS:
        write_solution(tmp_path / "work" / f"{problem}.txt", problem, name, quality)
    placed = tmp_path / "placed"
    quem("panel", "place", file, "--system", f"bot={tmp_path / 'work'}", "--out", placed)
    assert session(browser, placed / "study.yaml", PROBLEMS, 5, ["J1", "J2"]) == set(PROBLEMS)
    found = document("analyze", placed)
    (estimate,) = found["estimates"]
    low, high = estimate["prediction_interval"]
    assert low < quality < high
    assert estimate["experience"] == pytest.approx(expected(placed, found)[0], abs=1e-9)
    assert (low, high) == pytest.approx(expected(placed, found)[1:], abs=1e-9)
    assert found["panel"]["digest"] == printed
    assert not [one for one in found["warnings"] if one["code"].startswith("panel")]
    assert "whole; 8 people" in quem("panel", "verify", file, "--digest", printed[:8])
    # A place that somebody edits is noticed, in the panel and in the study placed on it.
    raw = bytearray((placed / "panel.zip").read_bytes())
    at = raw.index(b"judge,problem,person,rank") + 40
    raw[at] ^= 1
    (placed / "panel.zip").write_bytes(raw)
    assert "panel.zip" in quem("panel", "verify", placed / "panel.zip", code=1)
    assert "panel.zip" in quem("analyze", placed, code=1)


def expected(placed: Path, found: dict[str, object]) -> tuple[float, float, float]:
    """Compute estimate and interval from the files alone, by loops."""
    panel = read_panel(placed / "panel.zip")
    people, judges = panel.people, panel.spec.judges
    n = len(people)
    quality = {}
    for path in (placed / "solutions").rglob("*.txt"):
        quality[path.parent.name, path.stem] = float(path.read_text().split()[1])
    x = dict.fromkeys([*people, "bot"], 0.0)
    by_judge = {(judge, one): 0.0 for judge in judges for one in people}
    differences: dict[str, list[float]] = {}
    for problem in PROBLEMS:
        ranks = {judge: panel.ranks[judge, problem] for judge in judges}
        level = {one: sum(ranks[j][one] for j in judges) / len(judges) for one in people}
        anchors = drawn(panel.digest, problem, "bot", level)
        assert {solver for p, solver in quality if p == problem} == {*anchors, "bot"}
        of = {one: quality[problem, one] for one in [*anchors, "bot"]}
        below = sum(of[one] < of["bot"] for one in anchors)
        x["bot"] += score(below, [level[one] for one in anchors], n) / len(PROBLEMS)
        for one in anchors:
            others = [other for other in anchors if other != one]
            levels = [level[other] for other in others]
            new = score(sum(of[other] < of[one] for other in others), levels, n)
            old = [score(sum(r[o] < r[one] for o in others), levels, n) for r in ranks.values()]
            differences.setdefault(one, []).append(new - sum(old) / len(old))
        for one in people:
            rest = {
                other: (
                    sum(r[other] - (r[one] < r[other]) for r in ranks.values()) / len(judges) - 0.5
                )
                * n
                / (n - 1)
                + 0.5
                for other in people
                if other != one
            }
            own = drawn(panel.digest, problem, one, rest)
            for judge, r in ranks.items():
                place = score(sum(r[o] < r[one] for o in own), [rest[o] for o in own], n)
                x[one] += place / len(judges) / len(PROBLEMS)
                by_judge[judge, one] += place / len(PROBLEMS)
    xs = np.array([x[one] for one in people])
    y = np.array([one.experience for one in panel.spec.people])
    slope, intercept = np.polyfit(xs, y, 1)
    s2 = ((y - intercept - slope * xs) ** 2).sum() / (n - 2)
    d2 = (x["bot"] - xs.mean()) ** 2 / ((xs - xs.mean()) ** 2).sum()
    variance = np.mean([np.var([by_judge[j, one] for j in judges], ddof=1) for one in people])
    assert found["panel"]["judge_variance"] == pytest.approx(variance)  # type: ignore[index]
    m = np.array([len(values) for values in differences.values()])
    every = np.concatenate([*differences.values()])
    between = sum(len(v) * (np.mean(v) - every.mean()) ** 2 for v in differences.values())
    within = sum(((np.array(v) - np.mean(v)) ** 2).sum() for v in differences.values())
    n0 = (m.sum() - (m**2).sum() / m.sum()) / (len(m) - 1)
    tau2 = max(0.0, (between / (len(m) - 1) - within / (m.sum() - len(m))) / n0)
    # As many new judges as old ones: w is 0.
    line, more = s2 * (1 + 1 / n + d2), slope**2 * tau2
    df = (line + more) ** 2 / (line**2 / (n - 2) + more**2 / (len(m) - 1))
    half = student.ppf(0.975, df) * np.sqrt(line + more)
    years = intercept + slope * x["bot"]
    return float(years), float(years - half), float(years + half)


def drawn(digest: str, problem: str, solver: str, level: dict[str, float]) -> list[str]:
    """Repeat a draw of four anchors among eight people, or among seven."""
    seed = seed_of(digest, problem, [solver])
    assert seed == hashlib.sha256(f"{digest}\x1f{problem}\x1f{solver}".encode()).hexdigest()
    ordered = sorted(level, key=lambda one: (level[one], one))
    strata = [ordered[0:2], ordered[2:4], ordered[4:6], ordered[6:]]

    def lot(one: str) -> str:
        return hashlib.sha256(f"{seed}\x1f{one}".encode()).hexdigest()

    return [min(stratum, key=lot) for stratum in strata]
