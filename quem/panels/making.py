"""Making a reference panel from a study whose judges ranked the subjects' solutions."""

from __future__ import annotations

import datetime as dt
from math import floor
from pathlib import Path, PurePosixPath
from random import SystemRandom
from typing import TYPE_CHECKING

from quem.blinding.copies import clean_copy
from quem.errors import QuemError
from quem.panels.package import FEWEST, PanelPerson, PanelProblem, PanelSpec, pack
from quem.resources import resource
from quem.studyfile import ExperienceSettings, ExperienceSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from quem.solutions import Solutions
    from quem.solutions.model import Sheet
    from quem.studyfile.reading import ExperienceFile


def make_panel(
    draft: ExperienceFile,
    solutions: Solutions,
    ranks: pd.DataFrame,
    *,
    license_text: str = "",
    consent: Path | None = None,
    step: float = 0.0,
    last_ranked_on: dt.date | None = None,
) -> tuple[bytes, dict[str, str]]:
    """Freeze the subjects of a study with their solutions and rankings.

    `ranks` has a row per judge and problem, and a column per solver. Also returns why subjects and
    judges are left out, by id.
    """
    spec = draft.spec
    assert spec is not None  # noqa: S101  else there are mistakes
    problems = [one for one in draft.declared.problems if one in ranks.index.unique("problem")]
    left_out = _left_out(spec, solutions, ranks, problems)
    people = [one.id for one in spec.subjects if one.id not in left_out]
    is_whole = ranks.reindex(columns=people).notna().all(axis=1)
    judges = [*ranks.index.unique("judge")]
    for judge in judges.copy():
        if lacking := [one for one in problems if not is_whole.get((judge, one), default=False)]:
            left_out[judge] = f"they did not rank the whole group on {lacking[0]}"
            judges.remove(judge)
    for section, noun, kept in (
        ("subjects", "people", people),
        ("judges", "judges", judges),
        ("problems", "problems", problems),
    ):
        if len(kept) < FEWEST[noun]:
            # No later system can be placed on it.
            why = "; ".join(f"{one}: {reason}" for one, reason in left_out.items())
            left = f" (left out: {why})" if why and section != "problems" else ""
            needed = f"a panel needs {FEWEST[noun]} {noun} at least"
            message = f"{needed}, and {len(kept)} can be used{left}"
            raise QuemError(draft.document.mistake((section,), message))
    # Neither ids nor their order identify anybody.
    lots = SystemRandom().sample(range(16**6), len(people))
    new = {one: f"p-{lot:06x}" for one, lot in zip(people, lots, strict=True)}
    SystemRandom().shuffle(judges)
    files: dict[str, bytes] = {}
    for problem in problems:
        for one in people:
            files |= _solution(solutions, problem, one, new[one])
    statements = {
        one: _sheet(solutions.statements.get(one), f"problems/{one}", files) for one in problems
    }
    agreed = _sheet(solutions.solving_consent, "consent", files) if consent is None else ""
    if consent:
        agreed = f"consent/{consent.name}"
        files[agreed] = consent.read_bytes()
    years = {new[one.id]: one.experience for one in spec.subjects if one.id in new}
    made = PanelSpec(
        id=spec.id,
        title=spec.title,
        made_on=dt.datetime.now(dt.UTC).date(),
        last_ranked_on=last_ranked_on,
        license=license_text,
        experience_unit=spec.experience_unit,
        verb=spec.verb,
        briefing=_sheet(solutions.briefing, "briefing", files),
        consent=agreed,
        problems=tuple(
            PanelProblem(id=one.id, title=one.title, statement=statements[one.id])
            for one in spec.problems
            if one.id in statements
        ),
        people=tuple(
            PanelPerson(id=one, experience=_rounded(years[one], step)) for one in sorted(years)
        ),
        judges=tuple(f"J{n}" for n in range(1, len(judges) + 1)),
        analysis=ExperienceSettings(form=spec.analysis.form, level=spec.analysis.level),
    )
    text = (resource("templates") / "panel" / "README.md").read_text(encoding="utf-8")
    files["README.md"] = text.format(
        title=spec.title,
        people=len(people),
        problems=len(problems),
        judges=len(judges),
        license=f"License: {license_text}" if license_text else "No license is stated; ask first.",
    ).encode()
    # Among themselves, without other solvers.
    tasks = [(judge, problem) for judge in judges for problem in problems]
    among = ranks.reindex(tasks)[people].rank(axis=1).rename(columns=new)[sorted(years)]
    among = among.rename(index=dict(zip(judges, made.judges, strict=True)))
    return pack(made, among, files), left_out


def _left_out(
    spec: ExperienceSpec, solutions: Solutions, ranks: pd.DataFrame, problems: Sequence[str]
) -> dict[str, str]:
    """Why subjects are not in a panel: no consent, or a missing solution or rank."""
    failed = {(one.problem, one.solver) for one in spec.missing if one.reason == "failed"}
    ids = [subject.id for subject in spec.subjects]
    ranked = ranks.reindex(columns=ids).notna().groupby(level="problem").any()
    seen = failed | {(problem, one) for problem in problems for one in solutions.group(problem)}
    left_out = {}
    for subject in spec.subjects:
        one = subject.id
        lacking = [p for p in problems if not (ranked.loc[p, one] and (p, one) in seen)]
        if not subject.reuse:
            left_out[one] = "reuse: true is not set for them"
        elif lacking:
            left_out[one] = f"nobody ranked a solution of theirs on {lacking[0]}"
    return left_out


def _rounded(years: float, step: float) -> float:
    return round(floor(years / step + 0.5) * step, 9) if step else years


def _solution(solutions: Solutions, problem: str, person: str, new: str) -> dict[str, bytes]:
    """Copy a solution under a neutral name; empty if it failed."""
    solution = solutions.group(problem).get(person)
    copies = clean_copy(solution) if solution else {}
    place = f"solutions/{problem}/{new}"
    if len(copies) > 1:
        return {f"{place}/{name}": content for name, content in copies.items()}
    return {f"{place}{PurePosixPath(name).suffix}": content for name, content in copies.items()}


def _sheet(sheet: Sheet | None, folder: str, files: dict[str, bytes]) -> str:
    """Copy a page of text with its images; returns its name, None without a page."""
    if sheet is None:
        return ""
    files |= {f"{folder}/{file.inner}": file.path.read_bytes() for file in sheet.files}
    return f"{folder}/{sheet.files[0].inner}"
