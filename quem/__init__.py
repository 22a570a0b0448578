"""Measure expert systems in years of human experience (QUEM; Hayes & Parzen 1997).

``quem.load_study(path)`` reads a study, ``quem.study(...)`` makes one of a table of rankings,
``quem.analyze(study)`` analyzes it, ``quem.compare(study)`` compares its systems, and
``quem.plan()`` says how large a study has to be. Importing this package loads nothing else until
one of its names is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quem import lists, options
    from quem.comparing import compare
    from quem.errors import QuemError
    from quem.kinds import analyze, load_study, plan
    from quem.rankings.loading import Study
    from quem.rankings.memory import study
    from quem.scoring import score
    from quem.simulation import simulate_study

__all__ = [
    "QuemError",
    "Study",
    "__version__",
    "analyze",
    "compare",
    "lists",
    "load_study",
    "options",
    "plan",
    "score",
    "simulate_study",
    "study",
]
__version__ = "0.1.0"

_HOMES = {
    "QuemError": "quem.errors",
    "Study": "quem.rankings.loading",
    "analyze": "quem.kinds",
    "compare": "quem.comparing",
    "load_study": "quem.kinds",
    "plan": "quem.kinds",
    "score": "quem.scoring",
    "simulate_study": "quem.simulation",
    "study": "quem.rankings.memory",
}


_PACKAGES = ("lists", "options")


def __getattr__(name: str) -> Any:  # noqa: ANN401  any public name
    from importlib import import_module

    if name in _PACKAGES:
        return import_module(f"quem.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'quem' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
