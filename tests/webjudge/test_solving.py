"""The pages of people who solve the problems: what they may do, and what comes of it."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from PIL import Image

from quem.errors import QuemError
from quem.solving.closing import close_solving
from quem.store import studies, uploads
from quem.store.people import people_of, person_named
from quem.store.studies import set_solving
from quem.studyfile.reading import draft_study, read_study
from tests.served import number_of
from tests.store.solving import FakeTime
from tests.webjudge.sites import enter_as, enter_dashboard
from tests.webjudge.solving_sites import Solver, write_solving_study
from webjudge import create_app, open_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flask import Flask

    from webjudge import Site

MARKDOWN = "# Plan\n\nStop the pump.\n"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A study whose solving session is open."""
    site = open_site(write_solving_study(tmp_path, solving="order: fixed"))
    with site.store.write() as c:
        set_solving(c, site.id, "open", "shell")
    yield site
    site.store.close()


@pytest.fixture
def app(site: Site) -> Flask:
    """The app of the study."""
    return create_app(site)


def png(color: str = "red") -> bytes:
    """Make a small picture."""
    file = io.BytesIO()
    Image.new("RGB", (8, 8), color).save(file, "PNG")
    return file.getvalue()


def test_one_problem_after_the_other(app: Flask, site: Site) -> None:
    """Nothing of a problem is shown before it is started, and only the next one opens."""
    one = Solver(app, site, "S1")
    assert one.tasks() == []
    one.enter()
    [first] = one.tasks()
    before = one.client.get(f"/solve/t/{first}").text
    assert "Start this problem" in before
    assert "case 1" not in before
    assert "Case 1" not in before
    gid = one.start()
    assert "case 1" in one.client.get(f"/solve/t/{gid}").text
    assert one.tasks() == [first]
    saved = one.save(gid, 0, MARKDOWN)
    assert (saved.status_code, number_of(saved.get_json())) == (200, 1)
    done = one.save(gid, 1, MARKDOWN, submit=True).json
    assert done is not None
    assert done["submitted"]
    home = one.client.get(done["next"]).text
    assert done["receipt"] in home
    assert len(one.tasks()) == 2
    assert one.save(gid, 2, "later").status_code == 403


@pytest.mark.parametrize("given", ["", "seven", "-1", "81", "1e9", "nan"])
def test_experience_is_a_number(app: Flask, site: Site, given: str) -> None:
    """Without it there are no problems."""
    one = Solver(app, site, "S1")
    answer = one.client.post("/solve/about", data={"experience": given})
    assert "missing=experience" in answer.headers["Location"]
    assert one.tasks() == []


def test_nobody_reaches_what_is_anothers(app: Flask, site: Site) -> None:
    """No address of another subject's task answers; nor do judges' and organizers' pages."""
    one, other = Solver(app, site, "S1"), Solver(app, site, "S2")
    one.enter()
    other.enter()
    gid = one.start()
    upload = one.upload(gid, "mine.png", png()).json
    assert upload is not None
    one.save(gid, 0, "secret words", upload["id"], submit=False)
    theirs = other.start()
    body = {"client": "tab-12345678", "running": "work", "take": True}
    paths = [rule.rule for rule in app.url_map.iter_rules() if rule.endpoint.startswith("solve.")]
    for path in paths:
        if "<gid>" not in path:
            continue
        url = path.replace("<gid>", gid).replace("<public_id>", upload["id"])
        url = url.replace("<token>", "x")
        answers = [
            other.client.get(url),
            other.client.post(url, json=body),
            other.client.post(url, json={"text": "", "files": []}),
            other.save(gid, 0, "x"),
        ]
        for answer in answers:
            assert answer.status_code in (404, 405, 415, 422, 302, 303), url
            assert "secret words" not in answer.text
    assert other.save(theirs, 0, "x", upload["id"]).status_code == 404
    assert one.page(gid)["state"]["text"] == "secret words"
    for url in ("/judge", "/dashboard", "/dashboard/solving"):
        assert other.client.get(url).status_code == 401
    judge = enter_as(app, site, "J1")
    assert judge.get("/solve").status_code == 401
    assert judge.get(f"/solve/t/{gid}").status_code == 401


def test_who_has_no_cookie_sends_no_body(app: Flask) -> None:
    """Nothing of it is read before it is known whose it is."""
    client = app.test_client()
    for path in ("/solve/t/x/files?name=a.md", "/solve/about", "/solve/t/x/check"):
        assert client.post(path, data=b"[" * 100_000).status_code == 401
    assert client.put("/solve/t/x/state", data=b"[" * 100_000).status_code == 401


def test_files(app: Flask, site: Site) -> None:
    """A file goes to the disk under its hash, and back to its author as a download only."""
    one = Solver(app, site, "S1")
    one.enter()
    gid = one.start()
    first = one.upload(gid, "C:\\Users\\zelda\\график🔥.PNG", png()).json
    assert first is not None
    assert first["name"] == "график🔥.PNG"
    assert one.save(gid, 0, "", first["id"]).status_code == 200
    back = one.client.get(first["url"])
    assert back.data == png()
    assert back.headers["Content-Disposition"].startswith("attachment")
    assert back.headers["Content-Disposition"].isascii()  # as servers take headers
    assert "sandbox" in back.headers["Content-Security-Policy"]
    stored = [p for p in site.path.with_suffix(".uploads").rglob("*") if p.is_file()]
    assert [path.read_bytes() for path in stored] == [png()]
    assert "chart" not in str(stored[0])


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.exe", b"MZ", "Files of this kind cannot be added"),
        ("a", b"text", "Files of this kind cannot be added"),
        ("a.png", b"no picture", "cannot be shown to judges"),
        ("a.pdf", b"%PDF-1.7 broken", "cannot be shown to judges"),
        ("a.docx", b"PK\x03\x04", "cannot be shown to judges"),
        ("a.md", b"", "cannot be shown to judges"),
    ],
)
def test_files_that_judges_could_not_see(
    app: Flask, site: Site, name: str, content: bytes, words: str
) -> None:
    """They are refused when they come, with what to do, and nothing of them stays."""
    one = Solver(app, site, "S1")
    one.enter()
    gid = one.start()
    refused = one.upload(gid, name, content)
    assert refused.status_code == 422
    assert words in refused.text
    folder = site.path.with_suffix(".uploads")
    assert [path for path in folder.rglob("*") if path.is_file()] == []


def test_a_bomb_and_too_many_files(app: Flask, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages are looked at within limits, and so are their number and size."""
    one = Solver(app, site, "S1")
    one.enter()
    gid = one.start()
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("word/document.xml", b" " * 300_000_000)
    assert one.upload(gid, "a.docx", bomb.getvalue()).status_code == 422
    monkeypatch.setattr("webjudge.solving.MOST_FILES", 3)
    ids = [one.upload(gid, "a.png", png(c)).json["id"] for c in ("red", "blue", "lime")]  # type: ignore[index]
    one.save(gid, 0, "", *ids)
    assert "3 files at most" in one.upload(gid, "b.png", png("black")).text
    one.save(gid, 1, "", ids[0])
    monkeypatch.setattr(uploads, "MOST_OF_SUBJECT", len(png()) * 3 + 20)
    before = uploaded_files(site)
    assert "200 MB" in one.upload(gid, "b.png", png("black")).text
    assert uploaded_files(site) == before


def uploaded_files(site: Site) -> list[Path]:
    """Find the files that people uploaded."""
    return sorted(path for path in site.path.with_suffix(".uploads").rglob("*") if path.is_file())


def test_nothing_stays_of_a_file_that_comes_too_late(app: Flask, site: Site) -> None:
    """Its bytes are not kept where they belong to no answer."""
    one = Solver(app, site, "S1")
    one.enter()
    gid = one.start()
    one.save(gid, 0, "done", submit=True)
    assert one.upload(gid, "late.png", png()).status_code == 403
    assert uploaded_files(site) == []


def test_the_same_bytes_of_two_people(app: Flask, site: Site) -> None:
    """Who withdraws takes their file away, and leaves what another person uploaded."""
    one, other = Solver(app, site, "S1"), Solver(app, site, "S2")
    for solver, name in ((one, "a.md"), (one, "a.py"), (other, "b.md")):
        if not solver.tasks():
            solver.enter()
        gid = solver.start()
        assert solver.upload(gid, name, b"print(1)\n").status_code == 200
    one.client.post("/solve/withdraw", data={"sure": "yes"})
    assert [path.suffix for path in uploaded_files(site)] == [".md"]


def test_words_that_show_who_wrote_it(app: Flask, site: Site) -> None:
    """Names of all subjects, addresses, and handles are found, with their places."""
    one = Solver(app, site, "S1")
    one.enter()
    gid = one.start()
    text = "fine\nby Zelda\nask bo@example.org\nor @zel_da\nas S2x said"
    note = one.upload(gid, "note.md", b"first\nZelda S3x\n").json
    assert note is not None
    found = one.client.post(f"/solve/t/{gid}/check", json={"text": text, "files": [note["id"]]})
    assert found.json == {
        "named": [
            "Line 2: “Zelda”",
            "Line 3: “bo@example.org”",
            "Line 4: “@zel_da”",
            "Line 5: “S2x”",
            "note.md: “Zelda S3x”",
        ]
    }
    one.save(gid, 0, text, submit=True)
    page = enter_dashboard(app, site).get("/dashboard/solving").text
    assert "S1 submitted P1 with words that may show who wrote it" in page


def test_the_limit_ends_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page counts down, and what was saved counts; the next problem opens."""
    site = open_site(write_solving_study(tmp_path, solving="time_limit: 1\norder: fixed"))
    app = create_app(site)
    time = FakeTime(monkeypatch)
    one = Solver(app, site, "S1")
    one.enter()
    gid = one.start()
    one.save(gid, 0, "as far as I came")
    body = {"client": "tab-12345678", "running": "work", "take": True}
    told = one.client.post(f"/solve/t/{gid}/clock", json=body).json
    assert told is not None
    assert told["left"] == 60
    time.passes(40)
    one.client.post(f"/solve/t/{gid}/clock", json={**body, "running": "pause"})
    time.passes(500)
    told = one.client.post(f"/solve/t/{gid}/clock", json=body).json
    assert told is not None
    assert (told["left"], told["ended"]) == (20, None)
    time.passes(30)
    assert "The time for this problem is over" in one.client.get(f"/solve/t/{gid}").text
    assert len(one.tasks()) == 2
    site.store.close()


def test_withdrawing_and_declining(app: Flask, site: Site) -> None:
    """All that was written goes, files too; the row says so, and nothing opens any more."""
    one = Solver(app, site, "S1")
    one.enter()
    gid = one.start()
    upload = one.upload(gid, "a.png", png()).json
    assert upload is not None
    one.save(gid, 0, "zebratext", upload["id"], submit=True)
    one.client.post("/solve/withdraw", data={})
    assert one.client.get(f"/solve/t/{gid}").status_code == 200
    one.client.post("/solve/withdraw", data={"sure": "yes"})
    assert "You have withdrawn" in one.client.get("/solve").text
    assert one.client.get(f"/solve/t/{gid}").status_code == 303
    folder = site.path.with_suffix(".uploads")
    assert [path for path in folder.rglob("*") if path.is_file()] == []
    close_solving(site.store, site.spec, site.path, "shell")
    assert not (site.path.parent / "solutions/P1/S1.md").exists()
    rows = list(csv.DictReader(io.StringIO((site.path.parent / "subjects.csv").read_text())))
    assert [(row["id"], row["state"]) for row in rows] == [
        ("S1", "withdrawn"),
        ("S2", "absent"),
        ("S3", "absent"),
    ]


def test_closing_writes_what_judges_get(app: Flask, site: Site) -> None:
    """Solutions, subjects, and times; closing twice writes the same bytes; then judges rank."""
    for number, name in enumerate(("S1", "S2", "S3"), 1):
        one = Solver(app, site, name)
        one.enter(str(3 * number))
        if name == "S3":
            gid = one.start()
            upload = one.upload(gid, "a.png", png()).json
            assert upload is not None
            one.save(gid, 0, "with a picture", upload["id"], submit=True)
            one.start()
            one.client.post(f"/solve/t/{one.tasks()[-1]}/skip", data={"minutes": "30"})
        else:
            one.solve_all(f"What I, number {number}, would do.")
    dashboard = enter_dashboard(app, site)
    assert "Close the solving session first" in dashboard.post("/dashboard/open").text
    closed = dashboard.post("/dashboard/solving/close", data={"sure": "yes"})
    assert closed.status_code == 303
    folder = site.path.parent
    first = {
        path.relative_to(folder): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in [folder / "subjects.csv", *(folder / "solutions").rglob("*")]
        if path.is_file()
    }
    assert {str(p) for p in first} >= {
        "solutions/P1/S1.md",
        "solutions/P1/S3/answer.md",
        "solutions/P1/S3/file-1.png",
        "solutions/P3/S2.md",
    }
    dashboard.post("/dashboard/solving/close", data={"sure": "yes"})
    for path, (content, changed) in first.items():
        assert (folder / path).read_bytes() == content
        assert (folder / path).stat().st_mtime_ns == changed
    spec = read_study(site.path)
    assert [(s.id, s.experience) for s in spec.subjects] == [("S1", 3), ("S2", 6), ("S3", 9)]
    assert set(spec.subjects[0].seconds) == {"P1", "P2", "P3"}
    assert [(m.problem, m.solver) for m in spec.missing] == [("P2", "S3"), ("P3", "S3")]
    one = Solver(app, site, "S1")
    assert one.save(one.tasks()[0], 9, "later").status_code == 403
    assert dashboard.post("/dashboard/open").status_code == 303
    judge = enter_as(app, site, "J1")
    gids = set(re.findall(r"/judge/g/([\w-]+)", judge.get("/judge").text))
    assert "What I, number" in "".join(judge.get(f"/judge/g/{gid}").text for gid in gids)


def test_text_that_no_database_holds(app: Flask, site: Site) -> None:
    """Half a character is refused where a page did not replace it, and breaks nothing."""
    one = Solver(app, site, "S1")
    one.enter()
    gid = one.start()
    for text in ("a\ud83d", "a\0b"):
        assert one.save(gid, 0, text).status_code == 422
        shown = one.client.post(f"/solve/t/{gid}/preview", json={"text": text})
        checked = one.client.post(f"/solve/t/{gid}/check", json={"text": text, "files": []})
        assert (shown.status_code, checked.status_code) == (422, 422)
    assert one.save(gid, 0, "a\U0001f600").status_code == 200


def test_nobody_withdraws_from_a_closed_session(app: Flask, site: Site) -> None:
    """The page would say that all is deleted while the solution is in the study's folder."""
    one = Solver(app, site, "S1")
    one.enter()
    one.solve_all("mine")
    close_solving(site.store, site.spec, site.path, "shell")
    refused = one.client.post("/solve/withdraw", data={"sure": "yes"})
    assert refused.status_code == 403
    assert "The session is closed" in refused.text
    assert "You have withdrawn" not in one.client.get("/solve").text


def test_every_process_takes_up_what_closing_wrote(app: Flask, site: Site) -> None:
    """Judges rank the same solutions, whichever of several processes answers them."""
    other_site = open_site(site.path)
    other = create_app(other_site)
    dashboard = enter_dashboard(app, site)
    assert other.test_client().get("/healthz").status_code == 200
    for name in ("S1", "S2", "S3"):
        one = Solver(app, site, name)
        one.enter()
        one.solve_all(f"What {name} would do.")
    dashboard.post("/dashboard/solving/close", data={"sure": "yes"})
    assert dashboard.post("/dashboard/open").status_code == 303
    judge = enter_as(other, other_site, "J1")
    gids = set(re.findall(r"/judge/g/([\w-]+)", judge.get("/judge").text))
    for gid in gids:
        labels = re.findall(r'data-solution="([A-Z])"', judge.get(f"/judge/g/{gid}").text)
        assert set(labels) == set("ABCDE")
    other_site.store.close()


AFTER = """practice: P1
order: fixed
questions:
  - {id: field, about: study, kind: text, text: Which field?}
  - {id: familiar, about: task, kind: scale, text: How familiar?, required: true}
  - {id: tools, about: task, kind: text, text: Which tools?}"""


def test_questions_after_each_problem(tmp_path: Path) -> None:
    """They are asked once a problem has ended, and the table has a column for each."""
    site = open_site(write_solving_study(tmp_path, solving=AFTER))
    with site.store.write() as c:
        set_solving(c, site.id, "open", "shell")
    one, other = (Solver(create_app(site), site, name) for name in ("S1", "S2"))
    other.enter()
    one.enter(**{"question-0": "pumps"})
    practice, gid = one.tasks()
    one.client.post(f"/solve/t/{practice}/start")
    one.save(practice, 0, "trying", submit=True)
    assert "How familiar?" not in one.client.get("/solve").text
    one.client.post(f"/solve/t/{gid}/start")
    replies = {"question-0": "4", "question-1": "a ruler"}
    assert one.client.post(f"/solve/t/{gid}/after", data=replies).status_code == 404
    one.save(gid, 0, "mine", submit=True)
    page = one.client.get("/solve").text
    assert "How familiar?" in page
    assert "Problem 1: Case 2" in page
    assert "Which field?" not in page
    assert other.client.post(f"/solve/t/{gid}/after", data=replies).status_code == 404
    missing = one.client.post(f"/solve/t/{gid}/after", data={"question-1": "x"})
    assert "Answer the required questions" in one.client.get(missing.location).text
    one.client.post(f"/solve/t/{gid}/after", data=replies)
    assert "How familiar?" not in one.client.get("/solve").text
    skipped = one.start()
    one.client.post(f"/solve/t/{skipped}/skip", data={"minutes": "25"})
    one.client.post(f"/solve/t/{skipped}/after", data={"question-0": "1"})
    assert "One last question" in one.client.get("/solve").text
    table = close_solving(site.store, site.spec, site.path, "shell")[-1]
    rows = {row["id"]: row for row in csv.DictReader(io.StringIO(table.read_text()))}
    answers = {name: text for name, text in rows["S1"].items() if name.startswith("answer ")}
    assert answers == {
        "answer field": "pumps",
        "answer familiar P2": "4",
        "answer tools P2": "a ruler",
        "answer minutes left for P2": "",
        "answer familiar P3": "1",
        "answer tools P3": "",
        "answer minutes left for P3": "25",
    }
    assert draft_study(site.path).mistakes == []
    site.store.close()


def test_who_withdrew_answers_nothing_more(app: Flask, site: Site) -> None:
    """A page that was left open stores nothing."""
    one = Solver(app, site, "S1")
    one.enter()
    one.client.post("/solve/withdraw", data={"sure": "yes"})
    one.client.post("/solve/about", data={"experience": "9"})
    one.client.post("/solve/finish", data={"experience": "9"})
    with site.store.read() as c:
        assert person_named(c, site.id, "subject", "S1").replies == {}


def test_what_was_there_is_not_overwritten(app: Flask, site: Site) -> None:
    """Somebody put a solution there by hand: nothing is written, and the message says where."""
    one = Solver(app, site, "S1")
    one.enter()
    one.solve_all("mine")
    other = site.path.parent / "solutions/P2/S1.txt"
    other.write_text("by hand\n")
    with pytest.raises(QuemError, match=r"S1\.txt: is there already"):
        close_solving(site.store, site.spec, site.path, "shell")
    assert other.read_text() == "by hand\n"
    assert not (site.path.parent / "subjects.csv").exists()
    with site.store.read() as c:
        assert studies.solving_state(c, site.id) == "open"


def test_a_system_has_no_solution_when_the_session_is_closed(app: Flask, site: Site) -> None:
    """The page says that it is closed all the same, what is missing, and what to do."""
    for name in ("S1", "S2", "S3"):
        one = Solver(app, site, name)
        one.enter()
        one.solve_all("mine")
    missing = site.path.parent / "solutions/P1/sys1.md"
    text = missing.read_text()
    missing.unlink()
    other_site = open_site(site.path)
    other = create_app(other_site)
    dashboard = enter_dashboard(app, site)
    page = dashboard.post("/dashboard/solving/close", data={"sure": "yes"}).text
    assert "The session is closed, and solutions and subjects are written." in page
    assert "there is no solution of sys1" in page
    assert "close it again" in dashboard.get("/dashboard").text
    assert other.test_client().get("/healthz").status_code == 200
    missing.write_text(text)
    dashboard.post("/dashboard/solving/close", data={"sure": "yes"})
    assert "close it again" not in dashboard.get("/dashboard").text
    elsewhere = enter_dashboard(other, other_site)
    assert "close it again" not in elsewhere.get("/dashboard").text
    other_site.store.close()


def test_two_organizers_close_at_once(app: Flask, site: Site) -> None:
    """One does it after the other: neither fails, and nothing half is left."""
    one = Solver(app, site, "S1")
    one.enter()
    for _ in range(3):
        gid = one.start()
        upload = one.upload(gid, "a.png", png()).json
        assert upload is not None
        one.save(gid, 0, "with a picture", upload["id"], submit=True)
    with ThreadPoolExecutor(4) as pool:
        closings = [
            pool.submit(close_solving, site.store, site.spec, site.path, "shell") for _ in range(4)
        ]
    assert len({tuple(closing.result()) for closing in closings}) == 1
    assert list((site.path.parent / "solutions").rglob(".*")) == []


def test_a_session_that_cannot_be_written_stays_open(app: Flask, site: Site) -> None:
    """People can go on, and the organizer is told what is in the way."""
    one = Solver(app, site, "S1")
    one.enter()
    gid = one.start()
    one.save(gid, 0, "mine", submit=True)
    (site.path.parent / "subjects.csv").mkdir()
    with pytest.raises(QuemError, match=r"subjects\.csv: cannot be written"):
        close_solving(site.store, site.spec, site.path, "shell")
    with site.store.read() as c:
        assert studies.solving_state(c, site.id) == "open"
    assert list(site.path.parent.glob(".*")) == []


def test_reopening_and_closing_again(app: Flask, site: Site) -> None:
    """Who withdraws after the first closing has no solution after the second."""
    one = Solver(app, site, "S1")
    one.enter()
    one.solve_all("mine")
    close_solving(site.store, site.spec, site.path, "shell")
    written = site.path.parent / "solutions/P1/S1.md"
    assert written.read_text() == "mine\n"
    with site.store.write() as c:
        set_solving(c, site.id, "open", "shell")
    one.client.post("/solve/withdraw", data={"sure": "yes"})
    close_solving(site.store, site.spec, site.path, "shell")
    assert not written.exists()
    assert draft_study(site.path).mistakes == []


def test_no_clock_runs_while_the_session_is_closed(
    app: Flask, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who never submitted is not away for longer with each closing, nor until it opens again."""
    time = FakeTime(monkeypatch)
    one = Solver(app, site, "S1")
    one.enter()
    gid = one.start()
    body = {"client": "tab-12345678", "running": "away", "take": True}
    one.client.post(f"/solve/t/{gid}/clock", json=body)
    time.passes(30)
    table = close_solving(site.store, site.spec, site.path, "shell")[-1]
    first = table.read_text()
    time.passes(5000)
    close_solving(site.store, site.spec, site.path, "shell")
    assert table.read_text() == first
    with site.store.write() as c:
        set_solving(c, site.id, "open", "shell")
    one.client.post(f"/solve/t/{gid}/clock", json={**body, "running": "work"})
    time.passes(10)
    close_solving(site.store, site.spec, site.path, "shell")
    rows = csv.DictReader(io.StringIO(table.read_text()))
    [row] = [row for row in rows if row["id"] == "S1"]
    assert (row["away P1"], row["seconds P1"]) == ("30.0", "10.0")


def test_dashboard_of_a_session(app: Flask, site: Site) -> None:
    """People are added, get links once, are revoked and erased; ids are checked."""
    dashboard = enter_dashboard(app, site)
    assert "no statement" not in dashboard.get("/dashboard/solving").text
    added = dashboard.post("/dashboard/solving/new", data={"id": "S9", "name": "Nina"})
    assert "/p/" in added.text
    for wrong in ("S9", "J1", "sys1", "a/b", ""):
        assert dashboard.post("/dashboard/solving/new", data={"id": wrong}).status_code == 422
    with site.store.read() as c:
        key = person_named(c, site.id, "subject", "S9").key
    assert dashboard.post(f"/dashboard/people/{key}/link").status_code == 422
    made = dashboard.post(f"/dashboard/people/{key}/link", data={"sure": "yes"})
    assert "/p/" in made.text
    dashboard.post(f"/dashboard/people/{key}/revoke", data={"sure": "yes"})
    assert "Link revoked" in dashboard.get("/dashboard/solving").text
    assert dashboard.post(f"/dashboard/people/{key}/erase", data={"word": "no"}).status_code == 422
    dashboard.post(f"/dashboard/people/{key}/erase", data={"word": "S9"})
    with site.store.read() as c:
        assert people_of(c, site.id, "subject")[-1].id == "erased-1"
    assert "Nina" not in dashboard.get("/dashboard/solving").text
    log = dashboard.get("/dashboard/events").text
    assert "Personal data erased; the subject is now erased-1" in log
