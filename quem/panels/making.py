"""A reference panel out of a study whose judges ranked the people's solutions."""

from __future__ import annotations

import datetime as dt
import secrets
from dataclasses import dataclass
from math import floor
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from quem.blinding.copies import clean_copy
from quem.errors import Mistake, QuemError
from quem.panels.package import (
    FEWEST,
    PanelPerson,
    PanelProblem,
    PanelSettings,
    PanelSpec,
    pack,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import pandas as pd

    from quem.solutions import Solutions
    from quem.solutions.model import Sheet
    from quem.studyfile import ExperienceSpec
    from quem.studyfile.reading import ExperienceFile

_README = """\
# Reference panel: {title}

{people} people solved {problems} problems, and {judges} experts ranked their solutions without
names. Their solutions, years of experience, and rankings are frozen here, so that a new system can
be measured without asking the people again. They agreed to that. Ids of people are random, ids of
experts are numbers; solutions are as the experts saw them.

    pip install quem
    quem panel verify THIS-FILE
    quem panel place THIS-FILE --system NAME=FOLDER

{license}

- `panel.yaml`: problems, people, years, settings
- `rankings.csv`: the experts' rankings of the people, 1 the worst, ties averaged
- `problems`, `solutions`, `briefing`, `consent`: what people and experts read and wrote
- `SHA256SUMS`: what `sha256sum --check` compares
"""


@dataclass(frozen=True)
class MadePanel:
    """A panel that was made, and what is not in it."""

    content: bytes  # of the archive
    left_out: dict[str, str]  # why people and judges are not in it, by id


def make_panel(
    draft: ExperienceFile,
    solutions: Solutions,
    ranks: pd.DataFrame,
    *,
    license_text: str = "",
    consent: Mapping[str, bytes] | None = None,
    step: float = 0.0,
    last_ranked_on: dt.date | None = None,
) -> MadePanel:
    """Freeze the people of a study, their solutions, and what its judges said of them.

    `ranks` has a row per judge and problem, and a column per solver.
    """
    spec = draft.spec
    assert spec is not None  # noqa: S101  else there are mistakes
    problems = [one for one in draft.declared.problems if one in ranks.index.unique("problem")]
    left_out = _left_out(spec, solutions, ranks, problems)
    people = [one.id for one in spec.subjects if one.id not in left_out]
    is_whole = ranks.reindex(columns=people).notna().all(axis=1)
    for judge in ranks.index.unique("judge"):
        if lacking := [one for one in problems if not is_whole.get((judge, one), default=False)]:
            left_out[judge] = f"they did not rank the whole group on {lacking[0]}"
    judges = [one for one in ranks.index.unique("judge") if one not in left_out]
    _refuse_few(draft, people, judges, problems, left_out)
    new = _random_ids(people)
    secrets.SystemRandom().shuffle(judges)
    years = {one.id: one.experience for one in spec.subjects}
    files = {
        name: content
        for one in people
        for problem in problems
        for name, content in _solution(solutions, problem, one, new[one]).items()
    }
    titles = {problem.id: problem.title for problem in spec.problems}
    statements = {
        problem: _sheet(sheet, f"problems/{problem}", files)
        for problem in problems
        if (sheet := solutions.statements.get(problem))
    }
    made = PanelSpec(
        id=spec.id,
        title=spec.title,
        made_on=dt.datetime.now(dt.UTC).date(),
        last_ranked_on=last_ranked_on,
        license=license_text,
        experience_unit=spec.experience_unit,
        verb=spec.verb,
        briefing=_sheet(solutions.briefing, "briefing", files),
        consent=_consent(solutions, consent, files),
        problems=tuple(
            PanelProblem(id=one, title=titles[one], statement=statements.get(one, ""))
            for one in problems
        ),
        people=tuple(
            PanelPerson(id=new[one], experience=_rounded(years[one], step))
            for one in sorted(people, key=new.__getitem__)
        ),
        judges=tuple(f"J{n}" for n in range(1, len(judges) + 1)),
        analysis=PanelSettings(form=spec.analysis.form, level=spec.analysis.level),
    )
    files["README.md"] = _README.format(
        title=spec.title,
        people=len(people),
        problems=len(problems),
        judges=len(judges),
        license=f"License: {license_text}" if license_text else "No license is stated; ask first.",
    ).encode()
    # Among themselves, whoever else was ranked.
    kept = ranks.reindex([(judge, problem) for judge in judges for problem in problems])[people]
    names = dict(zip(judges, made.judges, strict=True))
    among = kept.rank(axis=1).rename(index=names).rename(columns=new)
    return MadePanel(pack(made, among[[one.id for one in made.people]], files), left_out)


def _left_out(
    spec: ExperienceSpec, solutions: Solutions, ranks: pd.DataFrame, problems: Sequence[str]
) -> dict[str, str]:
    """Why subjects are not in a panel: they did not agree, or lack a solution or a rank."""
    failed = {(one.problem, one.solver) for one in spec.missing if one.reason == "failed"}
    ranked = ranks.notna().groupby(level="problem").any()
    left_out = {}
    for one in (subject.id for subject in spec.subjects):
        unranked = [p for p in problems if one not in ranked or not ranked.loc[p, one]]
        unseen = [p for p in problems if one not in solutions.group(p) and (p, one) not in failed]
        if lacking := unranked + unseen:
            left_out[one] = f"nobody ranked a solution of theirs on {lacking[0]}"
    return left_out | {
        subject.id: "reuse: true is not set for them"
        for subject in spec.subjects
        if not subject.reuse
    }


def _refuse_few(
    draft: ExperienceFile,
    people: Collection[str],
    judges: Collection[str],
    problems: Collection[str],
    left_out: dict[str, str],
) -> None:
    """Refuse what no later system can be placed on."""
    why = "; ".join(f"{one}: {reason}" for one, reason in left_out.items())
    for section, noun, kept in (
        ("subjects", "people", people),
        ("judges", "judges", judges),
        ("problems", "problems", problems),
    ):
        if len(kept) < FEWEST[noun]:
            left = f" (left out: {why})" if why and section != "problems" else ""
            needed = f"a panel needs {FEWEST[noun]} {noun} at least"
            message = f"{needed}, and {len(kept)} can be used{left}"
            raise QuemError(draft.document.mistake((section,), message))


def _random_ids(people: list[str]) -> dict[str, str]:
    """Ids that reveal nobody, also not by their order."""
    drawn: set[str] = set()
    while len(drawn) < len(people):
        drawn.add(f"p-{secrets.token_hex(3)}")
    ids = sorted(drawn)
    secrets.SystemRandom().shuffle(ids)
    return dict(zip(people, ids, strict=True))


def _rounded(years: float, step: float) -> float:
    return round(floor(years / step + 0.5) * step, 9) if step else years


def _solution(solutions: Solutions, problem: str, person: str, new: str) -> dict[str, bytes]:
    """Copy a solution, under a neutral name; empty where it failed."""
    solution = solutions.group(problem).get(person)
    if solution is None:
        return {}
    copies = clean_copy(solution)
    place = f"solutions/{problem}/{new}"
    if len(copies) > 1:
        return {f"{place}/{name}": content for name, content in copies.items()}
    ((name, content),) = copies.items()
    return {f"{place}{PurePosixPath(name).suffix}": content}


def _sheet(sheet: Sheet | None, folder: str, files: dict[str, bytes]) -> str:
    """Copy a page of text with the images that it shows; gives its name, or nothing of None."""
    if sheet is None:
        return ""
    for file in sheet.files:
        try:
            files[f"{folder}/{file.inner}"] = file.path.read_bytes()
        except OSError as error:
            message = f"cannot be read: {error.strerror or error}"
            raise QuemError(Mistake(file.name, message=message)) from None
    return f"{folder}/{sheet.files[0].inner}"


def _consent(
    solutions: Solutions, given: Mapping[str, bytes] | None, files: dict[str, bytes]
) -> str:
    """Copy what people agreed to; gives its name, or nothing."""
    if given is None:
        return _sheet(solutions.solving_consent, "consent", files)
    ((name, content),) = given.items()
    files[f"consent/{name}"] = content
    return f"consent/{name}"
