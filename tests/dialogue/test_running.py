"""Dialogues in several processes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

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


def experiment() -> Experiment:
    """An experiment of two strategies and two users, on a case base with ties."""
    random = np.random.default_rng(3)
    rows: list[list[str | float | None]] = [
        [f"v{random.integers(3)}", float(random.integers(4)), f"w{random.integers(2)}"]
        for _ in range(30)
    ]
    users = [named_user("T5", 0.1), named_user("DL", None)]
    return prepare(
        case_base(rows, random.choice(["A", "B"], 30).tolist()),
        DialogueSettings(orders=2),
        strategies=[NamedStrategy("DD"), NamedStrategy("RA")],
        users=[user for user in users if user],
    )


@pytest.mark.parametrize("protocol", ["leave-one-out", "leave-one-in", "separate"])
def test_several_processes_give_the_same(monkeypatch: pytest.MonkeyPatch, protocol: Any) -> None:  # noqa: ANN401
    """Whoever does the work, the numbers are the same, in the order of the case base."""
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
