"""Scores of several studies beside each other: what they are made of, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import quem
from tests.options.made import study_in
from tests.scores.made import write_retrievers

SHIPPED = Path(__file__).resolve().parents[2] / "studies"


def _refused(*given: object, **settings: object) -> str:
    with pytest.raises(quem.QuemError) as error:
        quem.compare(*given, **settings)  # type: ignore[call-overload]
    return str(error.value)


def test_one_study_gives_the_numbers_of_its_analysis(tmp_path: Path) -> None:
    """The table of one study is that of its analysis."""
    path = write_retrievers(tmp_path, "one", {"a": 0.4, "b": 1.2})
    study = quem.load_study(path, kind="retrieval")
    analyzed = quem.analyze(study)
    for compared in (quem.compare(study), quem.compare(analyzed)):
        pd.testing.assert_frame_equal(compared.means, analyzed.means)
        pd.testing.assert_frame_equal(compared.differences, analyzed.differences)
    assert compared.findings.certificates[0].claim.startswith("b scores higher than a by AP")


def test_two_studies_are_one_table(tmp_path: Path) -> None:
    """Systems are named with their studies where these share ids, in the order of the studies."""
    one = write_retrievers(tmp_path, "one", {"a": 0.3, "b": 0.9})
    two = write_retrievers(tmp_path, "two", {"a": 0.5, "c": 0.5}, seed=3)
    first, second = (quem.load_study(path, kind="retrieval") for path in (one, two))
    table = quem.compare(first, second).findings.table
    assert table.labels == ("a (one)", "b", "a (two)", "c")
    alone = [quem.analyze(study).findings.table.values for study in (first, second)]
    assert np.allclose(table.values, np.concatenate(alone), atol=1e-11)
    assert len(quem.compare(first, first).findings.table.systems) == 2
    chosen = quem.compare(first, second, systems=["b", "c"], measures=["RR", "AP"])
    assert (chosen.findings.table.systems, chosen.findings.table.columns) == (
        ("b", "c"),
        ("RR", "AP"),
    )


CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "truth": ({"truth": 1}, "two.yaml: the ground truth is not that of"),
    "queries": (
        {"queries": 26},
        "two.yaml: 2 queries are only here ('q24' and 'q25'); systems are compared on the same",
    ),
    "ties": ({"ties": "trec"}, "two.yaml: analysis.ties: is trec here and expected in"),
    "measures": ({"measures": ["AP", "P@5"]}, "two.yaml: analysis.measures: 'P@5' is only here"),
    "level": ({"level": 0.9}, "level: the studies ask for different levels: 0.95 ("),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_does_not_fit_is_refused(tmp_path: Path, what: str) -> None:
    """Another truth, other queries, measures, or settings are named with place and remedy."""
    changed, message = CHANGES[what]
    one = write_retrievers(tmp_path, "one", {"a": 0.3, "b": 0.9})
    two = write_retrievers(tmp_path, "two", {"c": 0.5}, seed=3, **changed)
    studies = [quem.load_study(path, kind="retrieval") for path in (one, two)]
    said = _refused(*studies)
    assert said.replace(f"{tmp_path}/", "").startswith(message)
    assert "\n" not in said
    if what == "level":
        assert quem.compare(*studies, level=0.8).findings.table.inference.level == 0.8
    if what == "measures":
        common = quem.compare(*studies, measures=["AP"]).findings
        assert common.table.columns == ("AP",)


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    """Systems, settings, and studies that do not fit are named."""
    study = quem.load_study(write_retrievers(tmp_path, "one", {"a": 0.3, "b": 0.9}))
    assert "systems: there is no system 'c'; there are a" in _refused(study, systems=["a", "c"])
    assert "a comparison needs two systems, and there is only a" in _refused(study, systems=["a"])
    with pytest.raises(TypeError, match="compare takes no form"):
        quem.compare(study, form="log")
    experience = quem.load_study(SHIPPED / "p3-1997" / "study.yaml")
    with pytest.raises(TypeError, match="studies of one kind, and not one of kind experience"):
        quem.compare(study, experience)
    options = quem.load_study(study_in(tmp_path, name="lists-of-options.csv"))
    assert "is of kind options, and" in _refused(study, options)


def test_a_wrong_system_is_refused_before_anything_runs(tmp_path: Path) -> None:
    """Retrieval may take hours, and a typo is told at once."""
    (tmp_path / "slow.py").write_text("def find(query, k):\n    raise SystemExit('ran')\n")
    (tmp_path / "cases.csv").write_text("id,a\nc1,1\nc2,2\n")
    (tmp_path / "study.yaml").write_text(
        "kind: retrieval\ncases: cases.csv\nqueries: leave-one-out\n"
        "retrievers: [{id: slow, python: slow:find}, {id: all, linear: {}}]\nground_truth: all\n"
    )
    study = quem.load_study(tmp_path / "study.yaml")
    assert "systems: there is no system 'slwo'; did you mean slow" in _refused(
        study, systems=["slwo"]
    )
