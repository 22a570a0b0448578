"""A study that is judged, its app, and a browser at its dashboard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.webjudge.sites import enter_dashboard, fake_analysis, make_site
from webjudge import create_app, open_site
from webjudge.mailing import POST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from flask import Flask
    from flask.testing import FlaskClient

    from webjudge import Site


@pytest.fixture
def opened() -> Iterator[Callable[..., Site]]:
    sites: list[Site] = []

    def open_until_the_end(study: Path, database: str | None = None) -> Site:
        sites.append(open_site(study, database))
        return sites[-1]

    yield open_until_the_end
    for site in sites:
        site.store.close()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = make_site(tmp_path, judging="{repeat: 1, practice: P0}")
    yield site
    site.store.close()


@pytest.fixture
def url() -> str | None:
    return None


@pytest.fixture
def app(site: Site, url: str | None) -> Iterator[Flask]:
    """The app of the site; nothing is sent after the test."""
    app = create_app(site, url=url)
    yield app
    app.extensions[POST].stop()


@pytest.fixture
def dashboard(app: Flask, site: Site) -> FlaskClient:
    return enter_dashboard(app, site)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    return fake_analysis(monkeypatch)
