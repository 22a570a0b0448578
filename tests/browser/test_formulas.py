"""Formulas, notebooks, and drawings on judges' pages, as the browser shows them."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.blinding.planted_notebooks import drawing, planted_notebook, with_attachment
from tests.browser.judging import accessible, row
from tests.browser.views import PHONE
from tests.served import Served, write_judging_study

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Locator

    from tests.browser.judging import Visit

# Those of which KaTeX writes styles as attributes, and many others; the last are no TeX.
FORMULAS = [
    *(r"\vec{v}", r"\overrightarrow{AB}", r"\widehat{abc}", r"\overline{x}", r"\underbrace{a+b}_n"),
    *(r"\frac{1}{1+\frac{1}{x}}", r"\sqrt[3]{x+y}", r"\sum_{i=1}^{n} i^2", r"\prod_k a_k"),
    *(r"\int_0^\infty e^{-x^2}\,dx", r"\oint_C F\cdot dr", r"\lim_{x \to 0} \frac{\sin x}{x}"),
    *(r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}", r"\begin{cases} 1 & x > 0 \\ 0 \end{cases}"),
    *(r"\begin{aligned} a &= b + c \\ &= d \end{aligned}", r"\begin{array}{c|c} a & b \end{array}"),
    *(r"\mathbb{E}[X]", r"\mathcal{L}(\theta)", r"\mathfrak{g}", r"\boldsymbol{\beta}", r"\hat{y}"),
    *(r"\operatorname{arg\,max}_x f(x)", r"\text{if } x > 0", r"\left( \frac{a}{b} \right]"),
    *(
        r"\Bigl\{ x \Bigr\}",
        r"\xrightarrow{f}",
        r"\xleftarrow[g]{f}",
        r"\overset{!}{=}",
        r"\binom{n}{k}",
    ),
    *(r"a \equiv b \pmod n", r"\color{red} x", r"\colorbox{yellow}{x}", r"\boxed{E = mc^2}"),
    *(
        r"\cancel{x}",
        r"\not= b",
        r"x \in \mathbb{R}^{n \times m}",
        r"\nabla \times B",
        r"\partial_t u",
    ),
    *(r"\ce{H2O}", r"\dot{x} + \ddot{x}", r"\tilde{a} \bar{b} \check{c} \acute{d}", r"f'(x)"),
    *(r"\overbrace{1 + \dots + 1}^{n}", r"\stackrel{def}{=}", r"\rule{1em}{1pt}", r"\phantom{x} y"),
    *(r"\smash{\frac{a}{b}}", r"\raisebox{2pt}{x}", r"\kern 3pt x", r"\tag{1} x", r"\unknown{x}"),
    *(r"\frac{1", r"\def\a{\a\a}\a", r"\href{javascript:alert(1)}{x}", r"\includegraphics{x.png}"),
]
LONG = "+".join(f"x_{{{n}}}" for n in range(80))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A task about formulas, a notebook, and a drawing."""
    folder = tmp_path_factory.mktemp("formulas")
    study = write_judging_study(folder, problems=1, solvers=5, judges=4)
    group = folder / "solutions" / "P0"
    lines = [f"Formula {n}: $${tex}$$" for n, tex in enumerate(FORMULAS)]
    text = "\n\n".join(["It costs $5 and $6; let $v$ and $w$ be.", *lines, f"$${LONG}$$"])
    (group / "S0.md").write_text(text)

    def name(kind: str) -> str:
        return f"of-{kind.replace(' ', '-')}"

    notebook = with_attachment(planted_notebook(name), name)
    for solver, ending, content in (
        ("S1", "ipynb", json.dumps(notebook)),
        ("S2", "svg", drawing(name)),
    ):
        (group / f"{solver}.md").unlink()
        (group / f"{solver}.{ending}").write_text(content)
    with Served(study) as server:
        yield server


def open_solution(come: Visit, text: str) -> Locator:
    """Go to the solution that begins with some text."""
    page = come.page
    chip = page.locator("#tray .chip", has_text=text).first
    label = str(chip.get_attribute("data-label"))
    row(page, label).click()
    prose = page.locator(f"#main [data-label='{label}'] .prose, #main .prose").first
    expect(prose).to_be_visible()
    return prose


def dark_above(place: Locator) -> int:
    """How many dark pixels a formula has in the upper third of its place."""
    place.scroll_into_view_if_needed()
    with Image.open(io.BytesIO(place.screenshot())) as image:
        gray = image.convert("L")
        upper: Any = gray.crop((0, 0, gray.width, gray.height // 3))
        return sum(count for value, count in enumerate(upper.histogram()) if value < 140)


def test_formulas_are_set(visit: Callable[..., Visit]) -> None:
    """All of them, with no message of the page's policy; a vector has its arrow."""
    come = visit(device_scale_factor=3)
    come.enter()
    prose = open_solution(come, "It costs")
    formulas = prose.locator(".math")
    expect(formulas).to_have_count(len(FORMULAS) + 3)
    expect(formulas.last.locator(".katex")).to_be_attached()
    unset = [
        tex
        for tex, place in zip(["v", "w", *FORMULAS], formulas.all(), strict=False)
        if not place.locator(".katex, .katex-error").count()
    ]
    assert unset == []
    broken = {
        tex
        for tex, place in zip(["v", "w", *FORMULAS], formulas.all(), strict=False)
        if place.locator(".katex-error").count()
    }
    assert len(broken) <= 4
    assert prose.locator("math").count() >= len(FORMULAS) - 4
    assert prose.get_by_text("It costs $5 and $6").is_visible()
    assert prose.locator("a[href^=javascript], img").count() == 0
    vector = formulas.nth(2).locator(".katex-html")
    plain = formulas.nth(0).locator(".katex-html")
    assert dark_above(vector) > 20
    assert dark_above(plain) == 0
    accessible(come.page, "formulas")
    # A long one scrolls, and is within reach of the keyboard.
    come.page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    assert formulas.last.evaluate("one => one.scrollWidth > one.clientWidth")
    width = come.page.evaluate("document.documentElement.scrollWidth")
    assert width <= PHONE["width"]


def test_pages_without_formulas_load_nothing(visit: Callable[..., Visit]) -> None:
    """KaTeX is loaded where there is a formula in view, once."""
    come = visit()
    asked: list[str] = []
    come.page.on("request", lambda request: asked.append(request.url))
    come.enter()
    open_solution(come, "first second")
    assert [url for url in asked if "katex" in url.lower()] == []
    open_solution(come, "It costs")
    expect(come.page.locator(".katex").first).to_be_attached()
    assert sum(url.endswith("katex.min.js") for url in asked) == 1
