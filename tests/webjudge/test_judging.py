"""What the server takes from a judge's page, and what it refuses."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Any

import pytest
from scipy.stats import binomtest
from sqlalchemy import update

from quem.store import studies
from quem.store.models import TaskRow, now
from quem.store.people import issue_link, person_named, revoke_link
from quem.store.work import current_state, tasks_of
from tests.served import all_ranked, number_of, write_judging_study
from tests.webjudge.sites import SUBJECTS, SYSTEM, enter_as, write_site
from webjudge import create_app, open_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flask import Flask
    from flask.testing import FlaskClient
    from werkzeug.test import TestResponse

    from webjudge import Site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A study that is judged."""
    site = open_site(write_judging_study(tmp_path, judging="{repeat: 1}"))
    yield site
    site.store.close()


@pytest.fixture
def app(site: Site) -> Flask:
    """The app of that study."""
    return create_app(site)


def enter(app: Flask, site: Site, judge_id: str = "J0") -> FlaskClient:
    """Open a judge's link."""
    with site.store.write() as c:
        token = issue_link(c, person_named(c, site.id, "judge", judge_id), "shell")
    client = app.test_client()
    answer = client.get(f"/j/{token}")
    assert (answer.status_code, answer.location) == (303, "/judge")
    return client


def gids(client: FlaskClient) -> list[str]:
    """The groups that the first page links to."""
    page = client.get("/judge").text.partition('class="groups"')[2]
    return list(dict.fromkeys(re.findall(r"/judge/g/([\w-]+)", page)))


def listed(client: FlaskClient) -> list[tuple[str, ...]]:
    """Class, name and state of each group in the list."""
    row = r'<li class="(\S*)".*?class="name">(.*?)</span>.*?class="state">(.*?)</span>'
    page = client.get("/judge").text.partition('class="groups"')[2]
    return re.findall(row, page, re.DOTALL)


def data_of(client: FlaskClient, gid: str) -> dict[str, Any]:
    """What the ranking page carries for its script."""
    import json

    page = client.get(f"/judge/g/{gid}").text
    match = re.search(r'<script[^>]*id="group-data"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert match
    data: dict[str, Any] = json.loads(match[1])
    return data


def put(browser: FlaskClient, gid: str, **changes: Any) -> TestResponse:  # noqa: ANN401
    """Save, with parts of the message replaced."""
    data = data_of(browser, gid)
    body = {
        "base": 0,
        "client": "tab-12345678",
        "change": 1,
        "layout": data["layout"],
        "state": all_ranked(data["labels"]),
        "seconds": 1.5,
        "submit": False,
        **changes,
    }
    if body["base"] == number_of(data):
        body["base"] = data["revision"]
    return browser.put(f"/judge/g/{gid}/state", json=body)


def test_save_submit_reopen(app: Flask, site: Site) -> None:
    """A ranking is saved, submitted, refused while submitted, reopened and saved again."""
    client = enter(app, site)
    gid, other = gids(client)[:2]
    assert number_of(put(client, gid).get_json()) == 1
    submitted = put(client, gid, base=1, change=2, submit=True).get_json()
    assert (number_of(submitted), submitted["submitted"]) == (2, True)
    assert data_of(client, gid)["receipt"]["code"] == submitted["receipt"]
    assert submitted["next"].endswith(other)
    refused = put(client, gid, base=2, change=3)
    assert (refused.status_code, refused.get_json()["error"]) == (403, "submitted")
    layout = data_of(client, gid)["layout"]
    again = {
        "base": data_of(client, gid)["revision"],
        "client": "tab-12345678",
        "change": 4,
        "layout": layout,
    }
    reopened = client.post(f"/judge/g/{gid}/reopen", json=again)
    assert number_of(reopened.get_json()) == 3
    assert number_of(put(client, gid, base=3, change=5).get_json()) == 4


def test_stale_saves_are_told_and_offered_the_newer_state(app: Flask, site: Site) -> None:
    """A second tab cannot overwrite what it has not seen."""
    client = enter(app, site)
    gid = gids(client)[0]
    names = data_of(client, gid)["labels"]
    assert put(client, gid).status_code == 200
    stale = put(client, gid, client="tab-another", state=all_ranked(names[::-1]))
    assert stale.status_code == 409
    answer = stale.get_json()
    assert answer["error"] == "stale"
    assert number_of(answer) == 1
    assert answer["state"] == all_ranked(names)
    assert data_of(client, gid)["state"] == all_ranked(names)


def test_a_retried_save_is_no_conflict(app: Flask, site: Site) -> None:
    """A save whose acknowledgement got lost is acknowledged again, and not made twice."""
    client = enter(app, site)
    gid = gids(client)[0]
    assert number_of(put(client, gid).get_json()) == 1
    assert number_of(put(client, gid).get_json()) == 1
    assert number_of(data_of(client, gid)) == 1


NAMES = ["A", "B", "C", "D", "E"]


def compared(**changes: Any) -> dict[str, Any]:  # noqa: ANN401
    """An answer on two solutions, with parts of it replaced."""
    parts = {"new": "B", "other": "A", "verdict": "worse", "side": "right", "seconds": 12.3}
    return {**parts, **changes}


def test_how_places_came_about_is_kept_with_the_order(app: Flask, site: Site) -> None:
    """Comparisons, ways, and how sure the judge is come back as they were sent, by letters."""
    client = enter(app, site)
    gid = gids(client)[0]
    answers = [compared(), compared(new="C", verdict="equal", side="left", seconds=0)]
    state = all_ranked(
        NAMES, comparisons=answers, placed_by={"B": "compare", "C": "drag"}, sure={"A": "unsure"}
    )
    assert put(client, gid, state=state).status_code == 200
    assert data_of(client, gid)["state"] == state
    ballot = ballot_of_first(site)
    assert ballot.layout is not None
    with site.store.read() as c:
        stored = current_state(c, ballot)
    assert stored.comparisons[1].solutions == tuple(map(ballot.layout.solvers.get, "CA"))


@pytest.mark.parametrize(
    "state",
    [
        None,
        [],
        {},
        {**all_ranked(NAMES), "more": 1},
        all_ranked(NAMES[:-1]),
        all_ranked([*NAMES, "F"]),
        all_ranked([*NAMES[:-1], "A"]),
        all_ranked(NAMES, tray=["A"]),
        all_ranked(NAMES, ranked=[["A", "B"], [], ["C", "D", "E"]]),
        all_ranked(NAMES, ranked=[NAMES, "x"]),
        all_ranked(NAMES, ranked=[[{}], *([n] for n in NAMES[1:])]),
        all_ranked(NAMES[1:], cannot={"A": ""}),
        all_ranked(NAMES[1:], cannot={"A": "x" * 501}),
        all_ranked(NAMES[1:], cannot=["A"]),
        all_ranked(NAMES, recognized=["Z"]),
        all_ranked(NAMES, recognized=["A", "A"]),
        all_ranked(NAMES, comments={"S1": "x"}),
        all_ranked(NAMES, comment="\0"),
        all_ranked(NAMES, comment="\ud800"),
        all_ranked(NAMES, comment=7),
        all_ranked(NAMES, comparisons=[compared(new="Z")]),
        all_ranked(NAMES, comparisons=[compared(other="B")]),
        all_ranked(NAMES, comparisons=[compared(seconds=-1)]),
        all_ranked(NAMES, comparisons=[compared(order=1)]),
        all_ranked(NAMES, placed_by={"A": "luck"}),
        all_ranked(NAMES, sure={"Z": "sure"}),
    ],
)
def test_what_is_no_state_is_refused(app: Flask, site: Site, state: object) -> None:
    """Each solution of the group exactly once, and nothing else, or it is not stored."""
    client = enter(app, site)
    gid = gids(client)[0]
    answer = put(client, gid, state=state)
    assert answer.status_code == 422
    assert answer.get_json()["error"] == "invalid"
    assert number_of(data_of(client, gid)) == 0


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"base": -1}, 409),
        ({"base": True}, 422),
        ({"base": "0-0123456789ab"}, 409),
        ({"base": {}}, 422),
        ({"change": -1}, 422),
        ({"change": True}, 422),
        ({"change": 2**40}, 422),
        ({"change": 1.5}, 422),
        ({"client": "short"}, 422),
        ({"client": "no spaces, please"}, 422),
        ({"client": None}, 422),
        ({"submit": "yes"}, 422),
        ({"seconds": -1}, 422),
        ({"seconds": "1"}, 422),
        ({"seconds": float("nan")}, 422),
        ({"seconds": 10**400}, 422),
        ({"views": {"A": -1}}, 422),
        ({"views": {"A": "1"}}, 422),
        ({"views": {"A": True}}, 422),
        ({"views": {"Z": 1}}, 422),
        ({"views": ["A"]}, 422),
        ({"views": None}, 422),
        ({"unknown": 1}, 422),
        ({"base": 7}, 409),
    ],
)
def test_what_is_no_save_is_refused(
    app: Flask, site: Site, changes: dict[str, Any], status: int
) -> None:
    """Every part of the message is checked."""
    client = enter(app, site)
    gid = gids(client)[0]
    answer = put(client, gid, **changes)
    assert answer.status_code == status
    assert answer.get_json()["message"]
    assert number_of(data_of(client, gid)) == 0


def test_submitting_needs_an_empty_tray(app: Flask, site: Site) -> None:
    """What is not ranked, and can be judged, is missing."""
    client = enter(app, site)
    gid = gids(client)[0]
    tray = all_ranked(NAMES[1:], tray=["A"])
    assert put(client, gid, state=tray, submit=True).status_code == 422
    cannot = all_ranked(NAMES[1:], cannot={"A": "It is empty."})
    assert put(client, gid, state=cannot, submit=True).status_code == 200


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{", "application/json", 422),
        (b"{}", "text/plain", 415),
        (b"[]", "application/json", 422),
        (b"x" * (2 << 20), "application/json", 413),
    ],
)
def test_bodies_that_are_no_json_are_refused(
    app: Flask, site: Site, body: bytes, kind: str, status: int
) -> None:
    """Broken, foreign and oversized bodies have clear answers."""
    client = enter(app, site)
    gid = gids(client)[0]
    answer = client.put(f"/judge/g/{gid}/state", data=body, content_type=kind)
    assert answer.status_code == status
    assert answer.get_json()["message"]


def test_another_judges_group_is_not_there(app: Flask, site: Site) -> None:
    """With the address of another judge's group one gets 404, whatever one asks."""
    mine, yours = enter(app, site, "J0"), enter(app, site, "J1")
    gid = gids(yours)[0]
    layout = data_of(yours, gid)["layout"]
    body = {"base": 0, "client": "tab-12345678", "change": 1, "layout": layout}
    full = {**body, "state": all_ranked(NAMES), "submit": False}
    assert mine.get(f"/judge/g/{gid}").status_code == 404
    assert mine.get(f"/judge/g/{gid}/file/{'0' * 32}").status_code == 404
    assert mine.put(f"/judge/g/{gid}/state", json=full).status_code == 404
    assert mine.post(f"/judge/g/{gid}/reopen", json=body).status_code == 404
    assert mine.post(f"/judge/g/{gid}/time", json={"seconds": 1}).status_code == 404
    assert number_of(data_of(yours, gid)) == 0


def test_a_closed_study_takes_nothing(app: Flask, site: Site) -> None:
    """After closing, saving is refused, and the page can still be read."""
    client = enter(app, site)
    gid = gids(client)[0]
    assert put(client, gid).status_code == 200
    with site.store.write() as c:
        studies.set_state(c, site.id, "closed", "shell")
    refused = put(client, gid, base=1, change=2)
    assert (refused.status_code, refused.get_json()["error"]) == (403, "closed")
    data = data_of(client, gid)
    assert (data["closed"], number_of(data)) == (True, 1)


def test_a_revoked_link_ends_at_once(app: Flask, site: Site) -> None:
    """Pages and saves of a judge without a valid link are refused with 401."""
    client = enter(app, site)
    gid = gids(client)[0]
    layout = data_of(client, gid)["layout"]
    with site.store.write() as c:
        revoke_link(c, person_named(c, site.id, "judge", "J0"), "shell")
    assert client.get("/judge").status_code == 401
    body = {"base": 0, "client": "tab-12345678", "change": 1, "layout": layout, "submit": False}
    answer = client.put(f"/judge/g/{gid}/state", json={**body, "state": all_ranked(NAMES)})
    assert (answer.status_code, answer.get_json()["error"]) == (401, "link")


def test_links_are_not_used_up_and_work_on_several_devices(app: Flask, site: Site) -> None:
    """A scanner that opens the link takes nothing from the judge."""
    with site.store.write() as c:
        token = issue_link(c, person_named(c, site.id, "judge", "J0"), "shell")
    for _ in range(3):
        device = app.test_client()
        assert device.get(f"/j/{token}").status_code == 303
        assert device.get("/judge").status_code == 200
    assert app.test_client().get("/j/" + token[:-1]).status_code == 404


def test_order_and_labels_stay(app: Flask, site: Site) -> None:
    """A judge who comes back finds his groups and labels as they were."""
    client = enter(app, site)
    order = gids(client)
    pages = [data_of(client, gid) for gid in order]
    again = enter(app, site)
    assert gids(again) == order
    assert [data_of(again, gid) for gid in order] == pages


def test_repeated_groups_come_when_all_others_are_submitted(app: Flask, site: Site) -> None:
    """Until then they have neither address nor title; then they look like all others."""
    client = enter(app, site)
    first = gids(client)
    assert len(first) == 2
    rows = listed(client)
    assert rows[2] == ("is-new", "Task 3", "Unlocks after the other tasks")
    keys = [set(data_of(client, gid)) for gid in first]
    for change, gid in enumerate(first):
        answer = put(client, gid, change=change, submit=True)
        assert answer.status_code == 200
    last = gids(client)
    assert len(last) == 3
    assert listed(client)[2][:2] == ("is-new", rows[0][1].replace("Task 1", "Task 3"))
    page = client.get(f"/judge/g/{last[2]}").text
    assert not re.search("again|repeat|occasion", page)
    assert set(data_of(client, last[2])) == keys[0]
    assert answer.get_json()["next"].endswith(last[2])
    assert put(client, last[2], change=9, submit=True).get_json()["next"] == "/judge/done"
    assert "done" in client.get("/judge/done").request.path


def test_working_time_is_no_longer_than_the_group_was_open(app: Flask, site: Site) -> None:
    """A page that claims hours after a second is not believed."""
    client = enter(app, site)
    gid = gids(client)[0]
    data_of(client, gid)
    assert client.post(f"/judge/g/{gid}/time", json={"seconds": 7200}).status_code == 204
    assert 0 < ballot_of_first(site).seconds < 60


def ballot_of_first(site: Site) -> TaskRow:
    """The first judge's first ballot."""
    with site.store.read() as c:
        return tasks_of(c, person_named(c, site.id, "judge", "J0").key)[0]


def opened_an_hour_ago(site: Site) -> None:
    """Let all groups have been open for an hour."""
    with site.store.write() as c:
        c.execute(update(TaskRow).values(opened_at=now() - dt.timedelta(hours=1)))


def test_time_in_view_comes_with_saves_and_reports(app: Flask, site: Site) -> None:
    """Both ways add up by letter, and the page is told; a save that is repeated adds nothing."""
    client = enter(app, site)
    gid = gids(client)[0]
    assert data_of(client, gid)["views"] == dict.fromkeys(NAMES, 0)
    opened_an_hour_ago(site)
    for _ in range(2):
        assert put(client, gid, views={"A": 2.5, "B": 1}).status_code == 200
    assert put(client, gid, base=1, change=2).status_code == 200
    for seconds, views in ((1, {"B": 0.5, "C": 0}), (0, {"E": 4}), (2, {})):
        body = {"seconds": seconds, "views": views}
        assert client.post(f"/judge/g/{gid}/time", json=body).status_code == 204
    assert data_of(client, gid)["views"] == {"A": 2.5, "B": 1.5, "C": 0, "D": 0, "E": 4}
    ballot = ballot_of_first(site)
    assert ballot.seconds == 2 * 1.5 + 3
    assert ballot.layout is not None
    assert ballot.views[ballot.layout.solvers["E"]] == 4
    for wrong in ({"Z": 1}, {"A": -1}, [1], {"S1": 1}):
        answer = client.post(f"/judge/g/{gid}/time", json={"seconds": 9, "views": wrong})
        assert (answer.status_code, answer.get_json()["error"]) == (422, "invalid")
    assert ballot_of_first(site).seconds == 6


def test_sides_are_fair(tmp_path: Path) -> None:
    """Over judges and tasks each side, and each of two middle groups, comes half the time."""
    study = write_judging_study(tmp_path, problems=6, solvers=8, judges=6)
    site = open_site(study)
    app = create_app(site)
    met = []
    for judge in range(6):
        client = enter_as(app, site, f"J{judge}")
        for gid in gids(client):
            chance = data_of(client, gid)["chance"]
            assert data_of(client, gid)["chance"] == chance, "fixed for judge, task, and solution"
            met.append([(one["side"], one["lower"]) for one in chance.values()])
    site.store.close()
    flat = [one for task in met for one in task]
    for count in (sum(side == "left" for side, _ in flat), sum(lower for _, lower in flat)):
        assert binomtest(count, len(flat)).pvalue > 1e-6
    assert len({tuple(task) for task in met}) > 30, "tasks differ"


def test_rows_are_named_by_the_first_words_that_differ(tmp_path: Path) -> None:
    """A heading or form that solutions share is no name; others keep how they begin."""
    path = write_site(tmp_path, problems=1, judging="{}")
    group = tmp_path / "solutions" / "P1"
    texts = {
        SUBJECTS[0]: "# Cooling plan for hall 2\n\nMove the racks.\n",
        SUBJECTS[1]: "# Cooling plan for hall 2\n\nBuy a fan.\n",
        SUBJECTS[2]: "Wait and see.\n",
        SUBJECTS[3]: "# Plan\n\nOpen a window.\n",
        SYSTEM: "# Plan\n\nClose it.\n",
    }
    for solver, text in texts.items():
        (group / f"{solver}.md").write_text(text)
    site = open_site(path)
    app = create_app(site)
    client = enter_as(app, site, "J1")
    rows = data_of(client, gids(client)[0])["solutions"].values()
    assert {row["snippet"] for row in rows} == {
        *("… Move the racks.", "… Buy a fan.", "Wait and see."),
        *("… Open a window.", "… Close it."),
    }
    site.store.close()
