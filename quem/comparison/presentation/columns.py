"""Every value of a comparison: analysis.json, CSV files, tables of the report."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np

from quem.comparison.pair_tests import TESTS
from quem.comparison.presentation.phrases import (
    bound_text,
    less,
    names_of,
    rank_interval,
    test_text,
)
from quem.comparison.settings import Test
from quem.experience.presentation.estimate_columns import bound_columns, headline_columns
from quem.report.columns import (
    COUNT,
    FLAG,
    INTERVAL,
    NAME,
    NUMBER,
    OPEN_INTERVAL,
    SHARE,
    TEXT,
    WARNINGS,
    Column,
    Columns,
    Table,
    choice,
    each,
    head,
    null_or,
    of,
    settings,
)
from quem.studyfile.models import ExperienceSettings
from quem.wording import format_bare_p, format_percent, format_signed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from quem.comparison.assistance import AssistanceGain, PersonUplift
    from quem.comparison.independent import IndependentDifference, SystemEstimate
    from quem.comparison.pair_tests import PairTest
    from quem.comparison.pairs import Pair
    from quem.comparison.result import ComparisonFindings
    from quem.comparison.versions import Progression, Step
    from quem.experience.result import ExperienceFindings


def _interval(comparison: ComparisonFindings) -> str:
    return f"{format_percent(comparison.level)} interval"


def _signed(digits: int = 1) -> Callable[[float], str]:
    return lambda value: format_signed(value, digits)


def _p(name: str, meaning: str, heading: str = "", of: str = "") -> Column[Any, ComparisonFindings]:
    return Column(name, null_or(SHARE), meaning, of=of or name, heading=heading, text=format_bare_p)


def _difference(pair: Pair, comparison: ComparisonFindings) -> str:
    names = names_of(comparison)
    return less(names[pair.b], names[pair.a])


# Systems, each in its study.

_STUDY: Columns[ExperienceFindings, ComparisonFindings] = Columns(
    Column("id", NAME, "as in the study file", of="study.spec.id"),
    Column("title", TEXT, "as in the study file", of="study.spec.title"),
    Column("experience_unit", TEXT, "such as `years`", of="study.spec.experience_unit"),
    *headline_columns(),
)
_REFERENCE: Columns[SystemEstimate, ComparisonFindings] = Columns(
    Column("study", COUNT, "index into `studies`"), Column("system", NAME, "id")
)


ESTIMATES: Columns[SystemEstimate, ComparisonFindings] = Columns(
    Column(
        "shown_name",
        TEXT,
        "name and version",
        of=lambda row, comparison: comparison.name_of(row),
        heading="System",
        only="report",
    ),
    Column("study", COUNT, "index into `studies`", only="json"),
    Column(
        "study",
        NAME,
        "id of the study",
        of=lambda row, comparison: comparison.study_of(row),
        only="csv",
    ),
    Column("system", NAME, "id"),
    Column("name", NAME, "name and version", only="json"),
    Column("version", TEXT, "as in the study file, or empty"),
    Column("of", NAME, "what versions of one system share"),
    Column(
        "date",
        null_or(TEXT),
        "of the version; null where unknown",
        of=lambda row, _: str(row.date) if row.date else None,
    ),
    Column(
        "average_rank",
        NUMBER,
        "mean of its adjusted ranks",
        of="estimate.average_rank",
        heading="Average rank",
    ),
    Column(
        "experience",
        NUMBER,
        "the experience estimate",
        of="estimate.experience",
        heading=lambda comparison: f"Estimate ({comparison.unit})",
    ),
    Column(
        "prediction_interval",
        INTERVAL,
        "for the experience of one person with this average rank",
        of="estimate.prediction",
        heading="Prediction interval",
    ),
    *bound_columns(lambda row: row.estimate),
)

# Pairs of systems of one study; every difference is b minus a.

_TEST: Columns[PairTest, ComparisonFindings] = Columns(
    _p("p", "null without a test"),
    Column("t", null_or(NUMBER), "null for the sign-flip test", of="statistic"),
    Column("df", null_or(NUMBER), "degrees of freedom; null for the sign-flip test"),
    Column("interval", OPEN_INTERVAL, "of the difference in average rank"),
    Column(
        "patterns",
        null_or(COUNT),
        "patterns of signs tried; null for a t test",
        of=lambda row, _: row.patterns or None,
    ),
    Column(
        "extreme",
        null_or(COUNT),
        "of them, with a difference at least as large",
        of=lambda row, _: row.extreme if row.patterns else None,
    ),
    Column(
        "exact",
        null_or(FLAG),
        "whether these are all patterns",
        of=lambda row, _: row.exact if row.patterns else None,
    ),
    Column("reason", TEXT, "why there is no test; empty where there is one"),
)


def _test(name: str, *attributes: str) -> Callable[[Pair, ComparisonFindings], object]:
    def test(pair: Pair, _: ComparisonFindings) -> object:
        return attrgetter(*attributes)(pair.tests[name]) if attributes else pair.tests[name]

    return test


_TESTS: Columns[Pair, ComparisonFindings] = Columns(
    *(
        Column(name, of(_TEST), meaning, of=_test(name))
        for name, meaning in (
            ("problem", "t test over problems"),
            ("twoway", "two-way t test, problems and judges random"),
            ("signflip", "sign-flip test over problems"),
        )
    )
)


class _OnProblem(NamedTuple):
    problem: str
    difference: float
    share_won: float


def _on_problems(pair: Pair, _: ComparisonFindings) -> Iterator[_OnProblem]:
    paired = pair.paired
    if paired.problems:
        shares = paired.share_won_by_problem.tolist()
        rows = zip(paired.problems, paired.by_problem.tolist(), shares, strict=True)
        yield from (_OnProblem(*row) for row in rows)


_PROBLEMS: Columns[_OnProblem, ComparisonFindings] = Columns(
    Column("problem", NAME, "id"),
    Column("difference", NUMBER, "mean over the judges"),
    Column("share_won", SHARE, "as above, on this problem"),
)

PAIRS: Columns[Pair, ComparisonFindings] = Columns(
    Column("shown_name", TEXT, "the pair", of=_difference, heading="Difference", only="report"),
    Column("a", NAME, "id"),
    Column("b", NAME, "id; every difference is b minus a"),
    Column("n_judges", COUNT, "judges who ranked both", of=lambda row, _: len(row.paired.judges)),
    Column(
        "n_problems",
        COUNT,
        "problems with a ranking of both",
        of=lambda row, _: len(row.paired.problems),
    ),
    Column("n_cells", COUNT, "rankings of both", of="paired.n_cells"),
    Column(
        "mean_difference",
        null_or(NUMBER),
        "in average rank, over the problems; null where no ranking includes both",
        of="paired.mean",
        heading="Average rank",
        text=_signed(2),
    ),
    Column(
        "interval",
        OPEN_INTERVAL,
        "of the chosen test, or of the test over problems where that one has none",
        heading=_interval,
        text=rank_interval,
    ),
    Column("test", choice(*TESTS), "the test that was used", of="used"),
    Column("test_reason", TEXT, "why this one; empty where it was asked for", of="why"),
    Column(
        "shown_test",
        TEXT,
        "the test, and why",
        of=lambda row, _: test_text(row) if row.why else "",
        heading=lambda comparison: "Test" if comparison.test == "auto" else "",
        only="report",
    ),
    _p(
        "p_judges",
        "of the F test that judges do not differ on the two; null where there is none",
        of="automatic.p_judges",
    ),
    _p("p", "of the test that was used", of="test.p"),
    _p("p_holm", "the same, adjusted for all pairs (Holm)", heading="Adjusted p"),
    Column(
        "tests",
        of(_TESTS),
        "all three tests that can be asked for by name",
        of=lambda row, _: row,
        only="json",
    ),
    *(
        Column(
            f"p_{name}",
            SHARE,
            f"p value of the test `{name}`",
            of=_test(name, "p"),
            heading=heading,
            text=format_bare_p,
            only="csv",
        )
        for name, heading in zip(
            TESTS, ("p over problems", "p two-way", "p sign-flip"), strict=True
        )
    ),
    Column(
        "share_won",
        null_or(SHARE),
        "share of rankings with b above a, ties one half",
        of="paired.share_won",
    ),
    Column(
        "years",
        null_or(NUMBER),
        "difference in worth over the slope of worth on experience, in the unit of experience; "
        "null with a reason where it is not defined",
        of="years.years",
        heading=lambda comparison: comparison.unit.capitalize(),
        text=format_signed,
    ),
    Column(
        "years_interval",
        null_or(INTERVAL),
        "of `years`; null where that is",
        of="years.interval",
        heading=lambda comparison: f"{_interval(comparison)} ({comparison.unit})",
    ),
    Column(
        "years_reason",
        TEXT,
        "why there are no years; empty where there are",
        of="years.reason",
        only="json",
    ),
    Column(
        "years_by_regression",
        null_or(NUMBER),
        "difference of the two experience estimates; shrunk toward 0, not the center of the "
        "interval",
        of="years.regressed",
        heading="By regression",
        text=format_signed,
    ),
    Column(
        "years_calibrated",
        null_or(NUMBER),
        "difference in rank over the slope of rank on experience; null where that slope is not "
        "significant",
        of="years.calibrated",
        heading="By calibration",
        text=format_signed,
    ),
    Column("problems", each(_PROBLEMS), "one entry per problem", of=_on_problems, only="json"),
)


_IN_YEARS = ("years", "years_interval", "years_by_regression", "years_calibrated")
# The same without years, and these alone, for studies that do not allow them.
PAIRS_IN_RANKS = Columns(*(of for of in PAIRS.columns if of.name not in _IN_YEARS))
PAIRS_IN_YEARS = Columns(
    *(of for of in PAIRS.columns if of.name in ("shown_name", *_IN_YEARS)),
)


class _Ranking(NamedTuple):
    a: str
    b: str
    judge: str
    problem: str
    difference: float
    won: float


def _rankings(comparison: ComparisonFindings) -> Iterator[_Ranking]:
    for pair in comparison.pairs:
        paired = pair.paired
        for j, p in np.argwhere(np.isfinite(paired.difference)):
            ahead, won = float(paired.difference[j, p]), float(paired.won[j, p])
            yield _Ranking(pair.a, pair.b, paired.judges[j], paired.problems[p], ahead, won)


_RANKINGS: Columns[_Ranking, ComparisonFindings] = Columns(
    Column("a", NAME, "id"),
    Column("b", NAME, "id"),
    Column("judge", NAME, "id"),
    Column("problem", NAME, "id"),
    Column("difference", NUMBER, "score of b minus score of a"),
    Column("won", SHARE, "1 where b is above a, 0 below, 1/2 for a tie"),
)

# Systems of independent studies.


def _study_of(side: str) -> Callable[[IndependentDifference, ComparisonFindings], str]:
    return lambda row, comparison: comparison.study_of(getattr(row, side))


INDEPENDENT: Columns[IndependentDifference, ComparisonFindings] = Columns(
    Column(
        "shown_name",
        TEXT,
        "the pair",
        of=lambda row, comparison: less(comparison.name_of(row.b), comparison.name_of(row.a)),
        heading="Difference",
        only="report",
    ),
    Column("a", of(_REFERENCE), "a system of one study", only="json"),
    Column("b", of(_REFERENCE), "a system of another", only="json"),
    *(
        column
        for side in ("a", "b")
        for column in (
            Column[Any, Any](
                f"study_{side}",
                NAME,
                "id of the study",
                of=_study_of(side),
                only="csv",
            ),
            Column[Any, Any](side, NAME, "id of the system", of=f"{side}.system", only="csv"),
        )
    ),
    Column(
        "years",
        NUMBER,
        "difference of the estimates, in the unit of experience",
        heading=lambda comparison: comparison.unit.capitalize(),
        text=_signed(2),
    ),
    Column("standard_error", NUMBER, "of the difference", of="error", heading="Standard error"),
    Column("df", NUMBER, "Welch's degrees of freedom", heading="df", digits=1),
    Column(
        "interval",
        OPEN_INTERVAL,
        "null where one of both is outside its subjects' range",
    ),
    Column(
        "shown_interval",
        TEXT,
        "interval or bound",
        of=lambda row, _: bound_text(row),
        heading=_interval,
        only="report",
    ),
    Column("lower_bound", null_or(NUMBER), "the one-sided bound that is left then", of="lower"),
    Column("upper_bound", null_or(NUMBER), "the one-sided bound that is left then", of="upper"),
    _p("p", "null where there is no interval", heading="p"),
    _p("p_holm", "the same, adjusted for all pairs (Holm)", heading="Adjusted p"),
    Column("reason", TEXT, "why there is no interval; empty where there is one", only="json"),
)

# Versions of one system.

_STEP: Columns[Step, ComparisonFindings] = Columns(
    Column(
        "years",
        null_or(NUMBER),
        "later version minus earlier, in the unit of experience; null where that is not defined",
    ),
    Column(
        "mean_difference",
        null_or(NUMBER),
        "in average rank; null between studies",
        of=lambda row, _: row.pair.paired.mean if row.pair else None,
    ),
    _p("p", "null without a test"),
    _p("p_holm", "the same, adjusted"),
)
_PROGRESSION: Columns[Progression, ComparisonFindings] = Columns(
    Column("of", NAME, "what the versions share"),
    Column("dated", FLAG, "whether all have a date"),
    Column("versions", each(_REFERENCE, 2), "in order"),
    Column("steps", each(_STEP, 1), "from each version to the next"),
)


class _Version(NamedTuple):
    of: str
    system: SystemEstimate
    step: Step | None


def _versions(comparison: ComparisonFindings) -> Iterator[_Version]:
    for progression in comparison.progressions:
        steps = [None, *progression.steps]
        for version, step in zip(progression.versions, steps, strict=True):
            yield _Version(progression.of, version, step)


def _of_step(name: str) -> Callable[[_Version, ComparisonFindings], float]:
    return lambda row, _: getattr(row.step, name) if row.step else np.nan


_VERSIONS: Columns[_Version, ComparisonFindings] = Columns(
    Column("of", NAME, "what the versions share"),
    Column("study", NAME, "id", of=lambda row, comparison: comparison.study_of(row.system)),
    Column("system", NAME, "id", of="system.system"),
    Column("version", TEXT, "as in the study file, or empty", of="system.version"),
    Column(
        "date",
        null_or(TEXT),
        "of the version, or empty",
        of=lambda row, _: str(row.system.date) if row.system.date else None,
    ),
    Column("experience", NUMBER, "the experience estimate", of="system.estimate.experience"),
    Column(
        "step",
        NUMBER,
        "difference from the version before, in the unit of experience",
        of=_of_step("years"),
    ),
    Column("p", SHARE, "of that difference", of=_of_step("p")),
    Column("p_holm", SHARE, "the same, adjusted", of=_of_step("p_holm")),
)

# People with the help of a system, and without.

_GAIN: tuple[Column[Any, ComparisonFindings], ...] = (
    Column("gain", NUMBER, "gain in average rank", heading="Gain", text=_signed(2)),
    Column(
        "interval",
        OPEN_INTERVAL,
        "of the gain, by the t test over problems",
        of="test.interval",
        heading=_interval,
        text=rank_interval,
    ),
    Column("t", null_or(NUMBER), "null without a test", of="test.statistic", only="json"),
    Column("df", null_or(NUMBER), "degrees of freedom", of="test.df"),
    _p("p", "null without a test", heading="p", of="test.p"),
    Column(
        "years",
        null_or(NUMBER),
        "the gain by the skill function, in the unit of experience",
        heading=lambda comparison: comparison.unit.capitalize(),
        text=format_signed,
    ),
    Column(
        "years_calibrated",
        null_or(NUMBER),
        "the gain over the slope of rank on experience",
        of="calibrated",
        heading="By calibration",
        text=format_signed,
    ),
)
_IDS = each(NAME, 1)
_PERSON: Columns[PersonUplift, ComparisonFindings] = Columns(
    Column("assisted", NAME, "id of the assisted solver"),
    Column("person", NAME, "id of the subject"),
    Column("unaided_problems", _IDS, "problems solved without help", of="unassisted_problems"),
    Column("aided_problems", _IDS, "problems solved with help", of="assisted_problems"),
    Column("unaided", NUMBER, "average rank without help", of="unassisted_rank"),
    Column("aided", NUMBER, "average rank with help", of="assisted_rank"),
    *_GAIN,
    _p("p_holm", "adjusted for the people whom the system helped"),
)
_UPLIFT: Columns[AssistanceGain, ComparisonFindings] = Columns(
    Column("system", NAME, "id"),
    Column("n_problems", COUNT, "problems"),
    Column("n_sets", COUNT, "sets into which they fall by who solved them and how"),
    *_GAIN,
    Column("people", each(_PERSON, 1), "one entry per person"),
)


class _Gained(NamedTuple):
    """A person with the help of a system, or, without a person, the mean of all."""

    of: AssistanceGain
    person: PersonUplift | None

    @property
    def gained(self) -> AssistanceGain | PersonUplift:
        return self.person or self.of


def _gained(comparison: ComparisonFindings) -> Iterator[_Gained]:
    for uplift in comparison.uplifts:
        yield from (_Gained(uplift, person) for person in uplift.people)
        yield _Gained(uplift, None)


def _of_person(name: str, unknown: object) -> Callable[[_Gained, ComparisonFindings], object]:
    return lambda row, _: getattr(row.person, name) if row.person else unknown


def _mean(name: str) -> Callable[[_Gained, ComparisonFindings], float]:
    def mean(row: _Gained, _: ComparisonFindings) -> float:
        people = [row.person] if row.person else row.of.people
        return float(np.mean([getattr(person, name) for person in people]))

    return mean


def _n_problems(row: _Gained, _: ComparisonFindings) -> str:
    if row.person is None:
        return f"{row.of.n_problems}"
    return f"{len(row.person.unassisted_problems)} and {len(row.person.assisted_problems)}"


GAINS: Columns[_Gained, ComparisonFindings] = Columns(
    Column("system", NAME, "id", of="of.system"),
    Column("assisted", TEXT, "id of the assisted solver", of=_of_person("assisted", "")),
    Column("person", TEXT, "id of the subject; empty for all", of=_of_person("person", "")),
    Column(
        "shown_person",
        NAME,
        "who",
        of=_of_person("person", "all (mean)"),
        heading="Person",
        only="report",
    ),
    Column(
        "problems",
        NUMBER,
        "how many",
        of=_n_problems,
        heading="Problems without and with help",
        only="report",
    ),
    Column(
        "unaided", NUMBER, "average rank without help", of=_of_person("unassisted_rank", np.nan)
    ),
    Column("aided", NUMBER, "average rank with help", of=_of_person("assisted_rank", np.nan)),
    Column(
        "rank_without",
        NUMBER,
        "mean",
        of=_mean("unassisted_rank"),
        heading="Unassisted",
        only="report",
    ),
    Column(
        "rank_with", NUMBER, "mean", of=_mean("assisted_rank"), heading="Assisted", only="report"
    ),
    *(
        Column(
            column.name,
            column.type,
            column.meaning,
            of=f"gained.{column.of or column.name}",
            heading=column.heading,
            text=column.text,
        )
        for column in _GAIN
        if column.only != "json"
    ),
    Column(
        "p_holm",
        SHARE,
        "adjusted for the people whom the system helped",
        of=_of_person("p_holm", np.nan),
        heading="Adjusted p",
        text=format_bare_p,
    ),
)

GAINS_IN_RANKS = Columns(*(of for of in GAINS.columns if of.name not in _IN_YEARS))
GAINS_IN_YEARS = Columns(
    *(of for of in GAINS.columns if of.name in ("shown_person", *_IN_YEARS)),
)

_SETTINGS: Columns[ComparisonFindings, ComparisonFindings] = Columns(
    Column("test", choice(*get_args(Test)), "of systems of one study"),
    Column("level", NUMBER, "of all intervals"),
    Column("systems", each(NAME), "the systems that the caller named; empty for all", of="chosen"),
)

DOCUMENT: Columns[ComparisonFindings, ComparisonFindings] = Columns(
    *head("comparison"),
    Column(
        "mode",
        choice("systems", "studies", "time"),
        "`systems`: those of one study; `studies`: unrelated systems of several; `time`: one "
        "system in several studies",
    ),
    Column(
        "study",
        null_or(of(_STUDY)),
        "null where there are several",
        of=lambda row, _: row.studies[0] if len(row.studies) == 1 else None,
    ),
    Column(
        "studies",
        each(Columns(*_STUDY.columns, settings(ExperienceSettings)), 1),
        "the studies, with the settings of their analysis; `bootstrap` is 0",
    ),
    Column("settings", of(_SETTINGS), "of the comparison", of=lambda row, _: row),
    WARNINGS,
    Column(
        "estimates",
        each(ESTIMATES),
        "one entry per system, versions in order",
        of="system_estimates",
    ),
    Column("pairs", each(PAIRS), "each two systems of one study; empty in the other modes"),
    Column(
        "independent",
        each(INDEPENDENT),
        "each two systems of different studies; only of mode `studies`",
        of="differences",
    ),
    Column("progressions", each(_PROGRESSION), "versions of one system"),
    Column("uplifts", each(_UPLIFT), "one entry per system that helped people"),
)

TABLES: tuple[Table[Any, ComparisonFindings], ...] = (
    Table("estimates", "one row per system", ESTIMATES, lambda c: c.system_estimates),
    Table("differences", "one row per pair of systems of one study", PAIRS, lambda c: c.pairs),
    Table(
        "differences",
        "one row per pair of systems of several",
        INDEPENDENT,
        lambda c: c.differences,
    ),
    Table("rankings", "one row per pair and ranking", _RANKINGS, _rankings),
    Table("progression", "one row per version", _VERSIONS, _versions),
    Table("uplift", "one row per person and system, and one per system", GAINS, _gained),
)
