"""What the report says of the judges: with each other, with themselves, with the authors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.experience.wording import number, percent
from quem.report.layout import Section, TextTable

if TYPE_CHECKING:
    from quem.experience.agreement import Agreement
    from quem.experience.findings import Findings
    from quem.experience.recognised import Recognised
    from quem.experience.retest import Retest

__all__ = ["agreement_section", "recognised_sentence"]


def agreement_section(found: Findings) -> Section | None:
    """Make the section on the judges' agreement; None where nothing is known of it.

    Parameters
    ----------
    found : Findings
    """
    text: list[str] = []
    tables: list[TextTable] = []
    if found.agreement:
        text.append(
            "Ranks are renumbered among the solvers that all compared judges ranked; withheld "
            "solvers and solutions that failed are left out. Overall, W, tau-b and Spearman's "
            "correlation are means over the problems, and alpha and ICC are taken over all "
            "solutions of all problems."
        )
        tables.append(_between(found.agreement))
    if found.retest:
        text.append(
            "Some groups were shown to the same judge again, in fresh order. The estimates rest on "
            "the first ranking; the second tells how well judges repeat themselves, and so how "
            "well they can be expected to agree with others."
        )
        tables.append(_within(found.retest))
    if not tables:
        return None
    figures = ("agreement",) if found.agreement and found.agreement.pairs else ()
    return Section("agreement", "Do the judges agree?", text, figures, tables)


def _between(agreement: Agreement) -> TextTable:
    rows = [
        (
            name,
            f"{concordance.n_judges:,}",
            f"{concordance.n_solutions:,}",
            *(number(value, 2) for value in concordance.statistics().values()),
        )
        for name, concordance in [*agreement.problems.items(), ("overall", agreement.overall)]
    ]
    columns = (
        "Problem",
        "Judges",
        "Solutions",
        "Kendall's W",
        "tau-b",
        "Spearman",
        "Krippendorff's alpha",
        "ICC(2,1)",
        "ICC(2,k)",
    )
    return TextTable("Agreement between judges", columns, rows)


def _within(retest: Retest) -> TextTable:
    rows = [
        (
            name,
            f"{own.n_groups:,}",
            f"{own.n_solutions:,}",
            number(own.mean_tau_b, 2),
            number(own.mean_rank_difference, 2),
            percent(round(own.same_order, 2)),
        )
        for name, own in [*retest.judges.items(), ("overall", retest.overall)]
    ]
    columns = (
        "Judge",
        "Groups repeated",
        "Solutions",
        "tau-b",
        "Difference in rank",
        "Pairs in the same order",
    )
    return TextTable("Agreement of first and second ranking", columns, rows)


def recognised_sentence(without: Recognised) -> str:
    """Say what the estimates without recognised authors are, and whether there are any.

    Parameters
    ----------
    without : Recognised
    """
    one = without.n_ranks == 1
    judges = "one judge" if without.n_judges == 1 else f"{without.n_judges} judges"
    text = (
        f"{without.n_ranks:,} of {without.of_ranks:,} ranks, by {judges}, "
        f"{'is of a solution' if one else 'are of solutions'} whose author the judge recognised. "
        f"{'It counts' if one else 'They count'}; "
    )
    if not without.fitted:
        return f"{text}without {'it' if one else 'them'} no skill function can be fitted."
    return (
        f"{text}the estimate without takes {'it' if one else 'them'} out as if these solutions "
        "had not been in that judge's group, and ranks the others among themselves."
    )
