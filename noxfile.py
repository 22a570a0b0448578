"""The sessions of the project: ``nox --list`` says what each does."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import nox

# `uvx nox` does not put uv on PATH, but says where it is.
if uv := os.environ.get("UV"):
    os.environ["PATH"] = os.pathsep.join([str(Path(uv).parent), os.environ["PATH"]])

# The tests start quem some hundred times: what it imports is to be compiled only once.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# What tests and lint use has the versions of one file, which `nox -s constraints` refreshes.
# Sessions run in its folder; these variables hold several paths, parted by spaces.
CONSTRAINTS = "constraints.txt"
PINNED = dict.fromkeys(("UV_CONSTRAINT", "UV_BUILD_CONSTRAINT", "PIP_CONSTRAINT"), CONSTRAINTS)
os.environ.update(PINNED)

nox.options.default_venv_backend = "uv|virtualenv"
nox.options.sessions = ["lint", "tests"]
nox.options.error_on_external_run = True

# What quem is measured beside; Potato gets an environment of its own.
PEERS = ("choix>=0.4", "evalica>=0.4", "ir-measures>=0.4", "ranx>=0.3.20")

# Each file has one worker; a test that hangs ends its worker, and with it the run.
SPREAD = ("--dist", "loadfile", "--max-worker-restart", "0")

# Tests that need no browser, no database server, and no process beside their own.
QUICK = (
    *(
        "blinding",
        "comparison",
        "languages",
        "lists",
        "method",
        "options",
        "planning",
        "rankings",
    ),
    *("retrieval", "scripts", "solutions", "study"),
)
# Of these, what takes longest.
NOT_QUICK = (
    "blinding/test_office.py",
    "blinding/test_pdf.py",
    "comparison/test_assistance.py",
    "comparison/test_pairs.py",
    "method/test_golden.py",
    "method/test_laws.py",
    "options/test_report.py",
    "retrieval/test_results.py",
    "study/test_fuzz.py",
)

PYPROJECT = nox.project.load_toml("pyproject.toml")


@nox.session
def tests(session: nox.Session) -> None:
    """Run all tests, or those that are named."""
    _test(session, *session.posargs)


@nox.session
def quick(session: nox.Session) -> None:
    """Run the unit tests, in about a minute."""
    ignored = (f"--ignore=tests/{name}" for name in NOT_QUICK)
    _test(session, *(f"tests/{name}" for name in QUICK), *ignored, *session.posargs)


def _test(session: nox.Session, *options: str) -> None:
    session.install("-e", ".", *nox.project.dependency_groups(PYPROJECT, "tests"))
    _provide_node(session)
    workers = str(min(4, os.cpu_count() or 1))
    session.run("pytest", "-n", workers, *SPREAD, *options)


@nox.session
def newest(session: nox.Session) -> None:
    """Run all tests, or those that are named, with the newest versions of what quem uses."""
    session.env.update(dict.fromkeys(PINNED))
    _test(session, *session.posargs)


@nox.session
def constraints(session: nox.Session) -> None:
    """Write the newest versions of what the sessions install into constraints.txt."""
    session.env.update(dict.fromkeys(PINNED))
    session.install("uv")
    # `formats` names quem itself, whose extras are all in.
    groups = (f"--group={name}" for name in PYPROJECT["dependency-groups"] if name != "formats")
    compiled = ("uv", "pip", "compile", "pyproject.toml", "--universal", "--python-version=3.11")
    quiet = ("--quiet", "--upgrade", "--no-annotate", "--no-header", "--output-file", CONSTRAINTS)
    session.run(*compiled, "--all-extras", *groups, *quiet)


@nox.session
def branches(session: nox.Session) -> None:
    """Measure the branch coverage of all tests, or of those that are named; 95% is required."""
    session.install(*nox.project.dependency_groups(PYPROJECT, "branches"))
    covered = ("--cov", "--cov-report=term:skip-covered", "--cov-fail-under=95")
    _test(session, *covered, *session.posargs)


@nox.session
def mutants(session: nox.Session) -> None:
    """Try small faults in the code of all rooms, or those that are named; list the unnoticed."""
    groups = nox.project.dependency_groups(PYPROJECT, "tests", "mutants")
    session.install("-e", ".", *groups)
    session.run("python", "benchmarks/mutants.py", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation site in build/site; every warning is an error."""
    session.install("-e", ".", *nox.project.dependency_groups(PYPROJECT, "docs"))
    quiet = {"NO_MKDOCS_2_WARNING": "1"}
    session.run("mkdocs", "build", env=quiet)


@nox.session
def lint(session: nox.Session) -> None:
    """Check format, style, types, spelling and wording, of Python and of the page scripts."""
    groups = nox.project.dependency_groups(PYPROJECT, "lint", "tests")
    session.install("-e", ".", *groups)
    session.run("ruff", "format", "--check", ".")
    session.run("ruff", "check", ".")
    session.run("mypy")
    session.run("codespell")
    session.run("python", "-m", "tests.docs.words")
    session.run("python", "benchmarks/size.py", "--check")
    session.run("python", "-m", "tests.languages.catalogs")
    workflows = sorted(str(path) for path in Path(".github/workflows").iterdir())
    session.run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows)
    session.run("check-jsonschema", "--builtin-schema", "vendor.compose-spec", "compose.yaml")
    dependabot = ".github/dependabot.yml"
    session.run("check-jsonschema", "--builtin-schema", "vendor.dependabot", dependabot)
    session.run("hadolint", "Containerfile")
    _provide_node(session)
    lock, installed = Path("package-lock.json"), Path("node_modules/.package-lock.json")
    if not installed.exists() or installed.stat().st_mtime < lock.stat().st_mtime:
        session.run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", external=True)
    session.run("node", "node_modules/eslint/bin/eslint.js", ".", external=True)


@nox.session
def audit(session: nox.Session) -> None:
    """Look for known vulnerabilities of pinned packages; fails without access to their data."""
    session.install("pip-audit>=2.10")
    _provide_node(session)
    # Unless it is strict, packages that could not be looked up count as safe.
    checked = ("--strict", "--no-deps", "--disable-pip", "--requirement", CONSTRAINTS)
    session.run("pip-audit", "--progress-spinner=off", *checked)
    session.run("npm", "audit", "--package-lock-only", external=True)


def _provide_node(session: nox.Session) -> None:
    """Let a Python package stand in for node and npm where the machine has none."""
    if not shutil.which("npm"):
        session.install(*nox.project.dependency_groups(PYPROJECT, "node"))


@nox.session
def bench(session: nox.Session) -> None:
    """Run all benchmarks, and write docs/benchmarks.md; or run those that are named."""
    session.install("-e", ".", *nox.project.dependency_groups(PYPROJECT, "tests"), *PEERS)
    session.run("python", "-m", "benchmarks", *session.posargs)


@nox.session
def coverage(session: nox.Session) -> None:
    """Simulate the kinds of studies that are nearest to their bars, with options of tests/trials.

    All kinds: nox -s trials -- coverage.
    """
    session.install("-e", ".", *nox.project.dependency_groups(PYPROJECT, "tests"))
    session.run("python", "-m", "tests.trials", "coverage-tight", *session.posargs)


@nox.session
def trials(session: nox.Session) -> None:
    """Run the trials of a name, with the options of tests/trials; without a name, list them."""
    session.install("-e", ".", *nox.project.dependency_groups(PYPROJECT, "tests"))
    session.run("python", "-m", "tests.trials", *session.posargs)
