"""Columns of the judges by name, and of the tests of Kendall's W."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from quem.experience.concordance import W_TESTS
from quem.report.columns import (
    COUNT,
    FLAG,
    NAME,
    NUMBER,
    OPEN_INTERVAL,
    SHARE,
    Column,
    Columns,
    Type,
    choice,
    each,
    null_or,
)
from quem.wording import format_bare_p, format_interval

if TYPE_CHECKING:
    from quem.experience.agreement import Concordance
    from quem.experience.influence import LeaveOneOut
    from quem.experience.judges import JudgeFit
    from quem.experience.result import ExperienceFindings

_CORRELATION = null_or(Type({"type": "number", "minimum": -1, "maximum": 1}))

_TURNED: Columns[LeaveOneOut, ExperienceFindings] = Columns(
    Column("system", NAME, "whose estimate it is"),
    Column("estimate", null_or(NUMBER), "null where no skill function can be fitted then"),
)

JUDGES: Columns[JudgeFit, ExperienceFindings] = Columns(
    Column("judge", NAME, "id", heading="Judge"),
    Column(
        "n_solvers", COUNT, "solvers whom all judges ranked, over whom these correlations are taken"
    ),
    Column(
        "agreement",
        _CORRELATION,
        "agreement with the others: correlation of the judge's mean ranks with the mean of the "
        "other judges' mean ranks",
        of="others",
        heading="r with the other judges",
    ),
    Column(
        "agreement_interval",
        OPEN_INTERVAL,
        "95% interval of it, by Fisher's z; null with fewer than 5 solvers",
        of="interval",
    ),
    Column(
        "shown_interval",
        OPEN_INTERVAL,
        "95% interval",
        of="interval",
        heading="95% interval",
        text=partial(format_interval, digits=2),
        only="report",
    ),
    Column(
        "experience",
        _CORRELATION,
        "correlation of the judge's mean ranks with the subjects' experience",
        heading="r with experience",
    ),
    Column(
        "misfit",
        null_or(Type({"type": "number", "minimum": 0})),
        "mean squared difference of the judge's ranks from the mean rank of the others, as a ratio "
        "to the mean of that of the other judges; null with fewer than 3 judges",
        heading="Misfit",
    ),
    Column(
        "reversed",
        FLAG,
        "whether the order runs against the other judges' and against experience",
        of="is_reversed",
    ),
    Column(
        "turned_around",
        each(_TURNED),
        "the estimates with a reversed judge's order turned around; else empty",
        of="turned",
        only="json",
    ),
)

W_TEST: tuple[Column[tuple[str, Concordance], ExperienceFindings], ...] = (
    Column(
        "kendall_w_p",
        null_or(SHARE),
        "p value of W against judges who rank at random; null where undefined",
        of=lambda row, _: row[1].w_test.p,
        heading="p of W",
        text=format_bare_p,
    ),
    Column(
        "kendall_w_test",
        choice(*W_TESTS, None),
        "how it was computed; null without a p value",
        of=lambda row, _: row[1].w_test.by or None,
    ),
)
W_INTERVAL: Column[tuple[str, Concordance], ExperienceFindings] = Column(
    "kendall_w_interval",
    OPEN_INTERVAL,
    "interval of the mean W over problems, about 95%; null with fewer than 3 problems",
    of=lambda row, _: row[1].w_interval,
)
