"""The arrows of the design: who may import whom, and what stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).parents[1]
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for folder in ("quem", "webjudge")
    for path in sorted((ROOT / folder).rglob("*.py"))
}
SHIPPED = str(ROOT / "studies" / "p3-1997" / "study.yaml")
MAIN = "from quem.cli import main; main({}, standalone_mode=False)"
NUMBERS = {"numpy", "pandas", "scipy", "matplotlib"}


@pytest.mark.parametrize(
    ("code", "unwanted"),
    [
        ("import quem", {"numpy", "pandas", "pydantic"}),
        (MAIN.format(["--help"]), {"numpy", "pandas", "pydantic"}),
        ("import quem.studyfile.reading", NUMBERS | {"sqlalchemy", "flask"}),
        (
            "import quem.solutions, quem.store.database, quem.store.work, quem.store.standing",
            NUMBERS | {"flask", "PIL"},
        ),
        ("import webjudge", NUMBERS | {"statsmodels", "PIL"}),
        (
            "import quem.lists",
            {"pandas", "scipy", "matplotlib", "statsmodels", "pydantic", "sqlalchemy", "flask"},
        ),
        (
            f"import quem; quem.load_study({SHIPPED!r})",
            {"matplotlib", "statsmodels", "jinja2", "sqlalchemy", "flask"},
        ),
        (
            MAIN.format(["analyze", SHIPPED, "--json"]),
            {"matplotlib", "jinja2", "sqlalchemy", "flask"},
        ),
    ],
    ids=["quem", "help", "study", "store", "webjudge", "measures", "analysis", "json"],
)
def test_stays_light(code: str, unwanted: set[str]) -> None:
    """What has to start quickly does not load what is slow."""
    report = "; import sys; sys.stderr.write(' '.join(sys.modules))"
    run = subprocess.run(
        [sys.executable, "-c", code + report], capture_output=True, check=True, encoding="utf-8"
    )
    loaded = {name.partition(".")[0] for name in run.stderr.split()}
    assert "quem" in loaded
    assert loaded & unwanted == set()


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


def imported(nodes: Iterable[ast.AST], package: str) -> Iterator[str]:
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


def package_of(module: str) -> str:
    return ".".join(MODULES[module].relative_to(ROOT).parent.parts)


@cache
def at_once(module: str) -> frozenset[str]:
    """What a module imports when it is itself imported."""
    body, nodes = [*tree(module).body], []
    while body:
        node = body.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            body += node.orelse
        elif isinstance(node, ast.If | ast.Try | ast.With):
            body += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]
        else:
            nodes.append(node)
    return frozenset(imported(nodes, package_of(module)))


@cache
def anywhere(module: str) -> frozenset[str]:
    """What a module imports at any time, or for its types."""
    return frozenset(imported(ast.walk(tree(module)), package_of(module)))


def within(modules: Iterable[str], *packages: str) -> set[str]:
    return {m for m in modules if any(m == one or m.startswith(f"{one}.") for one in packages)}


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
# What assembles the others: these may import all packages but the judging app.
ASSEMBLING = {"", "__main__", "cli", "commands", "comparing", "kinds", "scoring"}
KINDS = {"method", "options", "retrieval", "dialogue", "relevance"}


def unit(module: str) -> str:
    """The package or module below quem."""
    return module.split(".")[1] if "." in module else ""


UNITS = {unit(module) for module in MODULES if within([module], "quem")}


@pytest.mark.parametrize("package", sorted(UNITS - ASSEMBLING))
def test_arrows_point_one_way(package: str) -> None:
    """Every package imports those that its row allows; kinds never import each other."""
    allowed = ARROWS[package] | {package, "__version__"}
    assert package not in KINDS or allowed & KINDS == {package}
    for module in MODULES:
        if within([module], f"quem.{package}"):
            assert {unit(one) for one in within(anywhere(module), "quem")} - {""} <= allowed, module


def test_steps_know_nothing_of_output() -> None:
    """Only results, presentations, and whole features of a kind import the report."""
    shows = {"result", "presentation", "figures", "page", "part", "table1"}
    for module in MODULES:
        is_step = unit(module) in {*KINDS, "comparison", "planning"} and not shows & {
            *module.split(".")
        }
        if is_step and module.startswith("quem."):
            # A row declares its values where they are computed.
            rows = within(at_once(module), "quem.report.rows")
            assert within(at_once(module), "quem.report") == rows, module


def test_no_module_imports_itself_in_a_circle() -> None:
    """Modules that are imported with others form no circle."""
    circles = {}
    for module in MODULES:
        ours = at_once(module) & MODULES.keys() - {module}
        # "from package import module" is an import of the module.
        circles[module] = {m for m in ours if not any(o.startswith(f"{m}.") for o in ours)}
    while leaves := {module for module, others in circles.items() if not others}:
        circles = {m: others - leaves for m, others in circles.items() if m not in leaves}
    assert circles == {}


def test_only_two_commands_import_the_judging_app() -> None:
    """The arrow between the packages points from webjudge to quem, but for serve and links."""
    for module in within(MODULES, "quem"):
        commands = module in ("quem.commands.serve", "quem.commands.links")
        imports = at_once(module) if commands else anywhere(module)
        assert not within(imports, "webjudge"), module


def test_nobody_imports_what_is_slow_or_global() -> None:
    """Neither pyplot nor the interfaces of statsmodels that load all of it are imported."""
    unwanted = ("matplotlib.pyplot", "pylab", "statsmodels.api", "statsmodels.formula")
    assert not [module for module in MODULES if within(anywhere(module), *unwanted)]


def test_one_place_loads_code() -> None:
    """Only one module runs files of a study; nobody reads a format that can hold programs."""
    running = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "runpy", "code", "imp"}
    # Whether a library is installed, and its version.
    asking = {"importlib.util", "importlib.util.find_spec"}
    asking |= {f"importlib.metadata{name}" for name in ("", ".version")}
    calls = {"eval", "exec", "compile", "__import__", "read_pickle", "unsafe_load", "full_load"}
    calls |= {"module_from_spec", "spec_from_file_location"}
    for module in MODULES.keys() - {"quem.io.custom_functions"}:
        assert not within(anywhere(module), *running), module
        assert module == "quem" or within(anywhere(module), "importlib") <= asking, module
        for node in ast.walk(tree(module)):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in calls, f"{module}: {called}"
                assert called.rpartition(".")[2] not in calls - {"compile"}, module
                assert not {"allow_pickle", "Loader"} & {k.arg for k in node.keywords} or (
                    called in ("yaml.parse", "yaml.compose")
                ), module


def test_only_the_worker_parses_pdfs() -> None:
    """What strangers made is parsed in a confined process: nothing else loads the libraries."""
    parsers = [m for m in MODULES if within(anywhere(m), "pikepdf", "pypdfium2")]
    assert parsers == ["quem.blinding.pdf_worker"]
    assert not [m for m in MODULES if "quem.blinding.pdf_worker" in anywhere(m)]


def test_imports_are_found() -> None:
    """The reader of imports sees them in functions, blocks and relative form."""
    assert "quem.report.files" in anywhere("quem.parts.result")
    assert "quem.report.files" not in at_once("quem.parts.result")
    relative = ast.parse("from ..report import files").body
    assert "quem.report.files" in set(imported(relative, "quem.experience"))
