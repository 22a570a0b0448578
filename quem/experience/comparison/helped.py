"""Whom the systems of a study helped, and what forbids a measure of their gain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.errors import QuemError
from quem.experience.averages import average_cells
from quem.experience.comparison.references import LEAST_REFERENCES, locate
from quem.experience.comparison.uplift import measure_uplift
from quem.experience.skill import FORMS, choose_form, compare_forms, refusal
from quem.experience.wording import joined
from quem.rankings import Rankings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from quem.errors import Mistake
    from quem.experience.comparison.references import Located
    from quem.experience.comparison.uplift import Uplift
    from quem.experience.skill import SkillForm
    from quem.load import Study
    from quem.study import Analysis
    from quem.study.models import Assisted

__all__ = ["no_gain", "uplifts_of"]


def uplifts_of(study: Study, settings: Analysis) -> list[Uplift]:
    """Measure what each system does for the people it helps, if it helps any.

    Parameters
    ----------
    study : Study
    settings : Analysis
        Of which only form and level matter: ranks are always located among people who
        worked alone, and made comparable between groups of unequal size.

    Raises
    ------
    QuemError
        Somebody solved the same problem in two ways, or too few worked alone on a problem.
    """
    if not study.spec.assisted or not isinstance(study.data, Rankings):
        return []
    helped = {name for one in study.spec.assisted for name in (one.id, one.person)}
    located = locate(study.data, study.declared, helped)
    ranked = [
        (at, one)
        for at, one in enumerate(study.spec.assisted)
        if located.problems_of(one.id) and located.problems_of(one.person)
    ]
    mistakes = [*_solved_twice(study, located), *_alone(study, located, ranked)]
    if mistakes:
        raise QuemError(mistakes)
    if not ranked:
        return []
    years = {subject.id: subject.experience for subject in study.spec.subjects}
    experience = np.array([years.get(solver, np.nan) for solver in located.cells.solvers])
    form = _form(study, settings, located, experience)
    assisted = [one for _, one in ranked]
    return measure_uplift(located, assisted, experience, form, level=settings.level)


def no_gain(study: Study, one: Assisted) -> str:
    """Say which half of a person's work has no ranks.

    Parameters
    ----------
    study : Study
        Of rankings.
    one : Assisted
        Whose gain cannot be told.
    """
    assert isinstance(study.data, Rankings)  # noqa: S101  for the type checker
    held = np.isfinite(study.data.rank) | study.data.failed
    ranked = {study.data.solvers[solver] for solver in np.unique(study.data.solver[held])}
    missing = [
        f"{solver} ({how})"
        for solver, how in ((one.id, "with help"), (one.person, "alone"))
        if solver not in ranked
    ]
    verb = "has" if len(missing) == 1 else "have"
    return (
        f"the gain of {one.person} is the difference between solutions with help and without, and "
        f"{joined(missing)} {verb} no ranks; let each helped person solve some problems in either "
        "way"
    )


def _solved_twice(study: Study, located: Located) -> Iterator[Mistake]:
    """Nobody may meet a problem a second time."""
    ways: dict[str, list[str]] = {}
    for at, one in enumerate(study.spec.assisted):
        earlier = ways.setdefault(one.person, [one.person])
        own = located.problems_of(one.id)
        for other in earlier:
            both = [problem for problem in located.problems_of(other) if problem in own]
            if both:
                other_way = "alone" if other == one.person else f"as {other}"
                message = (
                    f"{one.person} solved {joined(both)} twice, as {one.id} and {other_way}: who "
                    "meets a problem again has learned from the first time, and that cannot be "
                    "told from the help; give work with and without help different problems"
                )
                yield study.mistake(("assisted", at), message)
        earlier.append(one.id)


def _alone(study: Study, located: Located, ranked: list[tuple[int, Assisted]]) -> Iterator[Mistake]:
    """Where an aided or unaided solution stands, others who worked alone have to stand too."""
    for at, one in ranked:
        for solver, how in ((one.id, "with help"), (one.person, "alone")):
            if problems := located.few_at(solver):
                message = (
                    f"{one.person} solved {joined(problems)} {how}, where fewer than "
                    f"{LEAST_REFERENCES} people without help were ranked, so that there is nobody "
                    "to measure it against; let some people solve every problem without help"
                )
                yield study.mistake(("assisted", at), message)


def _form(
    study: Study, settings: Analysis, located: Located, experience: NDArray[np.float64]
) -> SkillForm:
    x, y = average_cells(located.cells, experience).fitted()
    name = settings.form
    if name == "auto":
        name = choose_form(compare_forms(x, y, x[:0]))  # type: ignore[assignment]
    if message := refusal(FORMS[name], x, x[:0]):
        place = ("analysis", "form")
        raise QuemError([study.mistake(place, f"{message} (of those who worked without help)")])
    return FORMS[name]
