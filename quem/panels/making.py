"""A reference panel out of a study whose judges ranked the people's solutions."""

from __future__ import annotations

import datetime as dt
import secrets
from dataclasses import dataclass, field
from math import floor
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from quem.blinding.copies import clean_copy
from quem.errors import Mistake, QuemError
from quem.panels.package import (
    FEWEST_JUDGES,
    FEWEST_PEOPLE,
    FEWEST_PROBLEMS,
    PanelPerson,
    PanelProblem,
    PanelSettings,
    PanelSpec,
    pack,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    people: dict[str, str]  # the random ids of the people, by the study's
    # Why people and judges are not in it, by id.
    left_out: dict[str, str] = field(default_factory=dict)


def make_panel(
    draft: ExperienceFile,
    solutions: Solutions,
    ranks: Mapping[tuple[str, str], Mapping[str, float]],
    *,
    license_text: str = "",
    consent: Mapping[str, bytes] | None = None,
    step: float = 0.0,
    last_ranked_on: dt.date | None = None,
) -> MadePanel:
    """Freeze the people of a study, their solutions, and what its judges said of them."""
    spec = draft.spec
    assert spec is not None  # noqa: S101  else there are mistakes
    problems = [one for one in draft.declared.problems if any(p == one for _, p in ranks)]
    people, left_out = _kept_people(spec, solutions, ranks, problems)
    judges, more = _kept_judges(ranks, problems, people)
    left_out |= more
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
    statements: dict[str, str] = {}
    for problem in problems:
        if sheet := solutions.statements.get(problem):
            statements[problem] = _sheet(sheet, f"problems/{problem}", files)
    texts = {
        "briefing": _sheet(solutions.briefing, "briefing", files) if solutions.briefing else "",
        "consent": _consent(solutions, consent, files),
    }
    made = PanelSpec(
        id=spec.id,
        title=spec.title,
        made_on=dt.datetime.now(dt.UTC).date(),
        last_ranked_on=last_ranked_on,
        license=license_text,
        experience_unit=spec.experience_unit,
        verb=spec.verb,
        **texts,
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
    renumbered = {
        (f"J{n}", problem): _among(ranks[judge, problem], new)
        for n, judge in enumerate(judges, 1)
        for problem in problems
    }
    return MadePanel(pack(made, renumbered, files), new, left_out)


def _kept_people(
    spec: ExperienceSpec,
    solutions: Solutions,
    ranks: Mapping[tuple[str, str], Mapping[str, float]],
    problems: list[str],
) -> tuple[list[str], dict[str, str]]:
    """Choose who agreed, and was ranked on every problem."""
    failed = {(one.problem, one.solver) for one in spec.missing if one.reason == "failed"}
    left_out = {}
    for subject in spec.subjects:
        unranked = [
            problem
            for problem in problems
            if not any(p == problem and subject.id in of for (_, p), of in ranks.items())
        ]
        unseen = [
            problem
            for problem in problems
            if subject.id not in solutions.group(problem) and (problem, subject.id) not in failed
        ]
        if not subject.reuse:
            left_out[subject.id] = "reuse: true is not set for them"
        elif unranked or unseen:
            left_out[subject.id] = f"nobody ranked a solution of theirs on {(unranked + unseen)[0]}"
    return [one.id for one in spec.subjects if one.id not in left_out], left_out


def _kept_judges(
    ranks: Mapping[tuple[str, str], Mapping[str, float]], problems: list[str], people: list[str]
) -> tuple[list[str], dict[str, str]]:
    """Choose the judges who ranked all these people on all problems."""
    judges = list(dict.fromkeys(judge for judge, _ in ranks))
    left_out = {}
    for judge in judges:
        lacking = [p for p in problems if not {*people} <= ranks.get((judge, p), {}).keys()]
        if lacking:
            left_out[judge] = f"they did not rank the whole group on {lacking[0]}"
    return [judge for judge in judges if judge not in left_out], left_out


def _refuse_few(
    draft: ExperienceFile,
    people: list[str],
    judges: list[str],
    problems: list[str],
    left_out: dict[str, str],
) -> None:
    """Refuse what no later system can be placed on."""
    why = "; ".join(f"{one}: {reason}" for one, reason in left_out.items())
    for section, kept, fewest, noun in (
        ("subjects", people, FEWEST_PEOPLE, "people"),
        ("judges", judges, FEWEST_JUDGES, "judges"),
        ("problems", problems, FEWEST_PROBLEMS, "problems"),
    ):
        if len(kept) < fewest:
            left = f" (left out: {why})" if why and section != "problems" else ""
            raise QuemError(
                draft.document.mistake(
                    (section,),
                    f"a panel needs {fewest} {noun} at least, and {len(kept)} can be used{left}",
                )
            )


def _random_ids(people: list[str]) -> dict[str, str]:
    """Give ids that reveal nobody, also not by their order."""
    drawn: set[str] = set()
    while len(drawn) < len(people):
        drawn.add(f"p-{secrets.token_hex(3)}")
    ids = sorted(drawn)
    secrets.SystemRandom().shuffle(ids)
    return dict(zip(people, ids, strict=True))


def _rounded(years: float, step: float) -> float:
    return round(floor(years / step + 0.5) * step, 9) if step else years


def _among(ranks: Mapping[str, float], new: Mapping[str, str]) -> dict[str, float]:
    """Rank people among themselves, whoever else was ranked; ties averaged."""
    values = np.array([ranks[one] for one in new])
    below = (values[:, np.newaxis] > values).sum(axis=1)
    same = (values[:, np.newaxis] == values).sum(axis=1)
    among = dict(zip(new.values(), (below + (same + 1) / 2).tolist(), strict=True))
    return dict(sorted(among.items()))


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


def _sheet(sheet: Sheet, folder: str, files: dict[str, bytes]) -> str:
    """Copy a page of text with the images that it shows; gives its name."""
    for file in sheet.files:
        try:
            files[f"{folder}/{file.inner}"] = file.path.read_bytes()
        except OSError as error:
            raise QuemError(
                Mistake(file.name, message=f"cannot be read: {error.strerror or error}")
            ) from None
    return f"{folder}/{sheet.files[0].inner}"


def _consent(
    solutions: Solutions, given: Mapping[str, bytes] | None, files: dict[str, bytes]
) -> str:
    """Copy what people agreed to; gives its name, or nothing."""
    if given is not None:
        ((name, content),) = given.items()
        files[f"consent/{name}"] = content
        return f"consent/{name}"
    own = solutions.solving_consent
    return _sheet(own, "consent", files) if own else ""
