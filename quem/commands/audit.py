"""``quem audit``: what a machine judge is like as an instrument."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from quem.commands.options import (
    database_option,
    format_options,
    json_option,
    out_option,
    pseudonyms_option,
    refuse_out_with_json,
    reveal_option,
    show_result,
    study_argument,
    unsandboxed_option,
)

if TYPE_CHECKING:
    from pathlib import Path

    from quem.experience.loading import Study


@click.command()
@study_argument()
@click.option("--machine", "named", metavar="ID", help="Which one, where the study has several.")
@click.option(
    "--canary",
    is_flag=True,
    help="First plant a request in a solution of each problem, and see whether it is obeyed.",
)
@click.option(
    "--redacted",
    is_flag=True,
    help="First leave out sentences that speak to a judge, and see how ranks change.",
)
@click.option(
    "--send-to",
    multiple=True,
    metavar="HOST",
    help="Host that solutions may be sent to; for --canary and --redacted.",
)
@out_option("STUDY's name with -audit-ID, beside it")
@json_option
@format_options
@database_option
@reveal_option
@pseudonyms_option
@unsandboxed_option
def audit(
    study: Path,
    named: str | None,
    send_to: tuple[str, ...],
    out: Path | None,
    database: str | None,
    formats: dict[str, Any],
    *,
    canary: bool,
    redacted: bool,
    as_json: bool,
    reveal: bool,
    pseudonyms: bool,
    unsandboxed: bool,
) -> None:
    """Audit a machine judge of STUDY on the problems that experts ranked too.

    Says whether it ranks like an expert and could take the place of one, how many years more it
    gives systems, whether places and lengths count, whether it prefers its own family, repeats
    itself, judges as it did, obeys hidden requests, and answers. Needs no network but for --canary
    and --redacted.
    """
    refuse_out_with_json(out, as_json=as_json)
    from quem.experience.loading import load_study
    from quem.machines.auditing import audit_machine
    from quem.machines.result import AuditResult

    loaded = load_study(study, database=database, reveal=reveal)
    judge = machine_named(loaded, named)
    if canary or redacted:
        from quem.commands.judge import run_canary, run_redacted

        for wanted, run in ((canary, run_canary), (redacted, run_redacted)):
            if wanted:
                run(loaded, judge, send_to, database, sandboxed=not unsandboxed)
        loaded = load_study(study, database=database, reveal=reveal)
    if pseudonyms:
        from quem.experience.pseudonyms import pseudonymize

        (loaded,) = pseudonymize([loaded])
    result = AuditResult(audit_machine(loaded, judge))
    folder = out if out is not None else study.parent / f"{study.stem}-audit-{judge}"
    show_result(result, folder, formats, as_json=as_json)


def machine_named(study: Study, named: str | None) -> str:
    """Give the machine judge that is meant."""
    from quem.errors import Mistake, QuemError
    from quem.wording import join_words

    known = [machine.id for machine in study.spec.machines]
    if named in known:
        return str(named)
    if named is None and len(known) == 1:
        return known[0]
    if not known:
        message = "declares no machine judge"
    elif named is None:
        message = f"has several machine judges; name one by --machine: {join_words(known)}"
    else:
        message = f"there is no machine judge {named!r}; the study file has {join_words(known)}"
    raise QuemError([Mistake(study.name, key="machines", message=message)])
