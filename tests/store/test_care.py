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
    from collections.abc import Iterator

    from webjudge import Site

HASTY, HONEST = ("J1", "J2", "J3"), ("J4", "J5", "J6")
JUDGES, SOLVERS = (*HASTY, *HONEST), (*SUBJECTS, SYSTEM)
WORDS = 5_520  # 24 minutes; 4 hours for the ten solutions


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Three scripts that "read" four hours of text in a minute, and three who read it."""
    folder = tmp_path_factory.mktemp("care")
    site = make_site(folder, judges=JUDGES, judging="{repeat: 0}")
    for path in folder.glob("solutions/*/*.md"):
        path.write_text("word " * WORDS)
    set_life(site, "open")
    for judge in JUDGES:
        for problem in ("P1", "P2"):
            is_tied = (judge, problem) == ("J4", "P1")
            rank(site, judge, problem, State(ranked=(SOLVERS,)) if is_tied else None)
        # As the server would have counted it by now.
        spent = 4_000, dict.fromkeys(SOLVERS, 800.0)
        if judge in HASTY:
            spent = 30, {SOLVERS[0]: 20.0, SOLVERS[1]: 1.5}
        with site.store.write() as c:
            keys = [one.key for one in tasks_of(c, person_named(c, site.id, "judge", judge).key)]
            mine = update(TaskRow).where(TaskRow.key.in_(keys))
            c.execute(mine.values(seconds=spent[0], views=spent[1]))
    yield site
    site.store.close()


def test_numbers_counted_again(site: Site) -> None:
    with site.store.read() as c:
        rankings = submitted_rankings(c, site.id)
    found = {one.judge: one for one in care_of(rankings, site.solutions.by_problem)}
    for judge in JUDGES:
        care, taus = found[judge], []
        for one in (one for one in rankings if one.judge == judge):
            # Ranks count from the worst, so that shown first and ranked best have opposite signs.
            ranks = [-one.state.ranks()[solver] for solver in one.queue]  # type: ignore[operator]
            if len(set(ranks)) > 1:
                taus.append(stats.kendalltau(range(len(ranks)), ranks).statistic)
        assert care.as_shown == pytest.approx((sum(taus) / len(taus) + 1) / 2)
        assert care.expected == pytest.approx(4 * 3600, rel=1e-9)
        assert care.tied == (judge == "J4")
        hasty = judge in HASTY
        assert (care.seconds, care.opened, care.n) == ((60, 4, 10) if hasty else (8_000, 10, 10))
        assert care.fast == (0.8 if hasty else 0)


def test_the_dashboard(site: Site) -> None:
    """It shows times and what was opened at once, and nothing of the order before it is shown."""
    dashboard = enter_dashboard(create_app(site), site)
    page = dashboard.get("/dashboard/judges/invitations").text
    assert page.count("opened 4 of 10 solutions") == len(HASTY)
    assert page.count("80% placed in under 2 s") == len(HASTY)
    assert page.count("reading them once: 4 h 00 min") == len(JUDGES)
    assert "in the order shown" not in page
    set_life(site, "closed")
    page = dashboard.get("/dashboard/judges/invitations").text
    assert page.count("in the order shown") == len(JUDGES)


def test_who_is_warned_of(site: Site) -> None:
    """Those who cannot have read it, by what was observed; the estimate is that of all judges."""
    set_life(site, "closed")
    result = analyze(load_study(site.path, kind="experience"))
    hasty = [one.message for one in result.warnings if one.code == "hasty-judge"]
    words = "opened 4 of 10 solutions and spent 1 minute"
    assert [message.split(";")[0] for message in hasty] == [f"{judge} {words}" for judge in HASTY]
    rows = result.to_dict()["judging"]
    assert [(row["judge"], row["minutes"], row["opened"]) for row in rows[:3]] == [
        (judge, 1, 4) for judge in HASTY
    ]
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
