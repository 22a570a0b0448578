"""How the judging was done: the numbers, checked by counting again, and who is warned of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scipy import stats
from sqlalchemy import update

from quem import analyze, load_study, study
from quem.store.care import care_of
from quem.store.exporting import submitted_rankings
from quem.store.models import TaskRow
from quem.store.people import person_named
from quem.store.state import State
from quem.store.work import tasks_of
from tests.webjudge.sites import SUBJECTS, SYSTEM, enter_dashboard, make_site, rank, set_life
from webjudge import create_app

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from webjudge import Site

HASTY, HONEST = ("J1", "J2", "J3"), ("J4", "J5", "J6")
SOLVERS = (*SUBJECTS, SYSTEM)
WORDS = 5_520  # 24 minutes; 4 hours for the ten solutions


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """Three scripts that "read" four hours of text in a minute, and three who read it."""
    site = make_site(tmp_path, judges=(*HASTY, *HONEST), judging="{repeat: 0}")
    for path in tmp_path.glob("solutions/*/*.md"):
        path.write_text("word " * WORDS)
    set_life(site, "open")
    for judge in (*HASTY, *HONEST):
        for problem in ("P1", "P2"):
            is_tied = (judge, problem) == ("J4", "P1")
            rank(site, judge, problem, State(ranked=(SOLVERS,)) if is_tied else None)
            if judge in HASTY:
                spend(site, judge, problem, 30, {SOLVERS[0]: 20, SOLVERS[1]: 1.5})
            else:
                spend(site, judge, problem, 4_000, dict.fromkeys(SOLVERS, 800))
    yield site
    site.store.close()


def spend(site: Site, judge: str, problem: str, seconds: float, views: Mapping[str, float]) -> None:
    """Let a judge have spent time, as the server would have counted it by now."""
    with site.store.write() as c:
        key = person_named(c, site.id, "judge", judge).key
        [ballot] = [one for one in tasks_of(c, key) if one.problem == problem]
        values = {"seconds": seconds, "views": dict(views)}
        c.execute(update(TaskRow).where(TaskRow.key == ballot.key).values(**values))


def test_numbers_counted_again(site: Site) -> None:
    """Each number is that of another way to compute it."""
    with site.store.read() as c:
        rankings = submitted_rankings(c, site.id)
    found = {one.judge: one for one in care_of(rankings, site.solutions.by_problem)}
    for judge in (*HASTY, *HONEST):
        own, care = [one for one in rankings if one.judge == judge], found[judge]
        taus = []
        for one in own:
            # Ranks count from the worst, so that shown first and ranked best have opposite signs.
            ranks = [-one.state.ranks()[solver] for solver in one.queue]  # type: ignore[operator]
            if len(set(ranks)) > 1:
                taus.append(stats.kendalltau(range(len(ranks)), ranks).statistic)
        share = (sum(taus) / len(taus) + 1) / 2
        assert care.as_shown == pytest.approx(share)
        assert care.expected == pytest.approx(4 * 3600, rel=1e-9)
        assert care.tied == (judge == "J4")
        hasty = judge in HASTY
        assert (care.seconds, care.opened, care.n) == ((60, 4, 10) if hasty else (8_000, 10, 10))
        assert care.fast == (0.8 if hasty else 0)


def test_who_is_warned_of(site: Site) -> None:
    """Those who cannot have read it, by what was observed; the estimate is that of all judges."""
    set_life(site, "closed")
    result = analyze(load_study(site.path, kind="experience"))
    hasty = [one.message for one in result.warnings if one.code == "hasty-judge"]
    words = "opened 4 of 10 solutions and spent 1 minute; reading them takes about 4 hours"
    assert [message.split(".")[0] for message in hasty] == [f"{judge} {words}" for judge in HASTY]
    rows = result.to_dict()["judging"]
    assert [(row["judge"], row["minutes"], row["opened"]) for row in rows[:3]] == [
        (judge, 1, 4) for judge in HASTY
    ]
    assert "How the judging was done" in result.to_html()
    # Beside each judge stands the estimate of a study without them.
    ranks, people = result.study.rankings, result.averages.query("kind == 'subject'")
    assert ranks is not None
    years = people.set_index("solver")["experience"].to_dict()
    for _, row in result.table("judging").iterrows():
        left = study(ranks[ranks["judge"] != row["judge"]], people=years, systems=[SYSTEM])
        (paper,) = analyze(left).estimates["paper_experience"]
        assert row["without"] == f"{paper:.1f}"
    # Under pseudonyms, rows and warnings are of the same judges.
    hidden = analyze(load_study(site.path, pseudonyms=True))
    named = {one.message.split()[0] for one in hidden.warnings if one.code == "hasty-judge"}
    assert {row["judge"] for row in hidden.to_dict()["judging"] if row["minutes"] == 1} == named


def test_the_dashboard(site: Site) -> None:
    """It shows times and what was opened at once, and nothing of the order before it is shown."""
    dashboard = enter_dashboard(create_app(site), site)
    page = dashboard.get("/dashboard/judges/invitations").text
    assert page.count("opened 4 of 10 solutions") == len(HASTY)
    assert page.count("80% placed in under 2 s") == len(HASTY)
    assert page.count("reading them once: 4 h 00 min") == len(HASTY + HONEST)
    assert "in the order shown" not in page
    set_life(site, "closed")
    assert dashboard.get("/dashboard/judges/invitations").text.count("in the order shown") == len(
        HASTY + HONEST
    )
