"""The pages on what judges will see: words are found, redacted, accepted, and taken back."""

from __future__ import annotations

import os
import re
from html import unescape
from typing import TYPE_CHECKING

import pytest

from quem.store.audit_log import audit_events
from quem.study.reading import read_study
from tests.webjudge.sites import (
    SUBJECTS,
    SYSTEM,
    enter_as,
    enter_dashboard,
    rank_all,
    set_life,
    write_site,
)
from webjudge import create_app, open_site
from webjudge.wording import happened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flask import Flask
    from flask.testing import FlaskClient

    from webjudge import Site

FIRST, SECOND = SUBJECTS[:2]
LIST = "/dashboard/solutions"
PAGE = f"{LIST}/P1/{FIRST}"


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Flask]:
    """A study whose solutions hold names."""
    study = write_site(
        tmp_path,
        judging="{briefing: b.md, identity_words: [Claude]}  # words that I know of",
    )
    (tmp_path / "b.md").write_text("Rank as Claude does.\n")
    group = tmp_path / "solutions" / "P1"
    text = "# Plan\n\nBy **Cl**aude &\nClaude, for Deep Blunder.\n\n![A map](lost.png)\n"
    text += "\n<svg></svg>\n"
    (group / f"{FIRST}.md").write_text(text)
    (group / f"{SECOND}.md").write_text("By CLAUDE.\n")
    site = open_site(study)
    yield create_app(site)
    site.store.close()


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    """The browser of a manager."""
    return enter_dashboard(app, site_of(app))


def site_of(app: Flask) -> Site:
    """The site as it is now."""
    site: Site = app.extensions["quem"]
    return site


def decide(client: FlaskClient, what: str, words: str = "Claude", **form: str) -> str:
    """Press a button; gives the page that comes then, or the refusal."""
    sent = {"problem": "P1", "solver": FIRST, "words": words, "decision": what, **form}
    return unescape(client.post(f"{LIST}/decide", data=sent, follow_redirects=True).text)


def decisions(app: Flask) -> list[tuple[str, str, str, str]]:
    """What the study file says."""
    entries = read_study(site_of(app).path).judging.reviewed
    assert site_of(app).spec.judging.reviewed == entries
    return [(one.problem, one.solver, one.words, one.decision) for one in entries]


def codes(app: Flask) -> list[str]:
    """The warnings about words."""
    return [
        one.message.rpartition("/")[2] for one in site_of(app).warnings if one.code == "identity"
    ]


def test_all_solutions_are_listed_with_what_was_found(client: FlaskClient) -> None:
    """The overview leads there; the filter shows those with words alone."""
    overview = client.get("/dashboard").text
    assert f'href="{LIST}">Review' in overview
    page = client.get(LIST).text
    assert page.count("data-version=") == 10
    assert "2 words to decide" in page
    assert "10 solutions, 2 with words to decide" in page
    assert "“Claude”</b> in b.md" in page
    assert client.get(f"{LIST}?found=yes").text.count("data-version=") == 2


def test_a_solution_is_shown_as_judges_will_see_it(client: FlaskClient) -> None:
    """With marks where words are, why they are found, and what is lost."""
    page = unescape(client.get(PAGE).text)
    assert (
        '<mark class="hit" data-hit="0">Cl</mark></strong><mark class="hit" data-hit="0">aude'
        in page
    )
    assert "an identity word; line 4" in page
    assert f"a name of the system {SYSTEM}" in page
    assert "drawing is not shown" in page
    assert "the image 'lost.png' is not shown" in page
    assert "Also in 1 other solution" in page
    assert f'rel="next" href="{LIST}/P1/{SECOND}"' in page
    assert client.get(f"{LIST}/P1/nobody").status_code == 404


def test_words_are_redacted_and_taken_back(app: Flask, client: FlaskClient) -> None:
    """In the study file, for judges, in the warnings and in the log."""
    assert len(codes(app)) == 2
    judge = enter_as(app, site_of(app), "J1")

    def shown() -> str:
        gids = re.findall(r"/judge/g/([\w-]+)", judge.get("/judge").text)
        return "".join(judge.get(f"/judge/g/{gid}").text for gid in dict.fromkeys(gids))

    assert "[redacted]" not in shown()
    page = decide(client, "redact")
    assert "Redacted “Claude”." in page
    assert "Redacted: Claude" in page
    assert decisions(app) == [("P1", FIRST, "Claude", "redact")]
    assert shown().count("[redacted]") == 2
    assert decide(client, "accept", "Deep Blunder").count("Accepted: Deep Blunder") == 1
    assert len(codes(app)) == 1
    page = decide(client, "undo")
    assert "Taken back: “Claude”." in page
    assert decisions(app) == [("P1", FIRST, "Deep Blunder", "accept")]
    assert "[redacted]" not in shown()
    with site_of(app).store.read() as c:
        events = [happened(event) for event in audit_events(c, site_of(app).id, 9)]
        assert audit_events(c, site_of(app).id, 1)[0].by == "organizer"
    assert events[:3] == [
        f"No longer decided: “Claude”: {FIRST} on P1",
        f"Accepted “Deep Blunder”: {FIRST} on P1",
        f"Redacted “Claude”: {FIRST} on P1",
    ]


def test_one_decision_replaces_another(app: Flask, client: FlaskClient) -> None:
    """There is one for the same words in a solution."""
    decide(client, "redact")
    decide(client, "accept", "claude")
    assert decisions(app) == [("P1", FIRST, "claude", "accept")]


def test_everywhere_at_once(app: Flask, client: FlaskClient) -> None:
    """Redacted in each solution that has the words; accepted by one entry."""
    decide(client, "redact", everywhere="yes")
    assert decisions(app) == [("P1", FIRST, "Claude", "redact"), ("P1", SECOND, "Claude", "redact")]
    decide(client, "undo", solver=SECOND)
    decide(client, "accept", everywhere="yes", solver=SECOND)
    assert decisions(app) == [("P1", FIRST, "Claude", "redact"), ("", "", "Claude", "accept")]
    assert len(codes(app)) == 1
    assert (
        'Accepted: Claude <span class="muted">everywhere' in client.get(f"{LIST}/P1/{SECOND}").text
    )


def test_words_in_texts_are_accepted(app: Flask, client: FlaskClient) -> None:
    """They are the organizer's to edit, so nothing is redacted there."""
    page = decide(client, "accept", problem="", solver="", page="list")
    assert "accepted everywhere" in page
    assert decisions(app) == [("", "", "Claude", "accept")]
    assert (
        client.post(f"{LIST}/decide", data={"words": "x", "decision": "redact"}).status_code == 404
    )


def test_own_words(app: Flask, client: FlaskClient) -> None:
    """Any that the search does not know; the file keeps its comments."""
    page = decide(client, "redact", "plan")
    assert "Redacted: plan" in page
    assert '<span class="redacted">[redacted]</span></h3>' in page
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
    assert "Redacted: Claude" in decide(client, "redact", sure="yes")
    with site_of(app).store.read() as c:
        assert [(e.what, e.solver) for e in site_of(app).effects(c)] == [("changed", FIRST)]
    # Accepting changes nothing for judges.
    assert "Accepted: Deep Blunder" in decide(client, "accept", "Deep Blunder")
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
    assert "Redacted: Claude" in client.get(PAGE).text
    assert decisions(app) == [("P1", FIRST, "Claude", "redact")]
    with site_of(app).store.read() as c:
        assert audit_events(c, site_of(app).id, 1)[0].by == "server"
    path.write_text(text + "{")
    assert "Redacted: Claude" in client.get(PAGE).text
