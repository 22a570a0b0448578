"""Which systems of which studies are compared, and what forbids it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.errors import Mistake, QuemError
from quem.experience.comparison.tests import TESTS
from quem.text import nearest, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from quem.experience.comparison.standing import Standing
    from quem.load import Study

__all__ = ["chosen_of", "one_system", "refuse_studies", "refuse_test"]


def refuse_test(test: str) -> None:
    """Refuse a test that there is not."""
    if test not in TESTS:
        message = f"{shown(test)} is not one of {', '.join(TESTS)}{nearest(test, TESTS)}"
        raise QuemError([Mistake("", key="test", message=message)])


def refuse_studies(studies: Sequence[Study]) -> None:
    """Refuse studies that cannot stand beside each other.

    Parameters
    ----------
    studies : sequence of Study
    """
    mistakes = [*_named_twice(studies), *_other_units(studies)]
    if mistakes:
        raise QuemError(mistakes)


def _named_twice(studies: Sequence[Study]) -> Iterator[Mistake]:
    for at, study in enumerate(studies):
        for other in studies[:at]:
            same = study is other
            if not same and study.path.exists() and other.path.exists():
                same = study.path.samefile(other.path)
            if same:
                message = (
                    "is named twice, and a study is not independent of itself; name another, or "
                    "name it once to compare the systems in it"
                )
                yield Mistake(study.name, message=message)
                break


def _other_units(studies: Sequence[Study]) -> Iterator[Mistake]:
    first = studies[0]
    for study in studies[1:]:
        units = [s.spec.experience_unit for s in (study, first)]
        if units[0].strip().casefold() != units[1].strip().casefold():
            yield study.mistake(
                ("experience_unit",),
                f"experience is counted in {shown(units[0])} here and in {shown(units[1])} in "
                f"{first.name}; state it in the same unit in both, numbers included",
            )


def chosen_of(
    standings: Sequence[Standing], names: Sequence[str], studies: Sequence[Study]
) -> list[Standing]:
    """Choose systems by id, or by what their versions share.

    Parameters
    ----------
    standings : sequence of Standing
        All systems that have ranks.
    names : sequence of str
        Empty for all.
    studies : sequence of Study

    Returns
    -------
    list of Standing
        In the order of `standings`.

    Raises
    ------
    QuemError
        A name is that of no system, or of one without ranks.
    """
    if not names:
        return list(standings)
    chosen: set[int] = set()
    mistakes = []
    for name in dict.fromkeys(names):
        found = [at for at, s in enumerate(standings) if s.system == name]
        found = found or [at for at, s in enumerate(standings) if s.of == name]
        chosen.update(found)
        if not found:
            mistakes.append(Mistake("", key="systems", message=_unknown(name, standings, studies)))
    if mistakes:
        raise QuemError(mistakes)
    return [standing for at, standing in enumerate(standings) if at in chosen]


def _unknown(name: str, standings: Sequence[Standing], studies: Sequence[Study]) -> str:
    where = " or ".join(study.name for study in studies)
    if any(system.id == name for study in studies for system in study.spec.systems):
        return f"{shown(name)} has no ranks in {where}; leave it out, or add them"
    # What versions share can be named as well as they.
    known = [*(s.system for s in standings), *(s.of for s in standings)]
    hint = nearest(name, known) or f"; there are: {', '.join(dict.fromkeys(known)) or 'none'}"
    return f"there is no system {shown(name)} in {where}{hint}"


def one_system(
    standings: Sequence[Standing], studies: Sequence[Study], *, named: bool
) -> tuple[str, list[Standing]]:
    """Find the one system whose versions several studies measured.

    That is the system which they all share by id or ``of``; or the only one that each has.

    Parameters
    ----------
    standings : sequence of Standing
    studies : sequence of Study
    named : bool
        Whether the caller named the systems, and so says that they are one.

    Returns
    -------
    of : str
    versions : list of Standing

    Raises
    ------
    QuemError
        It is not clear which system is meant.
    """
    by_study = [[s for s in standings if s.study == at] for at in range(len(studies))]
    if empty := [study.name for study, found in zip(studies, by_study, strict=True) if not found]:
        message = f"{empty[0]} has none of these systems; name one that each study has"
        raise QuemError([Mistake("", key="systems", message=message)])
    shared = [
        of
        for of in dict.fromkeys(s.of for s in standings)
        if all(any(s.of == of for s in found) for found in by_study)
    ]
    if len(shared) == 1:
        return shared[0], [s for s in standings if s.of == shared[0]]
    if not shared and (named or all(len(found) == 1 for found in by_study)):
        return standings[0].of, list(standings)
    which = f"share {len(shared)} systems ({', '.join(shared)})" if shared else "share none"
    message = (
        f"these studies {which}, so that it is not clear whose versions to draw; name them by "
        "--systems, or give all versions of one system the same `of`"
    )
    raise QuemError([Mistake("", key="systems", message=message)])
