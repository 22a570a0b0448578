"""The file of a reference panel: a ZIP archive with digests.

``panel.yaml`` has problems, subjects, and settings; ``rankings.csv`` the old judges' rankings of
the subjects; ``solutions/PROBLEM/PERSON`` their solutions; ``SHA256SUMS`` the digest of every
other file, as ``sha256sum --check`` reads it. The panel's digest is that of ``SHA256SUMS``.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from quem.errors import FileError, Mistake, QuemError
from quem.io.packages import Package, zipped
from quem.studyfile.document import Document, parse_document, yaml_of
from quem.studyfile.fields import FileName, Id, Line, Section, StudyPart, Years
from quem.studyfile.models import Date, ExperienceSettings
from quem.studyfile.schema import validate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray


FEWEST = {"people": 8, "judges": 2, "problems": 3}
_SPEC, _RANKINGS, _SUMS = "panel.yaml", "rankings.csv", "SHA256SUMS"
_COLUMNS = ["judge", "problem", "person", "rank"]
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")
# Panels are written uncompressed. A repacked one is compressed, but never this much.
_MOST_BYTES, _MOST_TIMES, _LEAST_BYTES, _MOST_PARTS = 2_000_000_000, 50, 50_000_000, 100_000
_AGAIN = "take another copy of the panel"


class PanelProblem(StudyPart):
    """A problem of a panel."""

    id: Id
    title: Line = ""
    statement: FileName = ""


class PanelPerson(StudyPart):
    """A subject under a random id."""

    id: Id
    experience: Years


class PanelSpec(StudyPart):
    """The contents of ``panel.yaml``."""

    format: Literal["1"] = "1"
    id: Id
    title: Line
    made_on: Date
    last_ranked_on: Date = None
    license: Line = ""
    experience_unit: Line = "years"
    verb: Line = "performs"
    consent: FileName = ""
    briefing: FileName = ""
    problems: Annotated[tuple[PanelProblem, ...], Section] = ()
    people: Annotated[tuple[PanelPerson, ...], Section] = ()
    judges: Annotated[tuple[Id, ...], Section] = ()
    analysis: ExperienceSettings = ExperienceSettings()  # defaults of a placed study


@dataclass(frozen=True, repr=False, eq=False)
class ReferencePanel:
    """A verified reference panel."""

    path: Path  # as the user named it
    spec: PanelSpec
    files: Mapping[str, bytes]  # all files of the archive by name
    # A row per judge and problem, a column per subject: rank among the subjects, 1 the worst
    ranks: pd.DataFrame

    @cached_property
    def digest(self) -> str:
        """SHA-256 of ``SHA256SUMS``, in hexadecimal."""
        return hashlib.sha256(self.files[_SUMS]).hexdigest()

    @property
    def problems(self) -> tuple[str, ...]:
        """The ids of the problems."""
        return tuple(problem.id for problem in self.spec.problems)

    @property
    def people(self) -> tuple[str, ...]:
        """The ids of the subjects."""
        return tuple(person.id for person in self.spec.people)

    @cached_property
    def table(self) -> NDArray[np.float64]:
        """The judges' ranks, shape (judges, problems, subjects)."""
        return self.ranks.to_numpy().reshape(len(self.spec.judges), len(self.problems), -1)

    def consensus(self, problem: str) -> dict[str, float]:
        """The mean rank of each subject on a problem, over the judges."""
        means = self.table[:, self.problems.index(problem)].mean(axis=0)
        return dict(zip(self.people, means.tolist(), strict=True))

    def solution_files(self, problem: str, person: str) -> dict[str, bytes]:
        """The files of a solution by their names in the archive; empty if it failed."""
        place = f"solutions/{problem}/{person}"
        return {
            name: content
            for name, content in self.files.items()
            if name.startswith(f"{place}/") or place in (name, name.rpartition(".")[0])
        }

    def solved(self, problem: str) -> tuple[str, ...]:
        """The subjects with a solution of a problem."""
        return tuple(one for one in self.people if self.solution_files(problem, one))


def pack(spec: PanelSpec, ranks: pd.DataFrame, files: Mapping[str, bytes]) -> bytes:
    """Write a panel; `ranks` as those of `ReferencePanel`."""
    content = spec.model_dump(mode="json", exclude_defaults=True) | {"format": spec.format}
    rows = ranks.rename_axis(_COLUMNS[:2]).melt(
        var_name="person", value_name="rank", ignore_index=False
    )
    table = rows.sort_index().to_csv(float_format="%g", lineterminator="\n")
    whole = {**files, _SPEC: yaml_of(content, short=True).encode(), _RANKINGS: table.encode()}
    sums = "".join(f"{_hash(whole[name])}  {name}\n" for name in sorted(whole))
    return zipped({**whole, _SUMS: sums.encode()})


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class _PanelFile(Package):
    broken: ClassVar = f"is not a panel, or a damaged one; {_AGAIN}"


def read_panel(path: Path) -> ReferencePanel:
    """Read a panel and verify every digest."""
    size = path.stat().st_size if path.is_file() else 0
    most = min(_MOST_BYTES, max(_LEAST_BYTES, _MOST_TIMES * size))
    with _PanelFile(path, most_bytes=most, most_parts=_MOST_PARTS) as package:
        if twice := _twice(package.all_names):
            raise FileError(path, f"has {twice} twice; {_AGAIN}")
        files = {name: package.read(name) for name in package.names}
    if mistakes := [Mistake(f"{path}/{name}", message=why) for name, why in _changed(files)]:
        raise QuemError(mistakes)
    name = f"{path}/{_SPEC}"
    document = parse_document(_text(files, _SPEC, path), name)
    content = document.content if isinstance(document.content, dict) else {}
    if (version := content.get("format")) != "1":
        why = f"is of format {version}, which this version of quem does not read; update quem"
        raise QuemError(document.mistake(("format",), why))
    spec, mistakes = validate(PanelSpec, document)
    if spec is None:
        raise QuemError(mistakes)
    if mistakes := [*_unfit(spec, files, document)]:
        raise QuemError(mistakes)
    ranks = _read_ranks(_text(files, _RANKINGS, path), f"{path}/{_RANKINGS}", spec)
    return ReferencePanel(path, spec, files, ranks)


def _twice(names: list[str]) -> str:
    """A duplicate name in an archive, also as a file and a folder; empty if there is none."""
    counts = Counter(names)
    folders = {str(folder) for name in counts for folder in PurePosixPath(name).parents}
    return min((one for one in counts if counts[one] > 1 or one in folders), default="")


def _text(files: Mapping[str, bytes], name: str, path: Path) -> str:
    try:
        return files[name].decode()
    except (KeyError, UnicodeDecodeError):
        message = f"has no {name} in UTF-8, so it is not a reference panel"
        raise FileError(path, message) from None


def _changed(files: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    """Every file that differs from ``SHA256SUMS``."""
    lines = files.get(_SUMS, b"").decode("utf-8", "replace").splitlines()
    sums = {match[2]: match[1] for line in lines if (match := _LINE.fullmatch(line))}
    if not lines or len(sums) < len(lines):
        yield _SUMS, "is missing or damaged; take another copy of the panel, if this is one"
        return
    for name in sorted(sums.keys() | files.keys() - {_SUMS}):
        if name not in files:
            yield name, f"is missing; {_AGAIN}"
        elif name not in sums:
            yield name, f"was added; {_AGAIN}"
        elif _hash(files[name]) != sums[name]:
            yield name, f"was changed; {_AGAIN}"
        elif name.startswith("/") or ".." in name.split("/") or {*"\\:"} & {*name}:
            yield name, f"has a name that leads out of the archive; {_AGAIN}"


def _read_ranks(text: str, name: str, spec: PanelSpec) -> pd.DataFrame:
    import pandas as pd

    types = dict.fromkeys(_COLUMNS[:3], str) | {"rank": float}
    people, problems = ([one.id for one in of] for of in (spec.people, spec.problems))
    tasks = pd.MultiIndex.from_product([spec.judges, problems], names=_COLUMNS[:2])
    try:
        table = pd.read_csv(io.StringIO(text), dtype=types, keep_default_na=False)
        ranks = table.pivot_table("rank", _COLUMNS[:2], "person")
        ranks = ranks.reindex(index=tasks, columns=people)
        is_whole = len(table) == ranks.count().sum() == ranks.size
        is_order = is_whole and ranks.equals(ranks.rank(axis=1))
    except (ValueError, KeyError):
        is_order = False
    if not is_order:
        message = f"is not the order of all people by each judge on each problem; {_AGAIN}"
        raise QuemError(Mistake(name, message=message))
    return ranks


def _unfit(spec: PanelSpec, files: Mapping[str, bytes], document: Document) -> Iterator[Mistake]:
    """The errors of a panel on which nothing can be placed."""
    people, problems = ([one.id for one in of] for of in (spec.people, spec.problems))
    ids = {"people": people, "judges": spec.judges, "problems": problems}
    for key, fewest in FEWEST.items():
        if (n := len({*ids[key]})) < (needed := max(fewest, len(ids[key]))):
            yield document.mistake((key,), f"has {n} different ids, and {needed} are needed")
    for name in (spec.consent, spec.briefing, *(problem.statement for problem in spec.problems)):
        if name and name not in files:
            yield document.mistake((), f"there is no file {name[:60]!r}; {_AGAIN}")
