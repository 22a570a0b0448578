"""Asking a machine judge: a command on this computer, or a service of chat completions."""

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
from threading import Lock, Thread
from time import monotonic
from typing import IO, TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from quem.errors import Mistake, QuemError
from quem.machines.material import ADVICE
from quem.machines.requests import canonical

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import httpx

    from quem.machines.requests import Request
    from quem.studyfile.machines import Machine

_MOST_BYTES = 4_000_000
_PIECE = 65_536
_SHOWN = 200
_RETRIES = 5
_MINUTE = 60.0
# A server that asks for more is not waited for.
_LONGEST_WAIT = 600.0
_AGAIN = (
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.INTERNAL_SERVER_ERROR,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
)
# What is wrong with the key, the address, or the model is so for all calls.
_FINAL = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND)
_MASK = "***"


class CallError(Exception):
    """A call that was not answered."""

    def __init__(
        self,
        message: str,
        *,
        again: bool = True,
        after: float | None = None,
        final: bool = False,
    ) -> None:
        super().__init__(message)
        self.again = again and not final
        self.after = after
        self.final = final


@dataclass(frozen=True)
class Reply:
    """What came back."""

    text: str
    refused: str = ""  # why the service itself declined; empty where it did not
    cut: bool = False  # whether the service cut the answer off
    model: str = ""
    fingerprint: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    notes: str = ""  # what a command wrote besides


class Judge(Protocol):
    """A machine judge that can be asked."""

    @property
    def identity(self) -> dict[str, Any]:
        """What its answers depend on besides the request."""

    def request(self, request: Request) -> dict[str, Any]:
        """Give what is sent, with the SHA-256 of images in their place."""

    def ask(self, request: Request) -> Reply:
        """Send a request, once."""

    def close(self) -> None:
        """Let go of connections."""


def judge_of(machine: Machine, study: Path, *, replay: bool = False) -> Judge:
    """Give the judge that a study file declares."""
    return Endpoint(machine, replay=replay) if machine.url else Command(machine, study)


class Command:
    """A program that reads a request and writes an answer, one process for each call."""

    def __init__(self, machine: Machine, study: Path) -> None:
        self._machine = machine
        # It works in an empty folder; files of the study are named from there.
        self._argv = [
            str(path.resolve()) if (path := study.parent / part).is_file() else part
            for part in machine.command
        ]
        self._digests = [
            hashlib.sha256(path.read_bytes()).hexdigest()
            for part in machine.command
            if (path := study.parent / part).is_file()
        ]

    @property
    def identity(self) -> dict[str, Any]:
        """The arguments, and what those that are files hold."""
        argv = list(self._machine.command)
        return {
            "kind": "command",
            "argv": argv,
            "files": self._digests,
            "temperature": self._machine.temperature,
        }

    def request(self, request: Request) -> dict[str, Any]:
        """Give the object on its standard input."""
        return request.document(whole=False)

    def ask(self, request: Request) -> Reply:
        """Start it, and wait until it ends; one that writes too much or too long is ended."""
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as body:
            body.write(canonical(request.document()))
            body.seek(0)
            try:
                process = subprocess.Popen(  # noqa: S603  what the study file names
                    self._argv,
                    bufsize=0,
                    stdin=body,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=folder,
                    start_new_session=True,
                )
            except OSError as error:
                raise CallError(
                    f"{self._machine.command[0]} cannot be started: {error.strerror}", final=True
                ) from None
            with process:
                try:
                    out, notes = self._written_by(process)
                except BaseException:
                    _end(process)
                    raise
        text = notes.decode("utf-8", "replace")
        if process.returncode:
            last = text.strip().rpartition("\n")[2][:_SHOWN]
            raise CallError(
                f"{self._machine.command[0]} ended with {process.returncode}: {last}".removesuffix(
                    ": "
                )
            )
        return Reply(out.decode("utf-8", "replace"), notes=text)

    def _written_by(self, process: subprocess.Popen[bytes]) -> tuple[bytearray, bytearray]:
        """Read the answer of a program, and the end of its notes, in pieces."""
        out, notes = bytearray(), bytearray()
        readers = [
            Thread(target=_read_first, args=(process.stdout, out), daemon=True),
            Thread(target=_read_last, args=(process.stderr, notes), daemon=True),
        ]
        for reader in readers:
            reader.start()
        end = monotonic() + self._machine.timeout
        for reader in readers:
            reader.join(max(0.0, end - monotonic()))
            if len(out) > _MOST_BYTES:
                raise CallError(_long(), again=False)
            if reader.is_alive():
                raise CallError(_late(self._machine))
        try:
            process.wait(max(0.0, end - monotonic()))
        except subprocess.TimeoutExpired:
            raise CallError(_late(self._machine)) from None
        return out, notes

    def close(self) -> None:
        """Nothing stays open."""


def _read_first(stream: IO[bytes], kept: bytearray) -> None:
    """Read until the end, or more than an answer may hold."""
    while len(kept) <= _MOST_BYTES and (piece := stream.read(_PIECE)):
        kept += piece


def _read_last(stream: IO[bytes], kept: bytearray) -> None:
    """Read until the end, and keep as much as an answer may hold."""
    while piece := stream.read(_PIECE):
        kept += piece
        del kept[:-_MOST_BYTES]


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program and those that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (AttributeError, ProcessLookupError):
        process.kill()


def _late(machine: Machine) -> str:
    return f"no answer in {machine.timeout:g} seconds"


def _long() -> str:
    return f"the answer is longer than {_MOST_BYTES // 1_000_000} MB"


class Endpoint:
    """A model behind an OpenAI-compatible service."""

    def __init__(self, machine: Machine, *, replay: bool = False) -> None:
        try:
            import httpx
        except ImportError:
            raise QuemError(ADVICE) from None
        self._machine = machine
        self._key = "" if replay else _key(machine)
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        self._client = httpx.Client(
            headers=headers,
            timeout=httpx.Timeout(machine.timeout),
            # The key would travel.
            follow_redirects=False,
            trust_env=not machine.is_here,
            limits=httpx.Limits(max_connections=machine.concurrency),
        )
        self._takes_seed = True

    @property
    def identity(self) -> dict[str, Any]:
        """The path and the model; neither the host nor the key."""
        return {
            "kind": "endpoint",
            "path": urlsplit(self._machine.url).path,
            "model": self._machine.model,
            "temperature": self._machine.temperature,
        }

    def request(self, request: Request) -> dict[str, Any]:
        """Give the body of the request."""
        return self._body(request, whole=False)

    def _body(self, request: Request, *, whole: bool) -> dict[str, Any]:
        return {
            "model": self._machine.model,
            "messages": request.messages(whole=whole),
            "temperature": self._machine.temperature,
            "seed": request.seed,
        }

    def ask(self, request: Request) -> Reply:
        """Post it; where a seed may be what is not understood, once more without."""
        body = self._body(request, whole=True)
        if not self._takes_seed:
            body.pop("seed")
        status, headers, content = self._post(body)
        if status == HTTPStatus.BAD_REQUEST and "seed" in body:
            body.pop("seed")
            status, headers, content = self._post(body)
            if status == HTTPStatus.OK:
                self._takes_seed = False
        if status in _AGAIN:
            raise CallError(self._said(status, content), after=_seconds(headers))
        if 300 <= status < 400:  # noqa: PLR2004  redirects
            raise CallError(
                (
                    f"{self._host} redirects (HTTP {status}), which is not followed: the key would "
                    "travel; write the address that it redirects to"
                ),
                final=True,
            )
        if status != HTTPStatus.OK:
            said = self._said(status, content)
            raise CallError(said, again=False, final=status in _FINAL)
        return self._reply(content)

    def _post(self, body: dict[str, Any]) -> tuple[int, httpx.Headers, bytes]:
        import httpx

        url = f"{self._machine.url}/chat/completions"
        start = monotonic()
        try:
            with self._client.stream(
                "POST",
                url,
                content=canonical(body),
                headers={"Content-Type": "application/json"},
            ) as response:
                content = b""
                for chunk in response.iter_bytes():
                    content += chunk
                    if len(content) > _MOST_BYTES:
                        raise CallError(_long(), again=False)
                    # The client's limit is for each part.
                    if monotonic() - start > self._machine.timeout:
                        raise CallError(_late(self._machine))
                return response.status_code, response.headers, content
        except httpx.TimeoutException:
            raise CallError(_late(self._machine)) from None
        except httpx.HTTPError as error:
            raise CallError(
                f"{self._host} cannot be reached: {self._masked(str(error))[:_SHOWN]}"
            ) from None

    def _reply(self, content: bytes) -> Reply:
        try:
            document = json.loads(content)
            (choice, *_) = document["choices"]
            message = dict(choice["message"])
        except (ValueError, LookupError, TypeError, RecursionError):
            raise CallError(
                f"{self._host} answered with something else than a chat completion", again=False
            ) from None
        finish = choice.get("finish_reason")
        refused = message.get("refusal") or ""
        if finish == "content_filter":
            refused = refused or "the service's content filter"
        usage = document.get("usage") if isinstance(document.get("usage"), dict) else {}
        return Reply(
            self._masked(str(message.get("content") or "")),
            refused=self._masked(str(refused)),
            cut=finish == "length",
            model=self._masked(str(document.get("model") or "")),
            fingerprint=self._masked(str(document.get("system_fingerprint") or "")),
            input_tokens=_number(usage.get("prompt_tokens")),
            output_tokens=_number(usage.get("completion_tokens")),
        )

    def _said(self, status: int, content: bytes) -> str:
        text = " ".join(self._masked(content.decode("utf-8", "replace")).split())[:_SHOWN]
        return f"{self._host} answered HTTP {status}{f': {text}' if text else ''}"

    @property
    def _host(self) -> str:
        return urlsplit(self._machine.url).netloc

    def _masked(self, text: str) -> str:
        return text.replace(self._key, _MASK) if self._key else text

    def close(self) -> None:
        """Close its connections."""
        self._client.close()


def _key(machine: Machine) -> str:
    """Read the key of a service from the environment."""
    if not machine.key_env:
        return ""
    key = os.environ.get(machine.key_env, "").strip()
    if key and key.isascii() and key.isprintable() and " " not in key:
        return key
    message = f"{machine.id} needs its key in the environment variable {machine.key_env}"
    message += ", and what is there is no key: keys are in ASCII, without blanks" if key else ""
    raise QuemError(Mistake("", key="machines.key_env", message=message))


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _seconds(headers: httpx.Headers) -> float | None:
    try:
        seconds = float(headers.get("Retry-After", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds <= _LONGEST_WAIT else None


class Pace:
    """Lets no more calls begin in a minute than a machine allows."""

    def __init__(self, per_minute: int, wait: Callable[[float], bool]) -> None:
        self._began: deque[float] = deque(maxlen=per_minute)
        self._lock = Lock()
        self._wait = wait

    def begin(self) -> bool:
        """Wait for a turn; says whether it came."""
        with self._lock:
            if len(self._began) == self._began.maxlen:
                left = self._began[0] + _MINUTE - monotonic()
                if left > 0 and self._wait(left):
                    return False
            self._began.append(monotonic())
            return True


def asked(
    judge: Judge, request: Request, pace: Pace, wait: Callable[[float], bool]
) -> tuple[Reply, int]:
    """Ask until there is an answer, at most six times; gives it, and how often it was asked."""
    for retry in range(_RETRIES + 1):
        if not pace.begin():
            break
        try:
            return judge.ask(request), retry + 1
        except CallError as error:
            if not error.again or retry == _RETRIES:
                raise
            pause = error.after if error.after is not None else random.uniform(0, 2**retry)  # noqa: S311
            if wait(pause):
                break
    raise CallError("interrupted", again=False)
