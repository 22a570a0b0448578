"""Recomputing all that is chained in a store: what was changed since is named."""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from quem.store.chains import (
    event_link,
    head_entry,
    heads_digest,
    judge_digest,
    revision_link,
    words_digest,
)
from quem.store.layouts import Layout, layout_id
from quem.store.models import BallotRow, EventRow, JudgeRow, RevisionRow, StudyRow
from quem.store.models import Layout as LayoutRow
from quem.store.state import InvalidStateError, State, without_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sqlalchemy import Connection

Row = Any  # a mapping of columns
_ROWS_AT_ONCE = 1000
_KINDS = {"save": "saved", "submit": "submitted", "reopen": "reopened"}


@dataclass(frozen=True)
class Held:
    """All rows of a study that are chained."""

    study: Row
    judges: Sequence[Row]
    ballots: Sequence[Row]
    layouts: Sequence[Row]
    revisions: Iterable[Row]  # those of each ballot in the order of their numbers
    events: Sequence[Row]  # in their order


@dataclass(frozen=True)
class Break:
    """The first thing in a chain that does not fit."""

    message: str  # where it is, and what does not fit
    row: Row  # the row that shows it


@dataclass(frozen=True)
class Verified:
    """What a verification found."""

    # Ballots with revisions, revisions, seals, and revisions that are newer than the last seal
    tasks: int
    revisions: int
    seals: int
    unsealed: int
    heads: tuple[str, ...]  # the links of all events, the newest last
    breaks: tuple[Break, ...]  # one for each chain that is broken


def held_in(c: Connection, study_id: str) -> Held:
    """Read a study's rows from a store; revisions are read as they are asked for."""
    judges = select(JudgeRow.key).where(JudgeRow.study_id == study_id)
    ballots = select(BallotRow.key).where(BallotRow.judge_key.in_(judges))

    def rows(model: Any, *where: Any) -> Any:  # noqa: ANN401  tables and conditions
        query = select(model.__table__).where(*where).order_by(*_order(model))
        return c.execute(query.execution_options(yield_per=_ROWS_AT_ONCE))

    return Held(
        study=rows(StudyRow, StudyRow.id == study_id).mappings().one(),
        judges=rows(JudgeRow, JudgeRow.study_id == study_id).mappings().all(),
        ballots=rows(BallotRow, BallotRow.judge_key.in_(judges)).mappings().all(),
        layouts=rows(LayoutRow, LayoutRow.ballot_key.in_(ballots)).mappings().all(),
        revisions=rows(RevisionRow, RevisionRow.ballot_key.in_(ballots)).mappings(),
        events=rows(EventRow, EventRow.study_id == study_id).mappings().all(),
    )


def _order(model: Any) -> tuple[Any, ...]:  # noqa: ANN401  a table and its columns
    if model is RevisionRow:
        return RevisionRow.ballot_key, RevisionRow.number
    return (model.id if model is StudyRow else model.key,)


def verify(content: Held) -> Verified:
    """Recompute every digest and link of a study."""
    judges = {row["key"]: row for row in content.judges}
    erased = _Erased.by(content.events)
    breaks = [Break(m, row) for row in content.judges for m in _check_judge(row, erased)]
    tasks = {row["key"]: _Task(row, judges[row["judge_key"]], erased) for row in content.ballots}
    for row in content.layouts:
        tasks[row["ballot_key"]].show(content.study["secret"], row)
    for row in content.revisions:
        tasks[row["ballot_key"]].add(row)
    replay = Replay(content.study)
    broken = _first_broken_event(content.events, judges)
    for event in content.events[: broken and broken[0]]:
        replay.take(event)
    by_id = {task.row["public_id"]: task for task in tasks.values()}
    for task in tasks.values():
        task.end(replay.sealed.get(task.row["public_id"], []))
    breaks += [task.first for task in tasks.values() if task.first]
    if broken:
        breaks.append(Break(broken[1], content.events[broken[0]]))
    else:
        ends = replay.ends({name: task.row["sealed"] for name, task in by_id.items()})
        breaks += [Break(message, row or content.study) for message, row in ends]
    known = {name: min(replay.number(name), len(task.links)) for name, task in by_id.items()}
    return Verified(
        tasks=sum(bool(task.links) for task in tasks.values()),
        revisions=sum(len(task.links) for task in tasks.values()),
        seals=sum(event["what"] == "sealed" for event in content.events),
        unsealed=sum(len(task.links) - known[name] for name, task in by_id.items()),
        heads=tuple(event["link"] for event in content.events),
        breaks=tuple(breaks),
    )


def _first_broken_event(events: Sequence[Row], judges: Mapping[int, Row]) -> tuple[int, str] | None:
    """Give the place of the first event that does not fit, and why."""
    before = ""
    for place, event in enumerate(events):
        judge = judges.get(event["judge_key"])
        if event["link"] != event_link(before, event, judge and judge["id_digest"]):
            message = (
                f"event {place + 1} ({event['what']}, {event['made_at']:%Y-%m-%d %H:%M:%S} UTC) "
                "does not match its link: it was changed, or an event before it was changed, "
                "removed, or inserted"
            )
            return place, message
        before = event["link"]
    return None


@dataclass(frozen=True)
class _Erased:
    """What the events say was erased: links of revisions, and keys of judges."""

    links: frozenset[str]
    judges: frozenset[int]

    @classmethod
    def by(cls, events: Iterable[Row]) -> _Erased:
        forgotten = [event for event in events if event["what"] == "judge-forgotten"]
        named = [event["detail"].get("links") or () for event in forgotten]
        links = (str(link) for some in named if isinstance(some, list | tuple) for link in some)
        return cls(frozenset(links), frozenset(event["judge_key"] for event in forgotten))


def _check_judge(judge: Row, erased: _Erased) -> Iterator[str]:
    if judge["id_salt"] is None:
        if judge["key"] not in erased.judges:
            yield f"judge {judge['id']}: is unnamed, and no event says that they were erased"
    elif judge["id_digest"] != judge_digest(judge["id_salt"], judge["id"]):
        yield f"judge {judge['id']}: the id does not match its digest: one of them was changed"


def task_named(judge: str, ballot: Mapping[str, Any]) -> str:
    """Name a task by its judge, problem, block and occasion."""
    again = f", occasion {ballot['occasion']}" if ballot["occasion"] > 1 else ""
    return f"task of judge {judge}, problem {ballot['problem']}, block {ballot['block']}{again}"


@dataclass
class _Task:
    """The chain of one ballot, as far as it was read, and the first thing that does not fit."""

    row: Row
    judge: Row
    erased: _Erased
    layouts: dict[str, Layout] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)
    submitted: int | None = None
    first: Break | None = None

    def tell(self, message: str, row: Row) -> None:
        if self.first is None:
            self.first = Break(f"{task_named(self.judge['id'], self.row)}: {message}", row)

    def show(self, secret: str, row: Row) -> None:
        """Take one of its layouts."""
        try:
            layout = Layout.stored(row["id"], row["items"])
        except TypeError:
            layout = Layout("", ())
        if layout_id(secret, self.row["public_id"], layout.items) != row["id"]:
            message = (
                f"the layout that was shown from {row['made_at']:%Y-%m-%d %H:%M:%S} UTC does not "
                "match its id: a letter, a solver, or a digest was changed"
            )
            self.tell(message, row)
        self.layouts[row["id"]] = layout

    def add(self, row: Row) -> None:
        """Take its next revision."""
        if self.first is None and (wrong := next(self._wrong(row), None)):
            self.tell(wrong, row)
        self.links.append(row["link"])
        if row["kind"] == "submit":
            self.submitted = row["number"]

    def _wrong(self, row: Row) -> Iterator[str]:
        number, expected = row["number"], len(self.links) + 1
        if number != expected:
            yield f"revision {expected} is missing; revision {number} is in its place"
        layout = self.layouts.get(row["layout"])
        if layout is None:
            yield f"revision {number}: the layout that it was made on is missing"
        try:
            State.parse(row["state"], layout.letters if layout else ())
        except InvalidStateError as error:
            yield f"revision {number}: is not a ranking of what was shown ({error})"
            return
        before = self.links[-1] if self.links else ""
        if row["link"] != revision_link(before, row, self.row, self.judge["id_digest"]):
            yield (
                f"revision {number} does not match its link: the revision or its task was "
                "changed, or a revision before it was changed, removed, or inserted"
            )
        yield from self._wrong_words(row)

    def _wrong_words(self, row: Row) -> Iterator[str]:
        number, salt = row["number"], row["words_salt"]
        if salt is not None:
            if row["words_digest"] != words_digest(salt, row["state"]):
                yield f"revision {number}: its comments or reasons were changed"
        elif row["link"] not in self.erased.links:
            yield f"revision {number}: its words are gone, and no event says they were erased"
        elif row["state"] != without_words(row["state"]):
            yield f"revision {number}: has comments or reasons, although its words were erased"

    def end(self, sealed: Sequence[tuple[int, str, Row]]) -> None:
        """Compare the chain with what the ballot and the seals say of it."""
        count, row = len(self.links), self.row
        for number, link, event in sealed:
            when = f"{event['made_at']:%Y-%m-%d %H:%M:%S} UTC"
            if number > count:
                self.tell(f"revision {number}, which was sealed on {when}, is missing", row)
            elif self.links[number - 1] != link:
                self.tell(f"revision {number} is not the one that was sealed on {when}", row)
        if row["head"] != count:
            self.tell(f"has {count} revisions, and the task says {row['head']}", row)
        if row["submitted"] != self.submitted:
            claim, actual = row["submitted"] or "none", self.submitted or "none"
            self.tell(f"the last submitted revision is {actual}, and the task says {claim}", row)
        if row["layout"] is not None and row["layout"] not in self.layouts:
            self.tell("the layout that it has now is missing", row)


def find_receipt(c: Connection, study_id: str, code: str) -> list[str]:
    """Say of which revision a receipt is, and whether it is the newest of its task."""
    rows = c.execute(
        select(
            *(JudgeRow.id, BallotRow.problem, BallotRow.block, BallotRow.occasion, BallotRow.head),
            *(RevisionRow.number, RevisionRow.kind, RevisionRow.made_at),
        )
        .join(BallotRow, BallotRow.judge_key == JudgeRow.key)
        .join(RevisionRow, RevisionRow.ballot_key == BallotRow.key)
        .where(JudgeRow.study_id == study_id, RevisionRow.link.startswith(code))
    ).mappings()
    sentences = []
    for row in rows:
        newest = "the newest" if row["number"] == row["head"] else f"{row['head']} is the newest"
        sentences.append(
            f"revision {row['number']} ({newest}) of the {task_named(row['id'], {**row})}, "
            f"{_KINDS[row['kind']]} on {row['made_at']:%Y-%m-%d %H:%M:%S} UTC"
        )
    return sentences or _discarded(c, study_id, code)


def _discarded(c: Connection, study_id: str, code: str) -> list[str]:
    trials = EventRow.study_id == study_id, EventRow.what == "trial-discarded"
    return [
        f"a trial ranking that was discarded on {at:%Y-%m-%d %H:%M:%S} UTC"
        for at, detail in c.execute(select(EventRow.made_at, EventRow.detail).where(*trials))
        for _, link in detail.get("ballots", {}).values()
        if link.startswith(code)
    ]


Named = dict[str, tuple[int, str]]


class Replay:
    """What follows from the events so far."""

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
        if what in ("open", "paused", "closed"):
            self._state = what
        elif what == "revealed":
            self._revealed = True
        elif what == "sealed":
            self._seal(event)
        elif what == "trial-discarded":
            self._discard(event)

    def ends(self, sealed: Mapping[str, int]) -> Iterator[tuple[str, Row | None]]:
        """Say the first thing that does not fit at the end, and the event that shows it, if any."""
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
        ballots = event["detail"]["ballots"].items()
        return {name: (max(int(number), 1), str(link)) for name, (number, link) in ballots}
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
