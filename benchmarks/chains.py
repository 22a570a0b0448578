"""What hash chains cost, in CPU time: a seal, and the verification of a store with many tasks.

100 judges with 40 tasks each, 10 revisions a task, 12 solutions a task, in an SQLite file; a seal
after every `TASKS / SEALS` tasks.
"""

from __future__ import annotations

import resource
import statistics
import tempfile
from pathlib import Path
from time import process_time
from typing import Any

from sqlalchemy import insert, select

from quem.store.chains import judge_digest, new_salt, revision_link, words_digest
from quem.store.engine import Store, open_store
from quem.store.events import seal
from quem.store.layouts import Item, as_stored, layout_id
from quem.store.location import locate_database
from quem.store.models import BallotRow, JudgeRow, Layout, RevisionRow, now
from quem.store.state import State, labels
from quem.store.studies import register_study, secret_of
from quem.store.verification import held_in, verify

STUDY = "bench"
JUDGES, PROBLEMS, REVISIONS, SOLVERS, SEALS = 100, 40, 10, 12, 400
TASKS = JUDGES * PROBLEMS


def main() -> None:
    """Make the store, and print what was measured."""
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(locate_database(Path(folder) / "study.yaml"))
        seconds = fill(store)
        took = f"median {statistics.median(seconds):.4f} s, last ten {max(seconds[-10:]):.4f} s"
        print(f"seal of {TASKS // SEALS} tasks among up to {TASKS:,}: {took}")
        for _ in range(3):
            start = process_time()
            with store.read() as c:
                result = verify(held_in(c, STUDY))
            counts = (
                f"{result.tasks:,} tasks, {result.revisions:,} revisions, {result.seals:,} seals"
            )
            print(f"verified {counts}: {process_time() - start:.2f} s, {len(result.breaks)} breaks")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"peak memory of the process: {peak:.0f} MB")
        store.close()


def fill(store: Store) -> list[float]:
    """Fill the store; gives the seconds of each seal."""
    with store.write() as c:
        register_study(c, STUDY)
        secret = secret_of(c, STUDY)
        for number in range(JUDGES):
            salt, name = new_salt(), f"J{number}"
            digest = judge_digest(salt, name)
            row = {"study_id": STUDY, "id": name, "id_salt": salt, "id_digest": digest}
            c.execute(insert(JudgeRow).values(row))
    with store.read() as c:
        digests = dict(c.execute(select(JudgeRow.key, JudgeRow.id_digest)).all())
    tasks = [(judge, problem) for judge in digests for problem in range(PROBLEMS)]
    seconds = []
    for start in range(0, TASKS, TASKS // SEALS):
        with store.write() as c:
            for key, (judge, problem) in enumerate(tasks[start : start + TASKS // SEALS], start):
                rows = task_of(secret, key + 1, judge, f"P{problem}", digests[judge])
                for table, values in zip((BallotRow, Layout, RevisionRow), rows, strict=True):
                    c.execute(insert(table), values)
        begin = process_time()
        with store.write() as c:
            seal(c, STUDY, "submit")
        seconds.append(process_time() - begin)
    return seconds


def task_of(secret: str, key: int, judge: int, problem: str, digest: str) -> tuple[Any, ...]:
    """Give the rows of a task: ballot, layout and revisions."""
    name = f"task{key:08d}"
    ballot: dict[str, object] = {
        "key": key,
        "public_id": name,
        "judge_key": judge,
        "problem": problem,
    }
    ballot |= {"block": 1, "occasion": 1, "practice": False, "position": 0}
    solvers = [f"S{number}" for number in range(SOLVERS)]
    items = [Item(x, s, "0" * 64, "0" * 64) for x, s in zip(labels(SOLVERS), solvers, strict=True)]
    identity = layout_id(secret, name, items)
    layout = {"ballot_key": key, "id": identity, "items": as_stored(items), "made_at": now()}
    state = State(tuple((solver,) for solver in solvers), comments={"S1": "well argued"}).to_json()
    link, rows = "", []
    for number in range(1, REVISIONS + 1):
        salt = new_salt()
        kind = "submit" if number == REVISIONS else "save"
        row = {"ballot_key": key, "number": number, "base": number - 1, "kind": kind}
        row |= {"layout": identity, "state": state, "client": "tab", "change": number}
        row |= {"words_salt": salt, "words_digest": words_digest(salt, state), "made_at": now()}
        link = revision_link(link, row, ballot, digest)
        rows.append(row | {"link": link})
    return {**ballot, "head": REVISIONS, "submitted": REVISIONS, "layout": identity}, layout, rows


if __name__ == "__main__":
    main()
