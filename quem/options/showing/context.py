"""What the report of option lists shows, as text and tables ready to be laid out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quem import __version__
from quem.options.showing.phrases import mean_text, share, span, standing_text, threshold_text
from quem.options.showing.sections import marked, sections
from quem.options.showing.summary import basis, headline_pairs
from quem.report.layout import TextTable
from quem.wording import joined, number, percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.options.findings import Findings

__all__ = ["CAPTIONS", "report_context"]

CAPTIONS = {
    "scores": "The mean of each measure over the questions, with its bootstrap interval.",
    "lengths": "How many lists have each length, and how many of them have the correct option.",
    "thresholds": "The mean score of the lists that each threshold leaves, with its bootstrap "
    "interval. The diamond is the best threshold, the broken line the cross-validated score, the "
    "dotted line the lists as they are.",
    "differences": "How far each two systems are apart by the headline measure, with bootstrap "
    "intervals.",
}
_REFERENCES = (
    "Atanasova, P., Karadzhov, G., Kiprov, Y., Nakov, P. and Sebastiani, F. (2019). Evaluating "
    "variable-length multiple-option lists in chatbots and mobile search. SIGIR, 997–1000.",
    "Efron, B. and Tibshirani, R. J. (1993). An introduction to the bootstrap. Chapman & Hall.",
)
_TESTED = (
    "Smucker, M. D., Allan, J. and Carterette, B. (2007). A comparison of statistical significance "
    "tests for information retrieval evaluation. CIKM, 623–632.",
    "Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian "
    "Journal of Statistics, 6(2), 65–70.",
)
_MOST_TOLD = 6


def report_context(found: Findings) -> dict[str, Any]:
    """Give what the template ``report/options.html`` shows.

    Parameters
    ----------
    found : Findings
    """
    spec = found.data.spec
    return {
        "title": spec.title,
        "study_id": spec.id,
        "description": spec.description,
        "answers": _answers(found),
        "basis": f"{basis(found)}.",
        "meaning": _meaning(found),
        "thresholds": [
            f"{found.name_of(sweep.system)}: {threshold_text(found, sweep)}."
            for sweep in found.sweeps[:_MOST_TOLD]
        ],
        "first_figure": "scores",
        "sections": sections(found),
        "methods": " ".join(_methods(found)),
        "references": _references(found),
        "settings": [
            (key, ", ".join(map(str, value)) if isinstance(value, list) else str(value))
            for key, value in {
                **found.settings.model_dump(mode="json"),
                "max_length": found.scorer.max_length,
            }.items()
        ],
        "captions": CAPTIONS,
    }


def _answers(found: Findings) -> TextTable:
    at = found.scorer.headline
    columns = (
        "System",
        found.headline,
        f"{percent(found.settings.level)} interval",
        "Correct in",
        "Options",
        "Failures",
    )
    rows = [
        (
            found.name_of(standing.system),
            mean_text(found, standing, at),
            span(standing.intervals[at]),
            share(standing.share),
            number(standing.mean_length),
            f"{standing.n_missing:,}",
        )
        for standing in found.standings
    ]
    note = (
        "The share of lists with the correct option, the mean number of options, and questions "
        "without a list."
    )
    return marked(found, TextTable(f"{found.headline} of each system", columns, rows, note))


def _meaning(found: Findings) -> str:
    told = {
        "OLAR": "OLAR is high where lists have the correct option, then where they are short, "
        "then where it stands early; 1 is the correct option alone.",
        "LAR": "LAR is high where lists have the correct option, then where they are short; 1 is "
        "the correct option alone.",
    }.get(found.headline)
    definition = found.scorer.measures[found.scorer.headline].definition
    return told or definition.summary


def _methods(found: Findings) -> Iterator[str]:
    """A paragraph to be pasted into a paper."""
    settings = found.settings
    yield (
        f"Lists of options were evaluated by {found.headline} (Atanasova et al., 2019), on "
        f"{basis(found)}."
    )
    if settings.bootstrap:
        yield (
            f"Intervals are {percent(settings.level)} percentile intervals of "
            f"{settings.bootstrap:,} bootstrap samples of the questions (Efron & Tibshirani, 1993)."
        )
    for standing in found.standings[:_MOST_TOLD]:
        yield f"{found.name_of(standing.system)}: {standing_text(found, standing)}."
    if found.pairs:
        yield (
            "Systems were compared by paired randomisation tests (Smucker et al., 2007), "
            "adjusted by Holm (1979): "
            + joined((f"{name} {told}" for name, told in headline_pairs(found)[:_MOST_TOLD]))
            + "."
        )
    for sweep in found.sweeps[:_MOST_TOLD]:
        yield f"{found.name_of(sweep.system)}: {threshold_text(found, sweep)}."
    yield f"Analyses were done with quem {__version__}."


def _references(found: Findings) -> list[str]:
    own = (
        f"The quem developers (2026). quem {__version__}: how expert is my expert system? Python "
        "package."
    )
    return [*_REFERENCES, *(_TESTED if found.pairs else ()), own]
