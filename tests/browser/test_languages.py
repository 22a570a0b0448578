"""Judges' pages in languages that are made up: all is translated, fits, and is mirrored."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image
from playwright.sync_api import expect

from quem.store.database import store_of
from quem.store.location import locate_database
from quem.store.studies import set_state
from quem.studyfile.reading import read_study
from tests.browser.judging import (
    Visit,
    accessible,
    choose_act,
    drag,
    is_ready,
    press,
    row,
    shown_ranking,
)
from tests.browser.views import WIDE
from tests.languages.pseudo import LEFT, PROGRAM, RIGHT
from tests.served import Served, write_judging_study

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page

# WCAG 1.4.10: as wide as a window of 1280 px at 400%.
NARROW = {"width": 320, "height": 640}
MORE = """\
organizer: {name: "Αλίκη", institution: "Ινστιτούτο", email: a@example.org}
deadline: 2031-12-12
"""
# All that a page says, also where it is hidden or only read out, but for names of keys, code, and
# what is in another language.
TEXTS = """() => {
  const out = [document.title];
  const skip = "script, style, template, kbd, code, [lang]:not(html)";
  const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.parentElement.closest(skip)) out.push(node.textContent);
  }
  for (const name of ["aria-label", "title", "alt", "placeholder"]) {
    for (const one of document.querySelectorAll(`[${name}]`)) out.push(one.getAttribute(name));
  }
  return out;
}"""
# What sticks out of the window or of its box, or is cut off. How a solution begins may be.
CLIPPED = """() => {
  const out = [];
  const mayEnd = ".snippet, .bar h1, #strip-order, .reader .meta, .pane .meta, .unseen, .skip"
    + (innerWidth < 704 ? ", .compare-head .who, .compare-head .name" : "");  // for screen readers
  for (const one of document.querySelectorAll("body *")) {
    const hasText = [...one.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!hasText || !one.checkVisibility() || one.closest(mayEnd)) continue;
    const box = one.getBoundingClientRect();
    const isIn = one.closest("pre, .table-scroll, textarea");
    const isOut = box.left < -1 || box.right > innerWidth + 1;
    if (!isIn && isOut) out.push(["outside", one.outerHTML]);
    for (let o = one; o && o !== document.body; o = o.parentElement) {
      const style = getComputedStyle(o);
      const isFull = o.scrollWidth > o.clientWidth + 1;
      const cuts = o.matches(".btn") || ["hidden", "clip"].includes(style.overflowX);
      if (isFull && cuts) out.push(["cut", o.outerHTML]);
    }
  }
  return out;
}"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A study in Greek, so that what is in Latin letters is not the study's."""
    folder = tmp_path_factory.mktemp("languages")
    judging = """{briefing: briefing.md, consent: consent.md, practice: P9, questions: [
      {id: sure, about: placement},
      {id: clear, about: solution, kind: scale, text: Είναι σαφές;, ends: [όχι, ναι]},
      {id: hard, about: task, kind: choice, text: Δύσκολο;, options: [όχι, ναι]},
      {id: more, about: study, kind: text, text: Κάτι άλλο;}]}"""
    study = write_judging_study(folder, problems=2, judges=12, judging=judging)
    text = study.read_text().replace("Made up", "Μελέτη").replace("Problem ", "Θέμα ")
    study.write_text(re.sub("name: Judge", "name: Κριτής", text) + MORE)
    (folder / "briefing.md").write_text("Καλημέρα.\n")
    (folder / "consent.md").write_text("Συμφωνείτε;\n")
    practice = folder / "solutions" / "P9"
    practice.mkdir()
    for name in ("good", "bad"):
        (practice / f"{name}.txt").write_text("Λύση.\n")
    for problem in (0, 1):
        (folder / f"p{problem}.md").write_text("Τι θα κάνετε;\n\n| α | β |\n|---|---|\n| 1 | 2 |\n")
        group = folder / "solutions" / f"P{problem}"
        for number, path in enumerate(sorted(group.iterdir())):
            path.write_text(
                f"Λύση {number}.\n\n" + "".join(f"# Μέρος {n}\n\nκ\n\n" for n in "αβγδε")
            )
        (group / "S1.md").unlink()
        (group / "S1").mkdir()
        (group / "S1" / "a.py").write_text("# Κώδικας\n1 + 1\n")
        (group / "S1" / "b.md").write_text("Ωραία ![](c.png) και ![](d.png).\n")
        Image.new("RGB", (40, 30), "white").save(group / "S1" / "c.png")
        (group / "S2.md").write_text("λέξη " * 900)
    with Served(study, program=PROGRAM) as server:
        yield server


@pytest.fixture
def come(browser: Browser, served: Served, judges: Iterator[str]) -> Iterator[Callable[..., Visit]]:
    """Let a judge come, in whose browser a language is chosen."""
    visits: list[Visit] = []

    def come(language: str, **options: Any) -> Visit:  # noqa: ANN401
        # Dates are in Greek letters, too.
        visit = Visit(browser, served, next(judges), **{"locale": "el-GR", **options})
        visits.append(visit)
        visit.page.goto(served.links[visit.judge])
        visit.page.locator(".language-menu summary").click()
        visit.page.locator(f"[name=language][value={language}]").click()
        expect(visit.page.locator(f"html[lang={language}]")).to_be_visible()
        return visit

    yield come
    for visit in visits:
        visit.close()


def set_study(served: Served, state: Any, until: str = "") -> None:  # noqa: ANN401  a literal
    """Pause, close or open the study."""
    spec = read_study(served.study)
    store = store_of(locate_database(served.study, None), spec.id)
    assert store is not None
    with store.write() as c:
        set_state(c, spec.id, state, "shell", until)
    store.close()


def look(page: Page, what: str) -> None:
    """Find what is in English, and what does not fit."""
    texts = page.evaluate(TEXTS)
    english = [text for text in texts if re.search(r"[A-Za-z]{2,}", _without_known(text))]
    assert english == [], what
    assert page.evaluate(CLIPPED) == [], what
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= page.viewport_size["width"], what  # type: ignore[index]


def _without_known(text: str) -> str:
    return re.sub(r"\b(?:UTC|a@example\.org|[0-9a-f]{10})\b", "", text)


def enter(page: Page) -> None:
    """Agree, and go to the first task that counts."""
    page.locator("[name=consent][value=yes]").click()
    page.locator("a.primary").click()
    is_ready(page)


@pytest.mark.parametrize("window", [WIDE, NARROW], ids=["wide", "narrow"])
def test_nothing_is_in_english_or_clipped(
    come: Callable[..., Visit], window: dict[str, int]
) -> None:
    """No word of any page, state, dialog, or announcement is; all fit, though a third longer."""
    visit = come(LEFT, viewport=window)
    page = visit.page
    look(page, "first page")
    page.locator(".language-menu summary").click()
    look(page, "menu of languages")
    page.locator("[name=consent][value=no]").click()
    expect(page.locator("[name=consent][value=no]")).to_have_count(0)
    look(page, "declined")
    page.locator("[name=consent][value=yes]").click()
    expect(page.locator("a.primary")).to_be_visible()
    look(page, "first page with tasks")
    page.locator("a.primary").click()
    is_ready(page)
    walk(page)
    look(page, "receipt")
    page.keyboard.press("Escape")
    look(page, "submitted")
    page.locator("#reopen").click()
    expect(page.locator("[data-do=send]")).to_be_visible()
    look(page, "reopened")
    page.goto(visit.served.base + "/judge/g/nothing")
    look(page, "message")


def walk(page: Page) -> None:
    """Go through the states of the workspace, up to submitting."""
    look(page, "problem")
    page.keyboard.press("n")
    for label in "ABCDE":
        row(page, label).click()
        look(page, f"solution {label}")
    press(page, "A", "Alt+ArrowUp")
    look(page, "placed")
    press(page, "B", "Alt+ArrowUp")
    press(page, "C", "Alt+ArrowUp")
    row(page, "D").click()
    page.keyboard.press("c")
    look(page, "comparing")
    page.locator("[data-verdict=worse]").click()
    look(page, "next question")
    page.locator("[data-do=back]").click()
    look(page, "answer taken back")
    page.keyboard.press("=")
    look(page, "tied")
    row(page, "A")
    page.locator("#ladder [data-more=A]").click()
    look(page, "menu of a ranked one")
    page.locator("[data-act=with]").click()
    look(page, "with which other")
    page.locator("#with button[value=B]").click()
    # A dialog says what was chosen only after it has closed.
    expect(page.locator("body.is-comparing")).to_be_visible()
    look(page, "comparing two")
    page.keyboard.press("Escape")
    row(page, "E")
    page.locator("#ladder [data-more=E]").click()
    look(page, "menu of another one")
    page.locator("[data-act=cannot]").click()
    look(page, "reasons")
    page.locator("#cannot-reason [value=own]").click()
    expect(page.locator("#cannot .chip")).to_have_count(1)
    look(page, "cannot judge")
    for act in ("recognized", "recognized", "comment"):
        choose_act(page, "B", act)
        look(page, act)
    page.locator("#comment textarea").fill("Ωραία")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    look(page, "help")
    page.keyboard.press("Escape")
    press(page, "C", "Alt+ArrowDown")
    page.keyboard.press("Control+z")
    look(page, "undone")
    expect(page.locator("[data-do=send]")).to_have_count(1)
    row(page, "A")
    page.locator("#ladder [data-do=submit]").click()
    page.locator("#submitting button[value=yes]").click()
    expect(page.locator("#receipt dd code, #receipt dd").last).to_have_text(
        re.compile("^[0-9a-f]{10}$")
    )


def test_what_goes_wrong_is_translated(come: Callable[..., Visit], served: Served) -> None:
    """Trouble with connection, other tabs, and the study's state."""
    visit = come(LEFT)
    page = visit.page
    enter(page)
    press(page, "A", "Alt+ArrowUp")
    expect(page.locator("#save-status[data-word=saved]")).to_be_visible()
    visit.context.set_offline(True)
    press(page, "B", "Alt+ArrowUp")
    expect(page.locator("#save-status[data-word=offline]")).to_be_visible()
    look(page, "offline")
    visit.context.set_offline(False)
    expect(page.locator("#save-status[data-word=saved]")).to_be_visible()
    other = visit.new_page()
    other.goto(page.url)
    is_ready(other)
    press(page, "C", "Alt+ArrowUp")
    expect(page.locator("#save-status[data-word=saved]")).to_be_visible()
    press(other, "D", "Alt+ArrowUp")
    expect(other.locator("#conflict")).to_be_visible()
    look(other, "conflict")
    other.locator("#conflict [value='']").click()
    look(other, "undecided")
    other.locator("#decide").click()
    other.locator("#conflict [value=newer]").click()
    look(other, "newer")
    other.close()
    try:
        for state in ("open", "paused", "closed"):
            set_study(served, "open")
            page.reload()
            is_ready(page)
            set_study(served, state, "")
            press(page, shown_ranking(page)[0][0], "Alt+ArrowDown")
            if state != "open":
                expect(page.locator("#message")).to_be_visible()
            look(page, state)
            page.reload()
            is_ready(page)
            look(page, f"{state}, opened again")
            page.goto(served.base + "/judge")
            look(page, f"{state}, first page")
            page.go_back()
            is_ready(page)
        page.goto(served.base + "/judge/done")
        look(page, "thanks")
    finally:
        set_study(served, "open")


def test_all_is_mirrored(come: Callable[..., Visit]) -> None:
    """The ladder is on the right; best stays on top; dragging works; axe finds nothing."""
    visit = come(RIGHT)
    page = visit.page
    accessible(page, "first page")
    enter(page)
    accessible(page, "problem")
    assert page.locator("html").get_attribute("dir") == "rtl"
    assert left_of(page, "#ladder") > left_of(page, "#main")
    drag(page, "A", page.locator("#ranked"))
    rungs = page.locator("#ranked .rung")
    for label in "BC":
        drag(page, label, rungs.last, 0.95)
    drag(page, "C", rungs.first, 0.05)
    assert shown_ranking(page) == [["C"], ["A"], ["B"]]
    drag(page, "B", rungs.first)
    assert shown_ranking(page) == [["C", "B"], ["A"]]
    ends = page.locator(".end, .rung").evaluate_all(
        "all => all.map((one) => [one.getBoundingClientRect().top, one.textContent])"
    )
    assert sorted(ends) == [ends[0], *ends[1:]]
    accessible(page, "ranked")
    page.locator("#ladder [data-more=A]").click()
    accessible(page, "menu")
    menu = page.get_by_role("menu").bounding_box()
    assert menu
    assert 0 <= menu["x"] <= WIDE["width"] - menu["width"]
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    accessible(page, "help")
    page.keyboard.press("Escape")
    for label in "DE":
        choose_act(page, label, "worst")
    accessible(page, "review")
    page.locator("[data-do=send]").click()
    expect(page.locator("#receipt")).to_be_visible()
    accessible(page, "receipt")


def left_of(page: Page, selector: str) -> float:
    """The left edge of an element on the screen."""
    box = page.locator(selector).bounding_box()
    assert box, selector
    return box["x"]
