"""The first and the last page of judges: who asks, declining, pauses, and receipts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import func, select, update

from quem.errors import QuemError
from quem.store.models import Layout, RevisionRow, TaskRow
from quem.store.people import finish, person_named
from quem.store.studies import set_state
from quem.studyfile.reading import read_study
from tests.served import number_of
from tests.webjudge.sites import (
    data_in,
    data_of,
    enter_as,
    enter_dashboard,
    everybody,
    gids,
    make_site,
    put,
    rank,
    rank_all,
    set_life,
    text_of,
    trail,
    write_site,
)
from tests.webjudge.solving_sites import Solver, write_solving_study
from webjudge import create_app

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from flask import Flask
    from flask.testing import FlaskClient

    from webjudge import Site

ASKING = """\
organizer: {name: Dr Lena Marsh, institution: Cooling Institute, email: a@example.org, phone: "07"}
invitation: {title: Which of these would you sign?}
deadline: 2031-12-12
minutes: 120
"""
CONSENT = "{consent: consent.md, practice: P0, ask_maker: true}"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    (tmp_path / "consent.md").write_text("You may stop at any time.\n")
    site = make_site(tmp_path, judging=CONSENT, more=ASKING)
    yield site
    site.store.close()


@pytest.fixture
def client(app: Flask, site: Site) -> FlaskClient:
    return enter_as(app, site, "J1")


def words(client: FlaskClient, path: str = "/judge") -> str:
    return text_of(client.get(path).text.partition("<main ")[2].partition(">")[2])


def agree(client: FlaskClient, answer: str = "yes") -> None:
    assert client.post("/judge/consent", data={"consent": answer}).location == "/judge"


def test_the_first_page_says_who_asks_what_and_until_when(client: FlaskClient) -> None:
    text = words(client)
    assert text.startswith("Dear Judge J1, Which of these would you sign? Tasks 2 Your time")
    assert "Tasks 2 Your time about 2 hours Please finish by 12 December 2031" in text
    assert "LM Dr Lena Marsh Cooling Institute a@example.org 07" in text
    assert "A made-up study" not in text


def test_declining_stores_the_answer_and_nothing_else(client: FlaskClient, site: Site) -> None:
    for _ in range(2):
        agree(client, "no")
    page = words(client)
    assert "You declined to take part." in page
    assert "Your tasks" not in page
    assert trail(site, "judge") == ["declined"]
    assert client.get("/judge/done").location == "/judge"
    judge = everybody(site)["J1"]
    assert (judge.declined_at is None, judge.consented_at) == (False, None)
    with site.store.read() as c:
        assert c.execute(select(func.count()).select_from(TaskRow)).scalar() == 0
    agree(client)
    assert "Your tasks" in words(client)
    agree(client, "no")
    assert everybody(site)["J1"].declined_at is None
    assert trail(site, "judge") == ["declined", "consented"]


def test_the_last_page_counts_and_lists_receipts(client: FlaskClient, site: Site) -> None:
    agree(client)
    rank(site, "J1", "P0")
    rank_all(site, "J1")
    client.post("/judge/makers", data={"gid": "", "letter": "", "guess": "skip"})
    with site.store.write() as c:
        c.execute(update(TaskRow).values(seconds=56 * 60))
    page = words(client, "/judge/done")
    assert "You ranked 10 solutions in 1 hour 52 minutes. Nothing more is needed" in page
    codes = re.findall(r"receipt ([0-9a-f]{10})", page)
    answer = client.get("/judge/receipts.txt")
    assert re.findall(r"receipt ([0-9a-f]{10})", answer.text) == codes
    assert len(codes) == 2
    assert "attachment" in answer.headers["Content-Disposition"]


AFTER = "https://app.example.com/complete?cc=C1&x=2"
BUTTON = f'href="{AFTER.replace("&", "&amp;")}" rel="noopener noreferrer">'


def test_the_last_page_leads_on_once_all_is_submitted(
    tmp_path: Path, opened: Callable[[Path], Site]
) -> None:
    """Required questions come first; the same button ends a solving session."""
    question = "{id: q, about: study, kind: text, text: Why?, required: true}"
    judging = f"{{after: '{AFTER}', questions: [{question}]}}"
    site = opened(write_site(tmp_path / "judged", judging=judging))
    client = enter_as(create_app(site), site, "J1")
    rank_all(site, "J1")
    page = client.get("/judge/done").text
    assert ["Why?" in page, BUTTON in page] == [True, False]
    client.post("/judge/answers", data={"question-0": "So."})
    answer = client.get("/judge/done")
    assert BUTTON in answer.text
    assert "You can close this page" not in answer.text
    (tmp_path / "solved").mkdir()
    study = write_solving_study(tmp_path / "solved", solving="order: fixed")
    study.write_text(f"{study.read_text()}judging: {{after: '{AFTER}'}}\n")
    site = opened(study)
    one = Solver(create_app(site), site, "S1")
    assert BUTTON not in one.client.get("/solve").text
    with site.store.write() as c:
        finish(c, person_named(c, site.id, "subject", "S1"))
    assert BUTTON in one.client.get("/solve").text


@pytest.mark.parametrize(
    "address",
    ["http://a.org", "javascript:alert(1)", "https://", "https://a@b.org", "https://a\\\\@b.org"],
)
def test_only_https_leads_on(tmp_path: Path, address: str) -> None:
    with pytest.raises(QuemError, match=r"judging.after: .* is not an https address"):
        read_study(write_site(tmp_path, judging=f'{{after: "{address}"}}'))


def test_paused_judges_read_and_save_nothing(client: FlaskClient, site: Site) -> None:
    """Each page says until when; a save is refused with a word for the page; later it works."""
    agree(client)
    set_life(site, "open")
    gid = gids(client)[1]
    data_of(client, gid)
    with site.store.write() as c:
        set_state(c, site.id, "paused", "shell", "Monday, 9:00")
    for path in ("/judge", f"/judge/g/{gid}"):
        assert "Paused until Monday, 9:00. You can read" in client.get(path).text
    data = data_of(client, gid)
    assert (data["paused"], data["until"], data["closed"]) == (True, "Monday, 9:00", False)
    refused = put(client, gid)
    answer = refused.get_json()
    assert (refused.status_code, answer["error"]) == (403, "paused")
    assert answer["until"] == "Monday, 9:00"
    assert number_of(data_of(client, gid)) == 0
    set_life(site, "open")
    assert "Paused" not in client.get("/judge").text
    assert put(client, gid).status_code == 200


@pytest.mark.parametrize(
    ("state", "start"),
    [("trial", "Test mode:"), ("paused", "Paused. You can read"), ("closed", "This study is")],
)
def test_every_page_says_the_state(client: FlaskClient, site: Site, state: str, start: str) -> None:
    """Test mode, a pause without a date, and the end have a band at the top."""
    set_life(site, state)
    page = client.get("/judge").text
    assert 'class="band"' in page
    assert start in page


def test_every_page_can_be_previewed_and_nothing_is_stored(app: Flask, site: Site) -> None:
    """Welcome, practice, all groups, guesses, and thanks; no ballot is made of it."""
    client = enter_dashboard(app, site)
    welcome = client.get("/dashboard/preview").text
    assert "You may stop at any time." in welcome
    assert "Nothing is saved" in welcome
    for gid in ("0", "1", "2"):  # practice, and two groups
        path = f"/dashboard/preview/g/{gid}"
        page = client.get(f"{path}?language=de").text
        data = data_in(page)
        assert data["preview"]
        assert set(data["urls"]) == {"home", "next", "solution"}
        assert client.get(f"{path}?language=de").text == page
        assert client.put(f"{path}/state", json={}).status_code in (404, 405)
    assert client.get("/dashboard/preview/g/3").status_code == 404
    asked = client.get(data["urls"]["next"], follow_redirects=True)
    assert asked.request.path == "/dashboard/preview/makers"
    action = re.search(r'<form method="post" action="([^"]+)" class="makers"', asked.text)
    assert action
    thanks = client.post(action[1], data={"guess": "person"}, follow_redirects=True)
    assert (thanks.request.path, thanks.status_code) == ("/dashboard/preview/done", 200)
    assert 'lang="de"' in thanks.text
    with site.store.read() as c:
        for table in (TaskRow, Layout, RevisionRow):
            assert c.execute(select(func.count()).select_from(table)).scalar() == 0
