"""Links lead somewhere, and examples run and print what the page shows."""

from __future__ import annotations

import doctest
import io
import os
import pkgutil
import re
import shlex
import shutil
import sys
from collections import defaultdict
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import click
import pytest
import yaml

import quem
from quem.cli import main, run
from quem.studyfile.document import parse_document
from tests.docs.keys import KINDS, TABLES, keys_of
from tests.docs.pages import PAGES, ROOT, Block, blocks, page_id, table_rows
from tests.docs.sessions import hold_session
from tests.docs.words import check

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


def test_links_lead_somewhere() -> None:
    """Each link to a file or heading of the project has its target."""
    for page in PAGES:
        for link in _LINK.findall(_FENCED.sub("", page.read_text(encoding="utf-8"))):
            if re.match(r"[a-z]+:", link):
                continue
            name, _, anchor = link.partition("#")
            target = (page.parent / name).resolve() if name else page
            assert target.exists(), (page, link)
            assert target.is_relative_to(ROOT), (page, link)
            if anchor:
                assert anchor in _anchors(target.read_text(encoding="utf-8")), (page, link)


def test_citation_names_this_version() -> None:
    """CITATION.cff is valid YAML and has the version of the package; so has the changelog."""
    content = parse_document((ROOT / "CITATION.cff").read_text(encoding="utf-8"), "CITATION.cff")
    assert content.content["version"] == quem.__version__
    assert quem.__version__ in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_pages_begin_with_their_end_and_name_every_command() -> None:
    """The first sentence says what the reader has afterwards; an example is run below.

    What a session of nox writes has no other example than that.
    """
    written = {ROOT / "docs" / name for name in ("benchmarks.md", "trials.md")}
    docs = [page for page in PAGES if page.is_relative_to(ROOT / "docs")]
    texts = {page: page.read_text(encoding="utf-8") for page in docs}
    for page, text in texts.items():
        assert re.match(r"# .+\n\nAfter this ", text), page
        assert page in {*WITH_EXAMPLES, *written}
    names = main.list_commands(click.Context(main))
    assert [name for name in names if f"quem {name}" not in "".join(texts.values())] == []


def test_readme_is_short() -> None:
    """It has one picture, three commands, and seven links."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = [block for block in blocks(text) if block.language == "sh"]
    pictures = re.findall(r"!\[", text)
    assert (len(pictures), len(commands), len(_LINK.findall(text))) == (1, 3, 7)


def test_architecture_page_names_what_exists() -> None:
    """Each module, class, and function can be imported; each function of a script is defined."""
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    names = set(re.findall(r"`((?:quem|webjudge)(?:\.\w+)+)`", text))
    scripts = set(re.findall(r"`(\w+\.js)#(\w+)`", text))
    assert (len(names) > 30, len(scripts) > 5) == (True, True)
    for name in names:
        assert pkgutil.resolve_name(name)
    for script, name in scripts:
        source = (ROOT / "webjudge/static" / script).read_text(encoding="utf-8")
        defined = rf"^(?:export )?(?:async )?(?:function|class|const) {name}\b"
        assert re.search(defined, source, re.MULTILINE), (script, name)


def test_every_warning_is_explained() -> None:
    """The page has a row for each code in the source, and for no other, with no empty cell."""
    text = (ROOT / "docs/reference/warnings.md").read_text(encoding="utf-8")
    rows = [row for row in table_rows(text) if row[0].startswith("`")]
    codes = [row[0].strip("`") for row in rows]
    modules = {*(ROOT / "quem").rglob("*.py")} - {ROOT / "quem/errors.py"}
    sources = [path.read_text(encoding="utf-8") for path in modules]
    declared = r'(?:\b[A-Z_]+\.add|\bStudyWarning)\(\s*(?:code=)?"([a-z-]+)"'
    assert sorted(codes) == sorted({code for one in sources for code in re.findall(declared, one)})
    assert all(len(row) == 3 and all(row) for row in rows)
    assert TABLES["with_remedies"]() == text, "`python docs/make_tables.py` would change it"


def test_wording() -> None:
    """What `python -m tests.docs.words` finds in lint, and what not: P values lack the zero."""
    for text in ("one link a judge", "rests on two judges", "r = .71", "'x' is no number", "his"):
        assert list(check(f"It is {text}.")), text
    for text in ("the p value is .04", "p = .0035", "`one link a judge`", "no longer"):
        assert not list(check(f"It is {text}.")), text


def test_cheat_sheets_name_all() -> None:
    """All commands, keys of a session, settings of the analysis, and keys of the judge's page."""
    organizer, judge, statistician = re.split(r"\n## ", TABLES["cheat_sheets"]())[1:]
    keys = {key.name for key in keys_of(KINDS["experience"][1]) if "[]" not in key.name}
    help_text = (ROOT / "templates/judge/dialogs.html").read_text(encoding="utf-8")
    for sheet, words in (
        (organizer, {f"`quem {name}`" for name in main.commands}),
        (organizer, {f"`{key}`" for key in keys if key.startswith("judging.")}),
        (statistician, {f"`{key}`" for key in keys if re.fullmatch(r"analysis\.\w+", key)}),
        (statistician, {"`estimates.csv`", "`decisive`", "`no-reference`"}),
        (judge, set(re.findall(r"<kbd>[^{<]+</kbd>", help_text))),
    ):
        assert len(words) > 2
        assert {word for word in words if word not in sheet} == set()
        assert "|  |" not in sheet
        assert "{{" not in sheet


def test_llms_txt_has_all_pages() -> None:
    """Each page of docs/ has a line with its first sentence, where the site has it."""
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1])
    pages = defaultdict(lambda: "# A page\n\nMade by the [site](x.md). With more.")
    for path in (ROOT / "docs").rglob("*.md"):
        pages[path.relative_to(ROOT / "docs").as_posix()] = path.read_text(encoding="utf-8")
    known = set(pages)
    text = TABLES["llms"]("About.", nav, pages)
    assert text.startswith("# quem\n\n> About.\n\n## Tutorials\n\n- [Your first estimate](")
    assert {page for page in known if f"({page[:-3]}.html): After this " not in text} == set()
    assert "(contributing.html): Made by the site.\n" in text


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


# Output of commands on shipped studies, which several pages show.
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
