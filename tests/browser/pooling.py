"""From the lists of retrievers to their table: a pool is judged in a browser.

Two made-up retrievers search made-up documents, one well and one badly. `quem score --pool`
writes the judging study; it is served, opened in the dashboard, graded by keys, and closed; and
its grades are the ground truth of the retrievers. What comes out is compared with what the judges
pressed.
"""

from __future__ import annotations

import re
from math import log2
from statistics import fmean, median_low
from typing import TYPE_CHECKING, Any

import ir_measures
import pytest
import yaml
from click.testing import CliRunner
from playwright.sync_api import expect

import quem
from quem.cli import main
from tests.browser.judging import Visit, follow, is_ready
from tests.served import Served

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from playwright.sync_api import Browser, Page

_CASES = 12
_FOUND = 4
_DEPTH = 2
_GRADES = 4
# What tells a document in its text, and what a judge must not see.
_TOLD = re.compile(r"Document number (\d+) ")


def judged_pool(
    browser: Browser, folder: Path, rng: random.Random, *, queries: int, judges: int
) -> dict[str, Any]:
    names = [f"q{n}" for n in range(queries)]
    truth = {(q, n): rng.randrange(_GRADES) for q in names for n in range(_CASES)}
    _write_study(folder, names, truth, rng)
    pool = folder / "pool"
    made = _quem("score", folder, "--pool", pool, "--depth", _DEPTH, "--judges", judges)
    given: dict[tuple[str, str], list[int]] = {}
    with Served(pool / "study.yaml") as served:
        _set_life(browser, served, "open", "Open the study", "Study open.")
        for judge in served.links:
            visit = Visit(browser, served, judge)
            _grade_all(visit.page, served.links[judge], truth, given, rng)
            visit.close()
        _set_life(browser, served, "close", "Close the study", "Study closed.")
    pairs = int(re.search(r"(\d+) to judge", made)[1])  # type: ignore[index]
    assert len(given) == pairs
    assert {len(grades) for grades in given.values()} == {judges}
    written = quem.analyze(quem.load_study(pool / "study.yaml", kind="relevance")).attachments()
    (folder / "qrels.txt").write_bytes(bytes(written["qrels.txt"]))
    qrels = {
        (one.query_id, one.doc_id): one.relevance
        for one in ir_measures.read_trec_qrels(str(folder / "qrels.txt"))
    }
    assert qrels == {pair: median_low(grades) for pair, grades in given.items()}
    return {"pairs": pairs, **_retrievers(folder, pool, given)}


def _write_study(
    folder: Path, names: list[str], truth: dict[tuple[str, int], int], rng: random.Random
) -> None:
    tables = {
        "documents": ["id,text", *(f"d{n},Document number {n} says this." for n in range(_CASES))],
        "queries": ["id,text", *(f"{q},What is known of {q}?" for q in names)],
    }
    for name, sign in (("good", -1), ("bad", 1)):
        tables[name] = ["query,case,rank"]
        for q in names:
            order = sorted(range(_CASES), key=lambda n: (sign * truth[q, n], rng.random()))
            tables[name] += [f"{q},d{n},{rank}" for rank, n in enumerate(order[:_FOUND], 1)]
    for name, lines in tables.items():
        (folder / f"{name}.csv").write_text("\n".join([*lines, ""]))
    content = {
        "kind": "retrieval",
        "id": "searching",
        "title": "Searching",
        "cases": "documents.csv",
        "queries": "queries.csv",
        "retrievers": [{"id": one, "run": f"{one}.csv"} for one in ("good", "bad")],
        "analysis": {"measures": ["nDCG@2"], "samples": 0},
    }
    (folder / "study.yaml").write_text(yaml.safe_dump(content, sort_keys=False))


def _quem(*words: object) -> str:
    done = CliRunner().invoke(main, [*map(str, words)])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output


def _set_life(browser: Browser, served: Served, key: str, button: str, said: str) -> None:
    page = browser.new_page()
    page.goto(served.dashboard)
    page.goto(f"{served.base}/dashboard")
    follow(page.locator(f"#{key}").first)
    follow(page.get_by_role("button", name=button))
    expect(page.get_by_text(said)).to_be_visible()
    page.close()


def _grade_all(
    page: Page,
    link: str,
    truth: dict[tuple[str, int], int],
    given: dict[tuple[str, str], list[int]],
    rng: random.Random,
) -> None:
    page.goto(link)
    follow(page.get_by_role("link", name="Start with task 1"))
    while True:
        is_ready(page)
        query = re.search(r"What is known of (q\d+)\?", page.locator(".query").inner_text())
        assert query
        n_left = page.locator("#tray .chip").count()
        for left in range(n_left, 0, -1):
            expect(page.locator("#tray .chip")).to_have_count(left)
            number = _TOLD.search(page.locator("article > .prose").inner_text())
            assert number
            right = truth[query[1], int(number[1])]
            grade = min(_GRADES - 1, max(0, right + rng.choice([0, 0, 0, 0, 1, -1])))
            given.setdefault((query[1], f"d{number[1]}"), []).append(grade)
            page.keyboard.press(str(grade))
        page.get_by_role("button", name="Submit grades").click()
        onward = page.locator("#receipt[open] .next")
        is_last = onward.inner_text() == "Finish"
        follow(onward)
        if is_last:
            expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
            return


def _retrievers(
    folder: Path, pool: Path, given: dict[tuple[str, str], list[int]]
) -> dict[str, float]:
    """Measure both retrievers against the judges' mean grades, as the study does and by hand."""
    path = folder / "study.yaml"
    truth = yaml.safe_dump({"ground_truth": {"study": f"{pool.name}/study.yaml"}})
    path.write_text(path.read_text() + truth)
    result = quem.analyze(quem.load_study(path, kind="retrieval"))
    table = result.table_of_scores
    grades = {pair: fmean(each) for pair, each in given.items()}
    for at, name in enumerate(table.systems):
        rows = [row.split(",") for row in (folder / f"{name}.csv").read_text().splitlines()[1:]]
        scores = []
        for query in table.queries:
            found = [grades.get((q, case), 0.0) for q, case, _ in rows if q == query]
            best = sorted((g for (q, _), g in grades.items() if q == query), reverse=True)
            scores.append((found[0] + found[1] / log2(3)) / (best[0] + best[1] / log2(3)))
        assert table.values[at, :, 0] == pytest.approx(scores)
    good, bad = (float(table.means.mean[table.place(name), 0]) for name in ("good", "bad"))
    assert good > bad
    return {"nDCG of good": round(good, 4), "nDCG of bad": round(bad, 4)}
