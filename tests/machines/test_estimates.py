"""What machine judges change in an analysis, through files as a study has them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

import quem
from quem.cli import main
from quem.studyfile.draw import digest_of_solutions, order_of_draw
from tests.machines.made import (
    GOLDEN,
    call_of,
    golden_calls,
    golden_study,
    run_of,
    write_run,
    write_study,
)

if TYPE_CHECKING:
    from pathlib import Path

    from quem.parts.result import ExperienceResult
    from quem.studyfile.runs import Call


def analyzed(path: Path, *, without_machines: bool = False) -> ExperienceResult:
    """Analyze a study."""
    study = quem.load_study(path, kind="experience", without_machines=without_machines)
    return quem.analyze(study)


def codes(result: ExperienceResult) -> set[str]:
    """The codes of the warnings of a result."""
    return {warning.code for warning in result.warnings}


def machine_of(result: ExperienceResult) -> dict[str, Any]:
    """What analysis.json says that machine judges add."""
    return dict(result.to_dict()["machine"])


def close(one: dict[str, Any], golden: dict[str, Any]) -> bool:
    """Whether an estimate and its interval are the golden ones."""
    mine = [one["experience"], *one["interval"]]
    return bool(np.allclose(mine, [golden[key] for key in ("estimate", "low", "high")], atol=1e-6))


def paper_of(result: ExperienceResult) -> dict[str, Any]:
    """The paper's estimate of the only system."""
    (estimate,) = result.to_dict()["estimates"]
    return dict(estimate["paper"])


@pytest.mark.parametrize(
    ("machines", "golden"),
    [(("M1",), "control_variate"), (("M1", "M2", "M3"), "jury_of_three_kappa_0.1")],
)
def test_golden_estimates(tmp_path: Path, machines: tuple[str, ...], golden: str) -> None:
    """With machines, and by the experts alone, which stand beside; nothing is ever a vote."""
    result = analyzed(golden_study(tmp_path, machines))
    assert close(paper_of(result), GOLDEN[golden])
    (alone,) = machine_of(result)["experts_alone"]
    assert close(alone, GOLDEN["experts_alone"])
    assert not close(paper_of(result), GOLDEN["one_more_vote_wrong"])
    assert result.ranks is not None
    assert set(result.ranks["judge"]) == {"J1", "J2"}


def test_without_machines(tmp_path: Path) -> None:
    """The option gives what experts alone give, and so does a study that does not use machines."""
    path = golden_study(tmp_path / "a")
    result = analyzed(path, without_machines=True)
    assert close(paper_of(result), GOLDEN["experts_alone"])
    assert "machine" not in result.to_dict()
    assert "M1" not in result.summary()
    unused = golden_study(tmp_path / "b", machine=None)
    assert close(paper_of(analyzed(unused)), GOLDEN["experts_alone"])
    text = " ".join(analyzed(path).summary().split())
    assert "The experts alone: 7.8 years (95% prediction interval 4.0 to 11.7)" in text
    said = CliRunner().invoke(main, ["analyze", str(path), "--without-machines"])
    assert said.exit_code == 0
    assert "M1" not in said.stdout


def test_a_comparison_is_by_experts_alone(tmp_path: Path) -> None:
    """The same whether there are machine judges or not."""
    study = GOLDEN["study"]
    ranks = np.array([[e["ranks"][s] for s in study["solvers"]] for e in study["experts"]])
    path = write_study(
        tmp_path,
        years=study["years_of_subjects"][:7],
        systems=["S8", "system"],
        problems=study["labelled_problems"],
        ranks=ranks.transpose(0, 2, 1),
        machines=[{"id": "M1", "command": "judge"}],
        machine={},
    )
    write_run(path, run_of("M1", golden_calls("M1")))
    loaded = quem.load_study(path, kind="experience")
    assert (
        quem.compare(loaded).to_dict()["pairs"]
        == quem.compare(replace(loaded, machines=None)).to_dict()["pairs"]
    )


def test_a_machine_that_adds_nothing_is_said_so(tmp_path: Path) -> None:
    """One that ranks the other way round from problem to problem."""
    path = golden_study(tmp_path, machines=())
    solvers = GOLDEN["study"]["solvers"]
    calls = [call_of(f"P{p}", r, solvers, range(9)) for p in range(1, 9) for r in range(2)]
    study = path.read_text("utf-8").replace("machines: []", "machines: [{id: M1, command: x}]")
    path.write_text(study, "utf-8")
    assert "machine-not-run" in codes(analyzed(path))
    write_run(path, run_of("M1", calls))
    result = analyzed(path)
    assert close(paper_of(result), GOLDEN["experts_alone"])
    assert "Machine judges add nothing here (λ = 0)" in " ".join(result.summary().split())
    assert machine_of(result)["share"] == 0
    assert machine_of(result)["experts_alone"] == []


def failing(share: float) -> list[Call]:
    """Let a share of the golden calls fail, on problems of the experts first."""
    calls = golden_calls("M1")
    count = round(share * len(calls))
    return [
        call.model_copy(update={"status": "invalid", "ranked": ()}) if at < count else call
        for at, call in enumerate(calls)
    ]


def test_failures_are_counted(tmp_path: Path) -> None:
    """A few are warned of; with many the machine is not used; nothing is made up for them."""
    few, many = golden_study(tmp_path / "few"), golden_study(tmp_path / "many")
    write_run(few, run_of("M1", failing(1 / 16), number=2))
    write_run(many, run_of("M1", failing(4 / 16), number=2))
    result = analyzed(few)
    (warning,) = (w for w in result.warnings if w.code == "machine-failures")
    assert "6% of 16 calls (1 invalid): 12% on problems that experts ranked, 0%" in warning.message
    assert machine_of(result)["share"] > 0
    result = analyzed(many)
    assert "machine-failures" in codes(result)
    assert close(paper_of(result), GOLDEN["experts_alone"])
    assert "M1 is not used: 25% of its calls have no valid ranking" in result.summary()


def test_doubtful_runs(tmp_path: Path) -> None:
    """Ties all over, and another server in the middle."""
    path = golden_study(tmp_path)
    calls = [
        call.model_copy(
            update={"ranked": (call.order,)} if at % 3 == 0 else {"fingerprint": f"f{at % 2}"}
        )
        for at, call in enumerate(golden_calls("M1"))
    ]
    write_run(path, run_of("M1", calls, number=2))
    assert "machine-changed" in codes(analyzed(path))


def test_a_system_on_which_machines_are_erratic_is_wider(tmp_path: Path) -> None:
    """What is added goes into the interval with the degrees of freedom of few problems."""
    rng = np.random.default_rng(4)
    years = np.arange(1.0, 13.0)
    problems = [f"P{p}" for p in range(12)]
    quality = np.append(years, 6.0) + rng.normal(0, 1, (12, 13))
    of_experts = quality + rng.normal(0, 0.1, (12, 13))
    of_machine = quality + rng.normal(0, 0.1, (12, 13))
    of_machine[:, -1] += np.tile([6.0, -6.0], 6)
    ranks = np.full((2, 12, 13), np.nan)
    ranks[:, :6] = of_experts[:6].argsort(axis=1).argsort(axis=1) + 1
    path = write_study(
        tmp_path,
        years=years.tolist(),
        systems=["bot"],
        problems=problems,
        ranks=ranks,
        machines=[{"id": "M1", "command": "judge"}],
        machine={},
    )
    solvers = [*(f"S{n}" for n in range(1, 13)), "bot"]
    calls = [
        call_of(p, r, solvers, of_machine[at].tolist())
        for at, p in enumerate(problems)
        for r in range(2)
    ]
    write_run(path, run_of("M1", calls))
    result = analyzed(path)
    assert "machine-erratic" in codes(result)
    of = machine_of(result)
    (tested,) = of["erratic"]
    assert tested["p"] == pytest.approx(stats.f.sf(tested["f"], 5, 0.7 * 12 * 5))
    assert tested["df"] == 5
    # What is added, as a variance of z, and with it the population's estimate by quadrature.
    averages = result.averages.set_index("solver")["average_rank"]
    place = (averages - 0.5) / 13
    z, w = np.log(place / (1 - place)), place["bot"] * (1 - place["bot"])
    (estimate,) = result.core.estimates
    more = tested["variance"] / 13**2 / w
    of_problems = estimate.variation.problems.value
    assert estimate.added.value == pytest.approx(more / w + of_problems / w)
    fit = stats.linregress(years, z[:-1])
    rest = z[:-1] - fit.intercept - fit.slope * years
    grid = np.linspace(0, 18, 20_001)
    base = rest @ rest / 10 * (1 + 1 / 12 + (grid - years.mean()) ** 2 / (12 * years.var()))
    total = base + estimate.added.value
    df = np.minimum(10, total**2 / (base**2 / 10 + estimate.added.value**2 / estimate.added.df))
    spread = np.sqrt(total)
    likelihood = stats.t.pdf((z["bot"] - fit.intercept - fit.slope * grid) / spread, df) / spread
    below = np.cumsum(likelihood) / likelihood.sum()
    ends = [grid[np.searchsorted(below, q)] for q in (0.025, 0.975)]
    assert estimate.reference.interval == pytest.approx(ends, abs=2e-3)
    assert estimate.leads == "reference"


def test_the_draw_can_be_repeated(tmp_path: Path) -> None:
    """Golden; and an analysis warns where experts ranked other problems."""
    rows = [("P1", "S1", "aa"), ("P1", "bot", "bb"), ("P2", "S1", "cc")]
    rows += [("P2", "bot", "dd"), ("P3", "S1", "ee"), ("P3", "bot", "ff")]
    digest = digest_of_solutions(reversed(rows), "spring 2027")
    assert digest == "3965cbab4f5e835f6b0521f818887bdf2d35196bfdb591090eeaacf5d0e947a2"
    assert order_of_draw(["P1", "P2", "P3"], digest) == ("P3", "P2", "P1")

    solvers = GOLDEN["study"]["solvers"]
    labeled = set(GOLDEN["study"]["labelled_problems"])

    def digests(seed: int) -> dict[str, dict[str, str]]:
        return {f"P{p}": dict.fromkeys(solvers, f"{seed:04x}") for p in range(1, 9)}

    def is_drawn(seed: int) -> bool:
        of = digests(seed)
        rows = [(p, s, digest) for p, each in of.items() for s, digest in each.items()]
        return set(order_of_draw(of, digest_of_solutions(rows, ""))[:4]) == labeled

    for drawn in (True, False):
        seed = next(seed for seed in range(10_000) if is_drawn(seed) == drawn)
        path = golden_study(tmp_path / str(drawn))
        write_run(path, run_of("M1", golden_calls("M1"), number=2, digests=digests(seed)))
        result = analyzed(path)
        assert ("labeled-not-drawn" in codes(result)) == (not drawn)
        assert machine_of(result)["draw"]["labeled"] == sorted(labeled)


def test_files_that_are_no_runs(tmp_path: Path) -> None:
    """One message names the file and what to do."""
    path = golden_study(tmp_path)
    (tmp_path / "machines/M1/runs/0002.json").write_text("{}", "utf-8")
    with pytest.raises(quem.QuemError, match=r"0002.json: cannot be read as a run"):
        analyzed(path)
    write_run(path, run_of("M1", [], number=2, study="other"))
    with pytest.raises(quem.QuemError, match="is of M1 in the study other; move it elsewhere"):
        analyzed(path)


def test_few_problems_of_experts(tmp_path: Path) -> None:
    """With two, machines add nothing, and the summary says why."""
    path = golden_study(tmp_path)
    table = path.parent / "rankings.csv"
    rows = table.read_text("utf-8").splitlines()
    kept = [row for row in rows if ",P3," not in row and ",P4," not in row]
    table.write_text("\n".join(kept) + "\n", "utf-8")
    result = analyzed(path)
    assert "few-expert-problems" in codes(result)
    assert machine_of(result)["share"] == 0
