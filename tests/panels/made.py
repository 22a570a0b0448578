"""Panels and placed studies made for tests."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import pandas as pd

from quem.panels.package import PanelPerson, PanelProblem, PanelSpec, pack, read_panel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from quem.panels.package import ReferencePanel


def made_panel(
    path: Path,
    years: Mapping[str, float],
    ranks: Mapping[tuple[str, str], Mapping[str, float]],
    failed: Sequence[tuple[str, str]] = (),
) -> ReferencePanel:
    """Write a panel to a file and read it, with a short text as every solution."""
    judges = list(dict.fromkeys(judge for judge, _ in ranks))
    problems = list(dict.fromkeys(problem for _, problem in ranks))
    spec = PanelSpec(
        id="made",
        title="Made",
        made_on=dt.date(2027, 3, 2),
        problems=tuple(PanelProblem(id=problem) for problem in problems),
        people=tuple(PanelPerson(id=one, experience=years[one]) for one in years),
        judges=tuple(judges),
    )
    files = {
        f"solutions/{problem}/{one}.md": b"A short plan.\n"
        for problem in problems
        for one in years
        if (problem, one) not in failed
    }
    tasks = pd.MultiIndex.from_tuples(ranks)
    path.write_bytes(pack(spec, pd.DataFrame([*ranks.values()], tasks), files))
    return read_panel(path)


def placed_study(
    panel: ReferencePanel,
    rows: Sequence[tuple[str, str, str, float]],
    *,
    anchors: int = 4,
    more: str = "",
) -> Path:
    """Write a placed study beside its panel, with rankings: judge, problem, solver, rank."""
    folder = panel.path.parent
    systems = dict.fromkeys(solver for *_, solver, _ in rows if solver not in panel.people)
    judges = dict.fromkeys(judge for judge, *_ in rows)
    years = {one.id: one.experience for one in panel.spec.people}
    lines = [
        "id: placed",
        f"panel: {{file: {panel.path.name}, digest: {panel.digest}, anchors: {anchors}}}",
        "problems:",
        *(f"  - {{id: {problem}}}" for problem in panel.problems),
        "judges:",
        *(f"  - {{id: {judge}}}" for judge in judges),
        "subjects:",
        *(f"  - {{id: {one}, experience: {years[one]}}}" for one in panel.people),
        "systems:",
        *(f"  - {{id: {one}}}" for one in systems),
        "rankings: rankings.csv",
        more,
    ]
    (folder / "study.yaml").write_text("\n".join(lines), encoding="utf-8")
    table = [f"{judge},{problem},{solver},{rank:g}" for judge, problem, solver, rank in rows]
    text = "\n".join(["judge,problem,solver,rank", *table])
    (folder / "rankings.csv").write_text(f"{text}\n", encoding="utf-8")
    return folder / "study.yaml"
