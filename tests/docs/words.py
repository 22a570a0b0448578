"""Find wording to avoid in what people read: ``python -m tests.docs.words``.

codespell checks spelling; this checks style: docs, templates, and the messages of the code.
Code, quotations, and addresses are not checked. Docstrings name what is computed or done: none
begins with "Give", "Say", or "Tell".
"""

from __future__ import annotations

import ast
import re
import sys
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from tests.docs.pages import PAGES, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Wording to avoid, as a regular expression, and the replacement.
RULES = {
    r"\b(?:one|an?|each|twice|\d+) (?:line|row|link|file|page|column|entry|class|query) an? \w+"
    r"|\b(?:hours|minutes|calls|time|ranks|cases) an? (?:judge|query|problem|year|step)\b": "per",
    r"\b(?:anew|afresh)\b": "again, or re- (refit, recompute)",
    r"\brest(?:s|ed|ing)? on\b": "is based on",
    r"\b(?:is|are|was|be) told\b|(?<!could )(?<!could not )(?<!can )(?<!still )\btells?\b"
    r"(?! the organizer| who)": "shows, says, distinguishes",
    r"\bstands?\b(?! for| out)": "appears, is",
    r"(?<!here )\b(?:is|are) no (?!longer|more\b)[a-z]+": "is not a",
    r"\b(?:his|him|he)\b": "they",
    r"(?:^|[.;:,] |that )[Ww]ho(?:ever)? (?:has|can|reads|answers|is|wrote|needs)\b": "anyone who",
    r"\bh(?:eld|olds?) (?:\w+ ){0,2}against\b|\btold from chance\b": "compared, significant",
    r"\btake[sn]? (?:\w+ ){0,4}for (?:granted|independent|equally|replicates|0)\b": "treat as",
    r"\bso (?:many|much)\b": "this many, this much",
    r"\b(?:says?|means?|tells?) (?:little|nothing)\b": "is unreliable, is not informative",
    r"\bin earnest\b|\bgo(?:es)? on\b|\bbegun\b|\bby itself\b": "continue, started, automatically",
    r"\bone's own\b|\bof its own\b": "custom, separate",
    r"\bbetrays?\b|\bgives? (?!nobody )(?:\w+ ){1,3}away\b": "reveals",
    r"(?<!p [=<>] )(?<![\w.=<>])\.\d\d\b(?<!p of \.\d\d)": "0.12, except p values",
}
# Folders of code whose messages and docstrings are checked, and how no docstring begins.
CODE = ("quem", "webjudge")
_OPENING = re.compile(r"(?:Give|Say|Tell)\b")
_CODE = re.compile(
    r"^```.*?^```|`[^`\n]*`|^ {4}.*?$|https?://\S+|\{[#%{].*?[#%}]\}", re.DOTALL | re.MULTILINE
)
_QUOTED = re.compile(r'"[^"\n]* [^"\n]*"|`[^`\n]* [^`\n]*`')
_MARKUP = re.compile(r"<style.*?</style>|<[^>]*>", re.DOTALL)
_PVALUES = re.compile(r"\bp\b[^.;|]{0,40}\.\d+|\| \.\d+ (?=\|)")


class Finding(NamedTuple):
    """A wording to avoid, where it is, and what to write."""

    place: str
    wording: str
    instead: str


def texts() -> Iterator[tuple[Path, str]]:
    """The texts for people, with their files."""
    pages = [page for page in PAGES if page.name != "CHANGELOG.md"]
    init = (ROOT / "templates/init").glob("*/*.yaml")
    for path in chain(pages, (ROOT / "studies").glob("*/[bc]*.md"), init):
        yield path, path.read_text(encoding="utf-8")
    for path in chain(*((ROOT / name).rglob("*.py") for name in CODE)):
        yield from ((path, text) for text in _strings(path))
    for path in (ROOT / "webjudge/static").glob("*.js"):
        yield path, " ".join(_QUOTED.findall(path.read_text(encoding="utf-8")))
    for path in (ROOT / "templates").rglob("*.html"):
        yield path, _MARKUP.sub(" ", path.read_text(encoding="utf-8"))


def _strings(path: Path) -> Iterator[str]:
    """The sentences and docstrings of a module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.value


def check(text: str) -> Iterator[tuple[str, str]]:
    """Find the wordings of a text to avoid, each with what to write."""
    plain = _PVALUES.sub(" ", _CODE.sub(" ", text))
    for pattern, instead in RULES.items():
        for match in re.finditer(pattern, plain, re.MULTILINE):
            yield match[0], instead


def openings() -> Iterator[Finding]:
    """Find the docstrings that begin with a verb of speech."""
    for folder in CODE:
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                    text = ast.get_docstring(node) or ""
                    if _OPENING.match(text):
                        place = path.relative_to(ROOT).as_posix()
                        yield Finding(place, text.partition("\n")[0], "what is computed or done")


def findings() -> list[Finding]:
    """Check all texts."""
    wordings = (
        Finding(path.relative_to(ROOT).as_posix(), *wording)
        for path, text in texts()
        for wording in check(text)
    )
    return [*wordings, *openings()]


if __name__ == "__main__":
    every = findings()
    sys.stdout.writelines(f"{place}: {word!r}: write {new}\n" for place, word, new in every)
    sys.exit(bool(every))
