"""Texts with one look through a served study: judges receive them, and the setting is fixed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from quem.errors import QuemError
from tests.webjudge.sites import SUBJECTS, enter_as, enter_dashboard, write_site
from tests.webjudge.test_reviewing import begin
from webjudge import create_app, open_site

if TYPE_CHECKING:
    from pathlib import Path

FIRST, SECOND = SUBJECTS[:2]
LOUD = "# ✨ Plan\n\n* **Wait** — then act\n"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study with a loud text, and one of code."""
    path = write_site(tmp_path, judging="{same_look: true}")
    group = tmp_path / "solutions" / "P1"
    (group / f"{FIRST}.md").write_text(LOUD)
    (group / f"{SECOND}.md").unlink()
    (group / f"{SECOND}.py").write_text("x = 1  # “x” — y\n")
    return path


def turn(study: Path, to: str) -> None:
    """Write another value into the study file."""
    study.write_text(re.sub("same_look: [a-z]+", f"same_look: {to}", study.read_text()))


def test_judges_receive_texts_with_one_look(study: Path) -> None:
    """Their digests are others than those of the files; that of code is not."""
    site = open_site(study)
    leveled = site.solutions.by_problem["P1"]
    judge = enter_as(create_app(site), site, "J1")
    pages = [
        judge.get(f"/judge/g/{gid}").text
        for gid in dict.fromkeys(re.findall(r"/judge/g/([\w-]+)", judge.get("/judge").text))
    ]
    received = "".join(pages)
    assert "Wait - then act" in received
    assert "✨" not in received
    site.store.close()
    turn(study, "false")
    site = open_site(study)
    plain = site.solutions.by_problem["P1"]
    site.store.close()
    assert leveled[FIRST].digest != plain[FIRST].digest
    assert leveled[SECOND].digest == plain[SECOND].digest


@pytest.mark.parametrize(("first", "then"), [("true", "false"), ("false", "true")])
def test_the_look_is_fixed_once_a_judge_ranks(study: Path, first: str, then: str) -> None:
    """Until then it may change, and again when test rankings are deleted."""
    turn(study, then)
    open_site(study).store.close()
    turn(study, first)
    site = open_site(study)
    app = create_app(site)
    begin(app)
    site.store.close()
    turn(study, then)
    with pytest.raises(QuemError, match="same_look"):
        open_site(study)
    turn(study, first)
    site = open_site(study)
    app = create_app(site)
    client = enter_dashboard(app, site)
    assert client.post("/dashboard/discard", data={"word": "discard"}).status_code == 303
    site.store.close()
    turn(study, then)
    open_site(study).store.close()
