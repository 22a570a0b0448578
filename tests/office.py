"""LibreOffice for tests: the one that is there, or that can be installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from quem.blinding.libreoffice import find_office, is_sandboxed

_PACKAGES = [f"libreoffice-{part}-nogui" for part in ("writer", "calc", "impress", "math")]
_PACKAGES += ["fonts-crosextra-carlito", "fonts-crosextra-caladea"]
_PACKAGES += ["fonts-liberation", "fonts-noto-cjk"]


@cache
def lacking_office() -> str:
    """The reason why documents cannot be converted here, or "".

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
        for arguments in (["update"], ["install", "-y", "--no-install-recommends", *_PACKAGES]):
            run = ["apt-get", "-qq", *arguments]
            subprocess.run(run, check=False, capture_output=True, env=quiet)
