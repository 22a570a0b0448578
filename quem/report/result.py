"""What a result of any kind offers to be reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import pandas as pd
    from matplotlib.figure import Figure

    from quem.errors import Doubt

__all__ = ["Attaches", "Content", "Result"]

# What a file holds; in parts where that is much.
Content: TypeAlias = "bytes | Iterable[bytes]"


class Result(Protocol):
    """The result of analysing a study."""

    kind: str

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that the result was made of."""

    @property
    def file_names(self) -> frozenset[str]:
        """Every file that a report of this kind may consist of."""

    @property
    def warnings(self) -> tuple[Doubt, ...]:
        """What a reader must know."""

    def summary(self, *, warnings: bool = True) -> str:
        """Say the result as text."""

    def tables(self) -> dict[str, pd.DataFrame]:
        """Tables by file stem."""

    def figures(self) -> dict[str, Figure]:
        """Figures by file stem."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for analysis.json."""

    def context(self) -> dict[str, Any]:
        """Give what the template ``report/<kind>.html`` shows."""


@runtime_checkable
class Attaches(Protocol):
    """A result with files that are neither figures nor tables."""

    def attachments(self) -> Mapping[str, Content]:
        """Files by name."""
