"""PrefLib files: orders of all judges for one problem, best first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import quem
from quem.errors import QuemError
from tests.examples import JUDGES, study_with

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAMES = "# ALTERNATIVE NAME 1: S1\n# ALTERNATIVE NAME 2: S2\n# ALTERNATIVE NAME 3: S3\n"


def cells(path: Path) -> dict[str, dict[str, float]]:
    """Give the ranks of each judge on P1."""
    table = quem.load_study(path, kind="experience").rankings
    assert table is not None
    ranks: dict[str, dict[str, float]] = {}
    for judge, solver, rank in zip(table["judge"], table["solver"], table["rank"], strict=True):
        ranks.setdefault(judge, {})[solver] = rank
    return ranks


@pytest.mark.parametrize(
    ("ending", "orders", "expected"),
    [
        ("soc", "1: 3,2,1\n1: 1,2,3\n", [{"S1": 1, "S2": 2, "S3": 3}, {"S3": 1, "S2": 2, "S1": 3}]),
        ("soi", "2: 3,1,2\n", [{"S2": 1, "S1": 2, "S3": 3}] * 2),
        (
            "toc",
            "1: {3,2},1\n1:1, {2 , 3}\n",
            [{"S1": 1, "S2": 2, "S3": 2}, {"S2": 1, "S3": 1, "S1": 2}],
        ),
        (
            "toi",
            "1: 3,{1,2}\n1: {1},2,3\n",
            [{"S1": 1, "S2": 1, "S3": 2}, {"S3": 1, "S2": 2, "S1": 3}],
        ),
    ],
)
def test_preflib_orders_are_best_first_and_one_a_judge(
    ending: str, orders: str, expected: list[dict[str, float]], make_study: Callable[..., Path]
) -> None:
    """The first order is the first judge's; an order for several is that of as many judges."""
    source = {"from": "preflib", "file": [{"file": f"p.{ending}", "problem": "P1"}]}
    path = make_study(study_with(rankings=source), **{f"p__{ending}": NAMES + orders})
    assert cells(path) == dict(zip(JUDGES, expected, strict=True))


def test_an_alternative_that_a_judge_was_not_given_has_no_rank(
    make_study: Callable[..., Path],
) -> None:
    """An incomplete order ranks the solutions it names, and says nothing of the others."""
    source = [{"file": "p.soi", "problem": "P1"}, {"file": "q.soc", "problem": "P2"}]
    files = {"p__soi": NAMES + "1: 3,1\n1: 2,3\n", "q__soc": NAMES + "2: 1,2,3\n"}
    path = make_study(study_with(rankings=source), **files)
    table = quem.load_study(path, kind="experience").rankings
    assert table is not None
    first = table[table["problem"] == "P1"]
    assert first[["judge", "solver", "rank"]].to_numpy().tolist() == [
        ["J1", "S1", 1.0],
        ["J1", "S3", 2.0],
        ["J2", "S3", 1.0],
        ["J2", "S2", 2.0],
    ]


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (NAMES + "1: 1,2\n1: 2,4\n", 5, "alternative 4 has no '# ALTERNATIVE NAME' line"),
        (NAMES + "1: 1,2,1\n", 4, "duplicate alternative"),
        (NAMES + "1: {1,2\n", 4, "a brace does not match"),
        (NAMES + "1: {1,{2},3}\n", 4, "a brace does not match"),
        (NAMES + "1:\n", 4, "this order is empty"),
        (NAMES + "1,2,3\n", 4, "is not an order such as"),
        (NAMES.replace("S2", "Sy") + "1: 1\n", 2, "unknown solver 'Sy'"),
        (NAMES.replace("S2", "S1") + "1: 1,2\n", 2, "S1 is already the name of alternative 1"),
        (NAMES, 0, "holds no orders"),
        (NAMES + "3: 1,2,3\n", 0, "holds 3 orders, and the study has 2 judges"),
        (NAMES + f"{'9' * 5000}: 1,2,3\n", 0, "orders, and the study has 2 judges"),
    ],
)
def test_mistakes_of_preflib_files_name_the_line(
    content: str, line: int, message: str, make_study: Callable[..., Path]
) -> None:
    """A wrong line of a PrefLib file is told with its number and its remedy."""
    source = [{"file": "p.toi", "problem": "P1"}]
    with pytest.raises(QuemError) as caught:
        quem.load_study(make_study(study_with(rankings=source), p__toi=content), kind="experience")
    first = caught.value.mistakes[0]
    assert first.path.endswith("p.toi")
    assert first.line == line
    assert message in first.message


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            [{"file": "rankings.csv", "problem": "P1"}],
            "rankings.csv: is not a PrefLib file of strict or tied orders",
        ),
        ([{"file": "p.toc", "problem": "P1"}], "rankings[1].file: there is no file 'p.toc'"),
        (
            [{"file": "p.toc", "problem": "P9"}],
            "rankings[1].problem: the study has no problem 'P9'",
        ),
        ({"from": "preflib", "file": "p.toc"}, "list the PrefLib files, one per problem"),
        ({"from": "preflib"}, "list the PrefLib files, one per problem"),
        ([], "names no file"),
        ({"from": "long", "file": [{"file": "p.toc", "problem": "P1"}]}, "name the file"),
    ],
)
def test_a_source_of_preflib_files_is_checked(
    source: object, message: str, make_study: Callable[..., Path]
) -> None:
    """What a study says of its PrefLib files is told where it is wrong."""
    with pytest.raises(QuemError) as caught:
        quem.load_study(make_study(study_with(rankings=source)), kind="experience")
    assert message in str(caught.value)
