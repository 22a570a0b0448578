"""What machine judges that are biased do to an estimate, and what they would do as a vote."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import quem
from tests.machines.fakes import PLEA
from tests.machines.test_running import (
    PROBLEMS,
    SOLVERS,
    command_study,
    judged,
    last_run,
    ranks,
    with_experts,
)

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

EXPERTS = 2
RANKED = PROBLEMS[1::2]


def of_one_more_vote(path: Path, machine: NDArray[np.float64]) -> tuple[float, float]:
    """Give the interval of the system, the last solver, where a machine is one more judge.

    Shapes: `machine` (solvers,).
    """
    table = pd.read_csv(path.with_name("rankings.csv"))
    experts = table.groupby("solver")["rank"].mean()[list(SOLVERS)].to_numpy()
    cells = EXPERTS * len(RANKED), len(PROBLEMS)
    x = np.average([experts, machine], axis=0, weights=cells)
    line = sm.OLS(np.arange(1.0, len(x)), sm.add_constant(x[:-1])).fit()
    low, high = line.get_prediction([[1.0, x[-1]]]).conf_int(obs=True, alpha=0.05)[0]
    return float(low), float(high)


# The place cancels over four orders, so that even a vote has no bias of it.
@pytest.mark.parametrize(
    ("kind", "biased"),
    [("fair", 0), ("position", 0), ("favors", 1), ("verbose", 1), ("obedient", 1)],
)
def test_no_bias_of_a_machine_is_one_of_the_estimate(
    tmp_path: Path, kind: str, *, biased: bool
) -> None:
    """Experts rank three problems, a machine six; the system beeps, begs, and goes on and on."""
    path = command_study(tmp_path, kind)
    for problem in PROBLEMS:
        solution = tmp_path / "solutions" / problem / "sys.txt"
        text = f"{solution.read_text('utf-8')}{PLEA}\n{'more ' * 400}"
        solution.write_text(text, "utf-8")
    with_experts(path, error=0.3, problems=RANKED)
    assert judged(path)[0] == 0
    study = quem.load_study(path, kind="experience")
    document = quem.analyze(study).to_dict()
    ((estimate,), (alone,)) = document["estimates"], document["machine"]["experts_alone"]
    low, high = estimate["paper"]["interval"]
    assert low < alone["experience"] < high
    by_machine = np.nanmean(ranks(last_run(path)), axis=(0, 1))
    low, high = of_one_more_vote(path, by_machine)
    assert (low < alone["experience"] < high) != biased
