"""The judge's pages and saves, beside Potato: time, memory, and size.

20 problems of 8 solutions, 8 clients that keep their connections, on the loopback interface, as
fast as the server answers.
"""

from __future__ import annotations

import posixpath
import re
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from benchmarks.measuring import Row
from benchmarks.running import CLIENTS, Running, load
from benchmarks.servers import Client, Potato, Quem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.servers import Server


@dataclass(frozen=True)
class Measured:
    """What was measured of one server, in milliseconds, MiB, and kB."""

    page: float
    page_cpu: float
    save: float
    save_cpu: float
    save_p99: float
    idle: float
    loaded: float
    size: float
    start: float


# What, how it is called, and what is demanded: at most so much, and at most so much of Potato's.
DEMANDS = (
    ("page", "open a ranking page, median", "ms", 35, 1 / 6),
    ("page_cpu", "open a ranking page, server's CPU", "ms", 5.5, 1 / 6),
    ("save", "save a ranking, median", "ms", None, 1.5),
    ("save_cpu", "save a ranking, server's CPU", "ms", 4, None),
    ("save_p99", "save a ranking, 99th percentile", "ms", 100, 1),
    ("idle", "server's memory after the start", "MiB", 80, None),
    ("loaded", "server's memory after these requests", "MiB", 90, None),
    ("size", "ranking page with all that it loads", "kB", 500, None),
    ("start", "start of the server to its first answer", "ms", 1000, None),
)


def rows(*, short: bool) -> Iterator[Row]:
    """Ours, then Potato."""
    requests = 5 if short else 40
    ours = measure(Quem(), requests)
    with tempfile.TemporaryDirectory() as folder:
        theirs = measure(Potato(Path(folder, "environment")), requests)
    for name, what, unit, most, share in DEMANDS:
        mine, other = getattr(ours, name), getattr(theirs, name)
        if most is not None:
            yield Row(what, mine, unit, "Potato", other, most=most)
        if share is not None:
            yield Row(what, mine, unit, "Potato", other, share=share)


def measure(server: Server, requests: int) -> Measured:
    """Start a server three times; load the last one with pages, then with saves."""
    starts = []
    for _ in range(2):
        with Running(server) as running:
            starts.append(running.start_seconds)
    with Running(server) as running:
        starts.append(running.start_seconds)
        time.sleep(1)
        idle = running.memory()
        judges = server.judges(running.output(), running.port, CLIENTS)
        size = weight(judges[0].page(0).decode(), running.port)
        # Every page is made once before: judges come back to what others have opened.
        load(lambda client, count: judges[client].page(count), 20)
        pages, page_cpu = costs(running, lambda client, n: judges[client].page(n), requests)
        saves, save_cpu = costs(running, lambda client, n: judges[client].save(n), requests)
        return Measured(
            page=statistics.median(pages) * 1e3,
            page_cpu=page_cpu * 1e3,
            save=statistics.median(saves) * 1e3,
            save_cpu=save_cpu * 1e3,
            save_p99=statistics.quantiles(saves, n=100)[98] * 1e3,
            idle=idle,
            loaded=running.memory(),
            size=size / 1e3,
            start=statistics.median(starts) * 1e3,
        )


def costs(
    running: Running, work: Callable[[int, int], object], requests: int
) -> tuple[list[float], float]:
    """The seconds of each request in three rounds, and the server's CPU seconds for one."""
    times, cpu = [], []
    for turn in range(3):
        before = running.cpu()
        taken = load(work, requests, turn * requests)
        cpu.append((running.cpu() - before) / len(taken))
        times += taken
    return times, statistics.median(cpu)


def weight(page: str, port: int) -> int:
    """Bytes of a page and of all that it loads; of fonts, those that an English text needs."""
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
    """What a page names for loading: styles, icons, scripts, and images."""
    for tag in re.findall(r"<(?:link|script|img)\b[^>]*>", page):
        source = re.search(r'\b(?:href|src)="([^"#]+)"', tag)
        if source and not source[1].startswith(("data:", "http:", "https:", "//")):
            yield urljoin(address, source[1].replace("&amp;", "&"))
