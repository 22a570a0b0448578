"""Python functions that a study file names: beside it or installed, loaded without traces."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quem.errors import QuemError
from quem.text import nearest, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["BrokenEntry", "Entry", "load_entry", "raised"]


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


def load_entry(name: str, folder: Path) -> Entry:
    """Load a Python entry.

    The folder is on ``sys.path`` only while its code is loaded, and modules that were
    loaded from it are forgotten afterwards, so that studies with modules of the same name do not
    get each other's.

    Parameters
    ----------
    name : str
        ``module:callable``; the module is beside the study file, or else installed.
    folder : Path
        That of the study file.

    Raises
    ------
    QuemError
        There is no such module or callable.
    BrokenEntry
        Its code raised.
    """
    module_name, colon, path = name.partition(":")
    words = [*module_name.split("."), *path.split(".")]
    if not colon or not all(word.isidentifier() for word in words):
        message = (
            f"{shown(name)} is no entry; write the module and the callable in it, as in "
            "my_module:my_function"
        )
        raise QuemError([message])
    with _beside(folder) as loaded:
        module = _module(module_name, folder, name)
        file = getattr(module, "__file__", None) or module_name
        target: Any = module
        for word in path.split("."):
            known = [known for known in vars(target) if not known.startswith("_")]
            if not hasattr(target, word):
                hint = nearest(word, known)
                there = f"; it has {', '.join(known[:10])}" if known and not hint else ""
                raise QuemError([f"{file} has no {shown(word)}{hint}{there}"])
            target = getattr(target, word)
    if not callable(target):
        raise QuemError([f"{shown(path)} in {file} is no function or class that can be called"])
    sources = tuple(dict.fromkeys([*_files(file), *loaded]))
    return Entry(name, target, sources, Path(file).name)


def _files(file: str) -> list[Path]:
    path = Path(file)
    return [path] if path.is_file() else []


def _module(module_name: str, folder: Path, entry: str) -> Any:  # noqa: ANN401  any module
    beside = folder.joinpath(*module_name.split("."))
    is_beside = beside.with_suffix(".py").is_file() or (beside / "__init__.py").is_file()
    try:
        if is_beside:
            # A module of the same name that is loaded already is another one.
            return _loaded_anew(module_name, folder)
        if importlib.util.find_spec(module_name) is None:
            raise ModuleNotFoundError(name=module_name)  # noqa: TRY301  handled with the others
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        top = module_name.split(".", maxsplit=1)[0]
        if error.name in (module_name, top) or is_beside is False:
            missing = error.name or module_name
            message = (
                f"there is no module {shown(missing)}: no {'/'.join(module_name.split('.'))}.py "
                "beside the study file, and none is installed"
            )
            if missing not in (module_name, top):
                message = f"{module_name} needs the module {shown(missing)}, which is not there"
            raise QuemError([message]) from None
        msg = f"{entry} cannot be loaded: it {raised(error)}"
        raise BrokenEntry(msg) from error
    except QuemError:
        raise
    except (Exception, SystemExit) as error:
        msg = f"{entry} cannot be loaded: it {raised(error)}"
        raise BrokenEntry(msg) from error


def _loaded_anew(module_name: str, folder: Path) -> Any:  # noqa: ANN401  any module
    top = module_name.split(".", maxsplit=1)[0]
    hidden = {
        name: sys.modules.pop(name)
        for name in list(sys.modules)
        if name == top or name.startswith(f"{top}.")
    }
    try:
        importlib.invalidate_caches()
        module = importlib.import_module(module_name)
        file = getattr(module, "__file__", None)
        if file is None or not Path(file).resolve().is_relative_to(folder.resolve()):
            message = (
                f"{module_name} is the name of another module, {file or 'a part of Python'}; "
                "rename the one beside the study file"
            )
            raise QuemError([message])
        return module
    finally:
        for name in [n for n in sys.modules if n == top or n.startswith(f"{top}.")]:
            if name in hidden:
                continue
            if hidden:
                del sys.modules[name]
        sys.modules.update(hidden)


@contextmanager
def _beside(folder: Path) -> Iterator[list[Path]]:
    """Let modules be loaded from a folder, and forget them; give their files afterwards."""
    place = str(folder.resolve())
    before = set(sys.modules)
    written = sys.dont_write_bytecode
    sys.path.insert(0, place)
    # A study folder is data, in which no cache should appear.
    sys.dont_write_bytecode = True
    loaded: list[Path] = []
    try:
        yield loaded
    finally:
        sys.dont_write_bytecode = written
        if place in sys.path:
            sys.path.remove(place)
        for name in set(sys.modules) - before:
            file = getattr(sys.modules[name], "__file__", None)
            if file and Path(file).resolve().is_relative_to(place):
                loaded.append(Path(file))
                del sys.modules[name]
        loaded.sort()
