"""What judges see and say beside ranking: welcome, questions, guesses, languages, the end."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import func, select

from quem.errors import QuemError
from quem.store.models import EventRow, Layout, PersonRow, RevisionRow, TaskRow
from quem.store.people import erase, person_named
from quem.store.studies import discard_trial
from quem.studyfile.reading import read_study
from tests.served import all_ranked, write_judging_study
from tests.webjudge.sites import (
    SECRETS,
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
    assert text.startswith("Dear Judge J1, Which of these would you sign?")
    assert "Tasks 2 Your time about 2 hours Please finish by 12 December 2031" in text
    assert "LM Dr Lena Marsh Cooling Institute a@example.org 07" in text
    assert "A made-up study" not in text


def test_declining_stores_the_answer_and_nothing_else(client: FlaskClient, site: Site) -> None:
    for _ in range(2):
        agree(client, "no")
    assert "Your tasks" not in words(client)
    assert trail(site, "judge") == ["declined"]
    assert client.get("/judge/done").location == "/judge"
    judge = everybody(site)["J1"]
    assert (judge.declined_at is None, judge.consented_at) == (False, None)
    with site.store.read() as c:
        assert c.execute(select(func.count()).select_from(TaskRow)).scalar() == 0
    agree(client)
    agree(client, "no")
    assert everybody(site)["J1"].declined_at is None
    assert trail(site, "judge") == ["declined", "consented"]


AFTER = "https://app.example.com/complete?cc=C1&x=2"
BUTTON = f'href="{AFTER.replace("&", "&amp;")}" rel="noopener noreferrer">'


def test_the_last_page_leads_on_once_all_is_submitted(
    tmp_path: Path, opened: Callable[[Path], Site]
) -> None:
    """Required questions come first."""
    question = "{id: q, about: study, kind: text, text: Why?, required: true}"
    judging = f"{{after: '{AFTER}', questions: [{question}]}}"
    site = opened(write_site(tmp_path / "judged", judging=judging))
    client = enter_as(create_app(site), site, "J1")
    rank_all(site, "J1")
    for page in ("/judge/done", "/judge"):
        assert BUTTON not in client.get(page).text
    assert 'href="/judge/done">Answer the last questions' in client.get("/judge").text
    client.post("/judge/answers", data={"question-0": "So."})
    for page in ("/judge/done", "/judge"):
        assert BUTTON in client.get(page).text
    assert "Answer the last" not in client.get("/judge").text
    text = site.path.read_text()
    for address in ("http://a.org", "javascript:alert(1)", "https://", r"https://a\\@b.org"):
        site.path.write_text(text.replace(f"'{AFTER}'", f'"{address}"'))
        with pytest.raises(QuemError, match=r"judging.after: .* is not an https address"):
            read_study(site.path)


def test_every_page_can_be_previewed_and_nothing_is_stored(app: Flask, site: Site) -> None:
    """Practice, all groups, guesses, and thanks; no ballot is made of it."""
    client = enter_dashboard(app, site)
    for gid in ("0", "1", "2"):  # practice, and two groups
        path = f"/dashboard/preview/g/{gid}"
        page = client.get(f"{path}?language=de").text
        data = data_in(page)
        assert set(data["urls"]) == {"home", "next", "solution"}
        assert client.put(f"{path}/state", json={}).status_code in (404, 405)
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
def questioned(tmp_path: Path, opened: Callable[[Path], Site]) -> Site:
    (tmp_path / "c.md").write_text("Do you agree?\n")
    return opened(write_judging_study(tmp_path, problems=1, judging=QUESTIONS))


@pytest.fixture
def answering(questioned: Site) -> FlaskClient:
    client = enter_as(create_app(questioned), questioned, "J0")
    client.post("/judge/answers", data={"question-0": "3"})
    assert everybody(questioned)["J0"].closing == {}, "before they agreed nothing is kept"
    client.post("/judge/consent", data={"consent": "yes"})
    return client


def test_required_questions_are_answered_before_submitting(answering: FlaskClient) -> None:
    """Of each solution that has a place; what cannot be judged needs no answer."""
    gid = gids(answering)[0]
    asked = data_of(answering, gid)["questions"]
    assert [one["id"] for one in asked] == ["sure", "clear", "why", "hard"]
    assert put(answering, gid, state=all_ranked(NAMES)).status_code == 200, (
        "a draft needs no answers"
    )
    clear, hard = ({key: WHOLE["answers"][key]} for key in ("clear", "hard"))
    for number, lacking in enumerate(
        ({"sure": {"B": "sure"}}, {"answers": {"clear": {"B": "3"}, **hard}}, {"answers": clear})
    ):
        sent = {"base": 1, "change": 2 + number, "state": {**WHOLE, **lacking}}
        answer = put(answering, gid, **sent, submit=True)
        assert (answer.status_code, answer.get_json()["error"]) == (409, "unanswered")
        assert answer.get_json()["questions"] == asked
    assert put(answering, gid, base=1, change=9, state=WHOLE, submit=True).get_json()["submitted"]
    assert data_of(answering, gid)["state"] == WHOLE


def test_questions_at_the_end(answering: FlaskClient, questioned: Site) -> None:
    """They are kept, can be changed until the study closes, and go when somebody is erased."""
    assert answering.get("/judge/done").status_code == 303
    removed = {**WHOLE, "answers": {**WHOLE["answers"], "removed": {"C": "once"}}}
    put(answering, gids(answering)[0], state=removed, submit=True)
    incomplete = answering.post("/judge/answers", data={"question-1": "<b>bold</b>"})
    page = answering.get(incomplete.location).text
    assert "a required question has no answer yet" in page
    assert "&lt;b&gt;bold&lt;/b&gt;</textarea>" in page
    form = {"question-0": "10", "question-1": "all well", "question-7": "x"}
    answering.post("/judge/answers", data=form)

    def closing(judge: str = "J0") -> dict[str, Any]:
        return everybody(questioned)[judge].closing

    assert closing() == {"answers": {"again": "10"}, "written": {"more": "all well"}}
    answering.post("/judge/answers", data={"question-0": "11"})
    assert closing() == {"answers": {}, "written": {}}, "what is not offered is no answer"
    answering.post("/judge/answers", data=form)
    dashboard = enter_dashboard(answering.application, questioned)
    set_life(questioned, "closed")
    answering.post("/judge/answers", data={"question-0": "0"})
    assert closing()["answers"] == {"again": "10"}
    # The dashboard shows them by judge, task, and solution; to a removed question under its id.
    page = dashboard.get("/dashboard/words").text
    for words in ("How hard was it?", "easy", "because", "removed", "once", "all well"):
        assert words in page
    with questioned.store.write() as c:
        name, _ = erase(c, person_named(c, questioned.id, "judge", "J0"), "shell")
    assert closing(name) == {"answers": {"again": "10"}}


MAKERS = "/judge/makers"
FORM = re.compile(r'name="gid" value="([^"]+)"><input type="hidden" name="letter" value="([^"]+)"')


def guess(client: FlaskClient, answer: str) -> str:
    [(gid, letter)] = FORM.findall(client.get(MAKERS).text)
    sent = {"gid": gid, "letter": letter, "guess": answer}
    return client.post(MAKERS, data=sent, follow_redirects=True).request.path


def guesses(site: Site, what: str = "maker-guessed") -> list[dict[str, str]]:
    columns = select(PersonRow.id, EventRow.detail)
    columns = columns.join(PersonRow, PersonRow.key == EventRow.person_key)
    with site.store.read() as c:
        rows = c.execute(columns.where(EventRow.what == what).order_by(EventRow.key))
        return [{"judge": judge, **detail} for judge, detail in rows]


def test_judges_guess_makers_after_the_last_ranking(client: FlaskClient, site: Site) -> None:
    agree(client)
    rank(site, "J1", "P1")
    assert client.get(MAKERS).location == "/judge/done"
    rank(site, "J1", "P2")
    assert client.get("/judge/done").location == MAKERS
    page = unescape(client.get(MAKERS).text)
    assert "Last questions: 1 of 10" in page
    assert not any(secret in page for secret in SECRETS)
    answers = ["person", "system", "unsure", "person", "system"] * 2
    assert [guess(client, one) for one in answers] == [MAKERS] * 9 + ["/judge/done"]
    made = guesses(site)
    assert [(one["judge"], one["guess"]) for one in made] == [("J1", one) for one in answers]
    assert len({(one["problem"], one["solver"]) for one in made}) == 10
    late = {"gid": "", "letter": "A"}
    assert client.post(MAKERS, data={**late, "guess": "person"}).status_code == 303
    assert client.post(MAKERS, data={**late, "guess": "cat"}).status_code == 400
    assert len(guesses(site)) == 10


def test_guesses_can_be_skipped_and_the_first_one_holds(app: Flask, site: Site) -> None:
    """What was guessed before stays; nobody is asked again, unless test rankings are deleted."""
    rank_all(site, "J1", "J2")
    judge, other = enter_as(app, site, "J1"), enter_as(app, site, "J2")
    agree(judge)
    agree(other)
    [(gid, letter)] = FORM.findall(judge.get(MAKERS).text)
    for answer in ("person", "system"):
        for browser in (judge, other):  # a guess at another judge's task is none
            browser.post(MAKERS, data={"gid": gid, "letter": letter, "guess": answer})
    assert [(one["judge"], one["guess"]) for one in guesses(site)] == [("J1", "person")]
    assert "Answer the last questions" in judge.get("/judge").text
    assert guess(judge, "skip") == "/judge/done"
    assert "Answer the last questions" not in judge.get("/judge").text
    assert judge.get(MAKERS).location == "/judge/done"
    assert "1 of 10" in other.get(MAKERS).text
    log = enter_dashboard(app, site).get("/dashboard/events").text
    assert ["J1 skipped the rest of the guesses" in log, "maker-guessed" in log] == [True, False]
    with site.store.write() as c:
        discard_trial(c, site.id, "shell")
    assert guesses(site) == []
    agree(judge)
    rank_all(site, "J1")
    set_life(site, "closed")
    assert judge.get(MAKERS).location == "/judge/done"


FRENCH = "{briefing: briefing.md, consent: consent.md, practice: P0, language: fr}"


@pytest.fixture
def french(tmp_path: Path, opened: Callable[[Path], Site]) -> Site:
    for name, text in {
        "briefing.md": "Le briefing.",
        "briefing.de.md": "Die Einweisung.",
        "consent.md": "Le consentement.",
        "consent.ja.md": "同意書。",
    }.items():
        (tmp_path / name).write_text(f"{text}\n", encoding="utf-8")
    path = write_site(tmp_path, judging=FRENCH)
    path.write_text(path.read_text().replace("name: Judge J2", "name: Judge J2, language: es"))
    return opened(path)


def language_of(client: FlaskClient, accept: str = "", path: str = "/judge") -> str:
    headers = {"Accept-Language": accept} if accept else {}
    match = re.search(r'<html lang="([^"]*)" dir="ltr">', client.get(path, headers=headers).text)
    assert match
    return match[1]


def test_the_judges_own_choice_comes_first(french: Site) -> None:
    """Then what the study file says of them, then their browser, then the study."""
    app = create_app(french)
    client, spanish = (enter_as(app, french, name) for name in ("J1", "J2"))
    for accept, language in {
        "": "fr",
        "zh-Hant-TW": "fr",
        "de-CH, en;q=0.5": "de",
        "it, en;q=0.5, de;q=0.1": "en",
        "de;q=0, ja;q=0.2": "ja",
    }.items():
        assert language_of(client, accept) == language
    assert language_of(spanish, "de") == "es"
    answer = spanish.post("/judge/language", data={"language": "ja"})
    assert (answer.status_code, answer.location) == (303, "/judge")
    assert "HttpOnly" in answer.headers["Set-Cookie"]
    assert language_of(spanish, "de") == "ja"
    for wrong in ({"language": "../de"}, {}):
        assert client.post("/judge/language", data=wrong).status_code == 400
    client.set_cookie(f"quem-kept-{french.key}", "xx")
    assert language_of(client) == "fr"


def test_a_choice_in_a_task_leads_back_to_it(client: FlaskClient, site: Site) -> None:
    client.post("/judge/consent", data={"consent": "yes"})
    gid = gids(client)[1]
    answer = client.post("/judge/language", data={"language": "de", "gid": gid})
    assert answer.location == f"/judge/g/{gid}"
    assert data_of(client, gid)["step"].startswith("Aufgabe ")
    set_life(site, "closed")
    assert put(client, gid).get_json()["message"].startswith("Die Studie ist beendet.")
    assert "Seite nicht gefunden." in client.get("/judge/g/nothing").text


def test_texts_of_the_organizer_are_taken_in_the_judges_language(french: Site) -> None:
    """Where there is none in it, the one that the study file names is shown."""
    client, shown = enter_as(create_app(french), french, "J1"), {}
    for accept in ("de", "ja"):
        page = client.get("/judge", headers={"Accept-Language": accept}).text
        shown[accept] = re.findall(r"Le briefing|Die Einweisung|Le consentement|同意書", page)
    assert shown == {
        "de": ["Die Einweisung", "Le consentement"],
        "ja": ["Le briefing", "同意書"],
    }
    # So are letters, as far as the study file names it; the dashboard around them is in English.
    dashboard = enter_dashboard(client.application, french)
    for name, greeting in (("J1", "Bonjour Judge J1,"), ("J2", "Hola, Judge J2:")):
        page = dashboard.get(f"/dashboard/people/{everybody(french)[name].key}/invitation").text
        assert greeting in page
        assert '<html lang="en"' in page
