"""A judging study of a pool: its files, named safely, written whole or not at all."""

from __future__ import annotations

import csv
import hashlib
import io
import re
import shutil
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

import yaml

from quem.errors import Mistake, QuemError
from quem.importing.writing import write_folder
from quem.solutions import find_solutions
from quem.solutions.files import is_ignored
from quem.studyfile.candidates import candidates_text
from quem.studyfile.fields import id_trouble
from quem.studyfile.reading import draft_relevance

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

_LONGEST = 60
_RESERVED = re.compile(r"con|prn|aux|nul|com\d|lpt\d", re.IGNORECASE)
_CANDIDATES, _JUDGED, _BRIEFING = "candidates.csv", "judged.csv", "briefing.md"


@dataclass(frozen=True)
class PooledQuery:
    """A query and its candidates."""

    id: str
    title: str
    text: str  # what judges read of it, in Markdown
    candidates: Mapping[str, str | Path]  # by case: what judges read of it, in Markdown, or a file


@dataclass(frozen=True)
class PoolingStudy:
    """What is written."""

    id: str
    title: str
    queries: tuple[PooledQuery, ...]
    labels: tuple[str, ...]  # of the grades, the lowest first; empty where judges rank
    judges: int
    # Grades from before, by query and case.
    judged: Mapping[tuple[str, str], float] = field(default_factory=dict)


def safe_names(ids: Iterable[str]) -> dict[str, str]:
    """Give each id a name that every file system takes, its own where that is one.

    Another one has what is plain of the id, and ten digits of its SHA-256.
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for one in dict.fromkeys(ids):
        fits = (
            len(one) <= _LONGEST
            and not id_trouble(one)
            # A dot could begin an ending.
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


def write_relevance_study(folder: Path, made: PoolingStudy) -> list[str]:
    """Write a judging study, whole or not at all."""

    def fill(new: Path) -> None:
        problems = safe_names(query.id for query in made.queries)
        cases = safe_names(case for query in made.queries for case in query.candidates)
        (new / "problems").mkdir()
        rows = []
        shown: dict[str, str] = {}
        for query in made.queries:
            problem = problems[query.id]
            _write(new / "problems" / f"{problem}.md", query.text)
            place = new / "solutions" / problem
            place.mkdir(parents=True)
            for case, content in query.candidates.items():
                if isinstance(content, str):
                    _write(place / f"{cases[case]}.md", content)
                else:
                    target = f"{cases[case]}{content.suffix}"
                    shutil.copyfile(content, place / target)
                    shown[f"solutions/{problem}/{target}"] = str(content)
                rows.append((problem, cases[case], query.id, case))
        _write(new / _CANDIDATES, candidates_text(rows))
        _write(new / _BRIEFING, _briefing(made.labels))
        if made.judged:
            _write(new / _JUDGED, _qrels(made.judged))
        text = yaml.safe_dump(
            _study(made, problems),
            sort_keys=False,
            allow_unicode=True,
            default_flow_style=None,
            width=inf,
        )
        _write(new / "study.yaml", text)
        draft = draft_relevance(new / "study.yaml")
        _, wrong, _ = find_solutions(draft, complete=True)
        if mistakes := [*draft.mistakes, *wrong]:
            raise QuemError(_blamed(mistakes, shown, str(new)))

    return write_folder(folder, fill)


def _write(path: Path, text: str) -> None:
    path.write_text(text if text.endswith("\n") else f"{text}\n", encoding="utf-8", newline="")


def _blamed(mistakes: list[Mistake], shown: Mapping[str, str], new: str) -> list[Mistake]:
    """What is wrong is wrong in the documents that were copied."""
    return [
        Mistake(
            shown.get(one.path.removeprefix(f"{new}/"), one.path.removeprefix(f"{new}/")),
            message=one.message,
        )
        for one in mistakes
    ]


def _study(made: PoolingStudy, problems: Mapping[str, str]) -> dict[str, Any]:
    """Give the content of the study file."""
    return {
        "kind": "relevance",
        "id": made.id,
        "title": made.title,
        **({"grades": list(made.labels)} if made.labels else {}),
        "candidates": _CANDIDATES,
        **({"judged": _JUDGED} if made.judged else {}),
        "judges": [{"id": f"J{n}"} for n in range(1, made.judges + 1)],
        "judging": {"briefing": _BRIEFING},
        "solutions": "solutions",
        "problems": [
            {
                "id": problems[query.id],
                "title": query.title or query.id,
                "statement": f"problems/{problems[query.id]}.md",
            }
            for query in made.queries
        ],
    }


def _qrels(judged: Mapping[tuple[str, str], float]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("query", "case", "grade"))
    writer.writerows((*pair, f"{grade:g}") for pair, grade in judged.items())
    return text.getvalue()


def _briefing(labels: tuple[str, ...]) -> str:
    if not labels:
        return (
            "In each task you see a query and what was found for it. Rank it from what suits the "
            "query best to what suits it worst; what suits it equally well is tied.\n"
        )
    rows = "".join(f"- {grade}: {label}\n" for grade, label in enumerate(labels))
    return (
        "In each task you see a query and what was found for it. Say of each how relevant it is "
        f"to the query:\n\n{rows}\nWhat was found is in random order, and it is hidden which "
        "program found it.\n"
    )
