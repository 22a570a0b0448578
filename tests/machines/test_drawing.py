"""The draw of the experts' problems: judges get them, and nothing changes them later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from click.testing import CliRunner

import quem
from quem.cli import main
from quem.store.drawing import recorded_draw
from quem.store.people import person_named
from quem.store.work import tasks_of
from quem.studyfile.draw import digest_of_solutions, order_of_draw
from tests.machines.made import call_of, run_of, write_run
from tests.webjudge.sites import SUBJECTS, SYSTEM, rank, rank_all, set_life, write_site
from webjudge import open_site
from webjudge.site import reopened

if TYPE_CHECKING:
    from pathlib import Path

    from webjudge import Site

DRAWN = "machines: [{id: M1, command: judge}]\nmachine: {experts_on: {n: 3, nonce: spring 2027}}"


def digests(site: Site) -> dict[str, dict[str, str]]:
    """Give the digest of each solution as a machine would note it."""
    of = site.solutions.by_problem
    return {
        problem: {solver: one.digest for solver, one in by_solver.items()}
        for problem, by_solver in of.items()
    }


def drawn(site: Site) -> tuple[str, ...]:
    """Draw three problems from the solutions as they are."""
    rows = [(p, s, digest) for p, each in digests(site).items() for s, digest in each.items()]
    return order_of_draw(site.solutions.by_problem, digest_of_solutions(rows, "spring 2027"))[:3]


def test_judges_get_the_drawn_problems_for_good(tmp_path: Path) -> None:
    """Those that anybody can draw again; a solution that changes later changes nothing."""
    path = write_site(tmp_path, problems=6, judging="{}", more=DRAWN)
    site = open_site(path)
    expected = drawn(site)
    assert {group.problem for group in site.plan.groups} == set(expected)
    rank(site, "J1", expected[0])
    with site.store.read() as c:
        # What is ranked on trial is thrown away.
        assert recorded_draw(c, site.id) is None
    set_life(site, "open")
    rank(site, "J2", expected[0])
    with site.store.read() as c:
        held = tasks_of(c, person_named(c, site.id, "judge", "J2").key)
        kept = recorded_draw(c, site.id)
    assert {ballot.problem for ballot in held} == set(expected)
    assert kept
    assert kept.problems == expected
    solution = tmp_path / "solutions" / "P1" / f"{SYSTEM}.md"
    numbers = iter(range(100))
    while drawn(site) == expected:
        solution.write_text(f"Changed {next(numbers)} times.\n", "utf-8")
        site = reopened(site)
    assert {group.problem for group in site.plan.groups} == set(expected)
    done = CliRunner().invoke(main, ["check", str(path)])
    assert f"drawn for experts: {', '.join(expected)}" in done.stdout
    site.store.close()


def draw_of(path: Path) -> dict[str, Any]:
    """What an analysis says of the draw."""
    result = quem.analyze(quem.load_study(path, kind="experience"))
    return dict(result.to_dict()["machine"]["draw"])


def test_an_analysis_knows_the_draw(tmp_path: Path) -> None:
    """When it was, that experts ranked what was drawn, and that solutions are others now."""
    path = write_site(tmp_path, problems=6, judging="{}", more=DRAWN)
    site = open_site(path)
    set_life(site, "open")
    rank_all(site, "J1", "J2")
    set_life(site, "closed")
    seen = digests(site)
    site.store.close()
    solvers = (*SUBJECTS, SYSTEM)
    quality = {f"P{p}": [(p * (s + 2)) % 7 for s in range(5)] for p in range(1, 7)}
    calls = [call_of(p, r, solvers, quality[p]) for p in quality for r in range(2)]
    write_run(path, run_of("M1", calls, study="site", digests=seen))
    found = draw_of(path)
    assert {*found["problems"]} == {*found["labeled"]}
    assert found["drawn_at"].endswith("Z")
    assert not found["changed"]
    changed = {**seen, "P1": {**seen["P1"], SYSTEM: "00"}}
    write_run(path, run_of("M1", calls, study="site", number=2, digests=changed))
    assert draw_of(path)["changed"]
