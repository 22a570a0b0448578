"""A study that changes while it is judged: what judges see, and what becomes of their orders."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from quem.store.exporting import submitted_rankings
from quem.store.people import person_named
from quem.store.work import tasks_of
from tests.served import all_ranked, number_of, write_judging_study
from tests.webjudge.sites import enter_dashboard, set_life
from tests.webjudge.test_judging import data_of, enter, gids, opened_an_hour_ago, put
from webjudge import create_app, open_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flask.testing import FlaskClient

    from quem.store.models import TaskRow
    from webjudge import Site


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study of one problem and five solvers."""
    return write_judging_study(tmp_path, problems=1)


@contextmanager
def visited(study: Path, judge: str = "J0") -> Iterator[tuple[Site, FlaskClient]]:
    """A server of the study as it is now, and a judge's browser."""
    site = open_site(study)
    try:
        yield site, enter(create_app(site), site, judge)
    finally:
        site.store.close()


def edit(study: Path, old: str, new: str) -> None:
    """Change the study file."""
    text = study.read_text()
    assert old in text
    study.write_text(text.replace(old, new))


def solution(study: Path, solver: str) -> Path:
    """The file of a solver's solution."""
    return study.parent / "solutions" / "P0" / f"{solver}.md"


def ballots_of_judge(site: Site, judge: str = "J0") -> list[TaskRow]:
    """A judge's ballots."""
    with site.store.read() as c:
        return tasks_of(c, person_named(c, site.id, "judge", judge).key)


def order_of(site: Site, judge: str = "J0") -> list[list[str]]:
    """The last order that a judge saved, in solvers."""
    from sqlalchemy import select

    from quem.store.models import RevisionRow

    with site.store.read() as c:
        (ballot,) = tasks_of(c, person_named(c, site.id, "judge", judge).key)
        last = RevisionRow.task_key == ballot.key, RevisionRow.number == ballot.head
        state: dict[str, Any] = c.execute(select(RevisionRow.state).where(*last)).scalar_one()
    return list(state["ranked"])


def texts(client: FlaskClient, gid: str) -> dict[str, str]:
    """What stands under each letter: the number that each made-up solution holds."""
    import re

    page = client.get(f"/judge/g/{gid}").text
    cards = re.split(r'<template data-solution="', page)[1:]
    return {card.partition('"')[0]: re.findall(r"number (\w+)", card)[0] for card in cards}


def replace_s3(study: Path) -> None:
    """Let S9 come in the place of S3."""
    edit(study, "{id: S3, experience: 3}", "{id: S9, experience: 3}")
    solution(study, "S3").unlink()
    solution(study, "S9").write_text("Do thing number nine.\n")


def test_a_page_of_before_cannot_save_for_other_solutions(study: Path) -> None:
    """The seen case: S3 becomes S9 while a page is open, and its letters mean other solvers."""
    with visited(study) as (_, client):
        (gid,) = gids(client)
        page, before = data_of(client, gid), texts(client, gid)
    replace_s3(study)
    with visited(study) as (site, client):
        body = {"layout": page["layout"], "state": all_ranked(page["labels"])}
        for submit in (False, True):
            refused = put(client, gid, **body, submit=submit)
            assert (refused.status_code, refused.get_json()["error"]) == (409, "layout")
        now, after = data_of(client, gid), texts(client, gid)
        assert (number_of(now), now["submitted"]) == (0, False)
        gone = next(letter for letter, number in before.items() if number == "3")
        new = next(letter for letter, number in after.items() if number == "nine")
        assert new not in before
        assert after == {k: v for k, v in before.items() if k != gone} | {new: "nine"}
        # What the page was looked at until now counts, also under a letter that is gone.
        opened_an_hour_ago(site)
        report = {"seconds": 9, "views": {gone: 4, new: 2}}
        assert client.post(f"/judge/g/{gid}/time", json=report).status_code == 204
        (ballot,) = ballots_of_judge(site)
        assert ballot.views == {"S3": 4, "S9": 2}
        assert data_of(client, gid)["views"] == {**dict.fromkeys(after, 0), new: 2}
        # What stands under the same letter is told to be the same; the new one is not.
        assert {k: v for k, v in now["contents"].items() if k != new} == {
            k: v for k, v in page["contents"].items() if k != gone
        }
        assert put(client, gid, submit=True).status_code == 200
        assert sorted(s for g in order_of(site) for s in g) == ["S0", "S1", "S2", "S9", "sys"]


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
        assert data["state"]["tray"] == ["F"]
        assert data["state"]["ranked"] == [[name] for name in data["labels"][:-1]]
        assert (number_of(data), data["submitted"]) == (1, False)
        with site.store.read() as c:
            (still,) = submitted_rankings(c, site.id)
        assert [list(group) for group in still.state.ranked] == order
        state = data["state"] | {"ranked": [["F"], *data["state"]["ranked"]], "tray": []}
        assert put(client, gid, base=1, change=2, state=state, submit=True).status_code == 200
        assert order_of(site) == [["atlas-3"], *order]
        assert "to place" not in client.get("/judge").text


def test_a_solution_that_goes_stays_in_submitted_rankings(study: Path) -> None:
    """One in progress loses it; one that is submitted stays as it is, until it is reopened."""
    with visited(study) as (site, client):
        (gid,) = gids(client)
        names = data_of(client, gid)["labels"]
        put(client, gid, submit=True)
        other = enter(create_app(site), site, "J1")
        put(other, gids(other)[0])
        order = order_of(site)
    edit(study, "  - {id: S3, experience: 3}\n", "")
    solution(study, "S3").unlink()
    with visited(study) as (site, client):
        data = data_of(client, gid)
        assert (data["submitted"], data["labels"]) == (True, names)
        assert order_of(site) == order
        other = enter(create_app(site), site, "J1")
        assert len(data_of(other, gids(other)[0])["labels"]) == 4
        body = {
            "base": data["revision"],
            "client": "tab-12345678",
            "change": 2,
            "layout": data["layout"],
        }
        assert client.post(f"/judge/g/{gid}/reopen", json=body).status_code == 200
        assert len(data_of(client, gid)["labels"]) == 4
        assert ["S3"] in order_of(site)


def test_a_changed_solution_is_new_and_a_correction_is_not(study: Path) -> None:
    """What an organizer says is the same keeps letter and place; both digests are kept."""
    with visited(study) as (site, client):
        (gid,) = gids(client)
        before, page = texts(client, gid), data_of(client, gid)
        put(client, gid, submit=True)
    solution(study, "S2").write_text("Do thing number two.\n")
    with visited(study) as (site, client):
        (doubt,) = [d for d in _effects(site) if d.code == "session-changed"]
        assert "1 judge for 1 placement, 1 of them in submitted rankings" in doubt.message
        set_life(site, "open")
        digest = say(site, "same")
    with visited(study) as (site, client):
        assert [d.message.startswith("the corrected") for d in _effects(site)] == [True]
        now = data_of(client, gid)
        assert (now["submitted"], now["contents"]) == (True, page["contents"])
        assert texts(client, gid) == before | {
            letter: "two" for letter, number in before.items() if number == "2"
        }
        (old, new) = _digests_of(site, "S2")
        assert new == digest
        assert old != digest
    solution(study, "S2").write_text("Do something else.\n")
    with visited(study) as (site, client):
        assert say(site, "new") != digest
        assert [d.message.startswith("the changed") for d in _effects(site)] == [True]
        assert len(set(data_of(client, gid)["labels"]) - set(before)) == 1
    solution(study, "S2").write_text("Do thing number two.\n")
    with visited(study) as (_, client):
        # Once shown as a correction, it keeps its letter: letters never change.
        assert set(data_of(client, gid)["labels"]) == set(before)


def say(site: Site, answer: str) -> str:
    """Answer what the page of S2 asks, as an organizer; gives the digest of what it is now."""
    dashboard = enter_dashboard(create_app(site), site)
    listed = dashboard.get("/dashboard/solutions").text
    assert "changed: the same solution?" in listed
    [page] = re.findall('href="([^"]+)">S2 on P0<', listed)
    asked = dashboard.get(page).text
    (digest,) = set(re.findall(r'name="digest" value="(\w+)"', asked))
    form = {"solution": page.rpartition("/")[2], "answer": answer}
    assert (
        dashboard.post("/dashboard/solutions/same", data={**form, "digest": "0"}).status_code == 422
    )
    other = open_site(site.path)
    watching = create_app(other).test_client()
    cookie = dashboard.get_cookie(f"quem-dashboard-{site.key}")
    assert cookie is not None
    watching.set_cookie(cookie.key, cookie.value)
    assert watching.get(page).text == asked
    done = dashboard.post("/dashboard/solutions/same", data={**form, "digest": digest})
    assert done.location.startswith(page)
    for browser in (dashboard, watching):
        assert "Is this the same solution?" not in browser.get(page).text
    other.store.close()
    return str(digest)


def test_a_missing_file_is_a_plain_page_and_an_alert(study: Path) -> None:
    """Whatever was there at the start: the judge is told, the organizer sees which it is."""
    with visited(study) as (site, client):
        (gid,) = gids(client)
        solution(study, "S1").unlink()
        answer = client.get(f"/judge/g/{gid}")
        assert answer.status_code == 503
        assert "cannot be shown right now" in answer.text
        assert "S1" not in answer.text
        assert client.get("/judge").status_code == 200
        assert site.unreadable() == ["S1 on P0"]
        assert _logged(site, "solution-missing") == [{"problem": "P0", "solver": "S1"}]
        client.get(f"/judge/g/{gid}")
        assert len(_logged(site, "solution-missing")) == 1


def _effects(site: Site) -> list[Any]:
    from quem.store.living import effect_warning

    with site.store.read() as c:
        return [effect_warning(effect) for effect in site.effects(c)]


def _digests_of(site: Site, solver: str) -> list[str | None]:
    from sqlalchemy import select

    from quem.store.models import Layout

    with site.store.read() as c:
        layouts = c.execute(select(Layout.rows).order_by(Layout.key)).scalars().all()
    return [item[2] for items in layouts for item in items if item[1] == solver]


def _logged(site: Site, what: str) -> list[dict[str, Any]]:
    from sqlalchemy import select

    from quem.store.models import EventRow

    with site.store.read() as c:
        return list(c.execute(select(EventRow.detail).where(EventRow.what == what)).scalars())
