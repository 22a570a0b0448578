"""A made-up study in a store, and shorter words for what tests do to it."""

from __future__ import annotations

import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, get_args

from hypothesis import strategies as st
from sqlalchemy import select

from quem.store import assignment, studies, work
from quem.store.database import open_store
from quem.store.layouts import Content
from quem.store.location import locate_database
from quem.store.models import Base, EventRow, PersonRow, RevisionRow, TaskRow
from quem.store.people import people_of, person_named, sync_people
from quem.store.planned import Group, JudgingPlan
from quem.store.state import FIELDS, Comparison, Side, State, Verdict
from quem.store.work import Change, Saved
from quem.studyfile.models import Judge as DeclaredJudge
from quem.studyfile.reading import read_study

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from sqlalchemy.orm import Session

    from quem.store.database import Store
    from quem.store.models import Kind, Life, Role
    from quem.store.state import AnswerState

P = ParamSpec("P")
T = TypeVar("T")
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


def write(
    store: Store, do: Callable[Concatenate[Session, P], T], *args: P.args, **more: P.kwargs
) -> T:
    with store.write() as c:
        return do(c, *args, **more)


def read(
    store: Store, do: Callable[Concatenate[Session, P], T], *args: P.args, **more: P.kwargs
) -> T:
    with store.read() as c:
        return do(c, *args, **more)


def on(
    store: Store,
    who: str | tuple[Role, str],
    do: Callable[Concatenate[Session, PersonRow, P], T],
    *args: P.args,
    **more: P.kwargs,
) -> T:
    """Call something on a person, by role and id, or by the id of a judge."""
    of: tuple[Role, str] = ("judge", who) if isinstance(who, str) else who
    with store.write() as c:
        return do(c, person_named(c, STUDY, *of), *args, **more)


def prepare(store: Store, declared: Sequence[DeclaredJudge] = JUDGES) -> None:
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
    return read(store, person_named, STUDY, "judge", judge_id)


def dealt(store: Store, judge_id: str = "J1", plan: JudgingPlan = PLAN) -> list[TaskRow]:
    """Deal a judge his groups; gives his ballots, with their labels."""
    key = judge(store, judge_id).key
    with store.write() as c:
        assignment.assign_ballots(c, key, plan)
        for held in work.tasks_of(c, key):
            if group := plan.find(held):
                assignment.assign_labels(c, held, made_contents(group.solvers))
        return work.tasks_of(c, key)


def ballot(store: Store, judge_id: str = "J1", problem: str = "P1") -> TaskRow:
    held = read(store, work.tasks_of, judge(store, judge_id).key) or dealt(store, judge_id)
    return next(b for b in held if (b.problem, b.occasion) == (problem, 1))


def save(
    store: Store,
    to: TaskRow,
    state: State | AnswerState = BEST_FIRST,
    base: int = 0,
    *,
    client: str = "tab-00000001",
    number: int | None = None,
    kind: Kind = "save",
    by: PersonRow | None = None,
) -> Saved:
    """Save a state; each base has a number of its own, so that a second save is no retry."""
    change = base + 1 if number is None else number
    with store.write() as c:
        mine = RevisionRow.task_key == to.key, RevisionRow.number == base
        found = c.scalars(select(RevisionRow).where(*mine)).one_or_none()
        of = found.id if found else str(base)
        made = Change(of, client, change, to.layout_id or "", state, kind)
        return work.save(c, by or c.get_one(PersonRow, to.person_key), to.public_id, made)


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
    tables = Base.metadata.sorted_tables
    with store.read() as c:
        return "\n".join(repr(row) for table in tables for row in c.execute(select(table)))


def at_once(count: int, work: Callable[[int], object]) -> list[object]:
    """Run something in threads that start together; gives what each returned or raised."""
    together = threading.Barrier(count)

    def run(number: int) -> object:
        together.wait()
        try:
            return work(number)
        except Exception as error:  # noqa: BLE001  the test looks at it
            return error

    with ThreadPoolExecutor(count) as pool:
        return [*pool.map(run, range(count))]


# One a judge.
STATES = (
    State(
        ranked=(("S3",), ("sys", "S2"), ("S1",), ("S0",)),
        comparisons=(
            Comparison("S2", "S0", "better", "left", 30.0),
            Comparison("S1", "S2", "worse", "right", 12.5),
            Comparison("S1", "S0", "better", "right", 4.0),
            Comparison("sys", "S2", "equal", "left", 61.2),
        ),
        placed_by={**dict.fromkeys(("S1", "S2", "sys"), "compare"), "S3": "drag"},
        sure={"sys": "unsure"},
    ),
    State(ranked=(("S3",), ("S2",)), cannot={"S0": "torn", "S1": "torn", "sys": "in Greek"}),
    State(
        ranked=(("sys",), ("S3",), ("S1", "S0", "S2")),
        recognized=("S1", "sys"),
        comments={"S1": "a private word"},
    ),
)


def hold_session(
    study: Path,
    database: str | None = None,
    *,
    solvers: Sequence[str] = ("S0", "S1", "S2", "S3", "sys"),
    states: Sequence[State] = STATES,
) -> Store:
    """Let each judge of a study submit each group in his own order; gives the open store."""
    solvers = tuple(solvers)
    spec = read_study(study)
    store = open_store(locate_database(study, database))
    groups = tuple(Group(problem.id, solvers) for problem in spec.problems)
    plan = JudgingPlan(groups, Group("P0-practice", solvers), spec.judging.repeat)
    with store.write() as c:
        studies.register_study(c, spec.id)
        sync_people(c, spec.id, "judge", spec.judges)
        for judge, state in zip(people_of(c, spec.id, "judge"), states, strict=False):
            assignment.assign_ballots(c, judge.key, plan)
            for ballot in work.tasks_of(c, judge.key):
                on_disk = contents_on_disk(study, ballot.problem, solvers)
                shown = assignment.assign_labels(c, ballot, on_disk)
                assert shown.layout is not None
                base, layout = shown.revision, shown.layout.id
                kinds: tuple[Kind, ...] = ("save", "submit")
                for number, kind in enumerate(kinds):
                    change = work.Change(base, "tab-12345678", number, layout, state, kind)
                    base = work.save(c, judge, shown.public_id, change).revision
    return store


def close(study: Path, database: str | None = None, *, state: Life = "closed") -> None:
    """Close a session, or open it."""
    store = open_store(locate_database(study, database))
    with store.write() as c:
        studies.set_state(c, read_study(study).id, state, "shell")
    store.close()


_SIGNS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
_TEXTS = st.text(_SIGNS, min_size=1, max_size=40).filter(str.strip)


@st.composite
def states(draw: st.DrawFn, solvers: tuple[str, ...] = SOLVERS, *, done: bool = False) -> State:
    ranked: list[list[str]] = []
    tray: list[str] = []
    cannot: dict[str, str] = {}
    for solver in draw(st.permutations(solvers)):
        where = draw(st.sampled_from(["new", "tie", "cannot", *([] if done else ["tray"])]))
        if where == "tray":
            tray.append(solver)
        elif where == "cannot":
            cannot[solver] = draw(_TEXTS)
        elif where == "tie" and ranked:
            ranked[-1].append(solver)
        else:
            ranked.append([solver])
    one, choices = st.sampled_from(solvers), {field.name: field.choices for field in FIELDS}
    pair = st.permutations(solvers).map(lambda order: order[:2])
    answer = (
        pair,
        *(st.sampled_from(get_args(of)) for of in (Verdict, Side)),
        st.floats(0, allow_infinity=False),
    )
    answers = st.tuples(*answer).map(lambda drawn: Comparison(*drawn[0], *drawn[1:]))

    def replies(values: st.SearchStrategy[str]) -> dict[str, dict[str, str]]:
        of = st.dictionaries(st.sampled_from(["", *solvers]), values, min_size=1)
        return draw(st.dictionaries(st.sampled_from(["clarity", "how hard"]), of))

    return State(
        ranked=tuple(map(tuple, ranked)),
        tray=tuple(tray),
        cannot=cannot,
        recognized=tuple(draw(st.lists(one, unique=True))),
        comments=draw(st.dictionaries(one, _TEXTS)),
        comment=draw(st.just("") | _TEXTS),
        comparisons=tuple(draw(st.lists(answers, max_size=5))),
        placed_by=draw(st.dictionaries(one, st.sampled_from(choices["placed_by"]))),
        sure=draw(st.dictionaries(one, st.sampled_from(choices["sure"]))),
        answers=replies(st.sampled_from(["yes", "4"])),
        written=replies(_TEXTS),
    )
