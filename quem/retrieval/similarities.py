"""Tables of similarities; a computed one is cached by its inputs."""

from __future__ import annotations

import hashlib
import json
import sys
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel

from quem.errors import Mistake, QuemError
from quem.io.delimited import Delimited, read_delimited
from quem.io.parquet import is_parquet, read_parquet
from quem.io.records import is_json
from quem.io.rows import csv_text
from quem.retrieval.lists import rows_of
from quem.retrieval.truth import Truth
from quem.scores.columns import Columns, columns_of
from quem.scores.read import CASE, read_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from quem.retrieval.bases import CaseBase, Task

FILE = "similarities.csv"
_RECORD = "similarities.json"  # inputs of the file


class _UnknownState(Exception):  # noqa: N818  it ends the search
    """A state that cannot be hashed."""


def digest_of(retriever: object, task: Task) -> str:
    """A digest of a retriever, cases, and queries; empty if its state is unknown."""
    digest = hashlib.sha256(sys.version.encode())
    try:
        for part in (*_base(task.cases), *_base(task.queries), repr(task.leave_one_out)):
            digest.update(part.encode() + b"\0")
        for state in _state(retriever, set()):
            digest.update(state + b"\0")
    except _UnknownState:
        return ""
    return digest.hexdigest()


def _base(base: CaseBase) -> Iterator[str]:
    yield repr(base.ids)
    for name, values in base.columns.items():
        yield repr((name, values))


def _state(thing: Any, seen: set[int]) -> Iterator[bytes]:  # noqa: ANN401  of whatever kind
    """The behavior-determining state of a function or an object, part by part."""
    if thing is None or isinstance(thing, str | bytes | int | float | complex):
        yield repr(thing).encode()
        return
    yield type(thing).__qualname__.encode()
    if id(thing) in seen:
        return
    seen.add(id(thing))
    for part in _parts(thing):
        yield from _state(part, seen)


def _of_function(function: FunctionType) -> list[Any]:
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    known = function.__globals__
    used = [known[name] for name in _names(function.__code__) if name in known]
    return [function.__code__, function.__defaults__, function.__kwdefaults__, cells, used]


def _names(code: CodeType) -> Iterator[str]:
    """The names that a function and nested ones refer to."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def _of_type(kind: type) -> list[Any]:
    own = {name: one for name, one in vars(kind).items() if isinstance(one, FunctionType)}
    return [kind.__module__, kind.__qualname__, own, kind.__bases__]


_PARTS: dict[Any, Callable[[Any], list[Any]]] = {
    (list, tuple): list,
    (set, frozenset): lambda thing: sorted(thing, key=repr),
    dict: lambda thing: [part for item in thing.items() for part in item],
    (np.ndarray, np.generic): lambda thing: [str(thing.dtype), thing.shape, thing.tolist()],
    BaseModel: lambda thing: [thing.model_dump_json()],
    CodeType: lambda thing: [thing.co_code, thing.co_consts, thing.co_names],
    FunctionType: _of_function,
    MethodType: lambda thing: [thing.__func__, thing.__self__],
    ModuleType: lambda thing: [thing.__name__, str(getattr(thing, "__version__", ""))],
    BuiltinFunctionType: lambda thing: [str(thing.__module__), thing.__qualname__],
    type: _of_type,
}


def _parts(thing: Any) -> list[Any]:  # noqa: ANN401
    parts = next((parts for kinds, parts in _PARTS.items() if isinstance(thing, kinds)), None)
    if parts is not None:
        return parts(thing)
    if type(thing).__module__ == "builtins" or not hasattr(thing, "__dict__"):
        raise _UnknownState
    return [type(thing), vars(thing)]


def read_similarities(path: Path) -> Columns:
    """Read similarities: one line per pair, or one per query with a column per case."""
    if is_json(path):
        return read_run(path)
    read = read_parquet if is_parquet(path) else read_delimited
    table = read(path, str(path), what="similarity table")
    if {cell.casefold() for cell in table.header[-1]} & {*CASE}:
        return read_run(path)
    return _square(table)


def _square(table: Delimited) -> Columns:
    """An empty cell is not a similarity."""
    name, line, (_, *cases) = table.name, table.header_lines[-1], table.header[-1]
    if not cases:
        message = (
            "must have the columns query, case, and similarity, or a line for each query and a "
            "column for each case"
        )
        raise QuemError(Mistake(name, line, message=message))
    for at, case in enumerate(cases):
        if not case or case in cases[:at]:
            message = "duplicate column; keep one" if case else "this column has no name"
            raise QuemError(Mistake(name, line, at + 2, case, message))
    queries, *columns = (column.cells() for column in table.columns)
    cells = [
        (query, case, value, number)
        for query, number, *values in zip(queries, table.lines(), *columns, strict=True)
        for case, value in zip(cases, values, strict=True)
        if value
    ]
    if not cells:
        raise QuemError(Mistake(name, message="holds no similarity below the header"))
    found = list(zip(*cells, strict=True))
    return columns_of(name, *found[:3], noun="similarity", lines=found[3])


def known_similarities(folder: Path, digest: str, source: str) -> Truth | None:
    """The similarities in a folder, if made from the same inputs."""
    path = folder / FILE
    try:
        record = json.loads((folder / _RECORD).read_text("utf-8"))
        content = hashlib.sha256(path.read_bytes()).hexdigest()
    except (OSError, ValueError):
        return None
    if not digest or record != {"inputs": digest, "sha256": content}:
        return None
    columns = read_similarities(path)
    return Truth(columns, "similarities", source, computed=True)


def save_similarities(folder: Path, digest: str, truth: Truth) -> None:
    """Write the similarities with their inputs."""
    rows = ((query, case, repr(value)) for query, case, value in rows_of(truth.columns))
    content = csv_text([("query", "case", "similarity"), *rows]).encode()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_bytes(content)
    record = {"inputs": digest, "sha256": hashlib.sha256(content).hexdigest()}
    (folder / _RECORD).write_text(f"{json.dumps(record)}\n", encoding="utf-8")
