"""The pages in ``docs/reference/warnings`` explain every warning that the code can give."""

from __future__ import annotations

import ast
import re

import pytest

from tests.docs.pages import ROOT

PAGES = sorted((ROOT / "docs/reference/warnings").glob("*.md"))
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
SECTIONS = re.findall(r"^#{2,3} `([a-z-]+)`\n(.*?)(?=^#|\Z)", TEXT, re.DOTALL | re.MULTILINE)
# What can stand for the variable part of a code.
VARIABLE_PARTS = {"decisive-": ("judge", "subject")}


def _codes() -> set[str]:
    codes = set()
    for path in (ROOT / "quem").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "StudyWarning":
                codes |= _codes_of(node, f"{path.name}:{node.lineno}")
    return codes


def _codes_of(call: ast.Call, place: str) -> set[str]:
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    code = call.args[0] if call.args else named["code"]
    match code:
        case ast.Constant(value=str(text)):
            return {text}
        case ast.JoinedStr(values=[ast.Constant(value=str(prefix)), ast.FormattedValue()]):
            return {prefix + part for part in VARIABLE_PARTS[prefix]}
    message = f"{place}: write the code of the warning out, so that the docs can be checked"
    raise AssertionError(message)


def test_every_warning_is_explained() -> None:
    """The pages have a section for each code in the source, and for no other."""
    codes = [code for code, _ in SECTIONS]
    assert len(codes) == len(set(codes))
    assert set(codes) == _codes()


@pytest.mark.parametrize("section", dict(SECTIONS).values(), ids=dict(SECTIONS))
def test_explanation_is_complete(section: str) -> None:
    """Each section says what the warning means, why it matters and what to do."""
    assert re.findall(r"^- \*\*(\w+)\*\*: .", section, re.MULTILINE) == ["Means", "Matters", "Do"]
