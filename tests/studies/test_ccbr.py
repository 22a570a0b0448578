"""The studies of conversational CBR: what their README says comes out."""

from __future__ import annotations

import csv
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
    """Each number of the README's tables and of figure1.csv is one that is kept."""
    found = kept(name)
    order = ("RA", "ND", "DD", "NF", "FA")
    columns = [found[f"means.csv:{column}"] for column in ("measure", "system", "mean")]
    means = {
        (measure, system): f"{mean:.3f}" for measure, system, mean in zip(*columns, strict=True)
    }
    rows = csv.DictReader((FOLDER / "figure1.csv").read_text("utf-8").splitlines())
    computed = {
        (f"{row['measure']} ({row['user']})", row["strategy"]): row["computed"]
        for row in rows
        if row["case base"] == name
    }
    assert len(computed) == 2 * len(order) * len(found["users.csv:user"])
    assert computed.items() <= means.items()
    quality = " | ".join(means["rank quality", strategy] for strategy in order)
    assert f"| {name} | {quality} |" in README
    contracted = dict(
        zip(found["systems.csv:strategy"], found["systems.csv:contracted"], strict=True)
    )
    shares = " | ".join(f"{100 * contracted[strategy]:.1f}%" for strategy in order)
    assert f"| {name} | {shares} |" in README


def test_the_readme_says_how_far_users_agree() -> None:
    """The thesis of the paper, case base by case base."""
    found = [kept(name) for name in ("zoo", "spect", "pima")]
    (zoo, spect, pima), precision = zip(*(one["agreement.csv:tau_b"] for one in found), strict=True)
    assert f"{zoo:.2f} in Zoo, {spect:.2f} in Spect, and {pima:.2f} in Pima" in README
    assert "{:.2f}, {:.2f}, and {:.2f}".format(*precision) in README
    same = [one["agreement.csv:same_winner"][0] for one in found]
    assert "{:.0%}, {:.0%}, and {:.0%} of pairs".format(*same) in README


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
