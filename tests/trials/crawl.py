"""A judge's browser follows every address of a study in which names are planted everywhere.

Every accepted format holds names where its programs, cameras and cheats put them; files, folders,
solvers and the other judge have names of their own. All of them are in what the study's folder
holds, and none in what the judge receives: pages, images, headers, addresses, errors, scripts.
"""

from __future__ import annotations

import json
import re
import socket
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch
from urllib.parse import unquote, urljoin

import yaml

from quem.blinding.libreoffice import find_office, is_sandboxed
from quem.machines.requests import canonical
from quem.machines.running import judged_study, plan_run
from tests.blinding.planted import HIDDEN, PLANTS, planted
from tests.blinding.planted_images import METADATA, planted_images
from tests.blinding.planted_notebooks import drawing, planted_notebook, with_attachment
from tests.blinding.planted_office import planted_office
from tests.blinding.planted_texts import FRONT_MATTER, HTML, MARKDOWN
from tests.blinding.searching import everything_in
from tests.served import all_ranked
from tests.trials.runner import registered
from tests.webjudge.sites import data_of, enter_as, gids, put
from webjudge import create_app, open_site

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator
    from pathlib import Path

    from flask.testing import FlaskClient
    from werkzeug.test import TestResponse

    from webjudge import Site

# A name has no other letters than these behind its first two, so that it cannot be met by chance,
# and is as long as a subtag of a language may be.
_LETTERS, _LENGTH = "bcdfghjklmnprstvwx", 6
_NAME = re.compile(rb"zq[%s]{%d}" % (_LETTERS.encode(), _LENGTH))
_FILE = re.compile(r"/judge/g/[\w-]+/file/[0-9a-f]{32}(?:/\d+)?")
_FIELDS = re.compile(r'name="(gid|letter)" value="([^"]+)"')
_DECLARED = ("2019-08-17", "7.7.7-rc9", "37.625", "71.375", "subject")
_WORDS = ("withheld", "study.yaml", "solutions/", *_DECLARED)
_SOLVERS, _PROBLEMS = 5, ("P1", "P2")
_MOST_DEEP = 3
_IMAGES = ("png", "jpg", "jpeg", "gif", "webp")


@dataclass
class Names:
    """A name for each thing that is planted."""

    rng: random.Random
    # By name in small letters, what it stands for.
    meanings: dict[str, str] = field(default_factory=dict)

    def __call__(self, kind: str) -> str:
        name = ""
        while not name or name in self.meanings:
            name = "zq" + "".join(self.rng.choices(_LETTERS, k=_LENGTH))
        self.meanings[name] = kind
        return name.capitalize()

    def found_in(self, raw: bytes) -> set[str]:
        met = {name.decode() for name in _NAME.findall(everything_in(raw).lower())}
        return met & set(self.meanings)

    def listing(self, names: set[str]) -> str:
        return ", ".join(sorted(f"{self.meanings[name]} ({name})" for name in names))


class _File(NamedTuple):
    """A file of a solution: its ending, its content, and how many images a judge is sent of it."""

    ending: str
    content: bytes
    n_images: int = 0


def _files(rng: random.Random, names: Names, host: str) -> list[_File]:
    """Files of every format, in which every plant is once, in random order.

    Those of office programs, which refer to a host, are there where LibreOffice is.
    """
    files = [_File(name.rpartition(".")[2], raw, 1) for name, raw in planted_images(names).items()]
    kinds = list({**PLANTS, **HIDDEN}.items())
    rng.shuffle(kinds)
    for part in (kinds[0::3], kinds[1::3], kinds[2::3]):
        raw = planted(dict(part), lambda kind: names(f"PDF {kind}"))
        files.append(_File("pdf", raw, len(part)))
    for ending, table in (("md", MARKDOWN), ("html", HTML)):
        plants = list(table.items())
        rng.shuffle(plants)
        for some in (plants[0::3], plants[1::3], plants[2::3]):
            texts = [text.replace("?", names(f"{ending} {kind}")) for kind, text in some]
            head = FRONT_MATTER.replace("?", names("front matter")) if ending == "md" else ""
            text = head + "\n\n".join(["A plan to see.", *texts, "The end of a plan."])
            encoding = rng.choice(("utf-8", "utf-8", "utf-16"))
            files.append(_File(ending, text.encode(encoding)))
    plain = b"print(1)  # A plan to see, and The end of a plan.\n"
    for ending, raw in planted_office(names, host).items() if host else ():
        files.append(_File(ending, raw, 0 if ending == "ods" else 1))
    notebook = with_attachment(planted_notebook(names), names)
    files.append(_File("ipynb", json.dumps(notebook).encode(), 2))
    files.append(_File("svg", drawing(names).encode(), 1))
    files += [_File(ending, plain) for ending in ("txt", "py", "csv", "java", "")]
    rng.shuffle(files)
    return files


def _write_study(
    rng: random.Random, folder: Path, names: Names, host: str
) -> tuple[Path, list[int]]:
    """Write the study; gives its file, and how many images the judge is sent of each problem."""
    solvers = [names("solver") for _ in range(_SOLVERS)]
    places = [folder / "solutions" / problem / s for problem in _PROBLEMS for s in solvers]
    rng.shuffle(places)
    files = _files(rng, names, host)
    dealt: dict[Path, list[_File]] = {place: [files.pop()] for place in places}
    for file in files:
        dealt[rng.choice(places[2:])].append(file)  # some are single files
    for place, contents in dealt.items():
        _write_solution(rng, place, contents, names)
    for _ in range(2):
        practice = folder / "solutions" / "P0" / f"{names('solver of practice')}.txt"
        practice.parent.mkdir(exist_ok=True)
        practice.write_text("A plan to see. The end of a plan.")
    stem, image = names("statement"), f"{names('image of a statement')}.png"
    plants = FRONT_MATTER + MARKDOWN["comment"]
    text = plants.replace("?", names("plant of a statement")) + f"\nWhat now?\n\n![](<{image}>)\n"
    (folder / f"{stem}.md").write_text(text, encoding="utf-8")
    (folder / image).write_bytes(METADATA["plot.png"](names))
    judges = ({"id": one, "name": f"{names('judge')} {names('judge')}"} for one in ("J1", "J2"))
    subjects = (
        {"id": s, "name": f"{names('subject')} {names('subject')}", "experience": years}
        for s, years in zip(solvers[:3], (37.625, 41.875, 48.125), strict=True)
    )
    system = {"id": solvers[3], "name": names("system"), "of": names("base")}
    briefing = {"practice": "P0", "repeat": 1, "ask_maker": True, "briefing": f"{stem}.md"}
    machine = {"id": "M1", "command": "judge", "images": True, "max_input_bytes": 10**8}
    titles = zip(_PROBLEMS, ("First", "Second"), strict=True)
    content = {
        "id": "blind",
        "title": "A blind study",
        "judging": briefing,
        "problems": [{"id": p, "title": t, "statement": f"{stem}.md"} for p, t in titles],
        "judges": [{**one, "experience": 71.375} for one in judges],
        "subjects": [*subjects],
        "systems": [{**system, "version": "7.7.7-rc9", "date": "2019-08-17"}],
        "withheld": [solvers[4]],
        "machines": [machine],
    }
    study = folder / "study.yaml"
    head = f"# by {names('comment of the study')}\n"
    study.write_text(head + yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    n_images = dict.fromkeys(_PROBLEMS, 1)  # the statement, which is that of both, shows one
    for place, contents in dealt.items():
        n_images[place.parent.name] += sum(file.n_images for file in contents)
    return study, list(n_images.values())


def _write_solution(rng: random.Random, place: Path, files: list[_File], names: Names) -> None:
    if len(files) == 1 and rng.random() < 0.5:
        place.parent.mkdir(parents=True, exist_ok=True)
        path = place.with_name(f"{place.name}.{files[0].ending}".rstrip("."))
        path.write_bytes(files[0].content)
        return
    inner = ""
    for _ in range(rng.randrange(_MOST_DEEP)):
        inner += f"{names('folder')}/"
    (place / inner).mkdir(parents=True)
    images: list[str] = []
    for file in sorted(files, key=lambda file: not file.n_images):
        name = f"{names('file')}.{file.ending}".rstrip(".")
        content = file.content
        if file.ending in _IMAGES and rng.random() < 0.5:
            images.append(name)
        elif file.ending == "md" and content.startswith(b"---"):
            content += "".join(f"\n\n![](<{image}>)" for image in images).encode()
            images = []
        (place / inner / name).write_bytes(content)


class Crawler:
    """Follows everything that a judge's browser could, and keeps all it received."""

    def __init__(self, client: FlaskClient) -> None:
        self.client = client
        self.received: dict[str, bytes] = {}

    def crawl(self, start: str) -> None:
        """Read a page, and all that it leads to."""
        waiting, seen = [start], set[str]()
        while waiting:
            path = waiting.pop()
            if path in seen or not path.startswith("/"):
                continue
            seen.add(path)
            answer = self.client.get(path)
            self.keep(path, answer, unquote(path))
            if answer.location:
                waiting.append(answer.location)
            if answer.mimetype in ("text/html", "text/css", "text/javascript"):
                waiting += [urljoin(path, address) for address in _references(answer.text)]
            answer.close()  # files of ours are sent as streams

    def keep(self, path: str, answer: TestResponse, address: str = "") -> None:
        """Note everything that came: headers and body, and the address that led there."""
        head = "\n".join(f"{name}: {value}" for name, value in answer.headers)
        what = f"{len(self.received)} {answer.request.method} {path}"
        self.received[what] = f"{address}\n{answer.status}\n{head}\n\n".encode() + answer.data

    def rank(self, gid: str, remark: str) -> None:
        """Save and submit a ranking of a group, and once more from the same page."""
        data = data_of(self.client, gid)
        more = {"base": data["revision"], "state": all_ranked(data["labels"], comment=remark)}
        for change, submit, status in ((1, True, 200), (2, False, 409)):
            answer = put(self.client, gid, change=change, submit=submit, **more)
            assert answer.status_code == status, answer.text
            self.keep(f"/judge/g/{gid}/state", answer)

    def guess(self) -> int:
        """Guess who made each solution that is asked about; gives how many there were."""
        number = 0
        while fields := dict(_FIELDS.findall(self.client.get("/judge/makers").text)):
            self.crawl("/judge/makers")
            answer = self.client.post("/judge/makers", data={**fields, "guess": "system"})
            self.keep("/judge/makers", answer)
            number += 1
        return number

    def listed(self) -> list[str]:
        return gids(self.client)


def _references(text: str) -> list[str]:
    """Everything in a page, style or script that may be an address."""
    addresses = re.findall(r"""(?:href|src|action|data|srcset)\s*=\s*["']([^"'#]+)""", text)
    addresses += re.findall(r"""url\(["']?([^"')]+)""", text)
    addresses += re.findall(r"""(?:from|import)\s*\(?["']([^"']+\.js)["']""", text)
    addresses += re.findall(r'"(/judge/[^"]+|/static/[^"]+)"', text)
    # Texts that come one by one: the page puts together where they are.
    pattern = next((path for path in addresses if path.endswith("/VERSION")), None)
    versions = re.findall(r'data-version="(\w+)"', text) if pattern else []
    return addresses + [str(pattern).replace("VERSION", version) for version in versions]


def _errors(mine: str, theirs: str, name: str) -> list[str]:
    """Addresses that lead nowhere, or to what is not the judge's."""
    own, foreign = f"/judge/g/{mine}", f"/judge/g/{theirs}"
    file = f"{own}/file/{'0' * 32}"
    lost = ["judge/g/nothing", "judge/g/0", "j/wrong", "d/wrong", "dashboard", "dashboard/preview"]
    lost += ["static/nothing", "solutions/P1/", "study.yaml", "healthz", ""]
    return [
        *(f"{own}/{label}/{n}" for label in ("A", "Z", name, "..") for n in (0, 1, 9)),
        *(f"{own}/statement/1", f"{own}/A/{name}.png", f"{own}/A/../B/1", f"{file}/0", f"{file}é"),
        *(foreign, f"{foreign}/A/1", f"{foreign}/state", file, f"{file}/999"),
        *(f"/{path}" for path in lost),
    ]


@contextmanager
def _listening() -> Iterator[str]:
    """A host of this machine that nobody may call, where LibreOffice is there; else nothing."""
    if not (find_office() and is_sandboxed()):
        yield ""
        return
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        yield f"127.0.0.1:{server.getsockname()[1]}"
        try:
            server.accept()
        except BlockingIOError:
            return
        raise AssertionError("a document called its host")


@registered("crawl", count=50)
def crawl(rng: random.Random, folder: Path) -> dict[str, Any]:
    """A judge's crawl for names planted in every format."""
    names = Names(rng)
    cache = {"XDG_CACHE_HOME": str(folder / "cache")}
    with _listening() as host, patch.dict("os.environ", cache):
        study, n_images = _write_study(rng, folder, names, host)
        held = names.found_in(_original(folder))
        lacking = set(names.meanings) - held
        assert not lacking, f"not planted: {names.listing(lacking)}"
        site = open_site(study)
        try:
            received, n_sent = _received(site, names)
        finally:
            site.store.close()
        received |= _requests(study)
    assert n_sent == n_images, f"{n_sent} images were sent, of {n_images}"
    leaks = {what: names.found_in(content) for what, content in received.items()}
    assert not any(leaks.values()), {what: names.listing(ids) for what, ids in leaks.items() if ids}
    for what, content in received.items():
        words = [word for word in _WORDS if word.encode() in content]
        assert "/static/" in what or not words, f"{what} tells {words}"
        assert b"%PDF-" not in content, what
        # Neither times nor sizes of files of the study.
        assert "/static/" in what or not re.search(rb"\n(ETag|Last-Modified):", content), what
    size = sum(map(len, received.values()))
    return {"names": len(names.meanings), "addresses": len(received), "bytes": size}


def _requests(study: Path) -> dict[str, bytes]:
    """What a machine judge receives: every request as it is sent, and each image unpacked."""
    judged = judged_study(study)
    (machine,) = (one for one in judged.spec.machines if one.id == "M1")
    sent = {}
    for task in plan_run(judged, machine).tasks:
        request, what = task.request, f"request {task.problem} {task.repeat}"
        sent[what] = canonical([request.document(), request.messages()])
        each = [*request.briefing, *request.problem, *chain.from_iterable(request.solutions)]
        images = b"\n".join(everything_in(piece.data) for piece in each if piece.is_image)
        assert images
        sent[f"{what}: images"] = images
        assert sent[what].count(b"A plan to see") >= _SOLVERS
    return sent


def _original(folder: Path) -> bytes:
    parts = []
    for path in sorted(folder.rglob("*")):
        parts.append(str(path.relative_to(folder)).encode())
        if path.is_file():
            parts.append(everything_in(path.read_bytes()))
    return b"\n".join(parts)


def _received(site: Site, names: Names) -> tuple[dict[str, bytes], list[int]]:
    """What a judge's browser receives, before and after both judges ranked, with all errors.

    Gives also the number of images of solutions of each problem.
    """
    app = create_app(site)
    other = Crawler(enter_as(app, site, "J2"))
    theirs = other.listed()
    for gid in theirs:
        other.rank(gid, names("remark of another judge"))
    crawler = Crawler(enter_as(app, site, "J1"))
    crawler.crawl("/judge")
    mine = crawler.listed()
    n_sent = {}
    for gid in mine[1:]:
        # The data behind it says how each solution begins.
        page = crawler.client.get(f"/judge/g/{gid}").text.partition('id="group-data"')[0]
        assert page.count("A plan to see") == page.count("The end of a plan") > 0
        title = re.search(r"<h1[^>]*>[^<]*(First|Second)", page)
        assert title
        n_sent[title[1]] = len(set(_FILE.findall(page)))
    for gid in mine:
        crawler.rank(gid, "A remark of mine")
    for gid in {*crawler.listed()} - {*mine}:
        crawler.rank(gid, "A remark of mine")
    assert crawler.guess() > 0
    crawler.crawl("/judge")
    for path in _errors(mine[1], theirs[1], "A"):
        crawler.keep(path, crawler.client.get(path))
        crawler.keep(path, crawler.client.put(path, json={"base": 1}))
        bad = {"data": b"{", "content_type": "application/json"}
        crawler.keep(path, crawler.client.post(path, **bad))
    own = next(judge.name for judge in site.spec.judges if judge.id == "J1").encode()
    # One's own name is no secret.
    received = {what: raw.replace(own, b"") for what, raw in crawler.received.items()}
    return received, [n_sent["First"], n_sent["Second"]]
