"""Blinding as a promise: nothing that a judge can reach tells who made what."""

from __future__ import annotations

import io
import re
from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from quem.store.judges import issue_link, judges_of
from tests.served import all_ranked
from webjudge import create_app, open_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flask import Flask
    from flask.testing import FlaskClient
    from werkzeug.test import TestResponse

    from webjudge import Site

SOLVERS = ("ZORNSUBJ1", "ZORNSUBJ2", "ZORNSUBJ3", "ZORNKBS7", "ZORNHELD")
SECRETS = (
    *SOLVERS,
    *("Xanthippe", "Quillfeather", "Wolpertinger", "Deep Blunder", "deep-blunder-base"),
    *("37.625", "41.875", "48.125", "7.7.7-rc9", "2019-08-17"),
    *("JUDGEFOX", "JUDGEOWL", "Professor Foxglove", "Professor Owlbear", "71.375"),
    *("subject", "withheld", "study.yaml", "solutions/"),
)
STUDY = """
id: blind
title: A blind study
problems:
  - {id: P1, title: First, statement: p1.md}
  - {id: P2, title: Second}
judges:
  - {id: JUDGEFOX, name: Professor Foxglove, experience: 71.375}
  - {id: JUDGEOWL, name: Professor Owlbear, experience: 71.375}
subjects:
  - {id: ZORNSUBJ1, name: Xanthippe, experience: 37.625}
  - {id: ZORNSUBJ2, name: Quillfeather, experience: 41.875}
  - {id: ZORNSUBJ3, name: Wolpertinger, experience: 48.125}
systems:
  - {id: ZORNKBS7, name: Deep Blunder, version: 7.7.7-rc9, of: deep-blunder-base, date: 2019-08-17}
withheld: [ZORNHELD]
judging: {practice: P0, repeat: 1}
"""


def picture(solver: str) -> bytes:
    """An image whose metadata name its maker."""
    image, exif, info = Image.new("RGB", (40, 30), "teal"), Image.Exif(), PngInfo()
    exif[0x013B] = exif[0x010E] = exif[0x0131] = solver
    info.add_text("Author", solver)
    info.add_itxt("XML:com.adobe.xmp", f"<x:xmpmeta>{solver}</x:xmpmeta>")
    file = io.BytesIO()
    image.save(file, "PNG", exif=exif, pnginfo=info)
    return file.getvalue()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A study whose solvers have conspicuous names, in every format."""
    (tmp_path / "study.yaml").write_text(STUDY)
    (tmp_path / "p1.md").write_text("# What now?\n\nDecide.\n")
    for number, solver in enumerate(SOLVERS):
        write(
            tmp_path, f"P1/{solver}.md", f"# Plan\n\nWait {number} days.\n\n```python\nx = 1\n```\n"
        )
        write(tmp_path, f"P2/{solver}/{solver}.png", picture(solver))
        note = f'<!-- {solver} --><p title="{solver}" class="{solver}">Act {number}.</p>'
        write(tmp_path, f"P2/{solver}/notes-{solver}.html", note)
        write(
            tmp_path, f"P2/{solver}/more.md", f"![see](<{solver}.png>)\n\nSee picture {number}.\n"
        )
    for name in ("good", "bad"):
        write(tmp_path, f"P0/{name}.txt", f"An example, number {len(name)}.\n")
    site = open_site(tmp_path / "study.yaml")
    yield site
    site.store.close()


def write(folder: Path, name: str, content: str | bytes) -> None:
    """Write a solution."""
    path = folder / "solutions" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.fixture
def app(site: Site) -> Flask:
    """The app of that study."""
    return create_app(site)


def links(site: Site) -> list[str]:
    """The paths of all judges' links."""
    with site.store.write() as c:
        return [f"/j/{issue_link(c, judge, 'shell')}" for judge in judges_of(c, site.id)]


class Crawler:
    """Follows everything that a judge's browser could, and keeps all it received."""

    def __init__(self, client: FlaskClient) -> None:
        self.client = client
        self.received: dict[str, str] = {}

    def crawl(self, start: str) -> None:
        """Read a page, and all that it leads to."""
        waiting = [start]
        while waiting:
            path = waiting.pop()
            if path in self.received or not path.startswith("/"):
                continue
            answer = self.client.get(path)
            self.keep(path, answer, unquote(path))
            if answer.location:
                waiting.append(answer.location)
            if answer.mimetype in ("text/html", "text/css", "text/javascript"):
                waiting += [urljoin(path, found) for found in references(answer.text)]

    def keep(self, what: str, answer: TestResponse, address: str = "") -> None:
        """Note everything that came: headers and body, and the address that led there."""
        headers = "\n".join(f"{name}: {value}" for name, value in answer.headers)
        body = answer.data.decode("latin-1")
        answer.close()  # files of ours are sent as streams
        self.received[what] = f"{address}\n{answer.status}\n{headers}\n\n{body}"


def references(text: str) -> list[str]:
    """Everything in a page, style or script that may be an address."""
    found = re.findall(r"""(?:href|src|action|data|srcset)\s*=\s*["']([^"'#]+)""", text)
    found += re.findall(r"""url\(["']?([^"')]+)""", text)
    found += re.findall(r"""(?:from|import)\s*\(?["']([^"']+\.js)["']""", text)
    return found + re.findall(r'"(/judge/[^"]+|/static/[^"]+)"', text)


def listed(client: FlaskClient) -> str:
    """The list of groups of a judge's first page."""
    return client.get("/judge").text.partition('class="groups"')[2]


def ranked_by(client: FlaskClient, gid: str) -> None:
    """Rank and submit a group, with a comment."""
    import json

    page = client.get(f"/judge/g/{gid}").text
    found = re.search(r'id="group-data"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    state = all_ranked(data["labels"], comment="SECRETREMARK")
    body = {"base": data["revision"], "client": "tab-12345678", "change": 1, "seconds": 1}
    body["layout"] = data["layout"]
    answer = client.put(f"/judge/g/{gid}/state", json={**body, "state": state, "submit": True})
    assert answer.status_code == 200


def test_nothing_that_a_judge_can_reach_tells_a_maker(app: Flask, site: Site) -> None:
    """All bytes of all pages, files, headers, addresses and errors, before and after ranking."""
    fox, owl = links(site)
    other = app.test_client()
    other.get(owl)
    theirs = re.findall(r"/judge/g/([\w-]+)", listed(other))
    for gid in dict.fromkeys(theirs):
        ranked_by(other, gid)

    client = app.test_client()
    crawler = Crawler(client)
    crawler.crawl(fox)
    mine = list(dict.fromkeys(re.findall(r"/judge/g/([\w-]+)", listed(client))))
    for gid in mine:
        ranked_by(client, gid)
    later = Crawler(client)
    later.crawl("/judge")
    received = {**crawler.received, **{f"later {k}": v for k, v in later.received.items()}}
    pages = [key for key in received if re.fullmatch(r"(later )?/judge/g/[\w-]+", key)]
    images = [key for key in received if re.fullmatch(r"/judge/g/[\w-]+/file/[0-9a-f]{32}", key)]
    assert len(pages) >= 7  # practice and two groups, then with the repeated one
    assert len(images) == len(SOLVERS)

    probing = Crawler(client)
    for path in errors(mine[1], theirs[1]):
        probing.keep(path, client.get(path))
        probing.keep(f"PUT {path}", client.put(path, json={"base": 1}))
        probing.keep(f"POST {path}", client.post(path, data=b"{", content_type="application/json"))
    received |= probing.received

    for what, text in received.items():
        own = text.replace("Professor Foxglove", "")  # one's own name is no secret
        remark = () if what.startswith("later ") else ("SECRETREMARK",)
        for secret in (*SECRETS, *remark):
            assert secret.lower() not in own.lower(), f"{secret} in {what}"
        assert "ETag" not in text or "/static/" in what
        assert "Last-Modified" not in text or "/static/" in what


def errors(mine: str, theirs: str) -> list[str]:
    """Addresses that lead nowhere, or to what is not the judge's."""
    own, foreign = f"/judge/g/{mine}", f"/judge/g/{theirs}"
    return [
        *(f"{own}/{label}/{n}" for label in ("A", "Z", "ZORNKBS7", "..") for n in (0, 1, 9)),
        *(f"{own}/statement/1", f"{own}/A/ZORNKBS7.png", f"{own}/A/../B/1"),
        *(foreign, f"{foreign}/A/1", f"{foreign}/state"),
        *("/judge/g/nothing", "/desk", "/desk/preview", "/static/nothing", "/solutions/P1/"),
        *("/judge/g/0", "/j/wrong", "/d/wrong", "/", "/study.yaml", "/healthz"),
    ]


def test_labels_and_order_are_random_for_each_judge_and_group(tmp_path: Path) -> None:
    """Over many judges every solver has every label about equally often."""
    judges = "\n".join(f"  - {{id: X{number}}}" for number in range(60))
    study = re.sub(r"judges:\n(  - .*\n)+", f"judges:\n{judges}\n", STUDY)
    (tmp_path / "study.yaml").write_text(study.replace(", statement: p1.md", ""))
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
