"""What several commands print."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable

    from quem.errors import Doubt

__all__ = ["print_warnings"]


def print_warnings(doubts: Iterable[Doubt]) -> None:
    """Print warnings on stderr, each with its code."""
    import sys

    # On a terminal the summary above and the warnings should stand in order.
    sys.stdout.flush()
    doubts = list(doubts)
    if doubts:
        click.echo(err=True)
    for doubt in doubts:
        click.echo(f"warning: {doubt.code}: {doubt.message}", err=True)
