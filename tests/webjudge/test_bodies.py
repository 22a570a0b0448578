"""Whatever is sent, the answer is a refusal with a reason, and no traceback is logged."""

from __future__ import annotations

import json
import logging
import re
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quem.store.state import State
from tests.served import all_ranked
from tests.webjudge.sites import enter_as, enter_dashboard, make_site
from webjudge import create_app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flask import Flask
    from flask.testing import FlaskClient

    from webjudge import Site

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=x"
DEEP = 200_000
BODIES = (
    b"",
    b"[" * DEEP,
    b'{"seconds":' * DEEP,
    b"[" * DEEP + b"]" * DEEP,
    b'{"seconds": %s}' % (b"9" * 401),
    b'{"seconds": %s}' % (b"9" * 5000),
    b'{"seconds": NaN}',
    b'{"seconds": Infinity}',
    b'{"seconds": 1e999}',
    b'{"seconds": true}',
    b'{"seconds": 1, "views": {"A": NaN}}',
    b'{"seconds": 1, "views": {"A": %s}}' % (b"9" * 401),
    b'{"seconds": 1, "views": [["A"]]}',
    b'{"seconds": {}}',
    b"null",
    b'"text"',
    b'{"base":0,"client":"tab-00000001","change":1,"layout":"\\u0000\\ud800"}',
    b'{"base":0,"client":"tab-00000001","change":1,"layout":' + b"[" * 900 + b"]" * 900 + b"}",
    b"\xff\xfe{",
    b'{"seconds": "\\ud800"}',
    b"--x\r\nContent-Disposition: form-data; name=id\r\n\r\n",
    b"id=%00&name=%ff&experience=nan",
    b"&".join(b"a%d=1" % i for i in range(3000)),
)
TYPES = (JSON, FORM, MULTIPART, "application/json; charset=utf-7", "text/plain", "multipart/x", "")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A study that is judged."""
    site = make_site(tmp_path)
    yield site
    site.store.close()


@pytest.fixture
def app(site: Site) -> Flask:
    """The app of that study."""
    return create_app(site)


@pytest.fixture
def judge(app: Flask, site: Site) -> FlaskClient:
    """A judge's browser."""
    return enter_as(app, site, "J1")


def opened(judge: FlaskClient) -> str:
    """Open the first group; gives its address."""
    path = judge.get("/judge").text.partition('href="/judge/g/')[2].partition('"')[0]
    assert judge.get(f"/judge/g/{path}").status_code == 200
    return f"/judge/g/{path}"


def test_no_body_is_read_of_whom_nobody_knows(app: Flask) -> None:
    """Without a cookie the answer is 401, whatever is sent."""
    stranger = app.test_client()
    for path in (
        "/judge/g/x/reopen",
        "/judge/g/x/time",
        "/dashboard/open",
        "/dashboard/judges/new",
    ):
        assert stranger.post(path, data=b"[" * DEEP, content_type=JSON).status_code == 401
    answer = stranger.put("/judge/g/x/state", data=b"{", content_type=JSON)
    assert (answer.status_code, answer.get_json()["error"]) == (401, "link")


def test_what_no_page_sends_is_refused(
    app: Flask, site: Site, judge: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    """Deep, endless, half and wrong bodies of every type are the sender's mistake."""
    group, dashboard = opened(judge), enter_dashboard(app, site)
    for body, kind in product(BODIES, TYPES):
        sent = {"data": body, "content_type": kind}
        answers = [
            judge.put(f"{group}/state", **sent),
            *(judge.post(f"{group}/{to}", **sent) for to in ("reopen", "time")),
            *(
                dashboard.post(f"/dashboard/judges/{to}", **sent)
                for to in ("new", "9" * 30 + "/erase")
            ),
        ]
        message = (body[:20], kind, [answer.status_code for answer in answers])
        assert all(400 <= answer.status_code < 500 and answer.text for answer in answers), message
        assert kind != JSON or all(answer.get_json()["message"] for answer in answers[:3]), message
    assert [r for r in caplog.records if r.levelno >= logging.ERROR] == []


_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
_KEYS = ("base", "client", "change", "layout", "state", "seconds", "submit", "views")
_STATE = tuple(State().to_json())


def data_of(page: str) -> dict[str, Any]:
    """What a ranking page carries for its script."""
    match = re.search(r'<script[^>]*id="group-data"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert match
    data: dict[str, Any] = json.loads(match[1])
    return data


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(data=st.data())
def test_values_of_wrong_types_are_refused(
    judge: FlaskClient, caplog: pytest.LogCaptureFixture, data: st.DataObject
) -> None:
    """A save in which any value is something else is refused, or was as good."""
    group = opened(judge)
    state = all_ranked(list("ABCDE"))
    body: dict[str, Any] = {"base": 0, "client": "tab-00000001", "change": 1, "state": state}
    body |= {"layout": data_of(judge.get(group).text)["layout"], "seconds": 1.0, "submit": False}
    if data.draw(st.booleans()):
        state[data.draw(st.sampled_from(_STATE))] = data.draw(_values)
    else:
        body[data.draw(st.sampled_from(_KEYS))] = data.draw(_values)
    answer = judge.put(f"{group}/state", data=json.dumps(body), content_type=JSON)
    assert answer.status_code == 200 or 400 <= answer.status_code < 500
    assert [r for r in caplog.records if r.levelno >= logging.ERROR] == []


@pytest.mark.parametrize(
    ("options", "host", "known"),
    [
        ({}, "localhost:8080", True),
        ({}, "127.0.0.1", True),
        ({}, "[::1]:80", True),
        ({}, "evil.example", False),
        ({}, "8.8.8.8", False),
        ({}, "localhost.evil.example", False),
        ({}, "", False),
        ({}, "a b", False),
        ({}, "[::1", False),
        ({"listens": "127.0.0.1"}, "127.0.0.1:1", True),
        ({"listens": "127.0.0.1"}, "evil.example", False),
        ({"listens": "judging.example"}, "Judging.Example:1", True),
        ({"url": "https://j.example.org"}, "j.example.org", True),
        ({"url": "https://j.example.org"}, "localhost", True),
        ({"url": "https://j.example.org"}, "x.j.example.org", False),
        ({"url": "https://j.example.org", "behind_proxy": True}, "localhost", False),
        ({"url": "https://j.example.org", "behind_proxy": True}, "j.example.org", True),
    ],
)
def test_foreign_hosts_are_refused(
    site: Site, caplog: pytest.LogCaptureFixture, options: dict[str, Any], host: str, *, known: bool
) -> None:
    """Only the names of this server are answered to, but for its health; no page repeats others."""
    app = create_app(site, **options)
    dashboard = app.test_client()
    header = "X-Forwarded-Host" if options.get("behind_proxy") else "Host"
    answer = dashboard.get("/j/no-such-link", headers={header: host})
    assert answer.status_code == (404 if known else 400)
    assert not known or "invalid or has been replaced" in answer.text
    if not known:
        assert "evil" not in answer.text
        assert "--url" in answer.text or host in ("", "a b", "[::1")
    assert dashboard.get("/healthz", headers={"Host": "127.0.0.1"}).status_code == 200
    assert [r for r in caplog.records if r.levelno >= logging.ERROR] == []
