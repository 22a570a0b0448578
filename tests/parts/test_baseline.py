"""The human baseline: what a report says of the people, and what the study leaves open."""

from __future__ import annotations

import shutil
from pathlib import Path

import quem

P3 = Path(__file__).parents[2] / "studies" / "p3-1997"


def test_what_the_study_states_and_what_it_leaves_open(tmp_path: Path) -> None:
    """Facts come from the data and the study file; the rest is not stated."""
    path = shutil.copytree(P3, tmp_path / "study") / "study.yaml"
    path.write_text(f"{path.read_text()}\nbaseline: {{payment: nothing}}\n")
    result = quem.analyze(quem.load_study(path, kind="experience"))
    facts = {one["aspect"]: one["answer"] for one in result.to_dict()["baseline"]}
    assert facts["People"] == "7 subjects with 2 to 10 years of experience"
    assert facts["Payment"] == "nothing"
    assert facts["Recruitment"] == ""
    result.report(tmp_path / "report")
    page = (tmp_path / "report/report.html").read_text()
    assert "The study does not state: recruitment, consent, instructions" in page
