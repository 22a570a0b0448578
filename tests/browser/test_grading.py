"""Judges who grade candidates: buttons, keys, menus, dragging; and a pool from begin to end."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.axe import objections
from tests.browser.judging import Visit, accessible, is_ready, is_saved
from tests.browser.test_languages import NARROW, look
from tests.browser.views import PHONE, WIDE
from tests.languages.pseudo import LEFT, PROGRAM
from tests.served import Served
from tests.trials.pooling import judged_pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

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
        "judges: [{id: J0}, {id: J1}, {id: J2}, {id: J3}, {id: J4}]\n"
    )
    with Served(folder / "study.yaml", program=PROGRAM) as server:
        yield server


@pytest.fixture
def come(browser: Browser, served: Served) -> Iterator[Callable[..., Visit]]:
    """Let a judge come to the query."""
    visits: list[Visit] = []

    def visit(judge: str, **options: Any) -> Visit:  # noqa: ANN401
        visits.append(Visit(browser, served, judge, **options))
        visits[-1].enter("Ερώτημα")
        return visits[-1]

    yield visit
    for one in visits:
        one.close()


def _shown(page: Page) -> dict[str, list[str]]:
    """What is in the list under each grade, the highest first."""
    rows: list[tuple[str, list[str]]] = page.locator("#ranked .grade").evaluate_all(
        """rows => rows.map(row => [row.querySelector(".grade-name span").textContent,
            [...row.querySelectorAll(".chip")].map(chip => chip.dataset.label)])"""
    )
    assert [name for name, _ in rows] == LABELS[::-1]
    return dict(rows)


def _is_stored(visit: Visit) -> dict[str, Any]:
    """Wait until all is saved; the order in the store is that of the grades, as the page shows."""
    is_saved(visit.page)
    state = visit.served.stored(visit.judge, "q1")["state"]
    shown = _shown(visit.page)
    assert state["ranked"] == [labels for labels in shown.values() if labels]
    grades = {x: str(LABELS.index(name)) for name, labels in shown.items() for x in labels}
    assert state["answers"].get("grade", {}) == grades
    return dict(state)


def test_grades_are_given_by_keys_buttons_menu_and_dragging(
    come: Callable[..., Visit],
) -> None:
    """Each puts the candidate under its grade, is saved, can be undone, and survives a reload."""
    visit = come("J0")
    page = visit.page
    expect(page.locator("#main h2")).to_have_text("Candidate A")
    expect(page.locator(".query strong")).to_have_text("ζητείται")
    assert objections(page) == []
    page.keyboard.press("2")
    expect(page.locator("#main h2")).to_have_text("Candidate B")
    page.get_by_role("button", name=MIDDLE).click()
    expect(page.locator("#main h2")).to_have_text("Candidate C")
    expect(page.locator("#announcement")).to_have_text(f"B: {MIDDLE}. Now reading candidate C.")
    page.keyboard.press("7")  # no such grade
    page.keyboard.press("c")  # nothing to compare
    expect(page.locator("#main h2")).to_have_text("Candidate C")
    # The second press of a double click grades nothing else.
    page.get_by_role("button", name=LOW).dblclick()
    expect(page.locator("#main h2")).to_have_text("Candidate D")
    assert _shown(page) == {HIGH: ["A"], MIDDLE: ["B"], LOW: ["C"]}
    _is_stored(visit)
    page.locator("#ladder [data-more=D]").click()
    page.get_by_role("menuitemradio", name=HIGH).click()
    expect(page.locator("#main h2")).to_have_text("Candidate E")
    assert _shown(page)[HIGH] == ["A", "D"]
    # One grade down and up; above the highest there is none.
    row = page.locator("#ladder [data-open=A]")
    row.focus()
    page.keyboard.press("Alt+ArrowDown")
    assert _shown(page)[MIDDLE] == ["B", "A"]
    page.keyboard.press("Alt+ArrowUp")
    page.keyboard.press("Alt+ArrowUp")
    assert _shown(page)[HIGH] == ["D", "A"]
    _drag(page, "E", LOW)
    assert _shown(page)[LOW] == ["C", "E"]
    expect(page.locator("#main h2")).to_have_text("All graded. Are these your grades?")
    _is_stored(visit)
    assert objections(page) == []
    _take_back(visit)


def _take_back(visit: Visit) -> None:
    """Undo and redo, reload, take a grade back, and say that one cannot judge."""
    page = visit.page
    page.keyboard.press("Control+z")
    assert _shown(page)[LOW] == ["C"]
    expect(page.locator("#tray .chip")).to_have_count(1)
    page.keyboard.press("Control+Shift+z")
    before = _is_stored(visit)
    page.reload()
    expect(page.locator("body[data-ready]")).to_be_visible()
    assert _shown(page)[LOW] == ["C", "E"]
    assert _is_stored(visit) == before
    # Out of the order, a candidate has no grade any more.
    page.locator("#ladder [data-more=E]").click()
    page.get_by_role("menuitem", name="Take the grade back").click()
    assert _is_stored(visit)["tray"] == ["E"]
    page.locator("#ladder [data-more=E]").click()
    page.get_by_role("menuitem", name="Cannot judge").click()
    page.get_by_role("button", name="Mark as").click()
    expect(page.locator("#cannot .chip")).to_have_count(1)
    assert _is_stored(visit)["cannot"] == {"E": "Outside my expertise"}
    page.get_by_role("button", name="Submit grades").click()
    receipt = page.locator("#receipt dl")
    expect(receipt).to_contain_text(f"{HIGH}: D, A; {MIDDLE}: B; {LOW}: C")
    assert objections(page) == []


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


def test_grades_on_a_phone(come: Callable[..., Visit]) -> None:
    """Buttons are large enough to touch, and what is above them can be read."""
    visit = come("J1", viewport=PHONE, has_touch=True)
    page = visit.page
    assert objections(page) == []
    for button in page.locator(".grade-buttons .btn").all():
        box = button.bounding_box()
        assert box
        assert box["height"] >= 44
    for label, name in zip("ABCDE", [*LABELS, *LABELS], strict=False):
        expect(page.locator("#main h2")).to_have_text(f"Candidate {label}")
        page.locator(".grade-buttons").get_by_text(name, exact=True).tap()
    expect(page.locator("#strip-count")).to_have_text("All graded")
    _is_stored(visit)
    assert objections(page) == []


@pytest.mark.parametrize(("judge", "window"), [("J3", WIDE), ("J4", NARROW)])
def test_grading_is_translated_and_fits(
    come: Callable[..., Visit], judge: str, window: dict[str, int]
) -> None:
    """No state has a word of English, or one that is cut off; in low windows all is in reach."""
    visit = come(judge, viewport=window, locale="el-GR")
    page = visit.page
    page.keyboard.press("?")
    page.locator(f"#help [name=language][value={LEFT}]").click()
    expect(page.locator(f"html[lang={LEFT}]")).to_be_visible()
    is_ready(page)
    look(page, "first candidate")
    accessible(page, "first candidate", colors=True)
    page.keyboard.press("p")
    look(page, "query")
    page.keyboard.press("n")
    for grade in "021":
        page.keyboard.press(grade)
    look(page, "graded")
    for width, height in ((640, 400), (320, 256)):
        page.set_viewport_size({"width": width, "height": height})
        accessible(page, f"{width} x {height}", colors=False)
    page.set_viewport_size(window)  # type: ignore[arg-type]
    page.keyboard.press(".")
    look(page, "menu")
    page.keyboard.press("Escape")
    page.locator("#ladder [data-do=submit]").dispatch_event("click")
    look(page, "too early")
    page.keyboard.press("2")
    page.keyboard.press("2")
    look(page, "all graded")
    page.keyboard.press("?")
    look(page, "help")
    page.keyboard.press("Escape")
    page.locator("[data-do=send]").click()
    expect(page.locator("#receipt dd").last).to_have_text(re.compile("^[0-9a-f]{10}$"))
    look(page, "receipt")
    page.keyboard.press("Escape")
    look(page, "submitted")
    page.goto(f"{visit.served.base}/judge/done")
    look(page, "done")


def test_a_pool_is_judged_from_begin_to_end(browser: Browser, tmp_path: Path) -> None:
    """A few queries of the trial `pooling`: the retrievers are measured by what judges pressed."""
    found = judged_pool(browser, tmp_path, random.Random(1), queries=3, judges=2)
    assert found["pairs"] == 12
