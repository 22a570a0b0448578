"""``quem score``: what it prints, writes, and refuses; numbers are in tests/scores."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

if TYPE_CHECKING:
    from tests.commands.conftest import Command

DATA = Path(__file__).resolve().parents[1] / "scores" / "data"
GOLDEN = json.loads((DATA / "golden.json").read_text())
RUNS = [str(DATA / f"{name}.run") for name in ("bm25", "dense", "hybrid")]
QRELS = str(DATA / "qrels.txt")
BY = ("-m", "nDCG@5 AP P@5")


def test_means_and_differences_are_golden(run: Command, tmp_path: Path) -> None:
    """Files have each mean, interval, and p value of the golden file."""
    folder = tmp_path / "out"
    code, _, err = run("score", QRELS, *RUNS, *BY, "--out", folder)
    assert (code, err) == (0, "")
    means = pd.read_csv(folder / "means.csv").set_index(["system", "measure"])
    for system, own in GOLDEN["means"]["expected"].items():
        for measure in ("nDCG@5", "AP", "P@5"):
            assert means.loc[(system, measure), "mean"] == pytest.approx(own[measure], abs=1e-9)
        ends = [means.loc[(system, "nDCG@5"), end] for end in ("low", "high")]
        assert ends == pytest.approx(GOLDEN["intervals_seed_0"][system], abs=1e-9)
    found = pd.read_csv(folder / "differences.csv").to_dict("records")
    for own, golden in zip(found, GOLDEN["differences"], strict=True):
        assert {key: own[key] for key in golden} == pytest.approx(golden, abs=1e-9)
    inputs = json.loads((folder / "analysis.json").read_text())["origin"]["inputs"]
    names = ["qrels.txt", "bm25.run", "dense.run", "hybrid.run"]
    assert [Path(one["path"]).name for one in inputs] == names
    written = {"report.html", "scores.svg", "scores.csv", "table.md", "table.tex", "table.html"}
    assert written < {file.name for file in folder.iterdir()}


def test_formats(run: Command) -> None:
    """The table is printed as text, Markdown, LaTeX, HTML, CSV, and JSON."""
    printed = {
        form: run("score", QRELS, *RUNS, *BY, "--format", form).out
        for form in ("text", "md", "latex", "html", "csv", "json")
    }
    row = "c hybrid 0.619* (0.473 to 0.771) 0.670* 0.675*"
    assert printed["text"].splitlines()[3].split() == row.split()
    assert "| c | hybrid | **0.619** (0.473 to 0.771) | **0.670** | **0.675** |" in printed["md"]
    rows = printed["latex"].splitlines()
    assert [line for line in rows if not line.startswith("%")] == GOLDEN["latex"][1:-1]
    assert '<th scope="row">hybrid</th>' in printed["html"]
    assert printed["csv"].splitlines()[0] == "system,study,measure,mean,low,high,n"
    assert json.loads(printed["json"])["kind"] == "scores"
    plain = run("score", QRELS, *RUNS, *BY, "--intervals", "none", "--digits", "1").out
    assert plain.splitlines()[1].split() == ["a", "bm25", "0.5", "0.6", "0.6"]


def test_claims_are_certified(run: Command, tmp_path: Path) -> None:
    """A certificate has at most 12 lines, in the terminal, the page, and analysis.json."""
    out = tmp_path / "out"
    claim = ("--claim", "hybrid > bm25 by ndcg_cut_5", "--out", out)
    code, printed, _ = run("score", DATA / "judgments.csv", *RUNS, *BY, *claim)
    certificate = printed.split("\n\n")[1].splitlines()
    assert (code, len(certificate) <= 12) == (0, True)
    assert certificate[0].startswith("Claim    hybrid scores higher than bm25 by nDCG@5: 0.875")
    (kept,) = json.loads((out / "analysis.json").read_text())["claims"]
    questions = [line["question"] for line in kept["lines"]]
    assert questions[:2] == ["sample of queries", "sample of judges"]
    assert kept["verdict"] in (out / "report.html").read_text("utf-8")


def test_a_board_grows(run: Command, tmp_path: Path) -> None:
    """A board begins with one system; the next is compared with it, and the same one is one."""
    board = tmp_path / "board"
    for system, n in ((RUNS[0], 1), (RUNS[2], 2), (RUNS[0], 2)):
        code, out, err = run("score", QRELS, system, *BY, "--board", board)
        assert (code, err) == (0, ""), err
        assert len([line for line in out.splitlines() if line.split()[0] in ("a", "b")]) == n
    assert out == run("score", QRELS, RUNS[0], RUNS[2], *BY).out
    before = (board / "scores.csv").read_bytes()
    for words, message in {
        (RUNS[1], "-m", "AP"): "analysis.measures: 'P@5' and 'nDCG@5' are only in",
        (RUNS[1], *BY, "--ties", "trec"): "analysis.ties: is trec here and expected in",
        (f"bm25={RUNS[1]}", *BY): "'bm25' has other scores elsewhere",
    }.items():
        assert run("score", QRELS, *words, "--board", board).refuses(message)
        assert (board / "scores.csv").read_bytes() == before
    (tmp_path / "notes.txt").write_text("mine")
    assert run("score", QRELS, RUNS[0], "--board", tmp_path).refuses("is not a leaderboard")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-m", "NDGC@10"), "there is no measure 'NDGC@10'; did you mean nDCG?"),
        (("-m", "wow"), "there is no measure 'wow'"),
        (("-m", "nDCG@0"), "nDCG@0: the cutoff should be"),
        (("-m", "AP(x=2)"), "AP(x=2): 'x' is not a parameter"),
        (("-m", "LAR@5"), "LAR@5: LAR has no cutoff"),
        (("-m", "alpha_nDCG@10"), "alpha_nDCG@10: is a measure of diversity"),
        (("--claim", "a > z"), "there is no system 'z'"),
        (("--claim", "a beats b"), "'a beats b' is not a claim"),
        (("-m", "nDCG@10 AP", "--claim", "a > b by P@7"), "there is no measure 'P@7' in the table"),
        (("a.run",), "two runs are called 'a'"),
    ],
)
def test_one_line_says_what_is_wrong(
    run: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    message: str,
) -> None:
    """Names of measures, claims, and runs that are not there; nothing is written."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(RUNS[0], "a.run")
    shutil.copy(RUNS[1], "b.run")
    outcome = run("score", QRELS, "a.run", "b.run", *words, "--out", "out")
    assert outcome.refuses(f"error: {message}")
    assert outcome.err.count("\n") == 1
    assert not Path("out").exists()


def test_measures_are_listed_and_explained(run: Command) -> None:
    """Without a name all measures are listed, with one it is explained."""
    assert "  nDCG " in run("score", "--measures").out
    assert run("score", "--measures", "map").out.startswith("AP: ")
