"""The windows and color schemes in which pages are looked at."""

from __future__ import annotations

import os
from itertools import product
from typing import Any

import pytest

__all__ = ["EVERY_VIEW", "PHONE", "WIDE", "in_views"]

WIDE = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
# Set it to look at every view, as ``nox -s trials -- views`` does.
EVERY_VIEW = "QUEM_EVERY_VIEW"
_SIZES = {"wide": WIDE, "phone": PHONE}
_USUAL = {"wide-light", "phone-dark"}


def _view(size: str, scheme: str) -> Any:  # noqa: ANN401  what pytest calls a parameter set
    options = {"viewport": _SIZES[size], "color_scheme": scheme}
    return pytest.param(options, id=f"{size}-{scheme}")


in_views = pytest.mark.parametrize(
    "view",
    [
        _view(size, scheme)
        for size, scheme in product(_SIZES, ("light", "dark"))
        if EVERY_VIEW in os.environ or f"{size}-{scheme}" in _USUAL
    ],
)
