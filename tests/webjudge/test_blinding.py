"""Blinding as a promise: nothing that a judge can reach tells who made what."""

from __future__ import annotations

import random
import re
from collections import Counter
from typing import TYPE_CHECKING

from quem.store.people import issue_link, people_of
from tests.office import lacking_office
from tests.trials.crawl import crawl
from webjudge import create_app, open_site

if TYPE_CHECKING:
    from pathlib import Path

    from flask.testing import FlaskClient

    from webjudge import Site

SOLVERS = ("S1", "S2", "S3", "S4", "S5")


def write(folder: Path, name: str, content: str) -> None:
    """Write a solution."""
    path = folder / "solutions" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def links(site: Site) -> list[str]:
    """The paths of all judges' links."""
    with site.store.write() as c:
        return [f"/j/{issue_link(c, judge, 'shell')}" for judge in people_of(c, site.id, "judge")]


def listed(client: FlaskClient) -> str:
    """The list of groups of a judge's first page."""
    return client.get("/judge").text.partition('class="groups"')[2]


def test_nothing_that_a_judge_can_reach_tells_a_maker(tmp_path: Path) -> None:
    """All bytes of all pages, files, headers, addresses and errors, before and after ranking.

    No document calls a host while it is converted.
    """
    lacks_office = lacking_office()
    counts = crawl(random.Random(0), tmp_path)
    assert counts["names"] > (200 if lacks_office else 350)


def test_labels_and_order_are_random_for_each_judge_and_group(tmp_path: Path) -> None:
    """Over many judges every solver has every label about equally often."""
    lines = ["id: blind", "title: A blind study", "problems:"]
    lines += ["  - {id: P1, title: First}", "  - {id: P2, title: Second}", "judges:"]
    lines += [f"  - {{id: X{number}}}" for number in range(60)]
    lines += ["subjects:", *(f"  - {{id: {s}, experience: {s[1]}}}" for s in SOLVERS)]
    lines += ["judging: {practice: P0, repeat: 1}"]
    (tmp_path / "study.yaml").write_text("\n".join(lines))
    for problem in ("P1", "P2"):
        for number, solver in enumerate(SOLVERS):
            write(tmp_path, f"{problem}/{solver}.md", f"Number {number}\n")
    for name in ("good", "bad"):
        write(tmp_path, f"P0/{name}.txt", "An example.\n")
    site = open_site(tmp_path / "study.yaml")
    app = create_app(site)
    first, orders = Counter[str](), Counter[str]()
    for link in links(site):
        client = app.test_client()
        client.get(link)
        gids = list(dict.fromkeys(re.findall(r"/judge/g/([\w-]+)", listed(client))))
        page = client.get(f"/judge/g/{gids[1]}").text
        orders["First" if re.search(r"<h1[^>]*>[^<]*First", page) else "Second"] += 1
        numbers = re.findall(r"Number (\d)", page)
        assert sorted(set(numbers)) == ["0", "1", "2", "3", "4"]
        first[numbers[0]] += 1
    site.store.close()
    assert len(orders) == 2
    # Each of five is first 12 times of 60 on average; 0 or above 30 has odds below 1 in 10^5.
    assert len(first) == 5
    assert max(first.values()) <= 30
