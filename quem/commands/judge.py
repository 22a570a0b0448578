"""``quem judge``: machine judges rank the solutions of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from quem.commands.options import database_option, study_argument, unsandboxed_option
from quem.errors import Mistake, QuemError, refuse

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from quem.machines.running import Judged, Limits, Planned
    from quem.studyfile.machines import Machine
    from quem.studyfile.runs import Run

_BYTES_A_TOKEN = 3.5


@click.command()
@study_argument()
@database_option
@click.option("--machine", "named", multiple=True, metavar="ID", help="Only this machine judge.")
@click.option("--problem", "problems", multiple=True, metavar="ID", help="Only this problem.")
@click.option(
    "--send-to",
    multiple=True,
    metavar="HOST",
    help="Host that solutions may be sent to; also in machine.shared_with.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be sent; send and write nothing.")
@click.option("--replay", is_flag=True, help="Take all answers from earlier runs; send nothing.")
@click.option("--max-calls", type=click.IntRange(min=0), help="Stop before more calls than this.")
@unsandboxed_option
@click.option(
    "--no-code",
    "code",
    flag_value=False,
    default=True,
    help="Refuse programs that STUDY names, for studies from strangers.",
)
def judge(
    study: Path,
    database: str | None,
    named: tuple[str, ...],
    problems: tuple[str, ...],
    send_to: tuple[str, ...],
    max_calls: int | None,
    *,
    dry_run: bool,
    replay: bool,
    unsandboxed: bool,
    code: bool,
) -> None:
    """Let the machine judges of STUDY rank its solutions, blind as its judges are.

    Runs programs that the study file names, and sends solutions to services that it names and that
    --send-to allows. Answers are kept in the folder machines beside the study file: what was
    answered once is not asked again, and an interrupted run goes on where it stopped. --machine,
    --problem, and --send-to can be repeated.
    """
    from quem.machines.running import Limits, judged_study, plan_run
    from quem.wording import format_count

    judged = judged_study(study, sandboxed=not unsandboxed)
    machines = {machine.id: machine for machine in judged.spec.machines}
    _refuse_unknown(judged, "--machine", named, machines)
    _refuse_unknown(judged, "--problem", problems, judged.declared.problems)
    chosen = [machines[one] for one in named or machines]
    if not code:
        _refuse_commands(judged, chosen)
    planned = [plan_run(judged, machine, problems=problems or None) for machine in chosen]
    if not (dry_run or replay):
        _refuse_hosts(judged, planned, send_to)
    _show(planned)
    if dry_run:
        return
    _note(judged, planned, database, replay=replay)
    limits = Limits(max_calls, replay=replay)
    runs = [_run(one, limits) for one in planned]
    if limits.missing:
        _refuse_replay(limits)
    for one, run in zip(planned, runs, strict=True):
        _say(one, run)
    click.echo(f"{format_count(limits.requests, 'request')} sent")
    if not all(runs):
        click.echo("stopped before all calls were made; run it again for the rest", err=True)
        raise SystemExit(1)


def _refuse_unknown(
    judged: Judged, option: str, named: tuple[str, ...], known: Iterable[str]
) -> None:
    """Refuse unknown machine judges and problems."""
    from quem.io.text import nearest

    known = list(known)
    if wrong := next((one for one in named if one not in known), None):
        message = f"there is no {wrong!r}{nearest(wrong, known)}"
        raise QuemError(Mistake(judged.name, key=option, message=message))


def _refuse_commands(judged: Judged, chosen: list[Machine]) -> None:
    """Refuse to run programs named in a study file."""
    mistakes = [
        Mistake(
            judged.name,
            key=f"machines.{machine.id}",
            message=f"is the program {machine.command[0]}, which --no-code does not run",
        )
        for machine in chosen
        if machine.command
    ]
    refuse(mistakes)


def _refuse_hosts(judged: Judged, planned: list[Planned], send_to: tuple[str, ...]) -> None:
    """Refuse to send to hosts that the command line does not allow."""
    shared = judged.spec.machine.shared_with if judged.spec.machine else ()
    mistakes = []
    for host in dict.fromkeys(one.machine.host for one in planned if not one.machine.is_here):
        if host not in shared:
            message = f"solutions would be sent to {host}; if that is right, name it here"
            mistakes.append(Mistake(judged.name, key="machine.shared_with", message=message))
        if host not in send_to:
            message = f"solutions would be sent to {host}; allow it by --send-to {host}"
            mistakes.append(Mistake(judged.name, message=message))
    refuse(mistakes)


def _show(planned: list[Planned]) -> None:
    """List what is sent, and to whom."""
    import shlex

    from quem.wording import format_count, join_words

    for one in planned:
        machine = one.machine
        where = f"sent to {machine.host}"
        if machine.command:
            where = f"given to the program {shlex.join(machine.command)}"
        where += " on this computer" if machine.url and machine.is_here else ""
        groups = {(task.problem, task.block) for task in one.tasks}
        noun = "group" if any(block > 1 for _, block in groups) else "problem"
        click.echo(
            f"{machine.id}: {format_count(len(one.tasks), 'call')} for "
            f"{format_count(len(groups), noun)}, {one.n_bytes:,} bytes (about "
            f"{one.n_bytes / _BYTES_A_TOKEN:,.0f} tokens), {where}"
        )
        hidden = {
            f"{solver} on {task.problem}": sum(piece.hidden for piece in pieces)
            for task in one.tasks
            for solver, pieces in zip(task.request.solvers, task.request.solutions, strict=True)
        }
        for name, count in hidden.items():
            if count:
                click.echo(f"  {format_count(count, 'invisible character')} taken out of {name}")
    if planned:
        kinds = join_words(dict.fromkeys(kind for one in planned for kind in one.kinds))
        click.echo(f"material: {kinds}; names, experience, and rankings stay here")


def _note(judged: Judged, planned: list[Planned], database: str | None, *, replay: bool) -> None:
    """Log what leaves this computer, once per host."""
    away = [one for one in planned if not one.machine.is_here]
    if replay or not away:
        return
    from quem.rankings.stored import Session, session_of_study
    from quem.store.events import note_once
    from quem.store.location import locate_database

    store = session_of_study(Session(locate_database(judged.path, database)), judged.spec.id)
    if store is None:
        return
    with store, store.write() as c:
        for one in away:
            detail = {
                "host": one.machine.host,
                "machine": one.machine.id,
                "groups": len({(task.problem, task.block) for task in one.tasks}),
                "bytes": one.n_bytes,
                "kinds": list(one.kinds),
            }
            note_once(c, judged.spec.id, "shell", "material-sent", **detail)


def _run(planned: Planned, limits: Limits) -> Run | None:
    """Make the calls of one machine judge, with progress on stderr."""
    import sys

    from quem.machines.running import run_machine

    with click.progressbar(
        length=len(planned.tasks), label=planned.machine.id, file=sys.stderr
    ) as bar:
        return run_machine(planned, limits, bar.update)


def _refuse_replay(limits: Limits) -> None:
    from quem.wording import format_count

    names = "".join(f"\n  {key}" for key in limits.missing)
    raise QuemError(
        f"{format_count(len(limits.missing), 'call')} without an answer from an earlier "
        "run; run "
        f"it without --replay:{names}"
    )


def _say(planned: Planned, run: Run | None) -> None:
    """Print how a run ended."""
    from collections import Counter

    if run is None:
        return
    what = "answers kept for a run of all problems" if planned.is_part else f"run {run.number}"
    counts = Counter(call.status for call in run.calls)
    each = ", ".join(f"{count:,} {status}" for status, count in counts.most_common())
    click.echo(f"{planned.machine.id}: {what}, {each}")
