"""Requests to machine judges, and their cache keys."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from itertools import chain, count, groupby, islice, product
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from quem.errors import Mistake, QuemError
from quem.io.text import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.machines.material import Piece

# Nominal size of an image, whatever its real one.
IMAGE_BYTES = 3_000
_TOKEN = 12


def canonical(value: object) -> bytes:
    """Canonical JSON: sorted keys, no blanks, UTF-8."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")


def digest(value: object) -> str:
    """SHA-256 of canonical JSON, in hexadecimal digits."""
    return hashlib.sha256(canonical(value)).hexdigest()


def default_prompt() -> str:
    """The prompt of studies without their own."""
    return Path(__file__).with_name("prompt.txt").read_text("utf-8")


def read_prompt(path: Path, name: str) -> str:
    """The prompt of a study."""
    text = read_text(path, name, what="prompt")
    if missing := [needed for needed in ("{letters}", "{token}") if needed not in text]:
        message = f"the prompt lacks {' and '.join(missing)}, which quem fills in; add it"
        raise QuemError(Mistake(name, key="machine.prompt", message=message))
    return text


@dataclass(frozen=True)
class Request:
    """A request to rank one problem's solutions in one order."""

    prompt: str  # with placeholders ``{n}``, ``{letters}`` and ``{token}``
    briefing: tuple[Piece, ...]
    problem: tuple[Piece, ...]
    solvers: tuple[str, ...]  # in order of presentation; never sent
    solutions: tuple[tuple[Piece, ...], ...]  # in the same order
    seed: int  # the repeat, plus 1000 per earlier attempt
    wrong: str = ""  # formal error of the last answer; empty at first

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters of the solutions: A to Z, then AA, AB, and so on."""
        names = chain.from_iterable(product(ascii_uppercase, repeat=size) for size in count(1))
        return tuple(map("".join, islice(names, len(self.solutions))))

    @property
    def token(self) -> str:
        """The token in delimiters: a digest of the material, so no solution can contain it."""
        return digest(self._material(whole=False))[:_TOKEN]

    @property
    def instructions(self) -> str:
        """The prompt, filled in."""
        filled = self.prompt.replace("{n}", str(len(self.solutions)))
        filled = filled.replace("{letters}", ", ".join(self.letters))
        return filled.replace("{token}", self.token)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The material besides the prompt."""
        return (*self.briefing, *self.problem, *chain.from_iterable(self.solutions))

    @property
    def size(self) -> int:
        """Bytes of the texts, and 3,000 per image."""
        texts = [self.instructions, *(piece.text for piece in self.pieces)]
        images = sum(piece.is_image for piece in self.pieces)
        return len("".join(texts).encode("utf-8", "surrogatepass")) + IMAGE_BYTES * images

    def document(self, *, whole: bool = True) -> dict[str, Any]:
        """The input of a command; images as their SHA-256 unless `whole`."""
        return {
            "format": "quem-judge/1",
            "task": "rank",
            "seed": self.seed,
            "prompt": "\n\n".join([self.instructions, *self._again]),
            **self._material(whole=whole),
        }

    @property
    def _again(self) -> list[str]:
        wrong = self.wrong
        return [f"Your last answer could not be read: {wrong}. Answer again."] if wrong else []

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
        """The messages to a chat-completions service; images as in `document`."""
        content: list[dict[str, Any]] = []
        for is_text, those in groupby(self._marked(whole=whole), lambda one: isinstance(one, str)):
            if is_text:
                content.append({"type": "text", "text": "".join(map(str, those))})
            else:
                content += [{"type": "image_url", "image_url": one} for one in those]
        return [
            {"role": "system", "content": self.instructions},
            {"role": "user", "content": content[0]["text"] if len(content) == 1 else content},
        ]

    def _marked(self, *, whole: bool) -> Iterator[str | dict[str, str]]:
        """The material between unforgeable delimiters; an image as its address."""
        sections = {"BRIEFING": self.briefing, "PROBLEM": self.problem}
        sections = {name: pieces for name, pieces in sections.items() if pieces}
        named = zip(self.letters, self.solutions, strict=True)
        sections |= {f"SOLUTION {letter}": pieces for letter, pieces in named}
        for name, pieces in sections.items():
            yield f"<<{name} {self.token}>>\n"
            for at, piece in enumerate(pieces):
                yield "\n\n" if at else ""
                if not piece.is_image:
                    yield piece.text
                    continue
                yield f"[image: {piece.text}]\n" if piece.text else ""
                data = _part(piece, whole=whole)["data"]
                yield {"url": f"data:{piece.media_type};base64,{data}" if whole else data}
            yield f"\n<<END {name.removeprefix('SOLUTION ')} {self.token}>>\n\n"
        yield "\n".join(["Now answer with the JSON object alone.", *self._again])


def _part(piece: Piece, *, whole: bool) -> dict[str, str]:
    if not piece.is_image:
        return {"kind": "text", "text": piece.text}
    data = base64.b64encode(piece.data).decode() if whole else f"sha256:{piece.sha256}"
    part = {"kind": "image", "media_type": piece.media_type, "data": data}
    return part | ({"text": piece.text} if piece.text else {})
