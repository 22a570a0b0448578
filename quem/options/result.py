"""The result of option lists: additions to the table of scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from quem.lists.names import describe_own
from quem.options import table1
from quem.options.calibration import Bin, Calibration, Threshold
from quem.options.lists import Length, System
from quem.options.table1 import ListScore, Promise
from quem.report.files import Section
from quem.report.rows import Row, RowTable
from quem.scores.result import Scored, ScoredResult, View
from quem.studyfile.options import OptionsSettings
from quem.wording import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from quem.lists import Measure
    from quem.options.loading import OptionsStudy
    from quem.report.result import Drawers

_MOST_ROWS = 40


class Named(NamedTuple):
    """A measure under its name in a study."""

    name: str
    better: str
    heading: str


@dataclass
class Found:
    """Findings on the lists besides their scores."""

    study: OptionsStudy
    settings: OptionsSettings
    measures: Mapping[str, Measure] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)  # why measures are undefined
    systems: list[System] = field(default_factory=list)
    lengths: list[Length] = field(default_factory=list)
    thresholds: list[Threshold] = field(default_factory=list)
    calibration: list[Calibration] = field(default_factory=list)
    reliability: list[Bin] = field(default_factory=list)
    promises: list[Promise] = field(default_factory=list)
    table1: list[ListScore] = field(default_factory=list)

    @property
    def counted(self) -> list[NDArray[np.bool_]]:
        """Which questions count, for each system."""
        empty = self.settings.missing == "empty"
        return [np.asarray(one.answered | empty) for one in self.study.answers]

    @property
    def longest(self) -> int:
        """The length of the longest list."""
        return max(int(one.length.max(initial=0)) for one in self.study.answers)

    @property
    def max_length(self) -> int:
        """The greatest length that measures depend on."""
        return self.settings.max_length or max(self.longest, 1)


def sections(found: Found) -> Iterator[Section]:
    """The report's sections below the table of scores."""
    if found.thresholds:
        text = (
            "A threshold shows the options whose confidence reaches it, and always the best one. "
            "No measure of lists recommends a threshold: where options are in the order of their "
            "true probabilities, the expected LAR is highest with one option, and so is OLAR but "
            "for a trifle, whatever the system."
        )
        yield Section("thresholds", "Which options to show", [text], ("thresholds",))
    if found.calibration:
        text = (
            "Confidences are calibrated if, of all options of a confidence, that share is correct. "
            "The Brier score is the mean squared difference of confidence and correctness, and the "
            "expected calibration error (ECE) the mean distance of confidence and share over the "
            "bins; beside it is what chance alone makes of it for true probabilities."
        )
        table = Calibration.text_table(found.calibration)
        yield Section("calibration", "Calibration", [text], ("reliability",), [table])
    note = f"The first {_MOST_ROWS} rows." if len(found.lengths) > _MOST_ROWS else ""
    caption = f"Lists by their length, with the mean of {next(iter(found.measures))}"
    table = Length.text_table(found.lengths[:_MOST_ROWS], caption, note)
    own = describe_own(found.measures.values())
    yield Section("lengths", "Length of the lists", own, tables=[table])
    yield from table1.sections(found.promises, found.table1, lists=not found.settings.samples)


def _basis(of: Scored) -> str:
    found: Found = of.found
    lists = sum(one.lists for one in found.systems)
    text = f"{format_count(lists, 'list')}, the longest of {format_count(found.longest, 'option')}"
    if several := int((of.study.key.n_correct > 1).sum()):
        text += f"; {several:,} questions have several correct options"
    if "OLAR" in found.measures:
        text += f"; OLAR for lists of up to {found.max_length}"
    return f"{text}."


def _methods(of: Scored) -> Iterator[str]:
    yield (
        f"Lists of options were evaluated by {of.table.columns[0]} (Atanasova et al., 2019) on "
        f"{len(of.table.queries):,} questions."
    )
    if of.found.calibration:
        yield (
            "Calibration was evaluated by Brier scores and expected calibration errors over bins "
            "of about equal size."
        )


def _references(of: Scored) -> Iterator[str]:
    yield (
        "Atanasova, P., Karadzhov, G., Kiprov, Y., Nakov, P. and Sebastiani, F. (2019). Evaluating "
        "variable-length multiple-option lists in chatbots and mobile search. SIGIR, 997–1000."
    )
    if of.found.calibration:
        yield (
            "Bröcker, J. and Smith, L. A. (2007). Increasing the reliability of reliability "
            "diagrams. Weather and Forecasting, 22(3), 651–661."
        )


def _figures() -> Drawers[Scored]:
    from quem.options.figures import FIGURES

    return FIGURES


def _table(stem: str, meaning: str, row: type[Row]) -> RowTable:
    return RowTable(stem, f"one row per {meaning}", row, lambda of: getattr(of.found, stem))


class OptionsResult(ScoredResult):
    """The quality of option lists."""

    kind = "options"
    view = View(
        kind="options",
        kicker="QUEM report on lists of options",
        settings=OptionsSettings,
        detail=System,
        tables=(
            _table("lengths", "system and length", Length),
            _table("thresholds", "system and threshold", Threshold),
            _table("calibration", "system with probabilities", Calibration),
            _table("reliability", "system and bin of confidence", Bin),
            _table("promises", "measure", Promise),
            _table("table1", "measure and list", ListScore),
        ),
        figures=_figures,
        captions={
            "thresholds": "The first measure of the lists that each threshold leaves, with its "
            "bootstrap interval, and how long they are.",
            "reliability": "The share of options that are correct, in bins of about the same "
            "number of options, with its bootstrap interval over questions. On the dashed line "
            "confidences are probabilities.",
        },
        in_terminal=frozenset({"calibration", "promises"}),
        basis=_basis,
        methods=_methods,
        references=_references,
    )
