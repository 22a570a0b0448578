"""``quem score``: what it prints, writes, and refuses; the judging study of ``--pool``."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest
import yaml

from tests.retrieval.made import write_study

if TYPE_CHECKING:
    from tests.commands.conftest import Command

DATA = Path(__file__).resolve().parents[1] / "scores" / "data"
GOLDEN = json.loads((DATA / "golden.json").read_text())
RUNS = [str(DATA / f"{name}.run") for name in ("bm25", "dense", "hybrid")]
QRELS = str(DATA / "qrels.txt")
BY = ("-m", "nDCG@5 AP P@5")


FEW = "warning: there are only 12 queries"


def test_means_and_differences_are_golden(run: Command, tmp_path: Path) -> None:
    """Files have each interval and p value of the golden file."""
    folder = tmp_path / "out"
    code, _, err = run("score", QRELS, *RUNS, *BY, "--out", folder)
    assert (code, err.startswith(FEW), err.count("\n")) == (0, True, 1)
    means = pd.read_csv(folder / "means.csv").set_index(["system", "measure"])
    for system, own in GOLDEN["intervals_seed_0"].items():
        ends = [means.loc[(system, "nDCG@5"), end] for end in ("low", "high")]
        assert ends == pytest.approx(own, abs=1e-9)
    found = pd.read_csv(folder / "differences.csv").to_dict("records")
    for own, golden in zip(found, GOLDEN["differences"], strict=True):
        assert {key: own[key] for key in golden} == pytest.approx(golden, abs=1e-9)
    inputs = json.loads((folder / "analysis.json").read_text())["origin"]["inputs"]
    names = ["qrels.txt", "bm25.run", "dense.run", "hybrid.run"]
    assert [Path(one["path"]).name for one in inputs] == names
    written = {"report.html", "scores.svg", "scores.csv", "table.md", "table.tex", "table.html"}
    assert written < {file.name for file in folder.iterdir()}


def test_formats(run: Command) -> None:
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
        assert (code, err.startswith(FEW), err.count("\n")) == (0, True, 1)
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
    assert "  nDCG " in run("score", "--measures").out
    assert run("score", "--measures", "map").out.startswith("AP: ")


POOLED = {
    "one_csv": "query,case,rank\nq1,a,1\nq1,b,2\nq2,c,1\nq3,d,1\n",
    "two_csv": "query,case,rank\nq1,c,1\nq1,a,2\nq2,c,1\nq2,d,2\nq3,a,1\n",
}
RETRIEVERS = [{"id": "one", "run": "one.csv"}, {"id": "two", "run": "two.csv"}]


def candidates(folder: Path) -> dict[str, set[str]]:
    """The cases of each query that are to be judged, which have texts."""
    found: dict[str, set[str]] = {}
    for row in csv.DictReader((folder / "candidates.csv").read_text().splitlines()):
        found.setdefault(row["query"], set()).add(row["case"])
        place = folder / "solutions" / row["problem"]
        assert (place / f"{row['id']}.md").exists() or (place / f"{row['id']}.txt").exists()
        assert (folder / "problems" / f"{row['problem']}.md").exists()
    return found


def test_pool_writes_a_judging_study(run: Command, tmp_path: Path) -> None:
    """A study without ground truth is pooled; what is written has no mistakes and hides ids."""
    path = write_study(tmp_path, RETRIEVERS, None, ground_truth=None, **POOLED)
    folder = tmp_path / "pool"
    code, out, err = run("score", path, "--pool", folder, "--depth", "2", "--judges", "3")
    assert (code, out) == (0, "")
    assert candidates(folder) == {"q1": {"a", "b", "c"}, "q2": {"c", "d"}, "q3": {"a", "d"}}
    assert "pool: 7 pairs of query and case by 2 retrievers down to rank 2; 0 judged before" in err
    assert err.endswith(f"Next: quem serve {folder}\n")
    study = yaml.safe_load((folder / "study.yaml").read_text())
    assert study["grades"] == ["Not relevant", "Partly relevant", "Relevant", "Highly relevant"]
    assert [one["id"] for one in study["judges"]] == ["J1", "J2", "J3"]
    assert (folder / "solutions/q1/a.md").read_text() == "**x:** 1  \n**kind:** p\n"
    code, out, _ = run("check", folder)
    assert (code, "no errors, no warnings" in out) == (0, True)
    assert "3 judges, 3 queries, 7 candidates, 7 texts" in out
    # Nothing is written over, and analyzing says what is next.
    assert run("score", path, "--pool", folder).refuses("pool")
    assert run("analyze", path).refuses("ground_truth: is missing; name", "--pool")


def test_pool_leaves_out_what_is_judged(run: Command, tmp_path: Path) -> None:
    """By qrels of the study and of a file; both are kept for the qrels of the result."""
    (tmp_path / "qrels.txt").write_text("q1 0 a 2\nq2 0 c 0\n")
    (tmp_path / "more.csv").write_text("query,case,grade\nq3,d,1\n")
    path = write_study(tmp_path, RETRIEVERS, {"qrels": "qrels.txt"}, **POOLED)
    more = ("--judged", tmp_path / "more.csv", "--depth", 2, "--grades", "no,yes")
    code, _, err = run("score", path, *more, "--pool", tmp_path / "x")
    assert (code, "; 3 judged before, 4 to judge" in err) == (0, True)
    assert candidates(tmp_path / "x") == {"q1": {"b", "c"}, "q2": {"d"}, "q3": {"a"}}
    rows = (tmp_path / "x/judged.csv").read_text().splitlines()
    assert sorted(rows) == ["q1,a,2", "q2,c,0", "q3,d,1", "query,case,grade"]
    (tmp_path / "next.csv").write_text("query,case\nq3,a\nq1,a\nq3,c\n")
    only = ("--only", tmp_path / "next.csv")
    code, _, err = run("score", path, *more, *only, "--pool", tmp_path / "y")
    assert (code, ", as named; 1 judged before, 2 to judge, for 1 query" in err) == (0, True)
    assert candidates(tmp_path / "y") == {"q3": {"a", "c"}}
    every = [f"q{q},{c},1\n" for q in (1, 2, 3) for c in "abcd"]
    (tmp_path / "all.csv").write_text("".join(["query,case,grade\n", *every]))
    judged = ("score", path, "--judged", tmp_path / "all.csv", "--pool", tmp_path / "z")
    assert run(*judged).refuses("name others, or a larger --depth")
    assert run(*judged, *only).refuses("judged; name others")


def test_documents_are_copied_by_the_ids_of_cases(run: Command, tmp_path: Path) -> None:
    """Files named by ids, percent-encoded where these have slashes; safe names in the study."""
    documents, pool = tmp_path / "documents", tmp_path / "pool"
    documents.mkdir()
    texts = {"http://x/y": "One.\n", "L" * 150: "Two.\n", "a.b": "Three.\n"}
    for name, text in texts.items():
        (documents / f"{name.replace(':', '%3A').replace('/', '%2F')}.txt").write_text(text)
    ranked = "".join(f"q1,{one},{rank}\n" for rank, one in enumerate(texts, 1))
    path = write_study(
        tmp_path,
        [{"id": "r", "run": "r.csv"}],
        None,
        ground_truth=None,
        cases=None,
        r_csv=f"query,case,rank\n{ranked}",
        queries_csv="id,text\nq1,red bike\n",
    )
    words = ("score", path, "--pool", pool)
    assert run(*words).refuses("judges would read nothing of 3 cases (http://x/y", "--documents")
    assert not pool.exists()
    assert run(*words, "--documents", documents).code == 0
    assert candidates(pool) == {"q1": set(texts)}
    study = yaml.safe_load((pool / "study.yaml").read_text())
    assert study["problems"] == [{"id": "q1", "title": "red bike", "statement": "problems/q1.md"}]
    shown = [file.read_text() for file in (pool / "solutions/q1").iterdir()]
    assert sorted(shown) == sorted(texts.values())
    again = ("score", path, "--pool", tmp_path / "z", "--documents", documents)
    (documents / "a.b.txt").write_bytes(b"\x00\x01\x02")
    assert run(*again).refuses(documents / "a.b.txt")
    (documents / "a.b.txt").unlink()
    assert run(*again).refuses("judges would read nothing of the case a.b")
    assert not (tmp_path / "z").exists()


@pytest.mark.parametrize(
    ("more", "keys", "code", "message"),
    [
        ("--grades 0-0", {}, 2, "'0-0' is neither a range"),
        ("--grades yes", {}, 2, "neither a range such as 0-3 nor 2 to 10 different labels"),
        ("--grades a,A", {}, 2, "neither a range"),
        ("--depth 0", {}, 2, "--depth"),
        ("one.csv", {}, 2, "leave the runs out"),
        ("", {"queries": None}, 1, "queries: is missing: name the file of the queries"),
        ("", {"queries_csv": "id\nq1\nq2\nq3\n"}, 1, "judges would read nothing of 3 queries"),
    ],
)
def test_mistakes_of_a_pool_are_told(
    more: str,
    keys: dict[str, object],
    code: int,
    message: str,
    run: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    path = write_study(tmp_path, RETRIEVERS, None, **{"ground_truth": None, **POOLED, **keys})
    outcome = run("score", path, *more.split(), "--pool", tmp_path / "pool")
    assert outcome.refuses(message, code=code)
    assert not (tmp_path / "pool").exists()
