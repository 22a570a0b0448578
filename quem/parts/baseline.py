"""The human baseline: recruitment, working conditions, and blinding of the subjects."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from quem.method.part import Part, PartTable
from quem.rankings import Rankings
from quem.report.files import Section, TextTable
from quem.report.rows import Row, col
from quem.wording import format_count, format_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.method.core import Core
    from quem.studyfile import ExperienceSpec

_SOURCE = (
    "Wei et al. (2025), Recommendations and Reporting Checklist for Rigorous & Transparent Human "
    "Baselines in Model Evaluations. arXiv:2506.13776."
)
_OPEN = "not stated"


class BaselineFact(Row):
    """The study's information on one aspect of its human baseline."""

    title: ClassVar[str] = "The human baseline"
    aspect: str = col("what is asked", "Aspect")
    answer: str = col("from the study; empty where it has no answer", "In this study")


class BaselinePart(Part[tuple[BaselineFact, ...]]):
    """Information on the subjects for comparisons with systems."""

    name = "baseline"
    place = "appendix"
    tables = (PartTable(name, "what the study says of its human baseline", BaselineFact),)

    def find(self, core: Core) -> tuple[BaselineFact, ...]:
        """Information from the study file, the data, and the session."""
        spec, told = core.study.spec, core.study.spec.baseline
        facts = {
            "People": _people(core),
            "Recruitment": told.recruitment,
            "Payment": told.payment,
            "Consent": "asked for in the solving session" if _consents(spec) else "",
            "Instructions": told.instructions or _briefing(spec),
            "Tools": spec.solving.tools if spec.solving else "",
            "Time": _time(core),
            "Problems": _problems(core),
            "Judges": _judges(core),
            "What judges saw": _seen(core),
        }
        return tuple(BaselineFact(aspect=one, answer=answer) for one, answer in facts.items())

    def sections(self, found: tuple[BaselineFact, ...], core: Core) -> Iterator[Section]:
        """The aspects, and which of them the study file leaves open."""
        text = [
            f"What a comparison with people should report; for the full checklist see {_SOURCE}"
        ]
        if lacking := [one.aspect.lower() for one in found if not one.answer]:
            text.append(
                f"The study does not state: {', '.join(lacking)}. The keys baseline and "
                "solving of the study file take the answers."
            )
        rows = tuple((one.aspect, one.answer or _OPEN) for one in found)
        table = TextTable(
            BaselineFact.title,
            ("Aspect", "In this study"),
            rows,
            words=frozenset({1}),
            is_open=True,
        )
        yield Section(self.name, BaselineFact.title, text, (), [table])


def _people(core: Core) -> str:
    spec = core.study.spec
    years = sorted(one.experience for one in spec.subjects)
    if not years:
        return ""
    span = f"{years[0]:g} to {years[-1]:g} {spec.experience_unit}"
    return f"{format_count(len(years), 'subject')} with {span} of experience"


def _consents(spec: ExperienceSpec) -> bool:
    return bool(spec.solving and spec.solving.consent)


def _briefing(spec: ExperienceSpec) -> str:
    return f"the briefing {spec.solving.briefing}" if spec.solving and spec.solving.briefing else ""


def _time(core: Core) -> str:
    spec = core.study.spec
    limit = spec.solving.time_limit if spec.solving else None
    minutes = sorted(s / 60 for one in spec.subjects for s in one.seconds.values() if s > 0)
    parts = [f"at most {format_number(limit)} minutes for a problem"] if limit else []
    if minutes:
        median = minutes[len(minutes) // 2]
        parts.append(f"{format_number(median)} minutes for a solution in the median")
    return "; ".join(parts)


def _problems(core: Core) -> str:
    spec = core.study.spec
    people = {one.id for one in spec.subjects}
    missing = sum(one.solver in people for one in spec.missing)
    lacking = f"; {format_count(missing, 'solution')} of people missing" if missing else ""
    return f"{format_count(len(core.study.declared.problems), 'problem')}{lacking}"


def _judges(core: Core) -> str:
    """Those who ranked, where the data name them."""
    data = core.study.data
    judges = data.judges if isinstance(data, Rankings) else core.study.spec.judges
    return format_count(len(judges), "judge") if judges else ""


def _seen(core: Core) -> str:
    if core.study.spec.rankings.source != "store":
        return ""
    blocks = core.study.spec.design.block_size
    shown = f"in blocks of {blocks}" if blocks else "all of a problem together"
    blind = "solutions of people and systems under letters, without names"
    is_recorded = isinstance(core.study.data, Rankings) and bool(core.study.data.cares)
    return f"{blind}, {shown}{', on pages that recorded time and views' if is_recorded else ''}"
