"""The report: a self-contained page without network requests, and other files.

Each is replaced atomically, analysis.json last.
"""

from __future__ import annotations

import json
import math
import os
import re
from base64 import b64encode
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Literal

from quem import __version__
from quem.errors import FileError, Mistake, QuemError, refuse
from quem.resources import resource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from jinja2 import Environment
    from markupsafe import Markup

    from quem.report.result import BaseResult, Content


def report_html(
    result: BaseResult[Any],
    svgs: dict[str, str] | None = None,
    tables: Sequence[str] = ("csv",),
) -> str:
    """The report of a result as one page."""
    return _render(f"report/{result.template or result.kind}.html", result, svgs, tables)


def notebook_html(result: BaseResult[Any]) -> str:
    """The output of a notebook cell for a result."""
    return _render(f"report/{result.template or result.kind}-notebook.html", result, None)


def _render(
    template: str,
    result: BaseResult[Any],
    svgs: dict[str, str] | None,
    tables: Sequence[str] = (),
) -> str:
    from quem.report.drawing import dark_rules, inline_svg, svg_text

    if svgs is None:
        svgs = {stem: svg_text(figure, stem) for stem, figure in result.figures().items()}
    context: dict[str, Any] = result.context()
    # Alternative texts of figures; mostly the captions.
    labels = context.get("labels", context["captions"])
    figures = {stem: inline_svg(svg, stem, labels[stem]) for stem, svg in svgs.items()}
    for stem, draw in result.presentation().narrow().items():
        if stem == context["first_figure"] and (figure := draw(result.findings)):
            name = f"{stem}-narrow"
            figures[name] = inline_svg(svg_text(figure, name), name, labels[stem])
    page = (
        _environment()
        .get_template(template)
        .render(
            **context,
            figures=figures,
            warnings=result.warnings,
            version=__version__,
            with_csv="csv" in tables,
            dark_figures=dark_rules("svg "),
        )
    )
    return re.sub(r"\n\s*\n+", "\n", page) + "\n"


def rendered(template: str, **context: object) -> str:
    """A rendered template of reports."""
    return _environment().get_template(f"report/{template}").render(context)


def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(resource("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["code"] = _code
    environment.globals["font"] = _font
    return environment


@cache
def _font(name: str) -> str:
    """A font of the judges' pages, subset to common letters, in Base64; empty without it."""
    path = resource("webjudge/static/vendor") / f"{name}-basic-wght-normal.woff2"
    return b64encode(path.read_bytes()).decode() if path.is_file() else ""


def _code(text: str) -> Markup:
    """Escape a text, with parts in backticks as code."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704  escaped


@dataclass(frozen=True)
class TextTable:
    """A table of formatted texts."""

    caption: str
    columns: tuple[str, ...]  # the first holds names; the others, numbers
    rows: Sequence[tuple[str, ...]]
    note: str = ""
    words: frozenset[int] = frozenset()  # columns besides the first that hold words
    muted: frozenset[tuple[int, int]] = frozenset()  # grayed-out cells by row and column
    is_open: bool = False  # whether a long table is unfolded


@dataclass(frozen=True)
class Check:
    """A line of a card on the first screen."""

    sign: Literal["good", "warn", "bad"]
    title: str  # a short sentence
    text: str  # the number behind it


@dataclass(frozen=True)
class Section:
    """A section of a report under one heading."""

    id: str
    title: str
    text: list[str] = field(default_factory=list)  # paragraphs
    figures: tuple[str, ...] = ()  # stems of its figures
    tables: list[TextTable] = field(default_factory=list)


def write_report(
    result: BaseResult[Any],
    folder: Path,
    tables: Sequence[str] = ("csv",),
    figures: Sequence[str] = ("svg",),
    dpi: int = 160,
) -> None:
    """Write every file of a result's report."""
    _refuse_file(folder)
    again = (folder / "analysis.json").is_file()
    made = report_files(result, tables, figures, dpi)
    files: dict[str, Content] = {**result.attachments(tables), **made}
    write_files(folder, files, keep=result.inputs)
    # Remove files of an earlier report that this one lacks, as they would contradict it.
    for name in result.file_names - set(files) if again else ():
        if not _is_one_of(folder / name, result.inputs):
            (folder / name).unlink(missing_ok=True)


def report_files(
    result: BaseResult[Any],
    tables: Sequence[str] = ("csv",),
    figures: Sequence[str] = ("svg",),
    dpi: int = 160,
) -> dict[str, bytes]:
    """The report's files except attachments, by name, in writing order."""
    from quem.report.drawing import FORMATS, pdf_bytes, png_bytes, svg_text
    from quem.report.tables import table_files

    if unknown := [name for name in figures if name not in FORMATS]:
        raise QuemError(f"figures: there is no format {unknown[0]!r}; use {', '.join(FORMATS)}")
    files: dict[str, bytes] = {}
    svgs = {}
    for stem, figure in result.figures().items():
        svgs[stem] = svg_text(figure, stem)
        drawn: dict[str, Callable[[], bytes]] = {
            "svg": svgs[stem].encode,
            "png": partial(png_bytes, figure, dpi),
            "pdf": partial(pdf_bytes, figure, stem),
        }
        files |= {f"{stem}.{ending}": drawn[ending]() for ending in figures}
    files.update(table_files(result, tables))
    files["report.html"] = report_html(result, svgs, tables).encode()
    files["analysis.json"] = json_text(result.to_dict()).encode()
    return files


def json_text(content: dict[str, Any]) -> str:
    """Plain data as JSON, numbers with 12 significant digits, NaN and infinity as null."""
    return json.dumps(_plain(content), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:  # noqa: ANN401  JSON holds anything
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.12g}") if math.isfinite(value) else None
    return value


def write_files(
    folder: Path, files: Mapping[str, Content], keep: Iterable[Path] = (), mode: int = 0o666
) -> None:
    """Write files atomically in the given order."""
    _refuse_file(folder)
    _refuse_taken(folder, files, keep)
    is_new = not folder.exists()
    parts = {name: folder / f".{name}.{os.getpid()}.part" for name in files}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            with open(parts[name], "wb", opener=partial(os.open, mode=mode)) as part:
                part.writelines([content] if isinstance(content, bytes) else content)
        for name in files:
            parts[name].replace(folder / name)
    except OSError as error:
        raise FileError(
            folder, f"cannot be written: {error.strerror or error}; name another folder"
        ) from None
    finally:
        if folder.is_dir():
            for left in parts.values():
                left.unlink(missing_ok=True)
            if is_new:
                # A folder with files stays.
                with suppress(OSError):
                    folder.rmdir()


def _refuse_taken(folder: Path, names: Iterable[str], keep: Iterable[Path]) -> None:
    """Refuse to overwrite files of the study, and folders."""
    mistakes = []
    for name in names:
        if _is_one_of(folder / name, keep):
            message = "belongs to the study and would be overwritten; name another folder"
            mistakes.append(Mistake(str(folder / name), message=message))
        elif (folder / name).is_dir():
            message = "is a folder, where a file of that name is to be written; move it away"
            mistakes.append(Mistake(str(folder / name), message=message))
    refuse(mistakes)


def _is_one_of(path: Path, others: Iterable[Path]) -> bool:
    return path.exists() and any(other.exists() and path.samefile(other) for other in others)


def _refuse_file(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise FileError(folder, "is a file; name a folder to write to")
