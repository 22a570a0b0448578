"""Which designs are shown, what they cost, and how they are tried."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quem.experience.simulation import LOW, Noise
from quem.parallel import Workers
from quem.planning.designs import (
    Costs,
    Designs,
    StudyDesign,
    efficient,
    make_designs,
    smallest,
)
from quem.planning.planner import PlanAssumptions, try_design, try_designs

HERE = PlanAssumptions(LOW, (1.0, 12.0))


def _axis(least: int) -> st.SearchStrategy[tuple[int, ...]]:
    numbers = st.lists(st.integers(least, 25), min_size=1, max_size=5, unique=True)
    return numbers.map(sorted).map(tuple)


def _designs(
    axes: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]],
    noise: Noise = LOW,
    costs: Costs = Costs(60, 5),  # noqa: B008  never changes
) -> Designs:
    return make_designs(axes, noise, 10.0, level=0.95, systems=1, difference=None, costs=costs)


designs_made = st.builds(
    _designs,
    st.tuples(_axis(1), _axis(3), _axis(1)),
    st.builds(Noise, *[st.floats(0.1, 3)] * 4),
    st.builds(Costs, st.floats(0, 99), st.floats(0, 99)),
)


@given(designs_made, st.floats(0.3, 12))
def test_smallest_designs_can_do_with_no_less(designs: Designs, width: float) -> None:
    """They reach the width, no other that reaches it is smaller in all, and the cheapest leads."""
    every = [designs.at(index) for index in range(designs.half_width.size)]
    reaching = [d for d, h in zip(every, designs.half_width.flat, strict=True) if h <= width]

    def dominated(design: StudyDesign) -> bool:
        return any(
            other != design and all(a <= b for a, b in zip(other, design, strict=True))
            for other in reaching
        )

    indices = smallest(designs, width)
    expected = {design for design in reaching if not dominated(design)}
    assert {designs.at(index) for index in indices} == expected
    assert len(indices) == len(expected)
    costs = [designs.cost.flat[index] for index in indices]
    assert costs == sorted(costs)
    if reaching:
        cheapest = designs.cost[designs.half_width <= width].min()
        assert costs[0] == pytest.approx(cheapest)


@given(designs_made)
def test_efficient_designs_are_not_beaten(designs: Designs) -> None:
    """No design is both cheaper and narrower than one that is shown, and all such are shown."""
    cost, width = designs.cost.ravel(), designs.half_width.ravel()
    indices = efficient(designs)
    assert list(cost[indices]) == sorted(cost[indices])
    for index in range(cost.size):
        beaten = ((cost <= cost[index]) & (width < width[index])).any() or (
            (cost < cost[index]) & (width <= width[index])
        ).any()
        # Of several with the same cost and width, one is shown.
        if index in indices:
            assert not beaten
        elif not beaten:
            assert any((cost[i], width[i]) == (cost[index], width[index]) for i in indices)


def test_costs_add_up() -> None:
    """A design costs its subjects' solutions and its judges' placing of all solutions."""
    costs = Costs(solution=80, minutes=6)
    designs = make_designs(
        ((2, 3), (10,), (4, 5)), LOW, 10.0, level=0.9, systems=2, difference=2.0, costs=costs
    )
    index = int(np.ravel_multi_index((1, 0, 1), designs.half_width.shape))
    assert designs.at(index) == StudyDesign(subjects=10, judges=3, problems=5)
    assert designs.at(index).words == "10 subjects, 3 judges, 5 problems"
    assert StudyDesign(1000, 1, 1).words == "1,000 subjects, 1 judge, 1 problem"
    assert designs.cost.flat[index] == 80 * 10 * 5 + 6 * 3 * 5 * 12
    assert designs.hours.flat[index] == 6 * 5 * 12 / 60
    assert designs.largest == index
    assert 0.03 < designs.false_alarms.flat[index] < 0.07


def test_trials_are_the_same_in_any_number_of_processes() -> None:
    """Each design has its own studies, whatever else is tried and in how many processes."""
    designs = [StudyDesign(6, 2, 3), StudyDesign(8, 2, 4), StudyDesign(7, 3, 1)]
    here = replace(HERE, systems=2, difference=1.0)
    alone = [try_design(design, here, studies=12, seed=5) for design in designs]
    one, two = (
        list(try_designs(designs, here, studies=12, seed=5, workers=Workers(n))) for n in (1, 2)
    )
    assert repr(alone) == repr(one) == repr(two)
    assert repr(try_design(designs[0], here, studies=12, seed=6)) != repr(alone[0])
    assert np.isnan(alone[2].power)
