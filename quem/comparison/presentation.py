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
from quem.comparison.systems import dated
from quem.method.methods import PAPER, QUEM
from quem.method.statement import assumption
from quem.report.files import Section
from quem.report.result import Presentation
from quem.report.rows import Entry, Row, RowDocument, RowTable
from quem.wording import (
    align_columns,
    format_count,
    format_interval,
    format_number,
    format_p,
    format_percent,
    format_signed,
    join_words,
    wrap,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from quem.comparison.result import ComparisonFindings
    from quem.method.core import Core

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
_INDEPENDENT = (
    "Assumes independent studies of comparable populations, in which a year of experience means "
    "the same."
)
_GAIN = (
    "Assumes that problems with and without help are equally hard. The test is about other "
    "problems, with the same people and judges."
)


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


def difference_text(found: ComparisonFindings, of: Difference) -> str:
    """The difference in years, with the leader first."""
    unit, a, b = found.unit, of.first, of.second
    if of.years is None or of.ahead is None:
        return f"No difference in {unit} between {a} and {b}: {of.reason}"
    years, (low, high), ahead, leader, other = of.years, of.interval, of.ahead, b, a
    if years < 0:
        years, ahead, leader, other = -years, 1 - ahead, a, b
        low, high = (None if end is None else -end for end in (high, low))
    if low is not None and high is not None:
        value = f"{format_number(years)} {unit}"
        how = f"{format_percent(found.level)} credible interval {format_interval((low, high))}"
    else:
        end, most, bound = (high, "most", "upper") if low is None else (low, "least", "lower")
        value = f"at {most} {format_number(end or 0.0)} {unit}"
        how = f"{format_percent((1 + found.level) / 2)} {bound} bound"
    chance = ">99.9%" if ahead >= 0.9995 else f"{100 * ahead:.1f}%"  # noqa: PLR2004  never certain
    sure = f"({how}; probability that {leader} is better: {chance})"
    if low is None or low <= 0:
        return f"These data do not separate {a} and {b}. {leader} less {other}: {value} {sure}."
    return f"{leader} is ahead of {other} by {value} of experience {sure}."


def lead_text(of: PairRow) -> str:
    """How often one was ranked above the other, and what reverses that; empty if never."""
    if of.won is None or of.ranks is None:
        return ""
    leader, other, won = of.second, of.first, of.won
    if of.ranks < 0:
        leader, other, won = other, leader, 1 - won
    share, n = format_percent(round(won, 3)), format_count(of.n_rankings, "ranking")
    text = f"{leader} was ranked above {other} in {share} of {n} of both (ties count half)."
    if not of.rankings:
        return text
    lost = f"without the {format_count(of.rankings, 'ranking')} (of {of.n_rankings}) that "
    lost += f"favor{'s' * (of.rankings == 1)} it most"
    if of.n_judges > 1:
        lost += f", or without {of.judges} of the {of.n_judges} judges"
    return f"{text} {leader}’s lead disappears {lost}."


def gain_text(found: ComparisonFindings, of: GainRow) -> str:
    """The effect of assistance on the average rank."""
    low, high = of.interval
    how = "no test"
    if low is not None and high is not None:
        how = (
            f"{format_percent(found.level)} CI {format_interval((low, high), 2)}; "
            f"t({of.df}) = {format_number(of.t or 0.0, 2)}, {format_p(of.p_value or 0.0)}"
        )
    people = "One person" if len(of.people) == 1 else f"{len(of.people)} people"
    gain = format_signed(of.gain, 2)
    return f"{people} with the help of {of.name}: {gain} in average rank ({how})."


def notes(found: ComparisonFindings) -> Iterator[str]:
    """Notes on all differences."""
    if any(of.years is not None for of in (*found.pairs, *found.people)):
        texts = [(core.study.spec.id, assumption(core)) for core in found.cores]
        same = len({text for _, text in texts}) == 1
        yield texts[0][1] if same else " ".join(f"{study}: {text}" for study, text in texts)
    if len(found.pairs) > 2:  # noqa: PLR2004  of one or two nobody chooses the best
        yield "Chances are not adjusted for the number of pairs."
    if len(found.cores) > 1:
        yield _INDEPENDENT
    if found.gains:
        yield _GAIN
