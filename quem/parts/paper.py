"""The appendix "As in the paper": Figure 1, factorial analysis, curves, and intervals."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import fdtrc

from quem.method.line import design, leave_one_out
from quem.method.part import Part, PartTable
from quem.report.files import Section, TextTable
from quem.report.rows import Row, col
from quem.wording import format_interval, format_number, format_p, format_percent, join_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from quem.method.cells import RankCells
    from quem.method.core import Core

    Floats = NDArray[np.float64]

_CURVES = ("linear", "log", "quadratic", "cubic")
_MOST_NUMBERS, _WIDEST = 4_000_000, 500
_TOLERANCE = 1e-9
_MOST_COLUMNS, _MOST_ROWS = 12, 25


class Curves(Row):
    """Leave-one-out root mean squared error of years, by curve."""

    linear: float = col("in the study's unit")
    log: float = col("in the study's unit; null where an average is 0 or less")
    quadratic: float = col("in the study's unit; null for too few subjects")
    cubic: float = col("in the study's unit; null for too few subjects")


class Anova(Row):
    """The p values of the factorial analysis, main effects of type II over the subjects' ranks."""

    experience: float = col("of experience, as a number")
    judge: float = col("of the judge")
    problem: float = col("of the problem")


class Checks(Row):
    """Further results in the paper."""

    loo: Curves = col("leave-one-out errors of the curves that the paper names")
    anova: Anova | None = col("null for averages, blocks, decisions, and a very large study")


class Detail(Row):
    """A number for analysis.json alone."""

    what: str = col(
        "`residual` and `leverage` of a subject; `without judge`, `without problem`, and `without "
        "subject`: a system's estimate; `anova`: p of a term, with interactions of two"
    )
    id: str = col("subject, judge, problem, or term")
    system: str = col("id; empty where none is estimated")
    value: float = col("years in the study's unit, leverage, or p")


@dataclass(frozen=True)
class Paper:
    """The checks, and the error of a square-root curve, which the paper does not have."""

    checks: Checks
    root: float


class PaperPart(Part[Paper]):
    """Tables and figures of Hayes & Parzen (1997)."""

    name = "paper"
    place = "appendix"
    tables = (
        PartTable("checks", "as in the paper", Checks, many=False),
        PartTable("", "one row per number that no page shows", Detail, stem="details"),
    )

    def find(self, core: Core) -> Paper:
        """Curves and factorial analysis."""
        x, y = core.line.x, core.line.y
        errors = {
            form: leave_one_out(form, x, y) if form != "log" or x.min() > 0 else None
            for form in _CURVES
        }
        loo = Curves(**{form: np.nan if of is None else of for form, of in errors.items()})
        p = _anova(core)
        root = leave_one_out("linear", np.sqrt(x), y) if x.min() >= 0 else None
        anova = Anova(**{" ".join(term): of for term, of in p.items()}) if p else None
        return Paper(Checks(loo=loo, anova=anova), np.nan if root is None else root)

    def rows(self, found: Paper, core: Core) -> Sequence[Sequence[Row]]:
        """The checks and details."""
        return ([found.checks], list(_details(core)))

    def sections(self, found: Paper, core: Core) -> Iterator[Section]:
        """The appendix."""
        text = [*_anova_text(found), *_curves_text(found, core)]
        tables = [_estimates(core), _figure_1(core)]
        if core.estimates and not core.states_years:
            text.insert(0, "These data do not allow years; do not report those of this table.")
        if core.estimates:
            text.append(
                "The paper calls the band of the mean the experience interval; it is too narrow "
                "for one person."
            )
        yield Section(self.name, "As in the paper", text, (), [one for one in tables if one.rows])


def _anova_text(found: Paper) -> Iterator[str]:
    if (p := found.checks.anova) is not None:
        yield (
            f"Factorial analysis of the subjects’ ranks: experience {format_p(p.experience)}, "
            f"judge {format_p(p.judge)}, problem {format_p(p.problem)}. It treats one person’s "
            "ranks as independent (pseudoreplication)."
        )


def _curves_text(found: Paper, core: Core) -> Iterator[str]:
    loo = found.checks.loo
    each = {form: getattr(loo, form) for form in _CURVES}
    known = {form: error for form, error in each.items() if np.isfinite(error)}
    if not known:
        return
    errors = join_words(f"{form} {format_number(error, 2)}" for form, error in known.items())
    text = f"Curves, by the error of predicting each person from the others: {errors} {core.unit}."
    if found.root < min(known.values()):
        error = format_number(found.root, 2)
        text += f" A square root, which the paper does not name, has {error}."
    yield text


def _estimates(core: Core) -> TextTable:
    """Both intervals of each system, whichever estimate leads."""
    level = format_percent(core.settings.level)
    headings = ("", core.unit, f"{level} prediction interval", f"{level} band of the mean")
    rows = [
        (
            of.name,
            format_number(of.experience),
            format_interval(of.interval),
            format_interval(of.mean_interval),
        )
        for of in core.best_first[:_MOST_ROWS]
    ]
    return TextTable("Regression as in the paper", headings, rows)


def _figure_1(core: Core) -> TextTable:
    """The averages, and the cells if they are few."""
    averages, cells = core.averages, core.cells
    shown = [k for kind in ("subject", "system") for k in averages.of_kind(kind)]
    groups = _groups(cells) if cells and cells.has_ranks and not cells.is_blocked else {}
    if len(groups) > _MOST_COLUMNS:
        groups = {}
    rows = [
        (
            core.name_of(averages.solvers[k]),
            f"{averages.years[k]:g}" if np.isfinite(averages.years[k]) else "–",
            *(format_number(ranks[k], 1).removesuffix(".0") for ranks in groups.values()),
            format_number(averages.rank[k], 2),
        )
        for k in shown
    ]
    headings = ("", core.unit, *groups, "Average")
    return TextTable("Adjusted ranks", headings, rows if len(rows) <= _MOST_ROWS else [])


def _groups(cells: RankCells) -> dict[str, Floats]:
    """The adjusted ranks of each group, shape (n_solvers,), by problem and judge."""
    if cells.n_groups > _MOST_COLUMNS:
        return {}
    found = {}
    order = np.lexsort((cells.judge, cells.problem))
    for group in dict.fromkeys(cells.group[order].tolist()):
        rows = np.flatnonzero(cells.group == group)
        ranks = np.full(len(cells.solvers), np.nan)
        ranks[cells.solver[rows]] = cells.adjusted[rows]
        problem, judge = cells.problem[rows[0]], cells.judge[rows[0]]
        found[f"{cells.problems[problem]} {cells.judges[judge]}"] = ranks
    return found


def _details(core: Core) -> Iterator[Detail]:
    """Residuals, leverages, leave-one-out, and the factorial analysis with interactions."""
    of = core.averages
    names = [of.solvers[k] for k in of.of_kind("subject")]
    line = core.line
    rows = design(line.form, line.x)
    leverage = np.einsum("ij,jk,ik->i", rows, line.fitted.normalized_cov_params, rows)
    for what, values in (("residual", line.y - line.predict(line.x)), ("leverage", leverage)):
        for name, value in zip(names, values.tolist(), strict=True):
            yield Detail(what=what, id=name, system="", value=value)
    for what, ids, estimates in core.left_out:
        for name, row in zip(ids, estimates.tolist(), strict=True):
            for one, value in zip(core.estimates, row, strict=True):
                yield Detail(what=f"without {what}", id=name, system=one.system, value=value)
    for term, p in _anova(core, with_products=True).items():
        yield Detail(what="anova", id=" × ".join(term), system="", value=p)


def _anova(core: Core, *, with_products: bool = False) -> dict[tuple[str, ...], float]:
    """The p values of F tests of type II by term, over the cells of subjects; empty without cells.

    A term is tested beside all terms that do not contain it, with the error of the full model.
    """
    cells = core.cells
    if cells is None or core.averages.problems is None:
        return {}
    keep = cells.of_kind("subject")[cells.solver]
    y = cells.score[keep]
    width = (1 + len(cells.judges)) * (1 + len(cells.problems))
    if width > _WIDEST or width * len(y) > _MOST_NUMBERS:
        return {}
    years = core.averages.years[cells.solver[keep]]
    years = years - years.mean()
    terms: dict[tuple[str, ...], Floats] = {
        # Years in the billions would hide the other columns.
        ("experience",): (years / (np.abs(years).max() or 1.0))[:, np.newaxis],
        ("judge",): _dummies(cells.judge[keep]),
        ("problem",): _dummies(cells.problem[keep]),
    }
    if with_products:
        terms |= {
            a + b: (terms[a][:, :, np.newaxis] * terms[b][:, np.newaxis, :]).reshape(len(y), -1)
            for a, b in combinations(terms, 2)
        }
    n = len(y)
    # In rotated axes all but the first rows are 0: sums of squares are unchanged, and fits cheaper.
    columns = np.column_stack([np.ones(n), *terms.values(), y])
    ends = np.cumsum([1, *(of.shape[1] for of in terms.values())])
    constant, *rotated, last = np.split(np.linalg.qr(columns, mode="r"), ends, axis=1)
    terms = dict(zip(terms, rotated, strict=True))
    y = last[:, 0]
    rss, rank = _residual(y, [constant, *rotated])
    df = n - rank
    # A sum of squares at rounding level is 0.
    rounding = _TOLERANCE**2 * float(y @ y)
    found: dict[tuple[str, ...], float] = {}
    for term, columns in terms.items():
        others = [constant, *(of for name, of in terms.items() if not set(term) <= set(name))]
        without, fewer = _residual(y, others)
        within, more = _residual(y, [*others, columns])
        gain = max(without - within - rounding, 0.0)
        found[term] = np.nan
        if more > fewer and df and (gain or rss > rounding):
            f = gain / (more - fewer) / (rss / df) if rss > rounding else np.inf
            found[term] = float(fdtrc(more - fewer, df, f))
    return found


def _dummies(codes: NDArray[np.int64]) -> Floats:
    """One column per occurring level except the first."""
    return np.asarray(codes[:, np.newaxis] == np.unique(codes)[1:], dtype=np.float64)


def _residual(y: Floats, terms: Iterable[Floats]) -> tuple[float, int]:
    """Residual sum of squares and rank of a model."""
    columns = np.column_stack([*terms])
    solution, _, rank, _ = np.linalg.lstsq(columns, y, rcond=_TOLERANCE)
    return float(((y - columns @ solution) ** 2).sum()), int(rank)
