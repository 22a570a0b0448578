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
from threading import Event, Lock, Thread, Timer
from time import monotonic
from typing import IO, TYPE_CHECKING, Any, TypeAlias
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

Judge: TypeAlias = "Command | Endpoint"

_MOST_BYTES = 4_000_000
_PIECE = 65_536
_SHOWN = 200
_RETRIES = 5
_MINUTE = 60.0
_LONGEST_WAIT = 600.0  # a server that asks for more is not waited for
_AGAIN = (
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.INTERNAL_SERVER_ERROR,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
)
# What is wrong with the key, the address, or the model is so for all calls.
_FINAL = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND)
_LONG = f"the answer is longer than {_MOST_BYTES // 1_000_000} MB"


class CallError(Exception):
    """A call that was not answered."""

    def __init__(
        self, message: str, *, again: bool = True, after: float | None = None, final: bool = False
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


def judge_of(machine: Machine, study: Path, *, replay: bool = False) -> Judge:
    """The judge that a study file declares."""
    return Endpoint(machine, replay=replay) if machine.url else Command(machine, study)


class Command:
    """A program that reads a request and writes an answer, one process for each call."""

    def __init__(self, machine: Machine, study: Path) -> None:
        self._machine = machine
        # It works in an empty folder; files of the study are named from there.
        paths = [study.parent / part for part in machine.command]
        self._argv = [
            str(path.resolve()) if path.is_file() else part
            for path, part in zip(paths, machine.command, strict=True)
        ]
        # What answers depend on besides the request: arguments, and what those that are files hold.
        self.identity: dict[str, Any] = {
            "kind": "command",
            "argv": list(machine.command),
            "files": [
                hashlib.sha256(path.read_bytes()).hexdigest() for path in paths if path.is_file()
            ],
            "temperature": machine.temperature,
        }

    def request(self, request: Request) -> dict[str, Any]:
        """The object on its standard input, with the SHA-256 of images in their place."""
        return request.document(whole=False)

    def ask(self, request: Request) -> Reply:
        """Start it, and wait until it ends; one that writes too much or too long is ended."""
        name = self._machine.command[0]
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as body:
            body.write(canonical(request.document()))
            body.seek(0)
            try:
                process = subprocess.Popen(  # noqa: S603  what the study file names
                    self._argv,
                    stdin=body,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=folder,
                    start_new_session=True,
                )
            except OSError as error:
                raise CallError(f"{name} cannot be started: {error.strerror}", final=True) from None
            with process:
                out, notes = self._written_by(process)
        text = notes.decode("utf-8", "replace")
        if process.returncode:
            last = text.strip().rpartition("\n")[2][:_SHOWN]
            raise CallError(f"{name} ended with {process.returncode}: {last}".removesuffix(": "))
        return Reply(out.decode("utf-8", "replace"), notes=text)

    def _written_by(self, process: subprocess.Popen[bytes]) -> tuple[bytes, bytearray]:
        """The answer of a program, and the end of its notes."""
        assert process.stdout  # noqa: S101  a pipe
        notes, late = bytearray(), Event()
        reader = Thread(target=_read_last, args=(process.stderr, notes), daemon=True)

        def end() -> None:
            late.set()
            _end(process)

        timer = Timer(self._machine.timeout, end)
        reader.start()
        timer.start()
        try:
            out = process.stdout.read(_MOST_BYTES + 1)
            if len(out) > _MOST_BYTES:
                _end(process)
            process.wait()
            reader.join()
        except BaseException:
            _end(process)
            raise
        finally:
            timer.cancel()
        if len(out) > _MOST_BYTES:
            raise CallError(_LONG, again=False)
        if late.is_set():
            raise CallError(_late(self._machine))
        return out, notes

    def close(self) -> None:
        """Nothing stays open."""


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


class Endpoint:
    """A model behind an OpenAI-compatible service."""

    def __init__(self, machine: Machine, *, replay: bool = False) -> None:
        try:
            import httpx
        except ImportError:
            raise QuemError(ADVICE) from None
        self._machine = machine
        self._key = "" if replay else _key(machine)
        self._host = urlsplit(machine.url).netloc
        self._client = httpx.Client(
            headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
            timeout=httpx.Timeout(machine.timeout),
            follow_redirects=False,  # the key would travel
            trust_env=not machine.is_here,
            limits=httpx.Limits(max_connections=machine.concurrency),
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
        """The body of the request; images as their SHA-256 unless it is whole."""
        return {
            "model": self._machine.model,
            "messages": request.messages(whole=whole),
            "temperature": self._machine.temperature,
            "seed": request.seed,
        }

    def ask(self, request: Request) -> Reply:
        """Post it; where a seed may be what is not understood, once more without."""
        body = self.request(request, whole=True)
        if not self._takes_seed:
            body.pop("seed")
        status, headers, content = self._post(body)
        if status == HTTPStatus.BAD_REQUEST and "seed" in body:
            body.pop("seed")
            status, headers, content = self._post(body)
            self._takes_seed = status != HTTPStatus.OK
        if status in _AGAIN:
            raise CallError(self._said(status, content), after=_seconds(headers))
        if 300 <= status < 400:  # noqa: PLR2004  redirects
            why = "which is not followed: the key would travel; write the address it redirects to"
            raise CallError(f"{self._host} redirects (HTTP {status}), {why}", final=True)
        if status != HTTPStatus.OK:
            raise CallError(self._said(status, content), again=False, final=status in _FINAL)
        return self._reply(content)

    def _post(self, body: dict[str, Any]) -> tuple[int, httpx.Headers, bytes]:
        import httpx

        url, start = f"{self._machine.url}/chat/completions", monotonic()
        form = {"Content-Type": "application/json"}
        try:
            with self._client.stream(
                "POST", url, content=canonical(body), headers=form
            ) as response:
                content = b""
                for chunk in response.iter_bytes():
                    content += chunk
                    if len(content) > _MOST_BYTES:
                        raise CallError(_LONG, again=False)
                    # The client's limit is for each part.
                    if monotonic() - start > self._machine.timeout:
                        raise CallError(_late(self._machine))
                return response.status_code, response.headers, content
        except httpx.TimeoutException:
            raise CallError(_late(self._machine)) from None
        except httpx.HTTPError as error:
            said = self._masked(str(error))[:_SHOWN]
            raise CallError(f"{self._host} cannot be reached: {said}") from None

    def _reply(self, content: bytes) -> Reply:
        try:
            document = json.loads(content)
            (choice, *_) = document["choices"]
            message = dict(choice["message"])
        except (ValueError, LookupError, TypeError, RecursionError):
            what = "answered with something else than a chat completion"
            raise CallError(f"{self._host} {what}", again=False) from None
        finish, refused = choice.get("finish_reason"), message.get("refusal")
        if finish == "content_filter":
            refused = refused or "the service's content filter"
        usage = document.get("usage") if isinstance(document.get("usage"), dict) else {}
        return Reply(
            self._masked(message.get("content")),
            refused=self._masked(refused),
            cut=finish == "length",
            model=self._masked(document.get("model")),
            fingerprint=self._masked(document.get("system_fingerprint")),
            input_tokens=_number(usage.get("prompt_tokens")),
            output_tokens=_number(usage.get("completion_tokens")),
        )

    def _said(self, status: int, content: bytes) -> str:
        text = " ".join(self._masked(content.decode("utf-8", "replace")).split())[:_SHOWN]
        return f"{self._host} answered HTTP {status}{f': {text}' if text else ''}"

    def _masked(self, said: object) -> str:
        """A text of the service without the key; empty for nothing."""
        text = str(said or "")
        return text.replace(self._key, "***") if self._key else text

    def close(self) -> None:
        """Close its connections."""
        self._client.close()


def _key(machine: Machine) -> str:
    """The key of a service, from the environment."""
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
