"""analysis.json of each kind is as its schema says, and the schema allows nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import numpy as np
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
from tests.docs.schema import SCHEMA, allows_nothing_else, mappings, mistakes, shortened
from tests.examples import RANKS, SOLVERS, long_csv, study_with, write_study
from tests.made import random_ranks, study_of
from tests.options.made import analysed, drawn, study_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STUDIES = ROOT / "studies"
# Of experience studies and comparisons, what some studies have and others lack.
OPTIONAL = {
    entry.name
    for presentation in presentations().values()
    for entry in getattr(presentation.document, "entries", ())
}


def shipped(name: str = "p3-1997/study.yaml", **settings: Any) -> Any:  # noqa: ANN401  JSON
    """Analyze a shipped study."""
    return quem.analyze(quem.load_study(STUDIES / name), **settings)


def written(folder: Path, ranks: str | None = None, **changes: object) -> Any:  # noqa: ANN401
    """Analyze the small study with other keys and ranks."""
    path = write_study(folder, study_with(**changes), rankings__csv=ranks or long_csv())
    return quem.analyze(quem.load_study(path))


def averages(folder: Path, values: list[float]) -> Any:  # noqa: ANN401  a result
    """Analyze the small study with these averages instead of ranks."""
    text = "solver,average_rank\n"
    text += "".join(f"{s},{x}\n" for s, x in zip(SOLVERS, values, strict=True))
    source = {"from": "averages", "file": "rankings.csv"}
    return written(folder, text, problems=None, judges=None, rankings=source)


def gaps(folder: Path) -> Any:  # noqa: ANN401  a result
    """Solvers with few ranks or none, assisted solvers and failed solutions."""
    ranks: dict[Any, Any] = {cell: r for cell, r in RANKS.items() if cell[1:] != ("P2", "sys")}
    ranks |= {("J1", "P1", "S1"): "failed", ("J2", "P1", "both"): 4}
    systems = [{"id": "sys", "version": "2"}, {"id": "idle"}]
    assisted = [{"id": "both", "by": "sys", "person": "S1"}]
    return written(folder, long_csv(ranks), systems=systems, assisted=assisted)


def blocks(folder: Path) -> Any:  # noqa: ANN401  a result
    """A study that was judged in blocks."""
    second = {"P1": "S2 S4 S6", "P2": "S1 S2 S6"}
    rows = [(*cell, rank, 1 + (cell[2] in second[cell[1]])) for cell, rank in RANKS.items()]
    lines = [",".join(map(str, row)) for row in rows]
    return written(folder, "\n".join(["judge,problem,solver,rank,block", *lines]))


def compared(*names: str, **settings: Any) -> Any:  # noqa: ANN401  a result
    """Compare the systems of shipped studies."""
    paths = [STUDIES / "assembly-planners" / f"{name}.yaml" for name in names]
    return quem.compare(*(quem.load_study(path, kind="experience") for path in paths), **settings)


def undefined(*, apart: bool) -> Any:  # noqa: ANN401  a result
    """Compare where systems never met, or one is outside the range on a single problem."""
    years = (1.0, 2.0, 4.0, 6.0, 8.0, 11.0, 12.0)
    rng = np.random.default_rng(1)
    ranks = random_ranks(rng, years, (4.0, 30.0), judges=1, problems=1)
    small = study_of(ranks, years, 2)
    return quem.compare(small, *[study_of(random_ranks(rng, years, (6.0,)), years)] * apart)


def dialogues(folder: Path, queries: str, **settings: Any) -> Any:  # noqa: ANN401  a result
    """Simulate dialogues about the shipped bikes."""
    (folder / "bikes.csv").write_bytes((STUDIES / "ccbr/bikes.csv").read_bytes())
    study = folder / "study.yaml"
    source = "{file: bikes.csv, class: fault, id: bike}"
    study.write_text(f"kind: dialogue\ncases: {source}\nqueries: {queries}\n")
    return quem.analyze(quem.load_study(study), orders=1, **settings)


def options(folder: Path) -> Any:  # noqa: ANN401  a result
    """Option lists with gaps."""
    key, lists = drawn(6, systems=2)
    return analysed(study_in(folder, lists + "Q0,s2,,\nQ1,s2,o1,0.5\n", key))


def plan(folder: Path | None = None, **settings: Any) -> Any:  # noqa: ANN401  a result
    """Plan a study, with or without the small one as its pilot."""
    path = write_study(folder, study_with()) if folder else None
    pilot = quem.load_study(path, kind="experience") if path else None
    return quem.plan(pilot, **{"judges": 2, "problems": (2, 4), "subjects": (6, 8), **settings})


POPULATION = {"years": [0, 5, 15], "share": [0.25, 0.75]}
# Each result, and what has to be found in it.
CASES: dict[str, tuple[Callable[[Path], Any], dict[str, Any]]] = {
    "shipped": (lambda _: shipped(), {"kind": "experience"}),
    "averages of 1997": (lambda _: shipped("p3-1997/averages.yaml"), {}),
    "log": (lambda _: shipped(form="log"), {}),
    "quadratic": (lambda _: shipped(form="quadratic"), {}),
    "population": (
        lambda _: shipped(reference_population={"years": [0, 5, 15], "share": [1, 3]}),
        {"population": {**POPULATION, "declared": True}, "estimates.0.leads": "reference"},
    ),
    "no system": (lambda f: written(f, systems=None, withheld=["sys"]), {"estimates": []}),
    "open": (
        lambda f: averages(f, [1, 1.8, 2, 5.2, 4, 6.4, 6.9]),
        {"estimates.0.reference.open": True, "estimates.0.reference.interval.1": None},
    ),
    "perfect": (lambda f: averages(f, [1.25, 1.5, 2, 2.5, 3.25, 4, 3]), {}),
    "silent": (lambda f: averages(f, [3, 1, 4, 2, 3.5, 2.5, 3]), {"estimates.0.leads": None}),
    "gaps": (gaps, {}),
    "blocks": (blocks, {"agreement": "absent"}),
    "systems": (lambda _: compared("study"), {}),
    "studies": (lambda _: compared("study", "next-year"), {}),
    "assistance": (lambda _: compared("assistance"), {}),
    "named": (lambda _: compared("study", systems=["stacker", "fitter-1"]), {}),
    "outside": (lambda _: undefined(apart=False), {"pairs.0.years": None, "pairs.0.ahead": None}),
    "apart": (lambda _: undefined(apart=True), {"pairs.0.won": None}),
    "dialogues": (lambda _: shipped("ccbr/bikes.yaml", orders=1, samples=19), {}),
    "leave one in": (lambda f: dialogues(f, "leave-one-in", samples=19), {}),
    "queries of a file": (lambda f: dialogues(f, "bikes.csv", samples=19), {}),
    "no intervals": (
        lambda f: dialogues(f, "leave-one-in", samples=0),
        {"means.0.interval": None, "agreement.0.interval": None},
    ),
    "options": (options, {}),
    "options shipped": (lambda _: shipped("option-lists/study.yaml", samples=99), {}),
    "left out": (lambda f: analysed(study_in(f), missing="leave-out", samples=0), {}),
    "empty list": (lambda f: analysed(study_in(f, "question,option\nQ1,\n")), {"thresholds": []}),
    "plan": (lambda f: plan(f, width=9, subjects=8, problems=4, simulate=20), {}),
    "plan reached": (lambda _: plan(width=4.5, reference_population="0-15", simulate=20), {}),
    "plan unreached": (
        lambda f: plan(f, width=0.1, simulate=0),
        {
            "designs.0.says": None,
            "recommended": "absent",
            "pilot.missing_dimension": None,
        },
    ),
    "plan without a pilot": (lambda _: plan(simulate=20), {}),
}


def document_of(case: str, folder: Path) -> Any:  # noqa: ANN401  JSON
    """The result of a case as it is written to a file."""
    return json.loads(json_text(CASES[case][0](folder).to_dict()))


@pytest.mark.parametrize("case", CASES)
def test_what_comes_out_fits(case: str, tmp_path: Path) -> None:
    """Every sort of result fits, also where numbers are undefined."""
    document = document_of(case, tmp_path)
    assert mistakes(document) == []
    for path, value in CASES[case][1].items():
        found = document
        for key in path.split("."):
            found = found[int(key)] if key.isdigit() else found.get(key, "absent")
        assert found == value, path


@pytest.mark.parametrize(
    ("case", "optional"),
    [
        ("quadratic", OPTIONAL),
        *((case, {"pairs", "assistance"}) for case in ("systems", "studies", "assistance")),
        ("dialogues", ()),
        ("options", ()),
        ("plan", {"pilot", "recommended", "designs"}),
    ],
)
def test_a_key_more_or_fewer_is_refused(case: str, optional: set[str], tmp_path: Path) -> None:
    """In every mapping of the document."""
    document = document_of(case, tmp_path)
    if case in ("dialogues", "options"):
        document = shortened(document)
    assert allows_nothing_else(document, optional) > 3
    for key, value in (("format", 99), ("kind", "ranking")):
        assert mistakes({**document, key: value})


def test_every_key_is_documented() -> None:
    """The reference names each key of the schema, with a sentence on it, and the CSV columns."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
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
