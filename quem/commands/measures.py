"""``quem measures``: which measures of lists there are, and what each of them is."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quem.commands.options import code_option, study_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from quem.lists import Definition

_WIDTH = 100
_LONGEST_LABEL = 24
_FAMILIES = {
    "own": "Measures of the study's own",
    "retrieval": "Cases that a retriever found, against their true similarities",
    "relevance": "Any list, against the items that are relevant",
    "options": "Options that are offered, of which one is right, or some are",
    "dialogue": "Candidates in a dialogue, against the nearest cases",
}


@click.command()
@click.argument("name", required=False)
@click.option("--study", type=click.Path(path_type=Path), help="Also those of this study's own.")
@code_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def measures(name: str | None, study: Path | None, *, code: bool, as_json: bool) -> None:
    """List the measures of lists, or explain the one with NAME.

    NAME may have parameters, as in AP@10 or "RBP(p=0.8)"; the example then uses them.
    """
    from quem.errors import QuemError
    from quem.lists.explanation import describe, explain
    from quem.lists.registry import DEFINITIONS, measure

    own = {} if study is None else _own_measures(study, code=code)
    if name is None:
        described = [describe(one) for one in (*own.values(), *DEFINITIONS.values())]
        if as_json:
            _print_json({"measures": described})
        else:
            click.echo("\n".join(_listing(described)))
        return
    try:
        explained = explain(measure(name, own))
    except QuemError as error:
        raise click.UsageError("\n".join(map(str, error.mistakes))) from None
    if as_json:
        _print_json(explained)
    else:
        click.echo("\n".join(_explanation(explained)))


def _own_measures(study: Path, *, code: bool) -> dict[str, Definition]:
    """Load a study, and give its own measures."""
    from quem import kinds

    loaded = kinds.load_study(study_in(study), code=code)
    return dict(getattr(loaded, "own_measures", {}))


def _print_json(content: dict[str, Any]) -> None:
    from quem.report.files import json_text

    # JSON is UTF-8, whatever the terminal is.
    click.echo(json_text({"format": 1, **content}).encode(), nl=False)


def _listing(described: list[dict[str, Any]]) -> Iterator[str]:
    for family, heading in _FAMILIES.items():
        lines = [(e["name"], e["summary"]) for e in described if e["family"] == family]
        if lines:
            yield heading
            yield from _labelled(lines)
            yield ""
    yield "quem measures NAME explains one of them."


def _explanation(entry: dict[str, Any]) -> Iterator[str]:
    yield from textwrap.wrap(f"{entry['name']}: {entry['summary']}", _WIDTH)
    yield ""
    yield from _labelled(_facts(entry))
    yield ""
    yield "Example"
    yield from _labelled(_example(entry["example"]))
    if "properties" in entry:
        yield ""
        yield "Properties, on all lists of up to 5 options"
        yield from _labelled(
            (row["name"], "yes" if row["holds"] else f"no: {row['counterexample']}")
            for row in entry["properties"]
        )


def _facts(entry: dict[str, Any]) -> Iterator[tuple[str, str]]:
    low, high = entry["range"]
    if low is None:
        reach = "any number" if high is None else f"up to {high:g}"
    else:
        reach = f"from {low:g}" if high is None else f"{low:g} to {high:g}"
    if entry["definition"]:
        yield "definition", entry["definition"]
    yield "range", f"{reach}; {entry['better']} is better"
    for parameter in entry["parameters"]:
        value = parameter["default"]
        shown = f"{value:g}" if isinstance(value, float) else value
        default = "" if value is None else f"; {shown} by default"
        yield parameter["name"], f"{parameter['meaning']}{default}; {parameter['allowed']}"
    for key in ("ties", "short_lists", "unknown_items", "undefined", "source"):
        if entry[key]:
            yield key.replace("_", " "), entry[key]


def _example(example: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "list", _items(example["list"])
    yield "ground truth", _items(example["ground_truth"])
    for scored in example["scores"]:
        if scored["score"] is None:
            yield scored["measure"], f"undefined: {scored['undefined']}"
        else:
            yield scored["measure"], f"{scored['score']:.4g}"


def _items(items: dict[str, float] | list[str]) -> str:
    if isinstance(items, dict):
        return ", ".join(f"{item} {value:g}" for item, value in items.items())
    return ", ".join(items)


def _labelled(lines: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Labels, and texts that are wrapped beside them."""
    rows = list(lines)
    width = min(max(len(label) for label, _ in rows), _LONGEST_LABEL)
    for label, text in rows:
        hanging = " " * (width + 4)
        head = f"  {label:{width}}  "
        if len(label) > width:
            yield f"  {label}"
            head = hanging
        yield textwrap.fill(text, _WIDTH, initial_indent=head, subsequent_indent=hanging)
