"""A real proxy in a process of its own before the real servers: what they believe of it."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

import pytest

from quem.store.database import open_store
from quem.store.location import locate_database
from quem.store.people import issue_link, person_named
from tests.patience import SECONDS, until
from tests.served import write_judging_study
from webjudge import open_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Serve = Callable[..., AbstractContextManager[int]]
PUBLIC = "judging.example.org"
# It ends TLS for the public address, as far as its headers go, and prints its port.
PROXY = f"""
import http.client, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Proxy(BaseHTTPRequestHandler):
    def pass_on(self):
        behind = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
        own = {{"Host": behind.host + ":" + sys.argv[1], "X-Forwarded-Proto": "https",
               "X-Forwarded-Host": "{PUBLIC}", "X-Forwarded-For": "203.0.113.9"}}
        kept = {{k: v for k, v in self.headers.items() if k.title() not in own}}
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        behind.request(self.command, self.path, body, {{**kept, **own}})
        answer = behind.getresponse()
        body = answer.read()
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name not in ("Connection", "Transfer-Encoding"):
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
    do_GET = do_POST = pass_on
    def log_message(self, *_): pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
print(server.server_port, flush=True)
server.serve_forever()
"""


@contextmanager
def proxy_of(port: int) -> Iterator[int]:
    """Run the proxy before a port; gives its own."""
    command = [sys.executable, "-c", PROXY, str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


@contextmanager
def waitress(study: Path, *, behind: bool) -> Iterator[int]:
    """Serve a study by ``quem serve``; gives the port."""
    port = free_port()
    command = [sys.executable, "-c", "from quem.cli import run; run()", "serve", str(study)]
    command += ["--port", str(port), "--url", f"https://{PUBLIC}"]
    with running([*command, *(["--behind-proxy"] if behind else [])], port):
        yield port


@contextmanager
def gunicorn(study: Path, *, behind: bool) -> Iterator[int]:
    """Serve a study by gunicorn; gives the port."""
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}", "webjudge.wsgi"]
    environment = {"QUEM_STUDY": str(study), "QUEM_URL": f"https://{PUBLIC}"}
    with running(command, port, **environment, **({"QUEM_BEHIND_PROXY": "1"} if behind else {})):
        yield port


@contextmanager
def running(command: list[str], port: int, **environment: str) -> Iterator[None]:
    """Run a server until the block ends."""
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=quiet, stderr=quiet
    ) as process:
        try:
            until(lambda: is_up(port), "the server")
            yield
        finally:
            process.terminate()


def free_port() -> int:
    """Give a port on which nobody listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def is_up(port: int) -> bool:
    """Whether a server answers."""
    try:
        return ask(port, "GET", "/healthz").status == 200
    except OSError:
        return False


def ask(port: int, method: str, path: str, **headers: str) -> http.client.HTTPResponse:
    """Send a request; gives the answer with its body read."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, headers=sent)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study with a consent to give."""
    (tmp_path / "consent.md").write_text("Do you agree?")
    return write_judging_study(tmp_path, judging="{consent: consent.md}")


def link(study: Path) -> str:
    """Make a judge's link; gives its path."""
    open_site(study).store.close()
    store = open_store(locate_database(study, None))
    with store.write() as c:
        token = issue_link(c, person_named(c, "made-up", "judge", "J0"), "shell")
    store.close()
    return f"/j/{token}"


@pytest.mark.parametrize("serve", [waitress, gunicorn])
def test_behind_a_proxy_its_headers_count(study: Path, serve: Serve) -> None:
    """Cookies are Secure, HSTS is sent, and the host is the public one."""
    path = link(study)
    with serve(study, behind=True) as port, proxy_of(port) as proxy:
        entered = ask(proxy, "GET", path)
        cookie = entered.headers["Set-Cookie"]
        assert entered.status == 303
        assert "Secure" in cookie
        assert entered.headers["Strict-Transport-Security"]
        session = cookie.partition(";")[0]
        own = ask(proxy, "POST", "/judge/consent", Cookie=session, Origin=f"https://{PUBLIC}")
        other = ask(proxy, "POST", "/judge/consent", Cookie=session, Origin="https://a.example")
        assert (own.status, other.status) == (303, 403)


@pytest.mark.parametrize("serve", [waitress, gunicorn])
def test_without_the_option_nothing_is_believed(study: Path, serve: Serve) -> None:
    """The same headers change neither cookies nor headers nor the host."""
    path = link(study)
    with serve(study, behind=False) as port, proxy_of(port) as proxy:
        entered = ask(proxy, "GET", path)
        cookie = entered.headers["Set-Cookie"]
        assert entered.status == 303
        assert "Secure" not in cookie
        assert "Strict-Transport-Security" not in entered.headers
        session = cookie.partition(";")[0]
        forged = ask(proxy, "POST", "/judge/consent", Cookie=session, Origin=f"https://{PUBLIC}")
        assert forged.status == 403
