"""``quem check --store``: what judges were shown and ranked can be proved, and forgeries named."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import update

from quem.store.events import seal
from quem.store.models import RevisionRow
from quem.store.state import State
from tests.webjudge.sites import SUBJECTS, make_site, rank, rank_all, set_life

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from webjudge import Site

Outcome = tuple[int, str, str]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A study whose judges ranked real files, sealed and open."""
    site = make_site(tmp_path / "made", judging="{repeat: 0}")
    set_life(site, "open")
    rank_all(site, "J1", "J2")
    with site.store.write() as c:
        seal(c, site.id, "stop")
    yield site
    site.store.close()


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_an_open_session_is_verified_without_its_ranks(
    site: Site, quem_command: Callable[..., Outcome]
) -> None:
    """Counts, head, receipts and changed solutions are told; letters and ranks are not."""
    code, out, err = quem_command("check", site.path, "--store")
    assert (code, err) == (0, "")
    assert out.startswith("4 tasks, 4 revisions, 2 events, 1 seal; 0 of the revisions are not ")
    head = re.findall("^head: ([0-9a-f]{64})$", out, re.MULTILINE)[0]
    file = site.path.parent / "solutions" / "P1" / f"{SUBJECTS[0]}.md"
    digest = _sha256(file)
    file.write_bytes(file.read_bytes().replace(b"0", b"9"))
    rank(site, "J2", "P2", State(tray=(*SUBJECTS, "ZORNKBS7")), kind="reopen")
    with site.store.read() as c:
        link = c.execute(RevisionRow.__table__.select()).mappings().all()[0]["link"]
    words = ("--head", head[:12].upper(), "--receipt", link[:10])
    code, out, err = quem_command("check", site.path, "--store", *words)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].endswith("; 1 of the revisions are not sealed yet")
    assert lines[2] == f"head {head[:12]}: is in the chain, the newest"
    assert re.match(rf"receipt {link[:10]}: revision 1 .* task of judge J1, problem P", lines[3])
    assert lines[4:] == [
        f"changed: problem P1, solver {SUBJECTS[0]}: shown {digest}, now {_sha256(file)}"
    ]
    set_life(site, "closed")
    _, out, _ = quem_command("check", site.path, "--store", "--head", head)
    assert "is in the chain, 1 event ago" in out
    assert re.search(r"; [A-E] for J1, [A-E] for J2\n$", out)


def test_an_archive_tells_one_byte(
    site: Site, quem_command: Callable[..., Outcome], tmp_path: Path
) -> None:
    """Elsewhere, an archive proves what was shown: a solution with another byte is named."""
    assert quem_command("export", site.path, "--reveal", "--format", "archive")[0] == 0
    archive = site.path.parent / "study-export" / "archive.jsonl"
    file = site.path.parent / "solutions" / "P2" / "ZORNKBS7.md"
    digest = _sha256(file)
    assert digest in archive.read_text()
    other = tmp_path / "other.sqlite3"
    words = (site.path, "--database", other)
    assert quem_command("import", site.path, archive, "--database", other)[0] == 0
    assert "changed" not in quem_command("check", *words, "--store")[1]
    file.write_bytes(file.read_bytes()[:-2] + b"!\n")
    code, out, _ = quem_command("check", *words, "--store")
    prefix = re.escape(
        f"changed: problem P2, solver ZORNKBS7: shown {digest}, now {_sha256(file)}; "
    )
    assert code == 0
    assert re.search(prefix + "[A-E] for J1, [A-E] for J2", out)


def test_what_does_not_fit_ends_in_an_error(
    site: Site, quem_command: Callable[..., Outcome]
) -> None:
    """Each broken chain, an unknown head and an unknown receipt are named, with exit code 1."""
    with site.store.write() as c:
        c.execute(update(RevisionRow).where(RevisionRow.number == 1).values(client="forged-tab"))
    words = ("--head", "0" * 64, "--receipt", "0123456789")
    code, out, err = quem_command("check", site.path, "--store", *words)
    assert code == 1
    assert out.startswith("4 tasks")
    lines = err.splitlines()
    assert len(lines) == 7
    assert all("revision 1 does not match its link" in line for line in lines[:4])
    assert "no event has the head 0000" in lines[4]
    assert "no revision has the receipt 0123456789" in lines[5]
    assert "restore one" in lines[6]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--head", "ab" * 32], "need --store"),
        (["--store", "--receipt", "x1"], "hexadecimal digits"),
    ],
)
def test_wrong_options_are_told(
    site: Site, quem_command: Callable[..., Outcome], words: list[str], message: str
) -> None:
    """A head without a store, and what is no head, are refused."""
    code, _, err = quem_command("check", site.path, *words)
    assert code == 2
    assert message in err


def test_a_study_without_a_session_is_told(
    judging_study: Path, quem_command: Callable[..., Outcome]
) -> None:
    """Where nobody was served, there is nothing to verify."""
    code, _, err = quem_command("check", judging_study, "--store")
    assert code == 1
    assert "has no judging session in" in err
