"""How large the project is, beside what it may be.

    python benchmarks/size.py [--check]

Counts by the syntax and the text of files, and imports nothing of quem. Code lines are those of
Python without blanks, comments, and docstrings; other lines are as `wc -l` counts them. With
``--check`` the exit code is 1 where something is above its budget.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# What each may be, and what it was at 77c7db1, before the cut.
BUDGETS = {
    "code lines of quem and webjudge": (48_500, 73_349),
    "modules of quem and webjudge": (310, 435),
    "lines of tests": (37_800, 62_007),
    "lines of scripts and styles": (4_900, 6_146),
    "commands": (15, 23),
    "options": (170, 233),
    "study keys": (240, 309),
    "warnings": (108, 168),
    "words of docs": (45_000, 121_200),
    "pages of docs": (32, 71),
    "words of README": (450, 1_116),
}
# What nobody reads from beginning to end.
_LISTS = ("CHANGELOG.md", "SECURITY.md", "benchmarks.md")
_NO_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def texts(*patterns: str) -> dict[Path, str]:
    """The text of each file of a pattern, but for what others made."""
    return {
        path: path.read_text(encoding="utf-8")
        for pattern in patterns
        for path in sorted(ROOT.glob(pattern))
        if "vendor" not in path.parts
    }


def lines(files: dict[Path, str]) -> int:
    """Count all lines."""
    return sum(text.count("\n") for text in files.values())


def code_lines(text: str) -> int:
    """Count the lines that hold more than a comment or a docstring."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    counted = {
        line
        for token in tokens
        if token.type not in _NO_CODE and token.string
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            said = node.body[0]
            counted.difference_update(range(said.lineno, (said.end_lineno or said.lineno) + 1))
    return len(counted)


class Options:
    """The options of commands, by what decorates them: shared ones count wherever they are."""

    def __init__(self, files: dict[Path, str], models: dict[str, int]) -> None:
        self._models = models
        self._trees = [ast.parse(text) for text in files.values()]
        self._known: dict[str, ast.AST] = {}
        for node in (node for tree in self._trees for node in tree.body):
            if isinstance(node, ast.FunctionDef):
                self._known[node.name] = node
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self._known[node.targets[0].id] = node.value

    def commands(self) -> list[tuple[str, int]]:
        """Each command with how many options it has; those of a group are indented."""
        found = []
        for tree in self._trees:
            local = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
            for name, node in local.items():
                made = [ast.unparse(one) for one in node.decorator_list]
                if any(re.match(r"\w+\.(command|group)\b", one) for one in made):
                    grouped = not any(re.match(r"click\.(command|group)\b", one) for one in made)
                    options = sum(self._count(one) for one in node.decorator_list)
                    if any("settings=_settings" in one for one in made):
                        options += self._of_settings(local["_settings"])
                    found.append((f"  {name}" if grouped else name, options))
        return found

    def _count(self, node: ast.AST, seen: frozenset[str] = frozenset()) -> int:
        """Count the options that an expression or a function makes."""
        total = 0
        for one in ast.walk(node):
            if isinstance(one, ast.Attribute) and one.attr == "option":
                total += 1
            elif isinstance(one, ast.Name) and one.id in self._known and one.id not in seen:
                total += self._count(self._known[one.id], seen | {one.id})
        return total

    def _of_settings(self, function: ast.FunctionDef) -> int:
        """Count the options of settings: all fields of a model, or those that are named."""
        (made,) = (one for one in ast.walk(function) if isinstance(one, ast.Dict))
        total = 0
        for model, names in zip(made.keys, made.values, strict=True):
            if isinstance(names, ast.Attribute):
                total += self._models[ast.unparse(model) if model else ""]
                continue
            held = [one for one in ast.walk(names) if isinstance(one, ast.Name)]
            parts = [names, *(self._known[one.id] for one in held)]
            total += sum(isinstance(one, ast.Constant) for part in parts for one in ast.walk(part))
        return total


def fields(files: dict[Path, str]) -> dict[str, int]:
    """Count the fields of each model, by its name."""
    return {node.name: _fields(node) for node in _classes(files)}


def study_keys(files: dict[Path, str]) -> int:
    """Count the fields of the models of study files: what derives from `StudyPart`."""
    models, total = {"StudyPart"}, 0
    left = _classes(files)
    while new := [one for one in left if models & {ast.unparse(base) for base in one.bases}]:
        total += sum(map(_fields, new))
        models |= {one.name for one in new}
        left = [one for one in left if one not in new]
    return total


def _classes(files: dict[Path, str]) -> list[ast.ClassDef]:
    nodes = (node for text in files.values() for node in ast.walk(ast.parse(text)))
    return [node for node in nodes if isinstance(node, ast.ClassDef)]


def _fields(model: ast.ClassDef) -> int:
    made = (one for one in model.body if isinstance(one, ast.AnnAssign))
    return sum("ClassVar" not in ast.unparse(one.annotation) for one in made)


def sizes() -> dict[str, int]:
    """Every figure that has a budget, by its name."""
    code = texts("quem/**/*.py", "webjudge/**/*.py")
    options = Options(texts("quem/commands/*.py"), fields(texts("quem/**/*.py")))
    every = options.commands()
    docs = texts("*.md", "docs/**/*.md", "studies/*/README.md")
    (warnings,) = texts("docs/reference/warnings.md").values()
    return {
        "code lines of quem and webjudge": sum(map(code_lines, code.values())),
        "modules of quem and webjudge": sum(path.name != "__init__.py" for path in code),
        "lines of tests": lines(texts("tests/**/*.py")),
        "lines of scripts and styles": lines(
            texts("webjudge/static/**/*.js", "webjudge/static/**/*.css")
        ),
        "commands": sum(not name.startswith(" ") for name, _ in every),
        "options": sum(count for _, count in every),
        "study keys": study_keys(texts("quem/studyfile/*.py")),
        "warnings": len(re.findall(r"^\| `", warnings, re.MULTILINE)),
        "words of docs": sum(
            len(text.split()) for path, text in docs.items() if path.name not in _LISTS
        ),
        "pages of docs": len(texts("docs/**/*.md")),
        "words of README": len(docs[ROOT / "README.md"].split()),
    }


def main() -> None:
    """Print a line per figure: what it is, what it may be, what it was."""
    above = False
    for name, size in sizes().items():
        budget, before = BUDGETS[name]
        above |= size > budget
        mark = "  ABOVE ITS BUDGET" if size > budget else ""
        print(f"{name:32} {size:7,}  at most {budget:7,}  at 77c7db1 {before:7,}{mark}")
    code = texts("quem/**/*.py", "webjudge/**/*.py")
    print(f"{'all lines of quem and webjudge':32} {lines(code):7,}")
    if above and "--check" in sys.argv[1:]:
        sys.exit("reduce it, or say in the changelog what more of it buys and raise the budget")


if __name__ == "__main__":
    main()
