"""What the site shows beside docs/: README, studies, commands, cheat sheets, the API, a task.

The pages link to each other as files of the repository, so that they can be read there as well.
`on_page_markdown` turns these links into links of the site, or into plain text where they lead to
a file that the site does not show.
"""

from __future__ import annotations

import inspect
import posixpath
import re
import runpy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from make_tables import cheat_sheets, llms
from mkdocs.structure.files import File

import quem
from quem.cli import main
from quem.commands.options import Command
from quem.kinds import presentations
from quem.report.schema import keys_table, tables_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
# Files of the repository that are pages, by their address in the site.
TAKEN = {
    "index.md": "README.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
    **{
        f"studies/{readme.parent.name}.md": readme.relative_to(ROOT).as_posix()
        for readme in sorted(ROOT.glob("studies/*/README.md"))
    },
}
_TRY = "docs/make_try.py"
_PAGE_OF = {_TRY: "try/index.html"} | {source: page for page, source in TAKEN.items()}
_WIDTH = 90  # characters of the help
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
_DECLARED = re.compile(r"<!-- (?P<what>keys|columns) of (?P<kind>\w+) -->")
_FENCED = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made from other files, and from the code."""
    made = {page: (ROOT / source).read_text(encoding="utf-8") for page, source in TAKEN.items()}
    made["reference/commands.md"] = "\n".join(_commands())
    made["reference/cheat-sheets.md"] = cheat_sheets()
    made["reference/api.md"] = "\n".join(_api())
    pages = {file.src_uri: file.content_string for file in files.documentation_pages()}
    made["llms.txt"] = llms(config.site_description or "", config.nav or [], pages | made)
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
    for path, content in runpy.run_path(str(ROOT / _TRY))["try_files"]().items():
        files.append(File.generated(config, f"try/{path}", content=content))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:  # noqa: ANN401
    """Fill in tables that follow from the code; make links of the repository those of the site."""
    here = page.file.src_uri
    markdown = _DECLARED.sub(_declared, markdown)
    parts = _FENCED.split(markdown)
    return "".join(
        part if index % 2 else _LINK.sub(lambda found: _link(found, here), part)
        for index, part in enumerate(parts)
    )


def _declared(found: re.Match[str]) -> str:
    table = keys_table if found["what"] == "keys" else tables_table
    return "\n".join(table(presentations()[found["kind"]]))


def _link(found: re.Match[str], here: str) -> str:
    mark, text, target = found.groups()
    name, hash_, anchor = target.partition("#")
    if not name or re.match(r"[a-z]+:", target):
        return found[0]
    source = TAKEN.get(here, f"docs/{here}")
    file = posixpath.normpath(posixpath.join(posixpath.dirname(source), name))
    shown = _PAGE_OF.get(file)
    if shown is None and file.startswith("docs/") and not file.endswith(".py"):
        shown = file.removeprefix("docs/")
    if shown is None:
        return text
    way = posixpath.relpath(shown, posixpath.dirname(here) or ".")
    return f"{mark}[{text}]({way}{hash_}{anchor})"


def _commands() -> Iterator[str]:
    """Each command with its help."""
    yield "# Commands\n\nWhat `quem --help` and `quem COMMAND --help-all` print.\n"
    context = click.Context(main, info_name="quem", terminal_width=_WIDTH)
    yield _help(main, context)
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        assert command is not None  # noqa: S101  it was listed
        yield f"\n## quem {name}\n"
        own = click.Context(command, info_name=name, parent=context, terminal_width=_WIDTH)
        yield _help(command, own)


def _help(command: click.Command, context: click.Context) -> str:
    text = command.get_help(context)
    if isinstance(command, Command):
        text = command.full_help(context)
    return f"```text\n{text}\n```\n"


def _api() -> Iterator[str]:
    """Each public name, where it is defined."""
    yield "# Python, from the docstrings\n\nWhat each name of `quem` does, takes, and gives.\n"
    for name in quem.__all__:
        if not name.startswith("__"):
            defined = getattr(quem, name)
            if inspect.ismodule(defined):
                yield f"::: {defined.__name__}\n"
            else:
                yield f"::: {defined.__module__}.{defined.__qualname__}\n"
