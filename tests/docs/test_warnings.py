"""The pages in ``docs/reference/warnings`` explain every warning that the code can give."""

from __future__ import annotations

import ast
import re

import pytest

from tests.docs.pages import ROOT

PAGES = sorted((ROOT / "docs/reference/warnings").glob("*.md"))
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
SECTIONS = re.findall(r"^#{2,3} `([a-z-]+)`\n(.*?)(?=^#|\Z)", TEXT, re.DOTALL | re.MULTILINE)


def _codes() -> set[str]:
    codes = set()
    for path in {*(ROOT / "quem").rglob("*.py")} - {ROOT / "quem/errors.py"}:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and _declares(node):
                named = {keyword.arg: keyword.value for keyword in node.keywords}
                code = node.args[0] if node.args else named["code"]
                place = f"{path.name}:{node.lineno}"
                assert isinstance(code, ast.Constant), f"{place}: write the code as a literal"
                codes.add(str(code.value))
    return codes


def _declares(call: ast.Call) -> bool:
    """Whether this declares a rule, as in ``@RULES.add("code")``, or makes a warning."""
    match call.func:
        case ast.Attribute(value=ast.Name(id=table), attr="add"):
            return table.isupper() and not table.startswith("__")
        case ast.Name(id="StudyWarning"):
            return True
    return False


def test_every_warning_is_explained() -> None:
    """The pages have a section for each code in the source, and for no other."""
    codes = [code for code, _ in SECTIONS]
    assert len(codes) == len(set(codes))
    assert set(codes) == _codes()


@pytest.mark.parametrize("section", dict(SECTIONS).values(), ids=dict(SECTIONS))
def test_explanation_is_complete(section: str) -> None:
    """Each section says what the warning means, and then what to do."""
    assert re.fullmatch(r"\n[^\n*].+\n\n\*\*What to do\*\*: .+\n\n?", section)
