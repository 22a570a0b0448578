"""Texts of judges' pages in the judge's language."""

from __future__ import annotations

__all__ = ["gettext"]


def gettext(text: str, **values: object) -> str:
    """Translate a text, and fill in values.

    Parameters
    ----------
    text : str
        In English, with places such as ``%(n)s``.
    """
    return text % values if values else text
