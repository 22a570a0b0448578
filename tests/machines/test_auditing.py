"""`quem audit` on real runs of fake machine judges, and its files."""

from __future__ import annotations

import csv
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from scipy.stats import fisher_exact

import quem
from quem.cli import main
from quem.errors import QuemError
from quem.machines.auditing import audit_machine, size_text
from quem.machines.result import AuditResult
from quem.machines.running import CANARY
from quem.report.files import json_text
from quem.wording import format_p
from tests.docs.schema import mistakes
from tests.machines.made import GOLDEN, golden_calls, golden_study, run_of, write_run
from tests.machines.test_running import PROBLEMS, SOLVERS, command_study, judged

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from quem.machines.auditing import AuditFindings, Line


def with_experts(path: Path, error: float = 1.0, problems: Sequence[str] = PROBLEMS) -> Path:
    """Let two experts rank the solutions of problems by quality, with errors."""
    rng = np.random.default_rng(0)
    with path.with_name("rankings.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["judge", "problem", "solver", "rank"])
        for judge in ("J1", "J2"):
            for problem in problems:
                texts = [
                    (path.parent / "solutions" / problem / f"{solver}.txt").read_text("utf-8")
                    for solver in SOLVERS
                ]
                quality = [float(text.split()[1]) + rng.normal(0, error) for text in texts]
                order = np.argsort(np.argsort(quality)) + 1
                for solver, rank in zip(SOLVERS, order.tolist(), strict=True):
                    rows.writerow([judge, problem, solver, rank])
    text = path.read_text("utf-8").replace("judges: [{id: J1}]", "judges: [{id: J1}, {id: J2}]")
    path.write_text(f"{text}rankings: rankings.csv\n", "utf-8")
    return path


def audited(path: Path, *options: str) -> dict[str, Any]:
    """Run `quem audit`; gives analysis.json."""
    done = CliRunner().invoke(main, ["audit", str(path), "--json", *options])
    if done.exception:
        raise done.exception
    document: dict[str, Any] = json.loads(done.stdout)
    assert mistakes(document) == []
    return document


def line_of(document: dict[str, Any], code: str) -> dict[str, Any]:
    """Find the answer to a question."""
    found: dict[str, Any] = next(line for line in document["lines"] if line["code"] == code)
    return found


def test_what_fakes_are_like_is_found(tmp_path: Path) -> None:
    """Each by the line that it is made for, and fair by none."""
    codes = {
        "favors": "liking:sys",
        "position": "place",
        "verbose": "length_within",
        "noisy": "consistency",
    }
    audits = {}
    for kind in ("fair", *codes):
        path = with_experts(command_study(tmp_path / kind, kind))
        assert judged(path)[0] == 0
        audits[kind] = audited(path)
    fair = audits["fair"]
    assert line_of(fair, "agreement")["value"] > 0.7
    for kind, code in codes.items():
        found, beside = line_of(audits[kind], code), line_of(fair, code)
        if code == "consistency":
            assert beside["value"] > 0.99
            assert found["value"] < 0.3
            assert [w["code"] for w in audits[kind]["warnings"]] == ["machine-unsteady"]
        else:
            assert found["p_value"] < 0.05
            assert not beside["p_value"] or beside["p_value"] > 0.05
    assert line_of(audits["favors"], "liking:sys")["value"] > 1
    assert line_of(audits["position"], "place")["value"] < -0.5
    assert "at least as well" in line_of(fair, "stand_in")["answer"]
    assert "24 of 24 calls gave a ranking" in line_of(fair, "answers")["answer"]


def test_a_canary_shows_who_obeys(tmp_path: Path) -> None:
    """By a plea in a middling solution of each problem; the run that counts stays."""
    for kind, obeys in (("fair", False), ("obedient", True)):
        path = with_experts(command_study(tmp_path / kind, kind))
        assert judged(path)[0] == 0
        line = line_of(audited(path, "--canary"), "obedience")
        assert ("it obeys" in line["answer"]) == obeys
        assert (line["value"] > 5) == obeys
        if obeys:
            assert line["p_value"] == pytest.approx(1 / 64)
        assert line_of(audited(path), "obedience") == line


def test_sentences_that_speak_to_a_judge_are_left_out(tmp_path: Path) -> None:
    """It is asked once more without them; who obeyed them ranks otherwise then."""
    for kind in ("fair", "obedient"):
        path = with_experts(command_study(tmp_path / kind, kind))
        with pytest.raises(QuemError, match="no solution seems to speak to its judge"):
            audited(path, "--redacted")
        solution = path.parent / "solutions" / "P2" / "S3.txt"
        solution.write_text(f"{solution.read_text('utf-8')}\n{CANARY}\nMore.\n", "utf-8")
        assert judged(path)[0] == 0
        line = line_of(audited(path, "--redacted"), "redacted")
        assert (line["value"] > 5) == (kind == "obedient")
        assert "S3 on P2 by" in line["answer"]


def test_images_that_were_not_sent_are_warned_of(tmp_path: Path) -> None:
    """In the estimate and in the audit, as long as the run counts."""
    path = with_experts(command_study(tmp_path, "fair"), problems=PROBLEMS[:3])
    text = tmp_path / "solutions" / "P1" / "S1.txt"
    folder = text.with_suffix("")
    folder.mkdir()
    text.rename(folder / "plan.txt")
    Image.new("RGB", (40, 30), "red").save(folder / "chart.png")
    code, said = judged(path)
    assert (code, "use images: true for a model that sees, or --text-only" in said) == (1, True)
    code, said = judged(path, "--text-only")
    assert code == 0, said
    analysis = quem.analyze(quem.load_study(path, kind="experience"), bootstrap=0)
    for warnings in (audited(path)["warnings"], [asdict(one) for one in analysis.warnings]):
        messages = {one["code"]: one["message"] for one in warnings}
        assert "in place of 1 image" in messages["machine-without-images"]


def test_failures_are_split_by_where_they_matter(tmp_path: Path) -> None:
    """On the problems of experts, and where a system is."""
    path = golden_study(tmp_path)
    experts = set(GOLDEN["study"]["labelled_problems"])
    calls = [
        one.model_copy(update={"status": "refused", "ranked": ()})
        if one.repeat and one.problem not in experts
        else one
        for one in golden_calls("M1")
    ]
    write_run(path, run_of("M1", calls, number=2))
    answer = line_of(audited(path), "answers")["answer"]
    p = fisher_exact(np.array([[0, 8], [4, 4]])).pvalue
    assert "0 of 8 calls on problems that experts ranked and 4 of 8 on the others" in answer
    assert f"Fisher, {format_p(p)}" in answer
    assert "in groups with a system" not in answer


def test_a_control_run_shows_a_machine_that_changed(tmp_path: Path) -> None:
    """It asks again for what is known, and compares with the repeats."""
    path = with_experts(command_study(tmp_path, "fair"))
    assert judged(path)[0] == 0
    code, said = judged(path, "--control")
    assert (code, "24 requests sent" in said) == (0, True)
    code, said = judged(path, "--control", "--replay")
    assert (code, "0 requests sent" in said) == (0, True)
    line = line_of(audited(path), "drift")
    assert line["value"] == pytest.approx(0, abs=0.02)


def test_a_family_and_its_files(tmp_path: Path) -> None:
    """The page, the tables, and pseudonyms."""
    path = golden_study(tmp_path)
    text = path.read_text("utf-8").replace("- id: system", "- {id: system, family: acme}")
    path.write_text(text, "utf-8")
    write_run(path, run_of("M1", golden_calls("M1"), number=2, family="acme"))
    out = tmp_path / "out"
    done = CliRunner().invoke(main, ["audit", str(path), "--out", str(out), "--pseudonyms"])
    assert done.exit_code == 0
    assert "There is no system of another family to compare with" in " ".join(done.stdout.split())
    written = {file.name for file in out.iterdir()}
    assert {"report.html", "analysis.json", "lines.csv", "agreement.svg", "liking.svg"} <= written
    page = (out / "report.html").read_text("utf-8")
    assert "M1 agrees with these experts with a mean tau-b of 0.76" in page
    document = json.loads((out / "analysis.json").read_text("utf-8"))
    plain = audit_machine(quem.load_study(path, kind="experience"), "M1")
    assert document["lines"][0]["value"] == pytest.approx(plain.agreement.tau.value)
    result = AuditResult(plain)
    assert mistakes(json.loads(json_text(result.to_dict()))) == []
    assert "AuditResult of M1" in repr(result)
    assert len(result.lines) == len(plain.lines)
    assert "M1 agrees" in result._repr_html_()
    names: list[Line] = [line for line in plain.lines if line.code == "family"]
    assert len(names) == 1


def test_figures_show_what_there_is(tmp_path: Path) -> None:
    """Places where there are several orders, and lengths where these are known."""
    path = golden_study(tmp_path)
    drawn = set(AuditResult(audit_of(path)).figures())
    assert drawn == {"agreement", "liking", "place"}
    solvers = [f"S{n}" for n in range(1, 9)] + ["system"]
    words = {p: {s: 100 + 20 * n for n, s in enumerate(solvers)} for p in ("P1", "P2", "P3")}
    calls = [call for call in golden_calls("M1") if not call.repeat]
    write_run(path, run_of("M1", calls, number=2, repeats=1, words=words))
    result = AuditResult(audit_of(path))
    assert set(result.figures()) == {"agreement", "liking", "length"}
    for stem in ("liking", "length"):
        axes = result.figures()[stem].axes[0]
        assert "system" in [text.get_text() for text in axes.texts]
    assert "It saw each problem in one order" in result.summary()
    gone = calls[0].model_copy(update={"status": "refused", "ranked": ()})
    write_run(path, run_of("M1", [gone, *calls[1:]], number=3, repeats=1))
    page = AuditResult(audit_of(path)).to_html()
    assert "Calls without a ranking: P1 (refused, 1); 1 of 1 are on problems that" in page


def audit_of(path: Path) -> AuditFindings:
    """Audit M1."""
    return audit_machine(quem.load_study(path, kind="experience"), "M1")


@given(value=st.floats(-9, 9), below=st.floats(0, 9), above=st.floats(0, 9))
def test_what_is_said_without_its_sign_lies_in_the_interval_beside_it(
    value: float, below: float, above: float
) -> None:
    """As in "0.7 ranks lower (0.6 to 0.8)"."""
    text = size_text(value, (value - below, value + above))
    low, high = text.strip(" ()").replace("−", "-").split(" to ")
    assert float(low) - 0.006 <= abs(value) <= float(high) + 0.006


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ("", ["--machine", "M9"], "there is no machine judge 'M9'"),
        ("no runs", [], "M1 has ranked nothing yet; run `quem judge`"),
        ("no machines", [], "declares no machine judge"),
        ("two machines", [], "name one by --machine: M1 and M2"),
        ("other problems", [], "ranked no problem in common"),
    ],
)
def test_what_cannot_be_audited(
    tmp_path: Path, change: str, options: list[str], message: str
) -> None:
    """One message each."""
    path = golden_study(tmp_path)
    text = path.read_text("utf-8")
    if change == "no runs":
        (tmp_path / "machines/M1/runs/0001.json").unlink()
    if change == "no machines":
        path.write_text(text.replace("machines:\n- id: M1\n  command: judge\n", ""), "utf-8")
    if change == "two machines":
        more = "- id: M1\n  command: judge\n- id: M2\n  command: judge\n"
        path.write_text(text.replace("- id: M1\n  command: judge\n", more), "utf-8")
    if change == "other problems":
        calls = [call for call in golden_calls("M1") if call.problem > "P4"]
        write_run(path, run_of("M1", calls, number=2))
    done = CliRunner().invoke(main, ["audit", str(path), *options])
    assert isinstance(done.exception, QuemError)
    assert message in str(done.exception.mistakes[0])
