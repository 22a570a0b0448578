"""Judging in blocks: what judges see, what is stored, and what the experimenter sees."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

import quem
from quem.store.exporting import submitted_rankings
from tests.served import write_judging_study
from tests.webjudge.sites import set_life
from tests.webjudge.test_judging import data_of, enter, gids, put
from webjudge import create_app, open_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flask.testing import FlaskClient

    from webjudge import Site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """Two problems of five solutions, in blocks of at most three; one block comes again."""
    path = write_judging_study(tmp_path, judging="{repeat: 1}")
    path.write_text(path.read_text() + "design: {block_size: 3}\n")
    site = open_site(path)
    yield site
    site.store.close()


def _titles(page: str) -> list[str]:
    listed = page.partition('class="groups"')[2].partition("</ol>")[0]
    names = re.findall(r'class="name">(.*?)</span>', listed)
    return [name.partition(": ")[2] for name in names]


def _submit_all(client: FlaskClient) -> None:
    done: set[str] = set()
    while waiting := [gid for gid in gids(client) if gid not in done]:
        assert put(client, waiting[0], submit=True).status_code == 200
        done.add(waiting[0])


def test_a_judge_sees_parts_of_a_problem(site: Site) -> None:
    """The parts of a problem follow on each other, each with its solutions and its statement."""
    client = enter(create_app(site), site)
    titles = _titles(client.get("/judge").text)
    first = titles[0].partition(",")[0]
    other = "Problem 1" if first == "Problem 0" else "Problem 0"
    assert titles[:4] == [f"{p}, part {n} of 2" for p in (first, other) for n in (1, 2)]
    assert titles[4] == ""  # which part comes again is not said before it can be opened
    sizes = []
    for gid in gids(client):
        page = client.get(f"/judge/g/{gid}").text
        sizes.append(len(data_of(client, gid)["labels"]))
        assert re.search(r"<h1[^>]*>Problem \d, part \d of 2</h1>", page)
        assert "What is to be done about" in page
    assert sizes == [3, 3, 3, 3]


def test_blocks_are_stored_and_analysed_as_such(site: Site) -> None:
    """The rankings say which block each rank belongs to; an export reads back."""
    app = create_app(site)
    for judge in ("J0", "J1"):
        _submit_all(enter(app, site, judge))
    set_life(site, "open")
    set_life(site, "closed")
    with site.store.read() as c:
        submitted = submitted_rankings(c, site.id)
    assert len(submitted) == 2 * (2 * 2 + 1)
    frame = quem.load_study(site.path, kind="experience").rankings
    assert frame is not None
    first = frame[frame["occasion"] == 1]
    for _, of in first.groupby(["judge", "problem"], observed=True):
        assert sorted(of["block"]) == [1, 1, 1, 2, 2, 2]
        assert of["solver"].nunique() == 5
    assert set(frame.loc[frame["occasion"] == 2, "block"]) <= {1, 2}


@pytest.mark.parametrize(
    ("design", "start"),
    [
        ("", "P0 has 13 solutions, and judges rank about 12 well in one list; have them dealt"),
        ("design: {block_size: 13}", "blocks hold up to 13 solutions"),
        ("design: {block_size: 8}", ""),
    ],
)
def test_long_lists_are_warned_of(tmp_path: Path, design: str, start: str) -> None:
    """From 13 solutions in one list on, blocks are advised."""
    path = write_judging_study(tmp_path, solvers=13)
    path.write_text(f"{path.read_text()}{design}\n")
    site = open_site(path)
    site.store.close()
    messages = [doubt.message for doubt in site.warnings if doubt.code == "long-lists"]
    assert len(messages) == bool(start)
    assert not start or messages[0].startswith(start)
