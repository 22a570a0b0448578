"""Every value of an audit: analysis.json and the CSV files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quem.report.columns import (
    COUNT,
    NAME,
    NUMBER,
    OPEN_INTERVAL,
    SHARE,
    STUDY,
    TEXT,
    WARNINGS,
    Column,
    Columns,
    Table,
    choice,
    each,
    head,
    null_or,
    of,
)

if TYPE_CHECKING:
    from quem.machines.auditing import AuditFindings, Line

LINES: Columns[Line, AuditFindings] = Columns(
    Column("code", NAME, "which question; of a system `liking:` and its id"),
    Column("question", TEXT, "in words"),
    Column("value", null_or(NUMBER), "null where it is unknown", of="tested.value"),
    Column("unit", TEXT, "of the value"),
    Column("interval", OPEN_INTERVAL, "at 95%; null where there is none", of="tested.interval"),
    Column("p_value", null_or(SHARE), "null where nothing is tested", of="tested.p"),
    Column("n", COUNT, "values that it is of: problems, people, systems, or calls", of="tested.n"),
    Column("answer", TEXT, "in a sentence", of="sentence"),
    Column("known", TEXT, "size and power of the test, from simulations; or empty"),
)
_SOLVERS: Columns[int, AuditFindings] = Columns(
    Column("solver", NAME, "id", of=lambda at, findings: findings.experts.solvers[at]),
    Column(
        "kind",
        choice("subject", "system", "assisted"),
        "of the solver",
        of=lambda at, findings: list(findings.study.declared.solvers.values())[at],
    ),
    Column(
        "by_experts",
        null_or(NUMBER),
        "mean rank by the experts, on the problems that both ranked",
        of=lambda at, findings: _mean(findings.experts.means[findings.labeled, at]),
    ),
    Column(
        "by_machine",
        null_or(NUMBER),
        "mean rank by the machine judge on the same problems",
        of=lambda at, findings: _mean(findings.machine.means[findings.labeled, at]),
    ),
    Column(
        "liking",
        null_or(NUMBER),
        "experience that the machine judge gives beyond what the experts give",
        of=lambda at, findings: findings.differences[at],
    ),
)
_PROBLEMS: Columns[int, AuditFindings] = Columns(
    Column(
        "problem",
        NAME,
        "id",
        of=lambda at, findings: findings.experts.problems[findings.labeled[at]],
    ),
    Column(
        "tau_b",
        null_or(NUMBER),
        "mean Kendall's tau-b of the machine judge with the experts",
        of=lambda at, findings: findings.agreement.with_experts[at],
    ),
    Column(
        "tau_b_of_experts",
        null_or(NUMBER),
        "mean tau-b of pairs of experts; null for one",
        of=lambda at, findings: findings.agreement.among_experts[at],
    ),
)


def _mean(values: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else np.nan


def _solvers(findings: AuditFindings) -> list[int]:
    kinds = findings.study.declared.solvers.values()
    return [
        at
        for at, kind in enumerate(kinds)
        if kind != "withheld" and np.isfinite(findings.experts.ranks[..., at]).any()
    ]


def _problems(findings: AuditFindings) -> list[int]:
    return list(range(len(findings.labeled)))


DOCUMENT: Columns[AuditFindings, AuditFindings] = Columns(
    *head("audit"),
    Column("study", of(STUDY), "the study", of="study.spec"),
    Column("judge", NAME, "id of the machine judge", of="run.judge"),
    Column(
        "model", TEXT, "as the study file names it; empty for a command", of="run.declared_model"
    ),
    Column("run", COUNT, "number of the run", of="run.number"),
    Column("prompt_sha256", TEXT, "of the prompt", of="run.prompt"),
    Column("repeats", COUNT, "orders of each problem", of="run.repeats"),
    Column("experts", each(NAME), "who ranked", of=lambda row, _: list(row.experts.judges)),
    WARNINGS,
    Column("lines", each(LINES), "one entry per question"),
    Column(
        "spearman",
        null_or(NUMBER),
        "mean Spearman correlation with the experts",
        of="agreement.spearman",
    ),
    Column(
        "spearman_of_experts",
        null_or(NUMBER),
        "mean Spearman correlation of pairs of experts",
        of="agreement.spearman_experts",
    ),
    Column("problems", each(_PROBLEMS), "those that both ranked", of=lambda row, _: _problems(row)),
    Column("solvers", each(_SOLVERS), "those that experts ranked", of=lambda row, _: _solvers(row)),
)
TABLES: tuple[Table[Any, AuditFindings], ...] = (
    Table("lines", "one row per question", LINES, lambda findings: findings.lines, always=True),
    Table("problems", "one row per problem that both ranked", _PROBLEMS, _problems),
    Table("solvers", "one row per solver that experts ranked", _SOLVERS, _solvers),
)
