"""``quem analyze``: formats of a report, several processes, and what is doubtful."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from distributed import LocalCluster
from PIL import Image

import quem
from tests.examples import JUDGES, PROBLEMS, long_csv, study_with

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.commands.conftest import Command

PLAIN = long_csv()
SUBJECTS = study_with()["subjects"]
S7 = {"id": "S7", "experience": 3}
THIRD = {key: [{"id": f"{key[0].upper()}{n}"} for n in (1, 2, 3)] for key in ("judges", "problems")}


def ranked(*solvers: str) -> str:
    """Rank solvers as they are named, worst first, by every judge on every problem."""
    cells = {(j, p, s): i for j in JUDGES for p in PROBLEMS for i, s in enumerate(solvers, 1)}
    return long_csv(cells)


def without(pattern: str) -> str:
    """The table without some rows."""
    return "".join(r for r in PLAIN.splitlines(keepends=True) if not re.match(pattern, r))


# The change of the example or its table, and the message.
DOUBTS: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "judge-less-experienced",
        {"judges": [{"id": "J1", "experience": 20}, {"id": "J2", "experience": 10}]},
        PLAIN,
        "judge J2 (10 years) has less experience than S6 (12 years)",
    ),
    ("few-subjects", {"subjects": SUBJECTS[:4]}, without(".*,S[56],"), "only 4 subjects have"),
    (
        "no-ranks",
        {"subjects": [*SUBJECTS, S7]},
        PLAIN,
        "S7 has no ranks",
    ),
    ("no-system", {"systems": []}, without(".*,sys,"), "no system has ranks"),
    (
        "many-systems",
        {"systems": [{"id": name} for name in ("sys", "b", "c", "d")]},
        ranked("S1", "b", "S3", "c", "sys", "S2", "S4", "d", "S5", "S6"),
        "4 systems among 6 subjects shift",
    ),
    (
        "not-in-rankings",
        {
            key: [{"id": f"{key[0].upper()}{n}"} for n in (1, 2, 3)]
            for key in ("judges", "problems")
        },
        PLAIN,
        "judge J3 and problem P3 are not in the rankings",
    ),
    ("uneven-system", {}, without(".*,P2,sys"), "sys was ranked on 1 of 2 problems only"),
    ("uneven-system", {}, without("J2,.*,sys"), "Only 1 of 2 judges ranked sys"),
    (
        "ignored-column",
        {},
        PLAIN.replace("\n", ",x\n").replace("rank,x", "rank,note"),
        "the column 'note' is not read",
    ),
]


def test_the_example_has_no_doubts(make_study: Callable[..., Path]) -> None:
    """The unchanged example has none of the warnings."""
    found = quem.analyze(quem.load_study(make_study(study_with()))).warnings
    assert {one.code for one in found} <= {"no-reference", "decisive"}


@pytest.mark.parametrize(("code", "changes", "table", "message"), DOUBTS)
def test_a_study_shows_a_doubt(
    code: str, changes: dict[str, Any], table: str, message: str, make_study: Callable[..., Path]
) -> None:
    """Each is found where it should be, and said with its numbers."""
    path = make_study(study_with(**changes), rankings__csv=table)
    found = quem.analyze(quem.load_study(path)).warnings
    assert [one.code for one in found if message in one.message] == [code]


def test_a_doubt_is_told_in_every_output(make_study: Callable[..., Path], run: Command) -> None:
    """In the summary, in the JSON, and on stderr of each command."""
    path = make_study(study_with(), rankings__csv=without(".*,P2,sys"))
    checked = run("check", path).err
    (line,) = (one for one in checked.splitlines() if one.startswith("warning: uneven-system: "))
    _, out, err = run("analyze", path, "--json")
    assert f"{line}\n" in err
    message = line.removeprefix("warning: uneven-system: ")
    assert {"code": "uneven-system", "message": message} in json.loads(out)["warnings"]
    assert "uneven-system: " in quem.analyze(quem.load_study(path)).summary()


def test_the_command_takes_several_or_none(make_study: Callable[..., Path], run: Command) -> None:
    """Formats come with commas or one by one; what an earlier report left is removed."""
    study = make_study(study_with())
    out = study.parent / "out"
    for words, expected in (
        ([], {"csv", "py", "R"}),
        (["--tables", "markdown,latex"], {"md", "tex"}),
        (["--tables", "csv", "--tables", "markdown"], {"csv", "md", "py", "R"}),
        (["--tables", "none"], set()),
    ):
        assert run("analyze", study, "--out", out, "--figures", "none", *words).code == 0
        endings = {path.suffix[1:] for path in out.iterdir()} - {"json", "html"}
        assert endings == expected
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "All numbers are in analysis.json" in page
    assert "<svg" in page


def test_figures_for_print(make_study: Callable[..., Path], run: Command) -> None:
    """As PDF with its fonts, always the same, and as PNG of the wanted density."""
    study = make_study(study_with())
    out = study.parent / "out"
    words = ("analyze", study, "--out", out, "--tables", "none", "--figures")
    assert run(*words, "svg").code == 0
    assert run(*words, "pdf,png", "--dpi", "300").code == 0
    stems = {path.stem for path in out.glob("*.pdf")}
    assert "line" in stems
    assert stems == {path.stem for path in out.glob("*.png")}
    assert not list(out.glob("*.svg"))
    pdf = (out / "line.pdf").read_bytes()
    assert pdf.startswith(b"%PDF-")
    assert b"/FontFile2" in pdf
    with Image.open(out / "line.png") as picture:
        assert picture.width == 2375  # 760 pixels of the drawing at 96 to the inch
    assert run(*words, "pdf").code == 0
    assert (out / "line.pdf").read_bytes() == pdf


BIKES = Path(__file__).resolve().parents[2] / "studies" / "ccbr" / "bikes.csv"


@pytest.fixture
def dialogue(tmp_path: Path) -> Path:
    """A study that takes a second."""
    shutil.copy(BIKES, tmp_path)
    path = tmp_path / "study.yaml"
    path.write_text(
        "kind: dialogue\ntitle: Bikes\ncases: {file: bikes.csv, class: fault, id: bike}\n"
        "analysis: {orders: 1, samples: 99}\n"
    )
    return path


def test_one_process_two_and_a_cluster_say_the_same(run: Command, dialogue: Path) -> None:
    """With --json the result is printed and nothing written; a report says the same."""
    one = run("analyze", dialogue, "--json")
    assert json.loads(one.out)["kind"] == "dialogue"
    assert run("analyze", dialogue, "--json", "--jobs", 2).out == one.out
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        words = ("analyze", dialogue, "--json", "--cluster", cluster.scheduler_address)
        assert run(*words).out == one.out
    folder = dialogue.with_name("study-report")
    assert not folder.exists()
    code, _, err = run("analyze", dialogue)
    assert (code, "Report:" in err) == (0, True)
    assert {path.name for path in folder.iterdir()} >= {"rank-quality.svg", "scores.csv"}
    assert (folder / "analysis.json").read_text("utf-8") == one.out


def test_check_simulates_nothing(run: Command, dialogue: Path) -> None:
    """`check` counts the input and writes nothing; it detects a constant attribute."""
    code, out, _ = run("check", dialogue)
    assert (code, "found: 64 cases, 10 attributes" in out) == (0, True)
    assert len(list(dialogue.parent.iterdir())) == 2
    (dialogue.parent / "c.csv").write_text("a,b,class\n1,x,A\n2,x,B\n3,x,A\n")
    dialogue.write_text("kind: dialogue\ncases: c.csv\n")
    assert "warning: constant-attribute: " in run("check", dialogue).err
