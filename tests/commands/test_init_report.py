"""``quem init --report``: a Quarto page beside a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = Path(__file__).resolve().parents[2] / "templates" / "quarto" / "report.qmd"


def test_init_writes_the_page_once(
    quem_command: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    """`quem init --report` adds the page to a study, and never replaces one."""
    code, _, err = quem_command("init", tmp_path, "--report")
    assert code == 0
    assert "quarto render" in err
    assert (tmp_path / "report.qmd").read_bytes() == PAGE.read_bytes()
    code, _, err = quem_command("init", tmp_path, "--report")
    assert code == 1
    assert "already holds report.qmd" in err
    code, _, err = quem_command("init", tmp_path, "--report", "--kind", "options")
    assert code == 2
