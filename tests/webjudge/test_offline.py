"""What the server sends where a study is judged offline, and where it is not."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from quem.store.judges import issue_link, judge_named, revoke_link
from quem.store.studies import set_state
from tests.served import write_judging_study
from webjudge import create_app, open_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flask.testing import FlaskClient

    from webjudge import Site


@contextmanager
def client_of(folder: Path, judging: str) -> Iterator[tuple[Site, FlaskClient]]:
    """A study, and the browser of its first judge."""
    site = open_site(write_judging_study(folder, judging=judging))
    with site.store.write() as c:
        token = issue_link(c, judge_named(c, site.id, "J0"), "shell")
    client = create_app(site).test_client()
    client.get(f"/j/{token}")
    yield site, client
    site.store.close()


def carried(page: str) -> dict[str, Any] | None:
    """What a page carries for working offline."""
    match = re.search(r'id="offline">(.*?)</script>', page)
    data: dict[str, Any] | None = json.loads(match[1]) if match else None
    return data


def test_nothing_is_different_where_it_is_off(tmp_path: Path) -> None:
    """Pages and policy know of no worker, and one of an earlier time ends itself."""
    with client_of(tmp_path, "{}") as (site, client):
        page = client.get("/judge")
        assert carried(page.text) is None
        assert "offline" not in page.text
        assert "worker-src" not in page.headers["Content-Security-Policy"]
        assert "Offline-Id" not in page.headers
        assert 'const VERSION = "";' in client.get("/judge/sw.js").text
        assert client.post("/judge/sign-out").status_code == 404
        stranger = create_app(site).test_client()
        assert "Clear-Site-Data" not in stranger.get("/judge").headers


def test_what_pages_carry(tmp_path: Path) -> None:
    """Each judge has an id of their own, which says nothing; only judges' pages allow workers."""
    with client_of(tmp_path, "{offline: true}") as (site, client):
        home = client.get("/judge")
        data = carried(home.text)
        assert data is not None
        assert re.fullmatch("[0-9a-f]{32}", data["judge"])
        assert home.headers["Offline-Id"] == data["judge"]
        assert "worker-src 'self'" in home.headers["Content-Security-Policy"]
        assert data["pages"][0] == "/judge"
        assert len(data["pages"]) == 3
        assert data["isOver"] is False
        task = client.get(data["pages"][1])
        assert carried(task.text) == data
        worker = client.get(data["worker"])
        assert worker.headers["Cache-Control"] == "no-cache"
        assert worker.headers["Service-Worker-Allowed"] == "/judge"
        assert f'const VERSION = "{data["version"]}";' in worker.text
        files = json.loads(re.search("const FILES = (.*);", worker.text)[1])  # type: ignore[index]
        for file in files:
            with client.get(file) as sent:
                assert sent.status_code == 200
        assert any("workspace.js" in file for file in files)
        assert not any("dashboard" in file for file in files)
        assert "worker-src" not in client.get("/dashboard").headers["Content-Security-Policy"]
        with site.store.write() as c:
            other = issue_link(c, judge_named(c, site.id, "J1"), "shell")
            set_state(c, site.id, "open", "shell")
        second = create_app(site).test_client()
        second.get(f"/j/{other}")
        assert second.get("/judge").headers["Offline-Id"] != data["judge"]
        with site.store.write() as c:
            set_state(c, site.id, "closed", "shell")
        closed = carried(client.get("/judge").text)
        assert closed is not None
        assert closed["isOver"] is True


@pytest.mark.parametrize("how", ["revoked", "no cookie", "signed out"])
def test_what_ends_it(tmp_path: Path, how: str) -> None:
    """A link that works no longer clears all; a lost cookie only the copies."""
    with client_of(tmp_path, "{offline: true}") as (site, client):
        comes = client
        if how == "revoked":
            with site.store.write() as c:
                revoke_link(c, judge_named(c, site.id, "J0"), "shell")
        elif how == "signed out":
            out = client.post("/judge/sign-out")
            assert out.headers["Clear-Site-Data"] == '"cache", "storage"'
            assert "You are signed out" in out.text
        else:
            comes = create_app(site).test_client()
        for answer in (comes.get("/judge"), comes.put("/judge/g/x/state", json={})):
            assert answer.status_code == 401
            storage = '"cache", "storage"' if how == "revoked" else '"cache"'
            assert answer.headers["Clear-Site-Data"] == storage
            assert answer.headers["Offline-Id"] == ("over" if how == "revoked" else "")
