"""The setup page: solvers, organizer, and judges."""

from __future__ import annotations

import os
import re
from itertools import chain
from typing import TYPE_CHECKING, Any

from flask import Blueprint, redirect, request, url_for
from pydantic import TypeAdapter, ValidationError

from quem.errors import QuemError
from quem.solutions.sheets import is_unwritten
from quem.store.people import people_of
from quem.store.studies import set_state, status_of
from quem.studyfile.editing import Change, ListChange, ValueChange
from quem.studyfile.models import ExperienceSpec, Subject, System
from webjudge.access import acting, site
from webjudge.dashboard.overview import started_rankings
from webjudge.dashboard.page import dashboard_page, note_done, require_reviewed
from webjudge.dashboard.people import LONGEST_NAME, MOST_YEARS, links_begin, make_links
from webjudge.study_edits import edit_study

if TYPE_CHECKING:
    from collections.abc import Mapping

    from werkzeug.wrappers import Response as AnyResponse


pages = Blueprint("setup", __name__, url_prefix="/setup")

# Form fields and their keys in the study file.
_PLACES: dict[str, tuple[str, ...]] = {
    "title": ("title",),
    "name": ("organizer", "name"),
    "institution": ("organizer", "institution"),
    "email": ("organizer", "email"),
    "phone": ("organizer", "phone"),
    "deadline": ("deadline",),
}
_POPULATION = ("fewest", "most")
_YEARS = re.compile(r"\d{1,3}(\.\d{1,6})?", re.ASCII)
_MOST_KEPT = 60  # limit of a cookie
_SHOWN = TypeAdapter(dict[str, str])


@pages.get("")
def steps() -> str:
    """Show required settings, missing ones, and what was just saved."""
    return _page()


@pages.post("")
def save() -> AnyResponse | tuple[str, int] | str:
    """Save changed fields, add judges (one name per line), and open the study on request."""
    now = _fields()
    fields, doubts = _entered(now)
    wrong = _wrong(fields)
    names = request.form.get("names", "")
    added: tuple[dict[str, str], ...] = ()
    mistakes: list[str] = []
    if not (wrong or doubts):
        try:
            added = _new_judges(names)
            changes: dict[str, list[Change]] = {
                "who made the solutions": _solver_changes(fields),
                "whom the years speak about": _population_changes(fields, now),
                "who asks": [
                    ValueChange(place, fields[name] or ("" if "organizer" in place else None))
                    for name, place in _PLACES.items()
                    if fields[name] != now[name] and (fields[name] or name != "title")
                ],
                "judges": [
                    *_judge_changes(fields),
                    *([ListChange(("judges",), added=added)] if added else []),
                ],
            }
            edit_study([*chain(*changes.values())], ", ".join(filter(changes.get, changes)))
        except QuemError as error:
            mistakes = [str(mistake) for mistake in error.mistakes]
    if wrong or doubts or mistakes:
        facts = {"wrong": wrong, "doubts": doubts, "mistakes": mistakes}
        return _page(**facts, fields=fields, names=names), 422
    if request.form.get("then") == "open" and _may_open():
        require_reviewed()
        with site().store.write() as c:
            set_state(c, site().id, "open", acting())
        return make_links("judge")
    kept = sorted(one for one in now if fields[one] != now[one])
    note_done("saved", kept=[*kept, *(f"judge-{one['id']}" for one in added)][:_MOST_KEPT])
    return redirect(url_for("dashboard.setup.steps"), code=303)


def _may_open(*asked: str) -> bool:
    """Whether only fields of the form are missing, and no test rankings need a decision."""
    with site().store.read() as c:
        is_new = status_of(c, site().id).state == "trial" and not started_rankings(c, site())
        lacking = site().lacking(c).keys() - {*asked}
        return is_new and not lacking and not site().unreadable()


def _entered(now: dict[str, str]) -> tuple[dict[str, str], list[dict[str, str]]]:
    """The new value of each field, and the questions to confirm first.

    A field has changed if it differs from the value that its page showed, so that a second tab or
    an editor does not lose what it saved in between.
    """
    entered = {name: text.strip() for name, text in request.form.items()}
    try:
        seen = _SHOWN.validate_json(request.form["shown"]) if "shown" in request.form else now
    except ValidationError:
        seen = now
    changed = {one for one in seen if entered.get(one, seen[one]) != seen[one]}
    for one in [one for one in changed if one.startswith("years-") and entered[one]]:
        kind = one.replace("years", "kind", 1)
        if kind not in changed and now.get(kind) == "system":
            changed.add(kind)
            entered[kind] = "person"
    kept = {one: entered[one] for one in changed & {*now} if entered[one] != now[one]}
    doubts = [{"what": "gone", "field": one} for one in sorted(changed - {*now})]
    doubts += [
        {"what": "changed", "field": one, "now": now[one], "kept": kept[one]}
        for one in kept
        if now[one] != seen.get(one, now[one])
    ]
    return {**now, **kept}, doubts


def _page(**values: Any) -> str:  # noqa: ANN401  what was entered, and what is wrong with it
    current = site()
    with current.store.read() as c:
        judges = [judge for judge in people_of(c, current.id, "judge") if judge.erased_at is None]
        lacking = current.lacking(c)
    found = current.solutions
    sheets = [found.briefing, found.consent, *found.statements.values()]
    unwritten = [
        os.path.relpath(sheet.files[0].path, current.path.parent)
        for sheet in sheets
        if sheet and is_unwritten(sheet)
    ]
    shown = _fields()
    page: dict[str, Any] = {
        "solvers": [one.id for one in _solvers()],
        "fields": shown,
        "shown": shown,
        "judges": judges,
        "unlinked": sum(judge.linked_at is None for judge in judges),
        "unit": current.spec.experience_unit,
        "most_years": MOST_YEARS,
        "unwritten": unwritten,
        "lacking": lacking,
        "unreadable": current.unreadable(),
        "may_open": _may_open("people", "judges"),
        **links_begin(),
    }
    return dashboard_page("setup.html", **page | values)


def _solvers() -> list[Subject | System]:
    """Subjects and systems of an experience study, in the order of the study file."""
    spec = site().spec
    return [*spec.subjects, *spec.systems] if isinstance(spec, ExperienceSpec) else []


def _fields() -> dict[str, str]:
    """Current values of the form."""
    spec = site().spec
    fields = {name: str(getattr(spec.organizer, name, "")) for name in _PLACES}
    fields |= {f"judge-{one.id}": one.name for one in spec.judges}
    fields |= {"title": spec.title, "deadline": spec.deadline.isoformat() if spec.deadline else ""}
    for one in _solvers():
        fields[f"name-{one.id}"] = one.name
        fields[f"kind-{one.id}"] = "person" if isinstance(one, Subject) else "system"
        fields[f"years-{one.id}"] = f"{one.experience:g}" if isinstance(one, Subject) else ""
    if isinstance(spec, ExperienceSpec):
        declared = spec.analysis.reference_population
        ends = (declared.years[0], declared.years[-1]) if declared else ("", "")
        fields |= {
            n: f"{end:g}" if end != "" else "" for n, end in zip(_POPULATION, ends, strict=True)
        }
    return fields


def _wrong(fields: Mapping[str, str]) -> dict[str, str]:
    """Errors in the experience fields, by field."""
    wrong: dict[str, str] = {}
    for solver in _solvers():
        name, shown = f"years-{solver.id}", ""
        if isinstance(solver, Subject):
            shown = f"{solver.experience:g}"
        if fields[f"kind-{solver.id}"] == "system":
            wrong |= {name: "system"} if fields[name] not in ("", shown) else {}
        elif _years(fields[name]) is None:
            wrong[name] = "number"
        elif not isinstance(solver, Subject) and (solver.version or solver.of or solver.date):
            wrong[name] = "version"
    ends = {name: fields.get(name, "") for name in _POPULATION}
    if any(ends.values()):
        fewest, most = map(_years, ends.values())
        wrong |= {name: "number" for name, text in ends.items() if _years(text) is None}
        if fewest is not None and most is not None and most <= fewest:
            wrong["most"] = "order"
    return wrong


def _years(text: str) -> float | None:
    """Parse years of experience; None if not a number or out of range."""
    text = text.replace(",", ".")
    return float(text) if _YEARS.fullmatch(text) and float(text) <= MOST_YEARS else None


def _population_changes(fields: Mapping[str, str], now: Mapping[str, str]) -> list[Change]:
    if all(fields.get(name) == now.get(name) for name in _POPULATION):
        return []
    years = [_years(fields[name]) for name in _POPULATION]
    declared = {"years": years} if None not in years else None
    return [ValueChange(("analysis", "reference_population"), declared)]


def _solver_changes(fields: Mapping[str, str]) -> list[Change]:
    """Edits that rename solvers, change years, or move a solver between subjects and systems."""
    if not _solvers():
        return []
    spec = site().spec
    changes: list[Change] = []
    moving: dict[str, dict[int, dict[str, Any]]] = {"subjects": {}, "systems": {}}
    lists: dict[str, tuple[Subject | System, ...]] = {
        "subjects": spec.subjects,
        "systems": spec.systems,
    }
    for section, known in lists.items():
        for at, one in enumerate(known):
            name, years = fields[f"name-{one.id}"], _years(fields[f"years-{one.id}"])
            is_person = fields[f"kind-{one.id}"] == "person"
            if name != one.name:
                changes.append(ValueChange((section, at, "name"), name))
            if isinstance(one, Subject) != is_person:
                entry = {"id": one.id} | ({"name": name} if name else {})
                moving[section][at] = entry | ({"experience": years} if is_person else {})
            elif isinstance(one, Subject) and years != one.experience:
                changes.append(ValueChange((section, at, "experience"), years))
    if any(moving.values()):
        changes += [
            ListChange((section,), frozenset(moving[section]), tuple(moving[other].values()))
            for section, other in (("subjects", "systems"), ("systems", "subjects"))
        ]
    return changes


def _judge_changes(fields: Mapping[str, str]) -> list[Change]:
    """Edits that rename judges of the study file."""
    names = [(one.name, fields[f"judge-{one.id}"]) for one in site().spec.judges]
    return [
        ValueChange(("judges", at, "name"), new)
        for at, (old, new) in enumerate(names)
        if new != old
    ]


def _new_judges(entered: str) -> tuple[dict[str, str], ...]:
    """Entries of the named people who are not judges yet."""
    names = dict.fromkeys(" ".join(line.split()) for line in entered.splitlines() if line.strip())
    if long := [name for name in names if len(name) > LONGEST_NAME or not name.isprintable()]:
        message = f"“{long[0][:40]}…” is longer than {LONGEST_NAME} characters. One name a line."
        raise QuemError(message)
    with site().store.read() as c:
        judges = people_of(c, site().id, "judge")
    known = {judge.id.casefold() for judge in judges}
    known |= {judge.id.casefold() for judge in site().spec.judges}
    # Another tab may have saved the same names.
    there = {judge.name for judge in judges if judge.erased_at is None}
    ids = (f"J{n}" for n in range(1, 10_000) if f"j{n}" not in known)
    new = [name for name in names if name not in there]
    return tuple({"id": one, "name": name} for one, name in zip(ids, new, strict=False))
