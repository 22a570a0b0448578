"""What the server takes from a judge's page, and what it refuses."""

from __future__ import annotations

import datetime as dt
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from scipy.stats import binomtest
from sqlalchemy import select, update

import quem
from quem.store.exporting import submitted_rankings
from quem.store.living import effect_warning
from quem.store.models import Layout, RevisionRow, TaskRow, now
from quem.store.people import person_named, revoke_link
from quem.store.studies import set_state
from quem.store.work import tasks_of
from tests.served import all_ranked, number_of, write_judging_study
from tests.webjudge.sites import (
    SUBJECTS,
    audited,
    data_in,
    data_of,
    enter_as,
    enter_dashboard,
    everybody,
    gids,
    put,
    set_life,
    write_site,
)
from webjudge import create_app, open_site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from flask import Flask
    from flask.testing import FlaskClient

    from quem.errors import StudyWarning
    from webjudge import Site


NAMES = ["A", "B", "C", "D", "E"]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A study that is judged, of two problems, one of which comes again."""
    site = open_site(write_judging_study(tmp_path, judging="{repeat: 1}"))
    yield site
    site.store.close()


@pytest.fixture
def judge(app: Flask, site: Site) -> FlaskClient:
    return enter_as(app, site, "J0")


def test_what_is_no_save_is_refused(judge: FlaskClient) -> None:
    gid = gids(judge)[0]
    wrong: list[tuple[dict[str, Any], int]] = [
        ({"state": all_ranked(NAMES, answers={"clear": {"S1": "3"}})}, 422),
        ({"state": all_ranked(NAMES[:-1])}, 422),
        ({"submit": True, "state": all_ranked(NAMES[1:], tray=["A"])}, 422),
        *(({"base": base}, 409) for base in (-1, 7, "0-0123456789ab")),
        ({"base": True}, 422),
        ({"base": {}}, 422),
        *(({"change": change}, 422) for change in (-1, True, 2**40, 1.5)),
        *(({"client": client}, 422) for client in ("short", "no spaces, please", None)),
        *(({"seconds": seconds}, 422) for seconds in (-1, "1", float("nan"), 10**400)),
        *(({"views": {"A": value}}, 422) for value in (-1, "1", True)),
        *(({"views": views}, 422) for views in ({"Z": 1}, ["A"], None)),
        ({"submit": "yes"}, 422),
        ({"unknown": 1}, 422),
    ]
    data = data_of(judge, gid)
    body = {"base": data["revision"], "client": "tab-12345678", "change": 1, "submit": False}
    body |= {"layout": data["layout"], "state": all_ranked(NAMES), "seconds": 1.5}
    for changes, status in wrong:
        answer = judge.put(f"/judge/g/{gid}/state", json=body | changes)
        assert answer.status_code == status, changes
        assert answer.get_json()["message"]
    assert number_of(data_of(judge, gid)) == 0
    for _ in range(2):  # a retry is no conflict
        assert number_of(put(judge, gid).get_json()) == 1
    cannot = all_ranked(NAMES[1:], cannot={"A": "It is empty."})
    assert put(judge, gid, base=1, change=2, state=cannot, submit=True).status_code == 200
    refused = put(judge, gid, base=2, change=3)
    assert (refused.status_code, refused.get_json()["error"]) == (403, "submitted")


def test_another_judges_group_is_not_there(app: Flask, site: Site, judge: FlaskClient) -> None:
    yours = enter_as(app, site, "J1")
    gid = gids(yours)[0]
    body = {"base": 0, "client": "tab-12345678", "change": 1}
    body["layout"] = data_of(yours, gid)["layout"]
    full = {**body, "state": all_ranked(NAMES), "submit": False}
    path = f"/judge/g/{gid}"
    for answer in (
        judge.get(path),
        judge.get(f"{path}/file/{'0' * 32}"),
        judge.put(f"{path}/state", json=full),
        judge.post(f"{path}/reopen", json=body),
        judge.post(f"{path}/time", json={"seconds": 1}),
    ):
        assert answer.status_code == 404
    assert number_of(data_of(yours, gid)) == 0


def test_a_study_that_is_not_open_and_a_revoked_link_take_nothing(
    judge: FlaskClient, site: Site
) -> None:
    """The page can still be read; without a valid link nothing can."""
    gid = gids(judge)[0]
    assert put(judge, gid).status_code == 200
    for number, state in enumerate(("paused", "closed"), 1):
        set_life(site, "open")
        assert put(judge, gid, base=number, change=2 * number).status_code == 200
        with site.store.write() as c:
            set_state(c, site.id, state, "shell", "Monday, 9:00")  # type: ignore[arg-type]
        refused = put(judge, gid, base=number + 1, change=2 * number + 1)
        told = refused.get_json()
        assert (refused.status_code, told["error"]) == (403, state)
        assert (told.get("until") == "Monday, 9:00") == (state == "paused")
        assert number_of(data_of(judge, gid)) == number + 1
    assert data_of(judge, gid)["closed"]
    with site.store.write() as c:
        revoke_link(c, person_named(c, site.id, "judge", "J0"), "shell")
    assert judge.get("/judge").status_code == 401
    answer = judge.put(f"/judge/g/{gid}/state", json={})
    assert (answer.status_code, answer.get_json()["error"]) == (401, "link")


def test_repeated_groups_come_when_all_others_are_submitted(judge: FlaskClient) -> None:
    """Until then they have neither address nor title; then they look like all others."""

    def listed() -> list[tuple[str, ...]]:
        row = r'<li class="(\S*)".*?class="name">(.*?)</span>.*?class="state">(.*?)</span>'
        page = judge.get("/judge").text.partition('class="groups"')[2]
        return re.findall(row, page, re.DOTALL)

    first, rows = gids(judge), listed()
    assert rows[2] == ("is-new", "Task 3", "Unlocks after the other tasks")
    keys = set(data_of(judge, first[0]))
    for change, gid in enumerate(first):
        answer = put(judge, gid, change=change, submit=True).get_json()
    assert gids(judge)[:2] == first
    last = gids(judge)[2]
    assert listed()[2][:2] == ("is-new", rows[0][1].replace("Task 1", "Task 3"))
    assert not re.search("again|repeat|occasion", judge.get(f"/judge/g/{last}").text)
    assert set(data_of(judge, last)) == keys
    assert answer["next"].endswith(last)
    assert put(judge, last, change=9, submit=True).get_json()["next"] == "/judge/done"


def opened_an_hour_ago(site: Site) -> None:
    with site.store.write() as c:
        c.execute(update(TaskRow).values(opened_at=now() - dt.timedelta(hours=1)))


def test_time_in_view_comes_with_saves_and_reports(judge: FlaskClient, site: Site) -> None:
    """Both ways add up by letter, and the page is told; a save that is repeated adds nothing."""
    gid = gids(judge)[0]
    assert data_of(judge, gid)["views"] == dict.fromkeys(NAMES, 0)

    def report(seconds: float, views: object) -> int:
        body = {"seconds": seconds, "views": views}
        return judge.post(f"/judge/g/{gid}/time", json=body).status_code

    opened_an_hour_ago(site)
    for _ in range(2):
        assert put(judge, gid, views={"A": 2.5, "B": 1}).status_code == 200
    assert put(judge, gid, base=1, change=2).status_code == 200
    for seconds, views in ((1, {"B": 0.5, "C": 0}), (0, {"E": 4}), (2, {})):
        assert report(seconds, views) == 204
    for wrong in ({"Z": 1}, {"A": -1}, [1], {"S1": 1}):
        assert report(9, wrong) == 422
    assert data_of(judge, gid)["views"] == {"A": 2.5, "B": 1.5, "C": 0, "D": 0, "E": 4}
    with site.store.read() as c:
        ballot = tasks_of(c, everybody(site)["J0"].key)[0]
    assert ballot.seconds == pytest.approx(2 * 1.5 + 3)
    assert ballot.layout is not None
    assert ballot.views[ballot.layout.solvers["E"]] == 4
    # Never more than passed since the page was opened.
    assert report(1e9, {"D": 1e9}) == 204
    assert 3600 <= data_of(judge, gid)["views"]["D"] < 7200


def test_sides_are_fair(tmp_path: Path, opened: Callable[[Path], Site]) -> None:
    """Over judges and tasks each side, and each of two middle groups, comes half the time."""
    site = opened(write_judging_study(tmp_path, problems=6, solvers=8, judges=6))
    app, met, first = create_app(site), [], set()
    for judge in range(6):
        client = enter_as(app, site, f"J{judge}")
        for gid in gids(client):
            page = client.get(f"/judge/g/{gid}").text
            first.update(re.findall(r"thing number (\d)", page)[:1])
            chance = data_in(page)["chance"]
            assert data_of(client, gid)["chance"] == chance, "fixed for judge, task, and solution"
            met.append([(one["side"], one["lower"]) for one in chance.values()])
    flat = [one for task in met for one in task]
    for count in (sum(side == "left" for side, _ in flat), sum(lower for _, lower in flat)):
        assert binomtest(count, len(flat)).pvalue > 1e-6
    assert len({tuple(task) for task in met}) > 30, "tasks differ"
    assert len(first) > 4, "and so do the orders in which solutions are shown"


def test_rows_are_named_by_the_first_words_that_differ(
    tmp_path: Path, opened: Callable[[Path], Site]
) -> None:
    """A heading that solutions share is no name; others keep how they begin."""
    path = write_site(tmp_path, problems=1, judging="{}")
    for solver, words in zip(SUBJECTS, ("Move the racks.", "Buy a fan."), strict=False):
        text = f"# Cooling plan for hall 2\n\n{words}\n"
        (tmp_path / "solutions" / "P1" / f"{solver}.md").write_text(text)
    site = opened(path)
    client = enter_as(create_app(site), site, "J1")
    rows = {row["snippet"] for row in data_of(client, gids(client)[0])["solutions"].values()}
    assert {"… Move the racks.", "… Buy a fan.", "Wait 2 days, then act."} < rows


def test_a_judge_sees_parts_of_a_problem(tmp_path: Path, opened: Callable[[Path], Site]) -> None:
    path = write_judging_study(tmp_path, judging="{repeat: 1}")
    path.write_text(path.read_text() + "design: {block_size: 3}\n")
    site = opened(path)
    app = create_app(site)
    for name in ("J1", "J0"):
        judge = enter_as(app, site, name)
        page = judge.get("/judge").text.partition('class="groups"')[2]
        titles = [one.partition(": ")[2] for one in re.findall(r'class="name">(.*?)</span>', page)]
        problems = [title.partition(",")[0] for title in titles[:4:2]]
        assert sorted(problems) == ["Problem 0", "Problem 1"]
        assert titles[:4] == [f"{problem}, part {n} of 2" for problem in problems for n in (1, 2)]
        assert titles[4] == "", "which part comes again is not said before it can be opened"
        assert {len(data_of(judge, gid)["labels"]) for gid in gids(judge)} == {3}
    done: set[str] = set()
    while waiting := [gid for gid in gids(judge) if gid not in done]:
        assert put(judge, waiting[0], submit=True).status_code == 200
        done.add(waiting[0])
    set_life(site, "open")
    set_life(site, "closed")
    frame = quem.load_study(path, kind="experience").rankings
    assert frame is not None
    for _, ranks in frame[frame["occasion"] == 1].groupby(["judge", "problem"], observed=True):
        assert sorted(ranks["block"]) == [1, 1, 1, 2, 2, 2]
        assert ranks["solver"].nunique() == 5
    assert len(frame[frame["occasion"] == 2]) == 3


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return write_judging_study(tmp_path, problems=1)


@contextmanager
def visited(study: Path, judge: str = "J0") -> Iterator[tuple[Site, FlaskClient]]:
    site = open_site(study)
    try:
        yield site, enter_as(create_app(site), site, judge)
    finally:
        site.store.close()


def edit(study: Path, old: str, new: str) -> None:
    text = study.read_text()
    assert old in text
    study.write_text(text.replace(old, new))


def solution(study: Path, solver: str) -> Path:
    return study.parent / "solutions" / "P0" / f"{solver}.md"


def order_of(site: Site) -> list[list[str]]:
    with site.store.read() as c:
        of_task = TaskRow.key == RevisionRow.task_key, TaskRow.head == RevisionRow.number
        mine = TaskRow.person_key == everybody(site)["J0"].key
        state = c.execute(
            select(RevisionRow.state).join(TaskRow, of_task[0]).where(of_task[1], mine)
        )
        return list(state.scalar_one()["ranked"])


def test_a_submitted_ranking_is_kept_and_asks_for_the_new_one_only(study: Path) -> None:
    """It still counts, is marked, and shows the judge's order with one solution to place."""
    with visited(study) as (site, client):
        (gid,) = gids(client)
        assert put(client, gid, submit=True).status_code == 200
        order = order_of(site)
    edit(study, "systems:", "systems:\n  - {id: atlas-3}")
    solution(study, "atlas-3").write_text("Do thing number ten.\n")
    with visited(study) as (site, client):
        assert "1 new solution to place" in client.get("/judge").text
        data = data_of(client, gid)
        ranked = [[name] for name in data["labels"][:-1]]
        assert (data["state"]["tray"], data["state"]["ranked"]) == (["F"], ranked)
        assert (number_of(data), data["submitted"]) == (1, False)
        with site.store.read() as c:
            (still,) = submitted_rankings(c, site.id)
        assert [list(group) for group in still.state.ranked] == order
        state = data["state"] | {"ranked": [["F"], *ranked], "tray": []}
        assert put(client, gid, base=1, change=2, state=state, submit=True).status_code == 200
        assert order_of(site) == [["atlas-3"], *order]
        assert "to place" not in client.get("/judge").text


def test_a_solution_that_goes_stays_in_submitted_rankings(study: Path) -> None:
    """One in progress loses it; one that is submitted stays as it is, until it is reopened."""
    with visited(study) as (site, client):
        (gid,) = gids(client)
        names = data_of(client, gid)["labels"]
        put(client, gid, submit=True)
        other = enter_as(client.application, site, "J1")
        put(other, gids(other)[0])
        order = order_of(site)
    edit(study, "  - {id: S3, experience: 3}\n", "")
    solution(study, "S3").unlink()
    with visited(study) as (site, client):
        data = data_of(client, gid)
        assert (data["submitted"], data["labels"]) == (True, names)
        assert order_of(site) == order
        other = enter_as(client.application, site, "J1")
        assert len(data_of(other, gids(other)[0])["labels"]) == 4
        # What its page of before was looked at counts, also under the letter that is gone.
        opened_an_hour_ago(site)
        views = dict.fromkeys(names, 2)
        path = f"/judge/g/{gids(other)[0]}/time"
        assert other.post(path, json={"seconds": 9, "views": views}).status_code == 204
        with site.store.read() as c:
            (mine,) = tasks_of(c, everybody(site)["J1"].key)
        assert mine.views == dict.fromkeys(("S0", "S1", "S2", "S3", "sys"), 2)
        body = {"base": data["revision"], "client": "tab-12345678", "change": 2}
        body["layout"] = data["layout"]
        assert client.post(f"/judge/g/{gid}/reopen", json=body).status_code == 200
        assert len(data_of(client, gid)["labels"]) == 4
        assert ["S3"] in order_of(site)


def test_a_changed_solution_is_new_and_a_correction_is_not(study: Path) -> None:
    """What an organizer says is the same keeps letter and place; both digests are kept."""
    with visited(study) as (_, client):
        (gid,) = gids(client)
        page = data_of(client, gid)
        put(client, gid, submit=True)
    solution(study, "S2").write_text("Do thing number two.\n")
    with visited(study) as (site, client):
        (doubt,) = [one for one in effects(site) if one.code == "session-changed"]
        assert "1 judge for 1 placement, 1 of them in submitted rankings" in doubt.message
        set_life(site, "open")
        digest = say(site, "same")
    with visited(study) as (site, client):
        assert [one.message[:13] for one in effects(site)] == ["the corrected"]
        now = data_of(client, gid)
        assert (now["submitted"], now["contents"]) == (True, page["contents"])
        assert "Do thing number two." in client.get(f"/judge/g/{gid}").text
        with site.store.read() as c:
            layouts = c.execute(select(Layout.rows).order_by(Layout.key)).scalars().all()
        old, new = (item[2] for items in layouts for item in items if item[1] == "S2")
        assert (new, old != digest) == (digest, True)
    solution(study, "S2").write_text("Do something else.\n")
    with visited(study) as (site, client):
        assert say(site, "new") != digest
        assert [one.message[:11] for one in effects(site)] == ["the changed"]
        assert len(set(data_of(client, gid)["labels"]) - set(page["labels"])) == 1
    solution(study, "S2").write_text("Do thing number two.\n")
    with visited(study) as (_, client):
        # Once shown as a correction, it keeps its letter: letters never change.
        assert set(data_of(client, gid)["labels"]) == set(page["labels"])


@pytest.mark.parametrize("submit", [False, True])
def test_a_correction_gives_the_letter_back(study: Path, *, submit: bool) -> None:
    """To a judge who met a new letter before the answer, unless they ranked on with that."""
    with visited(study) as (site, client):
        other = enter_as(client.application, site, "J1")
        tasks = [(judge, gids(judge)[0]) for judge in (client, other)]
        for judge, gid in tasks:
            assert put(judge, gid, submit=submit).status_code == 200
        set_life(site, "open")
        (_, gid), (_, others) = tasks
        before = data_of(client, gid)
        solution(study, "S2").write_text("Do thing number two.\n")
        met = [data_of(judge, gid) for judge, gid in tasks]
        assert [len(one["state"]["tray"]) for one in met] == [1, 1]
        assert put(other, others, base=1, change=2).status_code == 200
        say(site, "same")
        after = data_of(client, gid)
        for part in ("contents", "state", "submitted"):
            assert after[part] == before[part], part
        assert "Do thing number two." in client.get(f"/judge/g/{gid}").text
        if not submit:
            assert put(client, gid, base=1, change=2).status_code == 200
        assert data_of(other, others)["contents"] == met[1]["contents"]


def say(site: Site, answer: str) -> str:
    """Answer what the page of S2 asks, as an organizer; gives the digest of what it is now."""
    dashboard = enter_dashboard(create_app(site), site)
    listed = dashboard.get("/dashboard/solutions").text
    assert "changed: the same solution?" in listed
    [page] = re.findall('href="([^"]+)">S2 on P0<', listed)
    (digest,) = set(re.findall(r'name="digest" value="(\w+)"', dashboard.get(page).text))
    form = {"solution": page.rpartition("/")[2], "answer": answer}
    same = "/dashboard/solutions/same"
    assert dashboard.post(same, data={**form, "digest": "0"}).status_code == 422
    assert dashboard.post(same, data={**form, "digest": digest}).location.startswith(page)
    assert "Is this the same solution?" not in dashboard.get(page).text
    return str(digest)


def test_a_missing_file_is_a_plain_page_and_an_alert(study: Path) -> None:
    with visited(study) as (site, client):
        (gid,) = gids(client)
        solution(study, "S1").unlink()
        for _ in range(2):
            answer = client.get(f"/judge/g/{gid}")
            assert answer.status_code == 503
            assert "cannot be shown right now" in answer.text
            assert "S1" not in answer.text
        assert client.get("/judge").status_code == 200
        assert site.unreadable() == ["S1 on P0"]
        missing = [event.detail for event in audited(site, "solution-missing")]
        assert missing == [{"problem": "P0", "solver": "S1"}]


def effects(site: Site) -> list[StudyWarning]:
    with site.store.read() as c:
        return [effect_warning(effect) for effect in site.effects(c)]
