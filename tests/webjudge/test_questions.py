"""The study's own questions, and the guesses at who made what: asked, taken, and shown."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select

from quem.store.models import EventRow, PersonRow
from quem.store.people import erase, person_named
from quem.store.studies import discard_trial
from tests.served import all_ranked, write_judging_study
from tests.webjudge.sites import (
    SECRETS,
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
)
from webjudge import create_app

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from flask.testing import FlaskClient

    from webjudge import Site

QUESTIONS = """{consent: c.md, questions: [
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
WHOLE = all_ranked(NAMES[1:], cannot={"A": "torn"}, **ANSWERED)


@pytest.fixture
def site(tmp_path: Path, opened: Callable[[Path], Site]) -> Site:
    (tmp_path / "c.md").write_text("Do you agree?\n")
    return opened(write_judging_study(tmp_path, problems=1, judging=QUESTIONS))


@pytest.fixture
def client(site: Site) -> FlaskClient:
    """The first judge, who agreed."""
    client = enter_as(create_app(site), site, "J0")
    client.post("/judge/answers", data={"question-0": "3"})
    assert everybody(site)["J0"].closing == {}, "before they agreed nothing is kept"
    client.post("/judge/consent", data={"consent": "yes"})
    return client


def test_required_questions_are_answered_before_submitting(client: FlaskClient) -> None:
    """Of each solution that has a place; what cannot be judged needs no answer."""
    gid = gids(client)[0]
    asked = data_of(client, gid)["questions"]
    kinds = [(one["id"], one["about"], one["required"]) for one in asked]
    assert kinds[:2] == [("sure", "placement", True), ("clear", "solution", True)]
    assert kinds[2:] == [("why", "solution", False), ("hard", "task", True)]
    assert put(client, gid, state=all_ranked(NAMES)).status_code == 200, "a draft needs no answers"
    clear, hard = ({key: WHOLE["answers"][key]} for key in ("clear", "hard"))
    for number, lacking in enumerate(
        ({"sure": {"B": "sure"}}, {"answers": {"clear": {"B": "3"}, **hard}}, {"answers": clear})
    ):
        sent = {"base": 1, "change": 2 + number, "state": {**WHOLE, **lacking}}
        answer = put(client, gid, **sent, submit=True)
        assert (answer.status_code, answer.get_json()["error"]) == (409, "unanswered")
        assert answer.get_json()["questions"] == asked
    assert put(client, gid, base=1, change=9, state=WHOLE, submit=True).get_json()["submitted"]
    assert data_of(client, gid)["state"] == WHOLE


def test_questions_at_the_end(client: FlaskClient, site: Site) -> None:
    """They are kept, can be changed until the study closes, and go when somebody is erased."""
    assert client.get("/judge/done").status_code == 303
    removed = {**WHOLE, "answers": {**WHOLE["answers"], "removed": {"C": "once"}}}
    put(client, gids(client)[0], state=removed, submit=True)
    page = client.get("/judge/done").text
    assert "2 last questions" in page
    assert "Nothing more is needed" not in page
    incomplete = client.post("/judge/answers", data={"question-1": "<b>bold</b>"})
    page = client.get(incomplete.location).text
    assert "a required question has no answer yet" in page
    assert "&lt;b&gt;bold&lt;/b&gt;</textarea>" in page
    form = {"question-0": "10", "question-1": "all well", "question-7": "x"}
    page = client.get(client.post("/judge/answers", data=form).location).text
    assert re.search(r'value="10" checked', page)

    def closing(judge: str = "J0") -> dict[str, Any]:
        return everybody(site)[judge].closing

    assert closing() == {"answers": {"again": "10"}, "written": {"more": "all well"}}
    client.post("/judge/answers", data={"question-0": "11"})
    assert closing() == {"answers": {}, "written": {}}, "what is not offered is no answer"
    client.post("/judge/answers", data=form)
    dashboard = enter_dashboard(client.application, site)
    assert dashboard.get("/dashboard/words").status_code == 403
    set_life(site, "closed")
    client.post("/judge/answers", data={"question-0": "0"})
    assert closing()["answers"] == {"again": "10"}
    assert "disabled" in client.get("/judge/done").text
    # The dashboard shows them by judge, task, and solution; to a removed question under its id.
    page = dashboard.get("/dashboard/words").text
    for words in ("How hard was it?", "easy", "because", "removed", "once", "all well"):
        assert words in page
    with site.store.write() as c:
        name, _ = erase(c, person_named(c, site.id, "judge", "J0"), "shell")
    assert closing(name) == {"answers": {"again": "10"}}


PAGE = "/judge/makers"
FORM = re.compile(r'name="gid" value="([^"]+)"><input type="hidden" name="letter" value="([^"]+)"')


def guess(client: FlaskClient, answer: str) -> str:
    """Press a button on the page that is shown; gives the address that comes then."""
    [(gid, letter)] = FORM.findall(client.get(PAGE).text)
    sent = {"gid": gid, "letter": letter, "guess": answer}
    return client.post(PAGE, data=sent, follow_redirects=True).request.path


def guesses(site: Site, what: str = "maker-guessed") -> list[dict[str, str]]:
    """The details of events, with the judge's id."""
    columns = select(PersonRow.id, EventRow.detail)
    columns = columns.join(PersonRow, PersonRow.key == EventRow.person_key)
    with site.store.read() as c:
        rows = c.execute(columns.where(EventRow.what == what).order_by(EventRow.key))
        return [{"judge": judge, **detail} for judge, detail in rows]


@pytest.fixture
def guessing(tmp_path: Path) -> Site:
    return make_site(tmp_path, problems=3, judging="{ask_maker: true, practice: P0}")


def test_judges_guess_twelve_solutions_after_the_last_ranking(guessing: Site) -> None:
    """Not before, each once, one click each; the page names nobody."""
    judge = enter_as(create_app(guessing), guessing, "J1")
    for problem in ("P1", "P2"):
        rank(guessing, "J1", problem)
        assert judge.get(PAGE).location == "/judge/done"
    rank(guessing, "J1", "P3")
    assert judge.get("/judge/done").location == PAGE
    page = unescape(judge.get(PAGE).text)
    assert "One last question: 1 of 12" in page
    assert not any(secret in page for secret in SECRETS)
    answers = ["person", "system", "unsure"] * 4
    assert [guess(judge, one) for one in answers] == [PAGE] * 11 + ["/judge/done"]
    made = guesses(guessing)
    assert [(one["judge"], one["guess"]) for one in made] == [("J1", one) for one in answers]
    assert len({(one["problem"], one["solver"]) for one in made}) == 12
    assert judge.get("/judge/done").status_code == 200
    late = {"gid": "", "letter": "A"}
    assert judge.post(PAGE, data={**late, "guess": "person"}).status_code == 303
    assert judge.post(PAGE, data={**late, "guess": "cat"}).status_code == 400
    assert len(guesses(guessing)) == 12
    guessing.store.close()


def test_guesses_can_be_skipped_and_the_first_one_holds(guessing: Site) -> None:
    """What was guessed before stays; nobody is asked again, unless test rankings are deleted."""
    app = create_app(guessing)
    rank_all(guessing, "J1", "J2")
    judge, other = enter_as(app, guessing, "J1"), enter_as(app, guessing, "J2")
    [(gid, letter)] = FORM.findall(judge.get(PAGE).text)
    for answer in ("person", "system"):
        for browser in (judge, other):  # a guess at another judge's task is none
            browser.post(PAGE, data={"gid": gid, "letter": letter, "guess": answer})
    assert [(one["judge"], one["guess"]) for one in guesses(guessing)] == [("J1", "person")]
    assert guess(judge, "skip") == "/judge/done"
    assert judge.get(PAGE).location == "/judge/done"
    assert len(guesses(guessing, "makers-skipped")) == 1
    assert "1 of 12" in other.get(PAGE).text
    log = enter_dashboard(app, guessing).get("/dashboard/events").text
    assert ["J1 did not guess" in log, "maker-guessed" in log] == [True, False]
    with guessing.store.write() as c:
        discard_trial(c, guessing.id, "shell")
    assert guesses(guessing) == []
    rank_all(guessing, "J1")
    assert "1 of 12" in judge.get(PAGE).text
    set_life(guessing, "closed")
    assert judge.get("/judge/done").status_code == 200
    assert judge.get(PAGE).location == "/judge/done"
    guessing.store.close()
