"""Replaying the events of a study: what its seals say, and whether its state follows from them."""

from __future__ import annotations

from bisect import insort
from typing import TYPE_CHECKING, Any

from quem.store.chains import head_entry, heads_digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Replay"]

Row = Any  # a mapping of columns
Named = dict[str, tuple[int, str]]


class Replay:
    """What follows from the events so far.

    Parameters
    ----------
    study : mapping
        The row of the study, which is compared with it at the end.
    """

    def __init__(self, study: Row) -> None:
        self._study = study
        self._state = "trial"
        self._revealed = False
        self._wrong: tuple[str, Row] | None = None
        self._ids: list[str] = []
        self._entries: dict[str, bytes] = {}
        self.sealed: dict[str, list[tuple[int, str, Row]]] = {}

    def number(self, ballot: str) -> int:
        """Give the number of a ballot's newest revision that is sealed; 0 where none is."""
        return self.sealed[ballot][-1][0] if ballot in self.sealed else 0

    def take(self, event: Row) -> None:
        """Take the next event."""
        what = event["what"]
        if what in ("open", "closed"):
            self._state = what
        elif what == "revealed":
            self._revealed = True
        elif what == "sealed":
            self._seal(event)
        elif what == "trial-discarded":
            self._discard(event)

    def ends(self, sealed: Mapping[str, int]) -> Iterator[tuple[str, Row | None]]:
        """Say the first thing that does not fit at the end, and the event that shows it, if any.

        Parameters
        ----------
        sealed : mapping of str to int
            What each ballot of the store says of its newest sealed revision.
        """
        if self._wrong:
            yield self._wrong
        elif gone := next((name for name in self.sealed if name not in sealed), None):
            event = self.sealed[gone][-1][2]
            yield f"{_named_in(event)} names a task {gone} that is missing", event
        elif any(number != self.number(name) for name, number in sealed.items()):
            yield "events are missing at the end: revisions were sealed, and no event says so", None
        elif self._study["state"] != self._state:
            state = self._study["state"]
            yield f"the study is {state}, and its events say that it is {self._state}", None
        elif (self._study["revealed_at"] is not None) != self._revealed:
            yield "the events do not agree with the study on whether it was revealed", None

    def _tell(self, message: str, event: Row) -> None:
        self._wrong = self._wrong or (f"{_named_in(event)} {message}", event)

    def _seal(self, event: Row) -> None:
        named = _named(event)
        if named is None:
            self._tell("does not say what it sealed", event)
            return
        for name, (number, link) in named.items():
            self.sealed.setdefault(name, []).append((number, link, event))
            if name not in self._entries:
                insort(self._ids, name)
            self._entries[name] = head_entry(name, number, link)
        if event["detail"].get("heads") != heads_digest(self._entries[n] for n in self._ids):
            self._tell("does not follow from the seals before it", event)

    def _discard(self, event: Row) -> None:
        """Let go of the ballots of the trial."""
        named = _named(event) or {}
        if self._state != "trial":
            self._tell("discarded rankings after the study was opened", event)
        for name, seals in self.sealed.items():
            last, link, _ = seals[-1]
            number, newest = named.get(name, (0, ""))
            if number < last or (number == last and newest != link):
                self._tell(f"names another revision of task {name} than was sealed", event)
        self.sealed, self._entries, self._ids = {}, {}, []
        self._revealed = False


def _named_in(event: Row) -> str:
    return f"the event {event['what']} of {event['made_at']:%Y-%m-%d %H:%M:%S} UTC"


def _named(event: Row) -> Named | None:
    """Number and link of the newest revision of each ballot that an event names."""
    try:
        found = event["detail"]["ballots"].items()
        return {name: (max(int(number), 1), str(link)) for name, (number, link) in found}
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
