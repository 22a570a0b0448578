"""LibreOffice for tests: the one that is there, or that can be installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from quem.blinding.libreoffice import find_office, is_sandboxed

_PACKAGES = (
    *("writer", "calc", "impress", "math"),
    *("carlito", "caladea", "fonts-liberation", "fonts-noto-cjk"),
)
_NAMES = {
    **{part: f"libreoffice-{part}-nogui" for part in _PACKAGES[:4]},
    **{font: f"fonts-crosextra-{font}" for font in _PACKAGES[4:6]},
}


@cache
def lacking_office() -> str:
    """Say why documents cannot be converted here; nothing where they can.

    Where root's apt-get is there, LibreOffice is installed, by one of several test processes.
    """
    if not find_office() and hasattr(os, "geteuid") and os.geteuid() == 0:
        _install()
        find_office.cache_clear()
    if not find_office():
        return "no LibreOffice: put soffice on PATH"
    return "" if is_sandboxed() else "LibreOffice cannot be kept from the network here"


def _install() -> None:
    import fcntl

    if not shutil.which("apt-get"):
        return
    with (Path(tempfile.gettempdir()) / "quem-tests-libreoffice.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if shutil.which("soffice"):
            return
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        names = [_NAMES.get(name, name) for name in _PACKAGES]
        for arguments in (["update"], ["install", "-y", "--no-install-recommends", *names]):
            run = ["apt-get", "-qq", *arguments]
            subprocess.run(run, check=False, capture_output=True, env=quiet)
