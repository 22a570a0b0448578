"""What the result says about judges: unjudged cases, and what to judge next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.report.files import Section, TextTable
from quem.wording import format_count, join_words, measured

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from quem.retrieval.result import Evaluated, RetrievalFindings
    from quem.retrieval.unjudged import Flip, Unjudged

_MOST_ROWS = 20
_MOST_FLIPS = 3

# What the consensus is of the grades of judges.
_CONSENSUS = {"median": "median", "mean": "mean", "mode": "most frequent"}


def _percent(share: float) -> str:
    """Write a share so that only all of it is 100%: "97%", "99.6%"; "–" for none."""
    if not np.isfinite(share):
        return "–"
    whole = f"{100 * share:.0f}"
    return f"{100 * share:.1f}%" if whole == "100" and share < 1 else f"{whole}%"


def _judged_name(findings: RetrievalFindings) -> str:
    depth = findings.judged_depth
    return "Judged" if depth is None else f"Judged@{depth}"


def judged_columns(
    findings: RetrievalFindings, rows: Iterable[Evaluated]
) -> list[tuple[str, list[str]]]:
    """Write a column with the share of cases that are judged, where not all are."""
    depth = findings.judged_depth
    shares = [findings.judged.get(one.id, {}).get(depth, np.nan) for one in rows]
    if all(np.isnan(share) or share == 1 for share in shares):
        return []
    cells = ["" if np.isnan(share) else _percent(share) for share in shares]
    return [(_judged_name(findings), cells)]


def judged_note(heads: Iterable[str]) -> list[str]:
    """Say what that column holds, if it is there."""
    return [
        f"{head}: the share of the best cases that are judged; the others count as not relevant"
        for head in heads
        if head.startswith("Judged")
    ]


def judges_text(findings: RetrievalFindings) -> str:
    """Say who judged, and how they were brought together; empty where grades have no judges."""
    graded = findings.graded
    if graded is None:
        return ""
    each = graded.graded_by
    by = f"{each.min()} to {each.max()}" if each.min() < each.max() else f"{each.min()}"
    judges = format_count(len(graded.judges), "judge")
    return (
        f"Judges: the {_CONSENSUS[graded.by]} of the grades of {judges}, {by} per "
        f"case{', resampled for the intervals' if findings.n_panels else ''}"
    )


def open_flips(findings: RetrievalFindings) -> list[Flip]:
    """Give the differences whose sign unjudged cases could change."""
    return [flip for flip in _flips(findings) if flip.could_flip]


def _flips(findings: RetrievalFindings) -> tuple[Flip, ...]:
    return findings.unjudged.flips if findings.unjudged else ()


def _pair_name(findings: RetrievalFindings, flip: Flip) -> str:
    first, second = (findings.scored[at].name for at in (flip.first, flip.second))
    return f"{first} − {second}"


def _where(unjudged: Unjudged) -> str:
    return "in the lists" if unjudged.k is None else f"among the {unjudged.k} best"


def judging_lines(findings: RetrievalFindings) -> Iterator[str]:
    """Say in a few lines what unjudged cases could change."""
    unjudged = findings.unjudged
    if unjudged is not None and unjudged.n_unbounded:
        yield _unbounded(findings, unjudged)
    if unjudged is not None and unjudged.flips:
        name = findings.measures[findings.headline].name
        could, n = open_flips(findings), len(unjudged.flips)
        counted = format_count(unjudged.n_cases, "unjudged case")
        if not could:
            yield (
                f"No difference by {name} would change its sign, whatever the grades of the "
                f"{counted} {_where(unjudged)} are."
            )
        else:
            names = join_words((_pair_name(findings, flip) for flip in could), _MOST_FLIPS)
            yield (
                f"{len(could)} of {format_count(n, 'difference')} by {name} could change "
                f"{'its' if len(could) == 1 else 'their'} sign if the {counted} "
                f"{_where(unjudged)} were judged: {names}."
            )
        if could and unjudged.next:
            one = unjudged.next[0]
            yield f"Judge first: {one.case} for the query {one.query}; judge-next.csv has more."


def judging_sections(findings: RetrievalFindings) -> Iterator[Section]:
    """Give the section on unjudged cases."""
    if findings.unjudged is not None:
        yield _unjudged(findings, findings.unjudged)


def _unbounded(findings: RetrievalFindings, unjudged: Unjudged) -> str:
    """Say that there are no bounds."""
    name = findings.measures[findings.headline].name
    if unjudged.flips:
        of = format_count(unjudged.n_unbounded, "difference")
        return f"There is no bound for {of} by {name}, since cases in the lists are tied."
    return f"There is no bound for {name} over the grades that unjudged cases could have."


def _unjudged(findings: RetrievalFindings, unjudged: Unjudged) -> Section:
    name = findings.measures[findings.headline].name
    could = open_flips(findings)
    n = len(unjudged.flips)
    text = [
        f"{format_count(unjudged.n_cases, 'case')} {_where(unjudged)} "
        f"{'is' if unjudged.n_cases == 1 else 'are'} not judged."
    ]
    if unjudged.n_unbounded:
        text.append(_unbounded(findings, unjudged))
    if not unjudged.flips:
        return Section("unjudged", "Unjudged cases", text)
    text[0] += (
        f" Each could have any grade from 0 to {unjudged.top:g}, the same in all lists. The bounds "
        f"are the lowest and the highest "
        f"difference by {name} that such grades give. "
        + (
            "No sign can change."
            if not could
            else f"{len(could)} of {format_count(n, 'difference')} could change "
            f"{'its' if len(could) == 1 else 'their'} sign."
        )
    )
    rows = [
        (
            _pair_name(findings, flip),
            "could flip" if flip.could_flip else "settled",
            measured(flip.difference, sign=True),
            f"{measured(flip.low, sign=True)} to {measured(flip.high, sign=True)}",
            f"{flip.unjudged:,}",
            "" if flip.to_settle is None else f"{flip.to_settle:,}",
        )
        for flip in unjudged.flips
    ]
    heads = ("pair", "sign", "difference", "bounds", "unjudged", "to settle")
    note = (
        "To settle: as many cases, judged in order of their weight, make the sign certain if none "
        "of them is relevant. flips.csv has these numbers."
    )
    if len(findings.scored) > len({at for f in unjudged.flips for at in (f.first, f.second)}):
        note += " Only the best retrievers are compared here."
    tables = [TextTable("What unjudged cases could change", heads, rows, note, frozenset({1}))]
    if unjudged.next:
        tables.append(_next(findings, unjudged))
    return Section("unjudged", "Unjudged cases", text, (), tables)


def _next(findings: RetrievalFindings, unjudged: Unjudged) -> TextTable:
    names = {one.id: one.name for one in findings.scored}
    rows = [
        (
            one.query,
            one.case,
            ", ".join(f"{names[id_]} {at}" for id_, at in one.positions.items()),
            measured(one.removes),
        )
        for one in unjudged.next[:_MOST_ROWS]
    ]
    note = (
        "Positions in the lists, and by how much judging the case narrows the bounds of the "
        "differences that could flip, summed over these. judge-next.csv can be judged in a next "
        "session."
    )
    heads = ("query", "case", "positions", "narrows by")
    return TextTable("What to judge next", heads, rows, note, frozenset({1, 2}))


def judging_methods(findings: RetrievalFindings) -> Iterator[str]:
    """Write the sentences of the methods paragraph about judges."""
    graded, unjudged = findings.graded, findings.unjudged
    if graded is not None:
        lower = "" if graded.by == "mean" else "; of two, the lower"
        yield f"The grade of a case is the {_CONSENSUS[graded.by]} of its judges' grades{lower}."
    if unjudged is not None:
        yield (
            "Cases without a judgment counted as not relevant"
            + (
                "; bounds of the differences are over all grades from 0 to "
                f"{unjudged.top:g} that they could have."
                if unjudged.flips
                else "."
            )
        )
