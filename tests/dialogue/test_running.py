"""Dialogues in several processes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from quem.dialogue import simulation
from quem.dialogue.records import Dialogues
from quem.dialogue.simulation import (
    Experiment,
    NamedStrategy,
    prepare,
    run_experiment,
)
from quem.dialogue.users import named_user
from quem.parallel import Workers
from quem.studyfile.dialogue import DialogueSettings
from tests.dialogue.made import case_base

if TYPE_CHECKING:
    from quem.dialogue.reading import EncodedCases


def base(n: int = 30) -> EncodedCases:
    """A case base with ties."""
    random = np.random.default_rng(3)
    rows: list[list[str | float | None]] = [
        [f"v{random.integers(3)}", float(random.integers(4)), f"w{random.integers(2)}"]
        for _ in range(n)
    ]
    return case_base(rows, random.choice(["A", "B"], n).tolist())


def experiment(n: int = 30, choices: DialogueSettings | None = None) -> Experiment:
    """An experiment of two strategies and two users."""
    users = [named_user("T5", 0.1), named_user("DL", None)]
    return prepare(
        base(n),
        choices or DialogueSettings(orders=2),
        strategies=[NamedStrategy("DD"), NamedStrategy("RA")],
        users=[user for user in users if user],
    )


@pytest.fixture
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few targets a task, as with a large case base."""
    monkeypatch.setattr(simulation, "_CELLS_AT_ONCE", 3000)


def assert_same(one: Dialogues, other: Dialogues) -> None:
    """Both hold the same, in the same order."""
    for name in Dialogues.__dataclass_fields__:
        assert_array_equal(getattr(one, name), getattr(other, name), name)


@pytest.mark.usefixtures("small_tasks")
def test_several_processes_give_the_same() -> None:
    """Whoever does the work, the numbers are the same, in the order of the case base."""
    alone = run_experiment(experiment())
    assert_same(alone, run_experiment(experiment(), workers=Workers(2)))
    assert_array_equal(alone.targets, np.arange(30))


@pytest.mark.usefixtures("small_tasks")
def test_other_targets_in_several_processes() -> None:
    """Leave-one-in and queries of a file: as alone."""
    whole = experiment()
    queries = replace(whole.cases, values=whole.cases.values[::-1])
    others = [
        replace(whole, protocol="leave-one-in"),
        replace(whole, protocol="separate", queries=queries),
    ]
    for one in others:
        alone = run_experiment(one)
        assert_same(alone, run_experiment(one, workers=Workers(2)))
        assert not np.array_equal(alone.quality, run_experiment(whole).quality)
