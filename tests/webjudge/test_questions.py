"""The study's own questions: what the server asks, takes, and shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from quem.store import studies
from quem.store.people import (
    erase,
    person_named,
)
from tests.served import all_ranked, write_judging_study
from tests.webjudge.sites import enter_dashboard
from tests.webjudge.test_judging import data_of, enter, gids, put
from webjudge import create_app, open_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flask.testing import FlaskClient

    from quem.store.models import Life
    from webjudge import Site

QUESTIONS = """{questions: [
  {id: sure, about: placement, required: true},
  {id: clear, about: solution, kind: scale, text: How clear is it?, required: true},
  {id: why, about: solution, kind: text, text: Why?},
  {id: hard, about: task, kind: choice, text: How hard was it?, options: [easy, hard],
   required: true},
  {id: again, about: study, kind: scale, range: [0, 10], text: Would you do it again?,
   required: true},
  {id: more, about: study, kind: text, text: Anything else?}]}"""
NAMES = ["A", "B", "C", "D", "E"]
ANSWERED: dict[str, Any] = {
    "sure": dict.fromkeys(NAMES[1:], "sure"),
    "answers": {"clear": dict.fromkeys(NAMES[1:], "3"), "hard": {"": "easy"}},
    "written": {"why": {"B": "because", "A": "torn"}},
}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A study with questions of all kinds."""
    site = open_site(write_judging_study(tmp_path, problems=1, judging=QUESTIONS))
    yield site
    site.store.close()


@pytest.fixture
def client(site: Site) -> FlaskClient:
    """The first judge."""
    return enter(create_app(site), site)


def test_required_questions_are_answered_before_submitting(client: FlaskClient) -> None:
    """Of each solution that has a place; what cannot be judged needs no answer."""
    gid = gids(client)[0]
    asked = data_of(client, gid)["questions"]
    assert [(q["id"], q["about"], q["required"]) for q in asked] == [
        ("sure", "placement", True),
        ("clear", "solution", True),
        ("why", "solution", False),
        ("hard", "task", True),
    ]
    assert asked[1]["options"] == ["1", "2", "3", "4", "5"]
    whole = all_ranked(NAMES[1:], cannot={"A": "torn"}, **ANSWERED)
    assert put(client, gid, state=all_ranked(NAMES)).status_code == 200, "a draft needs no answers"
    for number, lacking in enumerate(
        [
            {**whole, "sure": {"B": "sure"}},
            {**whole, "answers": {"clear": {"B": "3"}, "hard": {"": "easy"}}},
            {**whole, "answers": {"clear": whole["answers"]["clear"]}},
        ]
    ):
        answer = put(client, gid, base=1, change=2 + number, state=lacking, submit=True)
        assert (answer.status_code, answer.get_json()["error"]) == (409, "unanswered")
        assert answer.get_json()["questions"] == asked
    done = put(client, gid, base=1, change=9, state=whole, submit=True)
    assert done.get_json()["submitted"] is True
    assert data_of(client, gid)["state"] == whole


@pytest.mark.parametrize(
    "answers",
    [
        [],
        {"clear": "3"},
        {"clear": {}},
        {"clear": {"Z": "3"}},
        {"clear": {"A": ""}},
        {"clear": {"A": 3}},
        {"clear": {"A": "x" * 1001}},
        {f"q{n}": {"": "x"} for n in range(101)},
    ],
)
def test_what_are_no_answers_is_refused(client: FlaskClient, answers: object) -> None:
    """Texts by question and solution, and nothing else."""
    gid = gids(client)[0]
    assert put(client, gid, state=all_ranked(NAMES, answers=answers)).status_code == 422


def test_questions_at_the_end(client: FlaskClient, site: Site) -> None:
    """They are kept, can be changed until the study closes, and go when somebody is erased."""
    assert client.get("/judge/done").status_code == 303
    gid = gids(client)[0]
    state = all_ranked(NAMES[1:], cannot={"A": "torn"}, **ANSWERED)
    put(client, gid, state=state, submit=True)
    page = client.get("/judge/done").text
    assert "2 last questions" in page
    assert "Nothing more is needed" not in page
    incomplete = client.post("/judge/answers", data={"question-1": "<b>bold</b>"})
    page = client.get(incomplete.location).text
    assert "a required question has no answer yet" in page
    assert "&lt;b&gt;bold&lt;/b&gt;</textarea>" in page
    form = {"question-0": "10", "question-1": "all well", "question-7": "x"}
    page = client.get(client.post("/judge/answers", data=form).location).text
    assert "Your answers are saved. Thank you." in page
    assert re.search(r'value="10" checked', page)
    assert closing(site) == {"answers": {"again": "10"}, "written": {"more": "all well"}}
    client.post("/judge/answers", data={"question-0": "11"})
    assert closing(site) == {"answers": {}, "written": {}}, "what is not offered is no answer"
    client.post("/judge/answers", data=form)
    set_state(site, "closed")
    client.post("/judge/answers", data={"question-0": "0"})
    assert closing(site)["answers"] == {"again": "10"}
    assert "disabled" in client.get("/judge/done").text
    with site.store.write() as c:
        name, _ = erase(c, person_named(c, site.id, "judge", "J0"), "shell")
    assert closing(site, name) == {"answers": {"again": "10"}}


def test_nothing_is_kept_of_who_has_not_agreed(tmp_path: Path) -> None:
    """Also if somebody sends the form of the last page."""
    judging = QUESTIONS.replace("{questions", "{consent: c.md, questions", 1)
    study = write_judging_study(tmp_path, problems=1, judging=judging)
    (tmp_path / "c.md").write_text("Do you agree?\n")
    site = open_site(study)
    client = enter(create_app(site), site)
    for agree in (False, True):
        if agree:
            client.post("/judge/consent", data={"consent": "yes"})
        client.post("/judge/answers", data={"question-0": "3"})
        assert bool(closing(site)) is agree
    site.store.close()


def closing(site: Site, judge: str = "J0") -> dict[str, Any]:
    """What a judge answered at the end."""
    with site.store.read() as c:
        return person_named(c, site.id, "judge", judge).closing


def set_state(site: Site, state: Life) -> None:
    """Let the study be in another state."""
    with site.store.write() as c:
        studies.set_state(c, site.id, state, "shell")


def test_the_dashboard_shows_answers_once_closed(client: FlaskClient, site: Site) -> None:
    """By judge, task, and solution; those to a removed question under its id."""
    gid = gids(client)[0]
    state = all_ranked(NAMES[1:], cannot={"A": "torn"}, **ANSWERED)
    state["answers"] = {**state["answers"], "removed": {"C": "once"}}
    put(client, gid, state=state, submit=True)
    client.post("/judge/answers", data={"question-0": "7", "question-1": "all well"})
    desk = enter_dashboard(client.application, site)
    assert desk.get("/dashboard/words").status_code == 403
    set_state(site, "closed")
    page = desk.get("/dashboard/words").text
    for words in ("How hard was it?", "easy", "How clear is it?", "because", "removed", "once"):
        assert words in page
    assert "At the end" in page
    assert "all well" in page
