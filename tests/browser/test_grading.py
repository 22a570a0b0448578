"""Judges who grade candidates: buttons, keys, menus, dragging."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.judging import (
    accessible,
    cannot_judge,
    choose,
    escape,
    goes_on,
    is_saved,
    open_menu,
    reload,
    title,
)
from tests.browser.views import NARROW, PHONE, WIDE, look
from tests.languages.pseudo import LEFT, PROGRAM
from tests.served import Served

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Page

    from tests.browser.judging import Visit

# In Greek, so that what is in Latin letters is not the study's.
LABELS = ["Άσχετο", "Μερικώς", "Σχετικό"]
LOW, MIDDLE, HIGH = LABELS


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A query with five candidates, and a judge for each test."""
    folder = tmp_path_factory.mktemp("grading")
    group = folder / "solutions" / "q1"
    group.mkdir(parents=True)
    for name in range(5):
        (group / f"case-{name}.md").write_text(f"Κείμενο {name}.\n")
    (folder / "q1.md").write_text("Τι **ζητείται**;\n")
    candidates = "".join(f"  - {{problem: q1, id: case-{name}}}\n" for name in range(5))
    (folder / "study.yaml").write_text(
        "kind: relevance\nid: grading\ntitle: Βαθμοί\n"
        f"grades: [{', '.join(LABELS)}]\n"
        f"candidates:\n{candidates}"
        "problems: [{id: q1, title: Ερώτημα, statement: q1.md}]\n"
        "judges: [{id: J0}, {id: J1}, {id: J2}, {id: J3}]\n"
    )
    with Served(folder / "study.yaml", program=PROGRAM) as server:
        yield server


def _shown(page: Page) -> dict[str, str]:
    rows: list[tuple[str, str]] = page.locator("#ranked .grade").evaluate_all(
        """rows => rows.map(row => [row.querySelector(".grade-name span").textContent,
            [...row.querySelectorAll(".chip")].map(chip => chip.dataset.label).join("")])"""
    )
    assert [name for name, _ in rows] == LABELS[::-1]
    return dict(rows)


def _is_stored(visit: Visit, high: str, middle: str, low: str) -> dict[str, Any]:
    """Wait until all is saved: the page and the store have these candidates under each grade."""
    is_saved(visit.page)
    assert _shown(visit.page) == {HIGH: high, MIDDLE: middle, LOW: low}
    state = visit.stored("q1")["state"]
    assert state["ranked"] == [list(labels) for labels in (high, middle, low) if labels]
    grades = {x: str(at) for at, labels in enumerate((low, middle, high)) for x in labels}
    assert state["answers"].get("grade", {}) == grades
    return dict(state)


def test_grades_are_given_by_keys_buttons_menu_and_dragging(visit: Callable[..., Visit]) -> None:
    """Each puts the candidate under its grade, is saved, can be undone, and survives a reload."""
    come = visit()
    page = come.enter("Ερώτημα")
    expect(title(page)).to_have_text("Candidate A")
    expect(page.locator(".query strong")).to_have_text("ζητείται")
    goes_on(page, partial(page.keyboard.press, "2"))
    goes_on(page, page.get_by_role("button", name=MIDDLE).click)
    expect(page.locator("#announcement")).to_have_text(f"B: {MIDDLE}. Now reading candidate C.")
    page.keyboard.press("7")  # no such grade
    page.keyboard.press("c")  # nothing to compare
    expect(title(page)).to_have_text("Candidate C")
    # The second press of a double click grades nothing else.
    page.get_by_role("button", name=LOW).dblclick()
    expect(title(page)).to_have_text("Candidate D")
    goes_on(page, open_menu(page, "D").get_by_role("menuitemradio", name=HIGH).click)
    _is_stored(come, "AD", "B", "C")
    # One grade down and up; above the highest there is none.
    page.locator("#ladder [data-open=A]").focus()
    for key, grade, labels in (("Down", MIDDLE, "BA"), ("Up", HIGH, "DA"), ("Up", HIGH, "DA")):
        page.keyboard.press(f"Alt+Arrow{key}")
        assert _shown(page)[grade] == labels
    _drag(page, "E", LOW)
    expect(title(page)).to_have_text("All graded. Are these your grades?")
    _is_stored(come, "DA", "B", "CE")
    page.keyboard.press("Control+z")
    assert _shown(page)[LOW] == "C"
    expect(page.locator("#tray .chip")).to_have_count(1)
    page.keyboard.press("Control+Shift+z")
    before = _is_stored(come, "DA", "B", "CE")
    reload(page)
    assert _is_stored(come, "DA", "B", "CE") == before
    # Out of the order, a candidate has no grade any more.
    choose(page, "E", "tray")
    assert _is_stored(come, "DA", "B", "C")["tray"] == ["E"]
    cannot_judge(page, "E")
    assert _is_stored(come, "DA", "B", "C")["cannot"] == {"E": "Outside my expertise"}
    page.get_by_role("button", name="Submit grades").click()
    receipt = page.locator("#receipt dl")
    expect(receipt).to_contain_text(f"{HIGH}: D, A; {MIDDLE}: B; {LOW}: C")


def _drag(page: Page, label: str, grade: str) -> None:
    chip = page.locator(f"#ladder .chip[data-label={label}] .grip").bounding_box()
    target = page.locator(".grade", has_text=re.compile(f"^{grade}")).bounding_box()
    assert chip
    assert target
    page.mouse.move(chip["x"] + 5, chip["y"] + 5)
    page.mouse.down()
    page.mouse.move(target["x"] + 60, target["y"] + 10, steps=4)
    expect(page.locator(".ghost")).to_contain_text(grade)
    page.mouse.up()


def test_grading_is_translated_and_fits(visit: Callable[..., Visit]) -> None:
    """No state has a word of English, or one that is cut off; in low windows all is in reach."""
    come = visit(locale=LEFT, has_touch=True)
    page = come.enter("Ερώτημα")

    def check(what: str) -> None:
        for window in (WIDE, NARROW):
            page.set_viewport_size(window)  # type: ignore[arg-type]
            look(page, what)

    check("first candidate")
    accessible(page, "first candidate")
    heights = page.locator(".grade-buttons .btn").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().height)"
    )
    assert min(heights) >= 44
    goes_on(page, partial(page.keyboard.press, "p"))
    check("query")
    for key in "n021":
        goes_on(page, partial(page.keyboard.press, key))
    check("graded")
    for width, height in ((640, 400), (320, 256)):
        page.set_viewport_size({"width": width, "height": height})
        accessible(page, f"{width} x {height}", colors=False)
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.keyboard.press(".")
    look(page, "menu")
    page.keyboard.press("Escape")
    page.locator("#ladder [data-do=submit]").dispatch_event("click")
    check("too early")
    for _ in "DE":
        goes_on(page, page.locator(".grade-buttons").get_by_text(HIGH, exact=True).tap)
    check("all graded")
    page.keyboard.press("?")
    check("help")
    escape(page)
    page.locator("[data-do=send]").click()
    expect(page.locator("#receipt dd").last).to_have_text(re.compile("^[0-9a-f]{10}$"))
    check("receipt")
    accessible(page, "receipt")
    escape(page)
    check("submitted")
    page.goto(f"{come.served.base}/judge/done")
    check("done")
