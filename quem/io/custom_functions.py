"""Python functions that a study file names, only from files of its folder."""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import sys
from dataclasses import dataclass, field
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from itertools import count
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from quem.errors import QuemError
from quem.io.text import nearest, shown

if TYPE_CHECKING:
    from collections.abc import Sequence


class BrokenEntry(Exception):  # noqa: N818  it is no error of ours
    """A callable whose code raised when it was loaded or called."""


@dataclass(frozen=True)
class Entry:
    """A callable that a study file names."""

    name: str  # as in the study file: ``module:callable``
    target: Any
    sources: tuple[Path, ...] = ()  # files loaded for it
    file: str = field(default="", compare=False)  # its location, for messages


def raised(error: BaseException) -> str:
    """The exception and its location: "raised KeyError: 'x' (retriever.py:12)"."""
    text = " ".join(str(error).split())[:200]
    message = f"raised {type(error).__name__}" + (f": {text}" if text else "")
    if isinstance(error, SyntaxError) and error.filename:
        return f"{message.split(' (', maxsplit=1)[0]} ({Path(error.filename).name}:{error.lineno})"
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
        message += f" ({Path(file).name}:{line})"
    return message


def find_entry(name: str, folder: Path, *, code: bool = True) -> Path:
    """Find the file of a Python function that a study file names, without running code."""
    module, colon, path = name.partition(":")
    words = [*module.split("."), *path.split(".")]
    if not colon or not all(word.isidentifier() for word in words):
        message = (
            f"{shown(name)} does not name a Python function; write the module and the function in "
            "it, such as my_module:my_function"
        )
        raise QuemError(message)
    if not code:
        message = (
            f"{shown(name)} is Python code, which --no-code (code=False) refuses to run; remove "
            "it, or allow code if you trust the study"
        )
        raise QuemError(message)
    try:
        file = module_file(folder.resolve(), module.split("."))
    except ImportError as error:
        raise QuemError(str(error)) from None
    if file is None:
        message = (
            f"there is no file {'/'.join(module.split('.'))}.py in the study's folder, and Python "
            "is loaded from nowhere else; put your function into a file there, which may import "
            "installed libraries"
        )
        raise QuemError(message)
    return file


def load_entry(name: str, folder: Path, *, called: bool = True) -> Entry:
    """Load a Python function that a study file names; this runs the code of its file."""
    file = find_entry(name, folder)
    module, _, path = name.partition(":")
    code = StudyCode(folder)
    try:
        target: Any = code.load(module)
    except (Exception, SystemExit) as error:
        raise BrokenEntry(f"{name} cannot be loaded: it {raised(error)}") from error
    for word in path.split("."):
        known = [known for known in vars(target) if not known.startswith("_")]
        if not hasattr(target, word):
            hint = nearest(word, known)
            there = f"; it has {', '.join(known[:10])}" if known and not hint else ""
            raise QuemError(f"{file} has no {shown(word)}{hint}{there}")
        target = getattr(target, word)
        _refuse_foreign(word, target, code, file)
    if called and not callable(target):
        raise QuemError(f"{shown(path)} in {file} is not a function or class that can be called")
    return Entry(name, target, tuple(code.files()), file.name)


def _refuse_foreign(word: str, target: object, code: StudyCode, file: Path) -> None:
    """Refuse names that the file only imports, such as ``mine:subprocess.Popen``."""
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
        raise QuemError(message)


_PREFIX = "_quem_study_"
_NUMBERS = count(1)


def module_file(folder: Path, words: Sequence[str]) -> Path | None:
    """Find the source of a module without running code."""
    place = folder.joinpath(*words)
    for file in (place / "__init__.py", place.parent / f"{place.name}.py"):
        if not file.is_file():
            continue
        if not file.resolve().is_relative_to(folder):
            raise ImportError(
                f"{file.relative_to(folder).as_posix()} is a link to a file outside the study's "
                "folder; copy the file into the folder"
            )
        return file
    return None


class StudyCode:
    """The Python files of a study's folder as a private package."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.name = f"{_PREFIX}{next(_NUMBERS)}"
        self._beside: dict[str, bool] = {}
        self._builtins = {**vars(builtins), "__import__": self._import}
        package = ModuleType(self.name)
        package.__path__ = []
        sys.modules[self.name] = package
        _FINDER.codes[self.name] = self
        if _FINDER not in sys.meta_path:
            sys.meta_path.append(_FINDER)

    def load(self, module: str) -> ModuleType:
        """Import a module of the folder; this runs its code."""
        return importlib.import_module(f"{self.name}.{module}")

    def owns(self, module: str) -> bool:
        """Whether a full module name is in this package."""
        return module.startswith(f"{self.name}.")

    def files(self) -> list[Path]:
        """The files loaded so far, sorted."""
        modules = [module for name, module in list(sys.modules.items()) if self.owns(name)]
        return sorted(Path(file) for m in modules if (file := getattr(m, "__file__", None)))

    def spec(self, module: str) -> ModuleSpec | None:
        """The spec of a module by its full name."""
        words = module.split(".")[1:]
        file = module_file(self.folder, words)
        if file is None:
            is_folder = self.folder.joinpath(*words).is_dir()
            return ModuleSpec(module, None, is_package=True) if is_folder else None
        # Without search locations, so that only this finder finds its submodules.
        loader, is_package = _Source(module, file, self._builtins), file.name == "__init__.py"
        spec = ModuleSpec(module, loader, origin=str(file), is_package=is_package)
        spec.has_location = True
        return spec

    def _import(
        self,
        name: str,
        globals: dict[str, Any] | None = None,  # noqa: A002  as Python calls it
        locals: dict[str, Any] | None = None,  # noqa: A002
        fromlist: Sequence[str] = (),
        level: int = 0,
    ) -> ModuleType:
        """Import for code of the folder: its own files first, as in a script beside them."""
        top = name.partition(".")[0]
        if level or not self._is_beside(top):
            return builtins.__import__(name, globals, locals, fromlist, level)
        if fromlist:
            return builtins.__import__(f"{self.name}.{name}", globals, locals, fromlist, 0)
        self.load(name)
        return sys.modules[f"{self.name}.{top}"]

    def _is_beside(self, top: str) -> bool:
        # Retrievers are timed, and may import in each call.
        if top not in self._beside:
            is_file = module_file(self.folder, [top]) is not None
            is_folder = (self.folder / top).is_dir() and importlib.util.find_spec(top) is None
            self._beside[top] = is_file or is_folder
        return self._beside[top]


class _Source(SourceFileLoader):
    """Compiles the source; ignores cached bytecode, which could be of another program."""

    def __init__(self, name: str, file: Path, own_builtins: dict[str, Any]) -> None:
        super().__init__(name, str(file))
        self._builtins = own_builtins

    def get_code(self, fullname: str) -> CodeType:
        """Compile the source."""
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code

    def exec_module(self, module: ModuleType) -> None:
        """Run the module with an ``__import__`` that finds files beside it."""
        vars(module)["__builtins__"] = self._builtins
        super().exec_module(module)


class _Finder(MetaPathFinder):
    """Finds modules by the private names of studies only."""

    def __init__(self) -> None:
        self.codes: dict[str, StudyCode] = {}

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> ModuleSpec | None:
        """Find a module."""
        del path, target
        code = self.codes.get(fullname.partition(".")[0])
        return code.spec(fullname) if code else None


_FINDER = _Finder()
