"""The text of a preregistration: what a study asks, of whom, and how it will be analyzed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem import __version__
from quem.errors import QuemError
from quem.sealing.log import record_file
from quem.sealing.record import contents, hash_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.study.reading import StudyFile
    from quem.study.relevance import JudgedSpec


def preregistration(draft: StudyFile) -> str:
    """Write the text, in Markdown, for a study as it is."""
    spec = draft.spec
    if draft.mistakes or spec is None:
        raise QuemError(draft.mistakes)
    held = contents(draft)
    lines = [f"# Preregistration: {spec.title}", ""]
    parts = {
        "Question": _question(spec),
        "People": _people(spec),
        "Systems": _systems(spec),
        "Problems": _problems(spec),
        "Solutions": _solutions(held["solutions"]),
        "Judges": _judges(spec),
        "Ranking": _ranking(spec),
        "Analysis": _analysis(spec),
        "Exclusions": _exclusions(spec),
        "Plan": _plan(held["plan"]),
        "Seal": _seal(draft),
    }
    for title, texts in parts.items():
        lines += [f"## {title}", "", *texts, ""]
    return "\n".join(lines)


def _question(spec: JudgedSpec) -> Iterator[str]:
    names = ", ".join(one.name or one.id for one in spec.systems) or "no system"
    yield (
        f"How many {spec.experience_unit} of human experience correspond to the quality of the "
        f"solutions of {names}?"
    )
    if spec.description:
        yield from ("", spec.description.strip())


def _people(spec: JudgedSpec) -> Iterator[str]:
    if not spec.subjects:
        yield "The subjects are not known yet."
        return
    yield f"{len(spec.subjects)} people solve the problems:"
    yield ""
    yield from (f"- {one.id}: {one.experience:g} {spec.experience_unit}" for one in spec.subjects)
    yield from (f"- {one.id}: {one.person} with the system {one.by}" for one in spec.assisted)


def _systems(spec: JudgedSpec) -> Iterator[str]:
    if not spec.systems:
        yield "No system is measured."
    for one in spec.systems:
        more = ", ".join(filter(None, [one.version and f"version {one.version}", one.architecture]))
        yield f"- {one.id}: {one.name or one.id}{f' ({more})' if more else ''}"


def _problems(spec: JudgedSpec) -> Iterator[str]:
    for one in spec.problems:
        yield f"- {one.id}{f': {one.title}' if one.title else ''}"
    if not spec.problems:
        yield "The problems are those of the rankings."


def _solutions(digests: dict[str, str]) -> Iterator[str]:
    if not digests:
        yield "No solution files are beside the study; none is sealed."
        return
    yield f"{len(digests)} solutions, with their SHA-256:"
    yield ""
    yield from (f"- {name}: {digest}" for name, digest in digests.items())


def _judges(spec: JudgedSpec) -> Iterator[str]:
    if not spec.judges:
        yield "The judges are not named yet."
    for one in spec.judges:
        years = "" if one.experience is None else f": {one.experience:g} {spec.experience_unit}"
        yield f"- {one.id}{years}"
    for machine in spec.machines:
        yield f"- {machine.id}: a machine judge"


def _ranking(spec: JudgedSpec) -> Iterator[str]:
    yield "Judges rank all solutions of a problem together, without knowing who made which."
    if spec.design.block_size:
        yield f"They see {spec.design.block_size} solutions at a time, in balanced blocks."
    if spec.judging.repeat:
        yield f"Each judge ranks {spec.judging.repeat} tasks twice."
    if spec.machine and spec.machine.experts_on:
        drawn = spec.machine.experts_on
        yield (
            f"Experts rank {drawn.n} problems, which are drawn from the digests of all solutions "
            f"and the nonce {drawn.nonce!r}."
        )


def _analysis(spec: JudgedSpec) -> Iterator[str]:
    yield f"The analysis is that of quem {__version__} with these settings:"
    yield ""
    for key, value in spec.analysis.model_dump(mode="json").items():
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        yield f"- {key}: {text or 'as by default'}"


def _exclusions(spec: JudgedSpec) -> Iterator[str]:
    if not (spec.withheld or spec.missing):
        yield "No solver is left out, and no solution is missing."
    for solver in spec.withheld:
        yield f"- {solver} is ranked, and is not in the result."
    for one in spec.missing:
        yield f"- {one.solver} has no solution of {one.problem}: {one.reason}."
    yield ""
    yield "Whatever else is left out will be named as a deviation."


def _plan(plan: dict[str, object]) -> Iterator[str]:
    digest = plan.get("quem plan")
    if digest:
        yield f"The plan of the study has the SHA-256 {digest}."
    else:
        yield "There is no plan by `quem plan` beside the study; its size is as listed above."


def _seal(draft: StudyFile) -> Iterator[str]:
    path = record_file(draft.path, 1)
    if path.is_file():
        yield f"The seal of this study has the hash {hash_of(path.read_bytes())}."
    else:
        yield "The study is not sealed yet; `quem seal` prints the hash that belongs here."
