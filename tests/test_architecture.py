"""The arrows of the design: who may import whom, and what stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
MODULES = sorted([*(ROOT / "quem").rglob("*.py"), *(ROOT / "webjudge").rglob("*.py")])
SHIPPED = ROOT / "studies" / "p3-1997" / "study.yaml"


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _ours(path: Path) -> bool:
    return path.is_relative_to(ROOT / "quem")


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
            "import quem.studyfile, quem.studyfile.reading",
            {"numpy", "pandas", "scipy", "matplotlib", "sqlalchemy", "flask"},
        ),
        (
            "import quem.solutions, quem.store.engine, quem.store.work, quem.store.progress",
            {"numpy", "pandas", "scipy", "matplotlib", "flask", "PIL"},
        ),
        (
            "import webjudge",
            {"numpy", "pandas", "scipy", "matplotlib", "statsmodels", "PIL"},
        ),
        (
            "import quem.lists",
            {"pandas", "scipy", "matplotlib", "statsmodels", "pydantic", "sqlalchemy", "flask"},
        ),
        (
            f"import quem; quem.load_study({str(SHIPPED)!r})",
            {"matplotlib", "statsmodels", "jinja2", "sqlalchemy", "flask"},
        ),
        (
            "from quem.cli import main; "
            f"main(['analyze', {str(SHIPPED)!r}, '--json'], standalone_mode=False)",
            {"matplotlib", "jinja2", "sqlalchemy", "flask"},
        ),
    ],
    ids=["quem", "help", "study", "store", "webjudge", "measures", "analysis", "json"],
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


# Which packages and modules of quem each may import, wherever in a file; CONTRIBUTING says why.
# What stands alone in quem/, such as `quem.parallel`, counts as a package.
TOOLS = {"errors", "io", "wording"}
DATA = TOOLS | {"studyfile"}
ARROWS: dict[str, set[str]] = {
    "errors": set(),
    "resources": set(),
    "wording": {"errors"},
    "parallel": {"errors"},
    "io": {"errors"},
    "lists": {"errors", "io"},
    "report": {"errors", "resources", "wording"},
    "studyfile": {"errors", "io"},
    "blinding": {"errors", "io", "solutions"},
    "solutions": DATA | {"blinding"},
    "importing": {"errors", "io", "resources", "solutions"},
    "exporting": DATA | {"blinding", "importing", "rankings", "solutions", "store"},
    "store": DATA | {"solutions"},
    "solving": DATA | {"blinding", "solutions", "store"},
    "mail": DATA | {"store"},
    "rankings": DATA | {"blinding", "importing", "method", "panels", "seal", "solutions", "store"},
    "seal": DATA | {"rankings", "report", "solutions", "store"},
    "panels": DATA | {"blinding", "importing", "resources", "solutions"},
    "method": DATA | {"rankings", "report"},
    "parts": DATA | {"method", "panels", "rankings", "report", "seal", "store"},
    "machines": DATA | {"blinding", "solutions", "store"},
    "track": DATA | {"method", "parts", "rankings", "report"},
    "comparison": DATA | {"method", "parts", "rankings", "report"},
    "scores": DATA | {"lists", "parallel", "report"},
    "planning": DATA | {"method", "parts", "rankings", "report", "simulation"},
    "simulation": DATA | {"method", "rankings"},
    "options": DATA | {"report", "lists", "scores"},
    "retrieval": DATA | {"report", "lists", "parallel", "scores"},
    "dialogue": DATA | {"report", "lists", "parallel", "scores"},
    "relevance": DATA | {"importing", "rankings", "report", "solutions", "store", "scores"},
}
KINDS = ("method", "options", "retrieval", "dialogue", "relevance")
# What assembles the others: these may import all packages but the judging app.
ASSEMBLING = {"", "__main__", "cli", "commands", "comparing", "kinds", "scoring"}


def _unit(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


@pytest.mark.parametrize("package", sorted({_unit(_module(p)) for p in MODULES if _ours(p)}))
def test_arrows_point_one_way(package: str) -> None:
    """Every package imports those that its row allows, and each has a row."""
    if package in ASSEMBLING:
        return
    allowed = ARROWS[package] | {package}
    for path in MODULES:
        if _ours(path) and _unit(_module(path)) == package:
            units = {_unit(m) for m in _anywhere(path) if m.startswith("quem.")}
            # The version is the package's own.
            assert units - allowed - {"__version__"} == set(), _name(path)


@pytest.mark.parametrize(("one", "other"), list(permutations(KINDS, 2)))
def test_kinds_do_not_import_each_other(one: str, other: str) -> None:
    """What a kind needs of another, `quem.kinds` gives it."""
    assert other not in ARROWS[one]
    for path in (ROOT / "quem" / one).rglob("*.py"):
        modules = {m for m in _anywhere(path) if _within(m, (f"quem.{other}", "quem.kinds"))}
        assert modules == set(), _name(path)


def test_steps_know_nothing_of_output() -> None:
    """Only results, presentations, and whole features of a kind import the report."""
    for path in MODULES:
        if "presentation" in path.parts or path.name in (
            "result.py",
            "presentation.py",
            "figures.py",
            "page.py",
            "part.py",
            "table1.py",
        ):
            continue
        if _ours(path) and _unit(_module(path)) in {
            *KINDS,
            "comparison",
            "planning",
        }:
            imports = {m for m in _top_level(path) if _within(m, ("quem.report",))}
            # A row declares its values where they are computed.
            rows = {m for m in imports if _within(m, ("quem.report.rows",))}
            assert imports - rows == set(), _name(path)


def modules_in_circles() -> set[str]:
    """Give the modules that, when they are imported, import each other in a circle."""
    names = {_module(path): path for path in MODULES}
    imported = {}
    for name, path in names.items():
        ours = _top_level(path) & names.keys() - {name}
        # "from package import module" is an import of the module.
        imported[name] = {m for m in ours if not any(o.startswith(f"{m}.") for o in ours)}
    while leaves := {name for name, others in imported.items() if not others}:
        imported = {n: others - leaves for n, others in imported.items() if n not in leaves}
    return set(imported)


def test_no_module_imports_itself_in_a_circle() -> None:
    """Modules that are imported with others form no circle."""
    assert modules_in_circles() == set()


def test_lists_know_only_numpy() -> None:
    """Measures of lists and their statistics import NumPy, and no other library."""
    for path in (ROOT / "quem/lists").glob("*.py"):
        third = {m.partition(".")[0] for m in _anywhere(path)} - sys.stdlib_module_names
        for_frames = {"pandas"} if path.name == "evaluation.py" else set()
        assert third - for_frames <= {"numpy", "quem"}, _name(path)


def test_only_two_commands_import_the_judging_app() -> None:
    """The arrow between the packages points from webjudge to quem, but for serve and links."""
    commands = ("quem/commands/serve.py", "quem/commands/links.py")
    for path in (ROOT / "quem").rglob("*.py"):
        imports = _top_level(path) if _name(path) in commands else _anywhere(path)
        assert not [module for module in imports if _within(module, ("webjudge",))], _name(path)


def test_the_store_knows_no_web() -> None:
    """The store and the solutions import no Flask."""
    for folder in ("store", "solutions"):
        for path in (ROOT / "quem" / folder).rglob("*.py"):
            assert not [m for m in _anywhere(path) if _within(m, ("flask",))], _name(path)


def test_nobody_imports_what_is_slow_or_global() -> None:
    """Neither pyplot nor the interfaces of statsmodels that load all of it are imported."""
    unwanted = ("matplotlib.pyplot", "pylab", "statsmodels.api", "statsmodels.formula")
    for path in MODULES:
        assert not [module for module in _anywhere(path) if _within(module, unwanted)], _name(path)


def test_one_place_loads_code() -> None:
    """Only one module runs files of a study; nobody reads a format that can hold programs."""
    running = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "runpy", "code", "imp"}
    importing = {"quem/__init__.py", "quem/io/custom_functions.py"}
    # Whether a library is installed, and its version.
    asking = {"importlib.util", "importlib.util.find_spec"}
    asking |= {f"importlib.metadata{name}" for name in ("", ".version")}
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
                    called in ("yaml.parse", "yaml.compose")
                ), _name(path)


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
    relative = ast.parse("from ..report import files").body
    assert "quem.report.files" in set(_imported(relative, "quem.experience"))


def test_only_the_worker_parses_pdfs() -> None:
    """What strangers made is parsed in a confined process: nothing else loads the libraries."""
    libraries = ("pikepdf", "pypdfium2")
    parsers = [p for p in MODULES if any(_within(m, libraries) for m in _anywhere(p))]
    assert [*map(_module, parsers)] == ["quem.blinding.pdf_worker"]
    assert not [p for p in MODULES if "quem.blinding.pdf_worker" in _anywhere(p)]
