"""The rows of a score table: means, differences, and the lines of certificates."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from quem.report.rows import Interval, Row, col

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from quem.scores.certificate import Certificate
    from quem.scores.table import ScoreTable


class Mean(Row):
    """The mean of a system by a measure."""

    title: ClassVar[str] = "Means"
    system: str = col("id")
    study: str = col("id of its study; empty where there is one study", kind="csv")
    measure: str = col("as it is spelled")
    mean: float | None = col("over the queries where it is defined")
    interval: Interval | None = col("percentile bootstrap over queries")
    n: int = col("queries where it is defined")


def mean_rows(table: ScoreTable) -> Iterator[Mean]:
    """One row per system and measure."""
    means = table.means
    several = len(set(table.studies)) > 1
    for at, system in enumerate(table.systems):
        for layer, measure in enumerate(table.columns):
            yield Mean(
                system=system,
                study=table.studies[at] if several else "",
                measure=measure,
                mean=known(means.mean[at, layer]),
                interval=ends(means.low[at, layer], means.high[at, layer]),
                n=int(means.n[at, layer]),
            )


class PairRow(Row):
    """The difference of two systems by a measure."""

    title: ClassVar[str] = "Differences"
    measure: str = col("as it is spelled")
    a: str = col("id of a system")
    b: str = col("id of another")
    n: int = col("queries where both have a score; only these count")
    difference: float | None = col("mean score of a minus that of b")
    interval: Interval | None = col(
        "excludes 0 exactly where p is at most 1 - level; empty where it is unbounded"
    )
    p: float | None = col("joint test of all pairs by the measure; empty without a test")
    p_alone: float | None = col("the same test of this pair alone")
    higher: int = col("queries where a has the higher score")
    equal: int = col("queries where the scores are equal")
    lower: int = col("queries where a has the lower score")
    ahead: float | None = col("share of bootstrap samples in which the difference keeps its sign")


def pair_rows(table: ScoreTable) -> Iterator[PairRow]:
    """One row per measure and pair of systems."""
    ids = (
        [f"{study}/{system}" for study, system in zip(table.studies, table.systems, strict=True)]
        if len({*table.systems}) < len(table.systems)
        else table.systems
    )
    for pair in table.pairs:
        numbers = {
            name: known(getattr(pair, name)) for name in ("difference", "p", "p_alone", "ahead")
        }
        yield PairRow.taken_from(
            pair,
            measure=table.columns[pair.measure],
            a=ids[pair.a],
            b=ids[pair.b],
            interval=ends(pair.low, pair.high),
            **numbers,
        )


class LineRow(Row):
    """A line of a certificate."""

    question: str = col("threat to the claim")
    verdict: Literal["yes", "open", "no", "-"] = col("whether the claim withstands it")
    text: str = col("the numbers behind it")


class CaseRow(Row):
    """An unjudged case."""

    query: str = col("id")
    case: str = col("id")


class ClaimRow(Row):
    """A certificate."""

    claim: str = col("that one system scores higher than another")
    verdict: str = col("overall verdict")
    lines: tuple[LineRow, ...] = col("the threats examined")
    to_judge: tuple[CaseRow, ...] = col(
        "the first 1,000 cases that settle the claim if none is relevant, by decreasing effect"
    )


def claim_rows(certificates: Iterable[Certificate]) -> Iterator[ClaimRow]:
    """One row per certificate."""
    for one in certificates:
        lines = tuple(LineRow.taken_from(line) for line in one.lines)
        cases = tuple(CaseRow.taken_from(case) for case in one.to_judge)
        yield ClaimRow(claim=one.claim, verdict=one.verdict, lines=lines, to_judge=cases)


class SettingRow(Row):
    """A setting on which scores depend."""

    key: str = col("of the study, under `analysis`")
    value: str = col("as used, or a digest")


class InputRow(Row):
    """A file that was read."""

    path: str = col("as the user named it")
    sha256: str = col("digest of its content")


class OriginRow(Row):
    """Properties that compared scores must share."""

    kind: str = col("of the study")
    truth: str = col("digest of the ground truth")
    settings: tuple[SettingRow, ...] = col("on which scores depend")
    inputs: tuple[InputRow, ...] = col("the files that were read")


def origin_row(table: ScoreTable, files: Iterable[Path]) -> OriginRow:
    """The origin of the scores."""
    from hashlib import file_digest

    inputs = []
    for path in files:
        if path.is_file():
            with path.open("rb") as file:
                digest = file_digest(file, "sha256").hexdigest()
            inputs.append(InputRow(path=str(path), sha256=digest))
    origin = table.origin
    settings = tuple(SettingRow(key=key, value=value) for key, value in origin.settings.items())
    return OriginRow.taken_from(origin, truth=table.truth, settings=settings, inputs=tuple(inputs))


def known(value: float) -> float | None:
    """A number; None for NaN and infinity."""
    return float(value) if np.isfinite(value) else None


def ends(low: float, high: float) -> Interval | None:
    """An interval; None where an end is unknown or infinite."""
    return (float(low), float(high)) if np.isfinite(low) and np.isfinite(high) else None
