"""What judges must not learn: it is found, decided on, and in nothing that they receive."""

from __future__ import annotations

import os
import random
import re
from html import unescape
from typing import TYPE_CHECKING

import pytest

from quem.blinding.rendering import text_of
from quem.errors import QuemError
from quem.studyfile.reading import read_study
from tests.blinding.planted import document
from tests.blinding.searching import everything_in
from tests.commands.test_relevance_session import CASES, write_relevance
from tests.office import lacking_office
from tests.solutions.made import doubts
from tests.trials.crawl import Crawler, crawl
from tests.webjudge.sites import (
    SUBJECTS,
    SURE,
    SYSTEM,
    audited,
    data_in,
    data_of,
    enter_as,
    enter_dashboard,
    gids,
    put,
    rank_all,
    set_life,
    state_of,
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


# Made of letters that nothing else has together.
NAME = "Zqxvwkj"
SOLUTIONS = {
    "md": f"# Plan of {NAME}\n\nBy **Zqx**vwkj.\n\n![{NAME}](x.png) [me](https://{NAME}.example)\n\n"
    f"```py\n{NAME} = 1\n```\n",
    "html": f"<h1>{NAME.upper()}</h1><p>By Zqx&#118;wkj and Zqx<wbr>vwkj",
    "py": f"# {NAME}\n{NAME} = '{NAME}'\n",
    "txt": f"{NAME}\u00ad says {NAME}.\n",
}


def test_nothing_that_a_judge_can_reach_tells_a_maker(tmp_path: Path) -> None:
    """All bytes of all pages, files, headers, addresses and errors, before and after ranking.

    No document calls a host while it is converted.
    """
    lacks_office = lacking_office()
    counts = crawl(random.Random(0), tmp_path)
    assert counts["names"] > (200 if lacks_office else 350)


def test_a_judge_sees_no_id_of_a_candidate(tmp_path: Path, opened: Callable[[Path], Site]) -> None:
    """Neither the names of files nor the ids of cases; grades have the labels of the study."""
    path = write_relevance(tmp_path, repeat=0)
    for problem in ("p1", "p2"):
        for case in CASES:
            file = tmp_path / "solutions" / problem / f"{case}.md"
            file.rename(file.with_name(f"zorn-{case}.md"))
    table = tmp_path / "candidates.csv"
    table.write_text(re.sub(r"^(p\d),", r"\1,zorn-", table.read_text(), flags=re.MULTILINE))
    site = opened(path)
    judge = enter_as(create_app(site), site, "J1")
    pages = [judge.get(f"/judge/g/{gid}").text for gid in gids(judge)]
    assert len(pages) == 2
    for page in (judge.get("/judge").text, *pages):
        assert not [word for word in ("zorn", "http://c/", "http://q/") if word in page]
    for page in pages:
        data = data_in(page)
        # The grade has buttons of its own, and is none of the questions.
        assert (data["grades"], data["questions"]) == (["No", "Partly", "Yes"], [])


def write_named(folder: Path) -> Path:
    study = write_site(folder, judging=f"{{practice: P0, identity_words: [{NAME}], reviewed: []}}")
    group = folder / "solutions" / "P1"
    for solver, (ending, text) in zip(SUBJECTS, SOLUTIONS.items(), strict=True):
        (group / f"{solver}.md").unlink()
        (group / f"{solver}.{ending}").write_text(text)
    (group / f"{SYSTEM}.md").unlink()
    shown = f"BT /F1 14 Tf 20 160 Td (A plan by {NAME}) Tj ET".encode()
    document(shown).save(group / f"{SYSTEM}.pdf")
    return study


def redact(study: Path, *solvers: str) -> None:
    entries = ", ".join(
        f"{{problem: P1, solver: {solver}, words: {NAME.lower()}, decision: redact}}"
        for solver in solvers
    )
    text = re.sub(r"reviewed: \[.*\]", f"reviewed: [{entries}]", study.read_text())
    study.write_text(text)


def test_redacted_words_are_in_no_byte(tmp_path: Path, opened: Callable[[Path], Site]) -> None:
    """Texts, descriptions, links, texts and addresses of pages; and the pages change."""
    study = write_named(tmp_path)
    images = []
    for redacts in (False, True):
        if redacts:
            redact(study, *SUBJECTS, SYSTEM)
        site = opened(study)
        assert ("identity" in [warning.code for warning in site.warnings]) != redacts
        crawler = Crawler(enter_as(create_app(site), site, "J1"))
        crawler.crawl("/judge")
        for gid in crawler.listed() * (not redacts):
            crawler.rank(gid, "A remark")
        crawler.crawl("/judge")
        answers = crawler.received
        name = NAME.lower().encode()
        leaks = [what for what, raw in answers.items() if name in everything_in(raw).lower()]
        assert bool(leaks) != redacts, leaks
        marks = [what for what in answers if b"[removed]" in answers[what] and "/st" not in what]
        assert bool(marks) == redacts
        images.append({what.split()[-1]: raw for what, raw in answers.items() if "/file/" in what})
    before, after = images
    assert before
    # Addresses too, so that no browser shows what it kept.
    assert not {*before, *before.values()} & {*after, *after.values()}


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
    solution = {"solution": token_of(client, solver)} if solver else {}
    sent = {**solution, "words": words, "decision": what, **form}
    return unescape(client.post(f"{LIST}/decide", data=sent, follow_redirects=True).text)


def look(client: FlaskClient, solver: str, **form: str) -> str:
    path = f"{LIST}/{token_of(client, solver)}"
    sent = {"digest": digest_in(client.get(path).text), **form}
    return unescape(client.post(f"{path}/reviewed", data=sent, follow_redirects=True).text)


def logged(app: Flask, what: str) -> list[dict[str, object]]:
    return [event.detail for event in audited(site_of(app), what)]


def decisions(app: Flask) -> list[tuple[str, str, str, str]]:
    entries = read_study(site_of(app).path).judging.reviewed
    assert site_of(app).spec.judging.reviewed == entries
    return [(one.problem, one.solver, one.words, one.decision) for one in entries]


def test_words_are_replaced_and_taken_back(app: Flask, client: FlaskClient) -> None:
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
    assert "Undone: “Claude” is undecided." in decide(client, "undo")
    assert decisions(app) == [("P1", FIRST, "Deep Blunder", "accept")]
    assert shown() == 0
    decide(client, "redact", "Deep Blunder")
    assert decisions(app) == [("P1", FIRST, "Deep Blunder", "redact")], "one for the same words"
    decide(client, "accept", solver="", **{"from": "word"})
    assert decisions(app)[1:] == [("", "", "Claude", "accept")]
    assert "Kept: Claude" in page_of(client, SECOND)
    for wrong in ("", "!?", "a\nb", "x" * 201):
        assert "Type the words" in decide(client, "redact", wrong)
    assert "Select whole words" in decide(client, "redact", "Pla")
    assert "Select whole words" in decide(client, "redact", "Nobody", solver="")
    assert "Replaced “A map” in this" in decide(client, "redact", "A map")
    assert "# words that I know of" in site_of(app).path.read_text()
    events = audited(site_of(app), "word-decided")
    assert {event.by for event in events} == {"organizer"}
    assert happened(events[0]) == f"Replaced “Claude”: {FIRST} on P1"


@pytest.mark.parametrize(
    ("texts", "left"),
    [
        (("Xanthippe, XANTHIPPE.", "xanthippe_plan"), ("[removed], [removed].", "[removed]_plan")),
        (("Xanthippe, xanthippe", "xanthippe's"), ("[removed], [removed]", "[removed]'s")),
        (("Xanthippes Plan", "XanthippePlan"), ("[removed] Plan", "[removed]")),
        (("由Xanthippe写", "the 🅇anthippe"), ("由[removed]写", "the [removed]")),
        (("[x](https://x.org/%58anthippe)", "Xan\u200ethippe."), ("x", "[removed].")),
    ],
)
def test_what_is_found_is_what_is_replaced(
    texts: tuple[str, str], left: tuple[str, str], app: Flask, client: FlaskClient
) -> None:
    """In every form, by one decision."""
    for solver, text in zip((FIRST, SECOND), texts, strict=True):
        (site_of(app).path.parent / f"solutions/P1/{solver}.md").write_text(text)
    page = client.get(f"{LIST}/word?words=Xanthippe").text
    asked = page.partition("solutions/decide")[2].partition("</form>")[0]
    forms = [unescape(one) for one in re.findall(r'name="words" value="([^"]*)"', asked)]
    form = {"decision": "redact", "from": "word", "words": forms}
    page = client.post(f"{LIST}/decide", data=form, follow_redirects=True).text
    assert "in 2 solutions. Judges see [removed]" in page
    assert "anthippe" not in str(doubts(site_of(app).path))
    group = site_of(app).solutions.by_problem["P1"]
    assert tuple(text_of(group[one]).split("\n\n")[0].strip() for one in (FIRST, SECOND)) == left


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


def test_nothing_opens_on_what_nobody_looked_through(app: Flask, client: FlaskClient) -> None:
    """The undecided words and the solutions are counted; what is paused goes on without."""
    look(client, SUBJECTS[2])
    counts = "3 words are undecided and 9 of 10 solutions are not reviewed"
    for asked in (client.get("/dashboard/open"), client.post("/dashboard/open")):
        assert counts in asked.text
        assert "Open anyway" in asked.text
    assert state_of(site_of(app)) == "trial"
    key, new = "/dashboard/people/1/link", {"id": "J9", "name": "", "experience": ""}
    for path, form in (("/dashboard/judges/links", {}), (key, {}), ("/dashboard/judges/new", new)):
        refusal = client.post(path, data=form)
        assert refusal.status_code == 422
        assert "9 of 10 solutions are not reviewed" in refusal.text
        assert f'href="{LIST}"' in refusal.text
        assert counts in refusal.text
    assert client.post("/dashboard/open", data=SURE).status_code == 303
    assert client.post("/dashboard/pause", data=SURE).status_code == 303
    assert "undecided" not in client.get("/dashboard/open").text
    assert client.post("/dashboard/open", data=SURE).status_code == 303
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
    begin(app)
    with pytest.raises(QuemError, match="same_look"):
        turn("false")
    client = enter_dashboard(app, turn("true"))
    assert client.post("/dashboard/discard", data={"word": "discard"}).status_code == 303
    begin(create_app(turn("false")))
    with pytest.raises(QuemError, match="same_look"):
        turn("true")
