"""The pages on what judges will see: words are found, redacted, accepted, and taken back."""

from __future__ import annotations

import os
import re
from html import unescape
from typing import TYPE_CHECKING

import pytest

from quem.errors import QuemError
from quem.studyfile.reading import read_study
from tests.webjudge.sites import (
    SUBJECTS,
    SURE,
    SYSTEM,
    audited,
    data_of,
    enter_as,
    enter_dashboard,
    gids,
    put,
    rank_all,
    set_life,
    write_site,
)
from webjudge import create_app, open_site
from webjudge.wording import happened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from flask import Flask
    from flask.testing import FlaskClient

    from webjudge import Site

FIRST, SECOND = SUBJECTS[:2]
LIST = "/dashboard/solutions"


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Flask]:
    judging = "{briefing: b.md, identity_words: [Claude]}  # words that I know of"
    study = write_site(tmp_path, judging=judging)
    (tmp_path / "b.md").write_text("Rank as Claude does.\n")
    group = tmp_path / "solutions" / "P1"
    text = "# Plan\n\nBy **Cl**aude &\nClaude, for Deep Blunder.\n\n![A map](lost.png)\n"
    (group / f"{FIRST}.md").write_text(f"{text}\n<svg></svg>\n")
    (group / f"{SECOND}.md").write_text("By CLAUDE.\n")
    site = open_site(study)
    yield create_app(site)
    site.store.close()


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return enter_dashboard(app, site_of(app))


def site_of(app: Flask) -> Site:
    site: Site = app.extensions["quem"]
    return site


def token_of(client: FlaskClient, solver: str, problem: str = "Problem 1") -> str:
    """Find how addresses name a solution, in the list with uncovered names."""
    page = client.get(f"{LIST}?names=yes").text.partition(problem)[2]
    [token] = re.findall(rf'/solutions/([0-9a-f]{{16}})">[^<]*</a> <span>{solver}<', page)[:1]
    return str(token)


def page_of(client: FlaskClient, solver: str) -> str:
    return unescape(client.get(f"{LIST}/{token_of(client, solver)}").text)


def digest_in(page: str) -> str:
    [digest] = re.findall('name="digest" value="([^"]+)"', page)
    return str(digest)


def decide(
    client: FlaskClient, what: str, words: str = "Claude", solver: str = FIRST, **form: str
) -> str:
    """Press a button on a solution's page, or on a word's; gives the page that comes then."""
    solution = {"solution": token_of(client, solver)} if solver else {}
    sent = {**solution, "words": words, "decision": what, **form}
    return unescape(client.post(f"{LIST}/decide", data=sent, follow_redirects=True).text)


def look(client: FlaskClient, solver: str, **form: str) -> str:
    """Press "Looks fine" on the page of a solution; gives the page that comes then."""
    path = f"{LIST}/{token_of(client, solver)}"
    sent = {"digest": digest_in(client.get(path).text), **form}
    return unescape(client.post(f"{path}/reviewed", data=sent, follow_redirects=True).text)


def logged(app: Flask, what: str) -> list[dict[str, object]]:
    return [event.detail for event in audited(site_of(app), what)]


def warned(app: Flask) -> int:
    return sum(one.code == "identity" for one in site_of(app).warnings)


def decisions(app: Flask) -> list[tuple[str, str, str, str]]:
    entries = read_study(site_of(app).path).judging.reviewed
    assert site_of(app).spec.judging.reviewed == entries
    return [(one.problem, one.solver, one.words, one.decision) for one in entries]


def test_the_list_says_what_is_to_be_done(client: FlaskClient) -> None:
    assert "10 of 10 solutions are not reviewed" in client.get("/dashboard").text
    page = unescape(client.get(LIST).text)
    assert "3 words to decide, then 10 solutions to review. About 4 minutes." in page
    assert "“Claude”</b> in 2 solutions" in page
    assert "“Claude”</b> in b.md" in page
    assert not any(solver in page for solver in SUBJECTS)
    assert FIRST in client.get(f"{LIST}?names=yes").text


def test_a_word_is_asked_about_once(app: Flask, client: FlaskClient) -> None:
    """In its sentences; replaced in all solutions, kept in all, one by one, and taken back."""
    page = unescape(client.get(f"{LIST}/word?words=claude").text)
    assert 'By <mark class="hit">Claude</mark> &' in page
    assert "Replace in all 2" in page
    page = decide(client, "redact", solver="", **{"from": "word"})
    assert "Replaced “Claude” in 2 solutions. Judges see [removed]." in page
    assert sorted(decisions(app)) == [("P1", one, "Claude", "redact") for one in (FIRST, SECOND)]
    assert "Undone" in decide(client, "undo", solver="", **{"from": "word"})
    assert decisions(app) == []
    page = decide(client, "redact", **{"from": "word"})
    assert "“Claude” is in 1 solution." in page
    assert "Kept “Claude”." in decide(client, "accept", solver="", **{"from": "word"})
    assert decisions(app) == [("P1", FIRST, "Claude", "redact"), ("", "", "Claude", "accept")]
    assert warned(app) == 1
    assert 'Kept: Claude <span class="muted">everywhere' in page_of(client, SECOND)
    choices = [(one["word"], one["choice"]) for one in logged(app, "word-decided")]
    assert choices == [("Claude", choice) for choice in ("replaced", "open", "replaced", "kept")]
    assert client.get(f"{LIST}/word?words=nothing").status_code == 404


def test_a_solution_is_shown_as_judges_will_see_it(client: FlaskClient) -> None:
    """With marks where words are, why they are found, and what is lost; its solver is covered."""
    page = page_of(client, FIRST)
    mark = '<mark class="hit" data-hit="0">'
    assert f"{mark}Cl</mark></strong>{mark}aude" in page
    assert "an identity word; line 4" in page
    assert f"a name of the system {SYSTEM}" in page
    assert "drawing is not shown" in page
    assert "the image 'lost.png' is not shown" in page
    assert page.count(FIRST) == 1
    assert f"Show the solver</summary><b>{FIRST}" in page
    assert client.get(f"{LIST}/0123456789abcdef").status_code == 404


def test_words_are_replaced_and_taken_back(app: Flask, client: FlaskClient) -> None:
    assert warned(app) == 2
    judge = enter_as(app, site_of(app), "J1")

    def shown() -> int:
        pages = (judge.get(f"/judge/g/{gid}").text for gid in gids(judge))
        return "".join(pages).count("[removed]")

    assert shown() == 0
    page = decide(client, "redact")
    assert "Replaced “Claude” in this solution." in page
    assert decisions(app) == [("P1", FIRST, "Claude", "redact")]
    assert shown() == 2
    assert decide(client, "accept", "Deep Blunder").count("Kept: Deep Blunder") == 1
    assert warned(app) == 1
    assert "Undone: “Claude” is undecided." in decide(client, "undo")
    assert decisions(app) == [("P1", FIRST, "Deep Blunder", "accept")]
    assert shown() == 0
    decide(client, "redact", "Deep Blunder")
    assert decisions(app) == [("P1", FIRST, "Deep Blunder", "redact")], "one for the same words"
    events = audited(site_of(app), "word-decided")
    assert {event.by for event in events} == {"organizer"}
    assert [happened(event) for event in events[:3]] == [
        f"Replaced “Claude”: {FIRST} on P1",
        f"Kept “Deep Blunder”: {FIRST} on P1",
        f"No longer decided: “Claude”: {FIRST} on P1",
    ]


def test_a_solution_counts_as_reviewed_by_the_button_alone(app: Flask, client: FlaskClient) -> None:
    """With nothing open in it, by an organizer, for the digest that judges receive."""
    third = SUBJECTS[2]
    page_of(client, third)
    assert "Decide about the words" in look(client, FIRST)
    assert "has changed" in look(client, third, digest="other")
    path = f"{LIST}/{token_of(client, third)}/reviewed"
    digest = site_of(app).group("P1")[third].digest
    assert client.post(path, data={"digest": digest, "guess": "cat"}).status_code == 400
    assert logged(app, "solution-reviewed") == []
    assert "1 of 10 solutions reviewed" in look(client, third, guess="system")
    [detail] = logged(app, "solution-reviewed")
    expected = {"solver": third, "problem": "P1", "digest": digest, "guess": "system"}
    assert expected.items() <= detail.items()
    # What judges receive is another solution then, also where only a word is replaced.
    decide(client, "redact", "Wait", solver=third)
    assert "0 of 10 solutions reviewed" in client.get(LIST).text
    decide(client, "undo", "Wait", solver=third)
    assert "1 of 10 solutions reviewed" in client.get(LIST).text


def test_all_solutions_lead_to_the_end_of_the_review(client: FlaskClient) -> None:
    """Each button leads to the next solution that nobody looked through."""
    for words in ("Claude", "Deep Blunder"):
        decide(client, "accept", words, solver="")
    page = client.get(LIST, follow_redirects=True).text
    [path] = re.findall(rf'class="btn primary" href="({LIST}/\w+)">Start', page)
    for number in range(10):
        sent = {"digest": digest_in(client.get(path).text)}
        path = client.post(f"{path}/reviewed", data=sent).location
        assert (path == LIST) == (number == 9)
    page = client.get(path).text
    assert "10 of 10 solutions reviewed; 0 words replaced, 2 kept." in page
    assert "not reviewed" not in client.get("/dashboard").text
    assert "Send anyway" not in client.post("/dashboard/judges/links").text


def test_links_are_not_sent_to_what_nobody_looked_through(app: Flask, client: FlaskClient) -> None:
    """Unless it is confirmed, or judging has begun."""
    look(client, SUBJECTS[2])
    key, new = "/dashboard/people/1/link", {"id": "J9", "name": "", "experience": ""}
    for path, form in (("/dashboard/judges/links", {}), (key, {}), ("/dashboard/judges/new", new)):
        refusal = client.post(path, data=form)
        assert refusal.status_code == 422
        assert "9 of 10 solutions are not reviewed" in refusal.text
        assert f'href="{LIST}"' in refusal.text
    assert "/j/" in client.post("/dashboard/judges/new", data={**new, **SURE}).text
    begin(app)
    assert "/j/" in client.post(key).text


def begin(app: Flask) -> None:
    judge = enter_as(app, site_of(app), "J2")
    [gid, *_] = gids(judge)
    assert put(judge, gid, state=data_of(judge, gid)["state"]).status_code == 200


def test_the_first_ranking_keeps_how_far_the_review_was(app: Flask, client: FlaskClient) -> None:
    """Once; what is reviewed later does not count, unless test rankings are deleted."""
    decide(client, "redact", solver="")
    look(client, SUBJECTS[2])
    assert logged(app, "blinding-frozen") == []
    begin(app)
    facts = {"reviewed": 1, "of": 10, "replaced": 1, "kept": 0, "open": 2}
    assert logged(app, "blinding-frozen") == [facts]
    look(client, SUBJECTS[3])
    assert logged(app, "blinding-frozen") == [facts]
    assert client.post("/dashboard/discard", data={"word": "discard"}).status_code == 303
    assert logged(app, "blinding-frozen") == []
    begin(app)
    assert logged(app, "blinding-frozen") == [{**facts, "reviewed": 2}]


def test_own_words(app: Flask, client: FlaskClient) -> None:
    page = decide(client, "redact", "plan")
    assert '<span class="redacted">[removed]</span></h3>' in page
    for words in ("", "!?", "a\nb", "x" * 201):
        assert "Type the words" in decide(client, "redact", words)
    assert len(decisions(app)) == 1
    assert "# words that I know of" in site_of(app).path.read_text()


def test_what_judges_have_seen_is_asked_first(app: Flask, client: FlaskClient) -> None:
    """In an open study a redaction asks for new places; a closed one stays as it was."""
    site = site_of(app)
    set_life(site, "open")
    rank_all(site, "J1")
    refusal = decide(client, "redact")
    assert "Change a solution that judges have seen?" in refusal
    assert decisions(app) == []
    assert "Replaced: Claude" in decide(client, "redact", sure="yes")
    with site_of(app).store.read() as c:
        assert [(e.what, e.solver) for e in site_of(app).effects(c)] == [("changed", FIRST)]
    # Accepting changes nothing for judges.
    assert "Kept: Deep Blunder" in decide(client, "accept", "Deep Blunder")
    set_life(site, "closed")
    assert "The study is closed" in decide(client, "undo")
    assert len(decisions(app)) == 2


def test_a_file_that_cannot_be_written(
    app: Flask, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing changes; the page has the lines to add by hand, and then follows them."""
    path = site_of(app).path
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anything
    refusal = decide(client, "redact")
    assert "study.yaml: cannot be written: Permission denied" in refusal
    line = f"- {{problem: P1, solver: {FIRST}, words: Claude, decision: redact}}"
    assert line in refusal
    assert decisions(app) == []
    text = path.read_text().replace("[Claude]}", f"[Claude], reviewed: [{line[2:]}]}}")
    path.write_text(text)
    assert "Replaced: Claude" in page_of(client, FIRST)
    assert decisions(app) == [("P1", FIRST, "Claude", "redact")]
    assert audited(site_of(app))[-1].by == "server"
    path.write_text(text + "{")
    assert "Replaced: Claude" in page_of(client, FIRST)


def test_texts_have_one_look_that_is_fixed_once_a_judge_ranks(
    tmp_path: Path, opened: Callable[[Path], Site]
) -> None:
    """Digests are of what judges receive; before the first ranking the setting may change."""
    study = write_site(tmp_path, judging="{same_look: true}")
    group = tmp_path / "solutions" / "P1"
    (group / f"{FIRST}.md").write_text("# ✨ Plan\n\n* **Wait** — then act\n")
    (group / f"{SECOND}.md").unlink()
    (group / f"{SECOND}.py").write_text("x = 1  # “x” — y\n")

    def turn(to: str) -> Site:
        study.write_text(re.sub("same_look: [a-z]+", f"same_look: {to}", study.read_text()))
        return opened(study)

    plain = turn("false").solutions.by_problem["P1"]
    site = turn("true")
    leveled = site.solutions.by_problem["P1"]
    assert leveled[FIRST].digest != plain[FIRST].digest
    assert leveled[SECOND].digest == plain[SECOND].digest, "code stays as it is"
    app = create_app(site)
    judge = enter_as(app, site, "J1")
    received = "".join(judge.get(f"/judge/g/{gid}").text for gid in gids(judge))
    assert "Wait - then act" in received
    assert "✨" not in received
    begin(app)
    with pytest.raises(QuemError, match="same_look"):
        turn("false")
    client = enter_dashboard(app, turn("true"))
    assert client.post("/dashboard/discard", data={"word": "discard"}).status_code == 303
    begin(create_app(turn("false")))
    with pytest.raises(QuemError, match="same_look"):
        turn("true")
