"""Many judges: what a save and a page cost does not grow with them."""

from __future__ import annotations

import csv
import re
from html import unescape
from io import StringIO
from typing import TYPE_CHECKING, Any

from sqlalchemy import event

from tests.served import all_ranked, write_judging_study
from tests.webjudge.sites import enter_dashboard, make_site, rank
from tests.webjudge.test_judging import data_of, enter, gids
from webjudge import create_app, open_site
from webjudge.dashboard.overview import MOST_JUDGES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MOST_ROUND_TRIPS = 11
SAVES = 10


def test_round_trips_of_a_save(tmp_path: Path, new_postgres: Callable[[], str]) -> None:
    """Each time that the server is waited for is in the trace of its connection."""
    site = open_site(write_judging_study(tmp_path, judging="{repeat: 1}"), new_postgres())
    client = enter(create_app(site), site)
    gid = gids(client)[0]
    data = data_of(client, gid)

    revisions = [data["revision"]]

    def save(number: int) -> None:
        state = all_ranked(data["labels"][:: 1 if number % 2 else -1])
        body = {"base": revisions[-1], "client": "tab-00000001", "change": number + 1}
        # What a page sends: a little time, and what was in view.
        times = {"seconds": 0.001, "views": {data["labels"][0]: 0.001}}
        body |= {"state": state, "layout": data["layout"], "submit": False, **times}
        answer = client.put(f"/judge/g/{gid}/state", json=body)
        assert answer.status_code == 200, answer.text
        revisions.append(answer.get_json()["revision"])

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


def test_the_overview_of_many_judges(tmp_path: Path) -> None:
    """One page of them is shown, by as many statements as for few; all can be found and reached."""
    statements = {}
    for count in (60, 120):
        folder = tmp_path / str(count)
        folder.mkdir()
        site = make_site(folder, judges=[f"J{number:03}" for number in range(count)])
        rank(site, "J001", "P1")
        dashboard = enter_dashboard(create_app(site), site)
        dashboard.get("/dashboard")
        made: list[str] = []
        event.listen(site.store.engine, "before_cursor_execute", lambda *a, m=made: m.append(a[2]))
        page = dashboard.get("/dashboard").text
        statements[count] = len(made)
        assert page.count('<tr role="row"') == 1 + MOST_JUDGES
        assert f"of {3 * count} rankings" in page
        assert ("J049" in page, "J050" in page) == (True, False)
        (following,) = re.findall(r'rel="next" href="([^"]+)"', page)
        second = dashboard.get(unescape(following)).text
        assert ("J049" in second, "J050" in second) == (False, True)
        (back,) = re.findall(r'rel="prev" href="([^"]+)"', second)
        assert "J049" in dashboard.get(unescape(back)).text
        found = dashboard.get("/dashboard?find=j055").text
        assert found.count('<tr role="row"') == 2
        assert "contains “nobody”" in dashboard.get("/dashboard?find=nobody").text
        last = dashboard.get("/dashboard?by=least&after=1.0").text
        assert re.findall(r"<th scope=\"row\" role=\"rowheader\">([^<]+)", last) == ["Judge J001"]
        # What is no place is the beginning.
        assert "J049" in dashboard.get("/dashboard?after=x").text
        assert dashboard.get("/dashboard/judges/invitations").text.count("No link") == MOST_JUDGES
        table = dashboard.post("/dashboard/judges/links", data={"sure": "yes"})
        rows = list(csv.DictReader(StringIO(table.text)))
        assert [row["judge"] for row in rows] == [f"J{number:03}" for number in range(count)]
        assert all(row["link"] in row["message"] for row in rows)
        reminders = dashboard.get("/dashboard/judges/reminders").text
        assert reminders.count('<li class="card mt"') == MOST_JUDGES
        (after,) = re.findall(r'href="(\?after=[^"]+)"', reminders)
        more = dashboard.get(f"/dashboard/judges/reminders{after}").text
        assert more.count('<li class="card mt"') == min(count - MOST_JUDGES, MOST_JUDGES)
        site.store.close()
    assert statements[60] == statements[120]
