"""A judging study in which systems are ranked with a few anchors of a panel per problem."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.errors import FileError, Mistake, QuemError, readable, refuse
from quem.studyfile.blocks import lot
from quem.studyfile.document import yaml_of
from quem.studyfile.fields import id_trouble
from quem.studyfile.reading import draft_study

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from quem.panels.package import ReferencePanel

    Floats = NDArray[np.float64]


PANEL = "panel.zip"


def drawn_anchors(
    panel: ReferencePanel, systems: Iterable[str], count: int
) -> dict[str, tuple[str, ...]]:
    """The anchors of each problem, drawn for systems that are judged together."""
    return {problem: anchors_on(panel, problem, systems, count) for problem in panel.problems}


def anchors_on(
    panel: ReferencePanel, problem: str, systems: Iterable[str], count: int
) -> tuple[str, ...]:
    """The anchors of a problem, drawn among subjects with a solution of it."""
    levels = panel.consensus(problem)
    able = {one: levels[one] for one in panel.solved(problem)}
    # Each subject is placed among others, so one more is needed.
    if count >= len(able):
        raise QuemError(
            f"{len(able)} people have a solution of {problem}, so that there can be "
            f"{len(able) - 1} anchors at most, not {count}"
        )
    return draw_anchors(able, count, seed_of(panel.digest, problem, systems))


def place_systems(
    panel: ReferencePanel,
    systems: Mapping[str, Path],
    folder: Path,
    *,
    count: int,
    judges: int,
    failed: bool = False,
) -> list[str]:
    """Write a judging study that places systems on a panel, atomically."""
    # Every analysis imports this module, but needs none of these.
    from quem.importing.writing import write_folder
    from quem.solutions import find_solutions

    found = _solutions(panel, systems, failed=failed)
    anchors = drawn_anchors(panel, systems, count)
    files = {
        name: content
        for name, content in panel.files.items()
        if name.startswith(("problems/", "briefing/"))
    }
    for problem, people in anchors.items():
        for person in people:
            files |= panel.solution_files(problem, person)

    def fill(new: Path) -> None:
        study = new / "study.yaml"
        spec = _study(panel, list(systems), anchors, count=count, judges=judges)
        spec["missing"] += [
            {"problem": problem, "solver": system, "reason": "failed"}
            for (problem, system), source in found.items()
            if source is None
        ]
        study.write_text(yaml_of(spec, short=True), encoding="utf-8", newline="")
        shutil.copyfile(panel.path, new / PANEL)
        for name, content in files.items():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            (new / name).write_bytes(content)
        for (problem, system), source in found.items():
            target = new / "solutions" / problem / system
            if source and source.is_dir():
                shutil.copytree(source, target)
            elif source:
                shutil.copyfile(source, target.with_name(f"{system}{source.suffix}"))
        _, wrong, _ = find_solutions(draft_study(study), complete=True)
        if wrong:
            # Errors are in the systems' folders, since the panel was verified before.
            raise QuemError(
                Mistake(one.path.replace(str(new), str(folder)), message=one.message)
                for one in wrong
            )

    return write_folder(folder, fill)


def _solutions(
    panel: ReferencePanel, systems: Mapping[str, Path], *, failed: bool
) -> dict[tuple[str, str], Path | None]:
    """The systems' solutions by problem and system; None if one failed."""
    found: dict[tuple[str, str], Path | None] = {}
    mistakes: list[Mistake] = []
    for system, source in systems.items():
        if trouble := id_trouble(system):
            trouble = trouble.replace("a subject's", "a system's")
        elif system in panel.people:
            trouble = f"{system} is the id of one of the panel's people; choose another"
        if trouble:
            mistakes.append(Mistake("", key="--system", message=trouble))
        own = _found(panel, source)
        names = ", ".join(problem for problem in panel.problems if problem not in own)
        if names and not (own and failed):
            message = (
                f"has no solution of {names}; add them, or give --failed if {system} was given "
                "these problems and solved none of them"
            )
            if not own:
                message = f"has no solution of any problem of the panel ({names}), named by its id"
            mistakes.append(Mistake(str(source), message=message))
        found |= {(problem, system): own.get(problem) for problem in panel.problems}
    refuse(mistakes)
    return found


def _found(panel: ReferencePanel, source: Path) -> dict[str, Path]:
    """A system's solutions by problem id."""
    from quem.solutions.files import is_ignored
    from quem.solutions.finding import same

    found: dict[str, Path] = {}
    ids = {same(problem): problem for problem in panel.problems}
    with readable(source):
        entries = sorted(path for path in source.iterdir() if not is_ignored(path.name))
    for path in entries:
        problem = ids.get(same(path.name if path.is_dir() else path.stem), "")
        if problem in found:
            both = f"{found[problem].name} and {path.name}"
            message = f"has {both} for {problem}; keep one, or put all into a folder {problem}"
            raise FileError(source, message)
        if problem:
            found[problem] = path
    return found


def _study(
    panel: ReferencePanel,
    systems: list[str],
    anchors: Mapping[str, tuple[str, ...]],
    *,
    count: int,
    judges: int,
) -> dict[str, Any]:
    """The contents of the study file."""
    spec = panel.spec
    more = {
        "judging": {"briefing": spec.briefing} if spec.briefing else {},
        "analysis": spec.analysis.model_dump(mode="json", exclude_defaults=True),
    }
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
        **{key: section for key, section in more.items() if section},
        "subjects": [one.model_dump() for one in spec.people],
        "missing": [
            {"problem": problem, "solver": one, "reason": "absent"}
            for problem, people in anchors.items()
            for one in panel.people
            if one not in people
        ],
    }


def seed_of(digest: str, problem: str, solvers: Iterable[str]) -> str:
    """The seed of a draw, in hexadecimal."""
    return lot(digest, problem, *sorted(solvers))


def draw_anchors(levels: Mapping[str, float], count: int, seed: str) -> tuple[str, ...]:
    """One subject drawn from each of k equal strata of consensus rank."""
    ordered = sorted(levels, key=lambda one: (levels[one], one))
    strata = (stratum.tolist() for stratum in np.array_split(ordered, count))
    return tuple(min(stratum, key=lambda one: lot(seed, one)) for stratum in strata)


def score_of(below: Floats | float, levels: Iterable[float], people: int) -> Floats:
    """Ranks among all subjects from places among anchors, by linear interpolation.

    `below` is the number of anchors below, ties one half, of any shape; `levels` are the anchors'
    consensus ranks.
    """
    bounds = np.array([0.5, *sorted(levels), people + 0.5])
    low, high = (np.asarray(below + half).astype(np.int64) for half in (0, 0.5))
    return np.asarray(bounds[low] + bounds[low + 1] + bounds[high] + bounds[high + 1]) / 4
