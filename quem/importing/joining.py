"""Joining several sources: problems match by id, title, or statement."""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from quem.errors import FileError, Mistake, QuemError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from quem.importing.collected import Collected

_MOST_LISTED = 10
# Shorter statements occur inside others by chance.
_TELLING = 40


def joined(sources: Sequence[tuple[Path, Collected]]) -> Collected:
    """Join sources: each problem of a later one is matched with earlier ones."""
    # Tables of people come last: only people with answers are kept.
    (_, whole), *others = sorted(sources, key=lambda one: not one[1].answers)
    for path, source in others:
        if source.answers:
            _add(whole, source, _same_problems(path, whole, source))
        unknown = (
            [] if source.answers else [one for one in source.solvers if one not in whole.solvers]
        )
        whole.mistakes += [Mistake(str(path), message=_stranger(one, whole)) for one in unknown]
        known = {one: years for one, years in source.solvers.items() if years is not None}
        whole.solvers |= known
        whole.rule += f"; {source.rule}"
        whole.left_out.update(source.left_out)
        whole.people |= source.people
        whole.sources += source.sources
        whole.errors += source.errors
        whole.mistakes += source.mistakes
    return whole


def _add(whole: Collected, source: Collected, names: Mapping[str, str]) -> None:
    for name, problem in source.problems.items():
        known = whole.problems.setdefault(names[name], replace(problem))
        known.statement = known.statement or problem.statement
        known.title = known.title or problem.title
    for (name, solver), answer in source.answers.items():
        whole.add(names[name], solver, answer)


def _stranger(name: str, whole: Collected) -> str:
    near = get_close_matches(name, whole.solvers, n=1)
    hint = (
        f"{near[0]!r} has" if near else f"there are {', '.join(list(whole.solvers)[:_MOST_LISTED])}"
    )
    return f"nobody called {name!r} has answered; {hint}"


def _same_problems(path: Path, whole: Collected, source: Collected) -> dict[str, str]:
    """The matching earlier name of each problem of a source; its own if there is none."""
    by_name = {_plain(name): name for name in whole.problems}
    by_name |= {_plain(p.title): name for name, p in whole.problems.items() if p.title}
    by_name.pop("", None)  # names of punctuation are all alike
    statements = {name: _text(p.statement) for name, p in whole.problems.items() if p.statement}
    found: dict[str, str] = {}
    for name, problem in source.problems.items():
        same = by_name.get(_plain(name)) or by_name.get(_plain(problem.title) or "-")
        same = same or _of_statement(_text(problem.statement), statements)
        if same and same not in found.values():
            found[name] = same
    if not found:
        raise FileError(path, _nothing_shared(whole, source))
    renamed = sum(name != same for name, same in found.items())
    by = f", {renamed} of them under another name" if renamed else ""
    whole.notes.append(f"{path}: {len(found)} problems joined{by}")
    lacking = [name for name in source.problems if name not in found]
    whole.notes += [f"{path}: {_alone(name, whole)}" for name in lacking[:_MOST_LISTED]]
    if (more := len(lacking) - _MOST_LISTED) > 0:
        whole.notes.append(f"{path}: and {more} more in this source alone")
    return {name: found.get(name, name) for name in source.problems}


def _of_statement(text: str, statements: dict[str, str]) -> str:
    """The only problem whose statement equals, contains, or is contained in this one."""
    same = [name for name, known in statements.items() if known == text]
    if not same and len(text) >= _TELLING:
        same = [
            name
            for name, known in statements.items()
            if len(known) >= _TELLING and (known in text or text in known)
        ]
    return same[0] if text and len(same) == 1 else ""


def _nothing_shared(whole: Collected, source: Collected) -> str:
    ours, theirs = (", ".join(list(one.problems)[:3]) for one in (source, whole))
    return (
        f"has no problem of the sources before: its problems are {ours}, theirs {theirs}; write "
        "--name OLD=NEW for each that is the same"
    )


def _alone(name: str, whole: Collected) -> str:
    near = get_close_matches(name, whole.problems, n=1, cutoff=0.4)
    hint = f"; if it is {near[0]!r}, write --name {name}={near[0]}" if near else ""
    return f"{name!r} is in this source alone{hint}"


def _plain(name: str) -> str:
    """Letters and digits alone, and numbers without leading zeros."""
    words = re.findall(r"[^\W\d_]+|\d+", name.casefold())
    return "".join(word.lstrip("0") or "0" if word.isdigit() else word for word in words)


def _text(statement: str) -> str:
    return " ".join(statement.casefold().split())


def require_experience(whole: Collected) -> None:
    """Refuse people without known experience."""
    unknown = sorted(name for name in whole.people if whole.solvers.get(name) is None)
    if unknown:
        named = ", ".join(unknown[:_MOST_LISTED])
        raise QuemError(
            f"nothing says how experienced {named} {'is' if len(unknown) == 1 else 'are'}; add a "
            "table with the columns participant and experience: --from people.csv"
        )
