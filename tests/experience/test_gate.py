"""Whether years may be stated, and what is said where they may not."""

from __future__ import annotations

import re

import numpy as np
import pytest

import quem
from quem.experience.simulation import HIGH, Scenario, simulate
from tests.experience.years import statements, states_years, unmarked


def test_without_a_relation_no_line_states_years() -> None:
    """In 20 studies in which experience says nothing of quality: summary, methods, warnings."""
    simulated = simulate(Scenario(8, 3, 4, (6.0, None), noise=HIGH), 20, seed=2)
    rng, shut = np.random.default_rng(5), 0
    simulated.experience[:] = rng.permuted(simulated.experience, axis=1)
    for index in range(20):
        result = quem.analyze(simulated.study(index), bootstrap=0, permutations=0)
        gate = result.findings.gate
        said = result.to_dict()
        assert said["gate"] == {"passed": gate.passed, "reasons": list(gate.reasons)}
        assert said["headline"] == ("years" if gate.passed else "position")
        texts = statements(result)
        stated = [states_years(text) for text in texts]
        if gate.passed:
            assert all(stated[:3])
            continue
        shut += 1
        assert not any(stated), texts[stated.index(True)]
        assert texts[0].count(": no years.") == texts[1].count(": no years.") == 2
        assert not re.search(r"K\d \d", repr(result))
        # The numbers stay where they are marked.
        assert said["estimates"][0]["experience"] == result.findings.estimates[0].experience
    assert shut >= 18


def test_a_page_without_years() -> None:
    """But for the table that is marked; the figures that show years are not made."""
    simulated = simulate(Scenario(8, 3, 4, (6.0, None), noise=HIGH), 1, seed=2)
    simulated.experience[:] = simulated.experience[:, ::-1]
    result = quem.analyze(simulated.study(0), bootstrap=100, permutations=0)
    assert not result.findings.gate.passed
    whole = result.to_html()
    page = unmarked(whole)
    assert not states_years(page)
    assert page.count(": no years.") == 2  # of each system, in the methods paragraph
    assert "This study cannot state the systems’ skill in years." in page
    assert "What the line would give" in whole
    assert "estimate" not in result.figures()


@pytest.mark.parametrize(
    ("subjects", "direction", "reasons", "words"),
    [
        (7, 1, [], ""),
        (
            4,
            1,
            ["few-subjects"],
            "4 subjects are too few: of such intervals that pass the test, 8 to 15 in 100 miss, "
            "where 5 should.",
        ),
        (7, -1, ["decreasing-skill-function"], "average rank falls with experience (p < "),
    ],
)
def test_reasons(subjects: int, direction: int, reasons: list[str], words: str) -> None:
    """Too few people, and ranks upside down; both are warnings, too."""
    simulated = simulate(Scenario(subjects, 3, 6, (6.0,)), 1, seed=1)
    if direction < 0:
        simulated.ranks[:] = subjects + 2 - simulated.ranks
    result = quem.analyze(simulated.study(0), bootstrap=0, permutations=0)
    assert list(result.findings.gate.reasons) == reasons
    assert words in " ".join(result.summary().split())
    assert set(reasons) <= {warning.code for warning in result.warnings}
