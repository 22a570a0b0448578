"""The seal of a study as an analysis states it, and each thing that is not as it was sealed."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from quem.sealing.record import flat, is_same

if TYPE_CHECKING:
    from collections.abc import Mapping

# Which names of the record name people.
_PERSONAL = {"solver", "judge", "solution", "ranking", "seal", "log"}


@dataclass(frozen=True)
class Deviation:
    """Something that is not as it was sealed."""

    # Such as "setting" or "solution"; "seal", "log", and "ranking" for what was tampered with.
    kind: str
    name: str  # of what differs; may be empty
    message: str  # what differs
    when: str  # whether it is known to be from before rankings were revealed
    reason: str = ""  # as given when the study was sealed again; may be empty

    @property
    def text(self) -> str:
        """One sentence without its period."""
        name = f" {self.name}" if self.name else ""
        why = f" (reason given: {self.reason})" if self.reason else ""
        return f"{self.kind}{name}: {self.message}, {self.when} rankings were revealed{why}"

    def without_name(self) -> Deviation:
        """Give it without the ids of people."""
        if self.kind not in _PERSONAL:
            return self
        message = self.message if self.kind in ("solver", "judge", "solution") else "was changed"
        return replace(self, name="", message=message, reason="")


@dataclass(frozen=True)
class Seal:
    """The seal of a study, and what is not as it was sealed."""

    # In UTC, such as ``2027-03-02T09:00:00.000000Z``; empty where the record is gone.
    sealed_at: str
    hash: str  # of the first record
    settings: dict[str, Any]  # of the analysis, as sealed
    revealed_at: str  # when rankings could first be seen; empty where they could not
    deviations: tuple[Deviation, ...]
    # Whether the study is a copy without names, which has digests for solutions and texts.
    is_redacted: bool = False

    @property
    def headline(self) -> str:
        """What a report opens with."""
        on = f"Sealed on {self.sealed_at[:10]}" if self.sealed_at else "Sealed, record missing"
        count = len(self.deviations)
        if not count:
            return f"{on}; no deviations"
        return f"{on}; {count} deviation{'' if count == 1 else 's'}"

    @property
    def note(self) -> str:
        """What a reader has to know of a copy; empty otherwise."""
        if not self.is_redacted:
            return ""
        return "This is a copy without names; it has digests for solutions and texts."

    @property
    def texts(self) -> list[str]:
        """A sentence for each deviation."""
        return [one.text for one in self.deviations]

    def with_asked(self, settings: Mapping[str, Any], *, without_machines: bool) -> Seal:
        """Add what an analysis was asked for other than sealed."""
        known = {(one.kind, one.name) for one in self.deviations}
        when = "after" if self.revealed_at else "before"
        more = [
            Deviation("setting", name, f"{self.settings.get(name)!r} is now {value!r}", when)
            for name, value in settings.items()
            if self.settings and not self._has(name, value)
            if ("setting", name) not in known
        ]
        if without_machines:
            more.append(Deviation("judge", "", "machine judges were left out", when))
        return replace(self, deviations=(*self.deviations, *more))

    def _has(self, name: str, value: Any) -> bool:  # noqa: ANN401  of any setting
        sealed = flat({"settings": self.settings}).get(("settings", name))
        return is_same(("settings", name), sealed, json.dumps(value, ensure_ascii=False))

    def without_names(self) -> Seal:
        """Give it without the ids of people, for output with pseudonyms."""
        return replace(self, deviations=tuple(one.without_name() for one in self.deviations))
