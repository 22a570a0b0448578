"""What is printed in the paper and comes out, on its three case bases."""

from __future__ import annotations

import itertools
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from quem.dialogue.loading import DialogueStudy, load_dialogue
from quem.dialogue.outcomes import efficiency, granularity_of, precision
from quem.dialogue.settings import SimulationSettings
from quem.dialogue.simulation import Experiment, prepare, run_experiment
from quem.lists.rank_quality import granularity

if TYPE_CHECKING:
    from quem.dialogue.records import Dialogues

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
STUDIES = ROOT / "studies" / "ccbr"
DD, FA, ND, NF, RA = range(5)

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"the UCI case bases are not in {DATA}; see studies/ccbr/README.md"
)


@cache
def study(name: str) -> DialogueStudy:
    """One of the three studies."""
    return load_dialogue(STUDIES / f"{name}.yaml", data=DATA)


def experiment(name: str, orders: int = 1) -> Experiment:
    """That study with fewer question orders."""
    of = study(name)
    return prepare(
        of.cases, SimulationSettings(orders=orders), strategies=of.strategies, users=of.users
    )


@cache
def dialogues(name: str) -> Dialogues:
    """Its dialogues."""
    return run_experiment(experiment(name))


@pytest.mark.parametrize(
    ("name", "printed", "computed"),
    [("pima", 0.999, 0.9987), ("zoo", 0.116, 0.1162), ("spect", 0.064, 0.0636)],
)
def test_granularity(name: str, printed: float, computed: float) -> None:
    """The distance granularities that the paper prints come out."""
    value = granularity_of(experiment(name))
    assert round(value, 3) == printed
    assert round(value, 4) == computed


def test_granularity_is_that_of_the_measure() -> None:
    """A case after the other gives what the matrix of all distances does."""
    zoo = experiment("zoo")
    matrix = np.array([zoo.space.distances(zoo.space.case(case)) for case in range(zoo.space.n)])
    assert granularity_of(zoo) == pytest.approx(granularity(matrix))


@pytest.mark.parametrize("name", ["zoo", "spect", "pima"])
def test_default_difference_starts_near_nothing_and_catches_up(name: str) -> None:
    """DD starts at 0 and is with the others when most questions are asked; all meet at the end."""
    quality = dialogues(name).quality.mean(axis=0)
    assert quality[DD, 0] == 0
    assert quality[DD, 1] < 0.6
    late = -len(quality[0]) // 5
    assert quality[DD, late] > quality[:, late].max() - 0.03
    assert np.ptp(quality[:, -1]) < 1e-9


def test_aggregates_are_good_early_in_zoo_and_poor_in_spect() -> None:
    """FA and NF fare well at the beginning in Zoo, and not in Spect."""
    zoo, spect = (dialogues(name).quality.mean(axis=0) for name in ("zoo", "spect"))
    assert zoo[[FA, NF], 1].min() > 0.7
    assert spect[[FA, NF], 1].max() < 0.15
    assert zoo[[ND, RA], 1].max() - zoo[[FA, NF], 1].min() < 0.1
    assert spect[[ND, RA], 5].min() > spect[[FA, NF], 5].max() + 0.1


@pytest.mark.parametrize("name", ["zoo", "spect"])
def test_regions_and_neighbors_are_best_where_there_is_a_clear_winner(name: str) -> None:
    """In the first third of the dialogue RA and ND are above the others."""
    quality = dialogues(name).quality.mean(axis=0)
    early = slice(1, quality.shape[1] // 3)
    assert set(np.argsort(-quality[:, early].mean(axis=1))[:2]) == {RA, ND}


@pytest.mark.parametrize("name", ["zoo", "spect", "pima"])
def test_restrictive_users_spread_efficiency_and_others_precision(name: str) -> None:
    """The range of efficiency shrinks for less restrictive users, that of precision grows."""
    result, users = dialogues(name), [user.name for user in study(name).users]
    strict, loose = users.index("T5 0.05"), users.index("T5 0.3")
    spread = np.ptp(efficiency(result).mean(axis=(0, 3)), axis=0)
    assert spread[strict] > spread[loose]
    spread = np.ptp(precision(result).mean(axis=(0, 3)), axis=0)
    if name != "pima":
        assert spread[loose] > spread[strict]
    assert spread.max() < 0.5


@pytest.mark.parametrize("name", ["zoo", "spect", "pima"])
def test_users_stop_in_their_order(name: str) -> None:
    """In each dialogue T5 is no later than T1, nor for a larger b; DL's precision is 1."""
    result, users = dialogues(name), [user.name for user in study(name).users]
    stop = np.where(result.stop >= 0, result.stop, 99)
    at = [users.index(f"T5 {b}") for b in (0.05, 0.1, 0.15, 0.3)]
    assert (stop[:, :, at[0]] <= stop[:, :, users.index("T1 0.05")]).all()
    for strict, loose in itertools.pairwise(at):
        assert (stop[:, :, loose] <= stop[:, :, strict]).all()
    dl = users.index("DL")
    assert (result.right[:, :, dl] == (result.stop[:, :, dl] >= 0)).all()
