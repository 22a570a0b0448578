"""Dialogues in several processes, interrupted and gone on with."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from quem.dialogue import simulation
from quem.dialogue.records import FINISHED, Dialogues, Finished
from quem.dialogue.settings import SimulationSettings
from quem.dialogue.simulation import (
    Experiment,
    NamedStrategy,
    made_of,
    prepare,
    run_experiment,
)
from quem.dialogue.users import named_user
from quem.errors import QuemError
from quem.parallel import Workers
from tests.dialogue.made import case_base
from tests.patience import until

if TYPE_CHECKING:
    from pathlib import Path

    from quem.dialogue.reading import EncodedCases


def base(n: int = 30) -> EncodedCases:
    """A case base with ties."""
    random = np.random.default_rng(3)
    rows: list[list[str | float | None]] = [
        [f"v{random.integers(3)}", float(random.integers(4)), f"w{random.integers(2)}"]
        for _ in range(n)
    ]
    return case_base(rows, random.choice(["A", "B"], n).tolist())


def experiment(n: int = 30, choices: SimulationSettings | None = None) -> Experiment:
    """An experiment of two strategies and two users."""
    users = [named_user("T5", 0.1), named_user("DL", None)]
    return prepare(
        base(n),
        choices or SimulationSettings(orders=2),
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
def test_other_targets_in_several_processes_and_kept(tmp_path: Path) -> None:
    """Leave-one-in and queries of a file: as alone, and finished targets are those of one."""
    keep = tmp_path / FINISHED
    whole = experiment()
    queries = replace(whole.cases, values=whole.cases.values[::-1])
    others = [
        replace(whole, protocol="leave-one-in"),
        replace(whole, protocol="separate", queries=queries),
        replace(whole, protocol="separate", queries=replace(queries, values=queries.values[:7])),
    ]
    assert len({made_of(one) for one in (whole, *others)}) == 4
    for one in others[:2]:
        alone = run_experiment(one)
        assert_same(alone, run_experiment(one, workers=Workers(2), keep=keep))
        assert_same(alone, run_experiment(one, keep=keep))
        assert not np.array_equal(alone.quality, run_experiment(whole).quality)


@pytest.mark.usefixtures("small_tasks")
def test_finished_targets_are_not_simulated_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that was interrupted leaves what it finished, and the next goes on from there."""
    keep = tmp_path / "out" / FINISHED
    counts: list[int] = []

    def interrupted(steps: int) -> None:
        counts.append(steps)
        if sum(counts) >= 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_experiment(experiment(), keep=keep, done=interrupted)
    again: list[int] = []
    simulated: list[int] = []
    original = Experiment.run

    def counted(self: Experiment, targets: list[int]) -> Dialogues:
        simulated.extend(targets)
        return original(self, targets)

    monkeypatch.setattr(Experiment, "run", counted)
    dialogues = run_experiment(experiment(), keep=keep, done=again.append)
    assert again[0] == sum(counts)
    assert simulated == list(range(sum(counts), 30))
    monkeypatch.undo()
    assert_same(dialogues, run_experiment(experiment()))


@pytest.mark.usefixtures("small_tasks")
@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: raw[:-40],
        lambda raw: raw[: len(raw) // 2],
        lambda raw: raw.replace(b'"data": "', b'"data": "AAAA', 1),
        lambda raw: raw + b"{}\nnonsense\n\n",
        lambda raw: raw + raw.split(b"\n", 1)[1],
        lambda _: b"",
        lambda _: b"another file\n",
    ],
    ids=["cut", "half", "altered", "more", "twice", "empty", "foreign"],
)
def test_a_damaged_file_costs_only_what_is_damaged(
    tmp_path: Path,
    damage: object,
) -> None:
    """Lines that were cut off or altered are simulated again, and no number changes."""
    keep = tmp_path / FINISHED
    dialogues = run_experiment(experiment(), keep=keep)
    keep.write_bytes(damage(keep.read_bytes()))  # type: ignore[operator]
    assert_same(dialogues, run_experiment(experiment(), keep=keep))
    # What was simulated again is in the file now, behind the damage.
    held = [t for part in Finished(keep, made_of(experiment())).read() for t in part.targets]
    assert sorted(held) == list(range(30))


def test_what_was_made_of_something_else_is_begun_anew(tmp_path: Path) -> None:
    """Finished targets are reused for the same cases and choices alone."""
    keep = tmp_path / FINISHED
    run_experiment(experiment(), keep=keep)
    other = experiment(choices=SimulationSettings(orders=2, neighbors=3, region_size=3))
    assert_same(run_experiment(other, keep=keep), run_experiment(other))
    assert Finished(keep, made_of(experiment())).read() == []
    values = experiment().cases.values.copy()
    values[0, 0] = 2.0 if values[0, 0] != 2.0 else 1.0
    cases = replace(experiment().cases, values=values)
    assert made_of(replace(experiment(), cases=cases)) != made_of(experiment())


@pytest.mark.parametrize(
    "other",
    [
        SimulationSettings(orders=2, no_selection="zero"),
        SimulationSettings(orders=2, efficiency="halved"),
    ],
    ids=["no selection", "efficiency"],
)
def test_what_is_decided_after_dialogues_needs_none(other: SimulationSettings) -> None:
    """Choices about what is counted leave finished targets as good as they are."""
    assert made_of(experiment(choices=other)) == made_of(experiment())


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """The message names the file and the remedy."""
    (tmp_path / "out").write_text("a file", encoding="utf-8")
    with pytest.raises(
        QuemError, match=r"finished-targets\.jsonl: finished targets cannot be kept"
    ):
        run_experiment(experiment(), keep=tmp_path / "out" / FINISHED)


def test_a_killed_run_goes_on(tmp_path: Path) -> None:
    """After SIGKILL in the midst of it, finished targets are there and the result is the same."""
    keep = tmp_path / FINISHED
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from quem.dialogue import simulation\n"
        "from tests.dialogue.test_running import experiment\n"
        "simulation._CELLS_AT_ONCE = 3000\n"
        f"keep = Path({str(keep)!r})\n"
        "simulation.run_experiment(experiment(), keep=keep, done=lambda _: time.sleep(0.4))\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": "."}
    ) as run:
        until(lambda: keep.exists() and keep.read_bytes().count(b"\n") >= 4, "finished targets")
        run.send_signal(signal.SIGKILL)
    held = sum(len(part) for part in Finished(keep, made_of(experiment())).read())
    assert 0 < held < 30
    assert_same(run_experiment(experiment(), keep=keep), run_experiment(experiment()))
