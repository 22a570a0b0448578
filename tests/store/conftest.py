"""A store on each kind of database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from quem.store.database import Store, open_store
from quem.store.location import DatabaseLocation, locate_database
from tests.store.made import prepare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> DatabaseLocation:
    """Where an empty database of each kind is."""
    if request.param == "sqlite":
        return locate_database(tmp_path / "study.yaml", str(tmp_path / "store.sqlite3"))
    new_postgres: Callable[[], str] = request.getfixturevalue("new_postgres")
    return locate_database(tmp_path / "study.yaml", new_postgres())


@pytest.fixture
def store(place: DatabaseLocation) -> Iterator[Store]:
    """A store that knows the study and its judges."""
    opened = open_store(place)
    prepare(opened)
    yield opened
    opened.close()
