"""What is sent to a machine judge, and the key under which its answer is kept."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from itertools import count, islice, product
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from quem.errors import Mistake, QuemError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from quem.machines.material import Piece

# What an image counts as, however large it is.
IMAGE_BYTES = 3_000
_NEEDED = ("{letters}", "{token}")
_TOKEN = 12


def canonical(value: object) -> bytes:
    """Write JSON in one way only: sorted keys, no blanks, UTF-8."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")


def digest(value: object) -> str:
    """Give the SHA-256 of canonical JSON, in hexadecimal digits."""
    return hashlib.sha256(canonical(value)).hexdigest()


def letters(n: int) -> tuple[str, ...]:
    """Name solutions: A to Z, then AA, AB, and so on."""
    names = ("".join(name) for size in count(1) for name in product(ascii_uppercase, repeat=size))
    return tuple(islice(names, n))


def default_prompt() -> str:
    """Give the prompt of studies without a prompt."""
    return Path(__file__).with_name("prompt.txt").read_text("utf-8")


def read_prompt(path: Path, name: str) -> str:
    """Read the prompt of a study."""
    from quem.io.text import read_text

    text = read_text(path, name, what="prompt")
    if missing := [needed for needed in _NEEDED if needed not in text]:
        raise QuemError(
            Mistake(
                name,
                key="machine.prompt",
                message=(f"the prompt lacks {' and '.join(missing)}, which quem fills in; add it"),
            )
        )
    return text


@dataclass(frozen=True)
class Request:
    """One order of one problem's solutions, for one machine judge."""

    prompt: str  # with places for ``{n}``, ``{letters}`` and ``{token}``
    briefing: tuple[Piece, ...]
    problem: tuple[Piece, ...]
    solvers: tuple[str, ...]  # in the order of presentation; they are never sent
    solutions: tuple[tuple[Piece, ...], ...]  # in that order
    seed: int  # the repeat, and 1000 for each attempt before
    wrong: str = ""  # what was wrong in the form of the last answer; empty at first

    @property
    def letters(self) -> tuple[str, ...]:
        """Those of the solutions."""
        return letters(len(self.solutions))

    @property
    def token(self) -> str:
        """What marks hold: made of the material, so that no solution can contain its own."""
        return digest(self._material(whole=False))[:_TOKEN]

    @property
    def instructions(self) -> str:
        """The prompt, filled in."""
        filled = self.prompt.replace("{n}", str(len(self.solutions)))
        filled = filled.replace("{letters}", ", ".join(self.letters))
        return filled.replace("{token}", self.token)

    @property
    def size(self) -> int:
        """Bytes of the texts, and for each image 3,000."""
        pieces = [*self.briefing, *self.problem, *(p for one in self.solutions for p in one)]
        texts = sum(len(piece.text.encode("utf-8", "surrogatepass")) for piece in pieces)
        images = sum(piece.is_image for piece in pieces)
        return len(self.instructions.encode()) + texts + IMAGE_BYTES * images

    def document(self, *, whole: bool = True) -> dict[str, Any]:
        """Give what a command reads."""
        told = f"{self.instructions}\n\n{_again(self.wrong)}" if self.wrong else self.instructions
        return {
            "format": "quem-judge/1",
            "task": "rank",
            "seed": self.seed,
            "prompt": told,
            **self._material(whole=whole),
        }

    def _material(self, *, whole: bool) -> dict[str, Any]:
        return {
            "briefing": [_part(piece, whole=whole) for piece in self.briefing],
            "problem": [_part(piece, whole=whole) for piece in self.problem],
            "solutions": [
                {"letter": letter, "parts": [_part(piece, whole=whole) for piece in pieces]}
                for letter, pieces in zip(self.letters, self.solutions, strict=True)
            ],
        }

    def messages(self, *, whole: bool = True) -> list[dict[str, Any]]:
        """Give what a service of chat completions reads; whole as of `document`."""
        content = list(_joined(self._marked(), whole=whole))
        texts = [part["text"] for part in content if part["type"] == "text"]
        return [
            {"role": "system", "content": self.instructions},
            {"role": "user", "content": texts[0] if len(content) == 1 else content},
        ]

    def _marked(self) -> Iterator[str | Piece]:
        """The material between marks that nobody can write into it."""
        sections: list[tuple[str, Sequence[Piece]]] = []
        sections += [("BRIEFING", self.briefing)] if self.briefing else []
        sections += [("PROBLEM", self.problem)] if self.problem else []
        named = zip(self.letters, self.solutions, strict=True)
        sections += [(f"SOLUTION {letter}", pieces) for letter, pieces in named]
        for name, pieces in sections:
            yield f"<<{name} {self.token}>>\n"
            for at, piece in enumerate(pieces):
                yield "\n\n" if at else ""
                yield piece if piece.is_image else piece.text
            yield f"\n<<END {name.removeprefix('SOLUTION ')} {self.token}>>\n\n"
        yield "Now answer with the JSON object alone."
        if self.wrong:
            yield f"\n{_again(self.wrong)}"

    def images(self) -> Iterable[tuple[str, bytes]]:
        """Give the images, each with its SHA-256."""
        pieces = [*self.briefing, *self.problem, *(p for one in self.solutions for p in one)]
        return ((_sha256(piece.data), piece.data) for piece in pieces if piece.is_image)


def _again(wrong: str) -> str:
    return f"Your last answer could not be read: {wrong}. Answer again."


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _part(piece: Piece, *, whole: bool) -> dict[str, str]:
    if not piece.is_image:
        return {"kind": "text", "text": piece.text}
    data = base64.b64encode(piece.data).decode() if whole else f"sha256:{_sha256(piece.data)}"
    part = {"kind": "image", "media_type": piece.media_type, "data": data}
    return part | ({"text": piece.text} if piece.text else {})


def _joined(pieces: Iterable[str | Piece], *, whole: bool) -> Iterator[dict[str, Any]]:
    """Join texts that follow on each other; images are between them."""
    text = ""
    for piece in pieces:
        if isinstance(piece, str):
            text += piece
            continue
        text += f"[image: {piece.text}]\n" if piece.text else ""
        if text:
            yield {"type": "text", "text": text}
        text = ""
        data = _part(piece, whole=whole)["data"]
        url = f"data:{piece.media_type};base64,{data}" if whole else data
        yield {"type": "image_url", "image_url": {"url": url}}
    if text:
        yield {"type": "text", "text": text}
