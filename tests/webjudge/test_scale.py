"""Many judges: what a save and a page cost does not grow with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import event

from tests.served import all_ranked, write_judging_study
from tests.webjudge.test_judging import data_of, enter, gids
from webjudge import create_app, open_site

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MOST_ROUND_TRIPS = 5
SAVES = 10


def test_round_trips_of_a_save(tmp_path: Path, new_postgres: Callable[[], str]) -> None:
    """Each time that the server is waited for is in the trace of its connection."""
    site = open_site(write_judging_study(tmp_path, judging="{repeat: 1}"), new_postgres())
    client = enter(create_app(site), site)
    gid = gids(client)[0]
    data = data_of(client, gid)

    def save(number: int) -> None:
        state = all_ranked(data["labels"][:: 1 if number % 2 else -1])
        body = {"base": number, "client": "tab-00000001", "change": number + 1, "state": state}
        # What a page sends: a little time, and what was in view.
        times = {"seconds": 0.001, "views": {data["labels"][0]: 0.001}}
        body |= {"layout": data["layout"], "submit": False, **times}
        answer = client.put(f"/judge/g/{gid}/state", json=body)
        assert answer.get_json().get("revision") == number + 1, answer.text

    # By then each statement is prepared on the server, and the visit is noted.
    for number in range(SAVES):
        save(number)
    with (tmp_path / "trace.txt").open("w+") as trace:

        def follow(connection: Any, *_: object) -> None:  # noqa: ANN401  a DBAPI connection
            connection.pgconn.trace(trace.fileno())

        event.listen(site.store.engine, "checkout", follow)
        for number in range(SAVES, 2 * SAVES):
            save(number)
        event.remove(site.store.engine, "checkout", follow)
        site.store.close()
        trace.seek(0)
        waits = trace.read().count("ReadyForQuery")
    assert SAVES <= waits <= SAVES * MOST_ROUND_TRIPS
