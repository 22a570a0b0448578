"""LibreOffice without network, secrets, and unlimited time; converts many files in one run."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from quem.blinding.cache import cache_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

INSTALL = (
    "LibreOffice, whose command soffice is not found; Debian: apt-get install --no-install-"
    "recommends libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui "
    "libreoffice-math-nogui fonts-crosextra-carlito fonts-crosextra-caladea fonts-liberation "
    "fonts-noto-cjk; macOS: brew install --cask libreoffice; "
    "Windows: winget install TheDocumentFoundation.LibreOffice"
)
NO_SANDBOX = (
    "is converted by LibreOffice, which cannot be kept from the network here (unshare -rn fails); "
    "allow user namespaces, or trust the files and add --unsandboxed"
)
_COMMANDS = ("soffice", "libreoffice")
_PLACES = (
    "/Applications/LibreOffice.app/Contents/MacOS/soffice",
    "/opt/libreoffice/program/soffice",
    r"C:\Program Files\LibreOffice\program\soffice.com",
)
_MOST_IN_ONE_RUN = 25
_SECONDS = 60
_SECONDS_A_FILE = 4
_CPU_SECONDS = 60
_LIMITS = ("--as=4294967296", "--fsize=200000000", "--nofile=256", "--core=0")
# Its exit code after creating a profile, which asks for a restart.
_AGAIN = 81
_ENVIRONMENT = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "JAVA_HOME")
# Exit codes at the limit of processor time, also behind a shell.
_OUT_OF_TIME = (-24, 128 + 24)
_POLL_SECONDS = 0.05
_TOO_SLOW = "takes too long to convert; make it simpler, or save it as PDF"
_CRASHED = "makes LibreOffice crash; save it again, or as PDF"
_UNREADABLE = "cannot be read by LibreOffice; open it, and save it again, or as PDF"
# No macros and no links to other files, whatever the file says.
_SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Common/Security/Scripting">
<prop oor:name="DisableMacrosExecution" oor:op="fuse"><value>true</value></prop>
<prop oor:name="MacroSecurityLevel" oor:op="fuse"><value>3</value></prop></item>
<item oor:path="/org.openoffice.Office.Writer/Content/Update">
<prop oor:name="Link" oor:op="fuse"><value>0</value></prop></item>
<item oor:path="/org.openoffice.Office.Calc/Content/Update">
<prop oor:name="Link" oor:op="fuse"><value>1</value></prop></item>
</oor:items>
"""


@cache
def find_office() -> str:
    """The path of LibreOffice's command; empty where it is not installed."""
    found = (shutil.which(name) for name in (*_COMMANDS, *_PLACES))
    return next((path for path in found if path), "")


@cache
def office_version() -> str:
    """The version of LibreOffice, reduced to letters, digits, and dots."""
    run = subprocess.run(  # noqa: S603  the program that was found
        [find_office(), "--version"],
        capture_output=True,
        check=False,
        timeout=_SECONDS,
        env=_environment(Path(tempfile.gettempdir())),
    )
    words = run.stdout.decode("utf-8", "replace").split()
    version = words[1] if len(words) > 1 else "unknown"
    return "".join(sign for sign in version if sign.isalnum() or sign == ".")


@cache
def is_sandboxed() -> bool:
    """Whether this system can run a program without network and within limits."""
    if not (shutil.which("unshare") and shutil.which("prlimit")):
        return False
    command = ["prlimit", *_LIMITS, "unshare", "-rn", "true"]
    run = subprocess.run(command, capture_output=True, check=False)  # noqa: S603  constants
    return not run.returncode


def convert(
    contents: Mapping[str, bytes],
    target: str,
    *,
    sandboxed: bool = True,
    tell: Callable[[int], object] = lambda _: None,
) -> dict[str, bytes | str]:
    """Convert files in as few runs as limits allow.

    After a failed run, the file at which it ended is converted alone and the others in another
    run, so that each failure is attributed to one file.
    """
    results: dict[str, bytes | str] = {}
    waiting = list(contents)
    while waiting:
        some = {name: contents[name] for name in waiting[:_MOST_IN_ONE_RUN]}
        made, problem = _run(some, target, sandboxed=sandboxed, tell=partial(_add, tell, results))
        results |= made
        missing = [name for name in some if name not in made]
        if missing and problem == _UNREADABLE:
            results |= dict.fromkeys(missing, problem)
        elif missing:
            # Files are converted in order, so the run ended at this one.
            first = missing[0]
            if len(some) > 1:
                alone = {first: contents[first]}
                made, problem = _run(alone, target, sandboxed=sandboxed)
            results[first] = made.get(first, problem)
        waiting = [name for name in waiting if name not in results]
        tell(len(results))
    return results


def _add(tell: Callable[[int], object], results: Mapping[str, object], count: int) -> None:
    tell(len(results) + count)


def _run(
    contents: Mapping[str, bytes],
    target: str,
    *,
    sandboxed: bool,
    tell: Callable[[int], object] = lambda _: None,
) -> tuple[dict[str, bytes], str]:
    """The output of one run of LibreOffice, and why some may be missing."""
    work = Path(tempfile.mkdtemp(prefix="run-", dir=cache_folder("work")))
    try:
        numbered = {f"{n}.{name.rpartition('.')[2]}": name for n, name in enumerate(contents, 1)}
        out = work / "out"
        out.mkdir()
        settings = work / "profile" / "user" / "registrymodifications.xcu"
        settings.parent.mkdir(parents=True)
        settings.write_text(_SETTINGS, encoding="utf-8")
        for file, name in numbered.items():
            (work / file).write_bytes(contents[name])
        command = _command(work, out, target, list(numbered), sandboxed=sandboxed)
        seconds = _SECONDS + _SECONDS_A_FILE * (len(contents) - 1)
        code = _started(command, work, out, seconds, tell)
        if code == _AGAIN:
            code = _started(command, work, out, seconds, tell)
        made = {}
        for file, name in numbered.items():
            path = out / f"{file.rpartition('.')[0]}.{target}"
            # The file being written at the end may be truncated.
            if path.is_file() and (code == 0 or path != _newest(out)):
                made[name] = path.read_bytes()
    finally:
        shutil.rmtree(work, ignore_errors=True)
    if not code:
        return made, _UNREADABLE if code == 0 else _TOO_SLOW
    return made, _TOO_SLOW if code in _OUT_OF_TIME else _CRASHED


def _newest(folder: Path) -> Path:
    return max(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)


def _command(work: Path, out: Path, target: str, files: list[str], *, sandboxed: bool) -> list[str]:
    limits = ["prlimit", *_LIMITS, f"--cpu={_CPU_SECONDS}"] if shutil.which("prlimit") else []
    return [
        *limits,
        *(["unshare", "-rn"] if sandboxed else []),
        find_office(),
        f"-env:UserInstallation={(work / 'profile').as_uri()}",
        *("--headless", "--norestore", "--nolockcheck", "--convert-to", target),
        *("--outdir", str(out), *(str(work / file) for file in files)),
    ]


def _environment(work: Path) -> dict[str, str]:
    """The whole environment of LibreOffice."""
    known = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    home = str(work)
    return {**known, "HOME": home, "TMPDIR": home, "TEMP": home, "LANG": "C.UTF-8"}


def _started(
    command: list[str], work: Path, out: Path, seconds: float, tell: Callable[[int], object]
) -> int | None:
    """Run to the end; returns the exit code, or None after a timeout."""
    process = subprocess.Popen(  # noqa: S603  the program that was found, and names of ours
        command,
        cwd=work,
        env=_environment(work),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    ends, count = time.monotonic() + seconds, 0
    try:
        while process.poll() is None:
            if time.monotonic() > ends:
                return None
            with suppress(subprocess.TimeoutExpired):
                process.wait(_POLL_SECONDS)
            if (now := len(list(out.iterdir()))) != count:
                count = now
                tell(count)
        return process.returncode
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process with its children."""
    if sys.platform == "win32":
        process.kill()
    else:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
