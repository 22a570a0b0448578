"""analysis.json is as its schema says, and the schema allows nothing else."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from click.testing import CliRunner

import quem
from quem.cli import main
from quem.kinds import presentations
from quem.report.files import json_text
from quem.report.schema import keys_table, tables_table
from quem.studyfile.schema import known_keys
from tests.docs.keys import KINDS
from tests.docs.pages import ROOT
from tests.docs.schema import SCHEMA, fits, mappings, mistakes
from tests.examples import RANKS, SOLVERS, long_csv, study_with

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SHIPPED = [ROOT / "studies/p3-1997" / name for name in ("study.yaml", "averages.yaml")]
# Of experience studies and comparisons, what some studies have and others lack.
OPTIONAL = {
    entry.name
    for presentation in presentations().values()
    for entry in getattr(presentation.document, "entries", ())
}


def _output(path: Path, **settings: object) -> Any:  # noqa: ANN401  JSON
    result = quem.analyze(quem.load_study(path, kind="experience"), **settings)
    return json.loads(json_text(result.to_dict()))


def _printed(averages: dict[str, float]) -> str:
    return "solver,average_rank\n" + "".join(f"{s},{x}\n" for s, x in averages.items())


def _averages_study(**changes: object) -> dict[str, Any]:
    source = {"from": "averages", "file": "averages.csv"}
    return study_with(problems=None, judges=None, rankings=source, **changes)


RISING = dict(zip(SOLVERS, (1, 1.8, 3.3, 3.6, 5.2, 6.4), strict=False))


def test_schema_is_a_schema() -> None:
    """The schema keeps to JSON Schema 2020-12."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_studies_fit(path: Path) -> None:
    """The output of both shipped studies fits the schema."""
    assert mistakes(_output(path)) == []


@pytest.mark.parametrize("form", ["log", "quadratic"])
def test_forms_fit(form: str) -> None:
    """The output fits the schema whatever the form of the line."""
    assert mistakes(_output(SHIPPED[0], form=form)) == []


def test_declared_population_fits() -> None:
    """A study that declares whom years speak about fits, and that estimate leads."""
    document = _output(SHIPPED[0], reference_population={"years": [0, 5, 15], "share": [1, 3]})
    assert mistakes(document) == []
    assert document["population"] == {"years": [0, 5, 15], "share": [0.25, 0.75], "declared": True}
    assert document["estimates"][0]["leads"] == "reference"


def test_study_without_system_fits(make_study: Callable[..., Path]) -> None:
    """A study without a system gives no estimates, and fits."""
    document = _output(make_study(study_with(systems=None, withheld=["sys"])))
    assert mistakes(document) == []
    assert document["estimates"] == []


def test_open_interval_fits(make_study: Callable[..., Path]) -> None:
    """A system above all subjects has no upper limit, and fits."""
    averages = {**RISING, "S3": 2, "S4": 5.2, "S5": 4, "sys": 6.9}
    document = _output(make_study(_averages_study(), averages__csv=_printed(averages)))
    assert mistakes(document) == []
    reference = document["estimates"][0]["reference"]
    assert reference["open"]
    assert reference["interval"][1] is None


def test_perfect_fit_fits(make_study: Callable[..., Path]) -> None:
    """Subjects who lie exactly on the line fit, though F is infinite."""
    years = {s["id"]: s["experience"] / 4 + 1 for s in study_with()["subjects"]}
    document = _output(make_study(_averages_study(), averages__csv=_printed({**years, "sys": 3})))
    assert mistakes(document) == []


def test_silent_estimate_fits(make_study: Callable[..., Path]) -> None:
    """Subjects whose ranks have nothing to do with their years leave no years, and fit."""
    noisy = dict(zip(SOLVERS, (3, 1, 4, 2, 3.5, 2.5, 3), strict=True))
    document = _output(make_study(_averages_study(), averages__csv=_printed(noisy)))
    assert mistakes(document) == []
    assert document["estimates"][0]["leads"] is None


def test_gaps_in_the_data_fit(make_study: Callable[..., Path]) -> None:
    """Solvers with few ranks or none, assisted solvers and failed solutions fit."""
    ranks: dict[Any, Any] = {cell: r for cell, r in RANKS.items() if cell[1:] != ("P2", "sys")}
    ranks["J1", "P1", "S1"] = "failed"
    ranks["J2", "P1", "both"] = 4
    study = study_with(
        systems=[{"id": "sys", "version": "2"}, {"id": "idle"}],
        assisted=[{"id": "both", "by": "sys", "person": "S1"}],
    )
    document = _output(make_study(study, rankings__csv=long_csv(ranks)))
    assert mistakes(document) == []
    kinds = {average["solver"]: average["kind"] for average in document["averages"]}
    assert kinds["both"] == "assisted"
    assert kinds["idle"] == "system"


def test_study_in_blocks_fits(make_study: Callable[..., Path]) -> None:
    """A study judged in blocks has worths and no agreement, and fits."""
    second = {"P1": "S2 S4 S6", "P2": "S1 S2 S6"}
    rows = [(*cell, rank, 1 + (cell[2] in second[cell[1]])) for cell, rank in RANKS.items()]
    text = "judge,problem,solver,rank,block\n"
    text += "".join(",".join(map(str, row)) + "\n" for row in rows)
    document = _output(make_study(study_with(), rankings__csv=text))
    assert mistakes(document) == []
    assert "agreement" not in document
    assert len(document["worths"]["solvers"]) == len(document["averages"])


def _plan(pilot: Path | None = None, **settings: Any) -> Any:  # noqa: ANN401  JSON
    study = quem.load_study(pilot, kind="experience") if pilot else None
    return json.loads(json_text(quem.plan(study, **settings).to_dict()))


def test_plans_fit(make_study: Callable[..., Path]) -> None:
    """Plans fit, with and without a pilot, width, population, simulation and reach."""
    small: dict[str, Any] = {"subjects": (6, 8), "judges": 2, "problems": (2, 4)}
    reached = _plan(**small, width=4.5, reference_population="0-15", simulate=20)
    unreached = _plan(make_study(study_with()), **small, width=0.1, simulate=0)
    for document in (reached, unreached, _plan(**small, simulate=20)):
        assert mistakes(document) == []
    assert reached["recommended"]["says"] is not None
    assert unreached["designs"][0]["says"] is None
    assert "recommended" not in unreached
    assert unreached["pilot"]["missing_dimension"] is None


def test_plans_hold_nothing_else(make_study: Callable[..., Path]) -> None:
    """A key more or fewer, in any mapping of a plan, does not fit."""
    small: dict[str, Any] = {"subjects": 8, "judges": 2, "problems": 4}
    document = _plan(make_study(study_with()), **small, width=9, simulate=20)
    optional = {"pilot", "recommended", "designs"}
    assert optional <= document.keys()
    for index, mapping in enumerate(mappings(document)):
        for key in mapping:
            changed = deepcopy(document)
            del list(mappings(changed))[index][key]
            assert not fits(changed) or key in optional, f"{key} beside {sorted(mapping)}"
        changed = deepcopy(document)
        list(mappings(changed))[index]["surplus"] = 1
        assert not fits(changed), f"a key more beside {sorted(mapping)}"


def test_unknown_keys_are_refused() -> None:
    """A key more, in any mapping of the document, does not fit."""
    document = _output(SHIPPED[0], form="quadratic")
    count = len(list(mappings(document)))
    assert count > 20
    for index in range(count):
        changed = deepcopy(document)
        mapping = list(mappings(changed))[index]
        mapping["surplus"] = 1
        assert not fits(changed), f"a key more beside {sorted(mapping)}"


def test_missing_keys_are_refused() -> None:
    """A key fewer, in any mapping of the document, does not fit."""
    document = _output(SHIPPED[0])
    seen = set()
    for index, mapping in enumerate(mappings(document)):
        keys = tuple(mapping)
        if keys in seen:
            continue
        seen.add(keys)
        for key in set(keys) - OPTIONAL:
            changed = deepcopy(document)
            del list(mappings(changed))[index][key]
            assert not fits(changed), f"{key} is missing beside {sorted(keys)}"


@pytest.mark.parametrize(("key", "value"), [("format", 2), ("kind", "ranking")])
def test_other_formats_and_kinds_are_refused(key: str, value: object) -> None:
    """A document of another format or an unknown kind does not fit."""
    assert mistakes({**_output(SHIPPED[1]), key: value})


def test_every_key_is_documented() -> None:
    """The reference names each key of the schema, with a sentence on it, and the CSV columns."""
    for kind, presentation in presentations().items():
        keys = {
            key for part in mappings(SCHEMA["$defs"][kind]) for key in part.get("properties", {})
        }
        named = dict(presentation.document.reference())
        words = {word.removesuffix("[]") for key in named for word in key.split(".")}
        inner = {key for part in mappings(_inner(SCHEMA["$defs"][kind])) for key in part}
        assert keys - words - inner == set()
        assert all(named.values())
        saved = [row for table in presentation.tables for row in table.saved()]
        assert all(name and meaning for name, meaning in saved)
        page = "\n".join([*keys_table(presentation), *tables_table(presentation)])
        assert "`warnings[].code`" in page
        assert all(f"`{table.stem}.csv`" in page for table in presentation.tables)


def _inner(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Settings and coefficients, whose keys are explained where they are set."""
    parts = [part["properties"] for part in mappings(schema) if "properties" in part]
    return [
        part[name].get("properties", {})
        for part in parts
        for name in ("settings", "coefficients")
        if name in part
    ]


def test_the_schema_is_printed() -> None:
    """`quem analyze --schema` prints what the tests check with."""
    run = CliRunner().invoke(main, ["analyze", "--schema"])
    assert run.exit_code == 0
    assert json.loads(run.stdout) == json.loads(json.dumps(SCHEMA))


@pytest.mark.parametrize("kind", KINDS)
def test_settings_are_those_of_the_study_file(kind: str) -> None:
    """The schema has the settings that the study file has."""
    settings = SCHEMA["$defs"][kind]["properties"]["settings"]
    (known,) = (names for path, names in known_keys(KINDS[kind][1]) if path == ("analysis",))
    assert set(settings["properties"]) == set(settings["required"]) == set(known)
