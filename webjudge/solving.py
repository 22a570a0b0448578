"""The pages of people who solve the problems, and what these pages send."""

from __future__ import annotations

import random
import re
import tempfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from flask import (
    Blueprint,
    Response,
    abort,
    current_app,
    jsonify,
    redirect,
    render_template,
    request,
    url_for,
)
from sqlalchemy.exc import OperationalError
from werkzeug.exceptions import NotFound

from quem.blinding.rendering import render_page_text
from quem.solutions.files import kind_of
from quem.solutions.model import Sheet, SolutionFile
from quem.solving.checking import named_in, upload_trouble
from quem.store.ballots import ClosedError, NotAssignedError, PausedError, SubmittedError
from quem.store.connecting import UnavailableError
from quem.store.digests import revision_id
from quem.store.events import record
from quem.store.people import (
    EXPERIENCE,
    EXPERIENCE_AGAIN,
    consent,
    decline,
    finish,
    minutes_left,
    note_replies,
    people_of,
    record_visit,
    replies_of,
    reply_after,
    visited_recently,
    withdraw,
)
from quem.store.solving import (
    Answer,
    ElsewhereError,
    StaleAnswerError,
    add_upload,
    assign_tasks,
    bytes_left,
    last_answer,
    receipt_of,
    run_clock,
    save_answer,
    settle,
    solving_state,
    spent_on,
    start_task,
    task_of_subject,
    tasks_of,
    upload_of,
    uploads_of,
)
from quem.store.uploads import TooLargeError, TooMuchError, UploadFolder
from webjudge.access import NO_LINK, current_person, signed_out, site
from webjudge.errors import refusal
from webjudge.files import file_token, send_one
from webjudge.languages import ENGLISH, LANGUAGES, gettext, keep_language, marked, spoken
from webjudge.questions import read_answers
from webjudge.security import policy

if TYPE_CHECKING:
    from markupsafe import Markup
    from sqlalchemy.orm import Session
    from werkzeug.wrappers import Response as AnyResponse

    from quem.store.models import PersonRow
    from quem.store.solving import SolvingTask, Spent, Upload
    from quem.studyfile.models import Solving


solve = Blueprint("solve", __name__, url_prefix="/solve")

LARGEST_UPLOAD = 50_000_000
# In a solution.
_MOST_FILES = 10
_LONGEST_TEXT = 1_000_000
_MOST_YEARS = 80.0
_MOST = 2**31 - 1
_CLIENT = re.compile(r"[A-Za-z0-9_-]{8,44}")
_SAVING = {"base", "client", "change", "layout", "state", "submit", "seconds", "views"}
_RUNNING = ("work", "pause", "away")
_CHUNK = 1 << 16
_CLOSED = marked("The session is closed. Answers can no longer be changed.")
_STALE = marked("This answer was changed in another tab or on another device.")
_ENDED = marked("This problem is submitted, skipped, or its time is over.")
_STOPPED = marked("The clock is stopped. The problem and your answer are hidden.")
_ELSEWHERE = marked("This problem is open in another tab or on another device.")
_TOO_MUCH = marked("Your files have more than 200 MB together. Remove some, or make them smaller.")
_TOO_LARGE = marked("The file is larger than 50 MB. Make it smaller.")
_UNREADABLE = marked("This file cannot be shown to judges. Save it again, or in another format.")
_NOTHING = marked("Write an answer or add a file before you submit.")


@solve.before_request
def _only_subjects() -> None:
    """Nothing of a body is read before it is known whose it is."""
    if site().spec.solving is None:
        abort(401, gettext(NO_LINK))
    if request.method not in ("GET", "HEAD", "OPTIONS"):
        with site().store.read() as c:
            current_person(c, "subject")
    if request.endpoint == "solve.upload":
        request.max_content_length = LARGEST_UPLOAD + _CHUNK
    elif request.endpoint in ("solve.save", "solve.check", "solve.preview"):
        # Characters of a text may take up to six in JSON.
        request.max_content_length = 6 * _LONGEST_TEXT + _CHUNK


class _RefusedUploadError(Exception):
    """A file cannot be part of an answer; the text says why and what to do."""


@solve.errorhandler(_RefusedUploadError)
def _refuse_upload(error: _RefusedUploadError) -> Response:
    return refusal(422, "file", str(error))


@solve.errorhandler(ClosedError)
@solve.errorhandler(PausedError)
@solve.errorhandler(SubmittedError)
@solve.errorhandler(StaleAnswerError)
def _refused(error: Exception) -> Response:
    """Say why nothing was changed."""
    if isinstance(error, StaleAnswerError):
        newer = {"text": error.answer.text, "files": list(error.answer.files)}
        details = {"revision": error.answer.base, "submitted": error.ended, "state": newer}
        return refusal(409, "stale", gettext(_STALE), **details)
    if isinstance(error, ClosedError):
        return refusal(403, "closed", gettext(_CLOSED))
    if isinstance(error, PausedError):
        return refusal(403, "paused", gettext(_STOPPED))
    return refusal(403, "ended", gettext(_ENDED))


@solve.errorhandler(NotAssignedError)
def _not_found(_: Exception) -> Any:  # noqa: ANN401  as Flask answers
    """What is another's is not there."""
    return current_app.handle_http_exception(NotFound())


@solve.post("/sign-out")
def leave() -> AnyResponse:
    """End this browser's session."""
    return signed_out("subject")


@solve.get("")
def home() -> AnyResponse | str:
    """Show briefing, consent, questions, and the list of problems."""
    with site().store.read() as c:
        person = current_person(c, "subject")
        state = solving_state(c, site().id)
        replies = replies_of(c, person)
    ready = _is_ready(person, replies)
    tasks = _tasks(person) if ready else []
    if person.declined_at is None:
        _note_visit(person)
    listed = _listed(tasks)
    counting = [one for one in listed if not one["practice"]]
    is_done = bool(counting) and all(one["ended"] for one in counting)
    return render_template(
        "solve/welcome.html",
        **_page(person, state),
        consented=person.consented_at is not None or site().solutions.solving_consent is None,
        declined=person.declined_at is not None,
        withdrawn=person.is_gone,
        ready=ready,
        done=is_done,
        finished=person.finished_at is not None,
        tasks=listed,
        n_problems=len(_problems()),
        next=next((one for one in listed if one["url"] and not one["ended"]), None),
        just=next((one for one in listed if one["gid"] == request.args.get("submitted")), None),
        briefing=_text(site().solutions.solving_briefing),
        consent=_text(site().solutions.solving_consent),
        experience=replies.get(EXPERIENCE, ""),
        again=replies.get(EXPERIENCE_AGAIN, ""),
        replies=replies,
        questions=_solving().asked_once,
        after=_solving().asked_after,
        pending=_pending(counting, replies),
        unit=site().spec.experience_unit,
        missing=request.args.get("missing", ""),
    )


@solve.post("/consent")
def give_consent() -> AnyResponse:
    """Note that the subject takes part, or would rather not."""
    with site().store.write() as c:
        person = current_person(c, "subject")
        _require_not_closed(c)
        (decline if request.form.get("consent") == "no" else consent)(c, person)
    return redirect(url_for("solve.home"), code=303)


@solve.post("/language")
def choose_language() -> AnyResponse:
    """Keep the language that the subject chose."""
    code, gid = request.form.get("language", ""), request.form.get("gid", "")
    if code not in LANGUAGES:
        abort(400)
    page = url_for("solve.task", gid=gid) if gid else url_for("solve.home")
    keep_language(code)
    return redirect(page, code=303)


@solve.post("/about")
def about_you() -> AnyResponse:
    """Keep the experience and the answers to the study's questions."""
    given = request.form.get("experience", "").strip().replace(",", ".")
    answers, written, missing = read_answers(_solving().asked_once, request.form)
    replies = {**answers, **written}
    if _is_experience(given):
        replies[EXPERIENCE] = f"{float(given):g}"
    with site().store.write() as c:
        person = current_person(c, "subject")
        _require_not_closed(c)
        if _lacks_consent(person) or person.is_gone:
            return redirect(url_for("solve.home"), code=303)
        if person.consented_at is None:
            consent(c, person)  # where there is no form of consent
        note_replies(c, person, replies)
    if missing or EXPERIENCE not in replies:
        lacks = "experience" if EXPERIENCE not in replies else "questions"
        return redirect(url_for("solve.home", missing=lacks, _anchor="about"), code=303)
    return redirect(url_for("solve.home", _anchor="problems"), code=303)


@solve.post("/finish")
def finish_session() -> AnyResponse:
    """Keep the experience that was asked for again, and note that the subject is done."""
    given = request.form.get("experience", "").strip().replace(",", ".")
    with site().store.write() as c:
        person = current_person(c, "subject")
        _require_not_closed(c)
        if person.is_gone:
            return redirect(url_for("solve.home"), code=303)
        if not _is_experience(given):
            return redirect(url_for("solve.home", missing="experience"), code=303)
        note_replies(c, person, {EXPERIENCE_AGAIN: f"{float(given):g}"})
        finish(c, person)
    return redirect(url_for("solve.home"), code=303)


@solve.post("/withdraw")
def leave_study() -> AnyResponse:
    """Delete all that the subject wrote."""
    if request.form.get("sure") == "yes":
        with site().store.write() as c:
            person = current_person(c, "subject")
            _require_not_closed(c)  # what is written into the study's folder would stay
            gone = [] if person.is_gone else withdraw(c, person)
        _uploads().remove(gone)
    return redirect(url_for("solve.home"), code=303)


@solve.get("/t/<gid>")
def task(gid: str) -> AnyResponse | str:
    """Show a problem: before it is started only that it is there, and how long it may take."""
    with site().store.read() as c:
        person = current_person(c, "subject")
        state = solving_state(c, site().id)
        replies = replies_of(c, person)
    if not _is_ready(person, replies):
        return redirect(url_for("solve.home"), code=303)
    one = next((one for one in _listed(_tasks(person)) if one["gid"] == gid), None)
    if one is None:
        abort(404)
    if not one["url"]:
        return redirect(url_for("solve.home"), code=303)
    page = {**_page(person, state), "task": one, "solving": _solving()}
    if not one["opened"]:
        return render_template("solve/start.html", **page)
    with site().store.read() as c:
        mine = task_of_subject(c, person.key, gid)
    if mine.running == "pause":
        # Who sees the problem is at work on it.
        with site().store.write() as c:
            mine = run_clock(c, person, gid, mine.holder or "start", "work", take=True)
    with site().store.read() as c:
        answer, held = last_answer(c, mine), uploads_of(c, mine)
        spent = spent_on([mine])[mine.key]
    files = _shown_files(gid, answer, held)
    statement = site().solutions.statements.get(mine.problem)
    return render_template(
        "solve/task.html",
        **page,
        statement=_text(statement, gid),
        text=answer.text,
        files=files,
        accept=",".join(f".{ending}" for ending in _solving().uploads),
        data={
            "key": gid,
            "layout": "",
            "contents": {},
            "revision": answer.base,
            "submitted": False,
            "preview": False,
            "ended": mine.ended,
            "state": {"text": answer.text, "files": list(answer.files)},
            "files": {upload.public_id: _described(gid, upload) for upload in held},
            "clock": _clock(mine, spent),
            "mostFiles": _MOST_FILES,
            "urls": {
                what: url_for(f"solve.{name}", gid=gid)
                for what, name in (
                    *(("state", "save"), ("clock", "tell_clock"), ("check", "check")),
                    *(("files", "upload"), ("preview", "preview")),
                )
            }
            | {"home": url_for("solve.home")},
        },
    )


@solve.post("/t/<gid>/start")
def start(gid: str) -> AnyResponse:
    """Start the clock of a problem."""
    with site().store.read() as c:
        person = current_person(c, "subject")
    one = next((one for one in _listed(_tasks(person)) if one["gid"] == gid), None)
    if one is None or not one["url"]:
        abort(404)
    with site().store.write() as c:
        try:
            start_task(c, person, gid, "start", one["limit"])
        except ClosedError:
            abort(403, gettext(_CLOSED))
    return redirect(url_for("solve.task", gid=gid), code=303)


@solve.put("/t/<gid>/state")
def save(gid: str) -> Response:
    """Save a draft, or submit it."""
    body = _body()
    kind = "submit" if body["submit"] else "save"
    state = body["state"]
    text, files = state["text"], tuple(state["files"])
    if kind == "submit" and not (text.strip() or files):
        return refusal(422, "invalid", gettext(_NOTHING))
    with site().store.read() as c:
        person = current_person(c, "subject")
    answer = Answer(str(body["base"]), body["client"], body["change"], text, files, kind)  # type: ignore[arg-type]
    names = _named(person, gid, text, files) if kind == "submit" else []
    with site().store.write() as c:
        saved = save_answer(c, person, gid, answer)
        mine = task_of_subject(c, person.key, gid)
        if saved.is_ended and names and not (saved.is_retry or mine.practice):
            # Its author was asked and sent it as it is: the organizer reviews it.
            about = {"problem": mine.problem, "count": len(names)}
            record(c, site().id, "subject", "answer-names", person.key, **about)
    answered = {
        "revision": revision_id(saved.number, saved.at),
        "submitted": saved.is_ended,
        "saved_at": saved.at.isoformat().replace("+00:00", "Z"),
    }
    if saved.is_ended:
        answered |= {
            "receipt": saved.receipt,
            "next": url_for("solve.home", submitted=gid, _anchor="problems"),
        }
    return jsonify(answered)


@solve.post("/t/<gid>/skip")
def skip(gid: str) -> AnyResponse:
    """Skip a problem; how much longer it would have taken is kept."""
    minutes = request.form.get("minutes", "").strip()
    with site().store.write() as c:
        person = current_person(c, "subject")
        mine = task_of_subject(c, person.key, gid)
        before = last_answer(c, mine)
        change = mine.head + 1
        answer = Answer(mine.head, f"skip-{gid}", change, before.text, before.files, "skip")
        try:
            save_answer(c, person, gid, answer)
        except (ClosedError, PausedError, SubmittedError, StaleAnswerError):
            return redirect(url_for("solve.home"), code=303)
        if re.fullmatch(r"\d{1,5}", minutes, re.ASCII):
            note_replies(c, person, {minutes_left(mine.problem): minutes})
    return redirect(url_for("solve.home", _anchor="problems"), code=303)


@solve.post("/t/<gid>/reopen")
def reopen(gid: str) -> AnyResponse:
    """Open a submitted or skipped problem again."""
    with site().store.write() as c:
        person = current_person(c, "subject")
        mine = task_of_subject(c, person.key, gid)
        change = Answer(mine.head, f"reopen-{gid}", mine.head + 1, kind="reopen")
        try:
            save_answer(c, person, gid, change)
        except (ClosedError, PausedError, SubmittedError, StaleAnswerError):
            return redirect(url_for("solve.home"), code=303)
    return redirect(url_for("solve.task", gid=gid), code=303)


@solve.post("/t/<gid>/after")
def after_problem(gid: str) -> AnyResponse:
    """Keep what the subject answers about a problem that they have ended."""
    questions = _solving().asked_after
    answers, written, missing = read_answers(questions, request.form)
    given = {**answers, **written}
    with site().store.write() as c:
        person = current_person(c, "subject")
        mine = task_of_subject(c, person.key, gid)
        _require_not_closed(c)
        if person.is_gone or mine.practice or not mine.ended:
            abort(404)
        if missing:
            return redirect(url_for("solve.home", missing="after", _anchor="after"), code=303)
        # Who left one out is not asked again.
        replies = {reply_after(q.id, mine.problem): given.get(q.id, "") for q in questions}
        note_replies(c, person, replies)
    return redirect(url_for("solve.home", _anchor="problems"), code=303)


@solve.post("/t/<gid>/clock")
def tell_clock(gid: str) -> Response:
    """Go on with the clock: the page is in view, paused, or left."""
    data = request.get_json()
    keys = {"client", "running", "take"}
    if not isinstance(data, dict) or data.keys() != keys or data["running"] not in _RUNNING:
        abort(422)
    if not isinstance(data["client"], str) or not _CLIENT.fullmatch(data["client"]):
        abort(422)
    if data["running"] == "pause" and not _solving().pause:
        abort(422)
    with site().store.read() as c:
        person = current_person(c, "subject")
    try:
        with site().store.write() as c:
            take = data["take"] is True
            mine = run_clock(c, person, gid, data["client"], data["running"], take=take)
            spent = spent_on([mine])[mine.key]
    except ElsewhereError:
        return refusal(409, "elsewhere", gettext(_ELSEWHERE))
    return jsonify(_clock(mine, spent))


@solve.post("/t/<gid>/check")
def check(gid: str) -> Response:
    """Say what in an answer could show judges who wrote it."""
    data = request.get_json()
    if not isinstance(data, dict) or data.keys() != {"text", "files"}:
        abort(422)
    _require_state(data)
    with site().store.read() as c:
        person = current_person(c, "subject")
    found = _named(person, gid, data["text"], tuple(data["files"]))
    return jsonify({"named": found})


@solve.post("/t/<gid>/preview")
def preview(gid: str) -> Response:
    """Show a text as judges will see it."""
    data = request.get_json()
    if not isinstance(data, dict) or data.keys() != {"text"}:
        abort(422)
    _require_state({**data, "files": []})
    with site().store.read() as c:
        task_of_subject(c, current_person(c, "subject").key, gid)
    return jsonify({"html": str(render_unsaved(data["text"]))})


@solve.post("/t/<gid>/files")
def upload(gid: str) -> Response:
    """Take a file: its bytes are the body, and its name is in the address."""
    name = PurePosixPath(request.args.get("name", "").replace("\\", "/")).name
    name = "".join(sign for sign in name if sign.isprintable())[:200]
    with site().store.read() as c:
        person = current_person(c, "subject")
        mine = task_of_subject(c, person.key, gid)
        answer = last_answer(c, mine)
    if len(answer.files) >= _MOST_FILES:
        raise _RefusedUploadError(gettext("There can be %(most)s files at most.", most=_MOST_FILES))
    made = _received(person, gid, name)
    if made is None:
        raise _RefusedUploadError(gettext(_TOO_MUCH))
    return jsonify(_described(gid, made))


def _received(person: PersonRow, gid: str, name: str) -> Upload | None:
    """Write the body to the disk and check it; only then it is noted and kept."""
    ending = PurePosixPath(name).suffix.casefold()
    if ending.removeprefix(".") not in _solving().uploads:
        endings = ", ".join(_solving().uploads)
        raise _RefusedUploadError(
            gettext("Files of this kind cannot be added. Use: %(endings)s.", endings=endings)
        )
    folder = _uploads()
    try:
        pieces = iter(lambda: request.stream.read(_CHUNK), b"")
        with site().store.read() as c:
            left = bytes_left(c, person)
        received, sha256, size = folder.receive(pieces, LARGEST_UPLOAD, person.key, left)
    except TooLargeError:
        raise _RefusedUploadError(gettext(_TOO_LARGE)) from None
    except TooMuchError:
        raise _RefusedUploadError(gettext(_TOO_MUCH)) from None
    if trouble := _received_trouble(received, ending):
        received.unlink(missing_ok=True)
        # What is wrong is said in English; what to do is translated.
        detail = f" It {trouble}." if spoken() == ENGLISH else ""
        raise _RefusedUploadError(gettext(_UNREADABLE) + detail)
    try:
        with site().store.write() as c:
            made = add_upload(c, person, gid, sha256=sha256, size=size, ending=ending, name=name)
            if made:
                # On the disk before the row is; bytes that nobody may have are not kept.
                folder.keep(received, sha256, ending)
    finally:
        received.unlink(missing_ok=True)
    return made


@solve.get("/t/<gid>/upload/<public_id>")
def uploaded(gid: str, public_id: str) -> Response:
    """Send a file back to who uploaded it, to be saved and never shown."""
    with site().store.read() as c:
        mine = task_of_subject(c, current_person(c, "subject").key, gid)
        held = upload_of(c, mine, public_id)
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
    """Send an image of the statement, cleaned."""
    with site().store.read() as c:
        mine = task_of_subject(c, current_person(c, "subject").key, gid)
    if mine.opened_at is None:
        abort(404)
    sheet = site().solutions.statements.get(mine.problem)
    files = [(f"statement-{n}", one) for n, one in enumerate(sheet.files if sheet else (), 1)]
    return send_one(site(), gid, files, token)


def _page(person: PersonRow, state: str) -> dict[str, Any]:
    contact = site().spec.organizer
    return {
        "study": {"title": site().spec.title},
        "notice": {"trial": "solving-trial", "closed": "solving-closed"}.get(state),
        "until": "",
        "closed": state == "closed",
        "address": site().address(person),
        "contact": contact,
        "initials": "".join(word[0] for word in contact.name.split()[-2:]),
        "home_url": url_for("solve.home"),
        "limit": _limit(),
    }


def _solving() -> Solving:
    solving = site().spec.solving
    assert solving is not None, "no solving session"  # noqa: S101  a bug of ours
    return solving


def _problems() -> list[str]:
    return [p.id for p in site().spec.problems if p.id != _solving().practice]


def _limit() -> float | None:
    """Give the seconds that there are for a problem."""
    minutes = _solving().time_limit
    return 60.0 * minutes if minutes else None


def _uploads() -> UploadFolder:
    return UploadFolder(site().path)


def _lacks_consent(person: PersonRow) -> bool:
    return site().solutions.solving_consent is not None and person.consented_at is None


def _is_ready(person: PersonRow, replies: dict[str, str]) -> bool:
    """Whether all is there that comes before the problems."""
    if person.is_gone or _lacks_consent(person) or EXPERIENCE not in replies:
        return False
    return all(q.id in replies for q in _solving().asked_once if q.required)


def _pending(listed: list[dict[str, Any]], replies: dict[str, str]) -> dict[str, Any] | None:
    """Give the first problem that has ended and whose questions were not answered."""
    asked = [q.id for q in _solving().asked_after]
    for one in listed:
        if one["ended"] and any(reply_after(q, one["problem"]) not in replies for q in asked):
            return one
    return None


def _is_experience(text: str) -> bool:
    return bool(re.fullmatch(r"\d{1,3}(\.\d{1,4})?", text, re.ASCII)) and float(text) <= _MOST_YEARS


def _require_not_closed(c: Session) -> None:
    if solving_state(c, site().id) == "closed":
        abort(403, gettext(_CLOSED))


def _tasks(person: PersonRow) -> list[SolvingTask]:
    """Give a subject's tasks, assigned now where they lack some, and ended where time is over."""
    with site().store.read() as c:
        tasks = tasks_of(c, person.key)
        state = solving_state(c, site().id)
    wanted = {*_problems(), *filter(None, [_solving().practice])}
    if wanted - {one.problem for one in tasks} and state != "closed":
        with site().store.write() as c:
            order, practice = _solving().order, _solving().practice
            rng = random.SystemRandom()
            assign_tasks(c, person, _problems(), practice=practice, order=order, rng=rng)
            tasks = tasks_of(c, person.key)
    if any(one.limit_seconds and one.opened_at and not one.ended for one in tasks):
        with site().store.write() as c:
            tasks = [settle(c, person, one) for one in tasks]
    return [one for one in tasks if one.problem in wanted]


def _listed(tasks: list[SolvingTask]) -> list[dict[str, Any]]:
    """Describe a subject's problems; only the next one opens, and what was opened before."""
    with site().store.read() as c:
        spent = spent_on(tasks)
        receipts = {one.key: receipt_of(c, site().id, one) for one in tasks}
    listed: list[dict[str, Any]] = []
    number, is_next = 0, True
    for one in tasks:
        number += not one.practice
        may_open = one.opened_at is not None or is_next
        # Who wants to practices; the first problem that counts waits for nothing.
        is_next = is_next and (one.practice or one.ended is not None)
        title = _title(one) if one.opened_at else ""
        listed.append(
            {
                "gid": one.public_id,
                "problem": one.problem,
                "url": url_for("solve.task", gid=one.public_id) if may_open else None,
                "number": number,
                "practice": one.practice,
                "title": title,
                "opened": one.opened_at is not None,
                "ended": one.ended,
                "receipt": receipts[one.key],
                "limit": None if one.practice else _limit(),
                "seconds": spent[one.key].work,
            }
        )
    return listed


def _title(one: SolvingTask) -> str:
    problem = site().problem(one.problem)
    return (problem.title or problem.id) if problem else one.problem


def _text(sheet: Sheet | None, gid: str = "") -> Any:  # noqa: ANN401  markup
    """Show a page of text in the subject's language; of a statement also its images."""
    translated = sheet and sheet.translations.get(spoken(), sheet)
    gone = gettext("This part cannot be displayed right now. Please tell the organizer.")
    if not (translated and gid):
        return render_page_text(translated, gone=gone)
    files = translated.files

    def address(number: int, page: int | None = None) -> str:  # noqa: ARG001  statements have none
        token = file_token(site(), gid, files[number - 1])
        return url_for("solve.file", gid=gid, token=token)

    return render_page_text(translated, address, gone=gone)


def _described(gid: str, held: Upload) -> dict[str, Any]:
    return {
        "id": held.public_id,
        "name": held.name,
        "size": held.size,
        "url": url_for("solve.uploaded", gid=gid, public_id=held.public_id),
    }


def _shown_files(gid: str, answer: Answer, held: list[Upload]) -> list[dict[str, Any]]:
    by_id = {one.public_id: one for one in held}
    return [_described(gid, by_id[name]) for name in answer.files if name in by_id]


def _clock(mine: SolvingTask, spent: Spent) -> dict[str, Any]:
    left = None if mine.limit_seconds is None else max(0.0, mine.limit_seconds - spent.limited)
    return {
        "work": round(spent.work, 1),
        "left": None if left is None else round(left, 1),
        "running": mine.running,
        "ended": mine.ended,
    }


def _named(person: PersonRow, gid: str, text: str, files: tuple[str, ...]) -> list[str]:
    """Say in words what could show judges who wrote an answer."""
    with site().store.read() as c:
        mine = task_of_subject(c, person.key, gid)
        held = {one.public_id: one for one in uploads_of(c, mine)}
        people = people_of(c, site().id, "subject")
    if not set(files) <= held.keys():
        abort(422)
    paths = [
        (_uploads().path(held[name].sha256, held[name].ending), held[name].name) for name in files
    ]
    return [_place(one, files, held) for one in named_in(text, paths, site().spec, people)]


def _place(one: Any, files: tuple[str, ...], held: dict[str, Upload]) -> str:  # noqa: ANN401
    if not one.file:
        return gettext("Line %(line)s: “%(words)s”", line=one.line, words=one.words)
    name = held[files[one.file - 1]].name
    if one.page:
        return gettext(
            "%(name)s, page %(page)s: “%(words)s”", name=name, page=one.page, words=one.words
        )
    return gettext("%(name)s: “%(words)s”", name=name, words=one.words)


def _received_trouble(received: Path, ending: str) -> str:
    """Check a file under its own ending; says what is wrong with it."""
    named = received.with_name(f"{received.name}{ending}")
    received.rename(named)
    try:
        return upload_trouble(named, "file", _solving().uploads)
    finally:
        named.rename(received)


def _body() -> dict[str, Any]:
    """The JSON object that a page sent to save a draft."""
    data = request.get_json()
    if not isinstance(data, dict) or data.keys() | {"seconds", "views"} != _SAVING:
        abort(422)
    number = data["change"]
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= _MOST:
        abort(422)
    if not isinstance(data["client"], str) or not _CLIENT.fullmatch(data["client"]):
        abort(422)
    if not isinstance(data["submit"], bool) or not isinstance(data["state"], dict):
        abort(422)
    if data["state"].keys() != {"text", "files"}:
        abort(422)
    _require_state(data["state"])
    return data


def _require_state(state: dict[str, Any]) -> None:
    text, files = state["text"], state["files"]
    is_text = isinstance(text, str) and _is_storable(text)
    if not is_text or not isinstance(files, list) or not all(isinstance(f, str) for f in files):
        abort(422)
    if len(text.encode(errors="replace")) > _LONGEST_TEXT:
        abort(413)
    if len(files) > _MOST_FILES or len(set(files)) < len(files):
        abort(422)


def _is_storable(text: str) -> bool:
    """PostgreSQL's text holds no NUL, and no encoding holds half a surrogate pair."""
    return "\0" not in text and text.encode(errors="replace").decode() == text


def _note_visit(person: PersonRow) -> None:
    if visited_recently(person):
        return
    try:
        with site().store.write(patience=0) as c:
            record_visit(c, person)
    except (OperationalError, UnavailableError):
        return


def render_unsaved(text: str) -> Markup:
    """Render a text; its images show their descriptions."""
    with tempfile.TemporaryDirectory(prefix="quem-text-") as folder:
        path = Path(folder, "text.md")
        path.write_text(text, encoding="utf-8")
        return render_page_text(Sheet((SolutionFile(path, kind_of(path), path.name, path.name),)))
