"""What a person did who wrote what the YAML parser could not read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import yaml

__all__ = ["explain"]

_NO_SPACE = re.compile(r"(\s*(?:- +)?)\w+:(?=[^\s:/])")


def explain(error: yaml.MarkedYAMLError, text: str) -> tuple[int, int, str]:
    """Say where a file stops being YAML, and how to mend it.

    Parameters
    ----------
    text : str
        The file.

    Returns
    -------
    line, column : int
        Counted from 1; 0 where the parser gives no place.
    message : str
    """
    context, problem = error.context or "", error.problem or ""
    start, end = error.context_mark or error.problem_mark, error.problem_mark
    if start is None or end is None:
        return 0, 0, f"{problem}; check the indentation and the quotes"
    lines = text.split("\n")
    character = lines[end.line][end.column : end.column + 1] if end.line < len(lines) else ""
    told = ", ".join(filter(None, (context, problem)))
    mark, message = end, f"{told}; look at this line and the one above it"
    if "quoted scalar" in context:
        mark, message = start, "the quote that begins here is never closed"
    elif character == "\t":
        message = "there is a tab; indent with spaces"
    elif "directive" in context:
        mark, message = start, "a line cannot begin with %; put it in quotes"
    elif "cannot start any token" in problem:
        message = f"a value cannot begin with {character}; put the text in quotes"
    elif "simple key" in context or "mapping values" in problem:
        # The parser stumbles in the line with the mistake or, still reading text, below it.
        for number in dict.fromkeys((start.line, max(end.line - 1, 0), end.line)):
            if number < len(lines) and (found := _NO_SPACE.match(lines[number])):
                return number + 1, len(found[1]) + 1, "a space is missing after the colon"
        if "mapping values" in problem:
            message = "put text that holds ': ' in quotes"
    return mark.line + 1, mark.column + 1, message
