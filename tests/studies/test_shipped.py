"""What the READMEs of the shipped studies say comes out, and who made them up says so."""

from __future__ import annotations

import csv
import json
import re
import runpy
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from scipy.stats import kendalltau, spearmanr

import quem
from quem.cli import main
from quem.dialogue.loading import load_dialogue
from quem.dialogue.simulation import prepare, run_experiment
from quem.solutions import find_solutions
from quem.studyfile.dialogue import DialogueSettings
from quem.studyfile.reading import draft_study, read_study
from tests.golden.outcomes import DATA, STUDIES, kept
from tests.lists.golden import GOLDEN

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from quem.options.result import OptionsResult

PLANNERS, CCBR = STUDIES / "assembly-planners", STUDIES / "ccbr"
COOLING, OPTIONS = STUDIES / "cooling-plans", STUDIES / "option-lists"
BASES = ("zoo", "spect", "pima")


def text_of(path: Path) -> str:
    return " ".join(path.read_text("utf-8").split())


def expected(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "expected.json").read_text("utf-8"))["study.yaml"]
    return found


@pytest.mark.parametrize(
    "path",
    [
        *(PLANNERS / f"{stem}.yaml" for stem in ("study", "next-year", "assistance")),
        *(CCBR / name for name in ("bikes.yaml", "README.md")),
        *(COOLING / name for name in ("study.yaml", "README.md", "briefing.md")),
    ],
    ids=lambda path: f"{path.parent.name}/{path.name}",
)
def test_says_that_it_is_made_up(path: Path) -> None:
    """Nobody takes a study for a real one, nor its advice for advice."""
    assert re.search("made.up", text_of(path), re.IGNORECASE)


def test_rankings_are_those_of_the_documented_seeds() -> None:
    """Drawing the ranks again gives the files, byte for byte; the README names the seeds."""
    names = runpy.run_path(str(PLANNERS / "generate.py"))
    for stem, table in names["tables"]().items():
        assert table == (PLANNERS / f"{stem}.csv").read_text("utf-8")
    first, second, third = names["SEEDS"].values()
    assert f"with the seeds {first}, {second} and {third}" in text_of(PLANNERS / "README.md")


@pytest.mark.parametrize("name", BASES)
def test_ccbr_gives_what_its_readme_expects(name: str) -> None:
    """Each number of the README's tables and of figure1.csv is one that is kept."""
    found, readme = kept(name), text_of(CCBR / "README.md")
    order = ("RA", "ND", "DD", "NF", "FA")
    columns = [found[f"means.csv:{column}"] for column in ("measure", "system", "mean")]
    means = {(measure, of): f"{mean:.3f}" for measure, of, mean in zip(*columns, strict=True)}
    with (CCBR / "figure1.csv").open(encoding="utf-8") as file:
        computed = {
            (f"{row['measure']} ({row['user']})", row["strategy"]): row["computed"]
            for row in csv.DictReader(file)
            if row["case base"] == name
        }
    assert len(computed) == 2 * len(order) * len(found["users.csv:user"])
    assert computed.items() <= means.items()
    quality = " | ".join(means["rank quality", strategy] for strategy in order)
    assert f"| {name} | {quality} |" in readme
    strategies = found["systems.csv:strategy"], found["systems.csv:contracted"]
    contracted = dict(zip(*strategies, strict=True))
    shares = " | ".join(f"{100 * contracted[strategy]:.1f}%" for strategy in order)
    assert f"| {name} | {shares} |" in readme


def test_ccbr_says_how_far_users_agree() -> None:
    """The thesis of the paper, case base by case base."""
    readme, found = text_of(CCBR / "README.md"), [kept(name) for name in BASES]
    (zoo, spect, pima), precision = zip(*(one["agreement.csv:tau_b"] for one in found), strict=True)
    assert f"{zoo:.2f} in Zoo, {spect:.2f} in Spect, and {pima:.2f} in Pima" in readme
    assert "{:.2f}, {:.2f}, and {:.2f}".format(*precision) in readme
    same = [one["agreement.csv:same_winner"][0] for one in found]
    assert "{:.0%}, {:.0%}, and {:.0%} of pairs".format(*same) in readme


@pytest.mark.skipif(not DATA.is_dir(), reason="the UCI case bases are not part of the project")
def test_zoo_with_the_targets_kept() -> None:
    """Leave-one-in gives Zoo's strategies the rank quality and the order that the README says."""
    study = load_dialogue(CCBR / "zoo.yaml", data=DATA)
    experiment = prepare(
        study.cases,
        DialogueSettings(),
        strategies=study.strategies,
        users=study.users[:1],
        protocol="leave-one-in",
    )
    quality = run_experiment(experiment).quality.mean(axis=(0, 2)).tolist()
    names = [strategy.name for strategy in study.strategies]
    best_first = sorted(zip(quality, names, strict=True), reverse=True)
    found = ", ".join(f"{name} {value:.3f}" for value, name in best_first)
    assert found in text_of(CCBR / "README.md")


def test_cooling_plans_pass_the_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy that nobody has run a session on has no mistakes, no name, no metadata."""
    monkeypatch.delenv("QUEM_DATABASE_URL", raising=False)
    ignored = shutil.ignore_patterns("*.sqlite3*", "*-report", "*-export")
    shutil.copytree(COOLING, tmp_path / "study", ignore=ignored)
    done = CliRunner().invoke(main, ["check", str(tmp_path / "study" / "study.yaml")])
    assert done.exit_code == 0, done.output
    assert "no errors, no warnings" in done.output


def test_cooling_plans_hold_what_their_readme_says() -> None:
    """Three problems with six to eight solutions, by people and by two versions of one system."""
    study, says = read_study(COOLING / "study.yaml"), expected(COOLING)
    solutions = find_solutions(draft_study(COOLING / "study.yaml"), complete=True)[0]
    count = {problem: len(solvers) for problem, solvers in solutions.by_problem.items()}
    assert count == says["problems"]
    assert {solutions.practice_problem: len(solutions.practice)} == says["practice"]
    assert all(6 <= number <= 8 for number in count.values())
    for key in ("subjects", "judges", "systems"):
        assert len(getattr(study, key)) == says[key]
    assert len({system.of for system in study.systems}) == 1
    assert len({system.version for system in study.systems}) == says["systems"]
    for folder in (COOLING / "solutions").iterdir():
        # No format tells a solver from another, and a judge reads a plan in a minute or two.
        assert len({file.suffix for file in folder.iterdir()}) == 1, folder.name
        assert max(len(file.read_text("utf-8").split()) for file in folder.iterdir()) <= 300


SAYS = expected(OPTIONS)
NAMES, TABLE = SAYS["measures"], SAYS["table"]
UNRANKED = ("F1", "F1s", "LAR")
# tau-b and rho of the printed numbers, unrounded, from an independent computation.
CORRELATIONS = {
    "F1": (0.9701425001453319, 0.9922479451004091),
    "F1s": (0.985184366143778, 0.9941916256019201),
    "LAR": (1, 1),
    **dict.fromkeys(("AP", "RR", "nDCG", "RBP"), (0.7456011350793257, 0.8554690030016078)),
    "APL": (0.8265265073884384, 0.9257334816963324),
    "APs": (0.8571548551391923, 0.9337850649444772),
    **dict.fromkeys(("nDCGL", "RBPL"), (0.8111071056538127, 0.9182081675086764)),
    "OLAR": (1, 1),
}


@pytest.fixture(scope="module")
def listed() -> OptionsResult:
    """Table 1 of the paper on option lists."""
    return quem.analyze(quem.load_study(OPTIONS / "study.yaml", kind="options"))


def of_measure(result: OptionsResult, name: str) -> pd.DataFrame:
    """All lists with their scores by a measure."""
    table = result.table("table1")
    return table[table.measure == name].set_index("list").loc[list(TABLE)]


def test_option_lists_are_those_of_the_paper(listed: OptionsResult) -> None:
    printed = GOLDEN["option_lists"]
    keys = ("gold", "printed", "starred")
    assert {kind: {key: row[key] for key in keys} for kind, row in TABLE.items()} == printed[
        "table"
    ]
    assert SAYS["properties"] == printed["properties"]
    assert listed.table_of_scores.queries == tuple(TABLE)
    assert listed.warnings == ()


@pytest.mark.parametrize("name", NAMES)
def test_table_1_comes_out(listed: OptionsResult, name: str) -> None:
    """By each of 12 measures 20 scores to every printed digit, 20 stars, and what is below."""
    own, at = of_measure(listed, name), NAMES.index(name)
    scores = listed.table_of_scores.values[0, :, at]
    assert scores == pytest.approx(own["score"].to_numpy())
    assert own.printed.to_dict() == {kind: row["printed"][at] for kind, row in TABLE.items()}
    assert own.star.to_dict() == {kind: name in row["starred"] for kind, row in TABLE.items()}
    ranked = name not in UNRANKED
    assert own.gold.to_dict() == {kind: row["gold"][ranked] for kind, row in TABLE.items()}
    promised = listed.table("promises").set_index("measure").loc[name]
    holds = [promised[key] for key in ("correctness", "confidence", "priority")]
    assert holds == SAYS["properties"][name]
    correlations = promised["tau"], promised["rho"]
    assert correlations == pytest.approx(CORRELATIONS[name], abs=1e-9)
    paper = SAYS["kendall"][name], SAYS["spearman"][name]
    assert correlations == pytest.approx(paper, abs=5e-4)


def test_the_page_prints_table_1(listed: OptionsResult) -> None:
    """Every row, with its gold rank, stars, and correlations."""
    rows = re.findall(r"<tr>.*?</tr>", listed.to_html(), re.DOTALL)
    seen = [re.sub(r"<[^>]+>", " ", row).split() for row in rows]
    for names in (UNRANKED, tuple(name for name in NAMES if name not in UNRANKED)):
        assert ["List", "Gold", *names] in seen
        for kind, row in TABLE.items():
            printed = dict(zip(NAMES, row["printed"], strict=True))
            cells = [f"{'*' * (name in row['starred'])}{printed[name]}" for name in names]
            assert [kind, str(row["gold"][names != UNRANKED]), *cells] in seen
        for word, key in (("tau-b", "kendall"), ("rho", "spearman")):
            assert [word, *(f"{SAYS[key][name]:.3f}" for name in names)] in seen


def test_the_remarks_on_table_1(listed: OptionsResult) -> None:
    """The numbers in the README's remarks are computed ones."""
    readme = text_of(OPTIONS / "README.md")
    for name in ("APL", "APs"):
        own = of_measure(listed, name)
        pair = own.score.round(12), -own.gold
        assert f"{kendalltau(*pair).statistic:.3f} and {spearmanr(*pair).statistic:.3f}" in readme
    example = quem.lists.properties("OLAR(m=0.0499)", max_length=6).confidence.counterexample
    assert example is not None
    better, worse = f"{example.better_score:.4f}", f"{example.worse_score:.4f}"
    assert f"`{example.better}` ({better}) scores below `{example.worse}` ({worse})" in readme
