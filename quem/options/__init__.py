"""Lists of options: ``evaluate`` in memory, and studies (`quem.analyze`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quem.options.analysis import evaluate

__all__ = ["evaluate"]


def __getattr__(name: str) -> Any:  # noqa: ANN401  any public name
    """Load computing modules lazily."""
    if name != "evaluate":
        raise AttributeError(f"module 'quem.options' has no attribute {name!r}")
    from quem.options.analysis import evaluate

    return evaluate


def __dir__() -> list[str]:
    return sorted(__all__)
