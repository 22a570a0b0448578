"""Closing a solving session: solutions and the table of subjects, written beside the study."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from quem.errors import FileError, Mistake, QuemError
from quem.io.text import read_text
from quem.store.backup import sync_folder
from quem.store.clock import spent_on, stop_clock
from quem.store.people import (
    EXPERIENCE,
    EXPERIENCE_AGAIN,
    minutes_left,
    people_of,
    reply_after,
)
from quem.store.studies import set_solving
from quem.store.uploads import UploadFolder, uploads_of
from quem.store.work import last_answer, settle, tasks_of
from quem.studyfile.document import parse_document
from quem.studyfile.models import Solving
from quem.studyfile.subjects import SolvedProblem, SubjectRecord, subjects_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy.orm import Session

    from quem.store.database import Store
    from quem.store.models import PersonRow, TaskRow, UploadRow
    from quem.store.state import AnswerState
    from quem.studyfile.relevance import JudgedSpec

_STATES = {"submit": "submitted", "timeout": "timeout", "skip": "skipped"}


def close_solving(store: Store, spec: JudgedSpec, study: Path, actor: str) -> list[Path]:
    """Close a solving session and write its files; idempotent."""
    # In one transaction: concurrent organizers close in turn, nothing changes during writing, and
    # the session stays open after an error.
    with store.write() as c:
        set_solving(c, spec.id, "closed", actor)
        if not session_table(study).exists():
            _refuse_strangers(c, spec, study)
        for subject in people_of(c, spec.id, "subject"):
            for task in tasks_of(c, subject.key):
                stop_clock(settle(c, task))
        return write_solutions(c, spec, study)


def _refuse_strangers(c: Session, spec: JudgedSpec, study: Path) -> None:
    """Refuse to overwrite solutions of other origin before the first closing."""
    root = study.parent / spec.solutions
    begun = [
        (task.problem, subject.id)
        for subject in people_of(c, spec.id, "subject")
        for task in tasks_of(c, subject.key)
        if task.head and not task.practice
    ]
    found = [path for problem, one in begun for path in _there(root / problem, one)]
    if found:
        message = "is there already, and the session has an answer too; move one of them away"
        raise QuemError([Mistake(str(path), message=message) for path in found])


def write_solutions(c: Session, spec: JudgedSpec, study: Path) -> list[Path]:
    """Write the solutions of a session and its table of subjects."""
    target = session_table(study)
    uploads = UploadFolder(study)
    solving = spec.solving or Solving()
    root = study.parent / spec.solutions
    written: list[Path] = []
    try:
        root.mkdir(exist_ok=True)
        for subject in people_of(c, spec.id, "subject"):
            for task in tasks_of(c, subject.key):
                if not task.practice:
                    written += _write_solution(c, root / task.problem, subject, task, uploads)
        problems = [problem.id for problem in spec.problems if problem.id != solving.practice]
        questions = [question.id for question in solving.asked_once]
        for problem in problems:
            questions += [reply_after(question.id, problem) for question in solving.asked_after]
            questions.append(minutes_left(problem))
        records = [_record(c, subject) for subject in people_of(c, spec.id, "subject")]
        text = subjects_text(records, questions, problems)
        _write(target, text.encode())
    except OSError as error:
        place = Path(error.filename2 or error.filename or target)
        raise FileError(place, f"cannot be written: {error.strerror or error}") from None
    return [*written, target]


def session_table(study: Path) -> Path:
    """The path of a study's table of subjects."""
    content = parse_document(read_text(study, str(study), what="study file"), str(study)).content
    named = content.get("subjects") if isinstance(content, dict) else None
    if not isinstance(named, str) or Path(named).name != named:
        message = "name a file beside the study file, such as subjects.csv"
        raise QuemError(Mistake(str(study), key="subjects", message=message))
    return study.parent / named


def experience_of(replies: dict[str, str]) -> float | None:
    """A subject's experience from the questions at the start, in the study's unit."""
    try:
        return float(replies[EXPERIENCE])
    except (KeyError, ValueError):
        return None


def _record(c: Session, subject: PersonRow) -> SubjectRecord:
    tasks = [task for task in tasks_of(c, subject.key) if not task.practice]
    replies = subject.replies
    problems = {task.problem: _solved(c, task) for task in tasks}
    return SubjectRecord(
        subject.id,
        subject.name,
        experience_of(replies),
        _state(subject, experience_of(replies), problems.values()),
        {q: text for q, text in replies.items() if q not in (EXPERIENCE, EXPERIENCE_AGAIN)},
        problems,
    )


def _state(subject: PersonRow, experience: float | None, problems: Iterable[SolvedProblem]) -> str:
    """Why a person is not a subject of the study; empty where they are one."""
    if subject.is_gone:
        return "withdrawn"
    if subject.declined_at:
        return "declined"
    has_solved = any(one.state in ("submitted", "timeout") for one in problems)
    return "" if has_solved and experience is not None else "absent"


def _solved(c: Session, task: TaskRow) -> SolvedProblem:
    answer, spent = last_answer(c, task), spent_on(task)
    state = _STATES.get(task.ended or "", "none")
    if state in ("submitted", "timeout") and not (answer.text.strip() or answer.files):
        state = "none"
    return SolvedProblem(state, spent.work, spent.away, spent.pause)


def _write_solution(
    c: Session, folder: Path, subject: PersonRow, task: TaskRow, uploads: UploadFolder
) -> Iterator[Path]:
    """Replace or remove the solution that an earlier closing wrote."""
    answer = last_answer(c, task)
    solved = task.ended in ("submit", "timeout") and not subject.is_gone
    parts = dict(_parts(answer, uploads_of(c, task), uploads)) if solved else {}
    folder.mkdir(exist_ok=True)
    earlier = list(_there(folder, subject.id))
    if not parts:
        # A subject who never began may have a solution of other origin.
        for path in earlier if task.head else []:
            _remove(path)
        return
    name, content = next(iter(parts.items()))
    is_one = len(parts) == 1
    target = folder / (f"{subject.id}{Path(name).suffix}" if is_one else subject.id)
    _write(target, content if is_one else parts)
    for path in earlier:
        if path != target:
            _remove(path)
    yield target


def _there(folder: Path, subject: str) -> Iterator[Path]:
    """A subject's existing solution in the folder of a problem."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name == subject or (path.stem == subject and path.is_file()):
            yield path


def _parts(
    answer: AnswerState, held: list[UploadRow], uploads: UploadFolder
) -> Iterator[tuple[str, bytes]]:
    if answer.text.strip():
        yield "answer.md", f"{answer.text.rstrip()}\n".encode()
    by_id = {upload.public_id: upload for upload in held}
    for number, name in enumerate(answer.files, 1):
        upload = by_id[name]
        content = uploads.path(upload.sha256, upload.ending).read_bytes()
        yield f"file-{number}{upload.ending}", content


def _write(target: Path, content: bytes | dict[str, bytes]) -> None:
    """Write a file or folder atomically, unless it is unchanged."""
    if target.is_file() and target.read_bytes() == content:
        return
    if target.is_dir() and {one.name: one.read_bytes() for one in target.iterdir()} == content:
        return
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".") as folder:
        made = Path(folder, target.name)
        if isinstance(content, bytes):
            _write_file(made, content)
        else:
            made.mkdir()
            made.chmod(0o755)
            for name, part in content.items():
                _write_file(made / name, part)
            sync_folder(made)
        if made.is_dir():
            _remove(target)
        made.replace(target)
    sync_folder(target.parent)


def _write_file(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    path.chmod(0o644)


def _remove(path: Path) -> None:
    with suppress(FileNotFoundError):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
