"""The studies of conversational CBR: what their README says comes out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import quem
from quem.dialogue.loading import load_dialogue
from quem.dialogue.outcomes import granularity_of
from quem.dialogue.sensitivity import constant_error, error
from quem.dialogue.settings import SimulationSettings
from quem.dialogue.simulation import prepare, run_experiment

FOLDER = Path(__file__).resolve().parents[2] / "studies" / "ccbr"
DATA = FOLDER.parents[2] / "shared" / "data"
EXPECTED = json.loads((FOLDER / "expected.json").read_text("utf-8"))
README = (FOLDER / "README.md").read_text("utf-8")
WITH_DATA = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"the UCI case bases are not in {DATA}; see studies/ccbr/README.md"
)


def _holds(document: dict[str, Any], expected: dict[str, Any]) -> None:
    """The content of an analysis.json is what is expected."""
    for measure in ("efficiency", "precision"):
        by_user = {
            row["user"]: {s["strategy"]: s["value"] for s in row["strategies"]}
            for row in document[measure]
        }
        for user, values in expected[measure].items():
            assert by_user[user] == pytest.approx(values, abs=6e-5)
        assert document["agreement"][measure]["mean_tau"] == pytest.approx(
            expected["agreement"][measure], abs=6e-5
        )
    quality = {row["strategy"]: row["mean"] for row in document["rank_quality"]}
    assert quality == pytest.approx(expected["rank_quality"], abs=6e-5)
    assert document["case_base"]["granularity"] == pytest.approx(expected["granularity"], abs=6e-5)


def test_the_made_up_case_base() -> None:
    """The study that comes with its data gives what is expected."""
    study = quem.load_study(FOLDER / "bikes.yaml", kind="dialogue")
    result = quem.analyze(study, bootstrap=0, permutations=0)
    _holds(result.to_dict(), EXPECTED["bikes.yaml"])


@WITH_DATA
def test_zoo() -> None:
    """Zoo gives what its README says, and is as far from the printed figures."""
    study = quem.load_study(FOLDER / "zoo.yaml", data=DATA, kind="dialogue")
    expected = EXPECTED["zoo.yaml"]
    result = quem.analyze(study, bootstrap=0, permutations=0)
    _holds(result.to_dict(), expected)
    assert study.published is not None
    printed = study.published.values
    assert [constant_error(part) for part in printed] == pytest.approx(
        expected["errors"]["constant"], abs=6e-5
    )
    # The combination that the search found is as near as it says.
    best = expected["search"]["both"]
    findings = quem.analyze(study, bootstrap=0, permutations=0, **best["choices"]).findings
    errors = [
        error(findings.efficiency.mean, printed[0]),
        error(findings.precision.mean, printed[1]),
    ]
    assert errors == pytest.approx(best["errors"], abs=6e-5)


@WITH_DATA
@pytest.mark.parametrize("name", ["zoo", "spect", "pima"])
def test_thresholds_and_granularity(name: str) -> None:
    """The case bases are those of the paper: their granularities and thresholds are as expected."""
    study = quem.load_study(FOLDER / f"{name}.yaml", data=DATA, kind="dialogue")
    expected = EXPECTED[f"{name}.yaml"]
    experiment = prepare(study.cases, SimulationSettings(), strategies=[], users=study.users)
    assert granularity_of(experiment) == pytest.approx(expected["granularity"], abs=6e-5)
    levels = {f"{b:g}": level for b, level in experiment.levels.items()}
    assert levels == pytest.approx(expected["thresholds"], abs=6e-7)


@pytest.mark.parametrize("name", ["zoo", "spect", "pima"])
def test_the_readme_says_what_is_expected(name: str) -> None:
    """Each number of the README's tables is that of expected.json."""
    expected = EXPECTED[f"{name}.yaml"]
    for case in ("constant", "used"):
        one, other = expected["errors"][case]
        assert f"| {one:.3f} | {other:.3f} |" in README
    for case in expected["search"].values():
        one, other = case["errors"]
        assert f"| {one:.3f} | {other:.3f} |" in README
    for measure in ("efficiency", "precision"):
        users = expected[measure]
        for strategy in ("RA", "ND", "DD", "NF", "FA"):
            computed = [f"{values[strategy]:.3f}" for values in users.values()]
            rows = [
                line for line in README.splitlines() if line.startswith(f"| {name} | {strategy} |")
            ]
            cells = [[cell.split(", ")[-1] for cell in row.split(" | ")[2:]] for row in rows]
            assert computed in [[cell.rstrip(" |") for cell in row] for row in cells], strategy
    quality = [expected["rank_quality"][s] for s in ("RA", "ND", "DD", "NF", "FA")]
    assert f"| {name} | {' | '.join(f'{value:.3f}' for value in quality)} |" in README


def test_the_case_base_says_that_it_is_made_up() -> None:
    """Nobody takes the bicycles for real ones."""
    for name in ("bikes.yaml", "README.md"):
        assert "made-up" in (FOLDER / name).read_text("utf-8")


@WITH_DATA
def test_zoo_with_the_targets_kept() -> None:
    """Leave-one-in gives Zoo's strategies the rank quality and the order that the README says."""
    study = load_dialogue(FOLDER / "zoo.yaml", data=DATA)
    experiment = prepare(
        study.cases,
        SimulationSettings(),
        strategies=study.strategies,
        users=study.users[:1],
        protocol="leave-one-in",
    )
    quality = run_experiment(experiment).quality.mean(axis=(0, 2))
    names = [strategy.name for strategy in study.strategies]
    found = sorted(zip(quality.tolist(), names, strict=True), reverse=True)
    assert ", ".join(f"{name} {value:.3f}" for value, name in found) in README
