"""What judges must not learn is in nothing that they receive."""

from __future__ import annotations

import random
import re
from collections import Counter
from typing import TYPE_CHECKING

from click.testing import CliRunner

from quem.commands.check import check
from quem.store.archive import archive_text, read_archive
from quem.store.exporting import shown_digests
from tests.blinding.planted import document
from tests.blinding.searching import everything_in
from tests.commands.test_relevance_session import CASES, write_relevance
from tests.office import lacking_office
from tests.trials.crawl import Crawler, crawl
from tests.webjudge.sites import (
    SUBJECTS,
    SYSTEM,
    audited,
    data_in,
    enter_as,
    gids,
    rank_all,
    write_site,
)
from webjudge import create_app
from webjudge.wording import happened

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from webjudge import Site

# Made of letters that nothing else has together.
NAME = "Zqxvwkj"
SOLUTIONS = {
    "md": f"# Plan of {NAME}\n\nBy **Zqx**vwkj.\n\n![{NAME}](x.png) [me](https://{NAME}.example)\n\n"
    f"```py\n{NAME} = 1\n```\n",
    "html": f"<h1>{NAME.upper()}</h1><p>By Zqx&#118;wkj and Zqx<wbr>vwkj",
    "py": f"# {NAME}\n{NAME} = '{NAME}'\n",
    "txt": f"{NAME}\u00ad says {NAME}.\n",
}


def test_nothing_that_a_judge_can_reach_tells_a_maker(tmp_path: Path) -> None:
    """All bytes of all pages, files, headers, addresses and errors, before and after ranking.

    No document calls a host while it is converted.
    """
    lacks_office = lacking_office()
    counts = crawl(random.Random(0), tmp_path)
    assert counts["names"] > (200 if lacks_office else 350)


def test_labels_and_order_are_random_for_each_judge_and_group(
    tmp_path: Path, opened: Callable[[Path], Site]
) -> None:
    """Over many judges every solver has every label about equally often."""
    judges = [f"X{number}" for number in range(60)]
    site = opened(write_site(tmp_path, judges=judges, judging="{practice: P0, repeat: 1}"))
    app = create_app(site)
    first, orders = Counter[str](), Counter[str]()
    for judge in judges:
        client = enter_as(app, site, judge)
        page = client.get(f"/judge/g/{gids(client)[1]}").text
        orders["1" if re.search(r"<h1[^>]*>[^<]*Problem 1", page) else "2"] += 1
        numbers = re.findall(r"Wait (\d) days", page)
        assert sorted(set(numbers)) == ["0", "1", "2", "3", "4"]
        first[numbers[0]] += 1
    assert len(orders) == 2
    # Each of five is first 12 times of 60 on average; 0 or above 30 has odds below 1 in 10^5.
    assert len(first) == 5
    assert max(first.values()) <= 30


def test_a_judge_sees_no_id_of_a_candidate(tmp_path: Path, opened: Callable[[Path], Site]) -> None:
    """Neither the names of files nor the ids of cases; grades have the labels of the study."""
    path = write_relevance(tmp_path, repeat=0)
    for problem in ("p1", "p2"):
        for case in CASES:
            file = tmp_path / "solutions" / problem / f"{case}.md"
            file.rename(file.with_name(f"zorn-{case}.md"))
    table = tmp_path / "candidates.csv"
    table.write_text(re.sub(r"^(p\d),", r"\1,zorn-", table.read_text(), flags=re.MULTILINE))
    site = opened(path)
    judge = enter_as(create_app(site), site, "J1")
    pages = [judge.get(f"/judge/g/{gid}").text for gid in gids(judge)]
    assert len(pages) == 2
    for page in (judge.get("/judge").text, *pages):
        assert not [word for word in ("zorn", "http://c/", "http://q/") if word in page]
    for page in pages:
        data = data_in(page)
        # The grade has buttons of its own, and is none of the questions.
        assert (data["grades"], data["questions"]) == (["No", "Partly", "Yes"], [])


def write_named(folder: Path) -> Path:
    study = write_site(folder, judging=f"{{practice: P0, identity_words: [{NAME}], reviewed: []}}")
    group = folder / "solutions" / "P1"
    for solver, (ending, text) in zip(SUBJECTS, SOLUTIONS.items(), strict=True):
        (group / f"{solver}.md").unlink()
        (group / f"{solver}.{ending}").write_text(text)
    (group / f"{SYSTEM}.md").unlink()
    shown = f"BT /F1 14 Tf 20 160 Td (A plan by {NAME}) Tj ET".encode()
    document(shown).save(group / f"{SYSTEM}.pdf")
    return study


def redact(study: Path, *solvers: str) -> None:
    entries = ", ".join(
        f"{{problem: P1, solver: {solver}, words: {NAME.lower()}, decision: redact}}"
        for solver in solvers
    )
    text = re.sub(r"reviewed: \[.*\]", f"reviewed: [{entries}]", study.read_text())
    study.write_text(text)


def test_redacted_words_are_in_no_byte(tmp_path: Path, opened: Callable[[Path], Site]) -> None:
    """Texts, descriptions, links, texts and addresses of pages; and the pages change."""
    study = write_named(tmp_path)
    images = []
    for redacts in (False, True):
        if redacts:
            redact(study, *SUBJECTS, SYSTEM)
        site = opened(study)
        assert ("identity" in [warning.code for warning in site.warnings]) != redacts
        crawler = Crawler(enter_as(create_app(site), site, "J1"))
        crawler.crawl("/judge")
        for gid in crawler.listed() * (not redacts):
            crawler.rank(gid, "A remark")
        crawler.crawl("/judge")
        answers = crawler.received
        name = NAME.lower().encode()
        leaks = [what for what, raw in answers.items() if name in everything_in(raw).lower()]
        assert bool(leaks) != redacts, leaks
        marks = [what for what in answers if b"[removed]" in answers[what] and "/st" not in what]
        assert bool(marks) == redacts
        images.append({what.split()[-1]: raw for what, raw in answers.items() if "/file/" in what})
    before, after = images
    assert before
    assert not set(before) & set(after), "so that no browser shows what it kept"
    assert not set(before.values()) & set(after.values())


def test_decisions_are_in_the_log_and_in_archives(
    tmp_path: Path, opened: Callable[[Path], Site]
) -> None:
    """Once each; an archive holds the digests of what was shown, which the study still has."""
    study = write_named(tmp_path)
    opened(study)
    for solvers in ((SYSTEM, SUBJECTS[0]), (SYSTEM, SUBJECTS[0]), (SYSTEM, SUBJECTS[1])):
        redact(study, *solvers)
        site = opened(study)
    said = [happened(event) for event in audited(site, "word-decided")]
    assert said[0] == f"Replaced “{NAME.lower()}”: 2 places"
    assert f"No longer decided: “{NAME.lower()}”: {SUBJECTS[0]} on P1" in said
    assert sum("Replaced" in one for one in said) == 2
    rank_all(site, "J1")
    with site.store.read() as c:
        archive = read_archive(archive_text(c, site.id), "archive.jsonl", "site")
        shown = shown_digests(c, site.id)
    decided = [row["detail"] for row in archive["event"] if row["what"] == "word-decided"]
    replaced = [one["solutions"] for one in decided if one["choice"] == "replaced"]
    redacted = sorted(solver for places in replaced for _, solver in places)
    assert redacted == sorted((SYSTEM, *SUBJECTS[:2]))
    ran = CliRunner().invoke(check, [str(study)])
    assert ran.exit_code == 0, ran.output
    assert "2 redactions" in ran.output
    assert "changed" not in ran.output
    for solver in (SYSTEM, SUBJECTS[2]):
        assert shown["P1", solver] == {site.group("P1")[solver].digest}
