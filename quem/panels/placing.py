"""A judging study in which systems are ranked with a few people of a panel on each problem."""

from __future__ import annotations

import hashlib
import shutil
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml

from quem.errors import FileError, Mistake, QuemError
from quem.studyfile.reading import draft_study
from quem.studyfile.subjects import id_trouble

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from quem.panels.package import ReferencePanel

    Floats = NDArray[np.float64]


PANEL = "panel.zip"


def drawn_anchors(
    panel: ReferencePanel, systems: Mapping[str, object], count: int
) -> dict[str, tuple[str, ...]]:
    """Draw the anchors of each problem for systems that are judged together."""
    if count < FEWEST_ANCHORS:
        raise QuemError(f"--anchors {count} is too few; use {FEWEST_ANCHORS} or more")
    anchors = {}
    for problem in panel.problems:
        levels = panel.consensus(problem)
        able = {one: levels[one] for one in panel.solved(problem)}
        # Each of the people is placed among others, so that one more is needed.
        if count >= len(able):
            raise QuemError(
                f"{len(able)} people have a solution of {problem}, so that there can be "
                f"{len(able) - 1} anchors at most, not {count}"
            )
        anchors[problem] = draw_anchors(able, count, seed_of(panel.digest, problem, systems))
    return anchors


def place_systems(
    panel: ReferencePanel,
    systems: Mapping[str, Path],
    folder: Path,
    *,
    count: int,
    judges: int,
    failed: bool = False,
) -> list[str]:
    """Write a judging study that places systems on a panel, whole or not at all."""
    # Every analysis imports this module, and none of these.
    from quem.importing.writing import write_folder
    from quem.solutions import find_solutions

    found, missing = _solutions(panel, systems, failed=failed)
    anchors = drawn_anchors(panel, systems, count)

    def fill(new: Path) -> None:
        spec = _study(panel, list(systems), anchors, missing, count=count, judges=judges)
        text = yaml.safe_dump(
            spec, sort_keys=False, allow_unicode=True, default_flow_style=None, width=inf
        )
        (new / "study.yaml").write_text(text, encoding="utf-8", newline="")
        shutil.copyfile(panel.path, new / PANEL)
        for name, content in _files(panel, anchors):
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            (new / name).write_bytes(content)
        for (problem, system), source in found.items():
            target = new / "solutions" / problem / system
            if source.is_dir():
                shutil.copytree(source, target)
            else:
                shutil.copyfile(source, target.with_name(f"{system}{source.suffix}"))
        _, wrong, _ = find_solutions(draft_study(new / "study.yaml"), complete=True)
        if wrong:
            # What is wrong is wrong in the systems' folders: the panel's own was read before.
            raise QuemError(
                Mistake(one.path.replace(str(new), str(folder)), message=one.message)
                for one in wrong
            )

    return write_folder(folder, fill)


def _solutions(
    panel: ReferencePanel, systems: Mapping[str, Path], *, failed: bool
) -> tuple[dict[tuple[str, str], Path], list[tuple[str, str]]]:
    """Find the systems' solutions by problem and system; also says which are not there."""
    mistakes = list(_wrong_ids(panel, systems))
    found: dict[tuple[str, str], Path] = {}
    missing: list[tuple[str, str]] = []
    for system, source in systems.items():
        own = {(problem, system): path for problem, path in _found(panel, source)}
        lacking = [problem for problem in panel.problems if (problem, system) not in own]
        found |= own
        missing += [(problem, system) for problem in lacking]
        names = ", ".join(lacking)
        if not own:
            message = f"has no solution of any problem of the panel ({names}), named by its id"
            mistakes.append(Mistake(str(source), message=message))
        elif lacking and not failed:
            message = (
                f"has no solution of {names}; add them, or give --failed if {system} was given "
                "these problems and solved none of them"
            )
            mistakes.append(Mistake(str(source), message=message))
    if mistakes:
        raise QuemError(mistakes)
    return found, missing


def _wrong_ids(panel: ReferencePanel, systems: Mapping[str, Path]) -> Iterator[Mistake]:
    for system in systems:
        if trouble := id_trouble(system):
            yield Mistake("", key="--system", message=trouble.replace("a subject's", "a system's"))
        elif system in panel.people:
            message = f"{system} is the id of one of the panel's people; choose another"
            yield Mistake("", key="--system", message=message)


def _found(panel: ReferencePanel, source: Path) -> Iterator[tuple[str, Path]]:
    """Find a system's solutions by the ids of the problems."""
    from quem.solutions.files import is_ignored
    from quem.solutions.finding import same

    try:
        entries = sorted(path for path in source.iterdir() if not is_ignored(path.name))
    except OSError as error:
        raise FileError(source, f"cannot be read: {error.strerror or error}") from None
    for problem in panel.problems:
        named = [
            path
            for path in entries
            if same(problem) == same(path.name if path.is_dir() else path.stem)
        ]
        if len(named) > 1:
            names = " and ".join(path.name for path in named)
            raise FileError(
                source, f"has {names} for {problem}; keep one, or put all into a folder {problem}"
            )
        if named:
            yield problem, named[0]


def _files(
    panel: ReferencePanel, anchors: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[str, bytes]]:
    """Give what judges read besides the systems' solutions."""
    for name, content in panel.files.items():
        if name.startswith(("problems/", "briefing/")):
            yield name, content
    for problem, people in anchors.items():
        for person in people:
            yield from panel.solution_files(problem, person).items()


def _study(
    panel: ReferencePanel,
    systems: list[str],
    anchors: Mapping[str, tuple[str, ...]],
    failed: list[tuple[str, str]],
    *,
    count: int,
    judges: int,
) -> dict[str, Any]:
    """Give the content of the study file."""
    spec = panel.spec
    absent = [
        {"problem": problem, "solver": one, "reason": "absent"}
        for problem, people in anchors.items()
        for one in panel.people
        if one not in people
    ]
    missing = [{"problem": p, "solver": s, "reason": "failed"} for p, s in failed]
    judging = {"judging": {"briefing": spec.briefing}} if spec.briefing else {}
    analysis = spec.analysis.model_dump(exclude_defaults=True)
    return {
        "kind": "experience",
        "id": f"{spec.id}-{'-'.join(systems)}"[:100],
        "title": f"{spec.title}: {', '.join(systems)}",
        "experience_unit": spec.experience_unit,
        "verb": spec.verb,
        "panel": {"file": PANEL, "digest": panel.digest, "anchors": count},
        "problems": [one.model_dump(exclude_defaults=True) for one in spec.problems],
        "judges": [{"id": f"J{n}"} for n in range(1, judges + 1)],
        "systems": [{"id": system} for system in systems],
        "rankings": {"from": "store"},
        "solutions": "solutions",
        **judging,
        **({"analysis": analysis} if analysis else {}),
        "subjects": [one.model_dump() for one in spec.people],
        "missing": [*missing, *absent],
    }


DEFAULT_ANCHORS = 4
FEWEST_ANCHORS = 2
_SEPARATOR = "\x1f"


def seed_of(digest: str, problem: str, solvers: Iterable[str]) -> str:
    """Give the seed of a draw, in hexadecimal."""
    return _hash(digest, problem, *sorted(solvers))


def _hash(*parts: str) -> str:
    return hashlib.sha256(_SEPARATOR.join(parts).encode()).hexdigest()


def draw_anchors(levels: Mapping[str, float], count: int, seed: str) -> tuple[str, ...]:
    """Draw one person from each of as many strata of equal size, ordered by consensus rank."""
    ordered = sorted(levels, key=lambda one: (levels[one], one))
    size, larger = divmod(len(ordered), count)
    anchors, start = [], 0
    for stratum in range(count):
        end = start + size + (stratum < larger)
        anchors.append(min(ordered[start:end], key=lambda one: _hash(seed, one)))
        start = end
    return tuple(anchors)


def score_of(below: Floats | float, levels: Iterable[float], people: int) -> Floats:
    """Ranks among all people from places among anchors; linear between whole places.

    `below` is the number of anchors below, ties one half, of any shape; `levels` are the anchors'
    consensus ranks.
    """
    bounds = np.array([0.5, *sorted(levels), people + 0.5])
    low, high = (np.asarray(below + half).astype(np.int64) for half in (0, 0.5))
    return np.asarray(bounds[low] + bounds[low + 1] + bounds[high] + bounds[high + 1]) / 4
