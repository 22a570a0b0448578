"""The check of wording finds what it should, and nothing in what is checked."""

from __future__ import annotations

import pytest

from tests.docs.words import check, findings


def test_checked_texts_are_clean() -> None:
    """Docs, templates, and the listed folders of code use no wording to avoid."""
    assert findings() == []


@pytest.mark.parametrize(
    "text",
    [
        "It prints one link a judge.",
        "The estimate rests on two judges.",
        "r = 0.9, and below .71 it is weak",
        "'x' is no number",
        "Email each judge his link.",
    ],
)
def test_wording_is_found(text: str) -> None:
    """Each example breaks a rule."""
    assert list(check(text))


@pytest.mark.parametrize(
    "text",
    ["The p value is .04.", "p = .0035", "`one link a judge`", "There is no error, and no longer."],
)
def test_other_wording_is_not(text: str) -> None:
    """P values lack the zero, and code is not prose."""
    assert not list(check(text))
