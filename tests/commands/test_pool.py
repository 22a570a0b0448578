"""``quem score --pool``: the judging study that it writes, and what it refuses."""

from __future__ import annotations

import csv
from itertools import zip_longest
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.retrieval.made import write_study

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.commands.conftest import Outcome

RUNS = {
    "one_csv": "query,case,rank\nq1,a,1\nq1,b,2\nq2,c,1\nq3,d,1\n",
    "two_csv": "query,case,rank\nq1,c,1\nq1,a,2\nq2,c,1\nq2,d,2\nq3,a,1\n",
}
RETRIEVERS = [{"id": "one", "run": "one.csv"}, {"id": "two", "run": "two.csv"}]


def _candidates(folder: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in csv.DictReader((folder / "candidates.csv").read_text().splitlines()):
        found.setdefault(row["query"], set()).add(row["case"])
        place = folder / "solutions" / row["problem"]
        assert (place / f"{row['id']}.md").exists() or (place / f"{row['id']}.txt").exists()
        assert (folder / "problems" / f"{row['problem']}.md").exists()
    return found


def test_pool_writes_a_judging_study(quem_command: Callable[..., Outcome], tmp_path: Path) -> None:
    """A study without ground truth is pooled; what is written has no mistakes and hides ids."""
    path = write_study(tmp_path, RETRIEVERS, None, ground_truth=None, **RUNS)
    folder = tmp_path / "pool"
    code, out, err = quem_command("score", path, "--pool", folder, "--depth", "2", "--judges", "3")
    assert (code, out) == (0, "")
    assert _candidates(folder) == {"q1": {"a", "b", "c"}, "q2": {"c", "d"}, "q3": {"a", "d"}}
    assert (
        "pool: 7 pairs of query and case by 2 retrievers down to rank 2; 0 judged before, " in err
    )
    assert "7 to judge, for 3 queries\n" in err
    assert err.endswith(f"Next: quem serve {folder}\n")
    study = yaml.safe_load((folder / "study.yaml").read_text())
    assert study["grades"] == ["Not relevant", "Partly relevant", "Relevant", "Highly relevant"]
    assert [one["id"] for one in study["judges"]] == ["J1", "J2", "J3"]
    text = (folder / "solutions/q1/a.md").read_text()
    assert text == "**x:** 1  \n**kind:** p\n"
    code, out, _ = quem_command("check", folder)
    assert code == 0
    assert out.splitlines() == [
        f"{folder / 'study.yaml'}: no errors, no warnings",
        "found: 3 judges, 3 queries, 7 candidates, 7 texts, no rankings yet",
    ]
    # Nothing is written over, and analyzing says what is next.
    assert quem_command("score", path, "--pool", folder)[0] == 1
    code, _, err = quem_command("analyze", path)
    assert (code, "ground_truth: is missing; name" in err, "--pool" in err) == (1, True, True)


def test_pool_leaves_out_what_is_judged(
    quem_command: Callable[..., Outcome], tmp_path: Path
) -> None:
    """By qrels of the study and of a file; both are kept for the qrels of the result."""
    (tmp_path / "qrels.txt").write_text("q1 0 a 2\nq2 0 c 0\n")
    (tmp_path / "more.csv").write_text("query,case,grade\nq3,d,1\n")
    path = write_study(tmp_path, RETRIEVERS, {"qrels": "qrels.txt"}, **RUNS)
    more = ("--judged", tmp_path / "more.csv", "--depth", 2, "--grades", "no,yes")
    code, _, err = quem_command("score", path, *more, "--pool", tmp_path / "x")
    assert code == 0
    assert "; 3 judged before, 4 to judge" in err
    assert _candidates(tmp_path / "x") == {"q1": {"b", "c"}, "q2": {"d"}, "q3": {"a"}}
    rows = (tmp_path / "x/judged.csv").read_text().splitlines()
    assert sorted(rows) == ["q1,a,2", "q2,c,0", "q3,d,1", "query,case,grade"]
    (tmp_path / "next.csv").write_text("query,case\nq3,a\nq1,a\nq3,c\n")
    only = ("--only", tmp_path / "next.csv")
    code, _, err = quem_command("score", path, *more, *only, "--pool", tmp_path / "y")
    assert (code, ", as named; 1 judged before, 2 to judge, for 1 query" in err) == (0, True)
    assert _candidates(tmp_path / "y") == {"q3": {"a", "c"}}
    (tmp_path / "all.csv").write_text(
        "query,case,grade\n" + "".join(f"q{q},{c},1\n" for q in (1, 2, 3) for c in "abcd")
    )
    judged = ("--judged", tmp_path / "all.csv", "--pool", tmp_path / "z")
    for which, remedy in (((), "name others, or a larger --depth"), (only, "judged; name others")):
        code, _, err = quem_command("score", path, *judged, *which)
        assert (code, remedy in err) == (1, True)


def test_documents_are_copied_by_the_ids_of_cases(
    quem_command: Callable[..., Outcome], tmp_path: Path
) -> None:
    """Files named by ids, percent-encoded where these have slashes; safe names in the study."""
    documents = tmp_path / "documents"
    documents.mkdir()
    long = "L" * 150
    ids = ["http://x/y", long, "a.b"]
    for name, text in zip_longest(("http%3A%2F%2Fx%2Fy.txt", f"{long}.txt", "a.b.txt"), ids):
        (documents / name).write_text(f"The text of {text[:3]}\n")
    run = "".join(f"q1,{one},{rank}\n" for rank, one in enumerate(ids, 1))
    path = write_study(
        tmp_path,
        [{"id": "r", "run": "r.csv"}],
        None,
        ground_truth=None,
        cases=None,
        r_csv=f"query,case,rank\n{run}",
        queries_csv="id,text\nq1,red bike\n",
    )
    pool = ("score", path, "--pool", tmp_path / "pool")
    code, _, err = quem_command(*pool)
    assert code == 1
    assert "judges would read nothing of 3 cases (http://x/y, " in err
    assert "--documents FOLDER" in err
    assert not (tmp_path / "pool").exists()
    code, _, err = quem_command(*pool, "--documents", documents)
    assert code == 0, err
    assert _candidates(tmp_path / "pool") == {"q1": set(ids)}
    study = yaml.safe_load((tmp_path / "pool/study.yaml").read_text())
    assert study["problems"] == [{"id": "q1", "title": "red bike", "statement": "problems/q1.md"}]
    shown = sorted(path.read_text() for path in (tmp_path / "pool/solutions/q1").iterdir())
    assert shown == sorted(f"The text of {one[:3]}\n" for one in ids)
    (documents / "a.b.txt").write_bytes(b"\x00\x01\x02")
    code, _, err = quem_command("score", path, "--documents", documents, "--pool", tmp_path / "z")
    assert code == 1
    assert str(documents / "a.b.txt") in err
    assert not (tmp_path / "z").exists()
    (documents / "a.b.txt").unlink()
    code, _, err = quem_command("score", path, "--documents", documents, "--pool", tmp_path / "z")
    assert (code, "judges would read nothing of the case a.b; name the file" in err) == (1, True)


@pytest.mark.parametrize(
    ("more", "keys", "message"),
    [
        (("--grades", "0-0"), {}, "'0-0' is neither a range"),
        (("--grades", "yes"), {}, "neither a range such as 0-3 nor 2 to 10 different labels"),
        (("--grades", "a,A"), {}, "neither a range"),
        (("one.csv",), {}, "leave the runs out"),
        ((), {"queries": None}, "queries: is missing: name the file of the queries"),
        ((), {"queries_csv": "id\nq1\nq2\nq3\n"}, "judges would read nothing of 3 queries"),
        (("--depth", "0"), {}, "--depth"),
    ],
)
def test_mistakes_of_a_pool_are_told(
    more: tuple[str, ...],
    keys: dict[str, object],
    message: str,
    quem_command: Callable[..., Outcome],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One message each, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    path = write_study(tmp_path, RETRIEVERS, None, **{"ground_truth": None, **RUNS, **keys})
    code, out, err = quem_command("score", path, *more, "--pool", tmp_path / "pool")
    assert code in (1, 2)
    assert out == ""
    assert message in " ".join(err.split())
    assert not (tmp_path / "pool").exists()


def test_options_of_pools_need_one(quem_command: Callable[..., Outcome]) -> None:
    """Where runs are scored they are refused, and so are judgments without runs."""
    code, _, err = quem_command("score", "qrels.txt", "a.run", "--judges", 1)
    assert (code, "--judges is for a --pool" in err) == (2, True)
    code, _, err = quem_command("score", "qrels.txt")
    assert (code, "name one run at least" in err) == (2, True)
