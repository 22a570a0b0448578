"""How machine judges rank: golden values, SciPy, and what fakes give."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image
from scipy import stats

import quem
from quem.report.files import json_text
from tests.docs.schema import mistakes
from tests.machines.made import GOLDEN, golden_study
from tests.machines.test_running import PROBLEMS, command_study, judged, with_experts

if TYPE_CHECKING:
    from pathlib import Path

    from quem.experience.machine_quality import MachineQuality


def analyzed(path: Path) -> quem.ExperienceResult:
    """Analyze a study, quickly."""
    return quem.analyze(quem.load_study(path, kind="experience"), bootstrap=0, permutations=0)


def quality(path: Path) -> MachineQuality:
    """Give how the only machine judge ranks."""
    one: MachineQuality
    (one,) = analyzed(path).findings.machine_quality
    return one


def test_golden_agreement_and_files(tmp_path: Path) -> None:
    """The mean tau-b with both experts, in analysis.json and on the page."""
    result = analyzed(golden_study(tmp_path))
    (one,) = result.findings.machine_quality
    assert one.agreement.value == pytest.approx(GOLDEN["agreement"], abs=1e-6)
    # Four problems are too few for a bootstrap, and eight are not.
    assert np.isnan(one.agreement.interval).all()
    assert one.consistency.interval[0] < one.consistency.value < one.consistency.interval[1]
    document = json.loads(json_text(result.to_dict()))
    assert mistakes(document) == []
    (entry,) = document["machine_quality"]
    assert entry["agreement"] == pytest.approx(GOLDEN["agreement"], abs=1e-6)
    assert entry["agreement_interval"] == [None, None]
    assert (entry["judge"], entry["failed"]) == ("M1", 0)
    assert "How the machine judges rank" in result.to_html()


def test_positions_agree_with_scipy(tmp_path: Path) -> None:
    """The slope of rank on place within solvers, by problem, and Student's interval."""
    path = golden_study(tmp_path)
    (run,) = (quem.load_study(path, kind="experience").machines or {})["M1"]
    slopes = []
    for problem in GOLDEN["study"]["problems"]:
        calls = [call for call in run.calls if call.problem == problem]
        rows = [
            (solver, at, next(n for n, tied in enumerate(reversed(call.ranked)) if solver in tied))
            for call in calls
            for at, solver in enumerate(call.order)
        ]
        place, rank = (
            np.array([[row[i] for row in rows if row[0] == s] for s in calls[0].order], dtype=float)
            for i in (1, 2)
        )
        place, rank = (v - v.mean(axis=1, keepdims=True) for v in (place, rank))
        slope = stats.linregress(place.ravel(), rank.ravel()).slope
        slopes.append(slope * np.sqrt((len(calls[0].order) ** 2 - 1) / 12))
    tested = stats.ttest_1samp(slopes, 0)
    found = quality(path).position
    assert found.value == pytest.approx(np.mean(slopes))
    assert found.p == pytest.approx(tested.pvalue)
    assert found.interval == pytest.approx(tuple(tested.confidence_interval()))


def test_what_fakes_are_like_is_found(tmp_path: Path) -> None:
    """Who heeds places, and who ranks at random."""
    found = {}
    for kind in ("fair", "position", "noisy"):
        path = with_experts(command_study(tmp_path / kind, kind))
        assert judged(path)[0] == 0
        found[kind] = analyzed(path)
    fair, position, noisy = (one.findings.machine_quality[0] for one in found.values())
    assert fair.agreement.value > 0.7
    assert fair.agreement.interval[0] < fair.agreement.value < fair.agreement.interval[1]
    assert fair.consistency.value > 0.99
    assert position.position.value < -0.5
    assert position.position.p < 0.05
    assert noisy.consistency.value < 0.3
    assert "machine-unsteady" in {one.code for one in found["noisy"].warnings}
    assert "machine-unsteady" not in {one.code for one in found["fair"].warnings}


def test_images_need_a_machine_that_sees(tmp_path: Path) -> None:
    """A machine judge that cannot see is asked nothing."""
    path = with_experts(command_study(tmp_path, "fair"), problems=PROBLEMS[:3])
    text = tmp_path / "solutions" / "P1" / "S1.txt"
    folder = text.with_suffix("")
    folder.mkdir()
    text.rename(folder / "plan.txt")
    Image.new("RGB", (40, 30), "red").save(folder / "chart.png")
    code, said = judged(path)
    assert (code, "use images: true for a model that sees" in said) == (1, True)
