"""Writing a judging study of a pool, with safe file names, atomically."""

from __future__ import annotations

import hashlib
import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from quem.errors import Mistake, QuemError
from quem.importing.writing import write_folder
from quem.io.rows import csv_text
from quem.solutions import find_solutions
from quem.solutions.files import is_ignored
from quem.studyfile.document import yaml_of
from quem.studyfile.fields import id_trouble
from quem.studyfile.reading import draft_relevance
from quem.studyfile.subjects import PooledQuery, candidates_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path


_LONGEST = 60
_RESERVED = re.compile(r"con|prn|aux|nul|com\d|lpt\d", re.IGNORECASE)
_CANDIDATES, _JUDGED, _BRIEFING = "candidates.csv", "judged.csv", "briefing.md"


@dataclass(frozen=True)
class PoolingStudy:
    """The contents of the study."""

    id: str
    title: str
    queries: Sequence[PooledQuery]
    labels: Sequence[str]  # of the grades, lowest first
    judges: int
    judged: Mapping[tuple[str, str], float]  # earlier grades by query and case

    def write(self, folder: Path) -> list[str]:
        """Write the study atomically."""
        return write_folder(folder, self._fill)

    def _fill(self, new: Path) -> None:
        problems = safe_names(query.id for query in self.queries)
        cases = safe_names(case for query in self.queries for case in query.candidates)
        (new / "problems").mkdir()
        rows = []
        copied: dict[str, str] = {}
        for query in self.queries:
            problem = problems[query.id]
            _write(new / "problems" / f"{problem}.md", query.text)
            place = new / "solutions" / problem
            place.mkdir(parents=True)
            for case, content in query.candidates.items():
                if isinstance(content, str):
                    _write(place / f"{cases[case]}.md", content)
                else:
                    target = place / f"{cases[case]}{content.suffix}"
                    shutil.copyfile(content, target)
                    copied[str(target)] = str(content)
                rows.append((problem, cases[case], query.id, case))
        _write(new / _CANDIDATES, candidates_text(rows))
        _write(new / _BRIEFING, self._briefing())
        if self.judged:
            lines = ((*pair, f"{grade:g}") for pair, grade in self.judged.items())
            _write(new / _JUDGED, csv_text([("query", "case", "grade"), *lines]))
        _write(new / "study.yaml", yaml_of(self._study(problems), short=True))
        draft = draft_relevance(new / "study.yaml")
        _, wrong, _ = find_solutions(draft, complete=True)
        # Errors are in the documents that were copied.
        if mistakes := [
            Mistake(copied.get(one.path, one.path.removeprefix(f"{new}/")), message=one.message)
            for one in (*draft.mistakes, *wrong)
        ]:
            raise QuemError(mistakes)

    def _study(self, problems: Mapping[str, str]) -> dict[str, Any]:
        """The contents of the study file."""
        return {
            "kind": "relevance",
            "id": self.id,
            "title": self.title,
            "grades": list(self.labels),
            "candidates": _CANDIDATES,
            **({"judged": _JUDGED} if self.judged else {}),
            "judges": [{"id": f"J{n}"} for n in range(1, self.judges + 1)],
            "judging": {"briefing": _BRIEFING},
            "solutions": "solutions",
            "problems": [
                {
                    "id": problems[query.id],
                    "title": query.title or query.id,
                    "statement": f"problems/{problems[query.id]}.md",
                }
                for query in self.queries
            ],
        }

    def _briefing(self) -> str:
        rows = "".join(f"- {grade}: {label}\n" for grade, label in enumerate(self.labels))
        return (
            "In each task you see a query and what was found for it. Say of each how relevant it "
            f"is to the query:\n\n{rows}\nWhat was found is in random order, and it is hidden "
            "which program found it.\n"
        )


def safe_names(ids: Iterable[str]) -> dict[str, str]:
    """A safe file name for each id, the id itself if it is safe.

    Other names have the safe characters of the id, and ten digits of its SHA-256.
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for one in dict.fromkeys(ids):
        fits = (
            len(one) <= _LONGEST
            and not id_trouble(one)
            # A dot could begin an extension.
            and "." not in one
            and not is_ignored(one)
            and not _RESERVED.fullmatch(one)
            and one.casefold() not in taken
        )
        name = one if fits else _made(one)
        taken.add(name.casefold())
        names[one] = name
    return names


def _made(one: str) -> str:
    plain = re.sub(r"[^\w-]+", "-", one, flags=re.ASCII).strip("-_")[:40].rstrip("-")
    digits = hashlib.sha256(one.encode()).hexdigest()[:10]
    return f"{plain}-{digits}" if plain else f"id-{digits}"


def _write(path: Path, text: str) -> None:
    path.write_text(text if text.endswith("\n") else f"{text}\n", encoding="utf-8", newline="")
