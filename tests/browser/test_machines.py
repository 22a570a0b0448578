"""Experts in Chromium, machine judges beside them, and what is made of both."""

from __future__ import annotations

import hashlib
import json
import sys
from typing import TYPE_CHECKING

import numpy as np

from tests.browser.sessions import document, quem, session
from tests.machines import fakes

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

PROBLEMS = [f"P{number}" for number in range(1, 9)]
PEOPLE = {f"S{years}": years for years in range(1, 9)}
VERSIONS = {"v1": 3.3, "v2": 4.6, "v3": 5.4}
NEXT = ("v4", 6.2)
NO_NETWORK = """
import sys
def refuse(event, _):
    if event in ("socket.connect", "socket.getaddrinfo", "subprocess.Popen"):
        sys.exit(f"tried {event}")
sys.addaudithook(refuse)
from quem.cli import run; run()
"""


def write_solutions(folder: Path, solver: str, quality: float) -> None:
    """Write what somebody made of all problems, a little better or worse by chance."""
    for problem in PROBLEMS:
        digest = hashlib.sha256(f"{problem} {solver}".encode()).digest()
        made = quality + digest[0] / 128 - 1
        mark = f"A {fakes.MARK} is heard.\n" if solver.startswith("v") else ""
        group = folder / "solutions" / problem
        group.mkdir(parents=True, exist_ok=True)
        (group / f"{solver}.txt").write_text(f"quality {made:.3f}\n{mark}", "utf-8")


def write_study(folder: Path, url: str) -> Path:
    """Write a study of three dated versions of a system, and two machine judges."""
    command = json.dumps([sys.executable, fakes.__file__, "fair"])
    lines = ["id: whole", "title: The whole way", "problems:"]
    lines += [f"  - {{id: {problem}, title: Case {problem[1:]}}}" for problem in PROBLEMS]
    lines += ["judges: [{id: J1}, {id: J2}]", "subjects:"]
    lines += [f"  - {{id: {name}, experience: {years}}}" for name, years in PEOPLE.items()]
    lines += ["machine: {experts_on: {n: 3, nonce: spring 2027}}", "machines:"]
    lines += [f"  - {{id: M1, command: {command}, per_minute: 10000}}"]
    lines += [f"  - {{id: M2, url: {url}, model: fake, per_minute: 10000}}", "systems:"]
    lines += [version_line(name, number) for number, name in enumerate(VERSIONS, 1)]
    path = folder / "study.yaml"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    for solver, quality in {**PEOPLE, **VERSIONS}.items():
        write_solutions(folder, solver, quality)
    return path


def version_line(name: str, month: int) -> str:
    """Declare a version."""
    return f"  - {{id: {name}, of: bot, date: 2026-0{month}-01}}"


def test_from_experts_to_versions_that_they_have_not_seen(browser: Browser, tmp_path: Path) -> None:
    """Experts rank 3 of 8 problems, machines all: an estimate, and years of a version."""
    with fakes.serving("favors") as service:
        study = write_study(tmp_path, service.url)
        size = len(PEOPLE) + len(VERSIONS)
        ranked = session(browser, study, PROBLEMS, size, ["J1", "J2"])
        assert len(ranked) == 3
        assert "32 requests sent" in quem("judge", study)
        asked = len(service.requests)
        made = document("analyze", study)
        machine = made["machine"]
        assert [one["id"] for one in machine["judges"]] == ["M1", "M2"]
        assert set(machine["draw"]["problems"]) == ranked
        assert not [one for one in made["warnings"] if "draw" in one["code"]]
        alone = {
            e["system"]: e for e in document("analyze", study, "--without-machines")["estimates"]
        }
        for estimate in made["estimates"]:
            beside = alone[estimate["system"]]
            assert estimate["experts_alone"]["experience"] == beside["experience"]
            low, high = estimate["prediction_interval"]
            assert low < beside["experience"] < high
        quality = {one["judge"]: one for one in made["machine_quality"]}
        assert quality["M1"]["agreement"] > quality["M2"]["agreement"] > 0
        # A version that experts have not seen.
        name, quality_of_next = NEXT
        write_solutions(tmp_path, name, quality_of_next)
        study.write_text(f"{study.read_text('utf-8')}{version_line(name, 4)}\n", "utf-8")
        assert "32 requests sent" in quem("judge", study)
        assert len(service.requests) == 2 * asked
    for judge, generous in (("M1", False), ("M2", True)):
        version = document("track", study, "--machine", judge)["versions"][-1]
        assert (version["system"], version["by"]) == (name, "machine")
        # M2 likes it more than the best person: then there is a bound alone.
        assert version["low"] < quality_of_next < (version["high"] or np.inf)
        assert (version["high"] is None) == generous
    # Nothing is left that could answer, and nothing is asked.
    said = quem("judge", study, "--replay", program=NO_NETWORK)
    assert "0 requests sent" in said
