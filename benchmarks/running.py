"""A server in a process of its own, and clients that work at once; needs Linux's ``/proc``."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Self

from benchmarks.measuring import environment

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.servers import Server

CLIENTS = 8
MOST_SECONDS = 60.0  # that clients work, whatever is reached by then


class Running:
    """A server in a process of its own, from its start until it is told to end."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._output = Path(self._folder.name, "output.txt")
        self.port = free_port()
        self.start_seconds = 0.0

    def __enter__(self) -> Self:
        """Start it on a new task, and wait for its first answer."""
        task = Path(self._folder.name, "task")
        task.mkdir()
        command = self._server.command(task, self.port)
        start = time.perf_counter()
        with self._output.open("w") as output:
            self._process = subprocess.Popen(
                command, cwd=task, stdout=output, stderr=subprocess.STDOUT, env=environment()
            )
        try:
            self._wait()
        except BaseException:
            self.__exit__()
            raise
        self.start_seconds = time.perf_counter() - start
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(10)
        self._folder.cleanup()

    def _wait(self) -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self._process.poll() is None:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
            with contextlib.suppress(OSError, http.client.HTTPException):
                connection.request("GET", self._server.health)
                if connection.getresponse().status == http.HTTPStatus.OK:
                    connection.close()
                    return
            connection.close()
            time.sleep(0.005)
        raise RuntimeError(f"the server did not start:\n{self.output()}")

    def output(self) -> str:
        """What it has printed."""
        return self._output.read_text()

    def cpu(self) -> float:
        """CPU seconds that it has taken, in user and in system mode."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float:
        """MiB of its resident set."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        match = re.search(r"VmRSS:\s+(\d+) kB", status)
        assert match  # noqa: S101  each live process has it
        return int(match[1]) / 1024


def load(work: Callable[[int, int], object], count: int, first: int = 0) -> list[float]:
    """All clients work at once, each `count` times: the seconds of each request."""
    barrier, deadline = threading.Barrier(CLIENTS), time.monotonic() + MOST_SECONDS

    def client(number: int) -> list[float]:
        times = []
        barrier.wait(30)
        for index in range(first, first + count):
            if time.monotonic() > deadline:
                break
            start = time.perf_counter()
            work(number, index)
            times.append(time.perf_counter() - start)
        return times

    with ThreadPoolExecutor(CLIENTS) as pool:
        return [seconds for times in pool.map(client, range(CLIENTS)) for seconds in times]


def free_port() -> int:
    """A port of the loopback interface on which nobody listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
