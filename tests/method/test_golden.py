"""The golden numbers of the method, through the public API."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

import quem
from quem.parts import analyze_experience

if TYPE_CHECKING:
    from quem.method.core import SystemEstimate
    from quem.parts.result import ExperienceResult

DATA = Path(__file__).parent / "data"
PRINTED = Path(__file__).parents[2] / "studies" / "p3-1997" / "averages.yaml"
GOLDEN: dict[str, Any] = json.loads((DATA / "golden.json").read_text("utf-8"))
DECLARED = {"years": [0, 5, 10, 15], "share": [50, 30, 20]}


def result_of(name: str, folder: Path, **settings: object) -> ExperienceResult:
    """Analyze one of the tables of ranks as a study of files."""
    solvers, cells = (
        list(csv.DictReader((DATA / name / table).read_text("utf-8").splitlines()))
        for table in ("solvers.csv", "rankings.csv")
    )
    of_kind = {
        kind: [s for s in solvers if s["kind"] == kind]
        for kind in ("subject", "system", "withheld")
    }
    content = {
        "kind": "experience",
        "id": "golden",
        "title": "Golden",
        "problems": [{"id": one} for one in sorted({cell["problem"] for cell in cells})],
        "judges": [{"id": one} for one in sorted({cell["judge"] for cell in cells})],
        "subjects": [
            {"id": s["solver"], "experience": float(s["years"])} for s in of_kind["subject"]
        ],
        "systems": [{"id": s["solver"]} for s in of_kind["system"]],
        "withheld": [s["solver"] for s in of_kind["withheld"]],
        "rankings": {"from": "long", "file": "rankings.csv"},
        "analysis": {"at_least": [5, 8], **settings},
    }
    (folder / "study.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    (folder / "rankings.csv").write_bytes((DATA / name / "rankings.csv").read_bytes())
    return analyze_experience(quem.load_study(folder / "study.yaml", kind="experience"))


def by_system(result: ExperienceResult) -> dict[str, SystemEstimate]:
    """The estimates by id."""
    return {one.system: one for one in result.core.estimates}


def close(value: Any) -> Any:  # noqa: ANN401  what pytest.approx takes and gives
    """A number to a millionth."""
    return pytest.approx(value, rel=1e-6, abs=1e-9)


def is_paper(found: ExperienceResult, of: SystemEstimate, want: dict[str, Any]) -> None:
    """The paper's line and the system on it."""
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
    """The estimate for the population."""
    reference = of.reference
    assert reference.experience == close(want["experience"])
    assert reference.interval == close(tuple(want["interval"]))
    assert (reference.says, reference.open) == (want["says"], want["open"])
    if want["at_least"]:
        assert [p for _, p in reference.at_least] == close(want["at_least"])


@pytest.mark.parametrize("name", ["p3_cells", "complete", "incomplete"])
def test_each_system(name: str, tmp_path: Path) -> None:
    """Both estimates, what a system varies, and what its estimate rests on."""
    found = result_of(name, tmp_path)
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
        for ratio, what in (
            (of.variation.ratio_problems, "problems"),
            (of.variation.ratio_judges, "judges"),
        ):
            assert ratio == (
                None if expected["varies"][what] is None else close(expected["varies"][what])
            )
        assert of.variation.added.value == close(expected["added"])
        cells = found.core.cells
        assert cells
        ids = {
            "judge": cells.judges,
            "problem": cells.problems,
            "subject": found.core.averages.solvers,
        }
        rests = {one.what: (one.id, one.experience) for one in of.rests_on}
        assert rests == {
            what: (ids[what][at], close(years))
            for what, (at, years) in expected["rests_on"].items()
        }


@pytest.mark.parametrize("name", ["complete", "incomplete"])
def test_a_declared_population(name: str, tmp_path: Path) -> None:
    """Its estimate leads, and both intervals are those of the population."""
    found = by_system(result_of(name, tmp_path, reference_population=DECLARED))
    for system, expected in GOLDEN[f"{name}_declared"].items():
        assert found[system].leads == expected["leads"]
        is_reference(found[system], expected["reference"])


@pytest.mark.parametrize("name", ["complete", "incomplete"])
def test_roughly_known_years(name: str, tmp_path: Path) -> None:
    """Reported years are replaced by those to be expected."""
    found = by_system(result_of(name, tmp_path, years_error=0.3))
    for system, expected in GOLDEN[f"{name}_years_error"].items():
        is_reference(found[system], expected)


def test_averages_as_printed() -> None:
    """The paper's estimate comes from the averages that it prints."""
    found = analyze_experience(quem.load_study(PRINTED, kind="experience"))
    (of,) = found.core.estimates
    want = GOLDEN["p3_as_printed"]
    is_paper(found, of, want["paper"])
    is_reference(of, want["reference"])
