"""The report of a leaderboard as people see it: wide and narrow, light and dark."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from quem.leaderboard.compare import compare_scores
from quem.report.files import write_report
from tests.browser.reports import opened, passes
from tests.leaderboard.made import compared, table_of, write_retrievers

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser


@pytest.fixture(scope="module", params=["versions", "many"])
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of two versions, and one of 42 systems with hostile names by 13 measures."""
    folder = tmp_path_factory.mktemp("leaderboard")
    if request.param == "versions":
        one = write_retrievers(folder, "one", {"a": 0.3})
        two = write_retrievers(folder, "two", {"a": 1.5}, seed=1)
        result = compared(one, two)
    else:
        rng = np.random.default_rng(0)
        values = rng.random((42, 20, 13)) + np.linspace(0, 2, 42).reshape(42, 1, 1)
        values[3, 8:] = np.nan
        table = table_of(values, tuple((f"measure {at} of many", "higher") for at in range(13)))
        name = "<script>alert(1)</script> & a name that is long "
        entries = tuple(one._replace(name=f"{name}{one.id}") for one in table.entries)
        title = f"A </title><img src=https://example.org/x> {'word' * 40}"
        result = compare_scores(
            [replace(table, entries=entries, title=title)], bootstrap=20, permutations=39
        )
    write_report(result, folder / "out")
    return folder / "out" / "report.html"


def test_page_is_self_contained_and_accessible(browser: Browser, report: Path) -> None:
    """It asks for nothing, complains of nothing, and axe objects to nothing."""
    with opened(browser, report) as (page, noted):
        passes(page, noted, report)
