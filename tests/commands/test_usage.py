"""Usage errors, and help for newcomers."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

import quem
from quem.cli import FORMER, main
from tests.options.made import study_in
from tests.scores.made import write_retrievers
from tests.served import write_judging_study

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.commands.conftest import Command

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = {
    "p3": ROOT / "studies/p3-1997/study.yaml",
    "bikes": ROOT / "studies/ccbr/bikes.yaml",
}
MOST_SHOWN = 12
HELP = {"--help", "--help-all", "--version"}
WRONG = {
    "analyze x --levle 1": "No such option",
    "analyze x --level 95": "95 is not between 0 and 1; 95 percent is",
    "analyze x --level nan": "is not between 0 and 1",
    "analyze x --level 2": "2 is not between 0 and 1",
    "analyze x --form cubist": "'cubist' is not one of",
    "analyze x --years-error -1": "must be 0 or more",
    "analyze x --at-least inf": "inf is not a finite number",
    "analyze x --at-least -5": "-5 is not a finite number, 0 or more",
    "analyze {p3} --out ''": "is empty; name a folder",
    "analyze {p3} --json --out new": "--json writes nothing, so it takes no --out",
    "analyze {p3} --tables xlsx": "'xlsx' is not one of",
    "analyze {p3} --tables none,csv": "none leaves no other format",
    "analyze {p3} --tables csv --json": "--json writes nothing, so it takes no --tables",
    "analyze {p3} --figures jpeg": "'jpeg' is not one of",
    "analyze {p3} --figures svg --dpi 300": "--dpi is for figures as png",
    "analyze {p3} --jobs 2": "--jobs is not for a study of kind experience",
    "analyze {p3} --data x": "--data is not for a study of kind experience",
    "check {p3} --data x": "--data is not for a study of kind experience",
    "analyze {bikes} --form log": "--form is not for a study of kind dialogue",
    "analyze {bikes} --reveal": "--reveal is not for a study of kind dialogue",
    "analyze {options} --at-least 3": "--at-least is not for a study of kind options",
    "analyze {options} --cluster tcp://x": "--cluster is not for a study of kind options",
    "analyze {options} --pseudonyms": "--pseudonyms is not for a study of kind options",
    "check {options} --database x.db": "--database is not for a study of kind options",
    "compare x --json --out y": "--json writes nothing, so it takes no --out",
    "compare x --level 95": "95 percent is written 0.95",
    "compare x --seed 1": "--seed is not for a study of kind experience",
    "compare x.yaml B --systems A": "there is no study B; each system takes",
    "compare {retrieval} --jobs 2": "--jobs is not for a study of kind retrieval",
    "compare {retrieval} --data 2": "--data is not for a study of kind retrieval",
    "compare {retrieval} --reveal": "--reveal is not for a study of kind retrieval",
    "plan --subjects many": "'many' is not a number such as 12",
    "plan --subjects 2-8": "Invalid value for '--subjects': must be 3 or more",
    "plan --judges 5-2": "'5-2' is not a rising range",
    "plan --problems 3,": "'' is not a number",
    "plan --experience 12": "Invalid value for '--experience'",
    "plan --experience 9-2": "must increase from least to most",
    "plan --reference-population 9-2": "years need two numbers",
    "plan --width 0": "0 is not a finite number above 0",
    "plan --width nan": "nan is not a finite number above 0",
    "plan --person -1": "-1 is not a finite number, 0 or more",
    "plan --noise some": "'some' is not one of",
    "plan --level 95": "95 is not between 0 and 1; 95 percent is",
    "plan --json --out x": "--json writes nothing, so it takes no --out",
    "plan --reveal": "--database and --reveal apply to a pilot",
    "plan s.yaml --noise low": "a pilot gives the SDs; leave --noise out",
    "score qrels.txt": "name one run at least",
    "score qrels.txt a.run --judges 1": "--judges is for a --pool",
    "backup {judged}": "give either --to FOLDER",
    "backup {judged} --to a --restore b": "give either --to FOLDER",
    "backup {judged} --restore b --every 5m": "give either --to FOLDER",
    "backup {judged} --to a --replace": "--replace belongs to --restore",
    "backup {judged} --to a --every 5": "write one such as 90s",
    "export {judged} --pseudonyms": "--archive",
    "links strangers {judged}": "'strangers' is not one of",
    "links judges {judged} --name Ada": "--name",
    "links judges {judged} --url judging.example.org": "--url",
    "links judges {judged} --reissue J1 --revoke J1": "J1",
    "links judges {judged} --erase J1 --reissue J1": "J1",
    "links judges {judged} --mail --erase J1": "--mail",
    "links judges {judged} --dry-run": "--dry-run",
    "links judges {judged} --again": "--again",
    "links organizers {judged} --mail": "--mail",
    "links organizers {judged} --erase organizer": "--erase",
    "links organizers {judged} --add amy --experience 3": "--experience",
    "serve --demo study.yaml": "leave out STUDY",
    "serve --demo --database x": "leave out --database",
    "serve --demo --url https://a.org": "leave out --url",
    "init new --report --kind options": "--report is for studies",
    "init new --dry-run": "--dry-run",
    "init new --judging --report": "--report",
    "init new --judging --kind options": "--judging is for studies",
    "init new --columns x": "--columns",
} | {
    f"{name} study.yaml": f"is now quem {FORMER[name]}"
    for name in FORMER
    if name not in main.commands
}


@pytest.mark.parametrize("words", WRONG)
def test_wrong_usage_ends_with_2(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    """Usage errors are named, and nothing is written."""
    makers: dict[str, Callable[[Path], Path]] = {
        "options": study_in,
        "judged": write_judging_study,
        "retrieval": lambda folder: write_retrievers(folder, "one", {"a": 0.3}, queries=2),
    }
    studies = SHIPPED | {name: make(tmp_path) for name, make in makers.items() if name in words}
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    outcome = run(*shlex.split(words.format_map(studies)))
    assert outcome.refuses(WRONG[words], code=2)
    assert sorted(tmp_path.rglob("*")) == before


def commands() -> Iterator[tuple[str, click.Command]]:
    """Each command that does something, by what is typed."""
    for name, command in main.commands.items():
        if isinstance(command, click.Group):
            for one in command.commands.values():
                yield f"{name} {one.name}", one
        else:
            yield name, command


def options_of(command: click.Command, *, hidden: bool = True) -> list[str]:
    """All options of a command, but for its help."""
    return [
        one.opts[-1]
        for one in command.get_params(click.Context(command))
        if isinstance(one, click.Option) and not HELP & {*one.opts} and (hidden or not one.hidden)
    ]


def shown(text: str) -> list[str]:
    """The options that a help shows."""
    lines = text.split("\nOptions:\n")[1].splitlines()
    words = (line.split() for line in lines if line.startswith("  -"))
    return [found[0] for found in words if not HELP & {*found[:2]}]


def test_commands_are_in_two_groups(run: Command) -> None:
    """Each command is in one of them, those of every study first."""
    first, more = run("--help").out.split("\nMain:\n")[1].split("\nMore:\n")
    names = [
        [line.split()[0] for line in part.splitlines() if line[2:3].strip()]
        for part in (first, more)
    ]
    assert names[0] == ["init", "check", "serve", "analyze", "compare", "score", "plan"]
    assert sorted(names[0] + names[1]) == sorted(main.commands)


@pytest.mark.parametrize("name", [name for name, _ in commands()])
def test_help_fits_a_screen(name: str, run: Command) -> None:
    """A help shows at most twelve options; --help-all shows every one."""
    code, short, err = run(*name.split(), "-h")
    assert (code, err) == (0, "")
    every = options_of(dict(commands())[name], hidden=False)
    assert len(shown(short)) <= MOST_SHOWN
    if "--help-all" in short:
        full = shown(run(*name.split(), "--help-all").out)
        assert len(full) == len(every) > MOST_SHOWN == len(shown(short))
    else:
        assert len(shown(short)) == len(every)


def test_the_version_is_printed(run: Command) -> None:
    """A version is a result."""
    assert run("--version") == (0, f"quem, version {quem.__version__}\n", "")
