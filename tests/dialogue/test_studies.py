"""Studies of dialogues from the file to the result, with strategies of one's own."""

from __future__ import annotations

import re
import shutil
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import kendalltau

import quem
from quem.dialogue.result import DialogueResult
from quem.errors import QuemError
from quem.report.files import report_files
from tests.dialogue.made import CASES, write

if TYPE_CHECKING:
    from quem.dialogue.loading import DialogueStudy

FOLDER = Path(__file__).resolve().parents[2] / "studies" / "ccbr"
QUICK: dict[str, Any] = {"orders": 2, "samples": 99}


def analyze(path: Path, **settings: Any) -> DialogueResult:  # noqa: ANN401
    result = quem.analyze(quem.load_study(path), **{**QUICK, **settings})
    assert isinstance(result, DialogueResult)
    return result


def test_own_parts_do_as_ours(tmp_path: Path) -> None:
    cases = "cases: {file: cases.csv, class: fault, categorical: all}\n"
    own = "strategies: [{name: mine, function: mine:no_difference}, DD]\n"
    result = analyze(write(tmp_path, f"{cases}{own}users: [T5 0.3]\n"))
    dialogues = result.findings.found.dialogues
    assert result.findings.table.systems == ("mine", "DD")
    assert_array_equal(dialogues.stop[:, 0], dialogues.stop[:, 1])
    assert_allclose(dialogues.quality[:, 0], dialogues.quality[:, 1])
    assert {path.name for path in result.inputs} == {"study.yaml", "cases.csv", "mine.py"}


def own(function: str, name: str = "m") -> str:
    return f"strategies: [{{name: {name}, function: '{function}'}}]"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (own("mine:broken"), "the strategy m (mine:broken) raised KeyE"),
        (own("mine:text"), "gave str, not an array of numbers"),
        (own("mine:wide"), "it should be (3, 7): one row per problem"),
        (own("mine:far"), "gave the distance 1.5; distances go from"),
        (own("mine:unknown"), "gave the distance nan"),
        (own("mine:none"), "study.yaml:3:34: strategies[1].function: "),
        (own("mine.py"), "does not name a Python function"),
        (own("yours:x"), "there is no file yours.py"),
        (own("mine:far", "DD"), "DD is one of the paper's"),
        ("strategies: [XX]", "study.yaml:3:14: strategies[1]: there is no strategy 'XX'"),
        ("strategies: [DD, DD]", "duplicate strategy: DD"),
        ("users: [T5]", "users[1]: the user T5 needs b"),
        ("users: [T5 2]", "2 is not between 0 and 1"),
        ("users: [DL 0.1]", "the user DL has no threshold"),
        ("users: [T05 0.1]", "there is no user 'T05'"),
        ("users: [T5 0.1, t5 0.10]", "duplicate user"),
        ("queries: separate", "separate queries need a file"),
        ("queries: {file: cases.csv, protocol: leave-one-in}", "the cases are the targets; leave"),
        ("queries: there.csv", "queries.file: there is no file 'there.csv'"),
        ("questions: [color]", "study.yaml:3:12: questions: not asked for: size"),
        ("questions: [color, color, size]", "'color' is listed twice"),
        ("questions: [color, siz]", "there is no attribute 'siz'; did you mean size?"),
        ("analysis: {measures: xyz}", "'xyz'; there are rank quality, efficiency, precision"),
        ("analysis: {claims: DD beats FA}", "'DD beats FA' is not a claim"),
        ("cases: {file: zoo.data, class: type}", "cases.file: there is no file 'zoo.data' beside"),
    ],
)
def test_refusals(tmp_path: Path, more: str, message: str) -> None:
    with pytest.raises(QuemError) as caught:
        analyze(write(tmp_path, f"{more}\n"))
    assert message in str(caught.value)
    assert str(caught.value).count("\n") < 3


def test_a_case_base_that_is_not_in_its_folder(tmp_path: Path) -> None:
    with pytest.raises(QuemError, match=r"no file 'cases.csv' in elsewhere"):
        quem.load_study(write(tmp_path), data="elsewhere")


def test_leave_one_in(tmp_path: Path) -> None:
    """In a case base without two cases of a class, a right selection is the target itself."""
    rows = [f"{color},{n},{color}{n}" for color in ("red", "blue", "green") for n in range(8)]
    cases = "\n".join(["color,size,fault", *rows])
    out = analyze(write(tmp_path, "users: [DL]\n", cases=cases))
    assert "class-unique" in {warning.code for warning in out.warnings}
    assert not out.findings.table.values[:, :, 2].any()
    study = write(tmp_path, "queries: leave-one-in\nusers: [DL]\n", cases=cases)
    kept = analyze(study, measures=["efficiency", "precision", "recall"])
    assert "class-unique" not in {warning.code for warning in kept.warnings}
    # With all known, the target is the nearest.
    assert kept.findings.found.dialogues.top_right.all()
    means = kept.findings.table.means.mean
    assert (means[:, 1] == 1).all()
    assert (means[:, 0] > 0).all()
    assert b"Aha, D. W." in report_files(kept)["report.html"]
    (base,) = kept.to_dict()["case_base"]
    assert (base["protocol"], base["targets"]) == ("leave-one-in", 24)


def test_queries_of_a_file(tmp_path: Path) -> None:
    """Each query is a target, by its name, and one is enough; `--data` finds their file."""
    study = write(tmp_path, "queries: {file: [new.csv]}\nusers: [T1 0.4, DL]\n")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "new.csv").write_text("size,color,fault\n4,blue,B\n", encoding="utf-8")
    shutil.copy(tmp_path / "cases.csv", tmp_path / "data")
    result = quem.analyze(quem.load_study(study, data=tmp_path / "data"), **QUICK)
    assert isinstance(result, DialogueResult)
    assert result.findings.table.values.shape == (5, 1, 7)
    assert result.findings.table.queries == ("1",)
    assert "1 separate query, each once" in result.summary()
    assert report_files(result)
    # Blue and 4 is a case, of class A; blue and 3, the nearest else, is of B.
    assert result.findings.found.dialogues.top_right.sum() == 0


@pytest.fixture(scope="module")
def bikes() -> DialogueResult:
    return analyze(FOLDER / "bikes.yaml")


def test_all_figures_and_files(bikes: DialogueResult) -> None:
    """The report has its files, which the result knows of, and says each open choice."""
    files: dict[str, Any] = {**bikes.attachments(), **report_files(bikes)}
    assert set(files) <= bikes.file_names
    page = files["report.html"].decode()
    for name in ("k", "neighbors", "region_size", "missing"):
        assert f">{name}<" in page
    assert list(files)[-1] == "analysis.json"
    # A measure a row, since there are many.
    assert b"\n| efficiency (DL) | " in files["table.md"]
    assert b"\nefficiency (DL) & " in files["table.tex"]
    assert b'<th scope="row">efficiency (DL)</th>' in files["table.html"]
    assert files["scores.csv"].count(b"\n") == 1 + 64 * 5


def test_scores_and_agreement_are_what_dialogues_give(bikes: DialogueResult) -> None:
    """Means over dialogues and targets, and tau-b of SciPy between users and rank quality."""
    result = bikes
    dialogues = result.findings.found.dialogues
    answered = dialogues.stop >= 0
    top = np.broadcast_to(dialogues.top_right[:, :, np.newaxis], answered.shape)
    by_user = {
        "efficiency": np.where(answered, 1 - dialogues.stop / 10, 0).mean(axis=(0, 3)),
        "precision": np.where(answered, dialogues.right, top).mean(axis=(0, 3)),
    }
    quality = dialogues.quality.mean(axis=(0, 2))
    means = result.means.set_index(["measure", "system"])["mean"]
    users = [user.name for user in quem.load_study(FOLDER / "bikes.yaml", kind="dialogue").users]
    expected = {"rank quality": quality} | {
        name: values.mean(axis=1) for name, values in by_user.items()
    }
    for name, values in by_user.items():
        expected |= {f"{name} ({user})": values[:, at] for at, user in enumerate(users)}
    assert list(expected) == list(dict.fromkeys(result.means["measure"]))
    for name, values in expected.items():
        assert_allclose(means[name], values, err_msg=name)
    orders = result.table("orders").set_index(["measure", "one", "other"])
    agreement: Any = {row["measure"]: row for row in result.table("agreement").to_dict("records")}
    for name, values in by_user.items():
        judges = dict(zip([*users, "rank quality"], [*values.T, quality], strict=True))
        taus = {
            (one, other): kendalltau(judges[one].round(9), judges[other].round(9)).statistic
            for one, other in combinations(judges, 2)
        }
        for pair, tau in taus.items():
            assert orders.loc[(name, *pair), "tau_b"] == pytest.approx(tau), pair
        between = [tau for pair, tau in taus.items() if "rank quality" not in pair]
        assert agreement[name]["tau_b"] == pytest.approx(np.nanmean(between))
        assert agreement[name]["low"] <= agreement[name]["high"]


def test_a_claim_is_held_against_each_user(bikes: DialogueResult) -> None:
    """A line of a certificate says for how many users the claim holds."""
    table = bikes.findings.table
    (check,) = table.checks
    means = bikes.means.pivot_table(index="measure", columns="system", values="mean")
    for measure, verdict in {
        "efficiency": "open",
        "rank quality": "-",
        "precision (DL)": "-",
    }.items():
        line = check(table, table.claim(f"ND > RA by {measure}"))
        higher = means[means["ND"] > means["RA"] + 1e-9].index
        users = [higher.str.startswith(f"{what} (").sum() for what in ("efficiency", "precision")]
        assert line.verdict == verdict
        assert [int(word) for word in re.findall(r"for (\d+) of 7", line.text)] == users
    assert check(table, table.claim("RA > NF by efficiency")).verdict == "yes"


def test_strategies_of_several_studies_are_compared(tmp_path: Path) -> None:
    """What strategies are made of may differ; how they are measured may not."""

    def study(name: str, more: str = "", **analysis: int) -> DialogueStudy:
        (tmp_path / name).mkdir()
        settings = ", ".join(f"{key}: {value}" for key, value in {"orders": 1, **analysis}.items())
        text = f"id: {name}\nusers: [T5 0.3, DL]\nstrategies: [DD, ND]\n{more}"
        path = write(tmp_path / name, f"{text}analysis: {{{settings}}}\n")
        (path.parent / "few.csv").write_text("\n".join(CASES.splitlines()[:4]), encoding="utf-8")
        return quem.load_study(path, kind="dialogue")

    near = study("near")
    table = quem.compare(near, study("far", neighbors=2)).table_of_scores
    assert table.studies == ("near", "near", "far", "far")
    assert table.columns[:4] == ("rank quality", "efficiency", "precision", "efficiency (T5 0.3)")
    # DD has no neighbors.
    assert_array_equal(table.values[0], table.values[2])
    assert not np.array_equal(table.values[1], table.values[3])
    chosen = quem.compare(near, measures=["precision (DL)"]).table_of_scores
    assert chosen.columns == ("precision (DL)",)
    for other, message in (
        (study("other", k=3), ": analysis.k: is 3 here and 10 in"),
        (study("within", "queries: leave-one-in\n"), ": queries: differs from"),
        (study("asked", "questions: fixed\n"), ": questions: differs from"),
        (study("few", "queries: few.csv\n"), "targets are only in"),
    ):
        with pytest.raises(QuemError) as caught:
            quem.compare(near, other)
        assert message in str(caught.value)


@pytest.mark.parametrize(
    ("missing", "cases"),
    [
        ("zero", "color,fault\nred,A\nred,A\nred,B\n"),
        ("worst", "color,size,fault\nred,,A\n,2,A\n,,B\n"),
        ("skip", "color,size,fault\nred,,A\n,2,A\n,,B\n"),
        ("zero", "size,fault\n1,A\n1,B\n1,C\n1,A\n"),
    ],
)
def test_poor_case_bases(tmp_path: Path, missing: str, cases: str) -> None:
    result = analyze(write(tmp_path, cases=cases), missing=missing)
    assert np.isfinite(result.findings.table.means.mean).all()
    assert report_files(result)
