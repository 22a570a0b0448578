"""What the report of a comparison shows, as text and tables ready to be laid out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quem import __version__
from quem.experience.comparison.showing.answers import answers_table
from quem.experience.comparison.showing.phrases import (
    TEST_NAMES,
    apart_text,
    names_of,
    rank_text,
    step_p_text,
    step_text,
    uplift_text,
    years_text,
)
from quem.experience.comparison.showing.sections import sections
from quem.experience.comparison.showing.summary import INDEPENDENCE, UPLIFT_MEANING, title_of
from quem.experience.comparison.tests import GENERALISES
from quem.experience.showing.methods import REFERENCES
from quem.experience.wording import joined, percent, statement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.experience.comparison.findings import Comparison

__all__ = ["report_context"]

CAPTIONS = {
    "estimates": "Each system's estimate with its prediction interval, or all that its one-sided "
    "bound leaves. The shaded bar is the experience of the study's subjects.",
    "differences": "The difference of each two systems, with its interval where there is one; blue "
    "where that leaves 0 out. A circle is the difference of the two estimates.",
    "wins": "The share of rankings in which one system stands above the other, a tie counting one "
    "half: blue where it mostly does, red where it mostly does not.",
    "progression": "The versions of a system with their prediction intervals, and the steps "
    "between them with adjusted p values.",
    "uplift": "Each person's average rank alone and with help, the experience in brackets.",
}
_MOST_TOLD = 6
_HOLM = (
    "Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian "
    "Journal of Statistics, 6(2), 65-70."
)


def report_context(found: Comparison) -> dict[str, Any]:
    """Give what the template ``report/comparison.html`` shows.

    Parameters
    ----------
    found : Comparison
    """
    return {
        "title": title_of(found),
        "ids": joined(study.study.spec.id for study in found.studies),
        "descriptions": [
            study.study.spec.description for study in found.studies if study.study.spec.description
        ],
        "answers": answers_table(found),
        "meaning": _meaning(found),
        "gains": _gains(found),
        "first_figure": next(iter(_first_figures(found))),
        "sections": sections(found),
        "methods": " ".join(_methods(found)),
        "references": _references(found),
        "settings": list(_settings(found)),
        "captions": CAPTIONS,
    }


def _first_figures(found: Comparison) -> Iterator[str]:
    """What goes beside the answer; a figure of one sort at least is always there."""
    if found.mode == "time":
        yield "progression"
    if found.standings:
        yield "estimates"
    yield "uplift"


def _meaning(found: Comparison) -> str:
    """One sentence on what the answer generalises to, or takes for granted."""
    if found.pairs:
        return GENERALISES[found.test]
    return INDEPENDENCE if found.mode != "systems" else UPLIFT_MEANING


def _gains(found: Comparison) -> list[str]:
    names = found.studies[0].name_of
    return [
        f"{_people(len(uplift.people))} with the help of {names(uplift.system)}: "
        f"{uplift_text(uplift, found.level, found.unit, float('nan'))}."
        for uplift in found.uplifts
    ]


def _people(count: int) -> str:
    return "One person" if count == 1 else f"{count} people"


def _methods(found: Comparison) -> Iterator[str]:
    """A paragraph to be pasted into a paper."""
    level = percent(found.level)
    yield (
        "Experience was estimated with QUEM (Hayes & Parzen, 1997) by least-squares regression of "
        f"the subjects' experience on their average ranks, with {level} prediction intervals: "
        f"{joined(_estimates(found), 12) or 'no system was ranked by itself'}."
    )
    several = len(found.pairs or found.apart) > 1
    if found.pairs:
        adjusted = " (p adjusted by Holm, 1979)" if several else ""
        yield (
            f"Systems were compared by a {TEST_NAMES[found.test]}{adjusted}, wherever the same "
            f"judge had ranked both. {GENERALISES[found.test]}"
        )
        names = names_of(found)
        for pair in found.pairs[:_MOST_TOLD]:
            ranks = rank_text(pair, found.level, several=several)
            years = years_text(pair, found.level, found.unit)
            yield f"{names[pair.b]} against {names[pair.a]}: {ranks}; {years}."
    for apart in found.apart[:_MOST_TOLD]:
        told = apart_text(apart, found.level, found.unit, several=several)
        yield f"{found.name_of(apart.b)} against {found.name_of(apart.a)}: {told}."
    if found.mode == "time":
        for step in found.progressions[0].steps:
            yield (
                f"From {found.name_of(step.before)} to {found.name_of(step.after)}: "
                f"{step_text(step)} {found.unit} ({step_p_text(step)})."
            )
    if found.mode != "systems":
        yield INDEPENDENCE
    yield from _gains(found)
    if found.uplifts:
        yield UPLIFT_MEANING
    yield f"Analyses were done with quem {__version__}."


def _estimates(found: Comparison) -> list[str]:
    each = []
    for standing in found.standings:
        told = statement(
            standing.estimate, interval="prediction", level=found.level, unit=found.unit
        )
        each.append(f"{found.name_of(standing)} {told}")
    return each


def _references(found: Comparison) -> list[str]:
    several = len(found.pairs or found.apart) > 1
    return [*REFERENCES[:1], *([_HOLM] if several else []), *REFERENCES[1:]]


def _settings(found: Comparison) -> Iterator[tuple[str, str]]:
    yield "test", found.test
    if found.chosen:
        yield "systems", ", ".join(found.chosen)
    each = [study.settings.model_dump(mode="json") for study in found.studies]
    for key in ("level", "form", "score", "normalize", "reference", "permutations", "seed"):
        yield key, ", ".join(dict.fromkeys(str(settings[key]) for settings in each))
