"""How machine judges rank: golden values, SciPy, and what fakes give."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image
from scipy import stats

import quem
from quem.report.files import json_text
from tests.machines.made import GOLDEN, golden_study
from tests.machines.test_running import PROBLEMS, command_study, judged, with_experts

if TYPE_CHECKING:
    from pathlib import Path

    from quem.parts.result import ExperienceResult


def analyzed(path: Path) -> ExperienceResult:
    """Analyze a study."""
    return quem.analyze(quem.load_study(path, kind="experience"))


def quality(result: ExperienceResult) -> dict[str, Any]:
    """How the only machine judge ranks, in analysis.json."""
    (one,) = json.loads(json_text(result.to_dict()))["machine_quality"]
    return dict(one)


def test_golden_agreement(tmp_path: Path) -> None:
    """The mean tau-b with both experts."""
    one = quality(analyzed(golden_study(tmp_path)))
    assert one["agreement"] == pytest.approx(GOLDEN["agreement"], abs=1e-6)
    assert (one["judge"], one["failed"]) == ("M1", 0)


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
    found = quality(analyzed(path))
    assert found["position"] == pytest.approx(np.mean(slopes))
    assert found["position_p"] == pytest.approx(tested.pvalue)


def test_what_fakes_are_like_is_found(tmp_path: Path) -> None:
    """Who heeds places, and who ranks at random."""
    found = {}
    for kind in ("fair", "position", "noisy"):
        path = with_experts(command_study(tmp_path / kind, kind))
        assert judged(path)[0] == 0
        found[kind] = analyzed(path)
    fair, position, noisy = (quality(one) for one in found.values())
    assert fair["agreement"] > 0.7
    assert fair["consistency"] > 0.99
    assert position["position"] < -0.5
    assert position["position_p"] < 0.05
    assert noisy["consistency"] < 0.3
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
