"""Cases and queries: attributes by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Case", "CaseBase", "Value", "named_only"]

Value = float | str | None


class Case(dict[str, Any]):
    """A case or a query: its attributes by name, and its id.

    Parameters
    ----------
    attributes : mapping of str to float, str or None
        None where the value is missing.
    """

    __slots__ = ("id",)

    def __init__(self, id: str, attributes: Mapping[str, Any] | Iterable[Any] = ()) -> None:  # noqa: A002  what else is it
        super().__init__(attributes)
        self.id = id

    def __repr__(self) -> str:
        """As it is made."""
        return f"Case({self.id!r}, {super().__repr__()})"

    def __reduce__(self) -> tuple[type[Case], tuple[str, dict[str, Any]]]:
        """Let a case be copied and sent to another process with its id."""
        return Case, (self.id, dict(self))


@dataclass(frozen=True)
class CaseBase:
    """Cases, each with an id, in the order of their file.

    Parameters
    ----------
    name : str
        The file as the user named it; empty where the ids alone are known.
    attributes : tuple of str
        The names of all attributes.
    columns : dict of str to list
        The values of an attribute, in the order of the ids.
    solution : tuple of str
        Those attributes that are the outcome of a case.
    ignored : tuple of str
        Columns that are not attributes.
    """

    name: str
    ids: tuple[str, ...]
    attributes: tuple[str, ...] = ()
    columns: dict[str, list[Any]] = field(default_factory=dict, repr=False)
    solution: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Count the cases."""
        return len(self.ids)

    @cached_property
    def index(self) -> dict[str, int]:
        """The place of each id."""
        return {name: place for place, name in enumerate(self.ids)}

    @cached_property
    def problem(self) -> tuple[str, ...]:
        """The attributes that describe a case, without its solution."""
        return tuple(name for name in self.attributes if name not in self.solution)

    def case(self, place: int, *, solved: bool = True) -> Case:
        """Make a case, new each time, so that nobody can spoil it for others.

        Parameters
        ----------
        solved : bool
            Whether the solution is part of it.
        """
        names = self.attributes if solved else self.problem
        return Case(self.ids[place], {name: self.columns[name][place] for name in names})

    def cases(self) -> dict[str, Case]:
        """Make all cases, by id."""
        return {name: self.case(place) for place, name in enumerate(self.ids)}


def named_only(ids: Iterable[str]) -> CaseBase:
    """Make a case base of ids alone, each once."""
    return CaseBase("", tuple(dict.fromkeys(ids)))
