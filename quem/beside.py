"""Python modules of a study's folder, imported under private names and from nowhere else.

The folder is never put on ``sys.path``. A module of it is ``_quem_study_N.module``; only code of
the same folder finds it by its plain name, because that code gets an ``__import__`` of its own.
So a file of a study cannot stand in for a library, and two studies cannot get each other's files.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from itertools import count
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["StudyCode", "module_file"]

_PREFIX = "_quem_study_"
_NUMBERS = count(1)


def module_file(folder: Path, words: Sequence[str]) -> Path | None:
    """Find the source of a module without running anything.

    Parameters
    ----------
    folder : Path
        That of the study file, with symbolic links followed.
    words : sequence of str
        The parts of the module's name.

    Returns
    -------
    Path or None
        ``a/b.py`` or ``a/b/__init__.py``; None where neither is there.

    Raises
    ------
    ImportError
        The file is there, but a symbolic link leads out of the folder.
    """
    place = folder.joinpath(*words)
    for file in (place / "__init__.py", place.parent / f"{place.name}.py"):
        if not file.is_file():
            continue
        if not file.resolve().is_relative_to(folder):
            message = (
                f"{file.relative_to(folder).as_posix()} is a link to a file outside the study's "
                "folder; copy the file into the folder"
            )
            raise ImportError(message)
        return file
    return None


class StudyCode:
    """The Python files of a study's folder as a private package.

    Parameters
    ----------
    folder : Path
    """

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
        """Say whether a module, by its full name, is one of the folder."""
        return module.startswith(f"{self.name}.")

    def files(self) -> list[Path]:
        """Give the files that were loaded until now, sorted."""
        modules = [module for name, module in list(sys.modules.items()) if self.owns(name)]
        return sorted(Path(file) for m in modules if (file := getattr(m, "__file__", None)))

    def spec(self, module: str) -> ModuleSpec | None:
        """Say how a module is loaded that is asked for by its full name."""
        words = module.split(".")[1:]
        file = module_file(self.folder, words)
        if file is None:
            is_folder = self.folder.joinpath(*words).is_dir()
            return ModuleSpec(module, None, is_package=True) if is_folder else None
        # No place for other finders to search: a package's parts are found here as well.
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
    """Compiles the file that can be read; no cache is used, which could hold another program."""

    def __init__(self, name: str, file: Path, own_builtins: dict[str, Any]) -> None:
        super().__init__(name, str(file))
        self._builtins = own_builtins

    def get_code(self, fullname: str) -> CodeType:
        """Compile the source."""
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, with an ``__import__`` that knows the files beside it."""
        vars(module)["__builtins__"] = self._builtins
        super().exec_module(module)


class _Finder(MetaPathFinder):
    """Finds modules by the private names of studies, and no others."""

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
