"""Reads JSON that pages send, and refuses what no page of ours would send."""

from __future__ import annotations

from typing import Any, NoReturn

from flask.json.provider import DefaultJSONProvider

__all__ = ["StrictJson"]

_MOST_DIGITS = 18  # more fit into no column


class StrictJson(DefaultJSONProvider):
    """JSON as its standard has it: without NaN, and neither too deep nor with endless numbers.

    Whatever is wrong is a ValueError, which Flask answers with 400.
    """

    sort_keys = False

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:  # noqa: ANN401  JSON holds anything
        """Read JSON.

        Raises
        ------
        ValueError
        """
        try:
            return super().loads(s, parse_constant=_refuse, parse_int=_whole, **kwargs)
        except RecursionError:
            _refuse("nested too deeply")


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        _refuse("too large a number")
    return int(digits)


def _refuse(what: str) -> NoReturn:
    message = f"not allowed in JSON: {what}"
    raise ValueError(message)
