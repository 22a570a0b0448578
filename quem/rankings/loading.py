"""Loading an experience study with its rankings, or all of its errors.

Also the adjusted ranks by judge, for kinds that are compared with judges.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from quem.errors import Mistake, QuemError
from quem.panels.package import ReferencePanel, read_panel
from quem.rankings import Decisions, PrintedAverages, Rankings, Session, read_rankings
from quem.rankings.stored import session_of_study
from quem.seal import Seal, seal_of
from quem.store.location import locate_database
from quem.studyfile.document import Document, Loc
from quem.studyfile.reading import IN_MEMORY, ExperienceFile, draft_experience
from quem.studyfile.runs import Run, read_runs

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    import pandas as pd
    from numpy.typing import NDArray

    from quem.store.planned import ProblemDraw
    from quem.studyfile import Declared, ExperienceSpec
    from quem.studyfile.models import PanelSource

_FEWEST_SUBJECTS = 3
# Relative tolerance for equal years, above 1.
_SAME = 1e-9


@dataclass(frozen=True, repr=False)
class Study:
    """A study that can be analyzed.

    Parameters
    ----------
    path : Path
        The study file; ``<memory>`` for a study that no file describes.
    name : str
        The path as the user wrote it, for messages.
    spec : ExperienceSpec
        What the study file says.
    declared : Declared
        Its ids.
    document : Document
        The study file with its lines and columns; empty for a study made in Python.
    named : Study, optional
        The study as it was loaded, where judges and subjects have pseudonyms here.
    machines : dict of str to list of Run, optional
        All runs of each machine judge, the first one first; None where there is none.
    draw : ProblemDraw, optional
        By which judges were dealt their problems, where a judging session noted it.
    seal : Seal, optional
        What differs from what was sealed; None where the study was never sealed.
    panel : ReferencePanel, optional
        On which systems were placed; None where people were ranked with them.
    """

    path: Path
    name: str
    spec: ExperienceSpec
    declared: Declared
    data: Rankings | PrintedAverages | Decisions
    document: Document = field(default=Document("", None, {}, {}), compare=False)
    named: Study | None = field(default=None, compare=False)
    machines: dict[str, list[Run]] | None = field(default=None, compare=False)
    draw: ProblemDraw | None = field(default=None, compare=False)
    seal: Seal | None = field(default=None, compare=False)
    panel: ReferencePanel | None = field(default=None, compare=False)

    def mistake(self, loc: Loc, message: str) -> Mistake:
        """The error at a place of the study file, as `Document.mistake`."""
        return replace(self.document.mistake(loc, message), path=self.name)

    def __repr__(self) -> str:
        """One line; the attributes hold the rest."""
        return f"<Study {self.spec.id}: {len(self.declared.solvers)} solvers, from {self.name}>"

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the study as files, study.yaml and rankings.csv, atomically.

        Parameters
        ----------
        folder : str or path-like
            Is made where it is not there; files in it stay. Solutions, texts, and the record
            of a judging session are not copied.

        Raises
        ------
        QuemError
            The folder holds a study already or cannot be written, or the study needs more
            files: those of a panel, or of machine judges.
        """
        from quem.rankings.memory import write_study

        write_study(self, folder)

    @property
    def files(self) -> tuple[Path, ...]:
        """The study file and the files of its rankings; none of a study in memory."""
        if self.path == IN_MEMORY:
            return ()
        named = self.spec.rankings.file
        names = [named] if isinstance(named, str) else [part.file for part in named]
        names += [self.spec.panel.file] if self.spec.panel else []
        return (self.path, *(self.path.parent / name for name in names))

    def counts(self) -> dict[str, int]:
        """Counts of the contents, by noun."""
        return {
            "subject": len(self.spec.subjects),
            "system": len(self.spec.systems),
            "problem": len(self.declared.problems),
            "judge": len(self.spec.judges),
        }

    @property
    def rankings(self) -> pd.DataFrame | None:
        """The rankings as a table; None for a study of averages computed elsewhere.

        Returns
        -------
        DataFrame or None
            Columns judge, problem, block, occasion, solver, rank, reason, and recognized where
            a judge recognized an author; of decisions on pairs judge, problem, winner, loser,
            tie, and count.
        """
        return None if isinstance(self.data, PrintedAverages) else self.data.to_frame()


def load_study(
    path: str | os.PathLike[str],
    *,
    database: str | None = None,
    reveal: bool = False,
    without_machines: bool = False,
) -> Study:
    """Read a study file and its rankings."""
    draft = draft_experience(path)
    mistakes = list(draft.mistakes)
    data, panel = None, None
    if draft.source is not None:
        session = Session(locate_database(Path(path), database), reveal)
        data, more = read_rankings(draft, draft.source, session)
        mistakes += more
    if not mistakes and draft.spec is not None and data is not None:
        panel, more = panel_of_study(draft)
        mistakes += more if draft.spec.panel else unfit(draft, data)
    if mistakes or draft.spec is None or data is None:
        raise QuemError(dict.fromkeys(mistakes))
    study = Study(Path(path), draft.name, draft.spec, draft.declared, data, draft.document)
    study = replace(study, panel=panel, seal=seal_of(draft))
    if not draft.spec.machines or without_machines:
        return study
    session = Session(locate_database(study.path, database))
    runs = {
        machine.id: read_runs(study.path, draft.spec.id, machine.id)
        for machine in draft.spec.machines
    }
    return replace(study, machines=runs, draw=_draw(session, draft.spec.id))


def _draw(session: Session, study_id: str) -> ProblemDraw | None:
    """The draw of the judges' problems, if the store has it."""
    store = session_of_study(session, study_id)
    if store is None:
        return None
    from quem.store.planned import recorded_draw

    with store, store.read() as c:
        return recorded_draw(c, study_id)


def unfit(draft: ExperienceFile, data: Rankings | PrintedAverages | Decisions) -> list[Mistake]:
    """Why no line can be fitted to these subjects, whatever their ranks."""
    if isinstance(data, Rankings):
        solvers = data.solver[~np.isnan(data.rank) | data.failed]
        ranked = {data.solvers[solver] for solver in np.flatnonzero(np.bincount(solvers))}
        ranked |= {solver for _, solver in draft.declared.failed}
    elif isinstance(data, Decisions):
        counts = sum(
            np.bincount(codes, minlength=len(data.solvers)) for codes in (data.winner, data.loser)
        )
        ranked = {data.solvers[i] for i in np.flatnonzero(counts)}
    else:
        ranked = {data.solvers[i] for i in np.flatnonzero(np.isfinite(data.average))}
    experience = [s.experience for s in draft.spec.subjects if s.id in ranked] if draft.spec else []
    at = ("subjects",)
    if len(experience) < _FEWEST_SUBJECTS:
        message = (
            f"{len(experience)} subjects have ranks, and a skill function needs "
            f"{_FEWEST_SUBJECTS} at least; add subjects, or their ranks"
        )
        return [draft.document.mistake(at, message)]
    if max(experience) - min(experience) <= _SAME * max(1, *experience):
        message = (
            f"all subjects have the same experience ({experience[0]:g}), so no line can be "
            "fitted; add subjects of other experience"
        )
        return [draft.document.mistake(at, message)]
    return []


def panel_of_study(draft: ExperienceFile) -> tuple[ReferencePanel | None, list[Mistake]]:
    """Read the reference panel of a study, and collect deviations of the study from it."""
    spec = draft.spec
    if spec is None or spec.panel is None:
        return None, []
    if wrong := draft.not_there(("panel", "file"), spec.panel.file):
        return None, [wrong]
    try:
        panel = read_panel(draft.beside(spec.panel.file)[0])
    except QuemError as error:
        return None, list(error.mistakes)
    return panel, list(_unplaced(draft, spec, spec.panel, panel))


def _unplaced(
    draft: ExperienceFile, spec: ExperienceSpec, source: PanelSource, panel: ReferencePanel
) -> Iterator[Mistake]:
    """Contradictions of a study to its panel."""
    at = draft.document.mistake
    if panel.digest != source.digest:
        message = (
            f"{source.file} is another panel than the one that this study was placed on "
            f"({panel.digest}); put that one there"
        )
        yield at(("panel", "digest"), message)
        return
    years = {one.id: one.experience for one in panel.spec.people}
    if {one.id: one.experience for one in spec.subjects} != years:
        message = "these are not the people of the panel with their years; `quem panel place` again"
        yield at(("subjects",), message)
    if unknown := [one for one in draft.declared.problems if one not in panel.problems]:
        yield at(("problems",), f"the panel has no problem {unknown[0]}; leave it out")
    if spec.machines or spec.machine:
        message = "a placed study has human judges; machine judges measure versions in `quem track`"
        yield at(("machines",), message)
    if spec.assisted:
        yield at(("assisted",), "nobody can be assisted in a placed study; leave it out")
    if spec.design.block_size:
        yield at(("design", "block_size"), "a placed study has whole groups; leave it out")
    if spec.rankings.source in ("averages", "decisions"):
        yield at(("rankings",), "a placed study needs rankings of whole groups")


class Panel(NamedTuple):
    """The adjusted ranks of a study, judge by judge."""

    # Without withheld solvers, who keep their ranks anyway
    judges: tuple[str, ...]
    problems: tuple[str, ...]
    solvers: tuple[str, ...]
    # Of shape (judges, problems, solvers): 1 the worst; NaN where a judge did not rank a solution.
    ranks: NDArray[np.float64]


def judges_panel(study: Study) -> Panel:
    """The adjusted ranks of a study, judge by judge (step 4)."""
    data = study.data
    if not isinstance(data, Rankings) or data.block.max(initial=1) > 1:
        message = (
            "the order on each problem needs the rankings of whole groups, and not average ranks, "
            "pairs, or blocks; take a study that has them"
        )
        raise QuemError(study.mistake(("rankings",), message))
    from quem.method.cells import judged_cells

    cells = judged_cells(data, study.declared)
    shape = len(cells.judges), len(cells.problems), len(cells.solvers)
    ranks = np.full(shape, np.nan)
    ranks[cells.judge, cells.problem, cells.solver] = cells.adjusted
    places = np.flatnonzero(~cells.of_kind("withheld"))
    solvers = tuple(cells.solvers[solver] for solver in places.tolist())
    return Panel(cells.judges, cells.problems, solvers, ranks[:, :, places])
