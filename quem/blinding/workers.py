"""Processes that parse untrusted files: bytes in, bytes out, confined.

The parent reads the study and writes the cache. A worker's first line lists its confinement; then
each request and each response is a line of JSON with a length, and as many bytes.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import signal
import subprocess
import sys
import time
from functools import cache
from threading import Lock, Timer
from typing import IO, TYPE_CHECKING, Any

from quem.blinding.confined import CPU_SECONDS, Held, confine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Answer = tuple[dict[str, Any], bytes]

_SECONDS = 20
_LONGEST_LINE = 100_000_000
_LONGEST_CONTENT = 400_000_000
# The whole environment of a parser: no database address, for example.
_ENVIRONMENT = ("PATH", "PYTHONPATH", "PYTHONHOME", "SYSTEMROOT", "LD_LIBRARY_PATH", "LANG", "TEMP")


class RefusedError(ValueError):
    """A file that was refused, with the reason."""


class Worker:
    """Keeps one process alive and sends it one request at a time."""

    def __init__(self, module: str, *, slow: str, crashed: str) -> None:
        self._module = module
        self._slow = slow
        self._crashed = crashed
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        atexit.register(self.close)

    def ask(self, do: str, content: bytes = b"", **request: Any) -> Answer:  # noqa: ANN401  JSON
        """The worker's response, or what is wrong with the file: "problem" and "fatal"."""
        request |= {"do": do, "length": len(content)}
        with self._lock:
            process = self._started()
            timer = Timer(_SECONDS, process.kill)
            timer.daemon = True
            begun = time.monotonic()
            timer.start()
            try:
                _write(process.stdin, request, content)
                answer, made = _read(process.stdout)
            except (
                OSError,
                ValueError,
                EOFError,
                TypeError,
                LookupError,
                AttributeError,
                RecursionError,
            ):
                self.close()
                slow = time.monotonic() - begun >= _SECONDS
                return {"problem": self._slow if slow else self._crashed, "fatal": True}, b""
            finally:
                timer.cancel()
            if answer.pop("last", False):
                self.close()
            return answer, made

    def parsed(self, do: str, content: bytes, **request: Any) -> Answer:  # noqa: ANN401  JSON
        """The response on a file that can be parsed; raises RefusedError otherwise."""
        answer, made = self.ask(do, content, **request)
        if "problem" in answer:
            raise RefusedError(str(answer["problem"]))
        return answer, made

    def _started(self) -> subprocess.Popen[bytes]:
        # After a fork, the worker belongs to the process that started it.
        if self._process and self._owner == os.getpid() and self._process.poll() is None:
            return self._process
        self.close()
        self._process, self._owner = _run(self._module), os.getpid()
        assert self._process.stdout is not None  # noqa: S101  a pipe
        self._process.stdout.readline(_LONGEST_LINE)
        return self._process

    def close(self) -> None:
        """End the process; the next request starts it again."""
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        process.kill()
        process.communicate()


def _run(module: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603  this Python, and a module of ours
        [sys.executable, "-P", "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
    )


def _write(stream: IO[bytes] | None, about: dict[str, Any], content: bytes) -> None:
    assert stream is not None  # noqa: S101  a pipe
    stream.write(json.dumps(about).encode() + b"\n" + content)
    stream.flush()


def _read(stream: IO[bytes] | None) -> Answer:
    """Read a response, possibly from a compromised worker."""
    assert stream is not None  # noqa: S101  a pipe
    answer = json.loads(stream.readline(_LONGEST_LINE))
    length = answer.pop("length")
    if not 0 <= length <= _LONGEST_CONTENT:
        raise ValueError(length)
    content = stream.read(length)
    if len(content) != length:
        raise EOFError
    return answer, content


def serve(
    does: Mapping[str, Callable[[dict[str, Any], bytes], Answer]],
    problem: Callable[[Exception], str],
) -> None:
    """Run a worker: confine this process, and answer requests until input ends."""
    # Output of the libraries must not mix with responses.
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        answers.write(json.dumps(confine()).encode() + b"\n")
        answers.flush()
        for line in sys.stdin.buffer:
            request = json.loads(line)
            content = sys.stdin.buffer.read(request.pop("length"))
            # The parent kills a slow worker sooner; this limit holds if the parent is gone.
            _alarm(_SECONDS + 5)
            try:
                answer, made = does[request.pop("do")](request, content)
            except RefusedError as error:
                answer, made = {"problem": str(error)}, b""
            except Exception as error:  # noqa: BLE001  whatever is wrong, it cannot be parsed
                answer, made = {"problem": problem(error)}, b""
            _alarm(0)
            last = time.process_time() > CPU_SECONDS / 2
            _write(answers, {**answer, "length": len(made), "last": last}, made)


def _alarm(seconds: int) -> None:
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


def sources_of(patterns: Iterable[re.Pattern[str]]) -> list[tuple[str, int]]:
    """Patterns in the worker's format."""
    return [(pattern.pattern, pattern.flags) for pattern in patterns]


def patterns_of(sources: Iterable[tuple[str, int]]) -> list[re.Pattern[str]]:
    """Patterns compiled from the worker's format."""
    return [re.compile(source, flags) for source, flags in sources]


@cache
def held() -> Held:
    """The confinement of workers on this system."""
    process = _run("quem.blinding.confined")
    found: Held = json.loads(process.communicate()[0])
    return found


def unconfined() -> str:
    """Why files are parsed without a sandbox on this system; empty where they are not."""
    found = held()
    if found["landlock"] and found["seccomp"]:
        return ""
    kept = "seccomp holds" if found["seccomp"] else "limits and a clean environment hold"
    return (
        f"PDFs and drawings are parsed without a sandbox here: {'; '.join(found['why'])}. "
        f"Only {kept}."
    )


parser = Worker(
    "quem.blinding.file_worker",
    slow="takes too long to read; make it simpler, and save it again",
    crashed="cannot be read: the program that reads it crashed; save it again",
)
