"""What a reader must know of the judges: with each other, with themselves, with the authors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.errors import Doubt
from quem.experience.wording import joined, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.experience.findings import Findings
    from quem.experience.recognised import Recognised

__all__ = ["judge_doubts"]

_LOW_AGREEMENT = 0.25
# With a tau-b below this, less than half of what makes a judge's order came back.
_LOW_CONSISTENCY = 0.3
_FEWEST_REPEATED = 8


def judge_doubts(found: Findings) -> Iterator[Doubt]:
    """Collect the doubts about the judges.

    Parameters
    ----------
    found : Findings
    """
    yield from _disagreeing(found)
    yield from _inconsistent(found)
    if found.recognised:
        yield Doubt("recognised-authors", _recognised(found, found.recognised))


def _disagreeing(found: Findings) -> Iterator[Doubt]:
    if found.agreement is None:
        return
    if found.agreement.overall.n_judges < 2:  # noqa: PLR2004  nobody to agree with
        yield Doubt("one-judge", "there is one judge only, so agreement between judges is unknown")
    low = [
        f"{problem} ({number(concordance.mean_spearman, 2)})"
        for problem, concordance in found.agreement.problems.items()
        if concordance.mean_spearman < _LOW_AGREEMENT
    ]
    if low:
        message = f"the judges disagree (mean Spearman correlation below .25) on {joined(low)}"
        yield Doubt("judges-disagree", message)


def _inconsistent(found: Findings) -> Iterator[Doubt]:
    for judge, own in found.retest.judges.items() if found.retest else ():
        if own.n_solutions >= _FEWEST_REPEATED and own.mean_tau_b < _LOW_CONSISTENCY:
            groups = "a repeated group" if own.n_groups == 1 else f"{own.n_groups} repeated groups"
            message = (
                f"the judge {judge} ranked {groups} quite differently the second time (mean tau-b "
                f"{number(own.mean_tau_b, 2)}, {own.n_solutions} solutions)"
            )
            yield Doubt("inconsistent-judge", message)


def _recognised(found: Findings, without: Recognised) -> str:
    one = without.n_ranks == 1
    message = (
        f"{without.n_ranks:,} of {without.of_ranks:,} ranks {'is' if one else 'are'} of "
        f"{'a solution' if one else 'solutions'} whose author the judge recognised"
    )
    pronoun = "it" if one else "them"
    if not without.fitted:
        return f"{message}; without {pronoun} no skill function can be fitted"
    years = {estimate.system: estimate.experience for estimate in found.estimates}
    changes = [
        f"{found.name_of(left.system)} comes out at {number(left.estimate)} instead of "
        f"{number(years[left.system])} {found.study.spec.experience_unit}"
        if np.isfinite(left.estimate)
        else f"{found.name_of(left.system)} has no ranks"
        for left in without.estimates
    ]
    return f"{message}; without {pronoun} {joined(changes)}" if changes else message
