"""The dashboard's page on which a study is completed: who made what, who asks, and who judges."""

from __future__ import annotations

import os
import re
from itertools import chain
from typing import TYPE_CHECKING, Any

from flask import Blueprint, get_flashed_messages, redirect, request, url_for
from pydantic import TypeAdapter, ValidationError

from quem.errors import QuemError
from quem.solutions.sheets import is_unwritten
from quem.store.people import people_of
from quem.store.studies import set_state, status_of
from quem.studyfile.editing import ListChange, ValueChange
from quem.studyfile.models import ExperienceSpec, Subject
from quem.studyfile.reading import draft_study
from webjudge.access import acting, site
from webjudge.dashboard_pages import dashboard_page, note_done, require_reviewed
from webjudge.lacking import lacking
from webjudge.mailing import reach_of
from webjudge.overview import started_rankings
from webjudge.people import link_base, make_links
from webjudge.study_edits import edit_study

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from werkzeug.wrappers import Response as AnyResponse

    from quem.store.models import PersonRow
    from quem.studyfile.editing import Change
    from quem.studyfile.models import System

setup = Blueprint("setup", __name__, url_prefix="/setup")

_MOST_YEARS = 150
_LONGEST_NAME = 200
_MOST_KEPT = 60  # what an address can name
_CONTACT = ("name", "institution", "email", "phone")
_LABELS = {
    "title": "Title",
    "name": "Your name",
    "institution": "Institution",
    "email": "Email",
    "phone": "Telephone",
    "deadline": "Judges should finish by",
    **(_POPULATION := {"fewest": "Fewest years", "most": "Most years"}),
}
_SHOWN = TypeAdapter(dict[str, str])
_GONE = "{} is not in the study any more: another tab or an editor removed it."
_CHANGED = "{} was changed to “{}” in another tab or an editor. Save again to make it “{}”."


@setup.get("")
def steps() -> str:
    """Show what a study needs, what of it is lacking, and what was just saved."""
    return _page()


@setup.post("")
def save() -> AnyResponse | tuple[str, int] | str:
    """Save what was changed in the form; add judges, one name a line; open the study on request."""
    now = _fields()
    fields, mistakes = _entered(now)
    wrong = {name: text for name in fields if (text := _years_mistake(name, fields))}
    wrong |= _population_mistakes(fields)
    if wrong:
        mistakes.append("Not saved. Check the highlighted fields.")
    names, judges = request.form.get("names", ""), list[str]()
    if not mistakes:
        try:
            added = _new_judges(names)
            changes: dict[str, list[Change]] = {
                "who made the solutions": _solver_changes(fields),
                "whom the years speak about": _population_changes(fields),
                "who asks": _contact_changes(fields),
                "judges": [ListChange(("judges",), added=added)] if added else [],
            }
            edit_study([*chain(*changes.values())], ", ".join(filter(changes.get, changes)))
            judges = [one["id"] for one in added]
        except QuemError as error:
            mistakes = [str(mistake) for mistake in error.mistakes]
    if mistakes:
        return _page(mistakes=mistakes, wrong=wrong, fields=fields, names=names), 422
    if request.form.get("then") == "open" and not lacking(site()) and not site().unreadable():
        require_reviewed()
        with site().store.write() as c:
            may_open = status_of(c, site().id).state == "trial" and not started_rankings(c, site())
            if may_open:
                set_state(c, site().id, "open", acting())
        if may_open:
            return make_links("judge")
    kept = sorted(one for one in now if fields[one] != now[one])
    kept_now = [*kept, *(f"judge-{one}" for one in judges)][:_MOST_KEPT]
    note_done("saved", kept=kept_now)
    return redirect(url_for("dashboard.setup.steps"), code=303)


def _entered(now: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """Give each field as it is to be, and what has to be asked before.

    A field counts as changed where it differs from what its page showed, so that a second tab, or
    an editor, loses nothing that it saved in between.
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
    gone = [_GONE.format(one.partition("-")[2]) for one in sorted(changed - {*now})]
    asked = [
        _CHANGED.format(_label(one), now[one], kept[one])
        for one in kept
        if now[one] != seen.get(one, now[one])
    ]
    return {**now, **kept}, gone + asked


def _page(
    *,
    mistakes: Sequence[str] = (),
    wrong: Mapping[str, str] | None = None,
    fields: dict[str, str] | None = None,
    names: str = "",
) -> str:
    current = site()
    with current.store.read() as c:
        judges = [judge for judge in people_of(c, current.id, "judge") if judge.erased_at is None]
        started = started_rankings(c, current)
    found = current.solutions
    sheets = [found.briefing, found.consent, *found.statements.values()]
    unwritten = [
        os.path.relpath(sheet.files[0].path, current.path.parent)
        for sheet in sheets
        if sheet and is_unwritten(sheet)
    ]
    return dashboard_page(
        "setup.html",
        kept=_kept(judges),
        mistakes=mistakes,
        wrong=wrong or {},
        solvers=[one.id for one in _solvers()],
        fields=fields or _fields(),
        shown=_fields(),
        judges=judges,
        started=started,
        unlinked=sum(judge.linked_at is None for judge in judges),
        names=names,
        unit=current.spec.experience_unit,
        unwritten=unwritten,
        lacking=lacking(current),
        unreadable=current.unreadable(),
        base=link_base(),
        reach=reach_of(link_base()),
    )


def _solvers() -> list[Subject | System]:
    """The people and systems of a study of experience, in the order of the study file."""
    spec = site().spec
    return [*spec.subjects, *spec.systems] if isinstance(spec, ExperienceSpec) else []


def _fields() -> dict[str, str]:
    """What the study says in each field of the form."""
    spec = site().spec
    fields = {}
    for one in _solvers():
        fields[f"name-{one.id}"] = one.name
        fields[f"kind-{one.id}"] = "person" if isinstance(one, Subject) else "system"
        fields[f"years-{one.id}"] = f"{one.experience:g}" if isinstance(one, Subject) else ""
    contact = {name: getattr(spec.organizer, name) for name in _CONTACT}
    deadline = spec.deadline.isoformat() if spec.deadline else ""
    if isinstance(spec, ExperienceSpec):
        declared = spec.analysis.reference_population
        ends = (declared.years[0], declared.years[-1]) if declared else None
        fields |= {name: f"{ends[at]:g}" if ends else "" for at, name in enumerate(_POPULATION)}
    return {**fields, **contact, "deadline": deadline, "title": spec.title}


def _label(field: str) -> str:
    part, _, one = field.partition("-")
    of_solver = {"name": "Name", "kind": "Made by", "years": "Experience"}
    return f"{of_solver[part]} of {one}" if one else _LABELS[field]


def _kept(judges: Sequence[PersonRow]) -> list[str]:
    """What was saved a moment ago, in words."""
    fields, unit = _fields(), site().spec.experience_unit
    names = {f"judge-{judge.id}": judge.name or judge.id for judge in judges}
    flashed: Any = get_flashed_messages()
    asked = dict.fromkeys(key for done in flashed for key in done.get("kept", ()))
    words = [f"Judge: {names[key]}" for key in asked if key in names]
    for key in (key for key in asked if key in fields):
        part, _, one = key.partition("-")
        if part == "name" and one:
            words.append(f"{one}: named {fields[key] or 'nothing'}")
        elif part not in ("kind", "years") and not one:
            words.append(f"{_LABELS[key]}: {fields[key] or 'empty'}")
    for one in dict.fromkeys(key.partition("-")[2] for key in asked):
        if {f"kind-{one}", f"years-{one}"} & {*asked} & {*fields}:
            years = fields[f"years-{one}"]
            words.append(f"{one}: {f'a person, {years} {unit}' if years else 'a system'}")
    return words


def _years_mistake(name: str, fields: Mapping[str, str]) -> str:
    """Give the mistake in a field for years, or nothing."""
    part, _, one = name.partition("-")
    is_person = part == "years" and fields[f"kind-{one}"] == "person"
    if not is_person:
        had = next((s for s in _solvers() if s.id == one and isinstance(s, Subject)), None)
        if part == "years" and fields[name] and not (had and f"{had.experience:g}" == fields[name]):
            return "A system has no years. Choose a person, or empty this field."
        return ""
    if text := _number_mistake(fields[name]):
        return text
    known = next((system for system in site().spec.systems if system.id == one), None)
    if known and (known.version or known.of or known.date):
        return "It has a version, as a system has. Remove that in the study file first."
    return ""


def _number_mistake(entered: str) -> str:
    """Give what is wrong with years as they were written, or nothing."""
    years = entered.replace(",", ".")
    if not re.fullmatch(r"\d{1,3}(\.\d{1,6})?", years, re.ASCII) or float(years) > _MOST_YEARS:
        return f"Write a number from 0 to {_MOST_YEARS}, such as 7 or 2.5."
    return ""


def _population_mistakes(fields: Mapping[str, str]) -> dict[str, str]:
    """Give what is wrong with the years of the population, by field."""
    entered = {name: fields.get(name, "") for name in _POPULATION}
    if not any(entered.values()):
        return {}
    wrong = {name: text for name, years in entered.items() if (text := _number_mistake(years))}
    if not wrong and _years_of(fields, "most") <= _years_of(fields, "fewest"):
        wrong["most"] = "Write more years than the fewest."
    return wrong


def _population_changes(fields: Mapping[str, str]) -> list[Change]:
    shown = _fields()
    if not any(fields.get(name) != shown.get(name) for name in _POPULATION):
        return []
    declared: dict[str, Any] | None = None
    if fields["fewest"]:
        declared = {"years": [_years_of(fields, name) for name in _POPULATION]}
    key = "reference_population"
    if isinstance(draft_study(site().path).document.content.get("analysis"), dict):
        return [ValueChange(("analysis", key), declared)]
    return [ValueChange(("analysis",), {key: declared})]


def _solver_changes(fields: Mapping[str, str]) -> list[Change]:
    if not _solvers():
        return []
    spec = site().spec
    named: dict[str, tuple[Subject | System, ...]] = {
        "subjects": spec.subjects,
        "systems": spec.systems,
    }
    changes: list[Change] = [
        ValueChange((section, at, "name"), fields[f"name-{one.id}"])
        for section, known in named.items()
        for at, one in enumerate(known)
        if fields[f"name-{one.id}"] != one.name
    ]
    people = {one.id for one in _solvers() if fields[f"kind-{one.id}"] == "person"}
    for at, subject in enumerate(spec.subjects):
        if subject.id in people and (years := _years(fields, subject.id)) != subject.experience:
            changes.append(ValueChange(("subjects", at, "experience"), years))
    leaving = frozenset(n for n, s in enumerate(spec.subjects) if s.id not in people)
    coming = frozenset(n for n, s in enumerate(spec.systems) if s.id in people)
    if leaving or coming:
        new = tuple(
            {**_entry(fields, spec.systems[n].id), "experience": _years(fields, spec.systems[n].id)}
            for n in sorted(coming)
        )
        systems = tuple(_entry(fields, spec.subjects[n].id) for n in sorted(leaving))
        changes.append(ListChange(("subjects",), leaving, new))
        changes.append(ListChange(("systems",), coming, systems))
    return changes


def _entry(fields: Mapping[str, str], one: str) -> dict[str, Any]:
    name = fields[f"name-{one}"]
    return {"id": one, "name": name} if name else {"id": one}


def _years(fields: Mapping[str, str], one: str) -> float:
    return _years_of(fields, f"years-{one}")


def _years_of(fields: Mapping[str, str], name: str) -> float:
    return float(fields[name].replace(",", "."))


def _contact_changes(entered: Mapping[str, str]) -> list[Change]:
    shown = _fields()
    changed = {
        name: entered[name]
        for name in (*_CONTACT, "title", "deadline")
        if entered[name] != shown[name]
    }
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


def _new_judges(entered: str) -> tuple[dict[str, str], ...]:
    """Give the entries of named people who are not judges yet."""
    names = dict.fromkeys(" ".join(line.split()) for line in entered.splitlines() if line.strip())
    if long := [name for name in names if len(name) > _LONGEST_NAME or not name.isprintable()]:
        message = f"“{long[0][:40]}…” is longer than {_LONGEST_NAME} characters. One name a line."
        raise QuemError(message)
    with site().store.read() as c:
        judges = [one for one in people_of(c, site().id, "judge") if one.erased_at is None]
        known = {judge.id.casefold() for judge in people_of(c, site().id, "judge")}
    known |= {judge.id.casefold() for judge in site().spec.judges}
    # A tab may send again what another has saved.
    there = {judge.name for judge in judges}
    ids = (f"J{n}" for n in range(1, 10_000) if f"j{n}" not in known)
    new = [name for name in names if name not in there]
    return tuple({"id": one, "name": name} for one, name in zip(ids, new, strict=False))
