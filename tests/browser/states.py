"""Every state of the judge's pages: to look at, and to check.

``python -m tests.browser.states FOLDER`` takes a picture of each, in the windows of `PICTURES`.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PIL import Image, ImageDraw
from playwright.sync_api import expect, sync_playwright

from quem.store.database import open_store
from quem.store.location import locate_database
from quem.store.studies import set_state
from tests.blinding.planted import PLANTS, planted
from tests.browser.judging import (
    Visit,
    begin,
    choose_act,
    is_ready,
    press,
    rank_by_keys,
    row,
    submit,
)
from tests.served import Served, write_judging_study

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Page

# The widths of the design, and the small windows that it names.
PICTURES = {"laptop": (1280, 800), "tablet": (820, 1180), "phone": (390, 844)}
_SENTENCE = (
    "cold air rises through perforated tiles and the row that runs hot needs filler panels before "
    "the measured fronts fall below the limit of each rack"
)
_CODE = '''\
def step(inlets, fan, supply):
    """Control the fans by the hottest inlet."""
    hottest = max(inlets)
    if hottest > 27.0:
        return min(1.0, fan + 0.05), supply - 0.5
    return fan, supply  # nothing to do: the fronts of both rows are cold enough for the machines


'''


SAVED = "#save-status[data-word=saved]"
# The label of the solution that has most of something.
MOST = """measure => {
    const { solutions } = JSON.parse(document.querySelector("#group-data").textContent);
    const all = Object.entries(solutions);
    return all.sort(([, one], [, other]) => other[measure] - one[measure])[0][0];
}"""


def write_states_study(folder: Path) -> Path:
    """Write a study whose solutions are of all kinds; gives its file."""
    judging = """{briefing: briefing.md, consent: consent.md, repeat: 1, questions: [
      {id: sure, about: placement},
      {id: clear, about: solution, kind: scale, text: How clear is it?, ends: [unclear, clear]},
      {id: error, about: solution, kind: flag, text: Contains an error},
      {id: hard, about: task, kind: choice, text: How hard was it?, options: [easy, hard]},
      {id: more, about: study, kind: text, text: Is there anything else we should know?}]}"""
    study = write_judging_study(folder, problems=2, solvers=7, judges=3, judging=judging)
    (folder / "briefing.md").write_text("Please rank the plans of two machine rooms.\n")
    (folder / "consent.md").write_text("Taking part is voluntary.\n\n- We store your rankings.\n")
    (folder / "p0.md").write_text(
        "A machine room has two rows of six racks. The second one runs hot.\n\n"
        "- It must survive the failure of one unit.\n- It must cost less than 20,000 euros.\n"
    )
    group = folder / "solutions" / "P0"
    for name in ("S1", "S2", "S3"):
        (group / f"{name}.md").unlink()
    (group / "S0.md").write_text(_text(15, 400))
    (group / "S1.py").write_text(_CODE * 4)
    (group / "S2.pdf").write_bytes(planted({"exif": PLANTS["exif"], "xmp": PLANTS["xmp"]}))
    (group / "S3").mkdir()
    picture = Image.new("RGB", (1600, 900), "white")
    ImageDraw.Draw(picture).rectangle((200, 300, 500, 850), fill="teal")
    picture.save(group / "S3" / "chart.png")
    (group / "S3" / "plan.md").write_text(
        "Each step is taken only if the one before it was not enough.\n\n"
        "![Hottest front of row 2](chart.png)\n\n| step | cost |\n|---|---:|\n| panels | 2,000 |\n"
    )
    (group / "S4.md").write_text(_text(2, 300))
    lines = study.read_text().replace(
        "title: Made up",
        "title: Cooling plans\norganizer: {name: Lena Marsh, institution: Building Systems, "
        "email: lena@example.org, phone: +44 20 5550 0142}\ndeadline: 2031-12-12",
    )
    study.write_text(lines)
    return study


def _text(sections: int, words: int) -> str:
    rng = random.Random(sections)
    parts = ["# A staged plan for the two rows\n"]
    for number in range(1, sections + 1):
        text = " ".join(rng.choice(_SENTENCE.split()) for _ in range(words))
        parts.append(f"## {number}. What is done in step {number}\n\n{text}.\n")
    return "\n".join(parts)


def states(come: Visit) -> Iterator[str]:
    """Lead a judge through all states of their pages; gives the name of each when it is there.

    The words of the pages do not matter, so that it works in every language.
    """
    page = come.page
    yield from _first_page(come)
    begin(page)
    yield from _reading(page)
    yield from _placing(page)
    yield from _trouble(come)
    yield from _submitting(come)
    yield from _life(come)
    page.goto(f"{come.served.base}/judge/g/nothing")
    yield "message"


def _first_page(come: Visit) -> Iterator[str]:
    page = come.page
    page.goto(come.served.links[come.judge])
    yield "first-consent"
    page.locator("form[action$='/consent'] [value=yes]").click()
    expect(page.locator("a[href*='/g/']").first).to_be_visible()
    yield "first-tasks"


def _reading(page: Page) -> Iterator[str]:
    yield "problem"
    page.locator("#main [data-do=next]").click()
    yield "first-solution"
    for name, measure in (
        ("text", "words"), ("code", "lines"), ("pdf", "pages"), ("picture", "pictures"),
    ):  # fmt: skip
        row(page, page.evaluate(MOST, measure)).click()
        yield f"reader-{name}"
    page.locator("#reader .questions").scroll_into_view_if_needed()
    yield "questions"
    page.locator("#reader .zoom").first.click()
    yield "enlarged"
    page.keyboard.press("Escape")


def _placing(page: Page) -> Iterator[str]:
    rank_by_keys(page, "ABCD")
    yield "placed"
    page.keyboard.press("c")
    yield "comparing"
    page.keyboard.press("ArrowLeft")
    yield "comparing-next"
    page.keyboard.press("Escape")
    page.locator("#sheet-toggle").dispatch_event("click")
    yield "ladder"
    page.locator("#sheet-toggle").dispatch_event("click")
    for label in "EA":
        page.locator(f"#ladder [data-more={label}]").click()
        yield f"menu-{'ranked' if label == 'A' else 'not-ranked'}"
        page.keyboard.press("Escape")
    choose_act(page, "B", "tie")
    choose_act(page, "C", "recognized")
    for act, state in (
        ("comment", "comment"), ("with", "compare-with"), ("cannot", "cannot-judge"),
    ):  # fmt: skip
        choose_act(page, "C", act)
        yield state
        page.keyboard.press("Escape")
    page.keyboard.press("?")
    yield "help"
    page.keyboard.press("Escape")


def _trouble(come: Visit) -> Iterator[str]:
    page = come.page
    come.context.set_offline(True)
    press(page, "D", "Alt+ArrowUp")
    expect(page.locator("#save-status[data-word=offline]")).to_be_visible()
    yield "offline"
    come.context.set_offline(False)
    expect(page.locator(SAVED)).to_be_visible()
    other = come.new_page()
    other.goto(page.url)
    is_ready(other)
    press(other, "C", "Alt+ArrowUp")
    expect(other.locator(SAVED)).to_be_visible()
    other.close()
    page.bring_to_front()
    press(page, "D", "Alt+ArrowUp")
    expect(page.get_by_role("dialog")).to_have_count(1)
    yield "conflict"
    page.keyboard.press("Escape")
    yield "undecided"
    page.locator("#decide").click()
    page.locator("#conflict [value=mine]").click()
    expect(page.locator(SAVED)).to_be_visible()


def _submitting(come: Visit) -> Iterator[str]:
    page = come.page
    row(page, "A")
    page.locator("#ladder [data-do=submit]").click()
    yield "too-early"
    choose_act(page, "E", "cannot")
    page.locator("#cannot-reason [value=own]").click()
    expect(page.locator("#cannot .chip")).to_have_count(1)
    rank_by_keys(page, "FG")
    yield "review"
    submit(page)
    come.has_submitted()
    yield "receipt"
    page.keyboard.press("Escape")
    yield "submitted"


def _life(come: Visit) -> Iterator[str]:
    page = come.page
    for state in ("open", "paused", "closed"):
        _set_state(come, state)
        page.reload()
        is_ready(page)
        yield f"task-{state}"
        page.goto(f"{come.served.base}/judge")
        yield f"first-{state}"
        if state == "open":
            begin(page, "Problem 1")
            rank_by_keys(page, "ABCDEFG")
            submit(page)
            expect(page.locator("#receipt")).to_be_visible()
            page.locator("#receipt .next").click()
            yield "repeated"
            is_ready(page)
            rank_by_keys(page, "ABCDEFG")
            submit(page)
            expect(page.locator("#receipt")).to_be_visible()
            page.locator("#receipt .next").click()
            yield "done"
            page.locator("a[href*='/g/']").first.click()
            is_ready(page)
        else:
            page.locator("a[href*='/g/']").first.click()
            is_ready(page)


def _set_state(come: Visit, state: str) -> None:
    """Let the study be in another state."""
    store = open_store(locate_database(come.served.study, come.served.database))
    with store.write() as c:
        set_state(c, "made-up", state, "shell")  # type: ignore[arg-type]
    store.close()


def main(folder: Path, find: Callable[[Any], str]) -> None:
    """Take a picture of each state, wide and narrow, light; of some dark."""
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as driver, tempfile.TemporaryDirectory() as made:
        browser = driver.chromium.launch(executable_path=find(driver), args=["--no-sandbox"])
        with Served(write_states_study(Path(made))) as served:
            come = Visit(browser, served, "J0")
            for number, state in enumerate(states(come), 1):
                for view, (width, height) in PICTURES.items():
                    come.page.set_viewport_size({"width": width, "height": height})
                    come.page.screenshot(path=folder / f"{number:02}-{state}-{view}.png")
                come.page.emulate_media(color_scheme="dark")
                come.page.screenshot(path=folder / f"{number:02}-{state}-phone-dark.png")
                come.page.emulate_media(color_scheme="light")
                come.page.set_viewport_size({"width": 1280, "height": 800})
            come.close()
        browser.close()


if __name__ == "__main__":
    from tests.browser.conftest import find_chromium

    main(Path(sys.argv[1]), find_chromium)
