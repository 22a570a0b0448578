"""What is redacted is in nothing that a judge receives, and is in the log and in archives."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from quem.commands.check import check
from quem.store.archive import archive_text, read_archive
from quem.store.audit_log import audit_events
from quem.store.exporting import shown_digests
from tests.blinding.planted import document
from tests.blinding.searching import everything_in
from tests.trials.crawl import Crawler
from tests.webjudge.sites import SUBJECTS, SYSTEM, enter_as, rank_all, write_site
from webjudge import create_app, open_site
from webjudge.wording import happened

if TYPE_CHECKING:
    from collections.abc import Iterator
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


def write_named(folder: Path, *, redacts: bool) -> Path:
    """Write a study whose solutions hold a name, in every format."""
    study = write_site(folder, judging=f"{{practice: P0, identity_words: [{NAME}], reviewed: []}}")
    group = folder / "solutions" / "P1"
    for solver, (ending, text) in zip(SUBJECTS, SOLUTIONS.items(), strict=True):
        (group / f"{solver}.md").unlink()
        (group / f"{solver}.{ending}").write_text(text)
    (group / f"{SYSTEM}.md").unlink()
    shown = f"BT /F1 14 Tf 20 160 Td (A plan by {NAME}) Tj ET".encode()
    document(shown).save(group / f"{SYSTEM}.pdf")
    if redacts:
        redact(study)
    return study


def redact(study: Path, *solvers: str) -> None:
    """Decide that the name is redacted."""
    entries = ", ".join(
        f"{{problem: P1, solver: {solver}, words: {NAME.lower()}, decision: redact}}"
        for solver in solvers or (*SUBJECTS, SYSTEM)
    )
    text = study.read_text()
    study.write_text(text.replace("reviewed: []", f"reviewed: [{entries}]"))


@contextmanager
def opened(study: Path) -> Iterator[Site]:
    """A site, as long as it is used."""
    site = open_site(study)
    try:
        yield site
    finally:
        site.store.close()


def received(site: Site) -> dict[str, bytes]:
    """All that a judge's browser receives."""
    crawler = Crawler(enter_as(create_app(site), site, "J1"))
    crawler.crawl("/judge")
    for gid in crawler.listed():
        crawler.rank(gid, "A remark")
    crawler.crawl("/judge")
    return crawler.received


@pytest.mark.parametrize("redacts", [False, True])
def test_redacted_words_are_in_no_byte(tmp_path: Path, *, redacts: bool) -> None:
    """Texts, descriptions, links, texts of pages, beginnings, addresses; and the pages change."""
    with opened(write_named(tmp_path, redacts=redacts)) as site:
        codes = [warning.code for warning in site.warnings]
        assert ("identity" in codes) != redacts
        answers = received(site)
    images = [what for what in answers if "/file/" in what]
    assert images
    leaks = [
        what for what, raw in answers.items() if NAME.lower().encode() in everything_in(raw).lower()
    ]
    assert bool(leaks) != redacts, leaks
    marks = [
        what for what, raw in answers.items() if b"[removed]" in raw and "/static/" not in what
    ]
    assert bool(marks) == redacts


def test_pages_of_pdfs_get_another_address(tmp_path: Path) -> None:
    """So that no browser shows what it kept."""
    (tmp_path / "a").mkdir()
    study = write_named(tmp_path / "a", redacts=False)
    pages = []
    for _ in range(2):
        with opened(study) as site:
            client = enter_as(create_app(site), site, "J1")
            crawler = Crawler(client)
            crawler.crawl("/judge")
            pages.append(
                {
                    what.split()[-1]: raw
                    for what, raw in crawler.received.items()
                    if "/file/" in what
                }
            )
        redact(study)
    assert pages[0]
    assert not set(pages[0]) & set(pages[1])
    assert not set(pages[0].values()) & set(pages[1].values())


def test_decisions_are_in_the_log_and_in_archives(tmp_path: Path) -> None:
    """Once each; an archive holds the digests of what was shown, which the study still has."""
    study = write_named(tmp_path, redacts=False)
    with opened(study):
        pass
    redact(study, SYSTEM, SUBJECTS[0])
    for _ in range(2):
        with opened(study) as site, site.store.read() as c:
            said = [happened(event) for event in audit_events(c, site.id, 9)]
        assert said[0] == f"Replaced “{NAME.lower()}”: 2 places"
        assert sum("Replaced" in one for one in said) == 1
    text = study.read_text()
    study.write_text(text.replace(f"solver: {SUBJECTS[0]}, words", f"solver: {SUBJECTS[1]}, words"))
    with opened(study) as site:
        rank_all(site, "J1")
        with site.store.read() as c:
            said = [happened(event) for event in audit_events(c, site.id, 9)]
            archive = archive_text(c, site.id)
            shown = shown_digests(c, site.id)
    assert f"No longer decided: “{NAME.lower()}”: {SUBJECTS[0]} on P1" in said
    rows = read_archive(archive, "archive.jsonl", "site")
    decided = [row["detail"] for row in rows["event"] if row["what"] == "word-decided"]
    replaced = [one["solutions"] for one in decided if one["choice"] == "replaced"]
    assert sorted(solver for places in replaced for _, solver in places) == sorted(
        (SYSTEM, *SUBJECTS[:2])
    )
    ran = CliRunner().invoke(check, [str(study)])
    assert ran.exit_code == 0, ran.output
    assert "2 redactions" in ran.output
    assert "changed" not in ran.output
    with opened(study) as site:
        assert shown["P1", SYSTEM] == {site.group("P1")[SYSTEM].digest}
        assert shown["P1", SUBJECTS[2]] == {site.group("P1")[SUBJECTS[2]].digest}
