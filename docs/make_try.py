"""The judge's task as static files, where nothing is saved: ``python docs/make_try.py FOLDER``.

The documentation site has them in its folder ``try``: the preview of the shipped made-up study.
"""

from __future__ import annotations

import mimetypes
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from quem.resources import resource
from quem.store.people import DEFAULT, issue_link, person_named
from webjudge import create_app, open_site
from webjudge.languages import ENGLISH, LANGUAGES
from webjudge.static_files import FOLDER

if TYPE_CHECKING:
    from flask.testing import FlaskClient

TASK = "/dashboard/preview/g/1"  # the first behind practice
SHEET, SCRIPT, ICON = "judge.css", "workspace.js", "icon.svg"
_STATIC = re.compile(r"/static/\w+/")
_PICTURE = re.compile(rf"{TASK}/file/[\w/]+")
_NEXT = re.compile(r'(?<="next": ")[^"]+')
_ELSEWHERE = re.compile(r"/dashboard/preview\b[^\"]*")
_LANGUAGE = re.compile(r"\?language=([\w-]+)")


def try_files() -> dict[str, bytes]:
    """The files of the page, in all languages, by their paths."""
    files = {
        f"static/{path.relative_to(FOLDER).as_posix()}": path.read_bytes()
        for path in (FOLDER / "vendor").rglob("*.*")
    }
    with TemporaryDirectory() as folder:
        study = resource("studies") / "cooling-plans" / "study.yaml"
        site = open_site(study, f"{folder}/study.sqlite3")
        try:
            with site.store.write() as c:
                organizer = person_named(c, site.id, "organizer", DEFAULT)
                token = issue_link(c, organizer, "shell")
            client = create_app(site).test_client()
            client.get(f"/d/{token}")
            for language in LANGUAGES:
                files |= _page(client, language)
        finally:
            site.store.close()
    return files


def _page(client: FlaskClient, language: str) -> dict[str, bytes]:
    """The page in a language, with what it shows; other pages are the first of the site."""
    page = client.get(f"{TASK}?language={language}").text
    static = _STATIC.search(page)
    assert static is not None  # noqa: S101  a bug of ours
    files = {f"static/{name}": client.get(static[0] + name).data for name in (SHEET, SCRIPT, ICON)}
    for address in set(_PICTURE.findall(page)):
        picture = client.get(address)
        ending = mimetypes.guess_extension(picture.mimetype or "") or ""
        name = address.rpartition("/")[2] + ending
        files[name] = picture.data
        page = page.replace(f"{address}?language={language}", name)
    page = _STATIC.sub("static/", page)
    # The script calls what ends so the end, and not the next task.
    page = _ELSEWHERE.sub("../index.html", _NEXT.sub("../index.html#/done", page))
    page = _LANGUAGE.sub(lambda found: _file(found[1]), page)
    return {**files, _file(language): page.encode()}


def _file(language: str) -> str:
    return "index.html" if language == ENGLISH else f"{language}.html"


if __name__ == "__main__":
    for name, content in try_files().items():
        target = Path(sys.argv[1], name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
