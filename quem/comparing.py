"""Comparisons of studies of any kind: by years or query by query."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from quem.errors import Mistake, QuemError
from quem.kinds import KINDS, AnyStudy, analyze, experience_study, kind_of_loaded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quem.comparison.result import ComparisonResult
    from quem.dialogue.loading import DialogueStudy
    from quem.options.loading import OptionsStudy
    from quem.rankings.loading import Study
    from quem.report.result import BaseResult, WarningFindings
    from quem.retrieval.loading import RetrievalStudy
    from quem.scores.result import ScoredResult, ScoresResult
    from quem.scores.table import ScoreTable

    # Kinds that are compared query by query.
    Scores: TypeAlias = OptionsStudy | RetrievalStudy | DialogueStudy | ScoredResult


@overload
def compare(
    *studies: Study, systems: Sequence[str] = (), **settings: object
) -> ComparisonResult: ...


@overload
def compare(*studies: Scores, systems: Sequence[str] = (), **settings: object) -> ScoresResult: ...


@overload
def compare(
    *studies: AnyStudy, systems: Sequence[str] = (), **settings: object
) -> BaseResult[WarningFindings]: ...


def compare(
    *studies: object, systems: Sequence[str] = (), **settings: object
) -> ComparisonResult | ScoresResult:
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
        ``reference_population``, ``years_error``. Of others: what the study file has under
        ``analysis``, such as ``measures``, ``claims``, and ``level``.

    Returns
    -------
    ComparisonResult or ScoresResult

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
        return _compare_scores(studies, systems, settings)
    experience = [experience_study("compare", study) for study in studies]
    if unknown := sorted(settings.keys() - _COMPARISON_SETTINGS):
        known = ", ".join(_COMPARISON_SETTINGS)
        raise TypeError(f"compare takes no {unknown[0]}; its settings are systems, {known}")
    from quem.comparison.compare import compare_experience

    given: dict[str, Any] = settings
    return compare_experience(experience, systems=systems, **given)


_COMPARISON_SETTINGS = dict.fromkeys(("level", "reference_population", "years_error"))
_RUNNING = {"jobs", "cluster", "progress"}


def _has_scores(given: object) -> bool:
    """Whether a study or result has scores of queries."""
    kind = str(getattr(getattr(given, "spec", None), "kind", ""))
    return hasattr(given, "table_of_scores") or (kind in KINDS and KINDS[kind].quick is not None)


def _compare_scores(
    given: Sequence[Any], systems: Sequence[str], settings: dict[str, Any]
) -> ScoresResult:
    from quem.scores.inference import Inference
    from quem.scores.joining import chosen, joined
    from quem.scores.result import ScoresResult, certified

    settings = {key: value for key, value in settings.items() if value is not None}
    _refuse_unknown(given, settings)
    _refuse_systems(given, systems)
    tables = [_scores(one, settings) for one in given]
    measures = settings.get("measures", ())
    # Measures that a kind selects by name are already the only ones.
    by_name = any("measures" in type(one.spec.analysis).model_fields for one in _studies(given))
    table = chosen(joined(tables), systems, () if by_name else measures)
    if len(table.systems) < 2:  # noqa: PLR2004  a comparison
        only = table.labels[0] if table.systems else "none"
        message = f"a comparison needs two systems, and there is only {only}; name a second study"
        raise QuemError(Mistake(tables[0].origin.source, message=message))
    own = {key: settings[key] for key in Inference._fields if key in settings}
    if "level" not in own and len({one.inference.level for one in tables}) > 1:
        levels = " and ".join(f"{one.inference.level:g} ({one.origin.source})" for one in tables)
        message = f"the studies ask for different levels: {levels}; give one by --level"
        raise QuemError(Mistake("", key="level", message=message))
    table = replace(table, inference=tables[0].inference._replace(**own))
    files = [path for one in given for path in getattr(one, "inputs", getattr(one, "files", ()))]
    return ScoresResult.of(table, certified(table, settings.get("claims", ())), files)


def _studies(given: Sequence[Any]) -> list[Any]:
    return [one for one in given if hasattr(one, "spec")]


def _refuse_unknown(given: Sequence[Any], settings: dict[str, Any]) -> None:
    for one in given:
        if not _has_scores(one):
            kind = getattr(getattr(one, "spec", None), "kind", None)
            what = f"one of kind {kind}" if kind else type(one).__name__
            raise TypeError(f"compare takes studies of one kind, and not {what} among others")
    known = {"measures", "claims", "level", "samples", "seed", *_RUNNING}
    known |= {key for one in _studies(given) for key in type(one.spec.analysis).model_fields}
    if unknown := sorted(settings.keys() - known):
        names = ", ".join(sorted(known - _RUNNING))
        raise TypeError(f"compare takes no {unknown[0]}; its settings are {names}")


def _refuse_systems(given: Sequence[Any], systems: Sequence[str]) -> None:
    """Refuse systems that no study has, before anything runs."""
    from quem.scores.joining import no_system

    known: list[str] = []
    for one in given:
        if hasattr(one, "table_of_scores"):
            known += [*one.table_of_scores.systems, *one.table_of_scores.labels]
        else:
            known += KINDS[one.spec.kind].systems(one)
    if mistakes := [
        Mistake("", key="systems", message=no_system("system", name, known))
        for name in dict.fromkeys(systems)
        if name not in known
    ]:
        raise QuemError(mistakes)


def _scores(given: Any, settings: dict[str, Any]) -> ScoreTable:
    """The scores of a result, or of a study that is analyzed now."""
    if hasattr(given, "table_of_scores"):
        return _of_its_study(given)
    kind = KINDS[kind_of_loaded("compare", given)]
    own = given.spec.analysis
    known = {*type(own).model_fields, *kind.running} - {"claims"}
    used = {key: value for key, value in settings.items() if key in known}
    table = _of_its_study(analyze(given, **{**used, **(kind.quick or {})}))
    wanted = {key: used.get(key, getattr(own, key)) for key in table.inference._fields}
    return replace(table, inference=table.inference._replace(**wanted))


def _of_its_study(result: Any) -> ScoreTable:
    """The scores of a result, each system prefixed with the id of the study."""
    table: ScoreTable = result.table_of_scores
    studies = (result.findings.study.spec.id,) * len(table.systems)
    return table if table.studies else replace(table, studies=studies)
