"""Studies with solutions, written to folders in many ways."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from PIL import Image, PngImagePlugin

from quem.solutions import Solutions, check_solutions, find_solutions
from quem.studyfile.reading import draft_study
from tests.examples import PROBLEMS, SOLVERS, study_with, write_study

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from quem.errors import Mistake, StudyWarning

SOLUTIONS = {f"{problem}/{solver}.md": "A plan." for problem in PROBLEMS for solver in SOLVERS}


def write_judged(
    folder: Path, files: Mapping[str, str | bytes | None] = {}, **changes: object
) -> Path:
    """Write a study that waits for judges, with a solution by each solver."""
    study = write_study(folder, study_with(**{"rankings": None, **changes}))
    (folder / "rankings.csv").unlink()
    for name, content in {**SOLUTIONS, **files}.items():
        if content is None:
            continue
        path = folder / name[1:] if name.startswith("/") else folder / "solutions" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return study


def found_in(
    study: Path, *, complete: bool = True
) -> tuple[Solutions, list[Mistake], list[StudyWarning]]:
    """Find the solutions of a study file that has no mistakes of its own."""
    draft = draft_study(study)
    assert draft.mistakes == []
    return find_solutions(draft, complete=complete)


def messages(study: Path, *, complete: bool = True) -> list[str]:
    """List the mistakes in a study's solutions, with paths relative to its folder."""
    _, mistakes, _ = found_in(study, complete=complete)
    return [str(mistake).replace(f"{study.parent}/", "") for mistake in mistakes]


def doubts(study: Path) -> list[tuple[str, str]]:
    """List the doubts about the solutions of a study: code, and message without folders."""
    _, mistakes, warnings = check_solutions(draft_study(study), complete=True)
    assert mistakes == []
    return [(doubt.code, doubt.message.replace(f"{study.parent}/", "")) for doubt in warnings]


def image(form: str = "PNG", size: tuple[int, int] = (4, 4), **options: str) -> bytes:
    """Bytes of an image; options become its text chunks."""
    info = PngImagePlugin.PngInfo()
    for name, text in options.items():
        info.add_text(name, text)
    out = io.BytesIO()
    Image.new("RGB", size).save(out, form, **({"pnginfo": info} if form == "PNG" else {}))
    return out.getvalue()
