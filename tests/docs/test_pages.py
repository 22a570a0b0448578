"""Links lead somewhere, and examples run and print what the page shows."""

from __future__ import annotations

import doctest
import io
import os
import re
import shlex
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import click
import pytest

import quem
from quem.cli import main, run
from quem.studyfile.document import parse_document
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


DOCS = [page for page in PAGES if page.is_relative_to(ROOT / "docs")]


@pytest.mark.parametrize("page", DOCS, ids=page_id)
def test_page_begins_with_its_end_and_has_an_example(page: Path) -> None:
    """The first sentence says what the reader has afterwards; an example is run below."""
    title, _, first, *_ = page.read_text(encoding="utf-8").split("\n")
    assert title.startswith("# ")
    assert first.startswith("After this ")
    assert page in WITH_EXAMPLES


def test_every_command_is_found() -> None:
    """Whoever searches for a command finds a page that is not only its help."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in DOCS)
    names = main.list_commands(click.Context(main))
    assert [name for name in names if f"quem {name}" not in text] == []
    assert len(names) > 10


def test_readme_is_short() -> None:
    """It has one picture, three commands, and six links."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = [block for block in blocks(text) if block.language == "sh"]
    pictures = re.findall(r"!\[", text)
    assert (len(pictures), len(commands), len(_LINK.findall(text))) == (1, 3, 7)


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=page_id)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The examples of a page run, one after another, and print what it shows."""
    for name in ("studies", "docs"):
        ignored = shutil.ignore_patterns("*-report", "*-compare")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    shutil.copytree(ROOT / "tests" / "scores" / "data", tmp_path / "runs")
    monkeypatch.chdir(tmp_path)
    here = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", here + os.pathsep + os.environ["PATH"])
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
    printed = _printed_by(words)
    if output:
        lines = [".*" if line == "..." else re.escape(line.rstrip()) for line in output]
        shown = "\n".join(line.rstrip() for line in printed.splitlines())
        assert re.fullmatch("\n".join(lines), shown, re.DOTALL), f"{place}\n{printed}"


# What commands print that only read shipped studies, which several pages show.
_KNOWN: dict[str, str] = {}


def _printed_by(words: list[str]) -> str:
    """Run a command that has to succeed; gives stdout and stderr as a terminal shows them."""
    command = " ".join(words)
    if command not in _KNOWN:
        terminal = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        with (
            patch.object(sys, "argv", words),
            redirect_stdout(terminal),
            redirect_stderr(terminal),
            pytest.raises(SystemExit) as end,
        ):
            run()
        terminal.seek(0)
        printed = terminal.read()
        assert end.value.code == 0, f"{command}\n{printed}"
        if words[1] not in ("analyze", "compare") or not words[2].startswith("studies/"):
            return printed
        _KNOWN[command] = printed
    return _KNOWN[command]


def test_changed_output_is_noticed() -> None:
    """An example whose output is not what the page shows fails."""
    with pytest.raises(AssertionError):
        _run_command("quem --version", ["quem, version 0"], "here")
    with pytest.raises(AssertionError):
        _run_python(Block("python", ">>> 1 + 1\n3\n", 1), {}, "here")
