"""Runs and judgments of every format, matched and scored."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np
import pandas as pd
import pytest

import quem
from quem.errors import QuemError
from quem.lists import evaluate, measure
from quem.scores.columns import mixed
from quem.scores.read import read_run
from quem.scores.scoring import Scored, score_runs

if TYPE_CHECKING:
    from quem.lists.lists import Ties

DATA = Path(__file__).parent / "data"
GOLDEN = json.loads((DATA / "golden.json").read_text())
SYSTEMS = ("bm25", "dense", "hybrid")
RUNS = {name: str(DATA / f"{name}.run") for name in SYSTEMS}
QRELS = str(DATA / "qrels.txt")
MEASURES = [measure(name) for name in GOLDEN["measures"]]
TIES: tuple[Ties, ...] = ("expected", "given", "trec")


def scored(runs: dict[str, Any], judgments: object = QRELS, **settings: Any) -> Scored:  # noqa: ANN401
    return score_runs(runs, judgments, MEASURES, **settings)


def as_dicts(path: str, case: int, value: int) -> dict[str, dict[str, float]]:
    made: dict[str, dict[str, float]] = {}
    for line in Path(path).read_text().splitlines():
        words = line.split()
        made.setdefault(words[0], {})[words[case]] = float(words[value])
    return made


@pytest.mark.parametrize("ties", TIES)
def test_golden_means(ties: Ties) -> None:
    """Every mean of the golden file, and the same scores from dicts."""
    result = scored(RUNS, ties=ties)
    truth = as_dicts(QRELS, 2, 3)
    for system, name in enumerate(SYSTEMS):
        means = dict(zip(GOLDEN["measures"], result.values[system].mean(axis=0), strict=True))
        assert means == pytest.approx(GOLDEN["means"][ties][name], abs=1e-9)
        own = evaluate(as_dicts(RUNS[name], 2, 4), truth, MEASURES, ties=ties)
        np.testing.assert_allclose(own.values, result.values[system], atol=1e-12)
    assert result.warnings == ()


def test_ir_measures_reads_the_same_files() -> None:
    oracle = "nDCG@5 AP RR P@5 R@5 nDCG Rprec Success@1".split()
    result = score_runs(RUNS, QRELS, [measure(name) for name in oracle], ties="trec")
    for values, path in zip(result.values, RUNS.values(), strict=True):
        theirs = ir_measures.iter_calc(
            [ir_measures.parse_measure(name) for name in oracle],
            ir_measures.read_trec_qrels(QRELS),
            ir_measures.read_trec_run(path),
        )
        held = {(one.query_id, str(one.measure)): one.value for one in theirs}
        expected = [[held[query, name] for name in oracle] for query in result.queries]
        np.testing.assert_allclose(values, expected, atol=1e-9)


GOOD = "q1 Q0 d1 1 3.0 t\nq1 Q0 d2 2 2.0 t\nq2 Q0 d1 1 9 t\nq2 Q0 d3 2 8 t\n"
JUDGED = "q1 0 d1 0\nq1 0 d2 2\nq2 0 d1 1\nq2 0 d3 1\n"
PAIRS = [("q1", "d1", 3.0), ("q1", "d2", 2.0), ("q2", "d1", 9.0), ("q2", "d3", 8.0)]
DICT = {"q1": {"d1": 3.0, "d2": 2.0}, "q2": {"d1": 9.0, "d3": 8.0}}
ORDERS = {"q1": ["d1", "d2"], "q2": ["d1", "d3"]}
LINES = GOOD.splitlines()
CSV = "query,case,score\n" + "".join(f"{q},{c},{s}\n" for q, c, s in PAIRS)
RECORDS = [{"qid": q, "docno": c, "score": s} for q, c, s in PAIRS]
FILES: dict[str, bytes] = {
    "plain.run": GOOD.encode(),
    "tabs and blank lines.run": GOOD.replace(" ", "\t").replace("\n", "\n\n").encode(),
    "crlf and bom.run": b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode(),
    "utf-16.run": GOOD.encode("utf-16"),
    "any order.run": "\n".join(LINES[::-1]).encode(),
    "five words.run": GOOD.replace(" t\n", "\n").encode(),
    "a.run.gz": gzip.compress(GOOD.encode(), mtime=0),
    "a.run.bz2": bz2.compress(GOOD.encode()),
    "packed as its content says.run": lzma.compress(GOOD.encode()),
    "a.csv": CSV.encode(),
    "a.tsv": CSV.replace(",", "\t").encode(),
    "csv without its ending.txt": CSV.replace("query,case,score", "QID,doc_id,sim").encode(),
    "best first.csv": b"query,case\nq1,d1\nq1,d2\nq2,d1\nq2,d3\n",
    "rank.csv": b"topic,document,rank\nq1,d2,2\nq1,d1,1\nq2,d3,2\nq2,d1,1\n",
    "rank does not count.csv": b"topic,item,rank,score\nq1,d2,1,2\nq1,d1,2,3\nq2,d3,1,8\nq2,d1,2,9",
    "quoted.csv": CSV.replace("d1", '"d1"').encode(),
    "a.json": json.dumps(DICT).encode(),
    "lists.json": json.dumps(ORDERS).encode(),
    "mixed.json": json.dumps({"q1": DICT["q1"], "q2": ORDERS["q2"]}).encode(),
    "lines.jsonl": "\n".join(map(json.dumps, RECORDS)).encode(),
    "a.parquet": pd.DataFrame(RECORDS).to_parquet(),
}
PAIRED = [ir_measures.ScoredDoc(*one) for one in PAIRS]
OBJECTS: dict[str, object] = {
    "dict": DICT,
    "orders": ORDERS,
    "pairs": {query: list(items.items()) for query, items in DICT.items()},
    "frame": pd.DataFrame(RECORDS),
    "records": RECORDS,
    "ir_measures": PAIRED,
}


def two(run: object, judgments: object = JUDGED, **settings: Any) -> Scored:  # noqa: ANN401
    return score_runs({"a": run}, judgments, [measure("nDCG@10"), measure("AP")], **settings)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(JUDGED)
    return tmp_path


@pytest.mark.parametrize("name", [*FILES, *OBJECTS])
def test_formats(name: str, folder: Path) -> None:
    if name in FILES:
        (folder / name).write_bytes(FILES[name])
    given = OBJECTS.get(name, name)
    # ir_measures reads files by generators.
    result = two(iter(PAIRED) if name == "ir_measures" else given, "qrels.txt")
    assert result.values.mean(axis=1)[0].tolist() == pytest.approx([0.81546, 0.75], abs=1e-5)
    assert [result.lists(0).of_query(at)[0] for at in (0, 1)] == [["d1", "d2"], ["d1", "d3"]]
    messages = [one.message for one in result.warnings]
    assert len(messages) == (name == "five words.run")
    assert all(one.startswith(f"{name}: its lines have 5 words") for one in messages)


GRADES = [("q1", "d1", 0), ("q1", "d2", 2), ("q2", "d1", 1), ("q2", "d3", 1)]
JUDGMENTS: dict[str, object] = {
    **{name: name for name in ("qrels.txt", "qrels.parquet", "qrels.json")},
    "dict": {"q1": {"d1": False, "d2": 2}, "q2": {"d1": True, "d3": 1}},
    "frame": pd.DataFrame(GRADES, columns=["q_id", "doc", "rel"]),
    "ir_measures": [ir_measures.Qrel(*one) for one in GRADES],
}


@pytest.mark.parametrize("name", JUDGMENTS)
def test_formats_of_judgments(name: str, folder: Path) -> None:
    table = pd.DataFrame(GRADES, columns=["query-id", "corpus-id", "score"])
    table.to_parquet(folder / "qrels.parquet")
    table.to_json(folder / "qrels.json", orient="records")
    assert (two(DICT, JUDGMENTS[name]).values == two(DICT, "qrels.txt").values).all()


def of(name: str, *changes: tuple[str, str]) -> tuple[str, str]:
    text = JUDGED if name == "qrels.txt" else CSV if name == "a.csv" else GOOD
    for old, new in changes:
        text = text.replace(old, new)
    return name, text


PACKED = gzip.compress(GOOD.encode(), mtime=0)
ALONE = "query,case,score\n"
REFUSED: list[tuple[tuple[str, str | bytes], str]] = [
    *((of("a.run", ("3.0", x)), f"a.run:1: score: '{x}' is not") for x in ("abc", "nan", "1e999")),
    (of("a.run", ("3.0", "3,0")), "a.run:1: score: '3,0' is not a finite number; write a"),
    (of("a.run", ("8 t", "\n\nx t")), "a.run:4: has 4 words; a line is `query Q0 case rank score"),
    (of("a.run", ("9 t", "9 t\nq1 Q0 d1 3 1.0 t")), "a.run:4: the case 'd1' is already listed"),
    (of("a.run", ("3.0 t", "3.0")), "a.run:1: has 5 words; a line is"),
    (("a.run", "\n  \n\n"), "a.run: is empty"),
    (("a.run", b"\x00\x01\x02 \n" * 30), "a.run: holds binary data"),
    (("qrels.txt", GOOD), "qrels.txt:1: has 6 words; a line is `query iteration case grade`; this"),
    (("a.run", JUDGED), "a.run:1: has 4 words; a line is `query Q0 case rank score tag`; this"),
    (of("qrels.txt", ("d1 1", "d1 relevant")), "qrels.txt:3: grade: 'relevant' is not a finite"),
    (of("qrels.txt", ("q2 0 d3", "q1 0 d1")), "qrels.txt:4: the case 'd1' is already listed for"),
    (of("a.run", ("q1", "x1"), ("q2", "x2")), "a.run: has none of the queries of the judgments"),
    (("a.run", PACKED[:-12]), "a.run: is compressed, and damaged"),
    (("a.csv", "case,score\nd1,1\n"), "a.csv:1: the header must name a query"),
    (("a.csv", "query,case,points\nq1,d1,1\n"), "a.csv:1: the header must name a score (score, "),
    (("a.csv", f"{ALONE}q1,d1,1\nq1,d2\n"), "a.csv:3: has 2 fields; the header has 3"),
    (("a.json", '{"q1": {"d1": 1,\n "d2" 2}}'), "a.json:2: is not JSON: Expecting ':'"),
    (("a.json", '{"q1": {"d1": 1, "d1": 2}}'), "a.json: the key 'd1' is there twice"),
    (("a.json", "{" * 100_000), "a.json:1: is not JSON"),
    (of("qrels.txt", ("2\n", "0\n"), ("1\n", "0\n")), "nDCG@10 is undefined for all queries"),
]


@pytest.mark.parametrize(("file", "message"), REFUSED)
def test_refused(file: tuple[str, str | bytes], message: str, folder: Path) -> None:
    name, text = file
    (folder / "a.run").write_text(GOOD)
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(QuemError) as caught:
        two("a.run" if name == "qrels.txt" else name, "qrels.txt")
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("none.run", "none.run: file not found"),
        ({}, "a: is empty"),
        ({"q1": {"d1": None}}, "a: query 'q1', case 'd1': score: None is not a finite number"),
        ({"q1": ["d1", "d1"]}, "a: the case 'd1' is already listed for the query 'q1'"),
        ({1: {"d1": 1}, "1": {"d1": 1}}, "a: two queries are called '1'"),
        ({"q1": {"d\ud800": 1}}, "a: query 'q1', case 'd\\ud800': holds half a character"),
        ({"q1": 3}, "a: query 'q1': should be a dict or a list of cases"),
        ([{"query": "q1"}], "a: it must name a query"),
        (3, "a: is an object of int; give a file"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_refused_objects(given: object, message: str) -> None:
    with pytest.raises(QuemError) as caught:
        two(given, "qrels.txt")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"empty": "Zero"}, "empty: should be leave-out or zero, and not 'Zero'"),
        ({"level": 95}, "level: "),
        ({"level": 1}, "level: "),
        ({"samples": -1}, "samples: "),
        ({"seed": -1}, "seed: "),
        ({"systems": {}}, "there is no run; give one at least"),
        ({"systems": {1: DICT, "1": DICT}}, "two runs are called '1'"),
        ({"measures": None}, "None is not a measure"),
        ({"measures": "P@99999999999999999999"}, "P@99999999999999999999: the cutoff should be"),
        (
            {"measures": "nDCG(gain=exponential)", "truth": {"q1": {"d1": 1100}}},
            "nDCG(gain=exponential): query 'q1': scores or",
        ),
        (
            {"measures": "kendall", "systems": {"a": {"q1": ["d1"]}}},
            "kendall is undefined for all "
            "queries: list and ground truth have fewer than two items in common",
        ),
    ],
)
def test_refused_settings(changed: dict[str, Any], message: str) -> None:
    given = {"systems": {"a": DICT}, "truth": {"q1": {"d1": 1, "d2": 0}}, "measures": "AP"}
    with pytest.raises(QuemError) as caught:
        quem.score(**{**given, **changed})
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("run", "judged", "values", "warning"),
    [
        (GOOD[: GOOD.index("q2")], JUDGED, [[0.63093, 0.5], [0, 0]], "a lacks 1 of 2 queries"),
        (f"{GOOD}q9 Q0 d1 1 1 t\n", JUDGED, [[0.63093, 0.5], [1, 1]], "a has 1 query without"),
        (GOOD, JUDGED.replace("d1 0", "d1 -1"), [[0.63093, 0.5], [1, 1]], ""),
        (GOOD, f"{JUDGED}q3 0 d1 0\n", [[0.63093, 0.5], [1, 1]], "1 of 3 queries have no relevant"),
    ],
    ids=["lacking", "more", "below 0", "nothing relevant"],
)
def test_queries_that_are_not_in_both(
    run: str, judged: str, values: list[list[float]], warning: str, folder: Path
) -> None:
    """What counts as 0, and what is left out, with a warning."""
    (folder / "a.run").write_text(run)
    (folder / "qrels.txt").write_text(judged)
    result = two("a.run", "qrels.txt")
    np.testing.assert_allclose(result.values[0], values, atol=1e-5)
    messages = [one.message for one in result.warnings]
    assert len(messages) == bool(warning)
    assert "".join(messages).startswith(warning)
    zero = two("a.run", "qrels.txt", empty="zero").values[0]
    np.testing.assert_allclose(zero[: len(values)], values, atol=1e-5)
    assert (zero[len(values) :] == 0).all()


def test_queries_without_judgments_come_first() -> None:
    run = {"q0": {"a": 2, "b": 1}, "q2": {"c": 1}, "q1": {"x": 2, "b": 1}}
    scored = score_runs({"run": run}, {"q1": {"b": 1}, "q2": {"c": 1}}, [measure("RR")])
    assert scored.values[0, :, 0].tolist() == [0.5, 1]


def test_a_run_as_judgments(folder: Path) -> None:
    (folder / "judged.csv").write_text("query,case,score\nq1,d1,1.5\nq1,d2,2.5\n")
    warnings = [one.message for one in two(DICT, "judged.csv").warnings]
    assert any(one.startswith("judged.csv: most grades are not whole") for one in warnings)


def test_judges() -> None:
    """Mean grades, majorities, each judge, and the human reference of the golden file."""
    result = scored(RUNS, str(DATA / "judgments.csv"))
    table = pd.read_csv(DATA / "judgments.csv", dtype={"query": str})
    means = table.groupby(["query", "case"])["grade"].mean()
    medians = table.groupby(["query", "case"])["grade"].median()  # of 3 judges, the majority
    graded = {"nDCG@5", "nDCG", "Judged@10"}
    for by, truth in ((True, means), (False, medians)):
        nested = {q: truth[q].to_dict() for q in result.queries}
        names = [name for name in GOLDEN["measures"] if (name in graded) == by]
        for system, run in enumerate(RUNS.values()):
            expected = evaluate(as_dicts(run, 2, 4), nested, names)
            columns = [GOLDEN["measures"].index(name) for name in names]
            np.testing.assert_allclose(result.values[system][:, columns], expected.values)
    for judge, values in result.by_judge.items():
        own = table[table["judge"] == judge]
        alone = scored(RUNS, own[["query", "case", "grade"]])
        np.testing.assert_allclose(values, alone.values)
    reference = result.human_reference
    assert reference is not None
    judges = dict(zip(result.by_judge, reference.judges[:, :, 0].mean(axis=1), strict=True))
    assert judges == pytest.approx(GOLDEN["ceiling_nDCG@5"], abs=1e-12)
    assert reference.systems[:, 2, :, 0].mean() == pytest.approx(0.852, abs=5e-4)
    assert scored(RUNS).human_reference is None


def test_two_cases_of_one_hash(folder: Path) -> None:
    """They are told apart by their bytes: in a run, in judgments, and of several judges."""
    first = np.array([b"aaaaaaaa", b"bbbbbbbb"]).view("<u8")
    second = np.array([0x6867666564636261], np.uint64)
    other = second ^ mixed(first[:1]) ^ mixed(first[1:])
    one, two_ = (a.tobytes() + b.tobytes() for a, b in ((first[:1], second), (first[1:], other)))
    assert min(two_) > 32  # else it would be two words
    names = [one, two_]
    lines = b"".join(b"q Q0 %b 1 %d t\n" % (name, 2 - at) for at, name in enumerate(names))
    (folder / "a.run").write_bytes(lines)
    assert len(set(read_run("a.run").key.tolist())) == 1
    for relevant, expected in ((one, 1), (two_, 0.5)):
        (folder / "qrels.txt").write_bytes(b"q 0 %b 1\n" % relevant)
        assert two("a.run", "qrels.txt").values[0, 0, 1] == expected
    rows = b"".join(b"q,%b,%b,%d\n" % (n, j, n == two_) for n in names for j in (b"A", b"B"))
    (folder / "judged.csv").write_bytes(b"query,case,judge,grade\n" + rows)
    assert two("a.run", "judged.csv").values[0, 0, 1] == 0.5


def test_blocks(folder: Path) -> None:
    """Files of many blocks and of bytes that are no UTF-8 have the rows of a plain reader."""
    rng = np.random.default_rng(1)
    lines = [
        b"q%d Q0 %b%d 1 %.5f t" % (n % 700, b"\xe9" * (n % 19), n, value)
        for n, value in enumerate(rng.normal(size=60_000).tolist())
    ]
    for name, end in (("a.run", b"\n"), ("b.run", b" \r\n")):
        (folder / name).write_bytes(end.join(lines))
        read = read_run(name)
        words = [line.split() for line in lines]
        assert [read.queries[at].encode() for at in read.query.tolist()] == [w[0] for w in words]
        assert read.value.tolist() == [float(w[4]) for w in words]
        cases = [case.encode("utf-8", "surrogateescape") for case in read.names(np.arange(60_000))]
        assert cases == [w[2] for w in words]
        assert read.line(59_999) == 60_000


def test_numpy_alone() -> None:
    code = (
        "import sys; from quem.scores.scoring import score_runs; from quem.lists import measure\n"
        f"score_runs({{'a': {RUNS['bm25']!r}}}, {QRELS!r}, [measure('AP')])\n"
        "print([m for m in ('pandas', 'scipy', 'pydantic') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
