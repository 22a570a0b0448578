"""The pages of people who solve the problems: what they may do, and what comes of it."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image

from quem.errors import QuemError
from quem.solving.closing import close_solving
from quem.store import studies, uploads
from quem.store.people import person_named
from quem.store.studies import set_solving
from quem.store.work import last_answer, task_of
from quem.studyfile.reading import draft_study, read_study
from tests.store.solving import FakeTime
from tests.webjudge.sites import SURE, enter_as, enter_dashboard, everybody, gids
from tests.webjudge.solving_sites import Solver, task_data, write_solving_study
from webjudge import create_app, open_site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from flask import Flask
    from flask.testing import FlaskClient

    from webjudge import Site


MARKDOWN = "# Plan\n\nStop the pump.\n"
EVERYBODY = ("S1", "S2", "S3")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = open_site(write_solving_study(tmp_path, solving="order: fixed"))
    set_session(site, "open")
    yield site
    site.store.close()


def set_session(site: Site, state: Any) -> None:  # noqa: ANN401  a literal
    with site.store.write() as c:
        set_solving(c, site.id, state, "shell")


@pytest.fixture
def one(app: Flask, site: Site) -> Solver:
    return entered(app, site, "S1")


@pytest.fixture
def gid(one: Solver) -> str:
    return one.start()


def entered(app: Flask, site: Site, name: str, experience: str = "7") -> Solver:
    one = Solver(app, site, name)
    one.enter(experience)
    return one


def close(site: Site) -> list[Path]:
    return close_solving(site.store, site.spec, site.path, "shell")


def png(color: str = "red") -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (8, 8), color).save(file, "PNG")
    return file.getvalue()


def uploaded(one: Solver, gid: str, name: str = "a.png", content: bytes = b"") -> dict[str, str]:
    answer: dict[str, str] = one.upload(gid, name, content or png()).json  # type: ignore[assignment]
    return answer


def uploaded_files(site: Site) -> list[Path]:
    return sorted(path for path in site.path.with_suffix(".uploads").rglob("*") if path.is_file())


def clock(one: Solver, gid: str, running: str) -> dict[str, Any]:
    body = {"client": "tab-12345678", "running": running, "take": True}
    told: dict[str, Any] = one.client.post(f"/solve/t/{gid}/clock", json=body).json  # type: ignore[assignment]
    return told


def test_one_problem_after_the_other(app: Flask, site: Site) -> None:
    """Nothing of a problem is shown before it is started, and only the next one opens."""
    one = Solver(app, site, "S1")
    assert one.tasks() == []
    one.enter()
    [first] = one.tasks()
    assert "case 1" not in one.client.get(f"/solve/t/{first}").text.casefold()
    gid = one.start()
    assert "case 1" in one.client.get(f"/solve/t/{gid}").text
    assert one.tasks() == [first]
    assert one.save(gid, 0, MARKDOWN).status_code == 200
    done = one.save(gid, 1, MARKDOWN, submit=True).get_json()
    assert done["submitted"]
    assert done["receipt"] in one.client.get(done["next"]).text
    assert len(one.tasks()) == 2
    assert one.save(gid, 2, "later").status_code == 403


def test_nobody_reaches_what_is_anothers(app: Flask, site: Site, one: Solver, gid: str) -> None:
    """No address of another subject's task answers; nor do judges' and organizers' pages."""
    other = entered(app, site, "S2")
    mine = uploaded(one, gid)
    one.save(gid, 0, "secret words", mine["id"])
    theirs = other.start()
    body = {"client": "tab-12345678", "running": "work", "take": True}
    paths = [rule.rule for rule in app.url_map.iter_rules() if rule.endpoint.startswith("solve.")]
    for path in paths:
        if "<gid>" not in path:
            continue
        url = path.replace("<gid>", gid).replace("<public_id>", mine["id"]).replace("<token>", "x")
        answers = [
            other.client.get(url),
            other.client.post(url, json=body),
            other.client.post(url, json={"text": "", "files": []}),
            other.save(gid, 0, "x"),
        ]
        for answer in answers:
            assert answer.status_code in (404, 405, 415, 422, 302, 303), url
            assert "secret words" not in answer.text
    assert other.save(theirs, 0, "x", mine["id"]).status_code == 404
    assert one.page(gid)["state"]["text"] == "secret words"


def test_files(site: Site, one: Solver, gid: str) -> None:
    """A file goes to the disk under its hash, and back to its author as a download only."""
    first = uploaded(one, gid, "C:\\Users\\zelda\\график🔥.PNG")
    assert first["name"] == "график🔥.PNG"
    assert one.save(gid, 0, "", first["id"]).status_code == 200
    back = one.client.get(first["url"])
    assert back.data == png()
    assert back.headers["Content-Disposition"].startswith("attachment")
    assert back.headers["Content-Disposition"].isascii()  # as servers take headers
    assert "sandbox" in back.headers["Content-Security-Policy"]
    assert [path.read_bytes() for path in uploaded_files(site)] == [png()]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.exe", b"MZ", "Files of this kind"),
        ("a", b"text", "Files of this kind"),
        ("a.png", b"no picture", "cannot be shown"),
        ("a.pdf", b"%PDF-1.7 broken", "cannot be shown"),
        ("a.docx", b"PK\x03\x04", "cannot be shown"),
        ("a.md", b"", "cannot be shown"),
    ],
)
def test_files_that_judges_could_not_see(
    site: Site, one: Solver, gid: str, name: str, content: bytes, words: str
) -> None:
    """They are refused when they come, with what to do, and nothing of them stays."""
    refused = one.upload(gid, name, content)
    assert refused.status_code == 422
    assert words in refused.text
    assert uploaded_files(site) == []


def test_a_bomb_and_too_many_files(
    site: Site, one: Solver, gid: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Packages are looked at within limits, and so are their number, size, and time."""
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("word/document.xml", b" " * 300_000_000)
    assert one.upload(gid, "a.docx", bomb.getvalue()).status_code == 422
    monkeypatch.setattr("webjudge.solving.MOST_FILES", 3)
    ids = [uploaded(one, gid, content=png(color))["id"] for color in ("red", "blue", "lime")]
    one.save(gid, 0, "", *ids)
    assert "3 files at most" in one.upload(gid, "b.png", png("black")).text
    one.save(gid, 1, "", ids[0])
    monkeypatch.setattr(uploads, "MOST_OF_SUBJECT", len(png()) * 3 + 20)
    before = uploaded_files(site)
    assert "200 MB" in one.upload(gid, "b.png", png("black")).text
    monkeypatch.undo()
    one.save(gid, 2, "done", submit=True)
    assert one.upload(gid, "late.png", png()).status_code == 403
    assert uploaded_files(site) == before


def test_the_same_bytes_of_two_people(app: Flask, site: Site, one: Solver, gid: str) -> None:
    """Who withdraws takes their file away, and leaves what another person uploaded."""
    other = entered(app, site, "S2")
    for solver, task, name in ((one, gid, "a.md"), (one, gid, "a.py"), (other, "", "b.md")):
        uploaded(solver, task or other.start(), name, b"print(1)\n")
    one.client.post("/solve/withdraw", data=SURE)
    assert [path.suffix for path in uploaded_files(site)] == [".md"]


def test_words_that_show_who_wrote_it(app: Flask, site: Site, one: Solver, gid: str) -> None:
    text = "fine\nby Zelda\nask bo@example.org\nor @zel_da\nas S2x said"
    note = uploaded(one, gid, "note.md", b"first\nZelda S3x\n")
    found = one.client.post(f"/solve/t/{gid}/check", json={"text": text, "files": [note["id"]]})
    named = ["Line 2: “Zelda”", "Line 3: “bo@example.org”", "Line 4: “@zel_da”", "Line 5: “S2x”"]
    assert found.json == {"named": [*named, "note.md: “Zelda S3x”"]}
    one.save(gid, 0, text, submit=True)
    page = enter_dashboard(app, site).get("/dashboard/solving").text
    assert "S1 submitted P1 with words that may show who wrote it" in page


def test_withdrawing(site: Site, one: Solver, gid: str) -> None:
    one.save(gid, 0, "zebratext", uploaded(one, gid)["id"], submit=True)
    one.client.post("/solve/withdraw", data={})
    assert one.client.get(f"/solve/t/{gid}").status_code == 200
    one.client.post("/solve/withdraw", data=SURE)
    assert one.client.get(f"/solve/t/{gid}").status_code == 303
    assert uploaded_files(site) == []
    for page in ("about", "finish"):
        one.client.post(f"/solve/{page}", data={"experience": "9"})
    assert everybody(site, "subject")["S1"].replies == {}
    table = close(site)[-1]
    assert not (site.path.parent / "solutions/P1/S1.md").exists()
    rows = {row["id"]: row["state"] for row in csv.DictReader(io.StringIO(table.read_text()))}
    assert rows == {"S1": "withdrawn", "S2": "absent", "S3": "absent"}


def test_closing_writes_what_judges_get(
    app: Flask, site: Site, dashboard: FlaskClient, opened: Callable[[Path], Site]
) -> None:
    """Solutions, subjects, and times; closing twice writes the same bytes; then judges rank."""
    other_site = opened(site.path)  # as another process has it
    other = create_app(other_site)
    for number, name in enumerate(EVERYBODY, 1):
        one = entered(app, site, name, str(3 * number))
        if name == "S3":
            gid = one.start()
            one.save(gid, 0, "with a picture", uploaded(one, gid)["id"], submit=True)
            one.start()
            one.client.post(f"/solve/t/{one.tasks()[-1]}/skip", data={"minutes": "30"})
        else:
            one.solve_all(f"What I, number {number}, would do.")
    assert "Close the solving session first" in dashboard.post("/dashboard/open", data=SURE).text
    for state, words in (
        ("trial", "session has to be opened first"),
        ("open", "People are still solving"),
    ):
        set_session(site, state)
        assert words in dashboard.get("/dashboard").text
    folder = site.path.parent
    lost = (folder / "solutions/P1/sys1.md").rename(folder / "lost.md")
    page = dashboard.post("/dashboard/solving/close", data=SURE).text
    assert "The session is closed" in page
    assert "there is no solution of sys1" in page
    assert "close it again" in dashboard.get("/dashboard").text
    lost.rename(folder / "solutions/P1/sys1.md")
    assert dashboard.post("/dashboard/solving/close", data=SURE).status_code == 303
    assert "close it again" not in dashboard.get("/dashboard").text
    files = [folder / "subjects.csv", *(p for p in folder.rglob("solutions/**/*") if p.is_file())]
    first = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}
    names = ("P1/S1.md", "P1/S3/answer.md", "P1/S3/file-1.png", "P3/S2.md")
    assert {folder / "solutions" / name for name in names} <= set(first)
    dashboard.post("/dashboard/solving/close", data=SURE)
    assert first == {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}
    spec = read_study(site.path)
    assert [(s.id, s.experience) for s in spec.subjects] == [("S1", 3), ("S2", 6), ("S3", 9)]
    assert set(spec.subjects[0].seconds) == {"P1", "P2", "P3"}
    assert [(m.problem, m.solver) for m in spec.missing] == [("P2", "S3"), ("P3", "S3")]
    one = Solver(app, site, "S1")
    assert one.save(one.tasks()[0], 9, "later").status_code == 403
    assert dashboard.post("/dashboard/open", data=SURE).status_code == 303
    judge = enter_as(app, site, "J1")
    assert "What I, number" in "".join(judge.get(f"/judge/g/{gid}").text for gid in gids(judge))
    elsewhere = enter_as(other, other_site, "J1")
    pages = [elsewhere.get(f"/judge/g/{gid}").text for gid in gids(elsewhere)]
    assert max(len(set(re.findall(r'data-solution="([A-Z])"', page))) for page in pages) == 5


def test_a_limit_says_until_when_and_the_list_stays(
    tmp_path: Path, opened: Callable[[Path], Site], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Away counts, and nothing offers to reopen what is over; without a limit the session ends."""
    time = FakeTime(monkeypatch)
    for limit in (None, 1):
        folder = tmp_path / str(limit)
        folder.mkdir()
        more = f"order: fixed\n{f'time_limit: {limit}' if limit else ''}"
        site = opened(write_solving_study(folder, problems=1, solving=more))
        set_session(site, "open")
        one = entered(create_app(site), site, "S1")
        clock_words = "It runs on when you leave" if limit else "It runs while the page"
        task = f"/solve/t/{one.tasks()[-1]}"
        assert all(clock_words in one.client.get(page).text for page in ("/solve", task))
        gid = one.start()
        until = f"reopen it until {'its time is over' if limit else 'the session closes'}."
        assert one.client.get(task).text.count(until) == 2
        one.save(gid, 0, "mine", submit=True)
        assert "Reopen and continue" in one.client.get(task).text
        one.client.post("/solve/finish", data={"experience": "9"})
        assert one.tasks() == [gid]
        time.passes(100)
        again = one.client.post(f"{task}/reopen", follow_redirects=True)
        assert (again.request.path, "cannot be reopened" in again.text) == (task, bool(limit))
        assert ("task-data" in again.text, "You are done" in one.client.get("/solve").text) == (
            (False, True) if limit else (True, False)
        )
        assert "Reopen and continue" not in one.client.get(task).text


def test_text_that_no_database_holds(one: Solver, gid: str) -> None:
    """Half a character is refused where a page did not replace it, and breaks nothing."""
    for text in ("a\ud83d", "a\0b"):
        assert one.save(gid, 0, text).status_code == 422
        shown = one.client.post(f"/solve/t/{gid}/preview", json={"text": text})
        checked = one.client.post(f"/solve/t/{gid}/check", json={"text": text, "files": []})
        assert (shown.status_code, checked.status_code) == (422, 422)
    assert one.save(gid, 0, "a\U0001f600").status_code == 200


AFTER = """order: fixed
questions:
  - {id: field, about: study, kind: text, text: Which field?}
  - {id: familiar, about: task, kind: scale, text: How familiar?, required: true}
  - {id: tools, about: task, kind: text, text: Which tools?}"""


def test_questions_after_each_problem(tmp_path: Path, opened: Callable[[Path], Site]) -> None:
    """They are asked once a problem has ended, and the table has a column for each."""
    site = opened(write_solving_study(tmp_path, solving=AFTER))
    set_session(site, "open")
    one, other = (entered(create_app(site), site, name) for name in ("S1", "S2"))
    one.enter(**{"question-0": "pumps"})
    gid = one.start()
    replies = {"question-0": "4", "question-1": "a ruler"}
    assert one.client.post(f"/solve/t/{gid}/after", data=replies).status_code == 404
    one.save(gid, 0, "mine", submit=True)
    assert other.client.post(f"/solve/t/{gid}/after", data=replies).status_code == 404
    missing = one.client.post(f"/solve/t/{gid}/after", data={"question-1": "x"})
    assert "Answer the required questions" in one.client.get(missing.location).text
    one.client.post(f"/solve/t/{gid}/after", data=replies)
    skipped = one.start()
    one.client.post(f"/solve/t/{skipped}/skip", data={"minutes": "25"})
    one.client.post(f"/solve/t/{skipped}/after", data={"question-0": "1"})
    rows = {row["id"]: row for row in csv.DictReader(io.StringIO(close(site)[-1].read_text()))}
    answers = {name: text for name, text in rows["S1"].items() if name.startswith("answer ")}
    assert {name: text for name, text in answers.items() if "P3" not in name} == {
        "answer field": "pumps",
        "answer familiar P1": "4",
        "answer tools P1": "a ruler",
        "answer minutes left for P1": "",
        "answer familiar P2": "1",
        "answer tools P2": "",
        "answer minutes left for P2": "25",
    }
    assert draft_study(site.path).mistakes == []


def test_what_was_there_is_not_overwritten(site: Site, one: Solver) -> None:
    """Somebody put a solution there by hand: nothing is written, and the message says where."""
    one.solve_all("mine")
    other = site.path.parent / "solutions/P2/S1.txt"
    other.write_text("by hand\n")
    with pytest.raises(QuemError, match=r"S1\.txt: is there already"):
        close(site)
    assert other.read_text() == "by hand\n"
    assert not (site.path.parent / "subjects.csv").exists()
    other.unlink()
    (site.path.parent / "subjects.csv").mkdir()
    with pytest.raises(QuemError, match=r"subjects\.csv: cannot be written"):
        close(site)
    assert list(site.path.parent.glob(".*")) == []
    with site.store.read() as c:
        assert studies.solving_state(c, site.id) == "open"


def test_two_organizers_close_at_once(site: Site, one: Solver) -> None:
    for _ in range(3):
        gid = one.start()
        one.save(gid, 0, "with a picture", uploaded(one, gid)["id"], submit=True)
    with ThreadPoolExecutor(4) as pool:
        closings = [pool.submit(close, site) for _ in range(4)]
    assert len({tuple(closing.result()) for closing in closings}) == 1
    assert list((site.path.parent / "solutions").rglob(".*")) == []


def test_reopening_and_closing_again(site: Site, one: Solver) -> None:
    one.solve_all("mine")
    close(site)
    written = site.path.parent / "solutions/P1/S1.md"
    assert written.read_text() == "mine\n"
    assert one.client.post("/solve/withdraw", data=SURE).status_code == 403
    set_session(site, "open")
    one.client.post("/solve/withdraw", data=SURE)
    close(site)
    assert not written.exists()
    assert draft_study(site.path).mistakes == []


def test_no_clock_runs_while_the_session_is_closed(
    app: Flask, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who never submitted is not away for longer with each closing, nor until it opens again."""
    time = FakeTime(monkeypatch)
    one = entered(app, site, "S1")
    gid = one.start()
    clock(one, gid, "away")
    time.passes(30)
    table = close(site)[-1]
    first = table.read_text()
    time.passes(5000)
    close(site)
    assert table.read_text() == first
    set_session(site, "open")
    clock(one, gid, "work")
    time.passes(10)
    close(site)
    row = next(row for row in csv.DictReader(io.StringIO(table.read_text())) if row["id"] == "S1")
    assert (row["away P1"], row["seconds P1"]) == ("30.0", "10.0")


class Cheat(Solver):
    """A client of a subject, whose first problem is started, and what it can do."""

    def __init__(self, app: Flask, site: Site, time: FakeTime) -> None:
        super().__init__(app, site, "S1")
        self.app, self.site, self.time = app, site, time
        self.enter()
        self.gid = self.tasks()[0]
        self.do("start")
        self.write("in time")

    def do(self, what: str) -> None:
        self.client.post(f"/solve/t/{self.gid}/{what}", data={"minutes": "9"})

    def write(self, text: str = "gained", base: int = 0, *, submit: bool = False) -> None:
        """Save an answer, made from the newest draft unless another is named."""
        page = "" if base else self.client.get(f"/solve/t/{self.gid}").text
        newest = task_data(page)["revision"] if "task-data" in page else 1
        self.save(self.gid, base or newest, text, submit=submit)

    def step(self, word: str) -> None:
        """Do what a word says; a number lets seconds pass, and "elsewhere" is another tab."""
        match word:
            case "save" | "submit":
                self.write(submit=word == "submit")
            case "save-unseen" | "submit-unseen":
                self.write(base=1, submit=word == "submit-unseen")
            case "finish":
                self.write("in time", submit=True)
            case "read":
                self.client.get(f"/solve/t/{self.gid}")
            case "elsewhere":
                self.tab = "another-tab"
            case "device":
                Cheat(self.app, self.site, self.time).write()
            case "away" | "work" | "pause":
                body = {"client": self.tab, "running": word, "take": True}
                self.client.post(f"/solve/t/{self.gid}/clock", json=body)
            case "reopen" | "skip" | "start":
                self.do(word)
            case _:
                self.time.passes(int(word))


@pytest.mark.parametrize(
    "steps",
    [
        "3600 save",
        "3600 submit",
        "3600 save-unseen",
        "away 3600 save",
        "away 3600 submit-unseen",
        "50 away 50 work save",
        "15 away 15 away 15 away 15 away 15 away save",
        "20 away 20 work 20 away 20 work save",
        "pause 3600 save-unseen",
        "pause 3600 submit-unseen",
        "pause read 3600 save",
        "elsewhere pause 3600 save-unseen",
        "59 pause 59 work 2 save-unseen",
        "elsewhere away 3600 save",
        "30 work 30 work 1 save-unseen",
        "finish 3600 reopen save",
        "skip 3600 reopen save",
        "30 work 30 work 30 work reopen save",
        "3600 start save",
        "away 3600 device",
    ],
)
def test_no_client_gains_time(
    tmp_path: Path, opened: Callable[[Path], Site], monkeypatch: pytest.MonkeyPatch, steps: str
) -> None:
    """What is saved when no time is left does not count, however the client gets there."""
    site = opened(write_solving_study(tmp_path, solving="time_limit: 1\norder: fixed"))
    one = Cheat(create_app(site), site, FakeTime(monkeypatch))
    for word in steps.split():
        one.step(word)
    with site.store.read() as c:
        key = person_named(c, site.id, "subject", "S1").key
        assert last_answer(c, task_of(c, key, one.gid)).text == "in time"
