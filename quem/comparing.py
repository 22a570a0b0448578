"""Comparisons of studies of any kind: by years, or query by query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, overload

from quem.kinds import KINDS, analyze, kind_of_loaded, refuse_other_than_study

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quem.comparison.result import ComparisonResult
    from quem.dialogue.loading import DialogueStudy
    from quem.dialogue.result import DialogueResult
    from quem.kinds import AnyStudy
    from quem.leaderboard.gathering import Scored
    from quem.leaderboard.result import LeaderboardResult
    from quem.options.loading import OptionsStudy
    from quem.options.result import OptionsResult
    from quem.rankings.loading import Study
    from quem.report.result import BaseResult
    from quem.retrieval.loading import RetrievalStudy
    from quem.retrieval.result import RetrievalResult

    # What can be compared query by query.
    Scores: TypeAlias = (
        OptionsStudy
        | RetrievalStudy
        | DialogueStudy
        | OptionsResult
        | RetrievalResult
        | DialogueResult
        | Scored
    )


@overload
def compare(
    *studies: Study, systems: Sequence[str] = (), **settings: object
) -> ComparisonResult: ...


@overload
def compare(
    *studies: Scores, systems: Sequence[str] = (), **settings: object
) -> LeaderboardResult: ...


@overload
def compare(
    *studies: AnyStudy, systems: Sequence[str] = (), **settings: object
) -> BaseResult[Any]: ...


def compare(
    *studies: Any, systems: Sequence[str] = (), **settings: Any
) -> ComparisonResult | LeaderboardResult:
    """Compare the systems of a study, or those of several studies.

    Experience studies are independent of each other. Studies of the other kinds are compared
    query by query, and have to be of one kind, with the same queries and ground truth.

    Parameters
    ----------
    *studies : Study
        As from `quem.load_study`. Of one experience study, its systems are compared and the gain
        of those who worked with help is measured. Of several, the systems of different studies
        are compared. In the place of a study of another kind, a result of `quem.analyze`.
    systems : sequence of str
        Ids of the systems to compare, or what their versions share; by default all. With
        names, no gain of people with help is measured.
    **settings
        Settings that replace those of the study files. Of experience studies: ``level``,
        ``reference_population``, ``years_error``. Of others: ``level``, ``bootstrap``,
        ``permutations``, ``seed``, ``measures``, ``headline``, and what else the study file has
        under ``analysis``.

    Returns
    -------
    ComparisonResult or LeaderboardResult

    Raises
    ------
    QuemError
        A setting is wrong, the studies do not fit each other, or there is nothing to compare.
    TypeError
        What is given is not a study, or not a setting of a comparison.
    """
    if not studies:
        raise TypeError("compare takes one study at least: quem.compare(quem.load_study(path))")
    if any(map(_has_scores, studies)):
        return _compare_scores(studies, systems=systems, **settings)
    for study in studies:
        refuse_other_than_study("compare", study)
    if unknown := sorted(settings.keys() - _COMPARISON_SETTINGS):
        known = ", ".join(_COMPARISON_SETTINGS)
        raise TypeError(f"compare takes no {unknown[0]}; its settings are systems, {known}")
    from quem.comparison.compare import compare_experience

    return compare_experience(studies, systems=systems, **settings)


def _has_scores(given: object) -> bool:
    """Whether this is a study or a result with scores of queries."""
    kind = str(getattr(getattr(given, "spec", None), "kind", ""))
    if kind in KINDS:
        return KINDS[kind].quick is not None
    from quem.leaderboard.gathering import scored_before

    return scored_before(given) is not None


def score(study: AnyStudy, **settings: Any) -> Scored:
    """Score the systems of a study, to be compared by `compare`."""
    from quem.leaderboard.gathering import scored_now

    kind = KINDS[kind_of_loaded("compare", study)]
    running = {key: settings.pop(key) for key in _RUNNING if key in settings}
    return scored_now(study, analyze, settings, kind.quick or {}, running)


_RUNNING = ("jobs", "cluster", "progress")


def _compare_scores(given: Sequence[Any], **settings: Any) -> LeaderboardResult:
    from quem.leaderboard.gathering import compare_scored, scored_before
    from quem.leaderboard.settings import LeaderboardSettings

    settings = {key: value for key, value in settings.items() if value is not None}
    specs = [one.spec for one in given if hasattr(one, "spec")]
    known = {*LeaderboardSettings.model_fields}
    known |= {key for spec in specs for key in type(spec.analysis).model_fields}
    # Scores of the command were computed with the settings of their kind.
    if unknown := sorted(settings.keys() - known):
        raise TypeError(
            f"compare takes no {unknown[0]}; its settings are {', '.join(sorted(known))}"
        )
    scored = []
    for one in given:
        before = scored_before(one)
        if before is None:
            if not _has_scores(one):
                _refuse_unlike(one)
            before = score(one, **settings)
        scored.append(before)
    own = {key: value for key, value in settings.items() if key in LeaderboardSettings.model_fields}
    return compare_scored(scored, **own)


def _refuse_unlike(study: object) -> None:
    """An experience study, or none at all, among others with scores."""
    kind = getattr(getattr(study, "spec", None), "kind", None)
    what = f"one of kind {kind}" if kind else type(study).__name__
    raise TypeError(f"compare takes studies of one kind, and not {what} among others")


_COMPARISON_SETTINGS = dict.fromkeys(("level", "reference_population", "years_error"))
