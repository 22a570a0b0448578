"""``docs/architecture.md`` names modules and functions that exist."""

from __future__ import annotations

import pkgutil
import re

import pytest

from tests.docs.pages import ROOT

TEXT = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
NAMES = sorted(set(re.findall(r"`((?:quem|webjudge)(?:\.\w+)+)`", TEXT)))
SCRIPTS = sorted(set(re.findall(r"`(\w+\.js)#(\w+)`", TEXT)))


def test_the_page_names_many() -> None:
    """The names of the three walks are read off the page."""
    assert len(NAMES) > 30
    assert len(SCRIPTS) > 5


@pytest.mark.parametrize("name", NAMES)
def test_name_exists(name: str) -> None:
    """Each module, class, and function can be imported."""
    assert pkgutil.resolve_name(name)


@pytest.mark.parametrize(("script", "name"), SCRIPTS)
def test_script_exports_name(script: str, name: str) -> None:
    """Each function of a script is defined in it."""
    text = (ROOT / "webjudge/static" / script).read_text(encoding="utf-8")
    assert re.search(
        rf"^(?:export )?(?:async )?(?:function|class|const) {name}\b", text, re.MULTILINE
    )
