"""Retrievers against a ground truth: ``evaluate`` in memory, and studies (`quem.analyze`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quem.retrieval.memory import evaluate

__all__ = ["evaluate"]


def __getattr__(name: str) -> Any:  # noqa: ANN401  any public name
    """Load what computes only when it is used."""
    if name != "evaluate":
        raise AttributeError(f"module 'quem.retrieval' has no attribute {name!r}")
    from quem.retrieval.memory import evaluate

    return evaluate


def __dir__() -> list[str]:
    return sorted(__all__)
