"""The reports as people see them: in Chromium, wide and narrow, light and dark, and printed."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import quem
from quem.report.files import write_report
from tests.browser.views import PHONE, WIDE, each_view, objections
from tests.examples import long_csv, write_study
from tests.options.made import analysed, drawn, study_in
from tests.patience import SECONDS
from tests.report.cases import case_study

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page

STUDIES = Path(__file__).resolve().parents[2] / "studies"
HOSTILE = "<script>alert(1)</script> & a name that goes on and on"
TITLES = {
    "title": f"A </title><img src=https://example.org/x> {'word' * 40}",
    "description": "word" * 40,
}


def _extreme(folder: Path) -> Path:
    """A study of nine systems with hostile names, one outside the range, and few subjects."""
    names = [f"S{i}" for i in range(4)] + [f"x{i}" for i in range(9)]
    ranks: dict[tuple[str, str, str], int | str] = {
        (f"J{judge}", f"P{problem}", name): place + (judge * problem * place) % 3
        for judge in range(8)
        for problem in range(3)
        for place, name in enumerate(names)
    }
    study = {
        **TITLES,
        "problems": [{"id": f"P{i}"} for i in range(3)],
        "judges": [{"id": f"J{i}", "experience": 3} for i in range(8)],
        "subjects": [{"id": f"S{i}", "experience": i + 1} for i in range(4)],
        "systems": [{"id": f"x{i}", "name": HOSTILE, "version": str(i)} for i in range(9)],
        "rankings": "rankings.csv",
    }
    return write_study(folder, study, rankings__csv=long_csv(ranks))


def _many_options(folder: Path) -> Path:
    key, lists = drawn(25, systems=9)
    systems = [{"id": f"s{i}", "name": HOSTILE} for i in range(9)]
    return study_in(folder, lists + "Q0,s0,o9,0.01\n", key, **TITLES, systems=systems)


def _compared(*paths: Path) -> Any:  # noqa: ANN401  a result
    return quem.compare(*(quem.load_study(path, kind="experience") for path in paths))


P3, PLANNERS = STUDIES / "p3-1997", STUDIES / "assembly-planners"
RESULTS: dict[str, Callable[[Path], Any]] = {
    "study": lambda _: quem.analyze(quem.load_study(P3 / "study.yaml")),
    "extreme": lambda folder: quem.analyze(quem.load_study(_extreme(folder))),
    "systems": lambda _: _compared(PLANNERS / "study.yaml"),
    "extreme systems": lambda folder: _compared(_extreme(folder)),
    "assistance": lambda _: _compared(PLANNERS / "assistance.yaml"),
    "options": lambda _: analysed(STUDIES / "option-lists" / "study.yaml"),
    "many options": lambda folder: analysed(_many_options(folder)),
}


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Write a report once; gives its page."""

    @cache
    def make(name: str) -> Path:
        folder = tmp_path_factory.mktemp("report")
        write_report(RESULTS[name](folder), folder / "out")
        return folder / "out" / "report.html"

    return make


@contextmanager
def opened(browser: Browser, report: Path) -> Iterator[tuple[Page, list[str]]]:
    context = browser.new_context(viewport=WIDE, reduced_motion="reduce")  # type: ignore[arg-type]
    page = context.new_page()
    page.set_default_timeout(SECONDS * 1000)
    noted: list[str] = []
    page.on("console", lambda message: noted.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: noted.append(f"error: {error}"))
    page.on("dialog", lambda dialog: noted.append(f"dialog: {dialog.message}"))
    page.on("request", lambda request: noted.append(f"request: {request.url[:200]}"))
    page.goto(report.as_uri())
    yield page, noted
    context.close()


@pytest.mark.parametrize("name", RESULTS)
def test_page_is_self_contained_accessible_and_printable(
    browser: Browser, make: Callable[[str], Path], name: str
) -> None:
    """No request, complaint, or overflow; printed, A4 pages that are light for dark readers too."""
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    with opened(browser, make(name)) as (page, noted):
        for view, colors in each_view(page):
            assert page.evaluate(overflow) == 0, view
            assert objections(page, colors=colors) == [], view
        assert noted == [f"request: {make(name).as_uri()}"]
        page.emulate_media(media="print", color_scheme="dark")
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == "rgb(255, 255, 255)"
        pdf = page.pdf(prefer_css_page_size=True)
        assert b"/MediaBox [0 0 594.95996 841.91998]" in pdf or b"/MediaBox [0 0 595" in pdf


SAID = ["7.2 years of experience", "between 3.6 and 10.9 years"]
CARDS = ["What this is based on", "Before you quote this"]
AHEAD = ["Fitter 2 is ahead of Fitter 1 by 3.1 years", "uniform prior"]


@pytest.mark.parametrize(
    ("name", "wide", "phone"), [("study", SAID + CARDS, SAID), ("systems", AHEAD, [])]
)
def test_first_screen_gives_the_answer(
    browser: Browser, make: Callable[[str], Path], name: str, wide: list[str], phone: list[str]
) -> None:
    """Verdict and interval are in view; on a wide screen what they depend on, too."""
    with opened(browser, make(name)) as (page, _):
        for window, texts in ((WIDE, wide), (PHONE, phone)):
            page.set_viewport_size(window)  # type: ignore[arg-type]
            for text in texts:
                box = page.get_by_text(text).filter(visible=True).first.bounding_box()
                assert box is not None
                assert box["y"] + box["height"] <= window["height"], text
        page.evaluate("document.fonts.ready")
        loaded = page.evaluate("[...document.fonts].map(font => `${font.family} ${font.status}`)")
        fonts = {font.replace('"', "") for font in loaded}
        assert fonts == {"Inter loaded", "Source Serif 4 loaded"}


# Of each figure that is shown: its place, and the place and size of its texts, as rendered.
_TEXTS = """
() => [...document.querySelectorAll('.drawn svg')].filter(svg => svg.getClientRects().length)
  .map(svg => {
    const place = element => {
      const {left, top, right, bottom} = element.getBoundingClientRect();
      return [left, top, right, bottom];
    };
    const scale = svg.viewBox.baseVal?.width ? svg.clientWidth / svg.viewBox.baseVal.width : 1;
    const texts = [...svg.querySelectorAll('text')].filter(text => text.textContent.trim());
    return [place(svg), texts.map(text =>
      [text.textContent, place(text), scale * parseFloat(getComputedStyle(text).fontSize)])];
  })
"""


@pytest.mark.parametrize("name", ["above", "jagged", "twelve"])
def test_texts_of_figures_are_legible(browser: Browser, tmp_path: Path, name: str) -> None:
    """No text leaves its figure, none meets another by more than a hair, all have 12 pixels."""
    result = quem.analyze(quem.load_study(case_study(name, tmp_path)))
    write_report(result, tmp_path / "out")
    with opened(browser, tmp_path / "out" / "report.html") as (page, _):
        for width in (360, 390, 820, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            drawn = page.evaluate(_TEXTS)
            assert len(drawn) == 2
            for (left, top, right, bottom), texts in drawn:
                assert len(texts) > 5
                for text, box, size in texts:
                    where = f"{text!r} at {width}: {box} {size}"
                    assert left - 1 <= box[0] <= box[2] <= right + 1, where
                    assert top - 1 <= box[1] <= box[3] <= bottom + 1, where
                    assert size >= 12 - 1e-3, where
                for (one, a, _), (other, b, _) in combinations(texts, 2):
                    across = min(a[2], b[2]) - max(a[0], b[0])
                    down = min(a[3], b[3]) - max(a[1], b[1])
                    assert across <= 1 or down <= 3, (one, other, width, across, down)


def test_figures_follow_the_colour_scheme(browser: Browser, make: Callable[[str], Path]) -> None:
    probe = "getComputedStyle(document.querySelector('svg [id*=xtick] text')).fill"
    dark_ink, light_ink = "rgb(25, 28, 34)", "rgb(233, 234, 237)"
    for name, in_dark in (("report.html", light_ink), ("line.svg", dark_ink)):
        with opened(browser, make("study").with_name(name)) as (page, _):
            assert page.evaluate(probe) == dark_ink, name
            page.emulate_media(color_scheme="dark")
            assert page.evaluate(probe) == in_dark, name
