"""What several commands print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from quem.errors import StudyWarning
    from quem.report.result import BaseResult

__all__ = ["print_warnings", "show_result"]


def show_result(result: BaseResult[Any], folder: Path, *, as_json: bool) -> None:
    """Print a result as JSON; or write its report, and print its summary."""
    if as_json:
        from quem.report.files import json_text

        # JSON is UTF-8, whatever the terminal is.
        click.echo(json_text(result.to_dict()).encode(), nl=False)
        print_warnings(result.warnings)
        return
    from quem.report.files import write_report

    write_report(result, folder)
    click.echo(result.summary(warnings=False))
    print_warnings(result.warnings)
    click.echo(f"\nReport: {folder / 'report.html'}", err=True)


def print_warnings(warnings: Iterable[StudyWarning]) -> None:
    """Print warnings on stderr, each with its code."""
    import sys

    # On a terminal the summary above and the warnings should stand in order.
    sys.stdout.flush()
    warnings = list(warnings)
    if warnings:
        click.echo(err=True)
    for doubt in warnings:
        click.echo(f"warning: {doubt.code}: {doubt.message}", err=True)
