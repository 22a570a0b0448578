"""The first and the last page of judges: who asks, declining, pauses, and receipts."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import func, select, update

from quem.errors import QuemError
from quem.store.audit_log import audit_events
from quem.store.models import TaskRow
from quem.store.people import finish, person_named
from quem.store.studies import set_state
from quem.studyfile.reading import read_study
from tests.served import all_ranked, number_of
from tests.webjudge.sites import (
    enter_as,
    make_site,
    rank,
    rank_all,
    set_life,
    write_site,
)
from tests.webjudge.solving_sites import Solver, write_solving_study
from tests.webjudge.test_judging import data_of, gids, put
from webjudge import create_app, open_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flask import Flask

    from webjudge import Site

ASKING = """\
organizer: {name: Dr Lena Marsh, institution: Cooling Institute, email: a@example.org, phone: "07"}
invitation: {title: Which of these would you sign?}
deadline: 2031-12-12
minutes: 120
"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A study that asks for consent."""
    (tmp_path / "consent.md").write_text("You may stop at any time.\n")
    site = make_site(tmp_path, judging="{consent: consent.md, practice: P0}", more=ASKING)
    yield site
    site.store.close()


@pytest.fixture
def app(site: Site) -> Flask:
    """The app of that study."""
    return create_app(site)


def words_of(page: str) -> str:
    """The text of a page."""
    return " ".join(
        unescape(re.sub(r"<[^>]+>", " ", page.partition("<main ")[2].partition(">")[2])).split()
    )


def trail(site: Site) -> list[str]:
    """What judges did, oldest first."""
    with site.store.read() as c:
        events = audit_events(c, site.id, 1000)
    return [event.what for event in reversed(events) if event.actor == "judge"]


def test_the_first_page_says_who_asks_what_and_until_when(app: Flask, site: Site) -> None:
    """Greeting, question, number of tasks, time, deadline, and contact are on it."""
    page = enter_as(app, site, "J1").get("/judge").text
    text = words_of(page)
    assert text.startswith("Dear Judge J1, Which of these would you sign? Tasks 2 Your time")
    assert "Tasks 2 Your time about 2 hours Please finish by 12 December 2031" in text
    assert "LM Dr Lena Marsh Cooling Institute a@example.org 07" in text
    assert 'href="mailto:a@example.org"' in page
    assert "A made-up study" not in text


def test_declining_stores_the_answer_and_nothing_else(app: Flask, site: Site) -> None:
    """Nobody is given tasks before they agree; who declines can change their mind."""
    client = enter_as(app, site, "J1")
    assert "I would rather not take part" in client.get("/judge").text
    answer = client.post("/judge/consent", data={"consent": "no"})
    assert (answer.status_code, answer.location) == (303, "/judge")
    page = words_of(client.get("/judge").text)
    assert "You declined to take part." in page
    assert "Your tasks" not in page
    client.post("/judge/consent", data={"consent": "no"})
    assert trail(site) == ["declined"]
    assert client.get("/judge/done").location == "/judge"
    with site.store.read() as c:
        judge = person_named(c, site.id, "judge", "J1")
        assert judge.declined_at is not None
        assert judge.consented_at is None
        assert c.execute(select(func.count()).select_from(TaskRow)).scalar() == 0
    client.post("/judge/consent", data={"consent": "yes"})
    assert "Your tasks" in client.get("/judge").text
    client.post("/judge/consent", data={"consent": "no"})
    with site.store.read() as c:
        assert person_named(c, site.id, "judge", "J1").declined_at is None
    assert trail(site) == ["declined", "consented"]


def test_the_last_page_counts_and_lists_receipts(app: Flask, site: Site) -> None:
    """Solutions that were ranked, working time without practice, and a receipt of each task."""
    client = enter_as(app, site, "J1")
    client.post("/judge/consent", data={"consent": "yes"})
    rank(site, "J1", "P0")
    rank_all(site, "J1")
    with site.store.write() as c:
        c.execute(update(TaskRow).values(seconds=56 * 60))
    page = words_of(client.get("/judge/done").text)
    assert "You ranked 10 solutions in 1 hour 52 minutes. Nothing more is needed" in page
    assert "write to Dr Lena Marsh" in page
    codes = re.findall(r"receipt ([0-9a-f]{10})", page)
    answer = client.get("/judge/receipts.txt")
    assert re.findall(r"receipt ([0-9a-f]{10})", answer.text) == codes
    assert len(codes) == 2
    assert "attachment" in answer.headers["Content-Disposition"]


AFTER = "https://app.example.com/complete?cc=C1&x=2"
BUTTON = (
    f'href="{AFTER.replace("&", "&amp;")}" rel="noopener noreferrer">To finish, continue to app.'
)


def test_the_last_page_leads_on_once_all_is_submitted(tmp_path: Path) -> None:
    """Required questions come first; the same button ends a solving session."""
    question = "{id: q, about: study, kind: text, text: Why?, required: true}"
    site = make_site(tmp_path / "judged", judging=f"{{after: '{AFTER}', questions: [{question}]}}")
    client = enter_as(create_app(site), site, "J1")
    rank_all(site, "J1")
    assert "Why?" in (page := client.get("/judge/done").text)
    assert BUTTON not in page
    client.post("/judge/answers", data={"question-0": "So."})
    answer = client.get("/judge/done")
    assert BUTTON in answer.text
    assert "You can close this page" not in answer.text
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    site.store.close()
    (tmp_path / "solved").mkdir()
    study = write_solving_study(tmp_path / "solved", solving="order: fixed")
    study.write_text(f"{study.read_text()}judging: {{after: '{AFTER}'}}\n")
    site = open_site(study)
    one = Solver(create_app(site), site, "S1")
    assert BUTTON not in one.client.get("/solve").text
    with site.store.write() as c:
        finish(c, person_named(c, site.id, "subject", "S1"))
    assert BUTTON in one.client.get("/solve").text
    site.store.close()


@pytest.mark.parametrize(
    "address",
    ["http://a.org", "javascript:alert(1)", "https://", "https://a@b.org", "https://a\\\\@b.org"],
)
def test_only_https_leads_on(tmp_path: Path, address: str) -> None:
    """Nor does an address whose host could be mistaken."""
    study = write_site(tmp_path, judging=f'{{after: "{address}"}}')
    with pytest.raises(QuemError, match=r"judging.after: .* is not an https address"):
        read_study(study)


def test_paused_judges_read_and_save_nothing(app: Flask, site: Site) -> None:
    """Each page says until when; a save is refused with a word for the page; later it works."""
    client = enter_as(app, site, "J1")
    client.post("/judge/consent", data={"consent": "yes"})
    set_life(site, "open")
    gid = gids(client)[1]
    labels = data_of(client, gid)["labels"]
    with site.store.write() as c:
        set_state(c, site.id, "paused", "shell", "Monday, 9:00")
    for path in ("/judge", f"/judge/g/{gid}"):
        assert "Paused until Monday, 9:00. You can read; ranking opens" in client.get(path).text
    data = data_of(client, gid)
    assert (data["paused"], data["until"], data["closed"]) == (True, "Monday, 9:00", False)
    refused = put(client, gid)
    assert refused.status_code == 403
    answer = refused.get_json()
    assert (answer["error"], answer["until"]) == ("paused", "Monday, 9:00")
    assert answer["message"].startswith("The study is paused.")
    assert number_of(data_of(client, gid)) == 0
    set_life(site, "open")
    assert "Paused" not in client.get("/judge").text
    assert not data_of(client, gid)["paused"]
    assert put(client, gid, state=all_ranked(labels)).status_code == 200


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("trial", "Test mode: the study has not started. Rankings you make now may be deleted."),
        ("paused", "Paused. You can read; ranking opens again later."),
        ("closed", "This study is closed."),
    ],
)
def test_every_page_says_the_state(app: Flask, site: Site, state: str, words: str) -> None:
    """Test mode, a pause without a date, and the end have a band at the top."""
    client = enter_as(app, site, "J1")
    set_life(site, state)
    page = client.get("/judge").text
    assert 'class="band"' in page
    assert words in page
