"""The dashboard's pages on which a study is completed: who made what, who judges, and the texts."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flask import Blueprint, abort, redirect, request, url_for

from quem.errors import QuemError
from quem.io.text import read_text
from quem.solutions.sheets import is_unwritten
from quem.store.judges import judges_of
from quem.study.editing import ListChange, ValueChange
from quem.study.models import ExperienceSpec
from quem.study.reading import draft_study
from webjudge.access import site
from webjudge.dashboard_pages import dashboard_page
from webjudge.lacking import lacking, unwritten_statements
from webjudge.study_edits import edit_study, note_edit
from webjudge.unsaved import render_unsaved

if TYPE_CHECKING:
    from markupsafe import Markup
    from werkzeug.wrappers import Response

    from quem.solutions.model import Sheet
    from quem.study.editing import Change

setup = Blueprint("setup", __name__, url_prefix="/setup")

_SAID = {
    "solvers": "Saved who made the solutions.",
    "organizer": "Saved who asks.",
    "judges": "Judges added. Create their links when you are ready.",
    "text": "Text saved.",
}
_MOST_YEARS = 150
_LONGEST_NAME = 200
_LONGEST_TEXT = 1_000_000
_MOST_LISTED = 12
_CONTACT = ("name", "institution", "email", "phone")
_CHANGED = (
    "Somebody else changed this text meanwhile. Yours is below; save again to replace theirs."
)
_EMPTY = "Write the text, or cancel."
_TOO_LONG = "The text is longer than 1 MB. Make it shorter."


@dataclass
class _Solver:
    """Who made solutions, as the form shows them."""

    id: str
    name: str
    is_person: bool
    years: str = ""
    mistake: str = ""


@dataclass(frozen=True)
class _Text:
    """A text that judges read."""

    key: str
    title: str
    sheet: Sheet

    @property
    def content(self) -> str:
        file = self.sheet.files[0]
        return read_text(file.path, file.name, what="text")


@setup.get("")
def steps() -> str:
    """Show what a study needs, and what of it is lacking."""
    return _page(said=_SAID.get(request.args.get("said", ""), ""))


@setup.post("/solvers")
def save_solvers() -> Response | tuple[str, int]:
    """Save which solvers are people, with their years of experience."""
    solvers = _solvers()
    for number, solver in enumerate(solvers):
        if request.form.get(f"solver-{number}") != solver.id:
            return _refused(solvers=("The solvers have changed. Check them again.",))
        solver.is_person = request.form.get(f"kind-{number}") == "person"
        solver.years = request.form.get(f"years-{number}", "").strip()
        solver.mistake = _years_mistake(solver)
    if not any(solver.mistake for solver in solvers):
        try:
            edit_study(_solver_changes(solvers), "who made the solutions")
        except QuemError as error:
            return _refused(solvers=tuple(map(str, error.mistakes)), entered=solvers)
        return _saved("solvers")
    return _refused(solvers=("Not saved. Check the highlighted fields.",), entered=solvers)


@setup.post("/organizer")
def save_organizer() -> Response | tuple[str, int]:
    """Save who asks the judges, and until when."""
    form = {name: request.form.get(name, "").strip() for name in (*_CONTACT, "deadline", "title")}
    declared = draft_study(site().path).document.content
    changes: list[Change] = []
    if isinstance(declared.get("organizer"), dict) or not declared.get("organizer"):
        known = declared.get("organizer") or {}
        entered = {name: form[name] for name in _CONTACT if form[name] or name in known}
        if known:
            changes += [ValueChange(("organizer", name), text) for name, text in entered.items()]
        elif entered:
            changes.append(ValueChange(("organizer",), entered))
    else:
        entered = {name: form[name] for name in _CONTACT if form[name]}
        changes.append(ValueChange(("organizer",), entered))
    if form["title"] and form["title"] != site().spec.title:
        changes.append(ValueChange(("title",), form["title"]))
    if form["deadline"] or declared.get("deadline"):
        changes.append(ValueChange(("deadline",), form["deadline"] or None))
    try:
        edit_study(changes, "who asks")
    except QuemError as error:
        return _refused(organizer=tuple(map(str, error.mistakes)), contact=form)
    return _saved("organizer")


@setup.post("/judges")
def save_judges() -> Response | tuple[str, int]:
    """Add judges, one name a line."""
    entered = request.form.get("names", "")
    names = [" ".join(line.split()) for line in entered.splitlines() if line.strip()]
    if not names:
        return _refused(judges=("Write at least one name.",), names=entered)
    if long := [name for name in names if len(name) > _LONGEST_NAME or not name.isprintable()]:
        message = f"“{long[0][:40]}…” is longer than {_LONGEST_NAME} characters. One name a line."
        return _refused(judges=(message,), names=entered)
    with site().store.read() as c:
        known = {judge.id.casefold() for judge in judges_of(c, site().id)}
    known |= {judge.id.casefold() for judge in site().spec.judges}
    ids = (f"J{n}" for n in range(1, 10_000) if f"j{n}" not in known)
    added = tuple({"id": one, "name": name} for one, name in zip(ids, names, strict=False))
    try:
        edit_study([ListChange(("judges",), added=added)], "judges")
    except QuemError as error:
        return _refused(judges=tuple(map(str, error.mistakes)), names=entered)
    return _saved("judges")


@setup.get("/text/<path:key>")
def text(key: str) -> str:
    """Show a text to be edited."""
    one = _text(key)
    return _text_page(one, one.content, _digest(one))


@setup.post("/text/<path:key>")
def save_text(key: str) -> Response | str | tuple[str, int]:
    """Save a text, or show it as judges will see it."""
    one = _text(key)
    entered = request.form.get("text", "").replace("\r\n", "\n").replace("\r", "\n")
    before = request.form.get("before", "")
    if "preview" in request.form:
        ending = one.sheet.files[0].path.suffix
        return _text_page(one, entered, before, preview=render_unsaved(entered, ending))
    if trouble := _trouble(one, entered, before):
        theirs = one.content if trouble == _CHANGED else ""
        page = _text_page(one, entered, _digest(one), trouble=trouble, theirs=theirs)
        return page, 409 if theirs else 422
    note_edit(one.title)
    following = next((text for text in _texts() if is_unwritten(text.sheet)), None)
    if "next" in request.form and following:
        return redirect(url_for("dashboard.setup.text", key=following.key), code=303)
    return _saved("text")


def _trouble(one: _Text, entered: str, before: str) -> str:
    """Write a text, or say why it is not written."""
    if not entered.strip():
        return _EMPTY
    if len(entered.encode()) > _LONGEST_TEXT:
        return _TOO_LONG
    if before != _digest(one) and entered.rstrip("\n") != one.content.rstrip("\n"):
        return _CHANGED
    try:
        _replace(one.sheet.files[0].path, f"{entered.rstrip()}\n")
    except OSError as error:
        return f"The file cannot be written: {error.strerror or error}."
    return ""


def _page(
    *,
    said: str = "",
    refusals: dict[str, tuple[str, ...]] | None = None,
    entered: list[_Solver] | None = None,
    contact: dict[str, str] | None = None,
    names: str = "",
) -> str:
    current = site()
    spec = current.spec
    texts = _texts()
    problems = set(unwritten_statements(current))
    missing = [one for one in texts if one.key.partition("/")[2] in problems]
    shown_contact = contact or {
        **{name: getattr(spec.organizer, name) for name in _CONTACT},
        "deadline": spec.deadline.isoformat() if spec.deadline else "",
        "title": spec.title,
    }
    with current.store.read() as c:
        judges = [judge for judge in judges_of(c, current.id) if judge.forgotten_at is None]
    return dashboard_page(
        "setup.html",
        said=said,
        refusals=refusals or {},
        solvers=entered or _solvers(),
        contact=shown_contact,
        judges=judges,
        names=names,
        of_people=isinstance(spec, ExperienceSpec),
        unit=spec.experience_unit,
        own=[one for one in texts if "/" not in one.key],
        statements=[one for one in texts if "/" in one.key],
        missing=missing,
        most=_MOST_LISTED,
        texts_done=not any(is_unwritten(one.sheet) for one in texts),
        is_unwritten=is_unwritten,
        lacking=lacking(current),
    )


def _refused(
    entered: list[_Solver] | None = None,
    contact: dict[str, str] | None = None,
    names: str = "",
    **refusals: tuple[str, ...],
) -> tuple[str, int]:
    return _page(refusals=refusals, entered=entered, contact=contact, names=names), 422


def _saved(part: str) -> Response:
    anchor = {"text": "texts"}.get(part, part)
    return redirect(url_for("dashboard.setup.steps", said=part, _anchor=anchor), code=303)


def _solvers() -> list[_Solver]:
    """The people and systems of a study, in the order of the study file: people first."""
    spec = site().spec
    people = [
        _Solver(s.id, s.name, is_person=True, years=f"{s.experience:g}") for s in spec.subjects
    ]
    return people + [_Solver(s.id, s.name, is_person=False) for s in spec.systems]


def _years_mistake(solver: _Solver) -> str:
    if not solver.is_person:
        return ""
    years = solver.years.replace(",", ".")
    if not re.fullmatch(r"\d{1,3}(\.\d{1,6})?", years, re.ASCII) or float(years) > _MOST_YEARS:
        return f"Write a number from 0 to {_MOST_YEARS}, such as 7 or 2.5."
    known = next((one for one in site().spec.systems if one.id == solver.id), None)
    if known and (known.version or known.of or known.date):
        return "It has a version, as a system has. Remove that in the study file first."
    return ""


def _solver_changes(solvers: list[_Solver]) -> list[Change]:
    spec = site().spec
    by_id = {solver.id: solver for solver in solvers}
    changes: list[Change] = []
    for at, subject in enumerate(spec.subjects):
        one = by_id[subject.id]
        if one.is_person and float(one.years.replace(",", ".")) != subject.experience:
            changes.append(ValueChange(("subjects", at, "experience"), _number(one)))
    leaving = frozenset(n for n, s in enumerate(spec.subjects) if not by_id[s.id].is_person)
    coming = frozenset(n for n, s in enumerate(spec.systems) if by_id[s.id].is_person)
    people = tuple(_entry(by_id[spec.systems[n].id]) for n in sorted(coming))
    systems = tuple(_entry(by_id[spec.subjects[n].id]) for n in sorted(leaving))
    changes.append(ListChange(("subjects",), leaving, people))
    changes.append(ListChange(("systems",), coming, systems))
    return changes


def _entry(solver: _Solver) -> dict[str, Any]:
    entry: dict[str, Any] = {"id": solver.id}
    if solver.name:
        entry["name"] = solver.name
    if solver.is_person:
        entry["experience"] = _number(solver)
    return entry


def _number(solver: _Solver) -> float:
    return float(solver.years.replace(",", "."))


def _texts() -> list[_Text]:
    """The texts that can be edited: briefing and consent, then the statements."""
    found = site().solutions
    own = (("briefing", "Briefing", found.briefing), ("consent", "Consent form", found.consent))
    texts = [_Text(key, title, sheet) for key, title, sheet in own if sheet]
    titles = {problem.id: problem.title or problem.id for problem in site().spec.problems}
    return texts + [
        _Text(f"statement/{problem}", f"Statement: {titles.get(problem, problem)}", sheet)
        for problem, sheet in found.statements.items()
    ]


def _text(key: str) -> _Text:
    one = next((text for text in _texts() if text.key == key), None)
    if one is None:
        abort(404)
    return one


def _digest(one: _Text) -> str:
    return hashlib.sha256(one.content.encode()).hexdigest()


def _text_page(
    one: _Text,
    entered: str,
    before: str,
    *,
    trouble: str = "",
    theirs: str = "",
    preview: Markup | None = None,
) -> str:
    left = [text for text in _texts() if text.key != one.key and is_unwritten(text.sheet)]
    return dashboard_page(
        "setup-text.html",
        one=one,
        text=entered,
        before=before,
        trouble=trouble,
        theirs=theirs,
        preview=preview,
        left=len(left),
    )


def _replace(path: Path, content: str) -> None:
    """Write a text file, whole or not at all."""
    target = path.resolve()
    with tempfile.NamedTemporaryFile(
        "w", dir=target.parent, prefix=f".{target.stem}-", delete=False, encoding="utf-8"
    ) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    Path(file.name).chmod(target.stat().st_mode & 0o777)
    Path(file.name).replace(target)
