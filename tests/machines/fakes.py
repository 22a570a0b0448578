"""Fake machine judges, without clock or chance: as a service on this computer, or as a command.

``python fakes.py KIND`` reads one request and writes an answer. Solutions begin like
``quality 7.3``.
"""

from __future__ import annotations

import json
import re
import sys
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

SECRET = "sk-very-secret"  # noqa: S105  of a service that is not real
_SOLUTION = re.compile(r"<<SOLUTION ([A-Z]+) [0-9a-f]+>>\n(.*?)\n<<END", re.DOTALL)


def answer(kind: str, solutions: list[tuple[str, str]], seed: int) -> str:
    best = sorted(solutions, key=lambda one: -float(one[1].split()[1]))
    good = json.dumps({"ranked": [[letter] for letter, _ in best]})
    special = {
        "malformed": f"{best[0][0]} is best.",
        "malformed-once": f"Sorry: {good[:-3]}" if seed < 1000 else good,
        "chatty": f"Let me see. B looks {{fine}}.\n```json\n{good}\n```\nThat is all.",
        "refuses": json.dumps({"refused": "I would rather not compare people."}),
    }
    return special.get(kind, good)


class Service(ThreadingHTTPServer):
    """A service of chat completions on a free port."""

    daemon_threads = True

    def __init__(self, kind: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.kind = kind
        self.requests: list[dict[str, Any]] = []
        self.keys: set[str] = set()
        self.lock = Lock()
        self.url = f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request: object, client_address: object) -> None:
        """Disconnects are expected."""

    def trouble(self, n: int, body: dict[str, Any]) -> tuple[int, str] | None:
        """Answer the nth request with a status and a text that are no completion."""
        now, status, text = {
            "401": (True, 401, f"no such key: {SECRET}"),
            "redirecting": (True, 302, ""),
            "no JSON": (True, 200, "<html>welcome</html>"),
            "huge": (True, 200, "x" * 10_000_000),
            "busy": (n % 3 != 0, 429, ""),
            "500 once": (n == 1, 500, SECRET),
            "no seed": ("seed" in body, 400, "unknown field"),
            "odd answer once": (n == 5, 200, '{"choices": [{"message": null}]}'),
            "400 once": (n in (5, 6), 400, "no"),
        }.get(self.kind, (False, 0, ""))
        return (status, text) if now else None


class _Handler(BaseHTTPRequestHandler):
    server: Service

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.requests.append(body)
            self.server.keys.add(self.headers.get("Authorization", ""))
            count = len(self.server.requests)
        status, text = self.server.trouble(count, body) or (200, self._completion(body))
        self.send_response(status)
        name, value = ("Retry-After", "0") if status > 401 else ("Location", "http://127.0.0.1:9/")
        self.send_header(name, value)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def _completion(self, body: dict[str, Any]) -> str:
        kind, content = self.server.kind, body["messages"][-1]["content"]
        text = answer(kind, _SOLUTION.findall(content), body.get("seed", 0))
        finish = {"filtered": "content_filter", "cut off": "length"}.get(kind, "stop")
        message = {"role": "assistant", "content": text}
        if kind == "declines":
            message |= {"content": "", "refusal": "I cannot help with that."}
        choice = {"index": 0, "finish_reason": finish, "message": message}
        return json.dumps({"model": f"fake-{kind}", "choices": [choice]})


@contextmanager
def serving(kind: str) -> Iterator[Service]:
    service = Service(kind)
    thread = Thread(target=service.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield service
    finally:
        service.shutdown()
        thread.join()
        service.server_close()


if __name__ == "__main__":
    KIND = sys.argv[1]
    REQUEST = json.load(sys.stdin)
    if KIND == "stuck":
        time.sleep(60)
    if KIND == "fails":
        sys.exit("no such model")
    if KIND == "huge":
        for _ in range(500):
            sys.stderr.write("note " * 20_000)
            sys.stdout.write("x" * 1_000_000)
        Path(sys.argv[2]).touch()
    TEXTS = [(one["letter"], one["parts"][0]["text"]) for one in REQUEST["solutions"]]
    sys.stdout.write(answer(KIND, TEXTS, REQUEST["seed"]))
