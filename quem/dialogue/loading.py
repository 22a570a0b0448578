"""Loading a dialogue study: case base, targets, strategies, and users."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quem.dialogue.reading import EncodedCases, read_cases
from quem.dialogue.simulation import NamedStrategy
from quem.dialogue.users import User, named_user
from quem.errors import Mistake, QuemError, StudyWarning, collecting
from quem.io.custom_functions import BrokenEntry, find_entry, load_entry, raised
from quem.io.text import nearest, shown
from quem.studyfile.dialogue import FIVE, SEVEN, Protocol, Strategy
from quem.studyfile.dialogue import DialogueSpec as Spec
from quem.studyfile.dialogue import User as DeclaredUser
from quem.studyfile.reading import Draft, draft_of_kind

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from quem.studyfile.document import Loc

# Functions loaded by this process, by name, folder, and fingerprint.
_LOADED: dict[tuple[str, str, str], Any] = {}


@dataclass
class CustomFunction:
    """A custom function, which is passed to other processes by name."""

    what: str  # for messages: "the strategy mine"
    entry: str  # ``module:callable``
    folder: str  # of the study file
    fingerprint: str = ""  # changes with its source files; empty until loaded
    files: tuple[Path, ...] = field(default=())  # its source files

    def load(self) -> None:
        """Load the function; this runs the code of its file."""
        try:
            entry = load_entry(self.entry, Path(self.folder))
        except BrokenEntry as error:
            raise QuemError(str(error)) from error
        digest = hashlib.sha256(self.entry.encode())
        for path in entry.sources:
            digest.update(path.read_bytes())
        self.files, self.fingerprint = entry.sources, digest.hexdigest()
        _LOADED[self.entry, self.folder, self.fingerprint] = entry.target

    def __call__(self, *arguments: Any) -> Any:  # noqa: ANN401  what the protocols say
        key = (self.entry, self.folder, self.fingerprint)
        if key not in _LOADED:
            # In the process of a worker.
            self.load()
            if self.fingerprint != key[-1]:
                raise QuemError(
                    f"{self.what} ({self.entry}) has changed meanwhile; run it once more"
                )
        try:
            return _LOADED[key](*arguments)
        except QuemError:
            raise
        except Exception as error:
            raise QuemError(f"{self.what} ({self.entry}) {raised(error)}") from error


def find_own(what: str, entry: str, folder: Path, *, code: bool = True) -> CustomFunction:
    """Find a custom function without running its code."""
    find_entry(entry, folder, code=code)
    return CustomFunction(what, entry, str(folder))


@dataclass(frozen=True, repr=False)
class DialogueStudy:
    """A study of kind ``dialogue`` with its case base."""

    path: Path  # the study file
    name: str  # as the user wrote it, for messages
    spec: Spec
    files: tuple[Path, ...]  # all input files
    cases: EncodedCases
    strategies: tuple[NamedStrategy, ...]
    users: tuple[User, ...]
    order: tuple[int, ...]  # of the attributes to ask for; none where it is random
    queries: EncodedCases | None = None  # targets outside the case base
    warnings: tuple[StudyWarning, ...] = ()  # about the data

    @property
    def protocol(self) -> Protocol:
        """The choice of targets."""
        return self.spec.queries.protocol

    def __repr__(self) -> str:
        """One line; the attributes hold the rest."""
        return f"<DialogueStudy {self.spec.id}: {len(self.cases)} cases, from {self.name}>"

    def counts(self) -> dict[str, int]:
        """Counts of the contents, by noun."""
        return {
            "case": len(self.cases),
            **({} if self.queries is None else {"query": len(self.queries)}),
            "attribute": len(self.cases.attributes),
            "class": len(self.cases.labels),
            "strategy": len(self.strategies),
            "user": len(self.users),
        }


@dataclass
class _Loading:
    """The loading of a study file, with the errors found so far."""

    draft: Draft[Spec]
    spec: Spec
    data: Path | None
    code: bool = True
    files: list[Path] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)
    functions: list[tuple[Loc, CustomFunction]] = field(default_factory=list)

    def wrong(self, loc: Loc, message: str) -> None:
        self.mistakes.append(self.draft.document.mistake(loc, message))

    def at(self, loc: Loc) -> AbstractContextManager[None]:
        """Collect the errors of a value in the study file."""
        return collecting(self.mistakes, partial(self.draft.document.mistake, loc))

    def places(self, key: str, names: tuple[str, ...]) -> list[tuple[Path, str]]:
        """The files of cases or queries that exist."""
        found = []
        content = self.draft.document.content.get(key)
        several = isinstance(content, dict) and isinstance(content.get("file"), list)
        for index, file in enumerate(names):
            path, name = self.draft.beside(file)
            if self.data is not None:
                path = self.data / file
                name = str(path)
            self.files.append(path)
            if path.exists():
                # Whether it is a file is found when it is read.
                found.append((path, name))
                continue
            where = f"in {self.data}" if self.data is not None else "beside the study file"
            message = (
                f"there is no file {shown(file)} {where}; name the folder that holds it: --data"
            )
            self.wrong((key, "file", index) if several else (key, "file"), message)
        return found

    def own(self, loc: Loc, what: str, entry: str) -> CustomFunction | None:
        """Find a function; `load_functions` loads it if there are no errors."""
        with self.at(loc):
            function = find_own(what, entry, self.draft.path.absolute().parent, code=self.code)
            self.functions.append((loc, function))
            return function
        return None

    def load_functions(self) -> None:
        for loc, function in self.functions:
            with self.at(loc):
                function.load()
            self.files += function.files


def load_dialogue(
    path: str | os.PathLike[str],
    *,
    data: str | os.PathLike[str] | None = None,
    code: bool = True,
) -> DialogueStudy:
    """Read a study of kind ``dialogue`` with its case base."""
    draft = draft_of_kind(path, Spec)
    loading = _Loading(draft, draft.checked(), None if data is None else Path(data), code)
    loading.files.append(draft.path)
    cases, queries, warnings = _cases(loading)
    strategies = tuple(_strategies(loading))
    declared = loading.spec.users or map(DeclaredUser.model_validate, SEVEN)
    users = tuple(named_user(user.name, user.b) for user in declared)
    order = () if cases is None else _order(loading, cases)
    if not loading.mistakes:
        loading.load_functions()
    if loading.mistakes or cases is None:
        raise QuemError(dict.fromkeys(loading.mistakes))
    return DialogueStudy(
        draft.path,
        draft.name,
        loading.spec,
        tuple(loading.files),
        cases,
        strategies,
        users,
        order,
        queries,
        tuple(warnings),
    )


def _cases(
    loading: _Loading,
) -> tuple[EncodedCases | None, EncodedCases | None, list[StudyWarning]]:
    """Read the case base, and the queries if there are any."""
    spec, queries = loading.spec.cases, loading.spec.queries
    places = loading.places("cases", spec.file)
    query_places = loading.places("queries", queries.file)
    if len(places) < len(spec.file):
        return None, None, []
    result = read_cases(places, spec)
    loading.mistakes += result.mistakes
    for loc, message in result.misplaced:
        loading.wrong(("cases", *loc), message)
    warnings = result.warnings
    if queries.protocol != "leave-one-out":
        # Another case of the class is needed only where the target is left out.
        warnings = [warning for warning in warnings if warning.code != "class-unique"]
    if result.cases is None or not queries.file or len(query_places) < len(queries.file):
        return result.cases, None, warnings
    read = read_cases(query_places, spec, result.cases)
    loading.mistakes += read.mistakes
    return result.cases, read.cases, [*warnings, *read.warnings]


def _strategies(loading: _Loading) -> Iterator[NamedStrategy]:
    """The study's strategies; by default those of the paper."""
    for index, one in enumerate(loading.spec.strategies or map(Strategy.model_validate, FIVE)):
        loc, what = ("strategies", index, "function"), f"the strategy {one.name}"
        own = loading.own(loc, what, one.function) if one.function else None
        yield NamedStrategy(one.name, own)


def _order(loading: _Loading, cases: EncodedCases) -> tuple[int, ...]:
    """The order of the attributes to ask for; none where it is random."""
    declared = loading.spec.questions
    if declared.order == "random":
        return ()
    known = cases.attributes
    names = declared.attributes or known
    for index, name in enumerate(names):
        if name not in known:
            message = f"there is no attribute {shown(name)}{nearest(name, known)}"
            loading.wrong(("questions", index), message)
        elif name in names[:index]:
            loading.wrong(("questions",), f"{shown(name)} is listed twice; list it once")
    if left := [name for name in known if name not in names]:
        loading.wrong(("questions",), f"not asked for: {', '.join(left[:5])}; add what is missing")
    return tuple(known.index(name) for name in names if name in known)
