"""Files of solutions, written and read as `quem check` and judges' pages do."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PIL import Image

from quem.blinding.rendering import Rendered, render_solution
from quem.solutions import Solution, SolutionFile
from quem.solutions.files import inspect
from quem.solutions.patterns import word_pattern

if TYPE_CHECKING:
    import re
    from pathlib import Path


def written(folder: Path, name: str, content: str | bytes, **keys: Any) -> SolutionFile:  # noqa: ANN401  of the file
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return replace(inspect(path, name, name), **keys)


def asset(number: int, page: int | None = None) -> str:
    return f"/asset/{number}" if page is None else f"/asset/{number}/{page}"


def rendered(*files: SolutionFile, **keys: Any) -> Rendered:  # noqa: ANN401  of the page
    return render_solution(Solution("P1", "S1", files), asset, **keys)


def shown(file: SolutionFile) -> str:
    return str(rendered(file).parts[0].html)


def patterns(*words: str, exact: bool = False) -> tuple[re.Pattern[str], ...]:
    made = (word_pattern(word, exact=exact) for word in words)
    return tuple(pattern for pattern in made if pattern)


def opened(raw: bytes, mode: str = "") -> Image.Image:
    image = Image.open(io.BytesIO(raw))
    return image.convert(mode) if mode else image
