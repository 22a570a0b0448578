"""Pseudonyms for judges and subjects, used by everything after loading.

Systems and problems keep their names. Pseudonyms are J1, J2, ... for judges, S1, S2, ... for
subjects, A1, ... for assisted subjects, and W1, ... for withheld solvers. Lists and ranks are put
into the order of the pseudonyms, since the order of the file can identify people.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from quem.rankings import Decisions, PrintedAverages, Rankings
from quem.rankings.entries import occasion_warnings
from quem.rankings.stored import removed_warning
from quem.studyfile.document import Document, SourcePosition

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray
    from pydantic import BaseModel

    from quem.errors import StudyWarning
    from quem.rankings.loading import Study
    from quem.studyfile import Declared, ExperienceSpec
    from quem.studyfile.models import Question
    from quem.studyfile.runs import Run

Value = TypeVar("Value")
Model = TypeVar("Model", bound="BaseModel")
Data: TypeAlias = Rankings | Decisions | PrintedAverages

_LETTERS = {"judges": "J", "subjects": "S", "assisted": "A", "withheld": "W"}
# Rows are sorted by judge, then by the column before it, and so on.
_ORDER = ("loser", "winner", "solver", "occasion", "block", "problem", "judge")
# In free text, a shorter id may be a word such as "A".
_SHORTEST_WORD = 3


@dataclass(frozen=True)
class Pseudonyms:
    """The pseudonym of each person."""

    of: dict[str, str]  # id to pseudonym
    names: dict[str, str]  # name to pseudonym, for people with a name besides the id
    place: dict[str, int]  # pseudonym to its position in lists

    def sorted(self, ids: Iterable[str]) -> list[int]:
        """The order of ids by pseudonym; those without one come first, in the old order."""
        keys = [self.place.get(self.of.get(one, ""), -1) for one in ids]
        return sorted(range(len(keys)), key=keys.__getitem__)

    def id(self, one: str) -> str:
        """The pseudonym of an id, or the id if it has none."""
        return self.of.get(one, one)

    def prose(self, text: str) -> str:
        """Replace names and ids in free text, regardless of case."""
        words = {one.casefold(): to for one, to in (self.of | self.names).items()}
        long = [one for one in words if len(one) >= _SHORTEST_WORD]
        return _any_of(long, re.IGNORECASE).sub(lambda found: words[found[0].casefold()], text)

    def message(self, text: str) -> str:
        """Replace ids, also short ones, in a generated sentence."""
        return _any_of(self.of).sub(lambda found: self.of[found[0]], text)


def _any_of(words: Iterable[str], flags: int = 0) -> re.Pattern[str]:
    """A pattern of some words, "Ann Lee" before "Ann"; without words, it matches nothing."""
    each = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    return re.compile(rf"(?<!\w)(?:{each})(?!\w)" if each else r"(?!)", flags)


def pseudonymize(studies: Sequence[Study], drawn: Pseudonyms | None = None) -> list[Study]:
    """Studies with pseudonyms for judges and subjects.

    Notes
    -----
    The same studies always get the same pseudonyms, whatever the settings of the analysis are and
    whatever the ranks are. The order is drawn with everything else in the study files as the
    seed: it can be repeated from the study file, and not from the report.
    """
    named = [study.named or study for study in studies]
    pseudonyms = drawn or pseudonyms_of(named)
    return [_renamed(study, pseudonyms) for study in named]


def pseudonyms_of(studies: Sequence[Study], salt: bytes = b"") -> Pseudonyms:
    """The pseudonyms of studies that are reported together."""
    seed = hashlib.sha256(salt)
    for study in studies:
        seed.update(study.spec.model_dump_json(exclude={"analysis"}).encode())
    kept = {one for study in studies for one in _kept(study)}
    of: dict[str, str] = {}
    for section, letter in _LETTERS.items():
        ids = {one for study in studies for one in _ids(study, section)} - of.keys()
        drawn = sorted(ids, key=lambda one: hashlib.sha256(seed.digest() + one.encode()).digest())
        free = (name for n in range(1, len(ids) + len(kept) + 1) if (name := f"{letter}{n}"))
        numbers = (name for name in free if name not in kept)
        of |= dict(zip(drawn, numbers, strict=False))
    specs = [study.spec for study in studies]
    people = [(p.name, p.id) for spec in specs for p in spec.judges]
    people += [(p.name, p.id) for spec in specs for p in spec.subjects]
    # A person with the name of a system or a problem would rename it too.
    names = {name: of[one] for name, one in people if name and name not in kept}
    return Pseudonyms(of, names, {name: place for place, name in enumerate(of.values())})


def _kept(study: Study) -> Iterable[str]:
    """Ids and names that stay."""
    for one in study.spec.systems:
        yield from (one.id, one.name, one.of)
    yield from study.declared.problems


def _ids(study: Study, section: str) -> Iterable[str]:
    if section == "judges":
        # In a judging session, judges other than those of the file may have ranked.
        more = study.data.judges if isinstance(study.data, Rankings | Decisions) else ()
        return (*study.declared.judges, *more)
    if section == "subjects" and study.spec.panel:
        # The subjects of a panel have random ids.
        return ()
    kind = {"subjects": "subject"}.get(section, section)
    return (solver for solver, of in study.declared.solvers.items() if of == kind)


def _renamed(study: Study, new: Pseudonyms) -> Study:
    return replace(
        study,
        seal=study.seal and study.seal.without_names(),
        spec=_spec(study.spec, new),
        declared=_declared(study.declared, new),
        data=_data(study.data, new),
        document=_document(study.document, study.spec, new),
        named=study,
        machines=study.machines
        and {judge: [_run(run, new) for run in runs] for judge, runs in study.machines.items()},
    )


def _run(run: Run, new: Pseudonyms) -> Run:
    """Rename solvers in a machine judge's run; the ids of machine judges stay."""
    calls = tuple(
        _with(
            call,
            order=tuple(map(new.id, call.order)),
            ranked=tuple(tuple(map(new.id, tied)) for tied in call.ranked),
            cannot={new.id(solver): "" for solver in call.cannot},
        )
        for call in run.calls
    )
    digests = {problem: _keys(of, new) for problem, of in run.digests.items()}
    return _with(run, calls=calls, digests=digests)


def _with(of: Model, **values: object) -> Model:
    return of.model_copy(update=values)


def _spec(spec: ExperienceSpec, new: Pseudonyms) -> ExperienceSpec:
    """Rename people in the study file, and drop other identifying data."""
    anonymous = {"name": "", "address": "", "language": None}

    def people(section: str) -> Iterator[Any]:
        for at in new.sorted(one.id for one in getattr(spec, section)):
            one = getattr(spec, section)[at]
            ids = {key: new.id(getattr(one, key)) for key in ("id", "person") if hasattr(one, key)}
            yield _with(one, **ids, **{k: v for k, v in anonymous.items() if hasattr(one, k)})

    judging = _with(
        spec.judging,
        identity_words=(),
        questions=tuple(_question(question, new) for question in spec.judging.questions),
    )
    return _with(
        spec,
        title=new.prose(spec.title),
        description=new.prose(spec.description),
        problems=tuple(_with(one, title=new.prose(one.title)) for one in spec.problems),
        **{section: tuple(people(section)) for section in ("judges", "subjects", "assisted")},
        withheld=tuple(new.id(spec.withheld[at]) for at in new.sorted(spec.withheld)),
        missing=tuple(_with(entry, solver=new.id(entry.solver)) for entry in spec.missing),
        judging=judging,
    )


def _question(question: Question, new: Pseudonyms) -> Question:
    texts = {key: tuple(map(new.prose, getattr(question, key))) for key in ("options", "ends")}
    return _with(question, text=new.prose(question.text), **texts)


def _declared(declared: Declared, new: Pseudonyms) -> Declared:
    solvers = list(declared.solvers.items())
    return replace(
        declared,
        judges=tuple(new.id(declared.judges[at]) for at in new.sorted(declared.judges)),
        solvers={new.id(solvers[at][0]): solvers[at][1] for at in new.sorted(declared.solvers)},
        failed=frozenset((problem, new.id(solver)) for problem, solver in declared.failed),
        absent=frozenset((problem, new.id(solver)) for problem, solver in declared.absent),
    )


def _codes(ids: Sequence[str], new: Pseudonyms) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Renamed ids in their order, and the new code of each old one."""
    order = new.sorted(ids)
    codes = np.empty(len(ids), dtype=np.int64)
    codes[order] = np.arange(len(ids))
    return tuple(new.id(ids[at]) for at in order), codes


def _data(data: Data, new: Pseudonyms) -> Data:
    """Rename in the data, and sort rows by pseudonym."""
    solvers, of_solver = _codes(data.solvers, new)
    warnings = tuple(_warnings(data.warnings, new))
    if isinstance(data, PrintedAverages):
        average = data.average[np.argsort(of_solver)]
        return replace(data, solvers=solvers, average=average, warnings=warnings)
    judges, of_judge = _codes(data.judges, new)
    columns: dict[str, Any] = {
        field.name: column
        for field in fields(data)
        if isinstance(column := getattr(data, field.name), np.ndarray)
    }
    codes = {"judge": of_judge, **dict.fromkeys(("solver", "winner", "loser"), of_solver)}
    for name in codes.keys() & columns.keys():
        columns[name] = codes[name].astype(columns[name].dtype)[columns[name]]
    rows = np.lexsort([columns[name] for name in _ORDER if name in columns])
    columns = {name: column[rows] for name, column in columns.items()}
    renamed = replace(data, judges=judges, solvers=solvers, warnings=warnings, **columns)
    return _session(renamed, new) if isinstance(renamed, Rankings) else renamed


def _session(data: Rankings, new: Pseudonyms) -> Rankings:
    """Rename in a judging session's records besides the ranks."""
    cares, answers = (
        sorted(_said(ones, new), key=lambda one: new.place.get(one.judge, -1))
        for ones in (data.cares, data.answers)
    )
    # Judges' free text is counted and never shown; it may name anybody.
    texts = ("" if one.is_written else new.prose(one.answer) for one in answers)
    answers = [replace(one, answer=text) for one, text in zip(answers, texts, strict=True)]
    if (blinding := data.blinding) is not None:
        texts_of = {problem: _keys(by, new) for problem, by in blinding.texts.items()}
        guesses = tuple(_said(blinding.guesses, new))
        blinding = replace(blinding, guesses=guesses, texts=texts_of)
    renamed = replace(data, cares=tuple(cares), answers=tuple(answers), blinding=blinding)
    return replace(renamed, warnings=(*data.warnings, *occasion_warnings(renamed)))


def _said(ones: Iterable[Any], new: Pseudonyms) -> list[Any]:
    """Rename in the records of judges' actions and answers."""
    return [
        replace(one, **{k: new.id(getattr(one, k)) for k in ("judge", "solver") if hasattr(one, k)})
        for one in ones
    ]


def _keys(of_solvers: Mapping[str, Value], new: Pseudonyms) -> dict[str, Value]:
    return {new.id(solver): value for solver, value in of_solvers.items()}


def _warnings(warnings: Iterable[StudyWarning], new: Pseudonyms) -> Iterable[StudyWarning]:
    """Rename in the warnings that came with the ranks."""
    for warning in warnings:
        if warning.code == "removed-after-ranking":
            # A removed person has no pseudonym.
            yield removed_warning(["solvers or problems"])
        elif warning.code != "first-occasion-missing":
            yield replace(warning, message=new.message(warning.message))


def _document(document: Document, spec: ExperienceSpec, new: Pseudonyms) -> Document:
    """The lines of the study file at the new places of its lists, without its contents."""
    moved = {
        (section, old): at
        for section in ("judges", "subjects", "assisted")
        for at, old in enumerate(new.sorted(entry.id for entry in getattr(spec, section)))
    }

    def positions(old: Mapping[Any, SourcePosition]) -> dict[Any, SourcePosition]:
        return {
            (loc[0], moved[loc[:2]], *loc[2:]) if loc[:2] in moved else loc: position
            for loc, position in old.items()
        }

    return Document(document.name, None, positions(document.values), positions(document.keys))
