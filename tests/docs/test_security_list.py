"""The list of ASVS requirements in SECURITY.md: complete, and of what is there."""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain

from tests.docs.pages import ROOT

# How many requirements of levels 1 and 2 each section of ASVS 5.0.0 has; they come first in each.
SECTIONS = {
    1: (2, 9, 11, 3, 2),
    2: (3, 3, 4, 2),
    3: (0, 2, 4, 6, 5, 0, 2),
    4: (3, 1, 2, 4),
    5: (1, 3, 2, 3),
    6: (3, 12, 4, 4, 5, 3, 0, 4),
    7: (3, 4, 2, 5, 2, 2),
    8: (2, 3, 1, 1),
    9: (3, 4),
    10: (2, 2, 4, 11, 5, 2, 3),
    11: (2, 3, 3, 4, 1, 1, 0),
    12: (3, 2, 4),
    13: (1, 5, 2, 5),
    14: (2, 4, 3),
    15: (3, 3, 7, 0),
    16: (1, 5, 4, 3, 3),
    17: (1, 4, 2),
}
REQUIRED = [
    f"V{chapter}.{section}.{number}"
    for chapter, counts in SECTIONS.items()
    for section, count in enumerate(counts, 1)
    for number in range(1, count + 1)
]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
LINES = re.findall(r"^- (V[\dV.,\- ]+) (met|not met|not applicable): (.+)$", TEXT, re.MULTILINE)


def numbers(named: str) -> list[str]:
    """The requirements of a line, such as ``V1.2.6, V1.4.1-V1.4.3``."""
    found: list[str] = []
    for part in named.split(", "):
        first, _, last = part.partition("-")
        start = REQUIRED.index(first)
        found += REQUIRED[start : REQUIRED.index(last, start) + 1] if last else [first]
    return found


def test_each_requirement_has_one_answer() -> None:
    assert Counter(chain.from_iterable(numbers(named) for named, *_ in LINES)) == Counter(REQUIRED)
    assert len(LINES) == len(re.findall(r"^- V", TEXT, re.MULTILINE))


def test_sums_are_those_of_the_list() -> None:
    sums: Counter[str] = Counter()
    for named, answer, _ in LINES:
        sums[answer] += len(numbers(named))
    met, lacking, inapplicable = (sums[one] for one in ("met", "not met", "not applicable"))
    assert f"All {len(REQUIRED)} requirements" in TEXT
    said = " ".join(TEXT.split())
    assert f"{met} are met, {inapplicable} not applicable, and {lacking} not met" in said


def test_named_files_exist() -> None:
    paths = {path for *_, answer in LINES for path in re.findall(r"`([\w./-]+/[\w./-]+)`", answer)}
    assert len(paths) > 40
    assert {path for path in paths - {"/healthz"} if not (ROOT / path).is_file()} == set()
