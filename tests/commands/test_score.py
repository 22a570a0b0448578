"""``quem score``: what it prints, writes, and refuses; numbers are in tests/scores."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.commands.conftest import Outcome

    Command = Callable[..., Outcome]

DATA = Path(__file__).resolve().parents[1] / "scores" / "data"
GOLDEN = json.loads((DATA / "golden.json").read_text())
RUNS = [str(DATA / f"{name}.run") for name in ("bm25", "dense", "hybrid")]
QRELS = str(DATA / "qrels.txt")
BY = ("-m", "nDCG@5 AP P@5")


def test_means_and_differences_are_golden(quem_command: Command, tmp_path: Path) -> None:
    """Files have each mean, interval, and p value of the golden file."""
    folder = tmp_path / "out"
    code, _, err = quem_command("score", QRELS, *RUNS, *BY, "--out", folder)
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
    document = json.loads((folder / "analysis.json").read_text("utf-8"))
    assert [Path(one["path"]).name for one in document["origin"]["inputs"]] == [
        "qrels.txt", "bm25.run", "dense.run", "hybrid.run",
    ]  # fmt: skip
    names = {"report.html", "scores.svg", "scores.csv", "table.md", "table.tex", "table.html"}
    assert names < {file.name for file in folder.iterdir()}


def test_formats(quem_command: Command) -> None:
    """The table is printed as text, Markdown, LaTeX, HTML, CSV, and JSON."""
    printed = {
        form: quem_command("score", QRELS, *RUNS, *BY, "--format", form)[1]
        for form in ("text", "md", "latex", "html", "csv", "json")
    }
    assert printed["text"].splitlines()[3].split() == [
        "c", "hybrid", "0.619*", "(0.473", "to", "0.771)", "0.670*", "0.675*",
    ]  # fmt: skip
    assert "| c | hybrid | **0.619** (0.473 to 0.771) | **0.670** | **0.675** |" in printed["md"]
    rows = printed["latex"].splitlines()
    assert [line for line in rows if not line.startswith("%")] == GOLDEN["latex"][1:-1]
    assert '<th scope="row">hybrid</th>' in printed["html"]
    assert printed["csv"].splitlines()[0] == "system,study,measure,mean,low,high,n"
    assert json.loads(printed["json"])["kind"] == "scores"
    plain = quem_command("score", QRELS, *RUNS, *BY, "--intervals", "none", "--digits", "1")[1]
    assert plain.splitlines()[1].split() == ["a", "bm25", "0.5", "0.6", "0.6"]


def test_claims_are_certified(quem_command: Command, tmp_path: Path) -> None:
    """A certificate has at most 12 lines, in the terminal, the page, and analysis.json."""
    judged = DATA / "judgments.csv"
    claim = "hybrid > bm25 by ndcg_cut_5"
    command = ("score", judged, *RUNS, *BY, "--claim", claim, "--out", tmp_path / "out")
    code, out, _ = quem_command(*command)
    certificate = out.split("\n\n")[1].splitlines()
    assert code == 0
    assert certificate[0].startswith("Claim    hybrid scores higher than bm25 by nDCG@5: 0.875")
    assert len(certificate) <= 12
    document = json.loads((tmp_path / "out" / "analysis.json").read_text("utf-8"))
    (kept,) = document["claims"]
    assert [line["question"] for line in kept["lines"]][:2] == [
        "sample of queries",
        "sample of judges",
    ]
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert kept["verdict"] in page


def test_a_board_grows(quem_command: Command, tmp_path: Path) -> None:
    """A board begins with one system; the next is compared with it, and the same one is one."""
    board = tmp_path / "board"
    for run, n in ((RUNS[0], 1), (RUNS[2], 2), (RUNS[0], 2)):
        code, out, err = quem_command("score", QRELS, run, *BY, "--board", board)
        assert (code, err) == (0, ""), err
        rows = [line for line in out.splitlines() if line.split()[0] in ("a", "b")]
        assert len(rows) == n
    assert "(paired randomization test, p <= 0.05)" in out
    both = quem_command("score", QRELS, RUNS[0], RUNS[2], *BY)[1]
    assert out == both
    for words, message in {
        (RUNS[1], "-m", "AP"): "analysis.measures: 'P@5' and 'nDCG@5' are only in",
        (RUNS[1], *BY, "--ties", "trec"): "analysis.ties: is trec here and expected in",
        (f"bm25={RUNS[1]}", *BY): "'bm25' has other scores elsewhere; give the newer one another",
    }.items():
        before = (board / "scores.csv").read_bytes()
        code, _, err = quem_command("score", QRELS, *words, "--board", board)
        assert (code, message in err) == (1, True), err
        assert (board / "scores.csv").read_bytes() == before
    (tmp_path / "notes.txt").write_text("mine")
    code, _, err = quem_command("score", QRELS, RUNS[0], *BY, "--board", tmp_path)
    assert (code, "is not a leaderboard" in err) == (1, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-m", "NDGC@10"), "there is no measure 'NDGC@10'; did you mean nDCG?"),
        (("-m", "wow"), "there is no measure 'wow'; `quem score --measures` lists them"),
        (("-m", "nDCG@0"), "nDCG@0: the cutoff should be at least 1"),
        (("-m", "AP(x=2)"), "AP(x=2): 'x' is not a parameter of AP; it has k, rel"),
        (("-m", "LAR@5"), "LAR@5: LAR has no cutoff"),
        (("-m", "alpha_nDCG@10"), "alpha_nDCG@10: is a measure of diversity"),
        (("--claim", "a > z"), "there is no system 'z'; there are a, b"),
        (("--claim", "a beats b"), "'a beats b' is not a claim; write 'A > B' or 'A > B by AP'"),
        (
            ("-m", "nDCG@10 AP", "--claim", "a > b by P@7"),
            "there is no measure 'P@7' in the table; there are nDCG@10, AP",
        ),
        (("a.run",), "two runs are called 'a'; write NAME=FILE"),
    ],
)
def test_one_line_says_what_is_wrong(
    quem_command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    message: str,
) -> None:
    """Names of measures, claims, and runs that are not there end with 1, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(RUNS[0], "a.run")
    shutil.copy(RUNS[1], "b.run")
    code, out, err = quem_command("score", QRELS, "a.run", "b.run", *words, "--out", "out")
    assert (code, out, err) == (1, "", f"error: {message}\n")
    assert not Path("out").exists()


def test_measures_are_listed_and_explained(quem_command: Command) -> None:
    """Without a name all measures are listed, with one it is explained."""
    listed = quem_command("score", "--measures")[1]
    assert "  nDCG " in listed
    assert quem_command("score", "--measures", "map")[1].startswith("AP: ")
