"""Effects of machine judges on an analysis, through a study's files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

import quem
from quem.cli import main
from quem.studyfile.blocks import digest_of_solutions, order_of_draw
from tests.machines.made import (
    GOLDEN,
    calls_of,
    golden_calls,
    golden_study,
    run_of,
    write_run,
    write_study,
)
from tests.method.brute import System, ends, people_of, posterior

if TYPE_CHECKING:
    from pathlib import Path

    from quem.parts.result import ExperienceResult
    from quem.studyfile.runs import Call


def analyzed(path: Path) -> ExperienceResult:
    return quem.analyze(quem.load_study(path, kind="experience"))


def codes(result: ExperienceResult) -> set[str]:
    return {warning.code for warning in result.warnings}


def machine_of(result: ExperienceResult) -> dict[str, Any]:
    return dict(result.to_dict()["machine"])


def is_golden(result: ExperienceResult, golden: str) -> bool:
    (estimate,) = result.to_dict()["estimates"]
    mine = [estimate["paper"]["experience"], *estimate["paper"]["interval"]]
    wanted = [GOLDEN[golden][key] for key in ("estimate", "low", "high")]
    return bool(np.allclose(mine, wanted, atol=1e-6))


@pytest.mark.parametrize(
    ("machines", "golden"),
    [(("M1",), "control_variate"), (("M1", "M2", "M3"), "jury_of_three_kappa_0.1")],
)
def test_golden_estimates(tmp_path: Path, machines: tuple[str, ...], golden: str) -> None:
    result = analyzed(golden_study(tmp_path, machines))
    assert is_golden(result, golden)
    assert not is_golden(result, "one_more_vote_wrong")
    added, names = machine_of(result), {"share": "lambda", "correlation": "within_correlation"}
    for key in ("share", "correlation", "effective_problems"):
        if (name := names.get(key, key)) in GOLDEN[golden]:
            assert added[key] == pytest.approx(GOLDEN[golden][name], abs=1e-6)
    (alone,) = added["experts_alone"]
    assert alone["experience"] == pytest.approx(GOLDEN["experts_alone"]["estimate"], abs=1e-6)
    text = " ".join(result.summary().split())
    assert "The experts alone: 7.8 years (95% prediction interval 4.0 to 11.7)" in text
    assert result.ranks is not None
    assert set(result.ranks["judge"]) == {"J1", "J2"}


def test_without_machines(tmp_path: Path) -> None:
    """The option gives what experts alone give, and so does a study that does not use machines."""
    path = golden_study(tmp_path / "a")
    study = quem.load_study(path, kind="experience", without_machines=True)
    unused = golden_study(tmp_path / "b", are_used=False)
    for result in (quem.analyze(study), analyzed(unused)):
        assert is_golden(result, "experts_alone")
    alone, with_machine = quem.analyze(study).to_dict(), analyzed(path).to_dict()
    assert "machine" not in alone
    # How uneven a system is counts the experts' ranks, whatever machines make of them.
    varies = [one["estimates"][0]["varies"] for one in (alone, with_machine)]
    assert varies[0] == pytest.approx(varies[1], rel=0.03)
    assert alone["problems"] == with_machine["problems"]
    said = CliRunner().invoke(main, ["analyze", str(path), "--without-machines"])
    assert (said.exit_code, "M1" in said.stdout) == (0, False)


def test_a_comparison_is_by_experts_alone(tmp_path: Path) -> None:
    rng, systems = np.random.default_rng(0), [{"id": "A"}, {"id": "B"}]
    ranks = rng.permuted(np.tile(np.arange(1.0, 10.0), (2, 4, 1)), axis=2)
    path = write_study(tmp_path, range(1, 8), ranks, systems)
    solvers = [*(f"S{n}" for n in range(1, 8)), "A", "B"]
    write_run(path, run_of("M1", calls_of(solvers, rng.random((4, 9)))))
    study = quem.load_study(path, kind="experience")
    assert study.machines
    pairs = [quem.compare(of).to_dict()["pairs"] for of in (study, replace(study, machines=None))]
    assert pairs[0] == pairs[1]
    assert machine_of(quem.analyze(study))["reason"].startswith("experts ranked every problem")


def test_a_machine_that_adds_nothing_is_said_so(tmp_path: Path) -> None:
    """One that has not run, and one that ranks all problems alike."""
    path = golden_study(tmp_path)
    (run,) = (tmp_path / "machines/M1/runs").iterdir()
    run.unlink()
    assert "machine-not-run" in codes(analyzed(path))
    solvers = GOLDEN["study"]["solvers"]
    write_run(path, run_of("M1", calls_of(solvers, np.tile(np.arange(9), (8, 1)))))
    result = analyzed(path)
    assert is_golden(result, "experts_alone")
    assert "Machine judges add nothing here (λ = 0)" in " ".join(result.summary().split())
    assert (machine_of(result)["share"], machine_of(result)["experts_alone"]) == (0, [])


def changed(count: int, **update: object) -> list[Call]:
    calls = golden_calls()
    return [*(call.model_copy(update=update) for call in calls[:count]), *calls[count:]]


FAILED = {"status": "invalid", "ranked": ()}


@pytest.mark.parametrize(
    ("calls", "code", "start", "used"),
    [
        (changed(1, **FAILED), "machine-failures", "6% of 16 calls (1 invalid): 12% on", True),
        (changed(4, **FAILED), "machine-failures", "25% of 16 calls (4 invalid): 50% on", False),
        (changed(5, fingerprint="f1"), "machine-changed", "the service of M1", True),
    ],
)
def test_doubtful_runs_are_told(
    tmp_path: Path, calls: list[Call], code: str, start: str, *, used: bool
) -> None:
    """With many failures a machine is not used; nothing is made up for them."""
    path = golden_study(tmp_path)
    write_run(path, run_of("M1", calls, number=2))
    result = analyzed(path)
    (message,) = (one.message for one in result.warnings if one.code == code)
    assert start in message
    assert is_golden(result, "experts_alone") != used
    assert ("M1 is not used: 25% of its calls have no valid" in result.summary()) != used


def test_how_machines_rank_is_as_scipy_says(tmp_path: Path) -> None:
    """Slopes of rank on place within solvers, by problem, and tau-b of the two repeats."""
    path = golden_study(tmp_path)
    slopes, taus = [], []
    for problem in GOLDEN["study"]["problems"]:
        calls = [call for call in golden_calls() if call.problem == problem]
        solvers = calls[0].order
        place = np.array([[call.order.index(s) for call in calls] for s in solvers])
        rank = np.array([[-call.ranked.index((s,)) for call in calls] for s in solvers])
        within = (of - of.mean(axis=1, keepdims=True) for of in (place, rank))
        slope = stats.linregress(*(of.ravel() for of in within)).slope
        slopes.append(slope * np.sqrt((len(solvers) ** 2 - 1) / 12))
        taus.append(stats.kendalltau(*rank.T).statistic)
    (found,) = analyzed(path).to_dict()["machine_quality"]
    assert (found["judge"], found["failed"]) == ("M1", 0)
    assert found["agreement"] == pytest.approx(GOLDEN["agreement"], abs=1e-6)
    assert found["consistency"] == pytest.approx(np.mean(taus))
    assert found["position"] == pytest.approx(np.mean(slopes))
    assert found["position_p"] == pytest.approx(stats.ttest_1samp(slopes, 0).pvalue)
    # One that looks at places alone.
    calls = [
        call.model_copy(update={"ranked": tuple((solver,) for solver in call.order)})
        for call in golden_calls()
    ]
    write_run(path, run_of("M1", calls, number=2))
    result = analyzed(path)
    (found,) = result.to_dict()["machine_quality"]
    assert (found["consistency"], found["position_p"]) == (pytest.approx(-1), 0)
    assert found["position"] < 0
    assert "machine-unsteady" in codes(result)


def test_a_system_on_which_machines_are_erratic_is_wider(tmp_path: Path) -> None:
    rng, years = np.random.default_rng(4), np.arange(1.0, 13.0)
    quality = np.append(years, 6.0) + rng.normal(0, 1, (12, 13))
    of_experts, of_machine = quality + rng.normal(0, 0.1, (2, 12, 13))
    of_machine[:, -1] += np.tile([6.0, -6.0], 6)
    ranks = np.full((2, 12, 13), np.nan)
    ranks[:, :6] = of_experts[:6].argsort(axis=1).argsort(axis=1) + 1
    path = write_study(tmp_path, years.tolist(), ranks)
    solvers = [*(f"S{n}" for n in range(1, 13)), "system"]
    write_run(path, run_of("M1", calls_of(solvers, of_machine)))
    result = analyzed(path)
    assert "machine-erratic" in codes(result)
    (tested,) = machine_of(result)["erratic"]
    assert tested["p"] == pytest.approx(stats.f.sf(tested["f"], 5, 0.7 * 12 * 5))
    assert tested["df"] == 5
    # What is added, as a variance of z, and with it the population's estimate by quadrature.
    place = (result.averages["average_rank"].to_numpy() - 0.5) / 13
    z, w = np.log(place / (1 - place)), place[-1] * (1 - place[-1])
    (estimate,) = result.core.estimates
    more = tested["variance"] / 13**2 / w
    of_problems = estimate.variation.problems.value
    assert estimate.added.value == pytest.approx(more / w + of_problems / w)
    grid = np.linspace(0, 18, 20_001)
    system = System(z[-1], added=estimate.added.value, added_df=estimate.added.df)
    weights, _ = posterior(people_of(z, years.tolist()), system, grid)
    low, _, high = ends(grid, weights)
    assert estimate.reference.interval == pytest.approx((low, high), abs=2e-3)
    assert estimate.leads == "reference"


def test_the_draw_can_be_repeated(tmp_path: Path) -> None:
    """Golden; and an analysis warns where experts ranked other problems."""
    named = ("P1 P1 P2 P2 P3 P3", "S1 bot S1 bot S1 bot", "aa bb cc dd ee ff")
    rows = [*zip(*(names.split() for names in named), strict=True)]
    digest = digest_of_solutions(reversed(rows), "spring 2027")
    assert digest == "3965cbab4f5e835f6b0521f818887bdf2d35196bfdb591090eeaacf5d0e947a2"
    assert order_of_draw(["P1", "P2", "P3"], digest) == ("P3", "P2", "P1")
    labeled, problems, solvers = (
        GOLDEN["study"][key] for key in ("labelled_problems", "problems", "solvers")
    )
    path, drawn = golden_study(tmp_path), {True: "", False: ""}
    for own in map(str, range(10_000)):
        digest = digest_of_solutions([(p, s, own) for p in problems for s in solvers], "")
        drawn[sorted(order_of_draw(problems, digest)[:4]) == labeled] = own
        if all(drawn.values()):
            break
    for is_drawn, own in drawn.items():
        made = dict.fromkeys(problems, dict.fromkeys(solvers, own))
        write_run(path, run_of("M1", golden_calls(), number=2, digests=made))
        result = analyzed(path)
        assert ("labeled-not-drawn" in codes(result)) != is_drawn
        assert machine_of(result)["draw"]["labeled"] == labeled


def test_files_that_are_no_runs_are_refused(tmp_path: Path) -> None:
    path = golden_study(tmp_path)
    (tmp_path / "machines/M1/runs/0002.json").write_text("{}", "utf-8")
    with pytest.raises(quem.QuemError, match=r"0002.json: cannot be read as a run"):
        analyzed(path)
    write_run(path, run_of("M1", [], number=2, study="other"))
    with pytest.raises(quem.QuemError, match="is of M1 in the study other"):
        analyzed(path)


def test_with_two_problems_of_experts_machines_add_nothing(tmp_path: Path) -> None:
    path = golden_study(tmp_path)
    table = path.with_name("rankings.csv")
    rows = table.read_text("utf-8").splitlines()
    kept = [row for row in rows if ",P3," not in row and ",P4," not in row]
    table.write_text("\n".join(kept), "utf-8")
    result = analyzed(path)
    assert "few-expert-problems" in codes(result)
    assert machine_of(result)["share"] == 0
