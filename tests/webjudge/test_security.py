"""What holds for every answer, and who may ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from quem.store.people import DEFAULT, issue_link, person_named
from tests.served import write_judging_study
from tests.webjudge.sites import enter_dashboard
from webjudge import create_app, open_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flask import Flask

    from webjudge import Site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A study that is judged, with a consent to give."""
    (tmp_path / "consent.md").write_text("Do you agree?")
    site = open_site(write_judging_study(tmp_path, judging="{consent: consent.md}"))
    yield site
    site.store.close()


@pytest.fixture
def app(site: Site) -> Flask:
    """The app of that study."""
    return create_app(site)


def token_of(site: Site, judge_id: str = "J0") -> str:
    """Make a judge's link."""
    with site.store.write() as c:
        return issue_link(c, person_named(c, site.id, "judge", judge_id), "shell")


@pytest.mark.parametrize("path", ["/", "/judge", "/j/wrong", "/healthz", "/nothing", "/dashboard"])
def test_every_answer_has_the_headers(app: Flask, path: str) -> None:
    """Also errors carry the policy, and none tells what the server is."""
    answer = app.test_client().get(path)
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Server" not in answer.headers


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({}, True),
        ({"Sec-Fetch-Site": "same-origin"}, True),
        ({"Sec-Fetch-Site": "none"}, True),
        ({"Sec-Fetch-Site": "cross-site"}, False),
        ({"Sec-Fetch-Site": "same-site"}, False),
        ({"Origin": "http://localhost"}, True),
        ({"Origin": "https://elsewhere.example"}, False),
        ({"Origin": "null"}, False),
    ],
)
def test_other_sites_cannot_act_for_a_judge(
    app: Flask, site: Site, headers: dict[str, str], *, allowed: bool
) -> None:
    """A request that changes something has to come from our own page."""
    client = app.test_client()
    client.get(f"/j/{token_of(site)}")
    answer = client.post("/judge/consent", headers=headers)
    assert answer.status_code == (303 if allowed else 403)
    with site.store.read() as c:
        assert (person_named(c, site.id, "judge", "J0").consented_at is not None) == allowed


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_cookies_are_kept_from_scripts_and_other_sites(app: Flask, site: Site, scheme: str) -> None:
    """HttpOnly, SameSite=Lax, Secure behind TLS, and without the token."""
    token = token_of(site)
    answer = app.test_client().get(f"/j/{token}", base_url=f"{scheme}://localhost")
    opened = enter_dashboard(app, site).post("/dashboard/open", base_url=f"{scheme}://localhost")
    cookie = answer.headers["Set-Cookie"]
    for one in (cookie, opened.headers["Set-Cookie"]):
        assert "HttpOnly" in one
        assert "SameSite=Lax" in one
        assert ("Secure" in one) == (scheme == "https")
    assert token not in cookie
    assert token not in answer.headers["Location"]
    assert token not in answer.text


def test_a_proxy_counts_only_where_it_is_announced(site: Site) -> None:
    """X-Forwarded-Proto makes cookies Secure behind a proxy, and nothing otherwise."""
    token = token_of(site)
    forwarded = {"X-Forwarded-Proto": "https"}
    direct = create_app(site).test_client().get(f"/j/{token}", headers=forwarded)
    assert "Secure" not in direct.headers["Set-Cookie"]
    behind = create_app(site, behind_proxy=True).test_client()
    assert "Secure" in behind.get(f"/j/{token}", headers=forwarded).headers["Set-Cookie"]


def test_the_store_holds_no_secret(site: Site) -> None:
    """Neither tokens nor cookies can be read from the database's files."""
    app = create_app(site)
    token = token_of(site)
    with site.store.write() as c:
        dashboard = issue_link(c, person_named(c, site.id, "organizer", DEFAULT), "shell")
    cookie = app.test_client().get(f"/j/{token}").headers["Set-Cookie"].split("=")[1].split(";")[0]
    file = site.store.place.file
    assert file is not None
    content = b"".join(path.read_bytes() for path in file.parent.glob(f"{file.name}*"))
    assert b"J0" in content
    for secret in (token, dashboard, cookie):
        assert len(secret) >= 32
        assert secret.encode() not in content


def test_no_secret_is_logged(
    app: Flask, site: Site, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even a bug in the page behind a link leaves no token in the log."""
    token = token_of(site)

    def broken(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("webjudge.access.person_of_link", broken)
    answer = app.test_client().get(f"/j/{token}")
    assert answer.status_code == 500
    assert "bug" in caplog.text
    assert "Traceback" not in answer.text
    assert token not in caplog.text
    assert token not in answer.text


def test_a_judge_is_not_the_experimenter(app: Flask, site: Site) -> None:
    """A judge's cookie opens no page of the dashboard, and the dashboard's none of a judge."""
    judge = app.test_client()
    judge.get(f"/j/{token_of(site)}")
    with site.store.write() as c:
        dashboard_token = issue_link(c, person_named(c, site.id, "organizer", DEFAULT), "shell")
    dashboard = app.test_client()
    assert dashboard.get(f"/d/{dashboard_token}").status_code == 303
    assert dashboard.get("/dashboard").status_code == 200
    for path in ("/dashboard", "/dashboard/preview", "/dashboard/preview/g/0"):
        assert judge.get(path).status_code == 401
    assert dashboard.get("/judge").status_code == 401
    with site.store.write() as c:
        issue_link(c, person_named(c, site.id, "organizer", DEFAULT), "shell")
    assert dashboard.get("/dashboard").status_code == 401


def test_a_busy_database_is_said_and_not_a_traceback(
    app: Flask, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the database cannot be used the answer is 503, and says to try again."""
    from sqlalchemy.exc import OperationalError

    busy = OperationalError("SELECT 1", {}, Exception("database is locked"))

    def locked(*_: object) -> None:
        raise busy

    client = app.test_client()
    client.get(f"/j/{token_of(site)}")
    monkeypatch.setattr("webjudge.judging.status_of", locked)
    answer = client.get("/judge")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
    assert "Traceback" not in answer.text


@pytest.mark.parametrize("path", ["../study.yaml", "..%2fstudy.yaml", "/etc/passwd", "x%00"])
def test_no_path_leads_out_of_the_static_files(app: Flask, path: str) -> None:
    """Only files below static/ are sent."""
    answer = app.test_client().get(f"/static/{path}", follow_redirects=True)
    assert answer.status_code == 404
