"""A made-up study in a store, and shorter words for what tests do to it."""

from __future__ import annotations

import hashlib
import threading
from typing import TYPE_CHECKING, Any, get_args

from hypothesis import strategies as st
from sqlalchemy import select

from quem.store import assignment as dealing
from quem.store import studies, work
from quem.store.layouts import Content
from quem.store.models import Base, EventRow, PersonRow, RevisionRow, TaskRow
from quem.store.people import (
    person_named,
    sync_people,
)
from quem.store.planned import Group, JudgingPlan
from quem.store.state import (
    FIELDS,
    LONGEST_COMMENT,
    LONGEST_REASON,
    Comparison,
    Side,
    State,
    Verdict,
)
from quem.store.work import Change, Saved
from quem.studyfile.models import Judge as DeclaredJudge

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from sqlalchemy.orm import Session

    from quem.store.engine import Store
    from quem.store.models import Kind

STUDY = "made-up"
SOLVERS = ("S1", "S2", "S3", "sys")
BEST_FIRST = State(ranked=(("sys",), ("S3", "S2"), ("S1",)))
JUDGES = (
    DeclaredJudge(id="J1", name="Ada Conspicuous", experience=12.5),
    DeclaredJudge(id="J2", name="Bo Conspicuous"),
)
PLAN = JudgingPlan(
    tuple(Group(problem, SOLVERS) for problem in ("P1", "P2", "P3", "P4")),
    practice=Group("P0", SOLVERS[:2]),
    repeat=2,
)


def prepare(store: Store, declared: Sequence[DeclaredJudge] = JUDGES) -> None:
    """Make the study and its judges known to the store."""
    with store.write() as c:
        studies.register_study(c, STUDY)
        sync_people(c, STUDY, "organizer", ())
        sync_people(c, STUDY, "judge", declared)


def made_contents(solvers: Sequence[str], **changed: str) -> dict[str, Content | None]:
    """What the solutions of solvers hold: the solver's id, or what is given."""
    texts = {solver: solver for solver in solvers} | changed
    return {s: Content(hashlib.sha256(text.encode()).hexdigest()) for s, text in texts.items()}


def contents_on_disk(
    study: Path, problem: str, solvers: Sequence[str]
) -> dict[str, Content | None]:
    """What the solutions of solvers hold, where there are files; else as of `made_contents`."""
    files = {s: study.parent / "solutions" / problem / f"{s}.md" for s in solvers}
    on_disk = {s: file.read_text() for s, file in files.items() if file.exists()}
    return made_contents(solvers, **on_disk)


def judge(store: Store, judge_id: str = "J1") -> PersonRow:
    """Find a judge."""
    with store.read() as c:
        return person_named(c, STUDY, "judge", judge_id)


def dealt(store: Store, judge_id: str = "J1", plan: JudgingPlan = PLAN) -> list[TaskRow]:
    """Deal a judge his groups; gives his ballots, with their labels."""
    key = judge(store, judge_id).key
    with store.write() as c:
        dealing.assign_ballots(c, key, plan)
        for held in work.tasks_of(c, key):
            group = plan.find(held)
            if group:
                dealing.assign_labels(c, held, made_contents(group.solvers))
        return work.tasks_of(c, key)


def ballot(store: Store, judge_id: str = "J1", problem: str = "P1", occasion: int = 1) -> TaskRow:
    """Find a ballot of a judge, dealt if he has none yet."""
    held = dealt(store, judge_id)
    return next(b for b in held if (b.problem, b.occasion) == (problem, occasion))


def save(
    store: Store,
    to: TaskRow,
    state: State = BEST_FIRST,
    base: int = 0,
    *,
    client: str = "tab-00000001",
    number: int | None = None,
    kind: Kind = "save",
) -> Saved:
    """Save a state; each base has a number of its own, so that a second save is no retry."""
    change = base + 1 if number is None else number
    with store.write() as c:
        made = Change(revision_id(c, to, base), client, change, to.layout_id or "", state, kind)
        return work.save(c, c.get_one(PersonRow, to.person_key), to.public_id, made)


def revision_id(c: Session, task: TaskRow, number: int) -> str:
    """The id of a revision, as a page has it."""
    mine = RevisionRow.task_key == task.key, RevisionRow.number == number
    found = c.scalars(select(RevisionRow).where(*mine)).one_or_none()
    return found.id if found else str(number)


def revisions(store: Store, of: TaskRow) -> list[dict[str, Any]]:
    """All that is saved of a ballot, in order."""
    mine = select(RevisionRow.__table__).where(RevisionRow.task_key == of.key)
    with store.read() as c:
        return [dict(row) for row in c.execute(mine.order_by(RevisionRow.number)).mappings()]


def events(store: Store) -> list[tuple[str, str, int | None, dict[str, Any]]]:
    """The audit trail: actor, what, judge and detail."""
    columns = select(EventRow.actor, EventRow.what, EventRow.person_key, EventRow.detail)
    with store.read() as c:
        return [tuple(row) for row in c.execute(columns.order_by(EventRow.key))]


def contents(store: Store) -> str:
    """Every value of every table, as text."""
    with store.read() as c:
        rows = [
            row for table in Base.metadata.sorted_tables for row in c.execute(select(table)).all()
        ]
    return "\n".join(map(repr, rows))


def at_once(count: int, work: Callable[[int], object]) -> list[object]:
    """Run something in threads that start together; gives what each returned or raised."""
    together, results = threading.Barrier(count), [None] * count

    def run(number: int) -> None:
        together.wait()
        try:
            results[number] = work(number)  # type: ignore[call-overload]
        except Exception as error:  # noqa: BLE001  the test looks at it
            results[number] = error  # type: ignore[call-overload]

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return list(results)


def _texts(longest: int) -> st.SearchStrategy[str]:
    signs = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
    return st.text(signs, min_size=1, max_size=min(longest, 40)).filter(str.strip)


@st.composite
def states(draw: st.DrawFn, solvers: tuple[str, ...] = SOLVERS, *, done: bool = False) -> State:
    """Draw any state of a block; `done` leaves the tray empty."""
    ranked: list[list[str]] = []
    tray: list[str] = []
    cannot: dict[str, str] = {}
    for solver in draw(st.permutations(solvers)):
        where = draw(st.sampled_from(["new", "tie", "cannot", *([] if done else ["tray"])]))
        if where == "tray":
            tray.append(solver)
        elif where == "cannot":
            cannot[solver] = draw(_texts(LONGEST_REASON))
        elif where == "tie" and ranked:
            ranked[-1].append(solver)
        else:
            ranked.append([solver])
    return State(
        ranked=tuple(map(tuple, ranked)),
        tray=tuple(tray),
        cannot=cannot,
        recognized=tuple(draw(st.lists(st.sampled_from(solvers), unique=True))),
        comments=draw(st.dictionaries(st.sampled_from(solvers), _texts(LONGEST_COMMENT))),
        comment=draw(st.just("") | _texts(LONGEST_COMMENT)),
        comparisons=tuple(draw(st.lists(_comparisons(solvers), max_size=5))),
        placed_by=draw(_choices(solvers, "placed_by")),
        sure=draw(_choices(solvers, "sure")),
        answers=draw(_answers(solvers, st.sampled_from(["yes", "4"]))),
        written=draw(_answers(solvers, _texts(LONGEST_COMMENT))),
    )


def _choices(solvers: tuple[str, ...], name: str) -> st.SearchStrategy[dict[str, Any]]:
    choices = next(field.choices for field in FIELDS if field.name == name)
    return st.dictionaries(st.sampled_from(solvers), st.sampled_from(choices))


def _answers(
    solvers: tuple[str, ...], values: st.SearchStrategy[str]
) -> st.SearchStrategy[dict[str, dict[str, str]]]:
    """Give answers to questions on solutions and on the task."""
    of = st.dictionaries(st.sampled_from(["", *solvers]), values, min_size=1)
    return st.dictionaries(st.sampled_from(["clarity", "how hard"]), of)


@st.composite
def _comparisons(draw: st.DrawFn, solvers: tuple[str, ...]) -> Comparison:
    new, other = draw(st.permutations(solvers))[:2]
    return Comparison(
        new,
        other,
        draw(st.sampled_from(get_args(Verdict))),
        draw(st.sampled_from(get_args(Side))),
        draw(st.floats(0, allow_infinity=False)),
    )
