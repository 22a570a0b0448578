"""What an experience study says, and whether it says years of a system."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from quem.experience.presentation.cards import basis, before_quoting
from quem.experience.presentation.methods import methods_paragraph, results_paragraphs
from quem.experience.presentation.scale import WIDE, legend, scale_svg
from quem.experience.presentation.verdict import verdict

if TYPE_CHECKING:
    from quem.experience.result import ExperienceFindings, ExperienceResult

# What is said of years only.
_YEARS = re.compile(
    r"is estimated|was estimated at|prediction (interval|bound)|at (least|most) [−\d]"
    r"|like someone with|One person of that quality|about [1-9]\d?[ .]|leave-one-out est"
    r"|In a model of persons|[Oo]n average over these|half-width|By `normalize"
)
_SECTION = re.compile(
    r'<section[^>]*>\s*<h2 id="estimates">What the line would give.*?</section>', re.DOTALL
)
# What a page has beside its words.
STYLE = re.compile(r"<style>.*?</style>|<svg.*?</svg>|<dl.*?</dl>", re.DOTALL)


def states_years(text: str) -> bool:
    """Whether a text says years, or bounds or chances in years, of a system."""
    return bool(_YEARS.search(re.sub(r"\s+", " ", text)))


def unmarked(page: str) -> str:
    """Leave out of a report what is marked as what the line would give, and what is no text."""
    return STYLE.sub("", _SECTION.sub("", page))


def statements(result: ExperienceResult) -> list[str]:
    """Give the summary, the methods paragraph, the first screen, and each warning."""
    return [
        result.summary(),
        methods_paragraph(result.findings),
        _first_screen(result.findings),
        *map(str, result.warnings),
    ]


def _first_screen(findings: ExperienceFindings) -> str:
    """All words of it."""
    said = verdict(findings)
    checks = [*basis(findings), *before_quoting(findings)]
    words = [said.title, *said.lead, *said.second, scale_svg(findings, WIDE), legend(findings)]
    words += [part for check in checks for part in (check.title, check.text)]
    return " ".join([*words, *(text for _, text in results_paragraphs(findings, said))])
