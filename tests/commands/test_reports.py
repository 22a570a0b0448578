"""``quem analyze``, ``compare``, and ``plan``: formats, processes, doubts, and how they end."""

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
from quem.report.files import json_text
from tests.examples import JUDGES, PROBLEMS, long_csv, study_with
from tests.scores.made import write_retrievers
from tests.store.made import hold_session

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.commands.conftest import Command

PLAIN = long_csv()
SUBJECTS = study_with()["subjects"]
S7 = {"id": "S7", "experience": 3}
THIRD = {key: [{"id": f"{key[0].upper()}{n}"} for n in (1, 2, 3)] for key in ("judges", "problems")}


def ranked(*solvers: str) -> str:
    cells = {(j, p, s): i for j in JUDGES for p in PROBLEMS for i, s in enumerate(solvers, 1)}
    return long_csv(cells)


def without(pattern: str) -> str:
    return "".join(r for r in PLAIN.splitlines(keepends=True) if not re.match(pattern, r))


# The change of the example or its table, and the message.
DOUBTS: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "judge-less-experienced",
        {"judges": [{"id": "J1"}, {"id": "J2", "experience": 10}]},
        PLAIN,
        "judge J2 (10 years) has less experience than S6 (12 years)",
    ),
    ("few-subjects", {"subjects": SUBJECTS[:4]}, without(".*,S[56],"), "only 4 subjects have"),
    ("no-ranks", {"subjects": [*SUBJECTS, S7]}, PLAIN, "S7 has no ranks"),
    ("no-system", {"systems": []}, without(".*,sys,"), "no system has ranks"),
    (
        "many-systems",
        {"systems": [{"id": name} for name in ("sys", "b", "c", "d")]},
        ranked("S1", "b", "S3", "c", "sys", "S2", "S4", "d", "S5", "S6"),
        "4 systems among 6 subjects shift",
    ),
    (
        "not-in-rankings",
        THIRD,
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


@pytest.mark.parametrize(("code", "changes", "table", "message"), DOUBTS)
def test_a_study_shows_a_doubt(
    code: str, changes: dict[str, Any], table: str, message: str, make_study: Callable[..., Path]
) -> None:
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
    study = make_study(study_with())
    out = study.parent / "out"
    words = ("analyze", study, "--out", out, "--tables", "none", "--figures")
    assert run(*words, "pdf,png", "--dpi", "300").code == 0
    stems = {path.stem for path in out.glob("*.pdf")}
    assert "line" in stems
    assert stems == {path.stem for path in out.glob("*.png")}
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
    where: dict[str, Any] = {"processes": False, "protocol": "tcp://", "dashboard_address": None}
    with LocalCluster(n_workers=2, threads_per_worker=1, **where) as cluster:
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


STUDIES = Path(__file__).resolve().parents[2] / "studies"
PLANNERS = STUDIES / "assembly-planners" / "study.yaml"
QUICK = ("--figures", "none")


@pytest.fixture
def studies(tmp_path: Path) -> Path:
    ignored = shutil.ignore_patterns("*-*e")
    return shutil.copytree(PLANNERS.parent, tmp_path / "studies", ignore=ignored)


def test_a_report_is_written_beside_the_study(
    run: Command, studies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Summary on stdout, and every file that there is something for; JSON writes nothing.

    That of several studies is in the current folder.
    """
    before = sorted(studies.iterdir())
    words = ("compare", studies / "study.yaml", "--level", 0.9)
    code, out, _ = run(*words, "--json")
    assert (code, sorted(studies.iterdir())) == (0, before)
    printed = json.loads(out)
    assert printed["settings"] == {"level": 0.9, "systems": []}
    code, summary, err = run(*words)
    folder = studies / "study-compare"
    assert (code, summary.splitlines()[0]) == (0, printed["studies"][0]["title"])
    assert err.endswith(f"\nReport: {folder / 'report.html'}\n")
    assert (folder / "analysis.json").read_text("utf-8") == out
    assert {file.name for file in folder.iterdir()} >= {"versions.svg", "differences.csv"}
    (here := tmp_path / "here").mkdir()
    monkeypatch.chdir(here)
    several = run("compare", studies / "study.yaml", studies / "next-year.yaml", *QUICK)
    assert (several.code, "Versions of Fitter" in several.out) == (0, True)
    assert [path.name for path in here.iterdir()] == ["study-compare"]


def test_retrievers_are_compared(run: Command, tmp_path: Path) -> None:
    path = write_retrievers(tmp_path, "one", {"a": 0.3, "b": 0.9, "c": 1.0})
    assert run("compare", path).out.startswith("Study one\n")
    folder = tmp_path / "one-compare"
    assert {file.name for file in folder.iterdir()} == {
        *("report.html", "analysis.json", "means.csv", "differences.csv", "scores.csv"),
        *("scores.svg", "table.md", "table.tex", "table.html"),
    }
    assert run("compare", path, "--json").out == (folder / "analysis.json").read_text("utf-8")
    assert run("compare", path, PLANNERS).refuses(f"error: {PLANNERS}: kind: ")
    assert run("compare", PLANNERS, path).refuses("this is a retrieval study")
    assert run("compare", STUDIES / "bicycles" / "study.yaml", "--no-code").refuses(".python: ")


def test_mistakes_of_all_studies_are_told_at_once(run: Command, studies: Path) -> None:
    both = (studies / "study.yaml", studies / "next-year.yaml")
    before = sorted(studies.iterdir())
    for path in both:
        text = path.read_text("utf-8")
        path.write_text(text.replace("experience_unit", "experience_units"), "utf-8")
    places = [f"{both[0]}:9:1: experience_units", f"{both[1]}:10:1: experience_units"]
    assert run("compare", *both).refuses(*places)
    assert sorted(studies.iterdir()) == before


def test_an_open_session_is_read_only_with_reveal(run: Command, judging_study: Path) -> None:
    hold_session(judging_study).close()
    words = ("compare", judging_study, PLANNERS, "--json")
    assert run(*words).refuses("--reveal")
    code, out, err = run(*words, "--reveal")
    assert (code, json.loads(out)["studies"][0]["id"]) == (0, "made-up")
    assert "warning: session-open: made-up: " in err


SMALL = ("--judges", "2-3", "--subjects", "6,9-10", "--problems", "3")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_plan_is_printed_and_written(here: Path, run: Command) -> None:
    """The summary goes to stdout, warnings to stderr, and the report beside."""
    code, out, err = run("plan", *SMALL, "--simulate", 30, "--width", 3.8, "--seed", 3)
    assert code == 0
    assert "30 simulated studies of each design" in out
    assert "warning: noise-assumed" in err
    assert "warning" not in out
    assert err.endswith("Report: quem-plan/report.html\n")
    names = {"report.html", "analysis.json", "designs.csv", "growth.svg"}
    assert {path.name for path in (here / "quem-plan").iterdir()} >= names


def test_json_is_that_of_the_result(here: Path, run: Command) -> None:
    """--json prints what `quem.plan` gives, and writes nothing; numbers are read in every way."""
    words = (
        *("--width", 3.5, "--person", 0.5, "--noise", "high", "--simulate", 20, "--seed", 9),
        *("--subjects", "6-8,9", "--judges", "2,4", "--problems", "3-4", "--minutes", 4),
        *("--solving-minutes", 90, "--systems", 3, "--level", 0.9, "--experience", "2-10.5"),
        *("--reference-population", "0-5-15:60-40"),
    )
    given: dict[str, Any] = {"width": 3.5, "person": 0.5, "noise": "high", "simulate": 20}
    given |= {"subjects": range(6, 10), "judges": (2, 4), "problems": (3, 4), "minutes": 4}
    given |= {"solving_minutes": 90, "systems": 3, "level": 0.9, "experience": (2, 10.5)}
    population = {"years": (0, 5, 15), "share": (60, 40)}
    result = quem.plan(**given, seed=9, reference_population=population)
    assert run("plan", *words, "--json").out == json_text(result.to_dict())
    assert list(here.iterdir()) == []


def test_plans_that_end_early_write_nothing(
    here: Path, run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is missing ends with 1; Ctrl-C in the simulation with 130."""
    assert run("plan", "no-such.yaml").refuses("no-such.yaml: file not found")

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("quem.planning.planner.simulate", interrupted)
    assert run("plan", "--width", 3, "--simulate", 10).refuses("Interrupted.", code=130)
    assert list(here.iterdir()) == []
