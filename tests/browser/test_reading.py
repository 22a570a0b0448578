"""Solutions of all kinds on judges' pages, what a browser fetches, and a task without a server."""

from __future__ import annotations

import io
import json
import runpy
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.blinding.planted import PLANTS, planted
from tests.blinding.planted_notebooks import drawing, planted_notebook, with_attachment
from tests.browser.judging import (
    Visit,
    accessible,
    begin,
    choose,
    drag,
    follow,
    is_ready,
    place,
    rank_by_keys,
    row,
    shown,
    submit,
    title,
)
from tests.browser.views import PHONE
from tests.docs.pages import ROOT
from tests.served import Served, write_judging_study

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Locator, Request, Response


CODE = "def f(x):\n    return x\n\n\nprint(f(1))"
# Where the window and the text in hand are scrolled to.
SCROLLED = "[scrollY, document.querySelector('#reader').scrollTop]"


def test_long_solutions_have_contents_and_keep_their_place(visit: Callable[..., Visit]) -> None:
    """The window never scrolls; each solution is found again where it was left."""
    page = visit().enter()
    long = page.locator("#tray .chip", has_text="Long").locator(".open-it")
    long.click()
    expect(page.locator(".contents a")).to_have_count(5)
    page.locator(".contents a").nth(3).click()
    heading = page.locator("#reader h4").nth(3)
    expect(heading).to_be_focused()
    expect(heading).to_be_in_viewport()
    at, place = page.evaluate(SCROLLED)
    assert at == 0
    assert place > 200
    page.keyboard.press("j" if title(page).inner_text() != "Solution E" else "k")
    assert page.evaluate(SCROLLED) == [0, 0]
    long.click()
    assert page.evaluate(SCROLLED) == [0, place]
    page.keyboard.press("c")
    assert page.evaluate(SCROLLED) == [0, 0]


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A session whose tasks have a picture and a PDF, code, long texts, and formulas."""
    folder = tmp_path_factory.mktemp("kinds")
    study = write_judging_study(folder, problems=4, solvers=5, judges=1)
    groups = [folder / "solutions" / f"P{problem}" for problem in range(4)]
    missing = []
    for group, count in zip(groups, (3, 3, 4, 5), strict=True):
        for path in sorted(group.iterdir())[count:]:
            path.unlink()
            missing.append({"problem": group.name, "solver": path.stem})
    study.write_text(f"{study.read_text()}missing: {json.dumps(missing)}\n")
    for path in (groups[0] / "S0.md", groups[0] / "S1.md", groups[1] / "S0.md"):
        path.unlink()
    Image.new("RGB", (1600, 900), "teal").save(groups[0] / "S0.png")
    (groups[0] / "S1.pdf").write_bytes(planted({"exif": PLANTS["exif"], "xmp": PLANTS["xmp"]}))
    (groups[1] / "S0.py").write_text(f"{CODE}\n")
    for path in groups[2].iterdir():
        path.write_text(f"Name {path.stem}.\n\n" + "Many words that go on and on. " * 5000)
    write_formulas(groups[3])
    with Served(study) as server:
        yield server


@pytest.fixture
def come(browser: Browser, kinds: Served) -> Iterator[Visit]:
    visit = Visit(browser, kinds, "J0")
    yield visit
    visit.close()


def test_pictures_pages_and_code(come: Visit) -> None:
    """Pictures are seen in their size; numbers of lines are not copied with code."""
    page = come.enter("Problem 0")
    page.locator("#tray .chip", has_text="1 picture").locator(".open-it").click()
    page.get_by_role("button", name="Enlarge").click()
    image = page.locator("#enlarged img")
    expect(image).to_have_js_property("naturalWidth", 1600)
    assert image.evaluate("image => image.clientWidth") < 1300
    page.get_by_role("button", name="Actual size").click()
    assert image.evaluate("image => image.clientWidth") == 1600
    page.keyboard.press("Escape")
    page.locator("#tray .chip", has_text="2 pages").locator(".open-it").click()
    second = page.locator(".page").nth(1)
    second.get_by_text("Text of page 2").click()
    expect(second.locator(".page-text")).to_have_text("An ordinary plan")
    come.enter("Problem 1")
    page.locator("#tray .chip", has_text="5 lines").locator(".open-it").click()
    expect(page.get_by_role("region", name="Code, 5 lines")).to_be_visible()
    copied = page.evaluate("""() => {
        getSelection().selectAllChildren(document.querySelector("#reader pre"));
        return getSelection().toString();
    }""")
    assert copied.rstrip("\n") == CODE


def test_long_texts_come_one_by_one(come: Visit) -> None:
    """What makes the page too large comes when it is read; a failure can be tried again."""
    page = come.enter("Problem 2")
    assert page.locator("template[data-solution]").count() == 1
    page.route("**/solution/**", lambda route: route.abort())
    row(page, "C").click()
    expect(title(page)).to_have_text("Solution C")
    expect(page.locator(".loading")).to_contain_text("Solution C could not be loaded.")
    accessible(page, "not loaded")
    page.unroute("**/solution/**")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#reader .prose")).to_contain_text("Many words")
    rank_by_keys(page, "A")
    page.keyboard.press("c")
    expect(page.locator(".pane .prose")).to_have_count(2)


# Those of which KaTeX writes styles as attributes, and others; the last are no TeX.
FORMULAS = r"""\vec{v}
\frac{1}{1+\frac{1}{x}}
\underbrace{a+b}_n
\sqrt[3]{x+y}
\int_0^\infty e^{-x^2}\,dx
\begin{pmatrix} a & b \\ c & d \end{pmatrix}
\begin{aligned} a &= b + c \\ &= d \end{aligned}
\text{if } x > 0 \left( \frac{a}{b} \right]
\colorbox{yellow}{x} \cancel{x} \rule{1em}{1pt}
\raisebox{2pt}{x}
\unknown{x}
\frac{1
\def\a{\a\a}\a
\includegraphics{x.png}
\href{javascript:alert(1)}{x}""".splitlines()
LONG = "+".join(f"x_{{{n}}}" for n in range(80))


def write_formulas(group: Path) -> None:
    lines = [f"Formula {n}: $${tex}$$" for n, tex in enumerate(FORMULAS)]
    text = "\n\n".join(["It costs $5 and $6; let $v$ and $w$ be.", *lines, f"$${LONG}$$"])
    first, second, third = sorted(group.iterdir())[:3]
    first.write_text(text)

    def name(kind: str) -> str:
        return f"of-{kind.replace(' ', '-')}"

    notebook = json.dumps(with_attachment(planted_notebook(name), name))
    for path, ending, content in ((second, "ipynb", notebook), (third, "svg", drawing(name))):
        path.unlink()
        path.with_suffix(f".{ending}").write_text(content)


def open_solution(come: Visit, text: str) -> Locator:
    come.page.locator("#tray .chip", has_text=text).first.locator(".open-it").click()
    prose = come.page.locator("#main .prose", has_text=text).first
    expect(prose).to_be_visible()
    return prose


def dark_above(place: Locator) -> int:
    place.scroll_into_view_if_needed()
    with Image.open(io.BytesIO(place.screenshot())) as image:
        gray = image.convert("L")
        upper: Any = gray.crop((0, 0, gray.width, gray.height // 3))
        return sum(count for value, count in enumerate(upper.histogram()) if value < 140)


def test_formulas_are_set(browser: Browser, kinds: Served) -> None:
    """All of them, by one script, and no other page loads it; a vector has its arrow."""
    come = Visit(browser, kinds, "J0", device_scale_factor=3)
    asked: list[str] = []
    come.page.on("request", lambda request: asked.append(request.url))
    come.enter("Problem 3")
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
    come.close()


def test_the_first_visit_is_light(visit: Callable[..., Visit]) -> None:
    """From the link to the first task: few requests, and few bytes of them on the wire."""
    come = visit()
    page = come.page
    events = page.context.new_cdp_session(page)
    urls: dict[str, str] = {}
    sizes: list[int] = []

    def requested(event: dict[str, Any]) -> None:
        urls[event["requestId"]] = event["request"]["url"]

    def answered(event: dict[str, Any]) -> None:
        if event.get("response", {"fromDiskCache": True}).get("fromDiskCache"):
            urls.pop(event["requestId"], None)

    events.on("Network.requestWillBeSent", requested)
    events.on("Network.requestServedFromCache", answered)
    events.on("Network.responseReceived", answered)
    events.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    events.send("Network.enable")
    page.goto(come.served.links[come.judge])
    follow(page.get_by_role("button", name="I agree to take part"))
    begin(page)
    page.wait_for_load_state("networkidle")
    # Three pages, one style sheet, one script, two fonts, the icon, and a font of italics.
    assert len(urls) <= 9, urls
    assert sum(sizes) <= 150_000, sizes


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A server of files that knows nothing else, with the page in a folder."""
    for name, content in runpy.run_path(str(ROOT / "docs/make_try.py"))["try_files"]().items():
        (tmp_path / "try" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "try" / name).write_bytes(content)
    (tmp_path / "index.html").write_text("<link rel=icon href=data:,><h1>The docs</h1>")
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_task_without_a_server(browser: Browser, address: str) -> None:
    """Place by keys, compare, tie, submit; every request is answered, and none is another's."""
    page = browser.new_page(reduced_motion="reduce")
    troubles: list[str] = []

    def look(answer: Response) -> None:
        is_ours = answer.request.method == "GET" and answer.url.startswith(address)
        if not is_ours or answer.status >= 400:
            troubles.append(answer.url)

    def fail(request: Request) -> None:
        # A page that is left lets go of what it waits for.
        if request.failure != "net::ERR_ABORTED":
            troubles.append(request.url)

    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda message: troubles.append(message.text))
    page.on("requestfailed", fail)
    page.on("response", look)
    status = page.locator("#save-status")
    for name, said in (("de.html", "Vorschau: Nichts wird"), ("", "Preview: nothing is saved")):
        page.goto(f"{address}/try/{name}")
        is_ready(page)
        expect(status).to_contain_text(said)
    assert page.locator("#main img").evaluate("picture => picture.naturalWidth") > 0
    rank_by_keys(page, "AB")
    drag(page, "C", page.locator("#ranked .rung").first)
    assert shown(page) == "AC B"
    row(page, "D").click()
    assert place(page, "DACB", "click") > 0
    assert shown(page) == "D AC B"
    for label in "EFGH":
        choose(page, label, "worst")
    submit(page)
    # Its link leads to a folder.
    follow(page.locator("#receipt .next"))
    expect(page.locator("h1")).to_have_text("The docs")
    page.close()
    assert troubles == []
