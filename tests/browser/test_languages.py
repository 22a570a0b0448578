"""Every state of judges' pages: accessible, all in reach, translated, and mirrored."""

from __future__ import annotations

import os
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image, ImageDraw
from playwright.sync_api import expect

from quem.store.database import open_store
from quem.store.location import locate_database
from quem.store.studies import set_state
from tests.blinding.planted import PLANTS, planted
from tests.browser.judging import (
    Visit,
    accessible,
    begin,
    cannot_judge,
    choose,
    decide,
    drag,
    escape,
    follow,
    goes_on,
    is_ready,
    open_menu,
    press,
    rank_by_keys,
    reload,
    row,
    shown,
    submit,
)
from tests.browser.views import EVERY_VIEW, NARROW, PHONE, WIDE, look
from tests.languages.pseudo import LEFT, PROGRAM, RIGHT
from tests.served import Served, write_judging_study

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Page


JUDGING = """{briefing: text.md, consent: text.md, repeat: 1, ask_maker: true, questions: [
  {id: sure, about: placement},
  {id: clear, about: solution, kind: scale, text: Είναι σαφές;, ends: [όχι, ναι]},
  {id: error, about: solution, kind: flag, text: Έχει λάθος},
  {id: hard, about: task, kind: choice, text: Δύσκολο;, options: [όχι, ναι]},
  {id: more, about: study, kind: text, text: Κάτι άλλο;}]}
organizer: {name: Αλίκη, institution: Ινστιτούτο, email: a@example.org, phone: +44 20 5550 0142}
deadline: 2031-12-12"""
SAVED = "#save-status[data-word=saved]"
# The label of the solution that has most of something.
MOST = """measure => {
    const { solutions } = JSON.parse(document.querySelector("#group-data").textContent);
    const all = Object.entries(solutions);
    return all.sort(([, one], [, other]) => other[measure] - one[measure])[0][0];
}"""


def write_states_study(folder: Path) -> Path:
    """Write a study of all kinds of solutions, in Greek: Latin letters are those of the pages."""
    study = write_judging_study(folder, problems=2, solvers=7, judges=6, judging=JUDGING)
    text = study.read_text().replace("Made up", "Μελέτη").replace("Problem ", "Θέμα ")
    study.write_text(text.replace("name: Judge", "name: Κριτής"))
    (folder / "text.md").write_text("Καλημέρα.\n\n- Συμφωνείτε;\n- Πρώτο **και** δεύτερο.\n")
    for problem in (0, 1):
        (folder / f"p{problem}.md").write_text("Τι θα κάνετε;\n\n| α | β |\n|---|---|\n| 1 | 2 |\n")
        for path in (folder / "solutions" / f"P{problem}").iterdir():
            path.write_text(f"Λύση {path.stem[-1]}.\n\n- πρώτο\n- δεύτερο\n")
    group = folder / "solutions" / "P0"
    for name in ("S1", "S2", "S3"):
        (group / f"{name}.md").unlink()
    parts = (f"## Μέρος {n}\n\n{'μια λέξη και άλλη ' * 100}\n" for n in range(1, 16))
    (group / "S0.md").write_text("# Ένα σχέδιο\n\n" + "\n".join(parts))
    (group / "S1.py").write_text("# Κώδικας\nif 1 > 2:\n    3 + 4\n\n" * 8)
    (group / "S2.pdf").write_bytes(planted({"exif": PLANTS["exif"], "xmp": PLANTS["xmp"]}))
    (group / "S3").mkdir()
    picture = Image.new("RGB", (1600, 900), "white")
    ImageDraw.Draw(picture).rectangle((200, 300, 500, 850), fill="teal")
    picture.save(group / "S3" / "c.png")
    (group / "S3" / "b.md").write_text(
        "Ωραία ![](c.png) και ![](d.png).\n\n| βήμα | κόστος |\n|---|---:|\n| α | 2,000 |\n"
    )
    (group / "S4.md").write_text("λέξη " * 900)
    return study


def states(come: Visit) -> Iterator[str]:
    """Lead a judge through all states of their pages; gives the name of each when it is there.

    The words of the pages do not matter, so that it works in every language.
    """
    page = come.page
    yield from _first_page(come)
    begin(page, "Θέμα 0")
    yield from _reading(page)
    yield from _placing(page)
    yield from _trouble(come)
    yield from _submitting(come)
    yield from _last_page(come)
    yield from _life(come)
    page.goto(f"{come.served.base}/judge/g/nothing")
    yield "message"


def _first_page(come: Visit) -> Iterator[str]:
    page = come.page
    page.goto(come.served.links[come.judge])
    yield "first-consent"
    page.locator(".language-menu summary").click()
    yield "languages"
    follow(page.locator("[name=consent][value=no]"))
    yield "declined"
    follow(page.locator("[name=consent][value=yes]"))
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
    escape(page)


def _placing(page: Page) -> Iterator[str]:
    rank_by_keys(page, "ABCD")
    yield "placed"
    for key, state in (
        ("c", "comparing"),
        ("ArrowLeft", "comparing-next"),
        ("Backspace", "taken-back"),
        ("Escape", "stopped"),
    ):
        goes_on(page, partial(page.keyboard.press, key))
        yield state
    page.locator("#sheet-toggle").dispatch_event("click")
    yield "ladder"
    page.locator("#sheet-toggle").dispatch_event("click")
    for label in "EA":
        open_menu(page, label)
        yield f"menu-{'ranked' if label == 'A' else 'not-ranked'}"
        page.keyboard.press("Escape")
    choose(page, "B", "tie")
    choose(page, "C", "recognized")
    yield "recognized"
    for act in ("comment", "with", "cannot"):
        choose(page, "C", act)
        yield act
        escape(page)
    page.keyboard.press("?")
    yield "help"
    escape(page)
    page.keyboard.press("Control+z")
    yield "undone"
    page.keyboard.press("Control+Shift+z")


def _trouble(come: Visit) -> Iterator[str]:
    page = come.page
    for choice in ("newer", "mine"):
        come.context.set_offline(True)
        press(page, "D", "Alt+ArrowUp")
        expect(page.locator("#save-status[data-word=offline]")).to_be_visible()
        yield "offline"
        come.context.set_offline(False)
        expect(page.locator(SAVED)).to_be_visible()
        other = come.tab()
        press(other, "C", "Alt+ArrowUp")
        expect(other.locator(SAVED)).to_be_visible()
        other.close()
        page.bring_to_front()
        press(page, "D", "Alt+ArrowUp")
        expect(page.get_by_role("dialog")).to_have_count(1)
        yield "conflict"
        escape(page)
        yield "undecided"
        page.locator("#decide").click()
        decide(page, choice)
        expect(page.locator(SAVED)).to_be_visible()
        yield choice


def _submitting(come: Visit) -> Iterator[str]:
    page = come.page
    page.locator("#ladder [data-do=submit]").click()
    yield "too-early"
    cannot_judge(page, "E")
    yield "cannot-judge"
    rank_by_keys(page, "FG")
    yield "review"
    submit(page)
    come.has_submitted()
    yield "receipt"
    escape(page)
    yield "submitted"


def _last_page(come: Visit) -> Iterator[str]:
    page = come.page
    page.goto(f"{come.served.base}/judge")
    begin(page, "Θέμα 1")
    for state in ("repeated", "done"):
        rank_by_keys(page, "ABCDEFG")
        submit(page)
        expect(page.locator("#receipt")).to_be_visible()
        follow(page.locator("#receipt .next"))
        if state == "repeated":
            is_ready(page)
        else:
            yield "makers"
            follow(page.locator("[name=guess][value=skip]"))
        yield state


def _life(come: Visit) -> Iterator[str]:
    page = come.page
    for state in ("open", "paused", "closed"):
        set_life(come, "open")
        page.goto(f"{come.served.base}/judge")
        begin(page, "Θέμα 0")
        if state == "open":
            yield "task-submitted"
            page.locator("#reopen").click()
            expect(page.locator("[data-do=send]")).to_be_visible()
            yield "reopened"
        else:
            set_life(come, state)
            press(page, "A", "Alt+ArrowDown")
            expect(page.locator("#message")).to_be_visible()
            yield f"told-{state}"
        reload(page)
        yield f"task-{state}"
        page.goto(f"{come.served.base}/judge")
        yield f"first-{state}"
    set_life(come, "open")


def set_life(come: Visit, state: Any) -> None:  # noqa: ANN401  a literal
    store = open_store(locate_database(come.served.study, come.served.database))
    with store.write() as c:
        set_state(c, "made-up", state, "shell")
    store.close()


# Of the design: laptop, tablet, phones; and a laptop at 200%, a phone on its side, and the least.
SIZES = [(1280, 800), (820, 1180), (390, 844), (360, 740), (640, 400), (844, 390), (320, 256)]
VIEWS = list(product(SIZES, ["light", "dark"]))
LANGUAGES = [LEFT, "en", "de", "ja", RIGHT] if EVERY_VIEW in os.environ else [LEFT]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A study with everything, in languages that are made up."""
    with Served(write_states_study(tmp_path_factory.mktemp("states")), program=PROGRAM) as server:
        yield server


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_state_is_accessible(visit: Callable[..., Visit], language: str) -> None:
    """In one window and scheme each, by turns; `nox -s trials -- views` looks at all."""
    come = visit(locale=language)
    page = come.page
    is_all = EVERY_VIEW in os.environ
    for turn, state in enumerate(states(come)):
        if language == LEFT:
            for window in (NARROW, WIDE):
                page.set_viewport_size(window)  # type: ignore[arg-type]
                look(page, f"{state}, {window}")
        # The next state is seen in another size, and the other scheme.
        seen = VIEWS if is_all else [VIEWS[5 * turn % len(VIEWS)]]
        for (width, height), scheme in seen:
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            page.set_viewport_size({"width": width, "height": height})
            what = f"{state}, {width} x {height}, {scheme}, {language}"
            accessible(page, what)
            if height < 500 and state.startswith("comparing"):
                can_be_answered(page, what)
        page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    assert page.locator("html").get_attribute("lang") == language


def can_be_answered(page: Page, what: str) -> None:
    """In a low window too, verdicts and the button to stop can be reached and seen."""
    for name in ("[data-verdict=equal]", ".compare-head [data-do=stop]"):
        button = page.locator(name)
        button.focus()
        button.scroll_into_view_if_needed()
        box = button.bounding_box()
        assert box, what
        height = page.viewport_size["height"]  # type: ignore[index]
        assert -1 <= box["y"] <= height - box["height"] + 1, f"{what}: {name} at {box}"
        top = page.evaluate(
            "({x, y}) => document.elementFromPoint(x, y)?.closest('button')?.textContent",
            {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2},
        )
        assert top == button.text_content(), f"{what}: {name} is covered by {top}"


def test_all_is_mirrored(visit: Callable[..., Visit]) -> None:
    """The ladder is on the right; best stays on top; dragging works; axe finds nothing."""
    come = visit()
    page = come.page
    page.goto(come.served.links[come.judge])
    page.locator(".language-menu summary").click()
    follow(page.locator(f"[name=language][value={RIGHT}]"))
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    accessible(page, "first page")
    follow(page.locator("[name=consent][value=yes]"))
    begin(page, "Θέμα 1")
    accessible(page, "problem")
    left, right = (page.locator(part).bounding_box() for part in ("#main", "#ladder"))
    assert left
    assert right
    assert left["x"] < right["x"]
    drag(page, "A", page.locator("#ranked"))
    rungs = page.locator("#ranked .rung")
    for label, onto, share, order in (
        ("B", rungs.last, 0.95, "A B"),
        ("C", rungs.last, 0.95, "A B C"),
        ("C", rungs.first, 0.05, "C A B"),
        ("B", rungs.first, 0.5, "CB A"),
    ):
        drag(page, label, onto, share)
        assert shown(page) == order
    accessible(page, "ranked")
    menu = open_menu(page, "A").bounding_box()
    assert menu
    assert 0 <= menu["x"] <= WIDE["width"] - menu["width"]
    accessible(page, "menu")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    accessible(page, "help")
    escape(page)
    for label in "DEFG":
        choose(page, label, "worst")
    accessible(page, "review")
    submit(page)
    expect(page.locator("#receipt")).to_be_visible()
    accessible(page, "receipt")


def test_the_next_step_is_in_sight_and_a_pause_ends_by_itself(visit: Callable[..., Visit]) -> None:
    """Refusing is as easy as agreeing; an open task goes on when the study does."""
    come = visit(viewport=PHONE)
    page = come.page
    page.goto(come.served.links[come.judge])
    agree, decline = (page.locator(f"[name=consent][value={value}]") for value in ("yes", "no"))
    widths = [one.evaluate("one => one.offsetWidth") for one in (agree, decline)]
    assert widths[0] == widths[1]
    follow(agree)
    expect(page.locator("a.primary")).to_be_in_viewport()
    begin(page, "Θέμα 0")
    for state in ("open", "paused"):
        set_life(come, state)
    page.reload()
    expect(page.locator("#left")).to_have_text("The study is paused.")
    set_life(come, "open")
    # It asks every 10 seconds; where the clock is moved, the browser may hang as the page goes.
    expect(page.locator("#left")).not_to_have_text("The study is paused.")
    expect(page.locator("#main [data-do=next]")).to_be_visible()
