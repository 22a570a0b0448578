"""No file mentions a feature that left; the changelog and the table of old commands may."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("quem", "webjudge", "templates", "studies", "docs", "tests", "benchmarks")
SUFFIXES = {".css", ".html", ".js", ".md", ".po", ".py", ".toml", ".txt", ".yaml", ".yml"}
LEFT = {
    "offline mode": r"serviceWorker|service worker|judging\.offline|IndexedDB|\bsw\.js",
    "folders of studies": r"QUEM_STUDIES|FOLDER-OF-STUDIES",
    "the log of attempts": r"links-refused",
    "the witness": r"quem\.store\.acknowledged",
    "chains": r"hash chain|chained to|revision_link|words_digest|check --store|--receipt\b",
    "archives that prove themselves": r"--redacted|RO-Crate|ro-crate|quem verify|sealed_archive",
    "the log of seals": r"deviations? from the seal|--again REASON|\.seal\.log",
    "dumps": r"quem restore",
    "roles": r"\bobserver(s|'s)?\b",
    "letters": r"letters? of thanks|\breminders:",
    "corrections": r"\bcorrections:|CorrectionSpec",
    "audits": r"quem audit|--canary|\bcanary\b",
    "the memory of track": r"track\.jsonl|few-calibrations|calibration-old|liking-unsteady",
    "own number formats": r"number_formats",
    "searched bounds": r"ir_datasets|machine_judgments",
    "measures": r"\bILD\b|likeness",
    "pools as a command": r"quem pool\b",
    "conformal sets": r"conformal|risk-coverage|few-for-coverage",
    "kept dialogues": r"finished-targets",
    "entry points": r"group `?quem\.kinds",
    "exports": r"every-eval-ever|Every Eval Ever",
    "leaderboards that grow": r"repeated-looks|changes\.csv",
    "utilities of lists": r"analysis\.utility|optimistic-threshold|threshold-at-the-edge",
    "dialogues in Python": r"CustomUser|CustomQuestion|information_gain",
    "figures": r"plot_(sensitivity|influence|wins|reach)\b|heat_map|agreement-efficiency",
}
# Old commands and their successors; what comes from elsewhere.
EXEMPT = {"quem/cli.py", "tests/docs/test_left.py"}


def _texts() -> dict[str, str]:
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))]
    paths += [path for path in sorted(ROOT.glob("*.*")) if path.name != "CHANGELOG.md"]
    return {
        name: path.read_text(encoding="utf-8")
        for path in paths
        if path.suffix in SUFFIXES
        and "vendor" not in path.parts
        and (name := path.relative_to(ROOT).as_posix()) not in EXEMPT
    }


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """Every text of the project, by its path."""
    return _texts()


@pytest.mark.parametrize("feature", LEFT)
def test_nothing_mentions_what_left(feature: str, texts: dict[str, str]) -> None:
    """A reader looks for nothing that is not there."""
    pattern = re.compile(LEFT[feature])
    found = [
        f"{name}:{text.count(chr(10), 0, one.start()) + 1}: {one[0]}"
        for name, text in texts.items()
        for one in pattern.finditer(text)
    ]
    assert not found, "\n".join(found[:20])
