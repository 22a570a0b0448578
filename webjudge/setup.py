"""The dashboard's page on which a study is completed: who made what, who asks, and who judges."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from flask import Blueprint, redirect, request, url_for

from quem.errors import QuemError
from quem.solutions.sheets import is_unwritten
from quem.store.judges import judges_of
from quem.study.editing import ListChange, ValueChange
from quem.study.models import ExperienceSpec
from quem.study.reading import draft_study
from webjudge.access import site
from webjudge.dashboard_pages import dashboard_page
from webjudge.lacking import lacking
from webjudge.study_edits import edit_study

if TYPE_CHECKING:
    from werkzeug.wrappers import Response

    from quem.study.editing import Change
    from quem.study.models import Subject, System

setup = Blueprint("setup", __name__, url_prefix="/setup")

_MOST_YEARS = 150
_LONGEST_NAME = 200
_CONTACT = ("name", "institution", "email", "phone")


@dataclass
class _Solver:
    """Who made solutions, as the form shows them."""

    id: str
    name: str
    is_person: bool
    years: str = ""
    mistake: str = ""


@setup.get("")
def steps() -> str:
    """Show what a study needs, and what of it is lacking."""
    return _page(is_saved="said" in request.args)


@setup.post("")
def save() -> Response | tuple[str, int]:
    """Save who made the solutions, who asks, and until when; add judges, one name a line."""
    solvers, names = _solvers(), request.form.get("names", "")
    contact = {name: request.form.get(name, text).strip() for name, text in _contact().items()}
    mistakes: tuple[str, ...] = ()
    for number, solver in enumerate(solvers if _has_people() else ()):
        if request.form.get(f"solver-{number}") != solver.id:
            mistakes = ("The solvers have changed. Check them again.",)
            solvers = _solvers()
            break
        solver.is_person = request.form.get(f"kind-{number}") == "person"
        solver.years = request.form.get(f"years-{number}", "").strip()
        solver.name = request.form.get(f"name-{number}", solver.name).strip()
        solver.mistake = _years_mistake(solver)
    if any(solver.mistake for solver in solvers):
        mistakes = ("Not saved. Check the highlighted fields.",)
    if not mistakes:
        try:
            changes = {
                "who made the solutions": _solver_changes(solvers) if _has_people() else [],
                "who asks": _contact_changes(contact),
                "judges": _new_judges(names),
            }
            edit_study([*chain(*changes.values())], ", ".join(filter(changes.get, changes)))
        except QuemError as error:
            mistakes = tuple(map(str, error.mistakes))
    if mistakes:
        return _page(mistakes=mistakes, solvers=solvers, contact=contact, names=names), 422
    return redirect(url_for("dashboard.setup.steps", said="saved"), code=303)


def _page(
    *,
    is_saved: bool = False,
    mistakes: tuple[str, ...] = (),
    solvers: list[_Solver] | None = None,
    contact: dict[str, str] | None = None,
    names: str = "",
) -> str:
    current = site()
    with current.store.read() as c:
        judges = [judge for judge in judges_of(c, current.id) if judge.forgotten_at is None]
    found = current.solutions
    sheets = [found.briefing, found.consent, *found.statements.values()]
    unwritten = [
        os.path.relpath(sheet.files[0].path, current.path.parent)
        for sheet in sheets
        if sheet and is_unwritten(sheet)
    ]
    return dashboard_page(
        "setup.html",
        is_saved=is_saved,
        mistakes=mistakes,
        solvers=solvers or _solvers(),
        contact=contact or _contact(),
        judges=judges,
        names=names,
        of_people=_has_people(),
        unit=current.spec.experience_unit,
        unwritten=unwritten,
        lacking=lacking(current),
    )


def _has_people() -> bool:
    return isinstance(site().spec, ExperienceSpec)


def _solvers() -> list[_Solver]:
    """The people and systems of a study, in the order of the study file: people first."""
    spec = site().spec
    people = [
        _Solver(s.id, s.name, is_person=True, years=f"{s.experience:g}") for s in spec.subjects
    ]
    return people + [_Solver(s.id, s.name, is_person=False) for s in spec.systems]


def _contact() -> dict[str, str]:
    """Who asks, until when, and the title, as the form shows them."""
    spec = site().spec
    deadline = spec.deadline.isoformat() if spec.deadline else ""
    contact = {name: getattr(spec.organizer, name) for name in _CONTACT}
    return {**contact, "deadline": deadline, "title": spec.title}


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
    named: dict[str, tuple[Subject | System, ...]] = {
        "subjects": spec.subjects,
        "systems": spec.systems,
    }
    changes: list[Change] = [
        ValueChange((section, at, "name"), by_id[one.id].name)
        for section, known in named.items()
        for at, one in enumerate(known)
        if by_id[one.id].name != one.name
    ]
    for at, subject in enumerate(spec.subjects):
        one = by_id[subject.id]
        if one.is_person and _number(one) != subject.experience:
            changes.append(ValueChange(("subjects", at, "experience"), _number(one)))
    leaving = frozenset(n for n, s in enumerate(spec.subjects) if not by_id[s.id].is_person)
    coming = frozenset(n for n, s in enumerate(spec.systems) if by_id[s.id].is_person)
    if leaving or coming:
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


def _contact_changes(entered: dict[str, str]) -> list[Change]:
    shown = _contact()
    changed = {name: text for name, text in entered.items() if text != shown[name]}
    contact = {name: changed[name] for name in _CONTACT if name in changed}
    declared = draft_study(site().path).document.content.get("organizer")
    changes: list[Change] = []
    if contact and isinstance(declared, dict):
        changes += [ValueChange(("organizer", name), text) for name, text in contact.items()]
    elif contact:
        whole = {name: entered[name] for name in _CONTACT if entered[name]}
        changes.append(ValueChange(("organizer",), whole))
    if changed.get("title"):
        changes.append(ValueChange(("title",), changed["title"]))
    if "deadline" in changed:
        changes.append(ValueChange(("deadline",), changed["deadline"] or None))
    return changes


def _new_judges(entered: str) -> list[Change]:
    names = [" ".join(line.split()) for line in entered.splitlines() if line.strip()]
    if long := [name for name in names if len(name) > _LONGEST_NAME or not name.isprintable()]:
        message = f"“{long[0][:40]}…” is longer than {_LONGEST_NAME} characters. One name a line."
        raise QuemError([message])
    if not names:
        return []
    with site().store.read() as c:
        known = {judge.id.casefold() for judge in judges_of(c, site().id)}
    known |= {judge.id.casefold() for judge in site().spec.judges}
    ids = (f"J{n}" for n in range(1, 10_000) if f"j{n}" not in known)
    added = tuple({"id": one, "name": name} for one, name in zip(ids, names, strict=False))
    return [ListChange(("judges",), added=added)]
