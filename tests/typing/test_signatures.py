"""No public signature says Any, but for JSON."""

from __future__ import annotations

import inspect
import re
from functools import reduce
from typing import TYPE_CHECKING

import quem
from quem.comparison.result import ComparisonResult
from quem.kinds import KINDS, AnyStudy
from quem.planning.result import PlanResult
from quem.scores.result import ScoresResult
from quem.scores.table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Iterator

RESULTS = [kind.result() for kind in KINDS.values()]
PUBLIC = [
    *(getattr(quem, name) for name in quem.__all__),
    *(getattr(package, name) for package in (quem.lists, quem.options) for name in package.__all__),
    *(AnyStudy, *RESULTS, ComparisonResult, PlanResult, ScoresResult, ScoreTable),
]
LOOSE = re.compile(r"(?<!dict\[str, )(?<!integer\[)\bAny\b")  # not JSON, nor of any width


def within(member: object, name: str) -> object:
    """The function of a property, a cached one, or a static method."""
    return getattr(member, name, member)


def signatures(owner: object) -> Iterator[tuple[str, str]]:
    """The annotations of a function, or of the public members of a class and of its fields."""
    if inspect.isfunction(owner):
        for name, annotation in owner.__annotations__.items():
            yield f"{owner.__module__}.{owner.__qualname__}({name})", str(annotation)
    elif inspect.isclass(owner):
        for base in owner.__mro__:
            if not base.__module__.startswith("quem."):
                continue
            for name, annotation in inspect.get_annotations(base).items():
                if not name.startswith("_"):
                    yield f"{base.__module__}.{base.__qualname__}.{name}", str(annotation)
            for name, member in vars(base).items():
                if not name.startswith("_") or name in ("__init__", "__call__"):
                    yield from signatures(reduce(within, ("fget", "func", "__func__"), member))


def test_no_public_signature_says_any() -> None:
    told = dict(pair for one in PUBLIC for pair in signatures(one))
    assert len(told) > 200
    loose = {name: text for name, text in told.items() if LOOSE.search(text)}
    assert loose == {}
