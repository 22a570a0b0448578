"""Judges guess who made some solutions, once, after their last ranking."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from quem.store.models import EventRow, PersonRow
from quem.store.studies import discard_trial
from tests.webjudge.sites import (
    SECRETS,
    SUBJECTS,
    SYSTEM,
    enter_as,
    enter_dashboard,
    make_site,
    rank,
    rank_all,
    set_life,
)
from webjudge import create_app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flask import Flask
    from flask.testing import FlaskClient

    from webjudge import Site

PAGE = "/judge/makers"
FORM = re.compile(r'name="gid" value="([^"]+)"><input type="hidden" name="letter" value="([^"]+)"')


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A study with three problems of five solutions each."""
    site = make_site(tmp_path, problems=3, judging="{ask_maker: true, practice: P0}")
    yield site
    site.store.close()


@pytest.fixture
def app(site: Site) -> Flask:
    """The app of that study."""
    return create_app(site)


def guesses(site: Site, what: str = "maker-guessed") -> list[dict[str, str]]:
    """The details of events, with the judge's id."""
    columns = select(PersonRow.id, EventRow.detail).join(
        PersonRow, PersonRow.key == EventRow.person_key
    )
    with site.store.read() as c:
        rows = c.execute(columns.where(EventRow.what == what).order_by(EventRow.key))
        return [{"judge": judge, **detail} for judge, detail in rows]


def guess(client: FlaskClient, answer: str) -> str:
    """Press a button on the page that is shown; gives the address that comes then."""
    [(gid, letter)] = FORM.findall(client.get(PAGE).text)
    sent = {"gid": gid, "letter": letter, "guess": answer}
    answered = client.post(PAGE, data=sent, follow_redirects=True)
    return answered.request.path


def test_judges_guess_twelve_solutions_after_the_last_ranking(app: Flask, site: Site) -> None:
    """Not before, each once, one click each; the page names nobody."""
    judge = enter_as(app, site, "J1")
    for problem in ("P1", "P2"):
        rank(site, "J1", problem)
        assert judge.get(PAGE).location == "/judge/done"
    rank(site, "J1", "P3")
    assert judge.get("/judge/done").location == PAGE
    page = unescape(judge.get(PAGE).text)
    assert "One last question: 1 of 12" in page
    assert "Who do you think made this?" in page
    assert not any(secret in page for secret in SECRETS)
    answers = ["person", "system", "unsure"] * 4
    paths = [guess(judge, answer) for answer in answers]
    assert paths == [PAGE] * 11 + ["/judge/done"]
    made = guesses(site)
    assert [one["guess"] for one in made] == answers
    assert {one["judge"] for one in made} == {"J1"}
    places = {(one["problem"], one["solver"]) for one in made}
    assert len(places) == 12
    assert {solver for _, solver in places} <= {*SUBJECTS, SYSTEM}
    assert judge.get("/judge/done").status_code == 200
    assert judge.post(PAGE, data={"gid": "", "letter": "A", "guess": "person"}).status_code == 303
    assert len(guesses(site)) == 12
    assert judge.post(PAGE, data={"gid": "", "letter": "A", "guess": "cat"}).status_code == 400


def test_guesses_can_be_skipped_and_the_first_one_holds(app: Flask, site: Site) -> None:
    """What was guessed before stays; nobody is asked again."""
    rank_all(site, "J1", "J2")
    judge, other = enter_as(app, site, "J1"), enter_as(app, site, "J2")
    [(gid, letter)] = FORM.findall(judge.get(PAGE).text)
    for answer in ("person", "system"):
        judge.post(PAGE, data={"gid": gid, "letter": letter, "guess": answer})
        # Those of another judge are no answer.
        other.post(PAGE, data={"gid": gid, "letter": letter, "guess": answer})
    assert [(one["judge"], one["guess"]) for one in guesses(site)] == [("J1", "person")]
    assert guess(judge, "skip") == "/judge/done"
    assert judge.get(PAGE).location == "/judge/done"
    assert len(guesses(site)) == 1
    assert len(guesses(site, "makers-skipped")) == 1
    assert "1 of 12" in other.get(PAGE).text
    log = enter_dashboard(app, site).get("/dashboard/events").text
    assert "J1 did not guess" in log
    assert "maker-guessed" not in log


def test_nobody_is_asked_in_a_closed_study_or_without_the_key(
    app: Flask, site: Site, tmp_path: Path
) -> None:
    """Nor on trial again: guesses go with the test rankings."""
    rank_all(site, "J1")
    judge = enter_as(app, site, "J1")
    guess(judge, "person")
    with site.store.write() as c:
        discard_trial(c, site.id, "shell")
    assert guesses(site) == []
    rank_all(site, "J1")
    assert "1 of 12" in judge.get(PAGE).text
    set_life(site, "closed")
    assert judge.get("/judge/done").status_code == 200
    assert judge.get(PAGE).location == "/judge/done"
    (tmp_path / "other").mkdir()
    other = make_site(tmp_path / "other", judging="{}")
    rank_all(other, "J1")
    assert enter_as(create_app(other), other, "J1").get("/judge/done").status_code == 200
    other.store.close()
