"""Formulas, notebooks, and drawings on judges' pages, as the browser shows them."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.blinding.planted_notebooks import drawing, planted_notebook, with_attachment
from tests.browser.judging import accessible
from tests.browser.views import PHONE
from tests.served import Served, write_judging_study

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Locator

    from tests.browser.judging import Visit

# Those of which KaTeX writes styles as attributes, and many others; the last are no TeX.
FORMULAS = (
    r"""
\vec{v}  \overrightarrow{AB}  \widehat{abc}  \overline{x}  \underbrace{a+b}_n  \sqrt[3]{x+y}
\frac{1}{1+\frac{1}{x}}  \sum_{i=1}^{n} i^2  \int_0^\infty e^{-x^2}\,dx  \lim_{x \to 0} \sin x
\begin{pmatrix} a & b \\ c & d \end{pmatrix}  \begin{cases} 1 & x > 0 \\ 0 \end{cases}
\begin{aligned} a &= b + c \\ &= d \end{aligned}  \begin{array}{c|c} a & b \end{array}
\mathbb{E}[X]  \mathcal{L}(\theta)  \mathfrak{g}  \boldsymbol{\beta}  \hat{y}  \Bigl\{ x \Bigr\}
\operatorname{arg\,max}_x f(x)  \text{if } x > 0  \left( \frac{a}{b} \right]  \xrightarrow{f}
\overset{!}{=}  \binom{n}{k}  a \equiv b \pmod n  \color{red} x  \colorbox{yellow}{x}  \cancel{x}
\boxed{E = mc^2}  \not= b  \partial_t u  \ce{H2O}  \dot{x} + \ddot{x}  f'(x)  \stackrel{def}{=}
\overbrace{1 + \dots + 1}^{n}  \rule{1em}{1pt}  \phantom{x} y  \smash{\frac{a}{b}}  \kern 3pt x
\raisebox{2pt}{x}  \tag{1} x  \unknown{x}  \frac{1  \def\a{\a\a}\a  \includegraphics{x.png}
\href{javascript:alert(1)}{x}""".strip()
    .replace("\n", "  ")
    .split("  ")
)
LONG = "+".join(f"x_{{{n}}}" for n in range(80))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A task about formulas, a notebook, and a drawing."""
    folder = tmp_path_factory.mktemp("formulas")
    study = write_judging_study(folder, problems=1, solvers=5, judges=2)
    group = folder / "solutions" / "P0"
    lines = [f"Formula {n}: $${tex}$$" for n, tex in enumerate(FORMULAS)]
    text = "\n\n".join(["It costs $5 and $6; let $v$ and $w$ be.", *lines, f"$${LONG}$$"])
    (group / "S0.md").write_text(text)

    def name(kind: str) -> str:
        return f"of-{kind.replace(' ', '-')}"

    notebook = json.dumps(with_attachment(planted_notebook(name), name))
    for solver, ending, content in (("S1", "ipynb", notebook), ("S2", "svg", drawing(name))):
        (group / f"{solver}.md").unlink()
        (group / f"{solver}.{ending}").write_text(content)
    with Served(study) as server:
        yield server


def open_solution(come: Visit, text: str) -> Locator:
    """Go to the solution that begins with some text."""
    come.page.locator("#tray .chip", has_text=text).first.locator(".open-it").click()
    prose = come.page.locator("#main .prose", has_text=text).first
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
    """All of them, by one script, and no other page loads it; a vector has its arrow."""
    come = visit(device_scale_factor=3)
    asked: list[str] = []
    come.page.on("request", lambda request: asked.append(request.url))
    come.enter()
    open_solution(come, "first second")
    assert [url for url in asked if "katex" in url.lower()] == []
    prose = open_solution(come, "It costs")
    formulas = prose.locator(".math")
    expect(formulas).to_have_count(len(FORMULAS) + 3)
    expect(formulas.last.locator(".katex")).to_be_attached()
    assert sum(url.endswith("katex.min.js") for url in asked) == 1
    expect(prose.locator(".math:not(:has(.katex, .katex-error))")).to_have_count(0)
    assert prose.locator(".katex-error").count() <= 4
    assert prose.locator("math").count() >= len(FORMULAS) - 4
    expect(prose.get_by_text("It costs $5 and $6")).to_be_visible()
    assert prose.locator("a[href^=javascript], img").count() == 0
    plain, vector = (formulas.nth(n).locator(".katex-html") for n in (0, 2))
    assert dark_above(vector) > 20
    assert dark_above(plain) == 0
    accessible(come.page, "formulas")
    # A long one scrolls, and is within reach of the keyboard.
    come.page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    assert formulas.last.evaluate("one => one.scrollWidth > one.clientWidth")
    assert come.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
