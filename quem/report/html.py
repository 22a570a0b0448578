"""The HTML report: one self-contained file, no request to anywhere."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from quem import __version__
from quem.resources import resource

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from jinja2 import Environment
    from markupsafe import Markup

    from quem.report.result import BaseResult

__all__ = ["Section", "TextTable", "notebook_html", "report_html"]


def report_html(result: BaseResult[Any], svgs: dict[str, str] | None = None) -> str:
    """Lay a result out as one page.

    Parameters
    ----------
    svgs : dict of str to str, optional
        The result's figures as SVG, where they are drawn already.
    """
    return _render(f"report/{result.kind}.html", result, svgs)


def notebook_html(result: BaseResult[Any]) -> str:
    """Lay a result out as the output of a notebook's cell."""
    return _render(f"report/{result.kind}-notebook.html", result, None)


def _render(template: str, result: BaseResult[Any], svgs: dict[str, str] | None) -> str:
    from quem.report.drawing import dark_rules, inline_svg, svg_text

    if svgs is None:
        svgs = {stem: svg_text(figure, stem) for stem, figure in result.figures().items()}
    context: dict[str, Any] = result.context()
    captions = context["captions"]
    figures = {stem: inline_svg(svg, stem, captions[stem]) for stem, svg in svgs.items()}
    page = (
        _environment(result.presentation().templates)
        .get_template(template)
        .render(
            **context,
            figures=figures,
            warnings=result.warnings,
            version=__version__,
            dark_figures=dark_rules("svg "),
        )
    )
    return re.sub(r"\n\s*\n+", "\n", page) + "\n"


def _environment(added: Path | None) -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader([*([added] if added else []), resource("templates")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["code"] = _code
    return environment


def _code(text: str) -> Markup:
    """Escape a text, and show what is between backticks as code."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704  escaped


@dataclass(frozen=True)
class TextTable:
    """A table of ready texts.

    Parameters
    ----------
    columns : tuple of str
        The first holds names; the others, numbers.
    words : frozenset of int
        Columns besides the first that hold words.
    muted : frozenset of (int, int)
        Cells, by row and column, that are greyed out.
    """

    caption: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    note: str = ""
    words: frozenset[int] = frozenset()
    muted: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True)
class Section:
    """A part of a report under one heading.

    Parameters
    ----------
    text : list of str
        Paragraphs.
    figures : tuple of str
        Stems of the figures that belong here.
    """

    id: str
    title: str
    text: list[str] = field(default_factory=list)
    figures: tuple[str, ...] = ()
    tables: list[TextTable] = field(default_factory=list)
