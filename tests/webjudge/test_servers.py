"""Headers, cookies, proxies, bodies and limits, asked of real servers."""

from __future__ import annotations

import datetime as dt
import json
import re
import socket
from contextlib import ExitStack, suppress
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import update

from quem.store.models import SessionRow, now
from quem.store.state import State
from tests.patience import SECONDS
from tests.served import all_ranked
from tests.webjudge.servers import Answer, Server, gunicorn, quem_serve
from tests.webjudge.sites import data_in
from tests.webjudge.solving_sites import write_solving_study

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.store.models import Role
    from tests.postgres import Postgres

PUBLIC = "judging.example.org"
FORWARDED = {
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": PUBLIC,
    "X-Forwarded-For": "203.0.113.9",
}
JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
DEEP = 50_000
MEGABYTES = 20
PROGRAMS = ("quem serve", "gunicorn")
behind_a_proxy = pytest.mark.parametrize(
    "server", [f"{one} behind a proxy" for one in PROGRAMS], indirect=True
)


@pytest.fixture(scope="module", params=PROGRAMS)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, postgres: Postgres
) -> Iterator[Server]:
    kind, behind, _ = request.param.partition(" behind")
    folder = tmp_path_factory.mktemp("served")
    (folder / "consent.md").write_text("Do you agree?")
    study = write_solving_study(folder)
    study.write_text(f"{study.read_text()}judging: {{consent: consent.md}}\n")
    url = f"https://{PUBLIC}"
    if kind == "quem serve":
        more = ["--behind-proxy"] if behind else []
        with quem_serve(study, "--url", url, *more) as server:
            yield server
    else:
        environment = {"QUEM_URL": url, **({"QUEM_BEHIND_PROXY": "1"} if behind else {})}
        with gunicorn(study, postgres.new(), 1 + bool(behind), **environment) as server:
            yield server
    assert "Traceback" not in server.log()


def check(answer: Answer) -> Answer:
    """What holds for every answer of the app, also for errors."""
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers.get("Server", "gunicorn") == "gunicorn", "no version"
    assert "evil" not in answer.text
    assert "Traceback" not in answer.text
    return answer


ROLES: dict[str, Role] = {"J": "judge", "S": "subject", "o": "organizer"}
CONSENT = "POST /judge/consent"
# Requests: role, path, headers, and body, with the expected status.
REQUESTS: list[tuple[str, str, dict[str, str], bytes, int]] = [
    ("", "GET /", {}, b"", 401),
    *(("", f"GET {path}", {}, b"", 404) for path in ("/j/wrong", "/d/wrong", "/nothing")),
    # Only files below static/ are sent.
    *(
        ("", f"GET /static/{path}", {}, b"", 404)
        for path in ("../study.yaml", "..%2fstudy.yaml", "/etc/passwd", "x%00")
    ),
    # Each cookie opens the pages of its role alone.
    ("J1", "GET /judge", {}, b"", 200),
    *(("J1", f"GET {path}", {}, b"", 401) for path in ("/dashboard", "/solve")),
    ("S1", "GET /judge", {}, b"", 401),
    ("organizer", "GET /judge", {}, b"", 401),
    ("organizer", "GET /dashboard", {}, b"", 200),
    # Only the names of this server are answered to, but for its health.
    *(
        ("", "GET /j/wrong", {"Host": host}, b"", 404)
        for host in ("localhost:8080", "[::1]:80", PUBLIC)
    ),
    *(
        ("", "GET /j/wrong", {"Host": host}, b"", 400)
        for host in (f"x.{PUBLIC}", "evil.example", "localhost.evil.example", "8.8.8.8", "[::1")
    ),
    ("", "GET /healthz", {"Host": "evil.example"}, b"", 200),
    # Nothing of a body is read before it is known whose it is.
    *(
        ("", request, JSON, b"[" * DEEP, 401)
        for request in (
            *("POST /judge/g/x/reopen", "POST /judge/g/x/time", "PUT /judge/g/x/state"),
            *("POST /dashboard/open", "POST /dashboard/judges/new", "PUT /solve/t/x/state"),
            *("POST /solve/t/x/files?name=a.md", "POST /solve/about", "POST /solve/t/x/check"),
        )
    ),
    ("J1", "POST /dashboard/open", FORM, b"[" * DEEP, 401),
    # A request that changes something comes from a page of this server.
    *(("J1", CONSENT, {"Sec-Fetch-Site": site}, b"", 403) for site in ("cross-site", "same-site")),
    *(
        ("J1", CONSENT, {**FORWARDED, "Origin": origin}, b"", 403)
        for origin in ("https://elsewhere.example", "null", f"https://{PUBLIC}")
    ),
    ("organizer", "POST /dashboard/open", {"Sec-Fetch-Site": "cross-site"}, b"", 403),
    ("J3", CONSENT, {}, b"", 303),
    *(("J3", CONSENT, {"Sec-Fetch-Site": site}, b"", 303) for site in ("same-origin", "none")),
    ("J3", CONSENT, {"Origin": "http://{own}"}, b"", 303),
    # Broken, foreign and oversized bodies.
    ("J2", "PUT {task}/state", JSON, b"{", 422),
    ("J2", "PUT {task}/state", JSON, b"[]", 422),
    ("J2", "PUT {task}/state", {"Content-Type": "text/plain"}, b"{}", 415),
    ("J2", "PUT {task}/state", JSON, b"x" * (2 << 20), 413),
]


@pytest.mark.parametrize(("who", "request_line", "headers", "body", "status"), REQUESTS)
def test_requests_and_answers(
    server: Server,
    who: str,
    request_line: str,
    headers: dict[str, str],
    body: bytes,
    status: int,
) -> None:
    headers = {k: v.format(own=f"127.0.0.1:{server.port}") for k, v in headers.items()}
    if who:
        headers |= signed_in(server, who)
    if "{task}" in request_line:
        request_line = request_line.format(task=opened(server, headers))
    answer = server.ask(request_line, body, headers)
    # Where a body is not read, what is left of it may break the connection.
    if answer.status or len(body) < DEEP:
        assert check(answer).status == status
    if request_line == CONSENT:
        assert (server.person(who).consented_at is None) == (status == 403)


def signed_in(server: Server, who: str) -> dict[str, str]:
    return server.cookie(server.link(who, ROLES[who[0]]))


def opened(server: Server, cookie: dict[str, str]) -> str:
    server.ask("POST /judge/consent", b"consent=yes", {**cookie, **FORM})
    [path, *_] = re.findall('href="(/judge/g/[^"]+)"', server.ask("GET /judge", b"", cookie).text)
    assert server.ask(f"GET {path}", b"", cookie).status == 200
    return str(path)


def check_cookie(server: Server, link: str, *, tls: bool) -> dict[str, str]:
    """Open a link through a proxy; cookies are kept from scripts and other sites."""
    entered = check(server.ask(f"GET {link}", b"", FORWARDED))
    cookie, token = entered.headers["Set-Cookie"], link.rpartition("/")[2]
    assert entered.status == 303
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert ("Secure" in cookie) == tls
    assert ("Strict-Transport-Security" in entered.headers) == tls
    assert token not in cookie + entered.headers["Location"] + entered.text
    return {"Cookie": cookie.partition(";")[0]}


def check_kept_cookie(server: Server, cookie: dict[str, str], *, tls: bool) -> None:
    """So is the one that keeps what a page says once."""
    sent = {**FORWARDED, **cookie, **FORM}
    answer = check(server.ask("POST /dashboard/solving/open", b"sure=yes", sent))
    assert answer.status == 303
    assert "HttpOnly" in answer.headers["Set-Cookie"]
    assert "SameSite=Lax" in answer.headers["Set-Cookie"]
    assert ("Secure" in answer.headers["Set-Cookie"]) == tls


def test_without_the_option_no_proxy_is_believed(server: Server) -> None:
    check_cookie(server, server.link("J3", "judge"), tls=False)
    check_kept_cookie(server, check_cookie(server, server.link(), tls=False), tls=False)


@behind_a_proxy
def test_behind_a_proxy_its_headers_count(server: Server) -> None:
    own = {"Origin": f"https://{PUBLIC}"}
    judge = check_cookie(server, server.link("J1", "judge"), tls=True)
    for headers, status in ((own, 303), ({"Origin": "https://a.example"}, 403)):
        sent = {**FORWARDED, **judge, **headers}
        assert check(server.ask("POST /judge/consent", b"", sent)).status == status
    check_kept_cookie(server, check_cookie(server, server.link(), tls=True), tls=True)


@behind_a_proxy
@pytest.mark.parametrize(
    ("host", "status"),
    [(PUBLIC, 404), ("localhost", 400), (f"x.{PUBLIC}", 400), ("evil.example", 400), ("a b", 400)],
)
def test_behind_a_proxy_one_name_is_known(server: Server, host: str, status: int) -> None:
    sent = {**FORWARDED, "X-Forwarded-Host": host}
    assert check(server.ask("GET /j/wrong", b"", sent)).status == status
    assert server.ask("GET /j/wrong").status == 400
    assert server.ask("GET /healthz").status == 200


@pytest.mark.parametrize(
    ("who", "page", "leave"),
    [
        ("J1", "/judge", "/judge/sign-out"),
        ("organizer", "/dashboard", "/dashboard/leave"),
        ("S1", "/solve", "/solve/sign-out"),
    ],
)
def test_a_copied_cookie_ends_with_its_session(
    server: Server, who: str, page: str, leave: str
) -> None:
    """Sign-ins elsewhere by the same link last; in the same browser a new one ends the former."""
    replaced, link = signed_in(server, who), server.link(who, ROLES[who[0]])
    assert server.ask(f"GET {page}", None, replaced).status == 401
    one, other = server.cookie(link), server.cookie(link)
    assert one != other
    assert server.ask(f"GET {page}", None, one).status == 200
    assert "out" in server.ask(f"POST {leave}", b"", one).text
    assert server.ask(f"GET {page}", None, one).status == 401
    assert server.ask(f"GET {page}", None, other).status == 200
    assert server.ask(f"GET {link}", None, other).status == 303
    assert server.ask(f"GET {page}", None, other).status == 401
    assert server.ask(f"GET {page}", None, server.cookie(link)).status == 200


def test_an_organizer_who_is_idle_signs_in_again(server: Server) -> None:
    """After 12 hours without a request; a judge's session lasts."""
    organizer, judge = signed_in(server, "organizer"), signed_in(server, "J1")
    for hours, expected in ((11, 200), (13, 401)):
        with server.store.write() as c:
            c.execute(update(SessionRow).values(seen_at=now() - dt.timedelta(hours=hours)))
        assert server.ask("GET /dashboard", None, organizer).status == expected
        assert server.ask("GET /judge", None, judge).status == 200


BODIES = (
    b"",
    b"[" * DEEP,
    b'{"seconds":' * DEEP,
    b"[" * DEEP + b"]" * DEEP,
    *(
        b'{"seconds": %s}' % value
        for value in (b"9" * 5000, b"NaN", b"Infinity", b"1e999", b"true", b"{}", b'"\\ud800"')
    ),
    *(
        b'{"seconds": 1, "views": %s}' % views
        for views in (b'{"A": NaN}', b'{"A": %s}' % (b"9" * 401), b'[["A"]]')
    ),
    b"null",
    b'"text"',
    b'{"base":0,"client":"tab-00000001","change":1,"layout":"\\u0000\\ud800"}',
    b'{"base":0,"client":"tab-00000001","change":1,"layout":' + b"[" * 900 + b"]" * 900 + b"}",
    b"\xff\xfe{",
    b"--x\r\nContent-Disposition: form-data; name=id\r\n\r\n",
    b"id=%00&name=%ff&experience=nan",
    b"&".join(b"a%d=1" % i for i in range(3000)),
)
TYPES = (JSON["Content-Type"], FORM["Content-Type"], "multipart/form-data; boundary=x", "")


@pytest.fixture(scope="module")
def task(server: Server) -> tuple[str, dict[str, str]]:
    judge = signed_in(server, "J2")
    return opened(server, judge), judge


def test_what_no_page_sends_is_refused(server: Server, task: tuple[str, dict[str, str]]) -> None:
    """Deep, endless, half and wrong bodies of every type are the sender's mistake."""
    path, judge = task
    organizer = signed_in(server, "organizer")
    for body, kind in product(BODIES, TYPES):
        sent = {"Content-Type": kind}
        answers = [
            server.ask(f"PUT {path}/state", body, judge | sent),
            server.ask(f"POST {path}/time", body, judge | sent),
            server.ask("POST /dashboard/judges/new", body, organizer | sent),
        ]
        assert {answer.status // 100 for answer in answers} == {4}, (body[:20], kind)
        assert all(answer.text for answer in answers)
        if kind == JSON["Content-Type"]:
            assert all(json.loads(answer.text)["message"] for answer in answers[:2])
    assert "Traceback" not in server.log()


_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
_KEYS = ("base", "client", "change", "layout", "state", "seconds", "submit", "views")


@settings(max_examples=40)
@given(key=st.sampled_from((*_KEYS, *State().to_json())), value=_values)
def test_a_save_with_another_value_is_refused_or_as_good(
    server: Server, task: tuple[str, dict[str, str]], key: str, value: object
) -> None:
    path, judge = task
    data = data_in(server.ask(f"GET {path}", None, judge).text)
    state = all_ranked(data["labels"])
    body = {"base": data["revision"], "client": "tab-00000001", "change": 1, "state": state}
    body |= {"layout": data["layout"], "seconds": 1.0, "submit": False}
    (body if key in _KEYS else state)[key] = value
    status = server.ask(f"PUT {path}/state", json.dumps(body).encode(), {**judge, **JSON}).status
    assert status == 200 or 400 <= status < 500
    assert "Traceback" not in server.log()


def send_slowly(port: int, cookie: str, *, chunked: bool) -> tuple[int, bytes]:
    """Send a large body until it is refused; gives how much went, and the first line."""
    length = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {MEGABYTES << 20}"
    piece, count = b"x" * 65_536, 0
    with socket.create_connection(("127.0.0.1", port), SECONDS) as one:
        one.sendall(f"{UPLOAD}{length}\r\nCookie: {cookie}\r\n\r\n".encode())
        try:
            for _ in range(MEGABYTES * 16):
                one.sendall(b"10000\r\n" + piece + b"\r\n" if chunked else piece)
                count += len(piece)
            one.sendall(b"0\r\n\r\n" if chunked else b"")
            return count, one.recv(1000).partition(b"\r\n")[0]
        except OSError:
            return count, b""


UPLOAD = "POST /solve/t/x/files?name=a.md HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.parametrize("chunked", [False, True])
def test_a_stranger_sends_no_large_body(server: Server, *, chunked: bool) -> None:
    mine = signed_in(server, "S1")["Cookie"].partition("=")[0]
    for cookie in ("a=b", f"{mine}=made-up"):
        count, answer = send_slowly(server.port, cookie, chunked=chunked)
        assert count < MEGABYTES << 20
        assert not answer or answer.split()[1] in (b"401", b"413")


@pytest.mark.parametrize("server", ["quem serve"], indirect=True)
def test_nobody_sends_more_at_once_than_they_may_have(server: Server) -> None:
    """Of several files that are under way their 200 MB are counted, whatever else is sent."""
    mine, answers = signed_in(server, "S1")["Cookie"], []
    for chunked in (False, True):
        count, answer = send_slowly(server.port, mine, chunked=chunked)
        assert (count, answer.split()[1]) == (MEGABYTES << 20, b"404")
    with ExitStack() as stack:
        for number in range(5):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), SECONDS))
            cookie = f"n={number}; {mine}"
            one.sendall(f"{UPLOAD}Content-Length: 49000000\r\nCookie: {cookie}\r\n\r\n".encode())
            try:
                for _ in range(48):
                    one.sendall(b"x" * 1_000_000)
            except OSError:
                answers.append(number)
                continue
            one.settimeout(0 if number < 4 else SECONDS)
            with suppress(BlockingIOError, OSError):
                answers += [number] if one.recv(100) else []
        assert answers == [4]
