"""Pairs of solutions for preference training, as JSON Lines."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Any

from quem.blinding.redacting import redact_text
from quem.blinding.rendering import read_as_judge
from quem.io.text import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from quem.solutions import Sheet, Solution, Solutions
    from quem.store.exporting import SubmittedRanking

_TEXTS = ("markdown", "text", "code", "html")
Pair = dict[str, Any]


def preference_lines(
    rankings: Iterable[SubmittedRanking], solutions: Solutions, *, half_ties: bool = False
) -> tuple[str, Counter[str]]:
    """The pairs of solutions with a preference, as JSON Lines."""
    left_out: Counter[str] = Counter()
    texts: dict[tuple[str, str], str | None] = {}
    lines = []
    for ranking in rankings:
        if ranking.occasion > 1:
            left_out["tasks that were ranked again"] += 1
            continue
        for pair in _pairs(ranking, half_ties=half_ties):
            problem = pair["problem"]
            group = solutions.group(problem)
            for side in ("chosen", "rejected"):
                solver = pair[f"{side}_by"]
                if (problem, solver) not in texts:
                    texts[problem, solver] = _text(group.get(solver))
                pair[side] = texts[problem, solver]
            if pair["chosen"] is None or pair["rejected"] is None:
                left_out["pairs with a solution that is not a single text"] += 1
                continue
            if (problem, "") not in texts:
                texts[problem, ""] = _prompt(solutions.statements.get(problem))
            pair["prompt"] = texts[problem, ""]
            lines.append(json.dumps(pair, ensure_ascii=False))
        if not half_ties:
            left_out["ties"] += _ties(ranking)
    return "".join(f"{line}\n" for line in lines), +left_out


def _pairs(ranking: SubmittedRanking, *, half_ties: bool) -> Iterator[Pair]:
    """Each pair, with its texts still missing."""
    ranks = average_ranks(ranking)
    for one, other in combinations(ranks, 2):
        gap = ranks[one] - ranks[other]
        orders = [(one, other)] if gap > 0 else [(other, one)]
        if gap == 0:
            orders = [(one, other), (other, one)] if half_ties else []
        for chosen, rejected in orders:
            yield {
                "prompt": "",
                "chosen": None,
                "rejected": None,
                "chosen_by": chosen,
                "rejected_by": rejected,
                "judge": ranking.judge,
                "problem": ranking.problem,
                "rank_gap": abs(gap),
                "ties_in_ranking": _ties(ranking),
            }


def average_ranks(ranking: SubmittedRanking) -> dict[str, float]:
    """The rank of each ranked solution, 1 for the worst; ties have mid-ranks."""
    ranks: dict[str, float] = {}
    for group in reversed(ranking.state.ranked):
        mean = len(ranks) + (len(group) + 1) / 2
        ranks |= dict.fromkeys(group, mean)
    return ranks


def _ties(ranking: SubmittedRanking) -> int:
    """Number of tied pairs in a ranking."""
    return sum(len(group) * (len(group) - 1) // 2 for group in ranking.state.ranked)


def _text(solution: Solution | None) -> str | None:
    """The text of a solution as judges receive it, if it is a single text."""
    if solution is None or len(solution.files) > 1 or solution.files[0].kind not in _TEXTS:
        return None
    file = solution.files[0]
    if file.same_look:
        return read_as_judge(file, solution.files)
    return redact_text(read_text(file.path, file.name, what="solution"), file.patterns)


def _prompt(sheet: Sheet | None) -> str:
    return read_text(sheet.files[0].path, sheet.files[0].name, what="statement") if sheet else ""
