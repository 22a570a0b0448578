"""Pages of a relevance study: what judges receive tells no ids, and invitations ask for grades."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from quem.store.judges import judges_of
from tests.commands.test_relevance_session import CASES, write_relevance
from tests.webjudge.sites import enter_as, enter_dashboard
from webjudge import create_app, open_site

if TYPE_CHECKING:
    from pathlib import Path

    from flask.testing import FlaskClient


def _write(folder: Path, **keys: Any) -> Path:  # noqa: ANN401  any key
    """Write a study whose candidates have ids that nothing else has."""
    path = write_relevance(folder, **keys)
    for problem in ("p1", "p2"):
        group = folder / "solutions" / problem
        for case in CASES:
            (group / f"{case}.md").rename(group / f"zorn-{case}.md")
    table = folder / "candidates.csv"
    rows = [line.split(",") for line in table.read_text().splitlines()]
    table.write_text("".join(
        f"{problem},{'id' if one == 'id' else f'zorn-{one}'},{query},{case}\n"
        for problem, one, query, case in rows
    ))  # fmt: skip
    return path


def _pages(client: FlaskClient) -> dict[str, str]:
    """Everything that a judge's pages lead to."""
    pages = {"/judge": client.get("/judge").text}
    for address in sorted(set(re.findall(r'href="(/judge/g/[^"]+)"', pages["/judge"]))):
        pages[address] = client.get(address).text
    return pages


def test_a_judge_sees_no_id_of_a_candidate(tmp_path: Path) -> None:
    """Neither the names of files nor the ids of cases; grades have the labels of the study."""
    site = open_site(_write(tmp_path, repeat=0))
    try:
        pages = _pages(enter_as(create_app(site), site, "J1"))
        assert len(pages) == 3
        for address, page in pages.items():
            assert "zorn" not in page, address
            assert "http://c/" not in page, address
            assert "http://q/" not in page, address
        data = [
            json.loads(re.search(r'id="group-data">(.*?)</script>', page, re.DOTALL)[1])  # type: ignore[index]
            for address, page in pages.items()
            if address != "/judge"
        ]
        assert [one["grades"] for one in data] == [["No", "Partly", "Yes"]] * 2
        # The grade has buttons of its own, and is none of the questions.
        assert [one["questions"] for one in data] == [[], []]
        assert "Say of each how relevant it is to the query." in pages["/judge"]
    finally:
        site.store.close()


def test_where_judges_rank_the_page_is_that_of_any_study(tmp_path: Path) -> None:
    """Without grades, nothing speaks of them."""
    site = open_site(_write(tmp_path, repeat=0, grades=[]))
    try:
        pages = _pages(enter_as(create_app(site), site, "J1"))
        for page in pages.values():
            assert "zorn" not in page
            assert not re.search(r"is-grading|How to grade|candidates for it", page)
            assert "Rank them" in page or "How to rank" in page
    finally:
        site.store.close()


def test_the_dashboard_lacks_nobody_with_experience(tmp_path: Path) -> None:
    """A relevance study needs no people as a scale, and its setup does not ask for them."""
    site = open_site(_write(tmp_path))
    try:
        with site.store.read() as c:
            assert [judge.id for judge in judges_of(c, site.id)] == ["J1", "J2", "J3"]
        client = enter_dashboard(create_app(site), site)
        page = client.get("/dashboard/setup").text
        assert "Nothing is lacking" in page
        assert "Who made the solutions" not in page
        assert client.get("/dashboard/solutions/p1/zorn-a").status_code == 200
    finally:
        site.store.close()
