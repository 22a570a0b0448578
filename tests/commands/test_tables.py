"""``--tables``: in which formats the tables of a report are written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.examples import study_with

if TYPE_CHECKING:
    from collections.abc import Callable

STUDY = Path(__file__).resolve().parents[2] / "studies" / "p3-1997" / "study.yaml"
SMALL = {"bootstrap": 0, "permutations": 0}


def test_the_command_takes_several_or_none(
    make_study: Callable[..., Path],
    quem_command: Callable[..., tuple[int, str, str]],
    tmp_path: Path,
) -> None:
    """Formats come with commas or one by one; what an earlier report left is removed."""
    study = make_study(study_with(analysis=SMALL))
    out = tmp_path / "out"
    for words, expected in (
        ([], {"csv"}),
        (["--tables", "markdown,latex"], {"md", "tex"}),
        (["--tables", "csv", "--tables", "markdown"], {"csv", "md"}),
        (["--tables", "none"], set()),
    ):
        code, _, err = quem_command("analyze", study, "--out", out, *words)
        assert code == 0, err
        endings = {path.suffix[1:] for path in out.iterdir()} - {"svg", "png", "json", "html"}
        assert endings == expected
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "All numbers are in analysis.json in the same folder." in page


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--tables", "xlsx"], "'xlsx' is not one of csv, markdown, latex, parquet, none"),
        (["--tables", "none,csv"], "none leaves no other format"),
        (["--tables", "csv", "--json"], "--json writes nothing, so it takes no --tables"),
    ],
)
def test_what_contradicts_itself_is_refused(
    quem_command: Callable[..., tuple[int, str, str]], words: list[str], message: str
) -> None:
    """One sentence says which format cannot be."""
    code, _, err = quem_command("analyze", STUDY, *words)
    assert code == 2
    assert message in err


@pytest.mark.parametrize(
    ("given", "threads"),
    [({}, "1"), ({"OMP_NUM_THREADS": "3"}, "3"), ({"MKL_NUM_THREADS": "2"}, None)],
)
def test_linear_algebra_uses_one_thread(
    quem_command: Callable[..., tuple[int, str, str]],
    monkeypatch: pytest.MonkeyPatch,
    given: dict[str, str],
    threads: str | None,
) -> None:
    """Threads of small matrices only wait for each other; who sets a number keeps it."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert quem_command("--version")[0] == 0
    assert os.environ.get("OMP_NUM_THREADS") == threads
