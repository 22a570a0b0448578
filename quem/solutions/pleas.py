"""Prompt injection: sentences in solutions that address their judge."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from quem.blinding.pages import pages_of
from quem.blinding.rendering import read_as_judge
from quem.errors import QuemError, StudyWarning
from quem.io.text import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.solutions.model import Solution, SolutionFile, Solutions

_OBJECTS = r"(?:this|me|my|mine|solution|answer|the\s+(?:following|above))"
_PATTERNS = (
    rf"\b(?:rank|score|grade|rate|prefer|judge|choose|pick|place|put)\s+{_OBJECTS}\b",
    r"\b(?:ignore|disregard|forget)\s+(?:(?:all|any|the|your|of)\s+)*"
    r"(?:previous|prior|above|earlier|preceding|instructions|prompt)\b",
    r"\bsystem\s+prompt\b",
    r"\b(?:note|message|instructions?|hint)\s+(?:to|for)\s+(?:the\s+|all\s+|any\s+)*"
    r"(?:judges?|graders?|raters?|reviewers?|evaluators?|models?|ai|llms?|assistants?)\b",
    r"\b(?:dear|attention,?)\s+(?:judges?|graders?|raters?|evaluators?|llms?|ai)\b",
    # The other languages of the pages that separate words by blanks.
    r"\b(?:bewerte|beurteile|bevorzuge|setze|ordne|stufe)n?\s+(?:sie\s+)?(?:diese|mich|meine)\w*\b",
    r"\bignoriere?n?\s+(?:sie\s+)?(?:alle\s+)?(?:vorherigen|bisherigen|obigen)\b",
    r"\b(?:classez?|notez?|préférez?|placez?|évaluez?)\s+(?:cette|ma|ceci)\b",
    r"\bignorez?\s+(?:toutes\s+)?les\s+(?:instructions|consignes)\b",
    r"\b(?:clasifi[cq]u?[ae]|puntú[ae]|calific[ao]|prefiera?|coloca|coloque)\s+(?:esta|mi|esto)\b",
    r"\bignor[ae]\s+(?:todas\s+)?las\s+instrucciones\b",
    "(?:这个|本|此)(?:解答|答案|方案).{0,6}(?:排|评).{0,4}第一|忽略.{0,6}(?:之前|以上|先前)",
    "(?:この|本)(?:解答|回答).{0,8}(?:一位|最初|最高)|(?:以前|上記)の指示を無視",
)
_PLEA = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS), re.IGNORECASE)
_ENCODED = re.compile(r"[A-Za-z0-9+/]{200,}={0,2}")
_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_MOST = 10


def plea_warnings(solutions: Solutions) -> Iterator[StudyWarning]:
    """Warnings on sentences in solutions that address their judge."""
    found = [
        f"{file.name} {what}"
        for by_solver in solutions.by_problem.values()
        for solution in by_solver.values()
        for file in solution.files
        for what in _pleas(_text(file, solution))
    ]
    for message in found[:_MOST]:
        yield StudyWarning("addressed-to-judge", f"{message}; machine judges may obey")
    if (more := len(found) - _MOST) > 0:
        yield StudyWarning("addressed-to-judge", f"and {more:,} more such places")


def _pleas(text: str) -> Iterator[str]:
    for sentence in _END.split(text):
        if _PLEA.search(sentence):
            yield f"seems to speak to its judge: {shown(sentence.strip())}"
    for run in _ENCODED.finditer(text):
        yield f"holds {len(run[0])} characters of encoded text"


def _text(file: SolutionFile, solution: Solution) -> str:
    try:
        if file.kind == "image":
            return ""
        if file.kind in ("pdf", "office"):
            return "\n".join(page.text for page in pages_of(file))
        return read_as_judge(file, solution.files)
    except QuemError:
        # Unreadable files are reported elsewhere.
        return ""
