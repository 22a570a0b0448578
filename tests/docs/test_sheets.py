"""Cheat sheets and llms.txt, which the site makes of what the code declares."""

from __future__ import annotations

import re
from collections import defaultdict

import pytest
import yaml

from quem.cli import main
from tests.docs.keys import KINDS, TABLES, keys_of
from tests.docs.pages import ROOT

ORGANIZER, JUDGE, STATISTICIAN = re.split(r"\n## ", TABLES["cheat_sheets"]())[1:]
KEYS = {key.name for key in keys_of(KINDS["experience"][1]) if "[]" not in key.name}
HELP = (ROOT / "templates/judge/dialogs.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("sheet", "words"),
    [
        (ORGANIZER, {f"quem {name}" for name in main.commands}),
        (ORGANIZER, {key for key in KEYS if re.match(r"judging\.", key)}),
        (STATISTICIAN, {key for key in KEYS if re.fullmatch(r"analysis\.\w+", key)}),
        (STATISTICIAN, {"estimates.csv", "decisive", "no-reference"}),
    ],
    ids=["commands", "session", "settings", "results"],
)
def test_sheet_names_all(sheet: str, words: set[str]) -> None:
    """Each has all commands, keys of a session, or settings of the analysis."""
    assert len(words) > 2
    assert {word for word in words if f"`{word}`" not in sheet} == set()
    assert "|  |" not in sheet


def test_judges_have_all_keys() -> None:
    """Each key of the help on the judge's page, with what it does."""
    keys = set(re.findall(r"<kbd>[^{<]+</kbd>", HELP))
    assert len(keys) > 10
    assert {key for key in keys if key not in JUDGE} == set()
    assert "{{" not in JUDGE


def test_llms_txt_has_all_pages() -> None:
    """Each page of docs/ has a line with its first sentence, where the site has it."""
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1])
    pages = defaultdict(lambda: "# A page\n\nMade by the [site](x.md). With more.")
    for path in (ROOT / "docs").rglob("*.md"):
        pages[path.relative_to(ROOT / "docs").as_posix()] = path.read_text(encoding="utf-8")
    known = set(pages)
    text = TABLES["llms"]("About.", nav, pages)
    assert text.startswith("# quem\n\n> About.\n\n## Tutorials\n\n- [Your first estimate](")
    assert {page for page in known if f"({page[:-3]}.html): After this " not in text} == set()
    assert "(contributing.html): Made by the site.\n" in text
