"""The one module that knows every kind of study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quem.experience.analysis import analyze_experience
from quem.load import Study

if TYPE_CHECKING:
    from quem.experience.result import ExperienceAnalysis

__all__ = ["analyze"]

_ANALYSES = {"experience": analyze_experience}


def analyze(study: Study, **settings: Any) -> ExperienceAnalysis:  # noqa: ANN401  see Analysis
    """Analyse a study of any kind.

    Parameters
    ----------
    study : Study
        As from `quem.load_study`.
    **settings
        Settings that replace those of the study file: ``form``, ``interval``, ``level``,
        ``score``, ``normalize``, ``reference``, ``at_least``, ``bootstrap``,
        ``permutations``, ``seed``.

    Raises
    ------
    QuemError
        A setting is wrong, or no skill function can be fitted.
    TypeError
        What is given is no study, such as the path of one.
    """
    if not isinstance(study, Study):
        message = (
            f"analyze takes a study and not {type(study).__name__}; "
            "load it first: quem.analyze(quem.load_study(path))"
        )
        raise TypeError(message)
    return _ANALYSES[study.spec.kind](study, **settings)
