"""Simulated dialogues against plain loops, what must hold in each, and several processes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from quem.dialogue import simulation
from quem.dialogue.simulation import Dialogues, Experiment, NamedStrategy, prepare, run_experiment
from quem.dialogue.users import FURTHER, User, named_user
from quem.parallel import Workers
from quem.studyfile.dialogue import DialogueSettings
from tests.dialogue.made import case_bases, encoded, queries_to
from tests.dialogue.plain import Plain, draws

if TYPE_CHECKING:
    from quem.dialogue.reading import EncodedCases

FIVE = tuple(NamedStrategy(name) for name in ("DD", "FA", "ND", "NF", "RA"))


def user(name: str, b: float | None = None) -> User:
    match = named_user(name, b)
    assert match is not None
    return match


USERS = tuple(
    user(name, b)
    for name, b in (("T5", 0.3), ("T1", 0.3), ("A5", 0.3), ("T3", 0.6), ("A2", 0.6), ("DL", None))
)
CHOICES: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("k", "neighbors", "region_size"), (1, 2, 3, 10)),
    "missing": ("zero", "worst", "skip"),
}


@st.composite
def chosen(draw: st.DrawFn) -> DialogueSettings:
    picked: Any = {name: draw(st.sampled_from(values)) for name, values in CHOICES.items()}
    measures = draw(st.sampled_from([(), tuple(FURTHER)]))
    return DialogueSettings(orders=2, seed=draw(st.integers(0, 5)), measures=measures, **picked)


@settings(max_examples=30, deadline=None)
@given(
    base=st.one_of(case_bases(most=7), case_bases(most=7, complete=True)),
    choices=chosen(),
    protocol=st.sampled_from(["leave-one-out", "leave-one-in", "separate"]),
    data=st.data(),
)
def test_like_plain_loops(
    base: EncodedCases,
    choices: DialogueSettings,
    protocol: Any,  # noqa: ANN401  one of three texts
    data: st.DataObject,
) -> None:
    """Every stop, selection and rank quality is that of the plain loops, whatever is chosen.

    Queries may have values and classes that no case has.
    """
    queries = data.draw(queries_to(base)) if protocol == "separate" else None
    experiment = prepare(
        base, choices, strategies=FIVE, users=USERS, protocol=protocol, queries=queries
    )
    _like_plain(experiment, Plain(base, choices, queries, kept=protocol == "leave-one-in"))


def _like_plain(experiment: Experiment, plain: Plain) -> None:
    base, choices = plain.base, plain.settings
    targets = range(len(plain.targets))
    dialogues = experiment.run(targets)
    for target in targets:
        ties, chances, orders = draws(len(base), plain.m, choices, target)
        for place, strategy in enumerate(FIVE):
            expected = [
                plain.dialogue(strategy.name, USERS, target, order, ties, chance)
                for order, chance in zip(orders, chances, strict=True)
            ]
            stops, rights, tops, quality, nothing = zip(*expected, strict=True)
            where = f"{strategy.name}, target {target}"
            assert_array_equal(dialogues.stop[target, place].T, stops, where)
            assert_array_equal(dialogues.right[target, place].T, rights, where)
            assert_array_equal(dialogues.top_right[target, place], tops, where)
            assert_allclose(dialogues.quality[target, place], np.mean(quality, axis=0), atol=1e-11)
            assert_allclose(dialogues.contracted[target, place], np.mean(nothing, axis=0))
            if choices.measures:
                further = [plain.further(strategy.name, target, order, ties) for order in orders]
                assert_allclose(dialogues.further[target, place], np.mean(further, axis=0))


def experiment() -> Experiment:
    """An experiment of two strategies and two users, on a case base with ties."""
    random = np.random.default_rng(3)
    columns = [random.integers(most, size=30).tolist() for most in (3, 4, 2)]
    cases = encoded(
        columns, [("v", "w", "x"), None, ("y", "z")], random.integers(2, size=30).tolist(), [1] * 3
    )
    users = user("T5", 0.1), user("DL")
    strategies = [NamedStrategy("DD"), NamedStrategy("RA")]
    return prepare(cases, DialogueSettings(orders=2), strategies=strategies, users=users)


@pytest.mark.parametrize("protocol", ["leave-one-out", "leave-one-in", "separate"])
def test_several_processes_give_the_same(monkeypatch: pytest.MonkeyPatch, protocol: Any) -> None:  # noqa: ANN401
    # A few targets a task, as with a large case base.
    monkeypatch.setattr(simulation, "_CELLS_AT_ONCE", 3000)
    whole = experiment()
    if protocol == "separate":
        whole = replace(whole, queries=replace(whole.cases, values=whole.cases.values[::-1]))
    one = replace(whole, protocol=protocol)
    alone, shared = run_experiment(one), run_experiment(one, workers=Workers(2))
    assert_array_equal(alone.targets, np.arange(30))
    for name in Dialogues.__dataclass_fields__:
        assert_array_equal(getattr(alone, name), getattr(shared, name), name)
