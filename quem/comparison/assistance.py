"""Gain from assistance: people who solved the problems with the help of a system, and without."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from quem.comparison.pair_tests import PairTest, t_test
from quem.comparison.selection import LEAST_REFERENCES, locate
from quem.comparison.years import years_between
from quem.errors import QuemError
from quem.experience.averages import average_cells
from quem.experience.skill import FORMS, choose_form, compare_forms, fit, refusal
from quem.lists.inference import holm
from quem.rankings import Rankings
from quem.wording import join_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from quem.comparison.selection import Located
    from quem.errors import Mistake
    from quem.experience.skill import SkillForm, SkillFunction
    from quem.rankings.loading import Study
    from quem.studyfile import ExperienceSettings
    from quem.studyfile.models import Assisted


def uplifts_of(study: Study, settings: ExperienceSettings) -> list[AssistanceGain]:
    """Measure what each system does for the people it helps, if it helps any."""
    if not study.spec.assisted or not isinstance(study.data, Rankings):
        return []
    assisted_ids = {name for one in study.spec.assisted for name in (one.id, one.person)}
    located = locate(study.data, study.declared, assisted_ids)
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


def missing_half(study: Study, one: Assisted) -> str:
    """Say which half of a person's work has no ranks, so that no gain can be computed."""
    assert isinstance(study.data, Rankings)  # noqa: S101  for the type checker
    held = np.isfinite(study.data.rank) | study.data.failed
    ranked = {study.data.solvers[solver] for solver in np.unique(study.data.solver[held])}
    missing = [
        f"{solver} ({how})"
        for solver, how in ((one.id, "assisted"), (one.person, "unassisted"))
        if solver not in ranked
    ]
    verb = "has" if len(missing) == 1 else "have"
    return (
        f"the gain of {one.person} is the difference between assisted and unassisted solutions, "
        f"and {join_words(missing)} {verb} no ranks; have each assisted person solve some problems "
        "in either way"
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
                    f"{one.person} solved {join_words(both)} twice, as {one.id} and {other_way}. "
                    "A person who solves a problem again has learned from the first time, which "
                    "cannot be separated from the help; use other problems with and without help"
                )
                yield study.mistake(("assisted", at), message)
        earlier.append(one.id)


def _alone(study: Study, located: Located, ranked: list[tuple[int, Assisted]]) -> Iterator[Mistake]:
    """Assisted and unassisted solutions need others by people who worked alone."""
    for at, one in ranked:
        for solver, how in ((one.id, "assisted"), (one.person, "unassisted")):
            if problems := located.few_at(solver):
                message = (
                    f"{one.person} solved {join_words(problems)} {how}, where fewer than "
                    f"{LEAST_REFERENCES} people without help were ranked, so that there is nobody "
                    "to measure it against; let some people solve every problem without help"
                )
                yield study.mistake(("assisted", at), message)


def _form(
    study: Study, settings: ExperienceSettings, located: Located, experience: NDArray[np.float64]
) -> SkillForm:
    x, y = average_cells(located.cells, experience).fitted()
    name = settings.form
    if name == "auto":
        name = choose_form(compare_forms(x, y, x[:0]))  # type: ignore[assignment]
    if message := refusal(FORMS[name], x, x[:0]):
        place = ("analysis", "form")
        raise QuemError(study.mistake(place, f"{message} (of those who worked without help)"))
    return FORMS[name]


_NO_TEST = "too few problems: a test needs more problems than there are sets of them"


@dataclass(frozen=True)
class PersonUplift:
    """What help did for one person."""

    # Ids of the assisted solver and of the subject
    assisted: str
    person: str
    unassisted_problems: tuple[str, ...]
    assisted_problems: tuple[str, ...]
    # Average rank among the references
    unassisted_rank: float
    assisted_rank: float
    test: PairTest  # of the gain in average rank, over the problems
    p_holm: float  # adjusted for the number of people whom the same system helped
    # The gain as experience, as `years_between` gives it
    years: float
    calibrated: float

    @property
    def gain(self) -> float:
        """The gain in average rank."""
        return self.assisted_rank - self.unassisted_rank


@dataclass(frozen=True)
class AssistanceGain:
    """What one system does for those it helps."""

    system: str
    people: tuple[PersonUplift, ...]
    # Problems that somebody helped solved, with help or without, and the sets that they fall into
    # by who solved them and how
    n_problems: int
    n_sets: int
    gain: float  # in average rank, the mean over the people
    test: PairTest
    years: float
    calibrated: float
    common: bool  # whether the references were the same people with help and without


def measure_uplift(
    located: Located,
    assisted: Sequence[Assisted],
    experience: NDArray[np.float64],
    form: SkillForm,
    *,
    level: float,
) -> list[AssistanceGain]:
    """Measure what each system does for the people it helps.

    Shapes: `experience` (n_solvers,).
    """
    function = fit(form, *average_cells(located.cells, experience).fitted())
    by_system: dict[str, list[Assisted]] = {}
    for one in assisted:
        by_system.setdefault(one.by, []).append(one)
    return [_of_system(located, system, of, function, level) for system, of in by_system.items()]


def _of_system(
    located: Located, system: str, assisted: list[Assisted], function: SkillFunction, level: float
) -> AssistanceGain:
    people = [_of_person(located, one, function, level) for one in assisted]
    adjusted = holm([person.test.p for person in people])
    assisted_scores = np.array([located.of(one.id) for one in assisted])
    unassisted_scores = np.array([located.of(one.person) for one in assisted])
    test, n_problems, n_sets = gain_test(unassisted_scores, assisted_scores, level)
    gain = float(np.mean([person.gain for person in people]))
    middle = float(
        np.mean([(person.assisted_rank + person.unassisted_rank) / 2 for person in people])
    )
    return AssistanceGain(
        system,
        tuple(replace(person, p_holm=p) for person, p in zip(people, adjusted, strict=True)),
        n_problems,
        n_sets,
        gain,
        test,
        *years_between(function, middle, gain, level),
        located.common,
    )


def _of_person(
    located: Located, one: Assisted, function: SkillFunction, level: float
) -> PersonUplift:
    unassisted, assisted = located.of(one.person), located.of(one.id)
    test, _, _ = gain_test(unassisted[np.newaxis], assisted[np.newaxis], level)
    ends = float(np.nanmean(unassisted)), float(np.nanmean(assisted))
    return PersonUplift(
        one.id,
        one.person,
        located.problems_of(one.person),
        located.problems_of(one.id),
        *ends,
        test,
        test.p,
        *years_between(function, sum(ends) / 2, ends[1] - ends[0], level),
    )


def gain_test(
    unassisted: NDArray[np.float64], assisted: NDArray[np.float64], level: float
) -> tuple[PairTest, int, int]:
    r"""Test the mean gain of some people, over the problems.

    Of one person, and where all solved the same problems in the same way, this is Student's
    t test of two samples of problems, with P1 + P2 - 2 degrees of freedom. In general the
    problems fall into sets by who solved them and how. The gain is a sum over these sets,

    .. math:: G = \sum_s \bar y_s, \quad
              y_p = \frac{P_s}{n} \sum_i \left(\frac{a_{ip}}{A_i} - \frac{u_{ip}}{U_i}\right)

    with n people, of whom i solved A_i problems with help (score a) and U_i without (u), and
    P_s problems in the set of p. The more people solved a problem, and the fewer others each of
    them, the more y_p varies: as :math:`k_s = P_s^2 \sum_i w_{is}^2/n^2`, with the weights
    1/A_i and 1/U_i. The variance of G is s^2 times the sum of k_s/P_s, with s^2 the mean over
    the problems of the squares of y within the sets, each over its k_s, and P less the number of
    sets degrees of freedom. So the problems, and not the people, are what is sampled.

    Shapes: `unassisted`, `assisted` (n_people, n_problems).
    """
    with_help, alone = np.isfinite(assisted), np.isfinite(unassisted)
    used = (with_help | alone).any(axis=0)
    with_help, alone = with_help[:, used], alone[:, used]
    weight = with_help / with_help.sum(axis=1, keepdims=True)
    weight = weight - alone / alone.sum(axis=1, keepdims=True)
    score = np.where(with_help, assisted[:, used], np.where(alone, unassisted[:, used], 0.0))
    _, first, of_set, size = np.unique(
        np.sign(weight), axis=1, return_index=True, return_inverse=True, return_counts=True
    )
    of_set = of_set.ravel()
    y = size[of_set] * (weight * score).mean(axis=0)
    mean = np.bincount(of_set, y) / size
    n_problems, n_sets = len(y), len(size)
    df = n_problems - n_sets
    if df < 1:
        return PairTest(float("nan"), reason=_NO_TEST), n_problems, n_sets
    # Within a set all problems have the same weights.
    spread = (size[of_set] ** 2 * (weight**2).sum(axis=0) / len(weight) ** 2)[first]
    within = float(((y - mean[of_set]) ** 2 / spread[of_set]).sum()) / df
    variance = within * float((spread / size).sum())
    scale = float(np.abs(y).max())
    return t_test(float(mean.sum()), variance, df, level, scale=scale), n_problems, n_sets
