"""How large the code is: lines, modules, complexity, `Any`, circles of imports.

    python benchmarks/size.py

Lines are those of the modules in quem/, with docstrings and comments, as `wc -l` counts them.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
MOST_COMPLEX = 15


def lines(folder: str) -> tuple[int, int, int]:
    """Count modules, those that are ``__init__.py``, and lines of a folder."""
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / folder).rglob("*.py")}
    packages = sum(path.name == "__init__.py" for path in texts)
    return len(texts) - packages, packages, sum(text.count("\n") for text in texts.values())


def complex_functions() -> int:
    """Count the functions above the complexity that ruff measures (McCabe)."""
    option = f"lint.mccabe.max-complexity = {MOST_COMPLEX}"
    command = ["ruff", "check", "--isolated", "--select", "C901", "--config", option]
    run = subprocess.run(
        [sys.executable, "-m", *command, "--output-format", "concise", "quem", "webjudge"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return run.stdout.count("C901")


def functions_with_any() -> Counter[str]:
    """Count public functions and methods with `Any` in an annotation, by package."""
    counts: Counter[str] = Counter()
    for path in sorted((ROOT / "quem").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
                continue
            arguments = [*node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
            annotations = [a.annotation for a in arguments if a and a.annotation] + [node.returns]
            if any(re.search(r"^Any\b", ast.unparse(a)) for a in annotations if a):
                counts[path.relative_to(ROOT / "quem").parts[0]] += 1
    return counts


def main() -> None:
    """Print one line per figure."""
    from tests.test_architecture import modules_in_circles

    for folder in ("quem", "webjudge", "tests"):
        modules, packages, count = lines(folder)
        print(f"{folder}: {count:,} lines in {modules} modules and {packages} __init__.py")
    print(f"functions above complexity {MOST_COMPLEX}: {complex_functions()}")
    print(f"modules that import each other in a circle: {len(modules_in_circles())}")
    print(f"public functions with Any: {dict(functions_with_any())}")


if __name__ == "__main__":
    main()
