"""What is said of the machine judges of a study, and the columns of what they add."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quem.experience.machines import USELESS
from quem.experience.wording import statement
from quem.report.columns import (
    COUNT,
    INTERVAL,
    NAME,
    NOT_NEGATIVE,
    NUMBER,
    SHARE,
    TEXT,
    Column,
    Columns,
    each,
    null_or,
    of,
)
from quem.report.files import Section
from quem.wording import format_count, format_number, join_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.experience.estimate import Estimate
    from quem.experience.machines import MachineUse
    from quem.experience.result import ExperienceFindings
    from quem.studyfile.runs import Run


def alone_texts(findings: ExperienceFindings) -> Iterator[tuple[str, str]]:
    """Give system and what the experts alone say of it, wherever machine judges add something."""
    settings, use = findings.settings, findings.machines
    for estimate in findings.estimates if use and findings.gate.passed else ():
        if estimate.alone:
            text = statement(
                estimate.alone,
                interval=settings.interval,
                level=settings.level,
                unit=findings.study.spec.experience_unit,
            )
            yield estimate.system, text


def alone_text(findings: ExperienceFindings) -> str:
    """Say what the experts alone give, of all systems; nothing where machines add nothing."""
    texts = list(alone_texts(findings))
    several = len(texts) > 1
    said = [f"{findings.name_of(s)}: {text}" if several else text for s, text in texts]
    return f"The experts alone: {'; '.join(said)}." if said else ""


def used_text(findings: ExperienceFindings) -> str:
    """Say that machine judges are used, and what the experts alone give; else nothing."""
    use, alone = findings.machines, alone_text(findings)
    if not (use and alone):
        return ""
    noun = "judge" if len(use.used) == 1 else "judges"
    whose = "its rankings are" if len(use.used) == 1 else "their rankings are"
    return f"This uses the machine {noun} {join_words(use.used)}; {whose} not votes. {alone}"


def not_drawn(findings: ExperienceFindings) -> str:
    """Say that the experts' problems were chosen, where they were not drawn; else nothing."""
    use = findings.machines
    if not (use and use.share and use.draw) or use.draw.holds:
        return ""
    return (
        "The experts’ problems were not drawn by lot, so that a machine judge which likes systems "
        "on the other problems only would go unnoticed."
    )


def machine_texts(findings: ExperienceFindings) -> list[str]:
    """Say what machine judges did, and what that adds."""
    use = findings.machines
    if use is None:
        return []
    texts = [_run_text(run) for run in use.runs]
    if use.without:
        texts.append(f"{join_words(use.without)}: no run yet.")
    texts += [f"{judge} is not used: {why}." for judge, why in use.refused.items()]
    return [*texts, _worth(use)]


def _run_text(run: Run) -> str:
    problems = len({call.problem for call in run.calls if call.status == "ok"})
    name = f"{run.judge} ({run.declared_model})" if run.declared_model else run.judge
    orders = format_count(run.repeats, "order")
    text = f"{name} ranked {format_count(problems, 'problem')} in {orders} each"
    failures = [
        f"{count:,} {status}"
        for status in ("invalid", "refused", "error")
        if (count := run.count(status))
    ]
    return f"{text} ({', '.join(failures)} of {len(run.made):,} calls)." if failures else f"{text}."


def _worth(use: MachineUse) -> str:
    several = len(use.used) > 1
    whose = "The machine judges add" if several else "The machine judge adds"
    if use.reason == USELESS:
        return (
            f"{whose} nothing here (λ = 0): {_own(use.reason, several=several)}. The estimate is "
            "the experts’ alone."
        )
    if use.reason or not use.control:
        return f"Machine judges are not used: {use.reason}. The estimate is the experts’ alone."
    control = use.control
    more = control.effective_problems - control.n_labeled
    return (
        f"Experts ranked {control.n_labeled} of the {control.n_problems} problems. Over these "
        f"{_own('their ranks', several=several)} go with the experts’ with "
        f"r = {format_number(control.correlation, 2)} within solvers, which is worth as much as "
        f"{format_number(more, 1)} more expert problems (λ = {format_number(control.share, 2)}, "
        f"β = {format_number(float(control.beta.sum()), 2)})."
    )


def _own(text: str, *, several: bool) -> str:
    """Speak of one machine or of several."""
    return (
        text
        if several
        else text.replace("their rankings do", "its rankings do").replace(
            "their ranks", "its ranks"
        )
    )


def machines_section(findings: ExperienceFindings) -> Section | None:
    """Make the section on machine judges; None where the study uses none."""
    use = findings.machines
    if use is None:
        return None
    text = [
        "Machine judges are instruments, not votes. No rank of theirs enters an average. What they "
        "say of a solver on all problems, less what they say of it on the experts’ problems, "
        "corrects for the choice of problems, as far as it goes with the experts’ ranks; a liking "
        "that is the same on all problems cancels.",
        *machine_texts(findings),
    ]
    if alone := alone_text(findings):
        text.append(alone)
    if use.share:
        text.append(
            "Agreement, variants, ANOVA, and the profile of each system are of the experts’ ranks "
            "alone; averages, the line, leave-one-out, and the bootstrap are with the machines."
        )
    if missed := not_drawn(findings):
        text.append(missed)
    table = _RUNS.text_table("Runs that count", use.runs, findings)
    return Section("machines", "Machine judges", text, (), [table] if use.runs else [])


_RUNS: Columns[Run, ExperienceFindings] = Columns(
    Column("judge", NAME, "id", heading="Machine judge"),
    Column(
        "model",
        TEXT,
        "as declared",
        of=lambda row, _: row.declared_model or "command",
        heading="Model",
    ),
    Column("repeats", COUNT, "orders of each problem", heading="Orders"),
    Column("calls", COUNT, "calls", of=lambda row, _: len(row.made), heading="Calls"),
    Column("invalid", COUNT, "", of=lambda row, _: row.count("invalid"), heading="Invalid"),
    Column("refused", COUNT, "", of=lambda row, _: row.count("refused"), heading="Refused"),
    Column("date", TEXT, "", of=lambda row, _: f"{row.ended_at:%Y-%m-%d}", heading="Date"),
)
_JUDGES: Columns[Run, ExperienceFindings] = Columns(
    Column("id", NAME, "of the machine judge", of="judge"),
    Column("model", TEXT, "as the study file names it; empty for a command", of="declared_model"),
    Column("prompt_sha256", TEXT, "of the prompt", of="prompt"),
    Column("repeats", COUNT, "how often it ranked each problem"),
    Column("run", COUNT, "number of the run", of="number"),
    Column("calls", COUNT, "calls that were made", of=lambda row, _: len(row.made)),
    Column(
        "invalid",
        COUNT,
        "of them without a readable ranking",
        of=lambda row, _: row.count("invalid"),
    ),
    Column("refused", COUNT, "of them refused", of=lambda row, _: row.count("refused")),
    Column(
        "beta",
        null_or(NOT_NEGATIVE),
        "its weight; null where it is not used",
        of=lambda row, findings: _beta(findings.machines, row.judge),
    ),
)
_ERRATIC: Columns[Any, ExperienceFindings] = Columns(
    Column("system", NAME, "id", of=lambda row, _: row[0]),
    Column("f", null_or(NOT_NEGATIVE), "F test", of=lambda row, _: row[1].f),
    Column("p", null_or(SHARE), "its p value", of=lambda row, _: row[1].p),
)
_DRAW: Columns[Any, ExperienceFindings] = Columns(
    Column("n", COUNT, "problems that experts ranked", of=lambda row, _: len(row.labeled)),
    Column("problems", each(NAME), "drawn ones, sorted by lot"),
    Column("digest", TEXT, "SHA-256 of the solutions and the nonce"),
    Column("drawn_at", TEXT, "when ballots of them were first dealt; empty where unknown"),
)
MACHINES: Columns[MachineUse, ExperienceFindings] = Columns(
    Column("judges", each(_JUDGES), "one entry per machine judge with a run", of="runs"),
    Column("reason", TEXT, "why they add nothing; empty where they do"),
    Column(
        "draw", null_or(of(_DRAW)), "of the experts’ problems; null where it cannot be repeated"
    ),
    Column("beta", NOT_NEGATIVE, "sum of the weights", of=lambda row, _: _total(row)),
    Column("lambda", SHARE, "weight of the problems that only machines ranked", of="share"),
    Column(
        "correlation",
        null_or(NUMBER),
        "within solvers, of their ranks and the experts’; null where unknown",
        of=lambda row, _: row.control.correlation if row.control else None,
    ),
    Column(
        "effective_problems",
        null_or(NOT_NEGATIVE),
        "problems that experts alone would have to rank for the same precision",
        of=lambda row, _: row.control.effective_problems if row.control else None,
    ),
    Column(
        "erratic",
        each(_ERRATIC),
        "whether machines say other things of a system from problem to problem than experts do",
        of=lambda row, _: row.erratic.items(),
    ),
)
ALONE: Columns[Estimate, ExperienceFindings] = Columns(
    Column("average_rank", NUMBER, "mean of the experts’ adjusted ranks"),
    Column("experience", NUMBER, "the experience estimate"),
    Column("prediction_interval", INTERVAL, "prediction interval", of="prediction"),
)


def _beta(use: MachineUse | None, judge: str) -> float | None:
    if not (use and use.control and judge in use.used):
        return None
    return float(use.control.beta[use.used.index(judge)])


def _total(use: MachineUse) -> float:
    return float(np.sum(use.control.beta)) if use.control else 0.0
