"""Subjects' pages, and the requests of these pages."""

from __future__ import annotations

import random
import re
import tempfile
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from flask import Blueprint, Response, abort, jsonify, redirect, render_template, request, url_for
from werkzeug.exceptions import BadRequest

from quem.blinding.rendering import render_page_text
from quem.solutions.files import kind_of
from quem.solutions.model import Sheet, SolutionFile
from quem.solving.checking import named_in, upload_trouble
from quem.store.assignment import assign_tasks
from quem.store.clock import is_over, spent_on
from quem.store.events import record
from quem.store.exporting import receipts_of
from quem.store.people import (
    EXPERIENCE,
    EXPERIENCE_AGAIN,
    consent,
    finish,
    minutes_left,
    note_replies,
    people_of,
    reply_after,
    withdraw,
)
from quem.store.state import AnswerState
from quem.store.uploads import UploadFolder, add_upload, bytes_left, uploads_of
from quem.store.work import (
    Change,
    ClosedError,
    PausedError,
    StaleError,
    SubmittedError,
    last_answer,
    run_clock,
    save,
    settle,
    start_task,
    task_of,
    tasks_of,
)
from webjudge.access import (
    current_person,
    lacks_consent,
    note_visit,
    require_not_closed,
    share,
    site,
    state_of,
)
from webjudge.bodies import (
    LONGEST_TEXT,
    MOST_FILES,
    AnswerBody,
    CheckBody,
    ClockBody,
    ExperienceForm,
    PreviewBody,
    acknowledged,
)
from webjudge.errors import RefusedError, go
from webjudge.files import send_file
from webjudge.pages import Area, home_page, lack, listed, read_answers, statement
from webjudge.security import policy

if TYPE_CHECKING:
    from collections.abc import Container

    from markupsafe import Markup
    from sqlalchemy.orm import Session
    from werkzeug.wrappers import Response as AnyResponse

    from quem.store.models import Kind, PersonRow, TaskRow, UploadRow
    from quem.studyfile.models import Solving


solve = Blueprint("solve", __name__, url_prefix="/solve")
share(solve, "subject")

LARGEST_UPLOAD = 50_000_000
_CHUNK = 1 << 16
# Characters of a text may take up to six in JSON.
_LARGEST_TEXT = 6 * LONGEST_TEXT + _CHUNK


@solve.before_request
def _limit_bodies() -> None:
    limits = dict.fromkeys(("solve.state", "solve.check", "solve.preview"), _LARGEST_TEXT)
    limits["solve.files"] = LARGEST_UPLOAD + _CHUNK
    if request.endpoint in limits:
        request.max_content_length = limits[request.endpoint]


@solve.get("")
def home() -> str:
    """Show briefing, consent, questions, and the list of problems."""
    with site().store.read() as c:
        person, area, replies = _admitted(c)
        ready = _is_ready(person, replies)
        entries = _listed(c, area, person) if ready else []
    if person.declined_at is None:
        note_visit(person)
    page = home_page(site(), area, entries, person)
    page["next"] = next((e for e in entries if e["url"] and not e["ended"]), None)
    return render_template(
        "solve/welcome.html",
        **page,
        person=person,
        ready=ready,
        pending=_pending(entries, replies),
        n_problems=len(_problems()),
        limit=_limit(),
        solving=_solving(),
        replies=replies,
        experience=replies.get(EXPERIENCE, ""),
        again=replies.get(EXPERIENCE_AGAIN, ""),
        unit=site().spec.experience_unit,
        missing=request.args.get("missing", ""),
    )


@solve.post("/about")
def about_you() -> AnyResponse:
    """Store the experience and the answers to the study's questions."""
    replies = read_answers(_solving().asked_once, request.form)
    missing = "questions" if lack(_solving().asked_once, replies) else ""
    try:
        replies[EXPERIENCE] = f"{ExperienceForm.read().experience:g}"
    except BadRequest:
        missing = "experience"
    with site().store.write() as c:
        person = _changing(c)
        if lacks_consent(person):
            go("solve.home")
        consent(c, person)  # without a consent form
        note_replies(c, person, replies)
    if missing:
        return redirect(url_for("solve.home", missing=missing, _anchor="about"), code=303)
    return redirect(url_for("solve.home", _anchor="problems"), code=303)


@solve.post("/finish")
def finish_session() -> AnyResponse:
    """Store the second report of experience, and mark the subject as finished."""
    try:
        experience = ExperienceForm.read().experience
    except BadRequest:
        go("solve.home", missing="experience")
    with site().store.write() as c:
        person = _changing(c)
        note_replies(c, person, {EXPERIENCE_AGAIN: f"{experience:g}"})
        finish(c, person)
    return redirect(url_for("solve.home"), code=303)


@solve.post("/withdraw")
def leave_study() -> AnyResponse:
    """Withdraw the subject and delete everything they wrote."""
    if request.form.get("sure") == "yes":
        with site().store.write() as c:
            gone = withdraw(c, _changing(c))  # after closing, the study folder has it
        _uploads().remove(gone)
    return redirect(url_for("solve.home"), code=303)


@solve.get("/t/<gid>")
def task(gid: str) -> str:
    """Show a problem; before the start, only its time limit."""
    with site().store.read() as c:
        person, area, replies = _admitted(c)
        if not _is_ready(person, replies):
            go("solve.home")
        entry = _entry(_listed(c, area, person), gid)
    if not entry["url"]:
        go("solve.home")
    page = {**area.page(site(), person), "task": entry, "solving": _solving(), "limit": _limit()}
    with site().store.read() as c:
        mine = task_of(c, person.key, gid)
        answer, held = last_answer(c, mine), uploads_of(c, mine)
    if mine.opened_at is None:
        return render_template("solve/start.html", **page)
    if mine.running == "pause":
        # Showing the problem starts working time.
        with site().store.write() as c:
            run_clock(c, person, gid, mine.holder or "start", "work", take=True)
            mine = task_of(c, person.key, gid)
    described = {upload.public_id: _described(gid, upload) for upload in held}
    return render_template(
        "solve/task.html",
        **page,
        statement=statement(site(), area, mine),
        text=answer.text,
        over=is_over(mine),
        files=[described[name] for name in answer.files if name in described],
        data={
            "key": gid,
            "layout": "",
            "contents": {},
            "revision": mine.revision,
            "submitted": False,
            "preview": False,
            "ended": mine.ended,
            "state": answer.to_json(),
            "files": described,
            "clock": _clock(mine),
            "mostFiles": MOST_FILES,
            "urls": {"home": page["home_url"]}
            | {
                name: area.url(name, gid=gid)
                for name in ("state", "clock", "check", "files", "preview")
            },
        },
    )


@solve.post("/t/<gid>/start")
def start(gid: str) -> AnyResponse:
    """Start the clock of a problem."""
    with site().store.read() as c:
        person, area, _ = _admitted(c)
        entry = _entry(_listed(c, area, person), gid)
    if not entry["url"]:
        abort(404)
    with site().store.write() as c:
        start_task(c, person, gid, "start", None if entry["practice"] else _limit())
    return redirect(url_for("solve.task", gid=gid), code=303)


@solve.put("/t/<gid>/state")
def state(gid: str) -> Response:
    """Save a draft, or submit it."""
    body = AnswerBody.read()
    text, files = body.state.text, tuple(body.state.files)
    if body.submit and not (text.strip() or files):
        raise RefusedError("empty")
    kind: Kind = "submit" if body.submit else "save"
    change = Change(str(body.base), body.client, body.change, "", AnswerState(text, files), kind)
    names = _named(gid, body.state) if body.submit else []
    try:
        with site().store.write() as c:
            person = current_person(c, "subject")
            saved = save(c, person, gid, change)
            mine = task_of(c, person.key, gid)
            if saved.is_ended and names and not (saved.is_retry or mine.practice):
                # The author confirmed it as it is; the organizer reviews it.
                about = {"problem": mine.problem, "count": len(names)}
                record(c, site().id, "subject", "answer-names", person.key, **about)
    except StaleError as stale:
        now = {"revision": stale.revision, "submitted": stale.submitted}
        raise RefusedError("stale", **now, state=stale.state.to_json()) from None
    after = url_for("solve.home", submitted=gid, _anchor="problems") if saved.is_ended else ""
    return acknowledged(saved, after)


@solve.post("/t/<gid>/skip", defaults={"kind": "skip"})
@solve.post("/t/<gid>/reopen", defaults={"kind": "reopen"})
def end(gid: str, kind: Literal["skip", "reopen"]) -> AnyResponse:
    """Skip a problem with an estimate of the minutes left, or reopen an ended one."""
    minutes = request.form.get("minutes", "").strip()
    refusals = ClosedError, PausedError, SubmittedError, StaleError
    with suppress(*refusals), site().store.write() as c:
        person = current_person(c, "subject")
        mine = task_of(c, person.key, gid)
        last, number = last_answer(c, mine), mine.head + 1
        save(c, person, gid, Change(mine.revision, f"{kind}-{gid}", number, "", last, kind))
        if re.fullmatch("[0-9]{1,5}", minutes):
            note_replies(c, person, {minutes_left(mine.problem): minutes})
    if kind == "reopen":
        return redirect(url_for("solve.task", gid=gid), code=303)
    return redirect(url_for("solve.home", _anchor="problems"), code=303)


@solve.post("/t/<gid>/after")
def after_problem(gid: str) -> AnyResponse:
    """Store the answers about an ended problem."""
    questions = _solving().asked_after
    given = read_answers(questions, request.form)
    with site().store.write() as c:
        person = _changing(c)
        mine = task_of(c, person.key, gid)
        if mine.practice or not mine.ended:
            abort(404)
        if lack(questions, given):
            return redirect(url_for("solve.home", missing="after", _anchor="after"), code=303)
        # Skipped questions are not asked again.
        replies = {reply_after(q.id, mine.problem): given.get(q.id, "") for q in questions}
        note_replies(c, person, replies)
    return redirect(url_for("solve.home", _anchor="problems"), code=303)


@solve.post("/t/<gid>/clock")
def clock(gid: str) -> Response:
    """Update the clock: the page is visible, paused, or left."""
    body = ClockBody.read()
    if body.running == "pause" and not _solving().pause:
        abort(422)
    with site().store.write() as c:
        person = current_person(c, "subject")
        mine = run_clock(c, person, gid, body.client, body.running, take=body.take)
    return jsonify(_clock(mine))


@solve.post("/t/<gid>/check")
def check(gid: str) -> Response:
    """Report words in a solution that could reveal its author."""
    return jsonify({"named": _named(gid, CheckBody.read())})


@solve.post("/t/<gid>/preview")
def preview(gid: str) -> Response:
    """Render Markdown as judges see it."""
    body = PreviewBody.read()
    with site().store.read() as c:
        task_of(c, current_person(c, "subject").key, gid)
    return jsonify({"html": str(render_unsaved(body.text))})


@solve.post("/t/<gid>/files")
def files(gid: str) -> Response:
    """Receive a file: its bytes are the body, its name is in the URL."""
    name = PurePosixPath(request.args.get("name", "").replace("\\", "/")).name
    name = "".join(sign for sign in name if sign.isprintable())[:200]
    ending = PurePosixPath(name).suffix.casefold()
    with site().store.read() as c:
        person = current_person(c, "subject")
        mine = task_of(c, person.key, gid)
        answer, left = last_answer(c, mine), bytes_left(c, person)
    if len(answer.files) >= MOST_FILES:
        raise RefusedError("file-count", most=MOST_FILES)
    if ending.removeprefix(".") not in _solving().uploads:
        raise RefusedError("file-kind", endings=_solving().uploads)
    # Only stored and checked files are recorded, and only recorded files are kept.
    pieces = iter(lambda: request.stream.read(_CHUNK), b"")
    received, sha256, size = _uploads().receive(pieces, LARGEST_UPLOAD, person.key, left)
    try:
        _check(received, ending)
        with site().store.write() as c:
            made = add_upload(c, person, gid, sha256=sha256, size=size, ending=ending, name=name)
            if made is None:
                raise RefusedError("files-size")
            _uploads().keep(received, sha256, ending)
    finally:
        received.unlink(missing_ok=True)
    return jsonify(_described(gid, made))


def _check(received: Path, ending: str) -> None:
    """Check a file by its extension."""
    named = received.with_name(f"{received.name}{ending}")
    received.rename(named)
    try:
        trouble = upload_trouble(named, "file", _solving().uploads)
    finally:
        named.rename(received)
    if trouble:
        raise RefusedError("file-unreadable", trouble=trouble)


@solve.get("/t/<gid>/upload/<public_id>")
def uploaded(gid: str, public_id: str) -> Response:
    """Send an uploaded file back to its author as a download."""
    with site().store.read() as c:
        mine = task_of(c, current_person(c, "subject").key, gid)
        held = next((one for one in uploads_of(c, mine) if one.public_id == public_id), None)
    if held is None:
        abort(404)
    try:
        body = _uploads().path(held.sha256, held.ending).read_bytes()
    except OSError:
        abort(404)
    response = Response(body, mimetype="application/octet-stream")
    encoded = f"UTF-8''{quote(held.name, safe='')}"
    response.headers.set("Content-Disposition", "attachment", **{"filename*": encoded})
    response.headers["Content-Security-Policy"] = policy(sandbox="")
    return response


@solve.get("/t/<gid>/file/<token>")
def file(gid: str, token: str) -> Response:
    """Send a cleaned image of the statement."""
    with site().store.read() as c:
        mine = task_of(c, current_person(c, "subject").key, gid)
    if mine.opened_at is None:
        abort(404)
    return send_file(site(), mine, token)


def _admitted(c: Session) -> tuple[PersonRow, Area, dict[str, str]]:
    """The signed-in subject, the session's state, and their replies."""
    person = current_person(c, "subject")
    return person, Area("solve", state_of(c, "subject")), person.replies


def _changing(c: Session) -> PersonRow:
    """The subject, if still in the study and the session is not closed."""
    person = current_person(c, "subject")
    require_not_closed(c, "subject")
    if person.is_gone:
        go("solve.home")
    return person


def _solving() -> Solving:
    solving = site().spec.solving
    assert solving is not None, "no solving session"  # noqa: S101  a bug of ours
    return solving


def _problems() -> list[str]:
    return [p.id for p in site().spec.problems if p.id != _solving().practice]


def _limit() -> float | None:
    """Time limit of a problem in seconds."""
    minutes = _solving().time_limit
    return 60.0 * minutes if minutes else None


def _uploads() -> UploadFolder:
    return UploadFolder(site().path)


def _is_ready(person: PersonRow, replies: dict[str, str]) -> bool:
    """Whether consent and the questions before the problems are complete."""
    if person.is_gone or lacks_consent(person) or EXPERIENCE not in replies:
        return False
    return not lack(_solving().asked_once, replies)


def _listed(c: Session, area: Area, person: PersonRow) -> list[dict[str, Any]]:
    """A subject's problems; assigns missing ones, and ends those out of time."""
    solving, tasks = _solving(), tasks_of(c, person.key)
    wanted = {*_problems(), *filter(None, [solving.practice])}
    lacks = area.state != "closed" and wanted - {one.problem for one in tasks}
    if lacks or any(one.limit_seconds and one.opened_at and not one.ended for one in tasks):
        with site().store.write() as writer:
            if lacks:
                rng, practice, order = random.SystemRandom(), solving.practice, solving.order
                assign_tasks(writer, person, _problems(), practice=practice, order=order, rng=rng)
            for one in tasks_of(writer, person.key):
                settle(writer, one)
            return _entries(writer, area, person, wanted)
    return _entries(c, area, person, wanted)


def _entries(
    c: Session, area: Area, person: PersonRow, wanted: Container[str]
) -> list[dict[str, Any]]:
    tasks = [task for task in tasks_of(c, person.key) if task.problem in wanted]
    receipts, submitted = receipts_of(c, person.key), {t.public_id for t in tasks if t.is_submitted}
    kept = {gid: receipt for gid, receipt in receipts.items() if gid in submitted}
    return listed(site(), area, tasks, kept)


def _pending(entries: list[dict[str, Any]], replies: dict[str, str]) -> dict[str, Any] | None:
    """The first ended problem with unanswered questions."""
    asked = [question.id for question in _solving().asked_after]
    for one in entries:
        lacks = any(reply_after(name, one["problem"]) not in replies for name in asked)
        if one["ended"] and lacks and not one["practice"]:
            return one
    return None


def _entry(entries: list[dict[str, Any]], gid: str) -> dict[str, Any]:
    entry = next((one for one in entries if one["gid"] == gid), None)
    if entry is None:
        abort(404)
    return entry


def _described(gid: str, held: UploadRow) -> dict[str, Any]:
    url = url_for("solve.uploaded", gid=gid, public_id=held.public_id)
    return {"id": held.public_id, "name": held.name, "size": held.size, "url": url}


def _clock(mine: TaskRow) -> dict[str, Any]:
    spent = spent_on(mine)
    left = None if mine.limit_seconds is None else max(0.0, mine.limit_seconds - spent.limited)
    return {
        "work": round(spent.work, 1),
        "left": None if left is None else round(left, 1),
        "running": mine.running,
        "ended": mine.ended,
    }


def _named(gid: str, answer: CheckBody) -> list[str]:
    """Words in a solution that could reveal its author, with their places."""
    with site().store.read() as c:
        mine = task_of(c, current_person(c, "subject").key, gid)
        held = {one.public_id: one for one in uploads_of(c, mine)}
        people = people_of(c, site().id, "subject")
    if not held.keys() >= set(answer.files):
        abort(422)
    files = [held[name] for name in answer.files]
    paths = [(_uploads().path(one.sha256, one.ending), one.name) for one in files]
    return [
        render_template(
            "solve/named.txt", found=one, name=files[one.file - 1].name if one.file else ""
        ).strip()
        for one in named_in(answer.text, paths, site().spec, people)
    ]


def render_unsaved(text: str) -> Markup:
    """Render a text, with alt texts in place of images."""
    with tempfile.TemporaryDirectory(prefix="quem-text-") as folder:
        path = Path(folder, "text.md")
        path.write_text(text, encoding="utf-8")
        return render_page_text(Sheet((SolutionFile(path, kind_of(path), path.name, path.name),)))
