"""Scores of several studies beside each other: what they are made of, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quem
from tests.options.made import study_in
from tests.retrieval.made import write_study
from tests.scores.made import table_of, write_retrievers

SHIPPED = Path(__file__).resolve().parents[2] / "studies"


def _refused(*given: object, **settings: object) -> str:
    with pytest.raises(quem.QuemError) as error:
        quem.compare(*given, **settings)  # type: ignore[call-overload]
    return str(error.value)


def test_two_studies_are_one_table(tmp_path: Path) -> None:
    one = write_retrievers(tmp_path, "one", {"a": 0.3, "b": 0.9})
    two = write_retrievers(tmp_path, "two", {"a": 0.5, "c": -0.5}, seed=3)
    first, second = (quem.load_study(path, kind="retrieval") for path in (one, two))
    table = quem.compare(first, second).findings.table
    assert table.labels == ("a (one)", "b", "a (two)", "c")
    alone = [quem.analyze(study).findings.table.values for study in (first, second)]
    assert np.allclose(table.values, np.concatenate(alone), atol=1e-11)
    unknown = "not examined: sample of judges, unjudged cases, and order of ties"
    assert table.certificate("b", "c").verdict.endswith(unknown)
    assert len(quem.compare(first, first).findings.table.systems) == 2
    chosen = quem.compare(first, second, systems=["b", "c"], measures=["RR", "AP"])
    assert chosen.findings.table.systems == ("b", "c")
    assert chosen.findings.table.columns == ("RR", "AP")


CHANGES: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    ({"truth": 1}, "two.yaml: the ground truth is not that of", {}),
    ({"queries": 26}, "two.yaml: 2 queries are only here ('q24' and 'q25')", {}),
    ({"ties": "trec"}, "two.yaml: analysis.ties: is trec here and expected in", {}),
    (
        *({"measures": ["AP", "P@5"]}, "two.yaml: analysis.measures: 'P@5' is only here"),
        {"measures": ["AP"]},
    ),
    ({"level": 0.9}, "level: the studies ask for different levels: 0.95 (", {"level": 0.8}),
]


@pytest.mark.parametrize(("changed", "message", "remedy"), CHANGES)
def test_what_does_not_fit_is_refused(
    tmp_path: Path, changed: dict[str, Any], message: str, remedy: dict[str, Any]
) -> None:
    """Another truth, other queries, measures, or settings are named with place and remedy."""
    one = write_retrievers(tmp_path, "one", {"a": 0.3, "b": 0.9})
    two = write_retrievers(tmp_path, "two", {"c": 0.5}, seed=3, **changed)
    studies = [quem.load_study(path, kind="retrieval") for path in (one, two)]
    assert _refused(*studies).replace(f"{tmp_path}/", "").startswith(message)
    if remedy:
        table = quem.compare(*studies, **remedy).findings.table
        assert (table.columns[0], table.inference.level) == ("AP", remedy.get("level", 0.95))


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    study = quem.load_study(write_retrievers(tmp_path, "one", {"a": 0.3, "b": 0.9}))
    assert "systems: there is no system 'c'; there are a" in _refused(study, systems=["a", "c"])
    assert "a comparison needs two systems, and there is only a" in _refused(study, systems=["a"])
    assert _refused(study, measures=["AP", "Q@5"]).startswith("measures: ")
    with pytest.raises(TypeError, match="compare takes no form"):
        quem.compare(study, form="log")
    experience = quem.load_study(SHIPPED / "p3-1997" / "study.yaml")
    with pytest.raises(TypeError, match="studies of one kind, and not one of kind experience"):
        quem.compare(study, experience)
    options = quem.load_study(study_in(tmp_path, name="lists-of-options.csv"))
    assert "is of kind options, and" in _refused(study, options)


def test_a_wrong_system_is_refused_before_anything_runs(tmp_path: Path) -> None:
    retrievers: list[Any] = [{"id": "slow", "python": "slow:find"}, {"id": "all", "linear": {}}]
    code = "def find(query, k):\n    raise SystemExit('ran')\n"
    study = quem.load_study(write_study(tmp_path, retrievers, "all", slow_py=code))
    message = _refused(study, systems=["slwo"])
    assert message.startswith("systems: there is no system 'slwo'; did you mean slow")


@pytest.mark.parametrize(("count", "first"), [(26, "a"), (27, "1")])
def test_many_systems_are_numbered(count: int, first: str) -> None:
    """Letters mark up to 26 systems, and numbers more; a notebook shows the table, too."""
    noise = np.random.default_rng(0).normal(0, 0.01, (count, 30, 1))
    table = table_of(np.linspace(0, 1, count)[:, np.newaxis, np.newaxis] + noise)
    second = str(table).splitlines()[2].split()
    assert (second[0], second[3]) == ("b" if first == "a" else "2", first)
    assert table._repr_html_().startswith("<table")
