"""The golden numbers of the method, through the public API."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import quem
from quem.parts import analyze_experience

if TYPE_CHECKING:
    from quem.method.core import SystemEstimate
    from quem.parts.result import ExperienceResult

DATA = Path(__file__).parent / "data"
PRINTED = Path(__file__).parents[2] / "studies" / "p3-1997" / "averages.yaml"
GOLDEN: dict[str, Any] = json.loads((DATA / "golden.json").read_text("utf-8"))
DECLARED = {"years": [0, 5, 10, 15], "share": [50, 30, 20]}


def result_of(name: str, **settings: object) -> ExperienceResult:
    """Analyze one of the tables of ranks."""
    solvers, cells = (
        pd.read_csv(DATA / name / f"{table}.csv") for table in ("solvers", "rankings")
    )
    ids = {kind: of.set_index("solver")["years"] for kind, of in solvers.groupby("kind")}
    study = quem.study(
        cells.sort_values(["problem", "judge"], kind="stable"),
        people=ids["subject"].to_dict(),
        systems=list(ids["system"].index),
        withheld=list(ids.get("withheld", pd.Series()).index),
        judges=sorted(set(cells["judge"])),
        analysis={"at_least": [5, 8], **settings},
    )
    return analyze_experience(study)


def by_system(result: ExperienceResult) -> dict[str, SystemEstimate]:
    return {one.system: one for one in result.core.estimates}


def close(value: Any) -> Any:  # noqa: ANN401  what pytest.approx takes and gives
    return pytest.approx(value, rel=1e-6, abs=1e-9)


def is_paper(found: ExperienceResult, of: SystemEstimate, want: dict[str, Any]) -> None:
    line = found.core.line
    assert line.coefficients == close([want["intercept"], want["slope"]])
    assert line.residual_sd == close(want["residual_sd"])
    assert line.r_squared == close(want["r_squared"])
    assert line.p_value == close(want["p"])
    assert of.experience == close(want["experience"])
    assert of.interval == close(tuple(want["interval"]))
    assert of.mean_interval == close(tuple(want["mean"]))
    assert (line.holds, of.inside) == (want["holds"], want["inside"])


def is_reference(of: SystemEstimate, want: dict[str, Any]) -> None:
    reference = of.reference
    assert reference.experience == close(want["experience"])
    assert reference.interval == close(tuple(want["interval"]))
    assert (reference.says, reference.open) == (want["says"], want["open"])
    if want["at_least"]:
        # The golden sums whole points of the grid.
        assert [p for _, p in reference.at_least] == pytest.approx(want["at_least"], abs=1e-3)


@pytest.mark.parametrize("name", ["p3_cells", "complete", "incomplete"])
def test_each_system(name: str) -> None:
    """Both estimates, what a system varies, and what its estimate rests on."""
    found = result_of(name)
    want = GOLDEN[name]
    assert list(found.core.population.years) == close(want["population"])
    estimates = by_system(found)
    assert estimates.keys() == want["systems"].keys()
    for system, expected in want["systems"].items():
        of = estimates[system]
        assert of.rank == close(expected["average_rank"])
        assert of.leads == expected["leads"]
        is_paper(found, of, expected["paper"])
        is_reference(of, expected["reference"])
        varies, variation = expected["varies"], of.variation
        for ratio, want_ratio in (
            (variation.ratio_problems, varies["problems"]),
            (variation.ratio_judges, varies["judges"]),
        ):
            assert ratio == (None if want_ratio is None else close(want_ratio))
        assert of.variation.added.value == close(expected["added"])
        cells = found.core.cells
        assert cells
        solvers = found.core.averages.solvers
        ids = {"judge": cells.judges, "problem": cells.problems, "subject": solvers}
        rests = {one.what: (one.id, one.experience) for one in of.rests_on}
        assert rests == {
            what: (ids[what][at], close(years))
            for what, (at, years) in expected["rests_on"].items()
        }


@pytest.mark.parametrize("name", ["complete", "incomplete"])
@pytest.mark.parametrize(
    ("key", "setting", "value"),
    [
        ("declared", "reference_population", DECLARED),
        ("years_error", "years_error", 0.3),
    ],
)
def test_populations_and_years(name: str, key: str, setting: str, value: object) -> None:
    """A declared population leads; reported years are replaced by those to be expected."""
    found = by_system(result_of(name, **{setting: value}))
    for system, expected in GOLDEN[f"{name}_{key}"].items():
        assert found[system].leads == expected.get("leads", found[system].leads)
        is_reference(found[system], expected.get("reference", expected))


def test_averages_as_printed() -> None:
    found = analyze_experience(quem.load_study(PRINTED, kind="experience"))
    (of,) = found.core.estimates
    want = GOLDEN["p3_as_printed"]
    is_paper(found, of, want["paper"])
    is_reference(of, want["reference"])
