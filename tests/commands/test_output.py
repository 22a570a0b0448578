"""Output to terminals and files that do not take everything."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples import long_csv, study_with, write_study

FULL = Path("/dev/full")


def quem_process(
    *words: object, encoding: str, stdout: object = subprocess.PIPE
) -> tuple[int, bytes, bytes]:
    """Run quem as a process whose streams have an encoding."""
    done = subprocess.run(
        [sys.executable, "-m", "quem", *map(str, words)],
        check=False,
        stdout=stdout,  # type: ignore[call-overload]
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study whose title no single-byte encoding has."""
    return write_study(tmp_path, study_with(title="Ω and Ж"), rankings__csv=long_csv())


def test_poor_encodings_get_plain_characters(study: Path) -> None:
    """Where the terminal has no minus sign it gets a hyphen; a letter it lacks, a question mark."""
    code, out, err = quem_process("analyze", study, encoding="latin-1")
    text = out.decode("latin-1")
    assert code == 0, err
    assert text.startswith("? and ?")
    assert "years = -1.67 + 1.92" in text


def test_json_is_utf_8_in_any_encoding(study: Path) -> None:
    """JSON loses no letter, whatever the terminal's encoding is."""
    _, out, _ = quem_process("analyze", study, "--json", encoding="ascii")
    assert json.loads(out)["study"]["title"] == "Ω and Ж"


@pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("words", [["check"], ["analyze", "--json"]])
def test_a_full_disk_is_no_bug(study: Path, words: list[str]) -> None:
    """Output that cannot be written ends with 1 and one line that says so."""
    with FULL.open("wb") as full:
        code, _, err = quem_process(*words, study, encoding="utf-8", stdout=full)
    lines = [line for line in err.decode().splitlines() if line.startswith("error: ")]
    assert code == 1
    assert lines == ["error: the output cannot be written: No space left on device"]
    assert b"Traceback" not in err
