"""Python functions that a study file names: in files of its folder, and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from quem.beside import StudyCode, module_file
from quem.errors import QuemError
from quem.text import nearest, shown

__all__ = ["BrokenEntry", "Entry", "find_entry", "load_entry", "raised"]


class BrokenEntry(Exception):  # noqa: N818  it is no error of ours
    """A callable whose code raised when it was loaded or made."""


@dataclass(frozen=True)
class Entry:
    """A callable that a study file names.

    Parameters
    ----------
    name : str
        As the study file names it: ``module:callable``.
    target : callable
    sources : tuple of Path
        The files that were loaded for it.
    file : str
        Where it is, for messages.
    """

    name: str
    target: Any
    sources: tuple[Path, ...] = ()
    file: str = field(default="", compare=False)


def raised(error: BaseException) -> str:
    """Say what was raised, and where: "raised KeyError: 'x' (retriever.py:12)"."""
    text = " ".join(str(error).split())[:200]
    told = f"raised {type(error).__name__}" + (f": {text}" if text else "")
    if isinstance(error, SyntaxError) and error.filename:
        return f"{told.split(' (', maxsplit=1)[0]} ({Path(error.filename).name}:{error.lineno})"
    trace = error.__traceback__
    frames = []
    while trace:
        frames.append((trace.tb_frame.f_code.co_filename, trace.tb_lineno))
        trace = trace.tb_next
    own = Path(__file__).parent
    outside = [
        (file, line)
        for file, line in frames
        if not Path(file).is_relative_to(own) and not file.startswith("<")
    ]
    if outside:
        file, line = outside[-1]
        told += f" ({Path(file).name}:{line})"
    return told


def find_entry(name: str, folder: Path, *, code: bool = True) -> Path:
    """Find the file of a Python function that a study file names, and run nothing.

    Parameters
    ----------
    name : str
        ``module:callable``: the module is a file or a package in the folder.
    folder : Path
        That of the study file.
    code : bool
        Whether the study may run Python at all.

    Raises
    ------
    QuemError
        It names nothing in the folder, or code is refused.
    """
    module, colon, path = name.partition(":")
    words = [*module.split("."), *path.split(".")]
    if not colon or not all(word.isidentifier() for word in words):
        message = (
            f"{shown(name)} does not name a Python function; write the module and the function in "
            "it, such as my_module:my_function"
        )
        raise QuemError([message])
    if not code:
        message = (
            f"{shown(name)} is Python code, which --no-code (code=False) refuses to run; remove "
            "it, or allow code if you trust the study"
        )
        raise QuemError([message])
    try:
        file = module_file(folder.resolve(), module.split("."))
    except ImportError as error:
        raise QuemError([str(error)]) from None
    if file is None:
        message = (
            f"there is no file {'/'.join(module.split('.'))}.py in the study's folder, and Python "
            "is loaded from nowhere else; put your function into a file there, which may import "
            "installed libraries"
        )
        raise QuemError([message])
    return file


def load_entry(name: str, folder: Path) -> Entry:
    """Load a Python function that a study file names; this runs the code of its file.

    Parameters
    ----------
    name, folder
        See `find_entry`.

    Raises
    ------
    QuemError
        There is no such module or callable in the folder.
    BrokenEntry
        Its code raised.
    """
    file = find_entry(name, folder)
    module, _, path = name.partition(":")
    code = StudyCode(folder)
    try:
        target: Any = code.load(module)
    except (Exception, SystemExit) as error:
        msg = f"{name} cannot be loaded: it {raised(error)}"
        raise BrokenEntry(msg) from error
    for word in path.split("."):
        known = [known for known in vars(target) if not known.startswith("_")]
        if not hasattr(target, word):
            hint = nearest(word, known)
            there = f"; it has {', '.join(known[:10])}" if known and not hint else ""
            raise QuemError([f"{file} has no {shown(word)}{hint}{there}"])
        target = getattr(target, word)
        _refuse_foreign(word, target, code, file)
    if not callable(target):
        message = f"{shown(path)} in {file} is not a function or class that can be called"
        raise QuemError([message])
    return Entry(name, target, tuple(code.files()), file.name)


def _refuse_foreign(word: str, target: object, code: StudyCode, file: Path) -> None:
    """Refuse what the file only imports: ``mine:subprocess.Popen`` is not code of the folder."""
    if isinstance(target, ModuleType):
        home = target.__name__
    elif isinstance(target, type | FunctionType | BuiltinFunctionType):
        home = target.__module__ or "Python"
    else:
        return
    if not code.owns(home):
        message = (
            f"{shown(word)} in {file} comes from {home}, outside the study's folder; name a "
            "function that is written in the file, and call it there"
        )
        raise QuemError([message])
