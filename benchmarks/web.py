"""How fast and how small the judging server is, beside a peer in the same run.

20 problems of 8 solutions, 8 clients that keep their connections, on the loopback interface, as
fast as the server answers. Run with ``nox -s bench -- web``, or with ``--without-peer`` where
there is no network; ``--judges 5000`` measures a large study on PostgreSQL instead. Prints a table
and exits with 1 where a demand is missed. Needs Linux: what a process takes is read from ``/proc``.
"""

from __future__ import annotations

import argparse
import compileall
import contextlib
import http.client
import os
import posixpath
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.parse import urljoin, urlsplit

from web_servers import Client, Peer, Quem, Server

import quem
import webjudge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CLIENTS = 8
ROUNDS, REQUESTS = 3, 40  # of each kind, by each client
WARM_UP = 20
MOST_SECONDS = 60.0  # for a round, whatever is reached by then
STARTS = 3
BUSY = 1.0  # processes that wait for a CPU before we start
MIB = 1024 * 1024


@dataclass(frozen=True)
class Measured:
    """What was measured of one server, in milliseconds, MiB and kB."""

    page: float
    page_cpu: float
    save_cpu: float
    save_p99: float
    idle: float
    loaded: float
    size: float
    start: float


# What is measured, how it is written, and what is demanded of ours.
DEMANDS = (
    ("page", "ranking page, median", "ms", 35),
    ("page_cpu", "server CPU for a page", "ms", 5.5),
    ("save_cpu", "server CPU for a save", "ms", 4),
    ("save_p99", "save, 99th percentile", "ms", 100),
    ("idle", "memory after the start", "MiB", 80),
    ("loaded", "memory after the load", "MiB", 90),
    ("size", "page with its assets and fonts, decoded", "kB", 500),
    ("start", "cold start to first answer", "ms", 1000),
)


def main() -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without-peer", action="store_true", help="measure only quem")
    parser.add_argument(
        "--judges", type=int, metavar="N", help="measure a study of N judges on PostgreSQL instead"
    )
    options = parser.parse_args()
    if not Path("/proc/self/stat").exists():
        print("benchmarks/web.py reads /proc, which this system does not have.", file=sys.stderr)
        return 2
    if (busy := os.getloadavg()[0]) > BUSY:
        print(f"The machine is busy (load {busy:.1f}): times come out too long.", file=sys.stderr)
    if options.judges:
        from crowd import measure as measure_crowd

        rows = list(measure_crowd(options.judges))
        width = max(len(name) for name, *_ in rows)
        for name, value, demand, good in rows:
            print(f"{name:<{width}}  {value:>18}  {demand}{'' if good else '  MISSED'}")
        return 0 if all(good for *_, good in rows) else 1
    for package in (quem, webjudge):
        compileall.compile_dir(str(Path(package.__file__ or "").parent), quiet=2)
    ours, theirs, name = measure(Quem()), None, "peer"
    if not options.without_peer:
        with tempfile.TemporaryDirectory() as folder:
            peer = Peer(Path(folder, "environment"))
            theirs, name = measure(peer), f"potato {peer.version}"
    return 0 if print_table(ours, theirs, name) else 1


def print_table(ours: Measured, theirs: Measured | None, name: str) -> bool:
    """Print what was measured; gives whether all demands are met."""
    width = max(len(title) for _, title, *_ in DEMANDS)
    print(f"{'':<{width}}  {'ours':>10}  {name:>14}  {'ratio':>8}  demand")
    good = True
    for field, title, unit, most in DEMANDS:
        mine = getattr(ours, field)
        peer = ratio = "-"
        if theirs:
            value = getattr(theirs, field)
            peer, ratio = f"{value:.1f} {unit}", f"{mine / value:.2f} x"
        mark = "" if mine < most else "  MISSED"
        good = good and not mark
        print(
            f"{title:<{width}}  {f'{mine:.1f} {unit}':>10}  {peer:>14}  {ratio:>8}"
            f"  below {most} {unit}{mark}"
        )
    return good


def measure(server: Server) -> Measured:
    """Start a server a few times; load the last one with pages, then with saves."""
    starts = []
    for _ in range(STARTS - 1):
        with Running(server) as running:
            starts.append(running.start_seconds)
    with Running(server) as running:
        starts.append(running.start_seconds)
        time.sleep(1)
        idle = running.memory()
        judges = server.judges(running.output(), running.port, CLIENTS)
        size = weight(judges[0].page(0).decode(), running.port)
        # Every page is made once before: judges come back to what others have opened.
        load(lambda client, count: judges[client].page(count), WARM_UP)
        pages, page_cpu = costs(running, lambda client, count: judges[client].page(count))
        saves, save_cpu = costs(running, lambda client, count: judges[client].save(count))
        return Measured(
            page=statistics.median(pages) * 1e3,
            page_cpu=page_cpu * 1e3,
            save_cpu=save_cpu * 1e3,
            save_p99=statistics.quantiles(saves, n=100)[98] * 1e3,
            idle=idle / MIB,
            loaded=running.memory() / MIB,
            size=size / 1e3,
            start=statistics.median(starts) * 1e3,
        )


def costs(running: Running, work: Callable[[int, int], object]) -> tuple[list[float], float]:
    """Seconds per request, and the server's CPU seconds per request."""
    times, cpu = [], []
    for turn in range(ROUNDS):
        before = running.cpu()
        taken = load(work, REQUESTS, turn * REQUESTS)
        cpu.append((running.cpu() - before) / len(taken))
        times += taken
    return times, statistics.median(cpu)


def load(work: Callable[[int, int], object], count: int, first: int = 0) -> list[float]:
    """Let all clients work at once, each as often as `count`; gives the seconds of each request."""
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

    def memory(self) -> int:
        """Bytes of its resident set."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        match = re.search(r"VmRSS:\s+(\d+) kB", status)
        assert match  # noqa: S101  each live process has it
        return int(match[1]) * 1024


def weight(page: str, port: int) -> int:
    """Bytes of a page and of all that it loads; of fonts, the files that an English text needs."""
    client = Client(port)
    waiting, seen, total = list(assets(page, "/")), set(), len(page.encode())
    while waiting:
        if (path := waiting.pop()) in seen:
            continue
        seen.add(path)
        content = client.send("GET", path)
        total += len(content)
        ending = posixpath.splitext(urlsplit(path).path)[1]
        if ending == ".css":
            fonts = re.findall(r"""url\(["']?([^"')]+\.woff2)""", content.decode())
            waiting += [urljoin(path, font) for font in fonts if "-latin-wght" in font]
        if ending in (".js", ".mjs"):
            names = re.findall(
                r"""(?m)^(?:import|[^;]*?\bfrom)\s*["']([^"']+)["'];""", content.decode()
            )
            waiting += [urljoin(path, name) for name in names]
    return total


def assets(page: str, address: str) -> Iterator[str]:
    """URLs that a page loads: styles, icons, scripts, and images."""
    for tag in re.findall(r"<(?:link|script|img)\b[^>]*>", page):
        source = re.search(r'\b(?:href|src)="([^"#]+)"', tag)
        if source and not source[1].startswith(("data:", "http:", "https:", "//")):
            yield urljoin(address, source[1].replace("&amp;", "&"))


def free_port() -> int:
    """A free port of the loopback interface."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def environment() -> dict[str, str]:
    """The environment of measured servers: bytecode is kept, and the store is beside the study."""
    left_out = ("PYTHONDONTWRITEBYTECODE", "QUEM_DATABASE_URL")
    return {name: value for name, value in os.environ.items() if name not in left_out}


if __name__ == "__main__":
    sys.exit(main())
