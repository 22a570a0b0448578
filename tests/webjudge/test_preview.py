"""A preview shows what judges see, and stores nothing."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from quem.store.models import Layout, RevisionRow, TaskRow
from quem.store.people import DEFAULT, issue_link, person_named
from tests.served import all_ranked, write_judging_study
from webjudge import create_app, open_site

if TYPE_CHECKING:
    from pathlib import Path


def test_every_page_can_be_previewed_and_nothing_is_stored(tmp_path: Path) -> None:
    """Welcome, practice, all groups, repeated ones and thanks; no ballot is made of it."""
    practice = tmp_path / "solutions" / "P9"
    practice.mkdir(parents=True)
    for name in ("good", "bad"):
        (practice / f"{name}.txt").write_text(f"A {name} one.\n")
    (tmp_path / "consent.md").write_text("Do you agree?\n")
    judging = "{practice: P9, repeat: 1, consent: consent.md}"
    site = open_site(write_judging_study(tmp_path, judging=judging))
    client = create_app(site).test_client()
    with site.store.write() as c:
        token = issue_link(c, person_named(c, site.id, "organizer", DEFAULT), "shell")
    client.get(f"/d/{token}")
    welcome = client.get("/dashboard/preview").text
    assert "Do you agree?" in welcome
    assert "Nothing is saved" in welcome
    gids = ("0", "1", "2", "3")  # practice, two groups, and one of them again
    for gid in gids:
        page = client.get(f"/dashboard/preview/g/{gid}").text
        match = re.search(r'id="group-data"[^>]*>(.*?)</script>', page, re.DOTALL)
        assert match
        data = json.loads(match[1])
        assert data["preview"]
        assert set(data["urls"]) == {"home", "next", "solution"}
        assert client.get(f"/dashboard/preview/g/{gid}").text == page
        body = {"base": 0, "client": "tab-12345678", "change": 1, "seconds": 0, "submit": False}
        state = all_ranked(data["labels"])
        saved = client.put(f"/dashboard/preview/g/{gid}/state", json={**body, "state": state})
        assert saved.status_code in (404, 405)
    assert client.get("/dashboard/preview/g/4").status_code == 404
    assert client.get("/dashboard/preview/done").status_code == 200
    with site.store.read() as c:
        for table in (TaskRow, Layout, RevisionRow):
            assert c.execute(select(func.count()).select_from(table)).scalar() == 0
    site.store.close()


def test_the_last_task_of_a_preview_leads_to_the_guesses(tmp_path: Path) -> None:
    """They are asked for as after a judge's last ranking, and lead to the page of thanks."""
    site = open_site(write_judging_study(tmp_path, judging="{ask_maker: true}"))
    client = create_app(site).test_client()
    with site.store.write() as c:
        token = issue_link(c, person_named(c, site.id, "organizer", DEFAULT), "shell")
    client.get(f"/d/{token}")
    page = client.get("/dashboard/preview/g/1?language=de").text
    match = re.search(r'id="group-data"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert match
    after = json.loads(match[1])["urls"]["next"]
    asked = client.get(after, follow_redirects=True)
    assert asked.request.path == "/dashboard/preview/makers"
    action = re.search(r'<form method="post" action="([^"]+)" class="makers"', asked.text)
    assert action
    thanks = client.post(action[1], data={"guess": "person"}, follow_redirects=True)
    assert (thanks.request.path, thanks.status_code) == ("/dashboard/preview/done", 200)
    assert 'lang="de"' in thanks.text
    site.store.close()
