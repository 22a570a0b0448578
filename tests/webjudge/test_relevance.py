"""Pages of a relevance study: what judges receive tells no ids, and invitations ask for grades."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from tests.commands.test_relevance_session import CASES, write_relevance
from tests.webjudge.sites import enter_as
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
