"""Studies in memory: rankings, subjects, and systems from Python, and saving them as files."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from quem.errors import Mistake, QuemError
from quem.io.columns import CodedColumn
from quem.io.memory import id_text, plain, whole_table
from quem.io.tables import SourceTable, field_name
from quem.rankings import Decisions, PrintedAverages, Rankings
from quem.rankings.entries import assemble
from quem.rankings.layouts import cells_by_row, long_columns
from quem.rankings.loading import Study, unfit
from quem.studyfile.document import yaml_of
from quem.studyfile.models import ExperienceSpec
from quem.studyfile.reading import draft_in_memory, judged

if TYPE_CHECKING:
    import os

    from quem.io.delimited import Delimited

_Id = TypeVar("_Id", bound=Hashable)  # text or number
_NAME = "rankings"
_FILE = "rankings.csv"
_SOURCES = {"long": Rankings, "decisions": Decisions, "averages": PrintedAverages}
_PLACE = ("judge", "problem", "block", "occasion")
_PEOPLE = re.compile(r"\bsubjects\b(?:\[\d+\])?")


def study(
    rankings: object,
    *,
    people: Mapping[_Id, object] | Iterable[Mapping[str, object] | str],
    systems: Iterable[object] = (),
    judges: Iterable[object] | None = None,
    title: str = "",
    **keys: object,
) -> Study:
    """Make a study of rankings in memory.

    Parameters
    ----------
    rankings : DataFrame, table, mapping, or sequence of mappings
        One row per ranked solution, with the columns judge, problem, solver, and rank, and any
        of block, occasion, reason, and recognized; or one row per judge and problem, with the
        columns judge and problem, any of block and occasion, and a column of ranks per solver.
        A table of pandas, polars, or pyarrow, or any other with an Arrow stream; a dict of
        columns; or a list of records. A rank is a number, 1 for the worst solution of its
        judge and problem, equal for ties; none (None, NaN) where a solution is missing.
    people : mapping, or iterable of mapping
        The subjects: the id of each, with the experience in the study's unit (years, if
        nothing else is said), 0 or more. Three of them at least have ranks. Or a list of
        mappings with the keys of a study file, such as id, experience, and seconds.
    systems : iterable of str or mapping, optional
        Ids, or mappings with the keys of a study file, such as id, name, and version.
    judges : iterable of str or mapping, or mapping, optional
        The same for judges, or as people are given; by default those of the rankings, in
        their order.
    title : str, optional
        Of the report.
    **keys
        Other keys of the study file, such as ``id="2026"`` where several studies are compared,
        ``experience_unit="months"``, ``withheld=["K2"]``, and
        ``missing=[{"problem": "P1", "solver": "S2"}]``.

    Returns
    -------
    Study
        The same as of files; `Study.save` writes it as files.

    Raises
    ------
    QuemError
        With everything that is wrong, as ``rankings:ROW:COLUMN: name: message``, counted
        from 1.
    TypeError
        Something is given twice.
    """
    table = _read(whole_table(rankings, _NAME))
    own: dict[str, Any] = {
        "title": title or "Study in memory",
        "problems": _entries(_distinct(table, "problem")),
        "judges": _entries(_distinct(table, "judge") if judges is None else judges),
        "subjects": _entries(people),
        "systems": _entries(systems),
        "rankings": {"from": "long", "file": _FILE},
    }
    if twice := own.keys() & keys.keys():
        raise TypeError(f"study takes no {min(twice)}; it is made of the other arguments")
    more = {key: [*value] if isinstance(value, tuple) else value for key, value in keys.items()}
    draft = judged(draft_in_memory(ExperienceSpec, {**own, **more}))
    data, wrong = assemble([table], draft.declared)
    if mistakes := [*draft.mistakes, *wrong] or unfit(draft, data):
        ids = [one.get("id", "") for one in own["subjects"]]
        raise QuemError(_of_people(mistake, ids) for mistake in dict.fromkeys(mistakes))
    made = Study(draft.path, draft.name, draft.checked(), draft.declared, data, draft.document)
    _refuse_more_files(made)
    return made


def _entries(given: Iterable[Any] | Mapping[Any, Any]) -> list[dict[str, Any]]:
    """The entries of a list of the study file, from ids, ids with experience, or mappings."""
    if hasattr(given, "items"):
        return [{"id": id_text(one), "experience": plain(of)} for one, of in given.items()]
    each = (given,) if isinstance(given, str) else given
    entries = [dict(one) if isinstance(one, Mapping) else {"id": one} for one in each]
    return [{**one, "id": id_text(one["id"])} if "id" in one else one for one in entries]


def _of_people(mistake: Mistake, ids: Sequence[str]) -> Mistake:
    """The error on a subject in terms of the argument `people`."""
    names = {f"subjects[{at}]": f"people[{one!r}]" for at, one in enumerate(ids, 1)}
    names["subjects"] = "people"
    key, message = (
        _PEOPLE.sub(lambda found: names.get(found[0], found[0]), text)
        for text in (mistake.key, mistake.message)
    )
    return replace(mistake, key=key, message=message)


def _distinct(table: SourceTable[str], name: str) -> list[str]:
    return [word for word in dict.fromkeys(table.columns[name].values) if word]


def _read(table: Delimited) -> SourceTable[str]:
    """Find the columns of a long table, or convert one with a column per solver."""
    names = [field_name(title) for title in table.header[0]]
    own = {name: names.index(name) for name in _PLACE if name in names}
    at = [column for column in range(len(names)) if column not in own.values()]
    if not {"judge", "problem"} <= own.keys() or {"solver", "rank"} & {*names} or not at:
        return long_columns(table, "; or judge, problem, and a column per solver")
    rows, n = len(table.columns[0].codes), len(at)
    columns = {
        name: CodedColumn(np.repeat(table.columns[column].codes, n), table.columns[column].values)
        for name, column in own.items()
    }
    columns["solver"] = CodedColumn(np.tile(np.arange(n), rows), [table.header[0][j] for j in at])
    columns["rank"] = cells_by_row(table, at)

    def place(row: int, name: str) -> Mistake:
        return Mistake(table.name, row // n + 1, own.get(name, at[row % n]) + 1, name)

    return SourceTable(table.name, columns, place)


def write_study(study: Study, folder: str | os.PathLike[str]) -> list[str]:
    """Write a study as files to a folder, atomically; returns their names."""
    from quem.importing.writing import write_folder

    _refuse_more_files(study)
    content = study.spec.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    kind = next(source for source, of in _SOURCES.items() if isinstance(study.data, of))
    content["rankings"] = {"from": kind, "file": _FILE}
    # In a judging session, judges other than those of the study file may have ranked.
    judges = () if isinstance(study.data, PrintedAverages) else study.data.judges
    known = {one["id"] for one in content.get("judges", ())}
    content["judges"] = [*content.get("judges", ()), *_entries(j for j in judges if j not in known)]
    text = yaml_of(content)

    def fill(new: Path) -> None:
        (new / "study.yaml").write_text(text, encoding="utf-8", newline="")
        study.data.to_frame().to_csv(new / _FILE, index=False, lineterminator="\n")

    return write_folder(Path(folder), fill)


def _refuse_more_files(study: Study) -> None:
    for key in ("panel", "machines"):
        if getattr(study.spec, key):
            message = "needs files beside the study file; keep such a study in its folder"
            raise QuemError(study.mistake((key,), message))
