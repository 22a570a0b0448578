"""Presentation of comparisons: analysis.json, tables, terminal summary, and page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quem import __version__
from quem.comparison.result import (
    ComparedStudy,
    ComparisonSettings,
    Difference,
    GainRow,
    PairRow,
    PersonRow,
    SystemRow,
)
from quem.comparison.statement import difference_text, gain_text, lead_text, notes
from quem.comparison.systems import dated
from quem.method.methods import PAPER, QUEM
from quem.method.statement import assumption
from quem.report.files import Section
from quem.report.result import Presentation
from quem.report.rows import Entry, RowDocument, RowTable
from quem.wording import align_columns, format_percent, join_words, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from quem.comparison.result import ComparisonFindings
    from quem.method.core import Core
    from quem.report.rows import Row

_REFERENCES = (
    PAPER,
    QUEM,
    "Hoadley, B. (1970). A Bayesian look at inverse linear regression. Journal of the American "
    "Statistical Association, 65(329), 356–369.",
)
_METHODS = (
    "Systems were compared with QUEM (Hayes & Parzen, 1997): the logit of each person’s mean place "
    "was regressed on years of experience, and systems were read as {}."
)
_ONE, _SEVERAL = "typical people", "further people of independent studies (Hoadley, 1970)"
_WON = (
    "The last three columns are about rankings of both: the share in which the second is above, "
    "ties one half, and without how many of them, or of the judges, nobody leads."
)
# Pairs that the page puts into words; all are in its table.
_MOST_SENTENCES = 6


def _compared(core: Core) -> ComparedStudy:
    """A compared study."""
    more = {"experience_unit": core.unit, "population": assumption(core)}
    return ComparedStudy.taken_from(core.study.spec, **more)


_DOCUMENT = RowDocument(
    "comparison",
    ComparisonSettings,
    entries=(
        Entry(
            "pairs",
            "one entry per pair of systems",
            PairRow,
            lambda found: found.pairs,
            always=True,
        ),
        Entry(
            "assistance",
            "one entry per system that helped people, where people were helped",
            GainRow,
            lambda found: found.gains or None,
        ),
    ),
    study=Entry(
        "studies",
        "the studies",
        ComparedStudy,
        lambda found: [_compared(core) for core in found.cores],
        always=True,
    ),
)


def title_of(found: ComparisonFindings) -> str:
    """The title of a comparison: that of its study, or of all."""
    titles = [core.study.spec.title for core in found.cores]
    return titles[0] if len(titles) == 1 else f"Compared: {join_words(titles)}"


def summary_text(found: ComparisonFindings) -> str:
    """The terminal summary."""
    lines = [title_of(found)]
    for pair in found.pairs:
        lines += ["", *wrap(difference_text(found, pair)), *wrap(lead_text(pair))]
    for family, versions in dated(found.systems).items():
        lines += ["", f"Versions of {family}"]
        lines += [f"  {line}" for line in align_columns([v.row.cells() for v in versions])]
    for gain in found.gains:
        texts = [gain_text(found, gain), *(difference_text(found, one) for one in gain.people)]
        lines += ["", *(line for text in texts for line in wrap(text))]
    lines += ["", *(line for note in notes(found) for line in wrap(note))]
    return "\n".join(lines).rstrip()


def report_context(found: ComparisonFindings) -> dict[str, Any]:
    """The variables of the template ``report/comparison.html``."""
    specs = [core.study.spec for core in found.cores]
    level, shown = format_percent(found.level), found.pairs[:_MOST_SENTENCES]
    claims = [(difference_text(found, of), lead_text(of)) for of in shown]
    claims += [(gain_text(found, of), "") for of in found.gains]
    how = _METHODS.format(_SEVERAL if len(specs) > 1 else _ONE)
    said, noted = [claim for claim, _ in claims], [*notes(found)]
    return {
        "title": title_of(found),
        "ids": join_words(spec.id for spec in specs),
        "descriptions": [spec.description for spec in specs if spec.description],
        "claims": claims,
        "notes": noted,
        "sections": list(_sections(found)),
        "methods": " ".join([how, *said, *noted, f"Analyses were done with quem {__version__}."]),
        "references": _REFERENCES[: 3 if len(specs) > 1 else 2],
        "settings": [("level", level), ("systems", join_words(found.chosen, 20) or "all")],
        "captions": {"versions": f"Years of each version, with {level} credible intervals."},
        "first_figure": "versions" if dated(found.systems) else "",
        "names_people": not all(core.study.named for core in found.cores),
    }


def _sections(found: ComparisonFindings) -> Iterator[Section]:
    pairs: Sequence[Row] = found.pairs
    if len(found.cores) > 1:
        # No ranking has systems of two studies.
        own = set(Difference.model_fields)
        pairs = [Difference(**of.model_dump(include=own)) for of in found.pairs]
    each: tuple[tuple[str, Sequence[Row], list[str]], ...] = (
        ("pairs", pairs, [_WON] if len(found.cores) == 1 else []),
        ("assistance", found.people, [difference_text(found, one) for one in found.people]),
        ("systems", found.rows, []),
    )
    numbers = f"{found.unit}, {format_percent(found.level)} credible intervals"
    for stem, rows, text in each:
        if rows:
            title = type(rows[0]).title
            table = type(rows[0]).text_table(rows, f"{title} ({numbers})")
            yield Section(stem, title, text, (), [table])


def _drawers(name: str) -> dict[str, Any]:
    """The drawing functions; their import takes as long as a small analysis."""
    from quem.comparison import figures

    drawers: dict[str, Any] = getattr(figures, name)
    return drawers


PRESENTATION: Presentation[Any] = Presentation(
    _DOCUMENT,
    (
        RowTable("differences", "one row per pair of systems", PairRow, lambda f: f.pairs),
        RowTable("estimates", "one row per system", SystemRow, lambda f: f.rows),
        RowTable("assistance", "one row per person with help", PersonRow, lambda f: f.people),
    ),
    lambda: _drawers("FIGURES"),
    summary_text,
    report_context,
    lambda: _drawers("NARROW"),
)
