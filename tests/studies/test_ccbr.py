"""The studies of conversational CBR: what their README says comes out."""

from __future__ import annotations

from pathlib import Path

import pytest

from quem.dialogue.loading import load_dialogue
from quem.dialogue.simulation import prepare, run_experiment
from quem.studyfile.dialogue import DialogueSettings
from tests.golden.outcomes import DATA, kept

FOLDER = Path(__file__).resolve().parents[2] / "studies" / "ccbr"
README = (FOLDER / "README.md").read_text("utf-8")
WITH_DATA = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"the UCI case bases are not in {DATA}; see studies/ccbr/README.md"
)


@pytest.mark.parametrize("name", ["zoo", "spect", "pima"])
def test_the_readme_says_what_is_expected(name: str) -> None:
    """Each number of the README's tables is one that is kept."""
    found = kept(name)
    columns = [found[f"outcomes.csv:{column}"] for column in ("measure", "strategy", "value")]
    outcomes = list(zip(*columns, strict=True))
    for measure in ("efficiency", "precision"):
        for strategy in ("RA", "ND", "DD", "NF", "FA"):
            computed = [f"{value:.3f}" for *of, value in outcomes if of == [measure, strategy]]
            rows = [
                line for line in README.splitlines() if line.startswith(f"| {name} | {strategy} |")
            ]
            cells = [[cell.split(", ")[-1] for cell in row.split(" | ")[2:]] for row in rows]
            assert computed in [[cell.rstrip(" |") for cell in row] for row in cells], strategy
    rows = [f"analysis.rank_quality[{at}]" for at in range(5)]
    quality = {found[f"{row}.strategy"]: f"{found[f'{row}.mean']:.3f}" for row in rows}
    shown = " | ".join(quality[s] for s in ("RA", "ND", "DD", "NF", "FA"))
    assert f"| {name} | {shown} |" in README


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
        DialogueSettings(),
        strategies=study.strategies,
        users=study.users[:1],
        protocol="leave-one-in",
    )
    quality = run_experiment(experiment).quality.mean(axis=(0, 2))
    names = [strategy.name for strategy in study.strategies]
    found = sorted(zip(quality.tolist(), names, strict=True), reverse=True)
    assert ", ".join(f"{name} {value:.3f}" for value, name in found) in README
