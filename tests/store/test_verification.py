"""What is chained can be recomputed, and whatever was changed since is named."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import delete, insert, select, update

from quem.errors import QuemError
from quem.store import judges, studies
from quem.store.assignment import assign_labels
from quem.store.ballots import NotAssignedError, Saved
from quem.store.chains import event_link, revision_link
from quem.store.events import record, seal
from quem.store.models import BallotRow, EventRow, JudgeRow, Layout, RevisionRow, StudyRow
from quem.store.state import State
from quem.store.verification import find_receipt, held_in, verify
from quem.study.models import Judge as DeclaredJudge
from tests.patience import SECONDS
from tests.store.made import (
    SOLVERS,
    STUDY,
    at_once,
    ballot,
    dealt,
    judge,
    made_contents,
    prepare,
    revisions,
    save,
    verified,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from quem.store.ballots import AssignedBallot
    from quem.store.engine import Store
    from quem.store.verification import Verified

WRITTEN = State(
    ranked=(("S1",), ("S2", "sys")), cannot={"S3": "torn"}, comments={"S1": "naïve 🙂"}, comment="ü"
)


@pytest.fixture
def session(store: Store) -> Store:
    """A store in which J1 saved, submitted and reopened, and J2 was erased; most is sealed."""
    with store.write() as c:
        studies.set_state(c, STUDY, "open", "shell")
    mine, other = ballot(store), ballot(store, "J2")
    save(store, mine, WRITTEN)
    save(store, mine, base=1, kind="submit")
    save(store, mine, base=2, kind="reopen")
    save(store, other, WRITTEN, kind="submit")
    _seal(store, "submit")
    save(store, mine, WRITTEN, base=3)
    _forget(store, "J2")
    _seal(store, "minute")
    save(store, mine, base=4, kind="submit")
    with store.write() as c:
        assign_labels(c, mine, made_contents(SOLVERS, S1="another"))
    return store


def _seal(store: Store, why: str) -> None:
    with store.write() as c:
        seal(c, STUDY, why)


def _forget(store: Store, person: str) -> None:
    with store.write() as c:
        judges.erase_judge(c, judges.judge_named(c, STUDY, person), "shell")


def test_what_was_stored_verifies(session: Store) -> None:
    """Nothing is broken, and what is not sealed yet is counted, until it is."""
    result = verified(session)
    assert result.breaks == ()
    assert (result.tasks, result.revisions, result.seals, result.unsealed) == (2, 6, 2, 1)
    _seal(session, "stop")
    # Nothing is newer: a minute leaves no event, a start does.
    _seal(session, "minute")
    assert (verified(session).seals, verified(session).unsealed) == (3, 0)
    _seal(session, "start")
    assert verified(session).heads[:-2] == result.heads
    assert verified(session).breaks == ()


def _number(mine: AssignedBallot, number: int) -> Any:  # noqa: ANN401  a condition
    return (RevisionRow.ballot_key == mine.key) & (RevisionRow.number == number)


def _change(model: Any, where: Any, **values: Any) -> Callable[[Connection], object]:  # noqa: ANN401
    return lambda c: c.execute(update(model).where(where).values(**values))


def _remove(model: Any, where: Any) -> Callable[[Connection], object]:  # noqa: ANN401
    return lambda c: c.execute(delete(model).where(where))


def _both(*steps: Callable[[Connection], object]) -> Callable[[Connection], object]:
    return lambda c: [step(c) for step in steps]


def _insert(model: Any, row: Any, **other: Any) -> Callable[[Connection], object]:  # noqa: ANN401
    return lambda c: c.execute(insert(model).values({**row, "key": 999, **other}))


def _forgeries(store: Store) -> dict[str, tuple[Callable[[Connection], object], str]]:
    """What a forger might do, and what is said of it."""
    mine, other = ballot(store), _ballot_of_erased(store)
    rows = revisions(store, mine)
    with store.read() as c:
        events = c.execute(select(EventRow.__table__).order_by(EventRow.key)).mappings().all()
        digest = judges_digest(c, mine)
    reversed_order = {**rows[1]["state"], "ranked": rows[1]["state"]["ranked"][::-1]}
    forged = {**rows[1], "state": reversed_order}
    links = [rows[0]["link"]]
    for row in (forged, *rows[2:]):
        links.append(revision_link(links[-1], row, vars(mine), digest))
    words = {**rows[3]["state"], "comment": "another"}
    erased = {**revisions(store, other)[0]["state"], "comment": "never said"}
    later = rows[1]["made_at"].replace(microsecond=(rows[1]["made_at"].microsecond + 1) % 10**6)
    items = [list(item) for item in _items(mine)]
    first, last = events[0], events[-1]
    of_first = Layout.id == rows[0]["layout"]
    task = r"task of judge J1, problem P1, block 1: "
    return {
        "order": (
            _change(RevisionRow, _number(mine, 2), state=reversed_order),
            f"{task}revision 2 ",
        ),
        "time": (_change(RevisionRow, _number(mine, 2), made_at=later), f"{task}revision 2 "),
        "kind": (_change(RevisionRow, _number(mine, 4), kind="submit"), f"{task}revision 4 "),
        "lost": (
            _change(RevisionRow, _number(mine, 3), state=State().to_json()),
            f"{task}revision 3: is not a ranking",
        ),
        "words": (
            _change(RevisionRow, _number(mine, 4), state=words),
            f"{task}revision 4: its comments or reasons were changed",
        ),
        "unsaid": (
            _change(RevisionRow, _number(mine, 1), words_salt=None),
            f"{task}revision 1: its words are gone",
        ),
        "said": (
            _change(RevisionRow, _number(other, 1), state=erased),
            "forgotten-1, problem P1, block 1: revision 1: has comments",
        ),
        "removed": (_remove(RevisionRow, _number(mine, 2)), f"{task}revision 2 is missing"),
        "renumbered": (
            _both(
                _remove(RevisionRow, _number(mine, 2)),
                _change(RevisionRow, _number(mine, 3), number=2),
            ),
            f"{task}revision 2 does not match its link",
        ),
        "reordered": (
            _both(
                _change(RevisionRow, _number(mine, 2), number=99),
                _change(RevisionRow, _number(mine, 3), number=2),
                _change(RevisionRow, _number(mine, 99), number=3),
            ),
            f"{task}revision 2 does not match its link",
        ),
        "inserted": (
            _both(
                _insert(RevisionRow, rows[4], number=6),
                _change(BallotRow, BallotRow.key == mine.key, head=6, submitted=6),
            ),
            f"{task}revision 6 does not match its link",
        ),
        "cut": (_remove(RevisionRow, _number(mine, 5)), f"{task}has 4 revisions, .* says 5"),
        "cut-sealed": (
            _both(
                _remove(
                    RevisionRow, (RevisionRow.ballot_key == mine.key) & (RevisionRow.number > 3)
                ),
                _change(BallotRow, BallotRow.key == mine.key, head=3, submitted=2),
            ),
            f"{task}revision 4, which was sealed on .*, is missing",
        ),
        "made-anew": (
            _both(
                _change(RevisionRow, _number(mine, 2), state=forged["state"], link=links[1]),
                *(_change(RevisionRow, _number(mine, n), link=links[n - 1]) for n in (3, 4, 5)),
            ),
            f"{task}(revision 2: its words|revision 3 is not the one that was sealed)",
        ),
        "submitted": (
            _change(BallotRow, BallotRow.key == mine.key, submitted=2),
            f"{task}the last submitted revision is 5, and the task says 2",
        ),
        "problem": (
            _change(BallotRow, BallotRow.key == mine.key, problem="P99"),
            "problem P99, block 1: revision 1 does not match its link",
        ),
        "digest": (
            _change(Layout, of_first, items=[[*items[0][:2], "0" * 64, "0" * 64], *items[1:]]),
            f"{task}the layout that was shown from .* does not match its id",
        ),
        "letters": (
            _change(Layout, of_first, items=[[*items[1][:1], *items[0][1:]], *items[1:]]),
            f"{task}the layout that was shown from ",
        ),
        "nonsense": (_change(Layout, of_first, items=[[1]]), f"{task}the layout that was shown"),
        "no-layout": (
            _remove(Layout, of_first),
            f"{task}revision 1: the layout that it was made on is missing",
        ),
        "judge": (
            _change(JudgeRow, JudgeRow.id == "J1", id="J7"),
            "judge J7: the id does not match",
        ),
        "unnamed": (_change(JudgeRow, JudgeRow.id == "J1", id_salt=None), "judge J1: is unnamed"),
        "task": (
            _both(
                *(_remove(table, table.ballot_key == mine.key) for table in (RevisionRow, Layout)),
                _remove(BallotRow, BallotRow.key == mine.key),
            ),
            "the event sealed of .* names a task .* that is missing",
        ),
        "event": (
            _change(EventRow, EventRow.key == first["key"], detail={"before": "closed"}),
            r"event 1 \(open, .*\) does not match its link",
        ),
        "event-removed": (
            _remove(EventRow, EventRow.key == events[1]["key"]),
            r"event 2 \(judge-forg",
        ),
        "event-inserted": (_insert(EventRow, last), rf"event {len(events) + 1} \(sealed"),
        "seal-cut": (
            _remove(EventRow, EventRow.key == last["key"]),
            "events are missing at the end",
        ),
        "seal-forged": (_forged_seal(last, events[-2]["link"]), "the event sealed of .* does not"),
        "closed": (
            _change(StudyRow, StudyRow.id == STUDY, state="closed"),
            "the study is closed, and",
        ),
        "revealed": (
            _change(StudyRow, StudyRow.id == STUDY, revealed_at=later),
            "whether it was revealed",
        ),
    }


def _ballot_of_erased(store: Store) -> AssignedBallot:
    return ballot(store, "forgotten-1")


def judges_digest(c: Connection, mine: AssignedBallot) -> str:
    """What stands for the judge of a ballot in chains."""
    return str(
        c.execute(select(JudgeRow.id_digest).where(JudgeRow.key == mine.judge_key)).scalar_one()
    )


def _items(mine: AssignedBallot) -> list[Any]:
    return [(i.letter, i.solver, i.digest, i.origin) for i in mine.layout.items if mine.layout]  # type: ignore[union-attr]


def _forged_seal(event: Any, before: str) -> Callable[[Connection], object]:  # noqa: ANN401
    """A last seal that was made anew, link and all, with one ballot left out."""
    detail = {**event["detail"], "ballots": {}}
    link = event_link(before, {**event, "detail": detail}, None)
    return _change(EventRow, EventRow.key == event["key"], detail=detail, link=link)


def test_every_forgery_is_named(session: Store) -> None:
    """What was changed, removed, inserted, reordered or cut off is told where it is first."""
    for name, (forge, pattern) in _forgeries(session).items():
        with session.engine.connect() as c, c.begin() as transaction:
            forge(c)
            result = verify(held_in(c, STUDY))
            transaction.rollback()
        messages = [b.message for b in result.breaks]
        assert messages, name
        assert re.search(pattern, messages[0]), f"{name}: {messages}"
    assert verified(session).breaks == ()


def test_each_broken_chain_is_listed_once(session: Store) -> None:
    """Of two tasks and the events the first break of each is told."""
    with session.engine.connect() as c, c.begin() as transaction:
        c.execute(update(RevisionRow).where(RevisionRow.number < 3).values(kind="reopen"))
        c.execute(update(EventRow).values(actor="judge"))
        result = verify(held_in(c, STUDY))
        transaction.rollback()
    messages = [b.message for b in result.breaks]
    assert [re.sub(r" (does|\().*", "", line) for line in messages] == [
        "task of judge J1, problem P1, block 1: revision 1",
        "task of judge forgotten-1, problem P1, block 1: revision 1",
        "event 1",
    ]


def test_erasing_leaves_the_chains(session: Store) -> None:
    """Two judges in turn lose their words, also what is not sealed; the links stay."""
    save(session, ballot(session), base=5, kind="reopen")
    save(session, ballot(session), WRITTEN, base=6)
    before = [row["link"] for row in revisions(session, ballot(session))]
    _forget(session, "J1")
    with pytest.raises(QuemError, match="has been erased"):
        _forget(session, "forgotten-2")
    mine = ballot(session, "forgotten-2")
    rows = revisions(session, mine)
    assert [row["link"] for row in rows] == before
    assert {row["words_salt"] for row in rows} == {None}
    with pytest.raises(NotAssignedError):
        save(session, mine, WRITTEN, base=7)
    assert verified(session).breaks == ()
    _seal(session, "stop")
    assert (verified(session).breaks, verified(session).unsealed) == ((), 0)


def test_a_retry_adds_no_link(session: Store) -> None:
    """A save that is sent again has the receipt of the first time."""
    mine = ballot(session)
    first = save(session, mine, base=5, kind="reopen")
    assert save(session, mine, base=5, kind="reopen") == first
    assert len(first.receipt) == 10
    with session.read() as c:
        (line,) = find_receipt(c, STUDY, first.receipt)
    assert line.startswith("revision 6 (the newest) of the task of judge J1, problem P1, block 1,")
    assert verified(session).breaks == ()


def test_a_trial_that_was_discarded_verifies(store: Store) -> None:
    """Its seals can be replayed without its revisions, twice; a receipt says what became of it."""
    for _ in range(2):
        saved = save(store, ballot(store), WRITTEN, kind="submit")
        _seal(store, "submit")
        save(store, ballot(store), base=1, kind="reopen")
        save(store, ballot(store, "J2"))
        with store.write() as c:
            studies.reveal(c, STUDY, "shell")
            assert studies.discard_trial(c, STUDY, "dashboard") == 2
    with store.write() as c:
        studies.set_state(c, STUDY, "open", "shell")
    last = save(store, ballot(store, "J2"), WRITTEN, kind="submit")
    _seal(store, "submit")
    result = verified(store)
    assert (result.breaks, result.tasks, result.revisions, result.seals) == ((), 1, 1, 3)
    with store.read() as c:
        assert find_receipt(c, STUDY, saved.receipt) == []
        assert len(find_receipt(c, STUDY, last.receipt)) == 1
        named = c.execute(
            select(EventRow.detail).where(EventRow.what == "trial-discarded")
        ).scalars()
        links = [link for detail in named for _, link in detail["ballots"].values()]
        assert "trial ranking that was discarded" in find_receipt(c, STUDY, links[0][:10])[0]
    # A trial that says to have held less than was sealed has hidden something.
    detail = {"rankings": 2, "ballots": {}}
    result = _with_event(store, "trial-discarded", detail)
    assert "names another revision of task" in result.breaks[-1].message


def _with_event(store: Store, what: str, detail: dict[str, Any]) -> Verified:
    """Verify a store whose last event of a name has another detail, with all links made anew."""
    with store.engine.connect() as c, c.begin() as transaction:
        events = c.execute(select(EventRow.__table__).order_by(EventRow.key)).mappings().all()
        keys = [event["key"] for event in events if event["what"] == what]
        before = ""
        digests = dict(c.execute(select(JudgeRow.key, JudgeRow.id_digest)).all())
        for event in events:
            row = {**event, "detail": detail if event["key"] == keys[-1] else event["detail"]}
            before = event_link(before, row, digests.get(event["judge_key"]))
            values = {"detail": row["detail"], "link": before}
            c.execute(update(EventRow).where(EventRow.key == event["key"]).values(values))
        result = verify(held_in(c, STUDY))
        transaction.rollback()
    return result


def _rank(store: Store, ballots: list[AssignedBallot]) -> None:
    for base in range(6):
        for mine in ballots:
            kind = ("save", "submit", "reopen")[base % 3]
            if save(store, mine, WRITTEN, base, kind=kind).submitted:
                _seal(store, "submit")


def _organize(store: Store, number: int) -> None:
    for step in range(6):
        with store.write() as c:
            if number % 2:
                record(c, STUDY, "shell", "noted", judge(store).key, step=step)
            else:
                # In one transaction: no judge finds the study closed.
                studies.set_state(c, STUDY, "closed", "shell")
                studies.set_state(c, STUDY, "open", "shell")
        _seal(store, "minute")


def test_saving_sealing_and_organizing_at_once(store: Store) -> None:
    """Judges save while others seal, close, open, note, and erase: all of it verifies."""
    people = [DeclaredJudge(id=f"J{number}") for number in range(1, 6)]
    prepare(store, people)
    ballots = [dealt(store, person.id)[1:3] for person in people]

    def work(number: int) -> str:
        if number < 4:
            _rank(store, ballots[number])
        elif number == 4:
            _forget(store, "J5")
        else:
            _organize(store, number)
        return "done"

    assert at_once(7, work) == ["done"] * 7
    _seal(store, "stop")
    result = verified(store)
    assert (result.breaks, result.revisions, result.unsealed) == ((), 4 * 2 * 6, 0)


def test_events_do_not_wait_in_a_circle(store: Store) -> None:
    """Who notes an event while another closes the study waits for it at most, not it for them."""

    def note() -> str:
        with store.write() as c:
            record(c, STUDY, "shell", "noted", judge(store).key)
        return "done"

    with ThreadPoolExecutor(1) as pool:
        with store.write() as c:
            studies.set_state(c, STUDY, "open", "shell")
            noted = pool.submit(note)
            # SQLite lets one write at a time; PostgreSQL lets the other go first.
            wait([noted], timeout=0 if store.place.file else SECONDS)
        assert noted.result(SECONDS) == "done"
    assert verified(store).breaks == ()


def test_discarding_while_others_seal(store: Store) -> None:
    """Whatever was saved or sealed before a trial is discarded, what is left verifies."""
    ballots = [b for person in ("J1", "J2") for b in dealt(store, person)[1:3]]

    def work(number: int) -> object:
        if number < len(ballots):
            return save(store, ballots[number], WRITTEN)
        if number > len(ballots):
            _seal(store, "minute")
            return None
        with store.write() as c:
            return studies.discard_trial(c, STUDY, "dashboard")

    results = at_once(len(ballots) + 3, work)
    assert {type(result) for result in results} <= {Saved, NotAssignedError, int, type(None)}
    assert (verified(store).breaks, verified(store).revisions) == ((), 0)
