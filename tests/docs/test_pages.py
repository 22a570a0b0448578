"""Links lead somewhere, and examples run and print what the page shows."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import quem
from quem.study.document import parse_document
from tests.docs.pages import PAGES, ROOT, Block, blocks, page_id
from tests.docs.sessions import hold_session

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
WITH_EXAMPLES = [
    page
    for page in PAGES
    if {block.language for block in blocks(page.read_text(encoding="utf-8"))}
    & {"python", "console"}
]


def _anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", _FENCED.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_links_lead_somewhere(page: Path) -> None:
    """Each link to a file or heading of the project has its target."""
    for link in _LINK.findall(_FENCED.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        assert target.is_relative_to(ROOT), f"{link} leaves the project"
        if anchor:
            assert anchor in _anchors(target.read_text(encoding="utf-8")), link


def test_citation_names_this_version() -> None:
    """CITATION.cff is valid YAML and has the version of the package; so has the changelog."""
    content = parse_document((ROOT / "CITATION.cff").read_text(encoding="utf-8"), "CITATION.cff")
    assert content.content["version"] == quem.__version__
    assert quem.__version__ in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_there_are_pages_with_examples() -> None:
    """The pages that show examples are found."""
    ids = {page_id(page) for page in WITH_EXAMPLES}
    assert {
        "docs/reference/python-api.md",
        "docs/reference/study-file.md",
        *map(page_id, (ROOT / "docs/tutorials").iterdir()),
        "studies/p3-1997/README.md",
    } <= ids


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=page_id)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The examples of a page run, one after another, and print what it shows."""
    for name in ("studies", "docs"):
        ignored = shutil.ignore_patterns("*-report", "*-compare")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    monkeypatch.chdir(tmp_path)
    here = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", here + os.pathsep + os.environ["PATH"])
    monkeypatch.setenv("PYTHONUTF8", "1")
    names: dict[str, Any] = {"__name__": "example"}
    for block in blocks(page.read_text(encoding="utf-8")):
        place = f"{page_id(page)}:{block.line}"
        if block.language == "python":
            _run_python(block, names, place)
        elif block.language == "console":
            for command, output in _commands(block.text):
                _run_command(command, output, place)


def _run_python(block: Block, names: dict[str, Any], place: str) -> None:
    if ">>>" not in block.text:
        exec(compile(block.text, place, "exec"), names)  # noqa: S102  our own examples
        return
    example = doctest.DocTestParser().get_doctest(block.text, names, place, place, block.line)
    failures: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    runner.run(example, out=failures.append, clear_globs=False)
    names.update(example.globs)
    assert not failures, "".join(failures)


def _commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a block with the output shown below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *output = part.rstrip("\n").split("\n")
        yield command, output


def _run_command(command: str, output: list[str], place: str) -> None:
    words = shlex.split(command, comments=True)
    if words[0] != "quem":
        return
    if words[1] == "serve":
        hold_session(Path(words[2]))
        return
    run = subprocess.run(
        [sys.executable, "-m", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    assert run.returncode == 0, f"{place}: {command}\n{run.stdout}"
    if output:
        lines = [".*" if line == "..." else re.escape(line.rstrip()) for line in output]
        printed = "\n".join(line.rstrip() for line in run.stdout.splitlines())
        assert re.fullmatch("\n".join(lines), printed, re.DOTALL), f"{place}\n{run.stdout}"


def test_changed_output_is_noticed() -> None:
    """An example whose output is not what the page shows fails."""
    with pytest.raises(AssertionError):
        _run_command("quem --version", ["quem, version 0"], "here")
    with pytest.raises(AssertionError):
        _run_python(Block("python", ">>> 1 + 1\n3\n", 1), {}, "here")
