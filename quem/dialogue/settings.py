"""The choices of an evaluation that the paper leaves open."""

from __future__ import annotations

# Plausible values of the settings of these names; the default is one of them.
OPEN_CHOICES: dict[str, tuple[object, ...]] = {
    "k": (5, 10, 20),
    "neighbors": (5, 10, 20),
    "region_size": (5, 10, 20),
    "missing": ("zero", "worst", "skip"),
}
