"""The commands as a newcomer sees them, and how many of everything there may be."""

from __future__ import annotations

import runpy
from inspect import get_annotations
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from quem import kinds
from quem.cli import FORMER, main
from quem.studyfile.fields import StudyPart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.commands.conftest import Outcome

ROOT = Path(__file__).resolve().parents[2]
MOST_SHOWN = 12
HELP = {"--help", "--help-all", "--version"}


def commands() -> Iterator[tuple[str, click.Command]]:
    """Each command that does something, by what is typed."""
    for name, command in main.commands.items():
        if isinstance(command, click.Group):
            for one in command.commands.values():
                yield f"{name} {one.name}", one
        else:
            yield name, command


NAMES = [name for name, _ in commands()]


def options(command: click.Command, *, hidden: bool = True) -> list[str]:
    """All options of a command, but for its help."""
    every = command.get_params(click.Context(command))
    return [
        one.opts[-1]
        for one in every
        if isinstance(one, click.Option) and not HELP & {*one.opts} and (hidden or not one.hidden)
    ]


def shown(text: str) -> list[str]:
    """The options that a help shows."""
    lines = text.split("\nOptions:\n")[1].splitlines()
    words = (line.split() for line in lines if line.startswith("  -"))
    return [found[0] for found in words if not {"--help", "--help-all"} & {*found[:2]}]


def load_all() -> set[str]:
    """Load the models of each kind of study, which nothing else here does; gives the kinds."""
    from quem.studyfile import dialogue, models, options, relevance, retrieval

    specs = (
        *(models.ExperienceSpec, retrieval.RetrievalSpec, options.OptionsSpec),
        *(dialogue.DialogueSpec, relevance.RelevanceSpec),
    )
    return {spec.model_fields["kind"].default for spec in specs}


def study_keys() -> int:
    """The keys that models of study files have, each where it is declared."""
    total, left = 0, list(StudyPart.__subclasses__())
    while left:
        part = left.pop()
        if part.__module__.startswith("quem.studyfile."):
            total += len(part.model_fields.keys() & get_annotations(part).keys())
        left += part.__subclasses__()
    return total


def test_commands_are_in_two_groups(quem_command: Callable[..., Outcome]) -> None:
    """Each command is in one of them, those of every study first."""
    code, out, err = quem_command("--help")
    assert (code, err) == (0, "")
    first, more = out.split("\nMain:\n")[1].split("\nMore:\n")
    names = [
        [line.split()[0] for line in part.splitlines() if line[2:3].strip()]
        for part in (first, more)
    ]
    assert names[0] == ["init", "check", "serve", "analyze", "compare", "score", "plan"]
    assert sorted(names[0] + names[1]) == sorted(main.commands)


@pytest.mark.parametrize("name", NAMES)
def test_help_fits_a_screen(name: str, quem_command: Callable[..., Outcome]) -> None:
    """A help shows at most twelve options; --help-all shows every one."""
    _, short, _ = quem_command(*name.split(), "--help")
    every = options(dict(commands())[name], hidden=False)
    assert len(shown(short)) <= MOST_SHOWN
    if "--help-all" in short:
        code, full, err = quem_command(*name.split(), "--help-all")
        assert (code, err) == (0, "")
        assert len(shown(full)) == len(every) > MOST_SHOWN == len(shown(short))
    else:
        assert len(shown(short)) == len(every)


@pytest.mark.parametrize("name", sorted(FORMER.keys() - main.commands.keys()))
def test_former_names_say_the_new_one(name: str, quem_command: Callable[..., Outcome]) -> None:
    """A command that has another name now ends with 2 and one line."""
    code, out, err = quem_command(name, "study.yaml", "--anything")
    assert (code, out) == (2, "")
    assert err == f"Error: quem {name} is now quem {FORMER[name]}\n"


def test_the_project_keeps_to_its_budgets() -> None:
    """Commands, options, and study keys are at most as many as the budgets allow."""
    budgets = runpy.run_path(str(ROOT / "benchmarks" / "size.py"))["BUDGETS"]
    assert load_all() == set(kinds.KINDS)
    found = {
        "commands": len(main.commands),
        "options": sum(len(options(one)) for _, one in commands()),
        "study keys": study_keys(),
    }
    assert {name: size for name, size in found.items() if size > budgets[name][0]} == {}
