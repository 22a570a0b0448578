"""The arrows of the design: who may import whom, and what stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
MODULES = sorted([*(ROOT / "quem").rglob("*.py"), *(ROOT / "webjudge").rglob("*.py")])
MOST_LINES = 500
SHIPPED = ROOT / "studies" / "p3-1997" / "study.yaml"
# What shows a result fills in parts of a report that know no kind of study.
PRESENTATION = "presentation"
PARTS = ("quem.report.drawing", "quem.report.drawing", "quem.report.layout")
FORBIDDEN_TO_STEPS = ("quem.report", "quem.commands", "quem.cli", "webjudge")


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _loaded(code: str) -> set[str]:
    """The top-level packages that a fresh interpreter has loaded after running some code."""
    report = "; import sys; sys.stderr.write(' '.join(sys.modules))"
    run = subprocess.run(
        [sys.executable, "-c", code + report], capture_output=True, check=True, encoding="utf-8"
    )
    return {name.partition(".")[0] for name in run.stderr.split()}


@pytest.mark.parametrize(
    ("code", "unwanted"),
    [
        ("import quem", {"numpy", "pandas", "pydantic"}),
        (
            "from quem.cli import main; main(['--help'], standalone_mode=False)",
            {"numpy", "pandas", "pydantic"},
        ),
        (
            "import quem.study, quem.study.reading",
            {"numpy", "pandas", "scipy", "matplotlib", "sqlalchemy", "flask"},
        ),
        (
            "import quem.solutions, quem.store.engine, quem.store.ballots, quem.store.progress",
            {"numpy", "pandas", "scipy", "matplotlib", "flask", "alembic", "PIL"},
        ),
        (
            "import webjudge",
            {"numpy", "pandas", "scipy", "matplotlib", "statsmodels", "alembic", "PIL"},
        ),
        (
            "import quem.lists",
            {"pandas", "scipy", "matplotlib", "statsmodels", "pydantic", "sqlalchemy", "flask"},
        ),
        (
            f"import quem.kinds, quem.load; quem.load.load_study({str(SHIPPED)!r})",
            {"matplotlib", "statsmodels", "jinja2", "sqlalchemy", "flask"},
        ),
    ],
    ids=["quem", "help", "study", "store", "webjudge", "measures", "analysis"],
)
def test_stays_light(code: str, unwanted: set[str]) -> None:
    """What has to start quickly does not load what is slow."""
    loaded = _loaded(code)
    assert "quem" in loaded
    assert loaded & unwanted == set()


def _imported(nodes: list[ast.stmt] | Iterator[ast.AST], package: str) -> Iterator[str]:
    """The modules that some statements import."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level:
                parents = package.split(".")[: -node.level + 1 or None]
                module = ".".join(filter(None, [*parents, module]))
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def _package(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).parent.parts)


def _top_level(path: Path) -> set[str]:
    """What a module imports when it is itself imported."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    nodes: list[ast.stmt] = []
    while body:
        node = body.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            body += node.orelse
        elif isinstance(node, ast.If | ast.Try | ast.With):
            body += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]
        else:
            nodes.append(node)
    return set(_imported(nodes, _package(path)))


def _anywhere(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return set(_imported(ast.walk(tree), _package(path)))


def _within(module: str, packages: tuple[str, ...]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


STEPS = [
    p
    for p in MODULES
    if _name(p).startswith(
        (
            "quem/dialogue/",
            "quem/experience/",
            "quem/options/",
            "quem/rankings/",
            "quem/retrieval/",
        )
    )
]


@pytest.mark.parametrize("path", STEPS, ids=_name)
def test_steps_know_nothing_of_output(path: Path) -> None:
    """The steps of the method import neither report nor commands nor the judging app."""
    found = {module for module in _top_level(path) if _within(module, FORBIDDEN_TO_STEPS)}
    allowed = PARTS if path.parent.name == PRESENTATION else ()
    assert {module for module in found if not _within(module, allowed)} == set()


def test_report_knows_no_kind() -> None:
    """The report renders any result: it imports no analysis and no registry of kinds."""
    kinds = ("quem.experience", "quem.kinds", "quem.study", "quem.rankings")
    for path in (ROOT / "quem/report").glob("*.py"):
        assert not [module for module in _anywhere(path) if _within(module, kinds)], _name(path)


def test_rankings_know_nothing_of_the_method() -> None:
    """Data flow one way: the rankings do not import the analysis of them."""
    for path in (ROOT / "quem/rankings").glob("*.py"):
        assert not [module for module in _anywhere(path) if _within(module, ("quem.experience",))]


def test_kinds_do_not_import_each_other() -> None:
    """What a retrieval study needs of an experience study, it is given by ``quem.kinds``."""
    for path in (ROOT / "quem/retrieval").rglob("*.py"):
        others = ("quem.experience", "quem.load", "quem.options", "quem.kinds")
        assert not [module for module in _anywhere(path) if _within(module, others)], _name(path)


def test_measures_know_only_numpy() -> None:
    """The list measures import NumPy, and of quem only themselves and what tells mistakes."""
    allowed = ("numpy", "quem.lists", "quem.errors", "quem.io.text")
    for path in (ROOT / "quem/measures").glob("*.py"):
        third = {m for m in _anywhere(path) if m.partition(".")[0] not in sys.stdlib_module_names}
        for_frames = {"pandas"} if path.name == "evaluation.py" else set()
        assert not [m for m in third - for_frames if not _within(m, allowed)], _name(path)


def test_queries_know_only_numpy() -> None:
    """What evaluations of lists share imports NumPy and itself."""
    allowed = ("numpy", "quem.lists.inference")
    for path in (ROOT / "quem/queries").glob("*.py"):
        third = {m for m in _anywhere(path) if m.partition(".")[0] not in sys.stdlib_module_names}
        assert not [m for m in third if not _within(m, allowed)], _name(path)


def test_only_serve_imports_the_judging_app() -> None:
    """The arrow between the packages points from webjudge to quem; ``quem serve`` starts it."""
    for path in (ROOT / "quem").rglob("*.py"):
        found = _top_level(path) if _name(path) == "quem/commands/serve.py" else _anywhere(path)
        assert not [module for module in found if _within(module, ("webjudge",))], _name(path)


def test_the_store_knows_neither_web_nor_method() -> None:
    """The store and the solutions import no Flask, no analysis, no commands."""
    unwanted = ("flask", "webjudge", "quem.experience", "quem.rankings", "quem.commands")
    for folder in ("store", "solutions"):
        for path in (ROOT / "quem" / folder).rglob("*.py"):
            assert not [m for m in _anywhere(path) if _within(m, unwanted)], _name(path)


def test_nobody_imports_what_is_slow_or_global() -> None:
    """Neither pyplot nor the interfaces of statsmodels that load all of it are imported."""
    unwanted = ("matplotlib.pyplot", "pylab", "statsmodels.api", "statsmodels.formula")
    for path in MODULES:
        assert not [module for module in _anywhere(path) if _within(module, unwanted)], _name(path)


def test_one_place_loads_code() -> None:
    """Only one module runs files of a study; nobody reads a format that can hold programs."""
    running = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "runpy", "code", "imp"}
    importing = {"quem/__init__.py", "quem/io/custom_functions.py", "quem/kinds.py"}
    # Whether a library is installed, and its version.
    asking = {"importlib.util", "importlib.util.find_spec"}
    asking |= {"importlib.metadata", "importlib.metadata.version"}
    calls = {"eval", "exec", "compile", "__import__", "read_pickle", "unsafe_load", "full_load"}
    calls |= {"module_from_spec", "spec_from_file_location"}
    for path in MODULES:
        modules = _anywhere(path)
        assert not {module.partition(".")[0] for module in modules} & running, _name(path)
        loading = {module for module in modules if module.startswith("importlib")} - asking
        assert not loading or _name(path) in importing, _name(path)
        if _name(path) == "quem/io/custom_functions.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in calls, f"{_name(path)}: {called}"
                assert called.rpartition(".")[2] not in calls - {"compile"}, _name(path)
                assert not {"allow_pickle", "Loader"} & {k.arg for k in node.keywords} or (
                    called == "yaml.parse"
                ), _name(path)


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_modules_are_short(path: Path) -> None:
    """A module can be read in one go."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def test_imports_are_found(tmp_path: Path) -> None:
    """The reader of imports sees them in functions, blocks and relative form."""
    path = tmp_path / "module.py"
    path.write_text(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    import one.typed\n"
        "try:\n    import two\nexcept ImportError:\n    pass\n"
        "def function():\n    from three import four\n",
        encoding="utf-8",
    )
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    assert {"one.typed", "two", "three.four"} <= set(_imported(iter(nodes), "quem"))
    relative = ast.parse("from ..report import html").body
    assert "quem.report.html" in set(_imported(relative, "quem.experience"))


def test_only_the_worker_parses_pdfs() -> None:
    """What strangers made is parsed in a limited process: nothing else loads the libraries."""
    worker = {f"quem/blinding/pdf_{name}.py" for name in ("cleaning", "drawing", "worker")}
    found = {
        _name(p) for p in MODULES if any(_within(m, ("pikepdf", "pypdfium2")) for m in _anywhere(p))
    }
    assert found == worker
    parts = tuple(name.removesuffix(".py").replace("/", ".") for name in worker)
    others = [path for path in MODULES if _name(path) not in worker]
    assert not [path for path in others if any(_within(m, parts) for m in _anywhere(path))]
