"""The method in plain loops from the paper, as a reference for the fast code."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from tests.lists.test_rank_quality import by_hand

if TYPE_CHECKING:
    from collections.abc import Callable

    from quem.dialogue.reading import EncodedCases
    from quem.dialogue.users import User
    from quem.studyfile.dialogue import DialogueSettings

Value = float | None
Problem = list[Value]


def billionths(distance: float) -> int:
    """Distances are equal when they are in billionths."""
    return math.floor(distance * 1e9 + 0.6234)


def as_lists(cases: EncodedCases) -> list[Problem]:
    return [[None if math.isnan(value) else float(value) for value in row] for row in cases.values]


@dataclass
class Plain:
    """A case base as lists, and the strategies and users on it.

    Targets are the queries, or else the cases, which are candidates for themselves if they are
    kept.
    """

    base: EncodedCases
    settings: DialogueSettings
    queries: EncodedCases | None = None
    kept: bool = False

    def __post_init__(self) -> None:
        """Lay the case base out."""
        self.rows = as_lists(self.base)
        self.targets = self.rows if self.queries is None else as_lists(self.queries)
        self.target_classes = (self.queries or self.base).classes
        self.m = len(self.base.attributes)
        self.n = len(self.rows)
        self.spans = []
        for a in range(self.m):
            known = [row[a] for row in self.rows if row[a] is not None]
            self.spans.append(max(known) - min(known))  # type: ignore[type-var,operator]

    def difference(self, a: int, one: float, other: float) -> float:
        if self.base.categories[a] is not None or not self.spans[a]:
            return 0.0 if one == other else 1.0
        return min(abs(one - other) / self.spans[a], 1.0)

    def distance(
        self,
        problem: Problem,
        case: int,
        attributes: set[int],
        assumed: Callable[[int], float] | None,
    ) -> float:
        """On what was asked; what was not is assumed, or makes no difference."""
        total, weight = 0.0, 0.0
        for a in range(self.m):
            w = float(self.base.weights[a])
            one, other = problem[a], self.rows[case][a]
            if a not in attributes:
                if assumed is None:
                    weight += 0.0 if other is None and self.settings.missing == "skip" else w
                    continue
                one = assumed(a)
            if one is not None and other is not None:
                total += w * self.difference(a, one, other)
            elif self.settings.missing == "skip":
                continue
            elif self.settings.missing == "worst":
                total += w
            weight += w
        return total / weight if weight else 1.0

    def whole(self, problem: Problem, case: int) -> float:
        return self.distance(problem, case, set(range(self.m)), None)

    def full(self, target: int, case: int) -> float:
        return self.whole(self.targets[target], case)

    def others(self, target: int) -> list[int]:
        every = self.kept or self.queries is not None
        return [case for case in range(self.n) if every or case != target]

    def aggregate(self, a: int, values: list[float], target: int) -> float:
        """Mean or majority; of the whole case base where there are none."""
        if not values:
            values = [v for c in self.others(target) if (v := self.rows[c][a]) is not None]
        if not values:
            return 0.0
        if self.base.categories[a] is None:
            return fmean(values)
        return min(set(values), key=lambda v: (-values.count(v), v))

    def of_cases(self, a: int, cases: list[int], target: int) -> float:
        values = [v for c in cases if (v := self.rows[c][a]) is not None]
        return self.aggregate(a, values, target)

    def nearest(self, far: dict[int, float], count: int) -> list[int]:
        """The nearest cases, and all that are as near as the last."""
        ordered = sorted(far, key=lambda c: (billionths(far[c]), c))
        if count >= len(ordered):
            return ordered[:count]
        edge = billionths(far[ordered[count - 1]])
        return [c for c in ordered if billionths(far[c]) <= edge]

    def region(self, case: int, target: int) -> list[int]:
        others = self.others(target)
        far = {c: self.whole(self.rows[case], c) for c in others}
        return self.nearest(far, min(self.settings.region_size, len(others)))

    def strategy(self, name: str, target: int, attributes: set[int]) -> dict[int, float]:
        others = self.others(target)

        def far(assumed: Callable[[int], float] | None) -> dict[int, float]:
            problem = self.targets[target]
            return {c: self.distance(problem, c, attributes, assumed) for c in others}

        if name == "DD":
            return far(None)
        if name == "FA":
            whole = [self.of_cases(a, others, target) for a in range(self.m)]
            return far(whole.__getitem__)
        if name in ("ND", "NF"):
            first = self.strategy("DD" if name == "ND" else "FA", target, attributes)
            near = self.nearest(first, min(self.settings.neighbors, len(others)))
            values = [self.of_cases(a, near, target) for a in range(self.m)]
            return far(values.__getitem__)
        nearest = self.nearest(self.strategy("DD", target, attributes), 1)
        regions = [self.region(c, target) for c in nearest]
        values = [
            self.aggregate(a, [self.of_cases(a, region, target) for region in regions], target)
            for a in range(self.m)
        ]
        return far(values.__getitem__)

    def rank_quality(self, partial: dict[int, float], target: int) -> tuple[float, int]:
        near = [float(billionths(distance)) for distance in partial.values()]
        return by_hand(near, [self.full(target, c) for c in partial], self.settings.k)

    def threshold(self, b: float) -> float:
        i = min(max(math.floor(b * self.n + 0.5), 1), self.n - 1)
        distances = []
        for case, row in enumerate(self.rows):
            others = [self.whole(row, other) for other in range(self.n) if other != case]
            distances.append(sorted(others)[i - 1])
        return fmean(distances)

    def selects(
        self, user: User, listed: list[int], seen: dict[int, float], target: int, chance: float
    ) -> int | None:
        top = listed[: user.top]
        classes = self.base.classes
        if user.rule == "DL":
            return top[0] if classes[top[0]] == self.target_classes[target] else None
        assert user.b is not None
        level = billionths(self.threshold(user.b))
        if user.rule == "T":
            return next((c for c in top if billionths(seen[c]) < level), None)
        average = fmean(seen[c] for c in top)
        if billionths(average) >= level:
            return None
        better = [c for c in top if billionths(seen[c]) < billionths(average)]
        if not better:
            better = top
        return better[int(chance * len(better))]

    def further(self, name: str, target: int, order: list[int], ties: list[int]) -> list[float]:
        """Section 6 of the paper, for one dialogue: as `quem.dialogue.users` has them."""
        wanted, k = self.target_classes[target], min(self.settings.k, len(self.others(target)))
        solves = [c for c in self.others(target) if self.base.classes[c] == wanted]
        if self.kept:
            solves = [target]

        def listed(far: dict[int, float]) -> list[int]:
            return sorted(far, key=lambda c: (billionths(far[c]), ties.index(c)))

        best = listed({c: self.full(target, c) for c in self.others(target)})[:3]
        lists: list[list[float]] = []
        asked = None
        for step in range(self.m + 1):
            far = self.strategy(name, target, set(order[:step]))
            success = float({*best} <= {*listed(far)[:5]})
            if not solves:
                lists.append([math.nan] * 3 + [success])
                continue
            top = [c in solves for c in listed(far)[:k]]
            # All orders of the cases that tie with the first that solves.
            first = min(billionths(far[c]) for c in solves)
            tied = [c in solves for c in far if billionths(far[c]) == first]
            where = combinations(range(len(tied)), sum(tied))
            rank = fmean(min(places) + 1 for places in where)
            rank += sum(billionths(far[c]) < first for c in far)
            lists.append([any(top), fmean(top), rank, success])
            if asked is None and step and first == 0:
                asked = step
        recall, precise, rank, success = (fmean(column) for column in zip(*lists, strict=True))
        efficient = float(asked or self.m) if solves else math.nan
        return [recall, precise, rank, efficient, success]

    def dialogue(
        self,
        name: str,
        users: tuple[User, ...],
        target: int,
        order: list[int],
        ties: list[int],
        chance: float,
    ) -> tuple[list[int], list[bool], bool, list[float], list[bool]]:
        """Stops, whether right, whether the last top case is right, rank quality, contraction."""
        stop, right = [-1] * len(users), [False] * len(users)
        quality, nothing = [], []
        classes, wanted = self.base.classes, self.target_classes[target]
        for step in range(self.m + 1):
            partial = self.strategy(name, target, set(order[:step]))
            value, up_to = self.rank_quality(partial, target)
            quality.append(value)
            nothing.append(up_to == 0)
            listed = sorted(partial, key=lambda c: (billionths(partial[c]), ties.index(c)))
            true = {c: self.full(target, c) for c in listed}
            for u, user in enumerate(users):
                if stop[u] >= 0 or step == 0:
                    continue
                chosen = self.selects(user, listed, true, target, chance)
                if chosen is not None:
                    stop[u], right[u] = step, bool(classes[chosen] == wanted)
        return stop, right, bool(classes[listed[0]] == wanted), quality, nothing


def draws(
    n: int, m: int, settings: DialogueSettings, target: int
) -> tuple[list[int], list[float], list[list[int]]]:
    """What is drawn for a target: order of ties, chance of each dialogue, question orders."""
    random = np.random.default_rng([settings.seed, target])
    ties = random.permutation(n).tolist()
    chance = random.random(settings.orders).tolist()
    orders = random.permuted(np.tile(np.arange(m), (settings.orders, 1)), axis=1).tolist()
    return ties, chance, orders
