"""``docs/reference/warnings.md`` explains every warning that the code can give."""

from __future__ import annotations

import ast

from tests.docs.keys import TABLES
from tests.docs.pages import ROOT, table_rows

TEXT = (ROOT / "docs/reference/warnings.md").read_text(encoding="utf-8")
ROWS = [row for row in table_rows(TEXT) if row[0].startswith("`")]


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
    """The page has a row for each code in the source, and for no other, with no empty cell."""
    codes = [row[0].strip("`") for row in ROWS]
    assert len(codes) == len(set(codes))
    assert set(codes) == _codes()
    assert all(len(row) == 3 and all(row) for row in ROWS)


def test_remedies_are_those_of_the_code() -> None:
    """``python docs/make_tables.py`` would change nothing."""
    assert TABLES["with_remedies"]() == TEXT
