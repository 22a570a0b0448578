"""The table of all scored kinds: systems by queries by measures."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from quem.errors import QuemError, StudyWarning
from quem.io.text import nearest
from quem.scores.inference import LEAST_SHARE, Difference, Inference, Means, compare, query_means
from quem.wording import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from quem.report.files import Section
    from quem.report.rows import Row
    from quem.scores.certificate import Certificate, Line
    from quem.scores.scoring import Scored

    Floats = NDArray[np.float64]

_SAME = 1e-12  # smaller differences of means count as ties


class Nouns(NamedTuple):
    """A kind's nouns for a system and a query."""

    system: str = "system"
    query: str = "query"

    @property
    def queries(self) -> str:
        """The plural of the query's noun."""
        return plural(self.query)


@dataclass(frozen=True)
class Origin:
    """The origin of scores, and properties that compared scores must share."""

    kind: str = "scores"
    title: str = ""
    source: str = ""  # as the user named it, for messages
    truth: str = ""  # digest of the ground truth, independent of the order of queries
    settings: dict[str, str] = field(default_factory=dict)  # that scores depend on


class Measured(Protocol):
    """A measure of scores."""

    @property
    def name(self) -> str:
        """The canonical spelling."""

    @property
    def better(self) -> str:
        """The better direction of scores: higher or lower."""


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores of systems on queries, with their means, intervals, and tests."""

    systems: tuple[str, ...]  # ids
    queries: tuple[str, ...]  # ids of queries that can be scored
    measures: tuple[Measured, ...]  # the first is the headline
    values: Floats  # of shape (systems, queries, measures): NaN where a score is undefined
    inference: Inference = field(default_factory=Inference)
    nouns: Nouns = field(default_factory=Nouns)
    names: tuple[str, ...] = ()  # titles of the systems; by default their ids
    studies: tuple[str, ...] = ()  # id of each system's study, if there are several
    origin: Origin = field(default_factory=Origin)
    details: tuple[Row, ...] = ()  # facts besides the scores, one row per system
    sections: tuple[Section, ...] = ()  # below the table
    warnings: tuple[StudyWarning, ...] = ()
    # For certificates: the lists of the systems, and each judge's scores
    evidence: Scored | None = None
    # Functions of table and claim that return further lines of its certificate
    checks: tuple[Callable[[ScoreTable, Claim], Line], ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The titles of the systems."""
        return self.names or self.systems

    @property
    def truth(self) -> str:
        """A digest of the ground truth."""
        return self.origin.truth or (self.evidence.digest if self.evidence else "")

    @property
    def columns(self) -> tuple[str, ...]:
        """The spellings of the measures."""
        return tuple(measure.name for measure in self.measures)

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings of the measures, with parameters that are always shown."""
        return tuple(getattr(one, "heading", one.name) for one in self.measures)

    @property
    def signs(self) -> NDArray[np.int64]:
        """1 for a measure where more is better, else -1, shape (measures,)."""
        return np.array([-1 if one.better == "lower" else 1 for one in self.measures])

    @cached_property
    def means(self) -> Means:
        """Mean, interval, and number of queries, shape (systems, measures)."""
        systems, queries, measures = self.values.shape
        flat = self.values.transpose(1, 0, 2).reshape(queries, -1)
        return query_means(flat, self.inference).reshape(systems, measures)

    @cached_property
    def pairs(self) -> list[Difference]:
        """The differences of all pairs of systems by each measure."""
        return compare(self.values, self.inference)

    @cached_property
    def p(self) -> Floats:
        """Joint p values, shape (measures, systems, systems)."""
        p = np.full((len(self.measures), len(self.systems), len(self.systems)), np.nan)
        for pair in self.pairs:
            p[pair.measure, pair.a, pair.b] = p[pair.measure, pair.b, pair.a] = pair.p
        return p

    @cached_property
    def ranked(self) -> NDArray[np.bool_]:
        """Which means are over enough queries to be ranked, shape (systems, measures)."""
        return np.asarray(self.means.n >= max(1, LEAST_SHARE * len(self.queries)))

    @cached_property
    def comparable(self) -> NDArray[np.bool_]:
        """Which measures have scores of all ranked systems on the same queries, (measures,)."""
        known = ~np.isnan(self.values)
        return np.array(
            [
                bool((known[ranked, :, at] == known[ranked, :, at][:1]).all())
                for at, ranked in enumerate(self.ranked.T)
            ]
        )

    @cached_property
    def best(self) -> NDArray[np.bool_]:
        """Which systems have the best mean by each measure, shape (systems, measures)."""
        oriented = np.where(self.ranked, self.means.mean * self.signs, -np.inf)
        best = oriented >= oriented.max(axis=0, initial=-np.inf) - _SAME
        several = len(self.systems) > 1
        return np.asarray(best & self.comparable & self.ranked & several)

    def beaten(self, system: int, measure: int) -> list[int]:
        """The systems that are significantly worse than one by a measure."""
        if not self.comparable[measure]:
            return []
        lead = (self.means.mean[system] - self.means.mean)[:, measure] * self.signs[measure]
        worse = (self.p[measure, system] <= self.inference.alpha) & (lead > 0)
        beaten: list[int] = np.flatnonzero(worse).tolist()
        return beaten

    @property
    def order(self) -> list[int]:
        """The systems by decreasing quality in the headline; ties in given order."""
        oriented = np.where(self.ranked, self.means.mean * self.signs, -np.inf)[:, 0]
        order: list[int] = np.argsort(-np.round(oriented, 12), kind="stable").tolist()
        return order

    def place(self, system: str) -> int:
        """The index of a system."""
        for known in (self.systems, self.labels):
            if known.count(system) == 1:
                return known.index(system)
        raise QuemError(
            f"there is no {self.nouns.system} {system!r}"
            f"{nearest(system, self.systems)}; there are {', '.join(self.systems)}"
        )

    def column(self, measure: str) -> int:
        """The index of a measure, whatever its spelling."""
        from quem.lists import measure as read

        name = measure if measure in self.columns else read(measure).name
        if name not in self.columns:
            raise QuemError(
                f"there is no measure {name!r} in the table; there are {', '.join(self.columns)}"
            )
        return self.columns.index(name)

    def of(self, systems: Sequence[int], measures: Sequence[int]) -> ScoreTable:
        """A part of the table, by indices."""
        return replace(
            self,
            systems=tuple(self.systems[at] for at in systems),
            names=tuple(self.labels[at] for at in systems),
            studies=tuple(self.studies[at] for at in systems) if self.studies else (),
            details=tuple(self.details[at] for at in systems) if self.details else (),
            measures=tuple(self.measures[at] for at in measures),
            values=self.values[np.ix_(systems, range(len(self.queries)), measures)],
        )

    def frame(self) -> pd.DataFrame:
        """One row per system and measure: mean, interval, number of queries."""
        from quem.scores.rows import Mean, mean_rows

        return Mean.frame(mean_rows(self))

    def differences(self) -> pd.DataFrame:
        """One row per measure and pair of systems: difference, interval, p values."""
        from quem.scores.rows import PairRow, pair_rows

        return PairRow.frame(pair_rows(self))

    def claim(self, text: str) -> Claim:
        """Parse a claim such as ``new > old by AP``; the headline is the default measure."""
        better, sign, rest = text.partition(">")
        worse, by, measure = rest.partition(" by ")
        if not (sign and better.strip() and worse.strip()):
            raise QuemError(f"{text!r} is not a claim; write 'A > B' or 'A > B by AP'")
        a, b = self.place(better.strip()), self.place(worse.strip())
        if a == b:
            raise QuemError(f"{text!r}: a claim needs two {plural(self.nouns.system)}")
        return Claim(a, b, self.column(measure.strip()) if by else 0)

    def certificate(self, a: str, b: str, measure: str = "") -> Certificate:
        """Certify the claim that one system scores higher than another.

        Parameters
        ----------
        a, b : str
            The systems; a is the better one.
        measure : str, optional
            By default the headline.

        Raises
        ------
        QuemError
            A system or measure is not in the table.
        """
        return self.certificate_of(f"{a} > {b}" + (f" by {measure}" if measure else ""))

    def certificate_of(self, claim: str) -> Certificate:
        """Certify a claim such as ``new > old by AP``."""
        from quem.scores.certificate import certify

        return certify(self, self.claim(claim))

    def __str__(self) -> str:
        """The table as text, with the sections of its kind."""
        from quem.scores.present import sections_text, text

        return "\n".join([text(self), *sections_text(self)])

    def _repr_html_(self) -> str:
        from html import escape

        from quem.scores.present import html, sections_text

        sections = "\n".join(sections_text(self))
        return html(self) + (f"<pre>{escape(sections)}</pre>" if sections else "")


class Claim(NamedTuple):
    """The claim that system `a` scores higher than `b` by a measure, as table indices."""

    a: int
    b: int
    measure: int = 0
