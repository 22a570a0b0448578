"""Calls of a machine judge: a local command, or a chat-completions service."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import tempfile
from collections import deque
from dataclasses import dataclass
from http import HTTPStatus
from threading import Lock, Timer
from time import monotonic
from typing import IO, TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

from quem.errors import Mistake, QuemError
from quem.machines.material import ADVICE
from quem.machines.requests import Request, canonical

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import httpx

    from quem.studyfile.machines import Machine

Judge: TypeAlias = "Command | Endpoint"

_MOST_BYTES = 4_000_000
_SHOWN = 200
_RETRIES = 5
_MINUTE = 60.0
_LONGEST_WAIT = 600.0  # a longer Retry-After ends the attempts
_AGAIN = (429, 500, 502, 503, 504)
# Errors of key, address, or model affect all calls.
_FINAL = (401, 403, 404)
_LONG = f"the answer is longer than {_MOST_BYTES // 1_000_000} MB"


@dataclass(eq=False)
class CallError(Exception):
    """A failed call."""

    message: str
    again: bool = False  # whether to retry
    after: float | None = None  # seconds to wait, from the service
    final: bool = False  # whether all calls will fail alike


@dataclass(frozen=True)
class Reply:
    """A response."""

    answer: str
    refused: str = ""  # the service's reason to decline; empty if none
    cut: bool = False  # whether the service truncated the answer
    model: str = ""
    fingerprint: str = ""
    notes: str = ""  # stderr of a command


def judge_of(machine: Machine, study: Path, *, replay: bool = False) -> Judge:
    """The machine judge that a study file declares."""
    return Endpoint(machine, replay=replay) if machine.url else Command(machine, study)


class Command:
    """A program that reads a request and writes an answer, one process per call."""

    def __init__(self, machine: Machine, study: Path) -> None:
        self._machine = machine
        # It runs in an empty folder, with absolute paths to files of the study.
        paths = {part: (study.parent / part).resolve() for part in machine.command}
        files = {part: path for part, path in paths.items() if path.is_file()}
        self._argv = [str(files.get(part, part)) for part in machine.command]
        # Inputs of answers besides the request: arguments, and contents of those that are files.
        self.identity: dict[str, Any] = {
            "kind": "command",
            "argv": list(machine.command),
            "files": [
                hashlib.sha256(files[part].read_bytes()).hexdigest()
                for part in machine.command
                if part in files
            ],
            "temperature": machine.temperature,
        }

    def request(self, request: Request) -> dict[str, Any]:
        """The object on its standard input, with images as their SHA-256."""
        return request.document(whole=False)

    def ask(self, request: Request) -> Reply:
        """Run the program to its end; one that writes too much or takes too long is killed."""
        with (
            tempfile.TemporaryDirectory() as folder,
            tempfile.TemporaryFile() as body,
            tempfile.TemporaryFile() as notes,
        ):
            body.write(canonical(request.document()))
            body.seek(0)
            code, out = self._answered(folder, body, notes)
            notes.seek(max(0, notes.seek(0, os.SEEK_END) - _MOST_BYTES))
            text = notes.read().decode("utf-8", "replace")
        if code:
            last = text.strip().rpartition("\n")[2][:_SHOWN]
            said = f"{self._machine.command[0]} ended with {code}: {last}"
            raise CallError(said.removesuffix(": "), again=True)
        return Reply(out.decode("utf-8", "replace"), notes=text)

    def close(self) -> None:
        """Nothing is open between calls."""

    def _answered(self, folder: str, body: IO[bytes], notes: IO[bytes]) -> tuple[int, bytes]:
        """The program's exit code and answer."""
        machine, start = self._machine, monotonic()
        try:
            process = subprocess.Popen(  # noqa: S603  what the study file names
                self._argv,
                stdin=body,
                stdout=subprocess.PIPE,
                stderr=notes,
                cwd=folder,
                start_new_session=True,
            )
        except OSError as error:
            said = f"{machine.command[0]} cannot be started: {error.strerror}"
            raise CallError(said, final=True) from None
        timer = Timer(machine.timeout, _end, [process])
        timer.start()
        with process:
            assert process.stdout  # noqa: S101  a pipe
            out = process.stdout.read(_MOST_BYTES + 1)
            if len(out) > _MOST_BYTES:
                _end(process)
        timer.cancel()
        if len(out) > _MOST_BYTES:
            raise CallError(_LONG)
        if monotonic() - start > machine.timeout:
            raise _late(machine)
        return process.returncode, out


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a program with its children."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (AttributeError, ProcessLookupError):
        process.kill()


def _late(machine: Machine) -> CallError:
    return CallError(f"no answer in {machine.timeout:g} seconds", again=True)


class Endpoint:
    """A model behind an OpenAI-compatible service."""

    def __init__(self, machine: Machine, *, replay: bool = False) -> None:
        try:
            import httpx  # before anything is made of solutions
        except ImportError:
            raise QuemError(ADVICE) from None
        self._machine = machine
        self._key = "" if replay else _key(machine)
        self._host = urlsplit(machine.url).netloc
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        self._client = httpx.Client(
            headers={"Content-Type": "application/json", **headers},
            timeout=machine.timeout,
            follow_redirects=False,  # would send the key elsewhere
            trust_env=not machine.is_here,
        )
        self._takes_seed = True
        # Neither the host nor the key.
        self.identity: dict[str, Any] = {
            "kind": "endpoint",
            "path": urlsplit(machine.url).path,
            "model": machine.model,
            "temperature": machine.temperature,
        }

    def request(self, request: Request, *, whole: bool = False) -> dict[str, Any]:
        """The body of the request; images as their SHA-256 unless `whole`."""
        return {
            "model": self._machine.model,
            "messages": request.messages(whole=whole),
            "temperature": self._machine.temperature,
            "seed": request.seed,
        }

    def ask(self, request: Request) -> Reply:
        """Post it; if the service may not accept a seed, once more without."""
        body = self.request(request, whole=True)
        if not self._takes_seed:
            body.pop("seed")
        status, headers, content = self._post(body)
        if status == HTTPStatus.BAD_REQUEST and "seed" in body:
            body.pop("seed")
            status, headers, content = self._post(body)
            self._takes_seed = status != HTTPStatus.OK
        if status == HTTPStatus.OK:
            return self._reply(content)
        if 300 <= status < 400:  # noqa: PLR2004  redirects
            why = "which is not followed: the key would travel; write the address it redirects to"
            raise CallError(f"{self._host} redirects (HTTP {status}), {why}", final=True)
        text = " ".join(self._masked(content.decode("utf-8", "replace")).split())[:_SHOWN]
        raise CallError(
            f"{self._host} answered HTTP {status}: {text}".removesuffix(": "),
            again=status in _AGAIN,
            after=_seconds(headers),
            final=status in _FINAL,
        )

    def _post(self, body: dict[str, Any]) -> tuple[int, httpx.Headers, bytes]:
        import httpx

        machine, start = self._machine, monotonic()
        url = f"{machine.url}/chat/completions"
        try:
            with self._client.stream("POST", url, content=canonical(body)) as response:
                content = b""
                for chunk in response.iter_bytes():
                    content += chunk
                    if len(content) > _MOST_BYTES:
                        raise CallError(_LONG)
                    # httpx's limit is per operation.
                    if monotonic() - start > machine.timeout:
                        raise _late(machine)
                return response.status_code, response.headers, content
        except httpx.TimeoutException:
            raise _late(machine) from None
        except httpx.HTTPError as error:
            said = self._masked(str(error))[:_SHOWN]
            raise CallError(f"{self._host} cannot be reached: {said}", again=True) from None

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _reply(self, content: bytes) -> Reply:
        try:
            document = json.loads(content)
            (choice, *_) = document["choices"]
            message = dict(choice["message"])
        except (ValueError, LookupError, TypeError, RecursionError):
            what = "answered with something else than a chat completion"
            raise CallError(f"{self._host} {what}") from None
        finish, refused = choice.get("finish_reason"), message.get("refusal")
        if finish == "content_filter":
            refused = refused or "the service's content filter"
        return Reply(
            self._masked(message.get("content")),
            refused=self._masked(refused),
            cut=finish == "length",
            model=self._masked(document.get("model")),
            fingerprint=self._masked(document.get("system_fingerprint")),
        )

    def _masked(self, said: object) -> str:
        """A text of the service with the key masked; may be empty."""
        text = str(said or "")
        return text.replace(self._key, "***") if self._key else text


def _key(machine: Machine) -> str:
    """The key of a service from the environment."""
    if not machine.key_env:
        return ""
    key = os.environ.get(machine.key_env, "").strip()
    if key and key.isascii() and key.isprintable() and " " not in key:
        return key
    message = f"{machine.id} needs its key in the environment variable {machine.key_env}"
    message += ", and what is there is no key: keys are in ASCII, without blanks" if key else ""
    raise QuemError(Mistake("", key="machines.key_env", message=message))


def _seconds(headers: httpx.Headers) -> float | None:
    try:
        seconds = float(headers.get("Retry-After", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds <= _LONGEST_WAIT else None


class Pace:
    """A rate limit on a judge's calls per minute."""

    def __init__(self, per_minute: int, wait: Callable[[float], bool]) -> None:
        self._began: deque[float] = deque(maxlen=per_minute)
        self._lock = Lock()
        self._wait = wait

    def asked(self, judge: Judge, request: Request) -> tuple[Reply, int]:
        """Ask until there is an answer, at most six times; returns the number of attempts, too."""
        for retry in range(_RETRIES + 1):
            with self._lock:
                full = len(self._began) == self._began.maxlen
                if full and self._wait(max(0.0, self._began[0] + _MINUTE - monotonic())):
                    break
                self._began.append(monotonic())
            try:
                return judge.ask(request), retry + 1
            except CallError as error:
                if not error.again or retry == _RETRIES:
                    raise
                pause = random.uniform(0, 2**retry) if error.after is None else error.after  # noqa: S311
                if self._wait(pause):
                    break
        raise CallError("interrupted")
