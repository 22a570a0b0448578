"""``quem serve``: a judging session."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from quem.commands.backup import keep_option
from quem.commands.links import link_file, may_show_links
from quem.commands.options import (
    DURATION,
    check_url,
    conversion_progress,
    database_option,
    program,
    study_argument,
    study_in,
    unsandboxed_option,
)

if TYPE_CHECKING:
    from flask import Flask

    from quem.store.links import RoleName
    from webjudge import Site
    from webjudge.housekeeping import Housekeeping
    from webjudge.running import Server


_HERE = (
    "These links work on this computer only; docs/how-to/reach-judges.md says how others open them."
)


@click.command()
@study_argument(required=False)
@click.option(
    "--demo", is_flag=True, help="Serve a made-up study, at a judge's task; nothing is kept."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    default=8080,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 for any that is free.",
)
@database_option
@click.option(
    "--url",
    callback=check_url,
    help="Address that judges use, where it is another: https://...",
)
@click.option(
    "--links",
    type=click.Path(path_type=Path, dir_okay=False),
    help="New file for links, which only you can read.  [default: terminal, or beside STUDY]",
)
@click.option(
    "--behind-proxy", is_flag=True, help="Trust X-Forwarded-* of a proxy in front, that ends TLS."
)
@click.option(
    "--backup",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Make backups in this folder, regularly and at the stop.",
)
@click.option(
    "--backup-every",
    "every",
    metavar="TIME",
    default="15m",
    show_default=True,
    type=DURATION,
    help="Time between backups.",
)
@keep_option("--backup-keep")
@unsandboxed_option
@click.option(
    "--open", "open_browser", is_flag=True, help="Open the dashboard, or the demo, in a browser."
)
def serve(
    study: Path | None,
    host: str,
    port: int,
    database: str | None,
    url: str | None,
    links: Path | None,
    backup: Path | None,
    every: float,
    keep: int,
    *,
    demo: bool,
    behind_proxy: bool,
    unsandboxed: bool,
    open_browser: bool,
) -> None:
    """Run a judging session of STUDY, or of the study in this folder.

    Shows the private link of each organizer, judge, and subject once, when it is made: on a
    terminal, or else in a file that only you can read.
    Stop it with Ctrl-C or SIGTERM: everything is kept, and a later start continues.
    """
    import gc
    import logging
    import signal
    import sys

    from quem.store.backup import make_folder, refuse_server
    from quem.store.database import clear_refusals
    from quem.store.location import locate_database
    from webjudge import create_app, open_site
    from webjudge.housekeeping import Housekeeping
    from webjudge.mailing import POST, reach_of

    # Waiting some milliseconds for a thread is not worth a warning.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    gc.enable()  # disabled by the command line: a server runs for long
    if demo:
        study, database = _made_up_study(click.get_current_context())
    study = study or study_in(Path())
    place = locate_database(study, database)
    if backup:
        refuse_server(place)
        make_folder(backup)
    with clear_refusals(place):
        site = open_site(study, database, sandboxed=not unsandboxed, tell=conversion_progress)
    app = create_app(site, behind_proxy=behind_proxy, url=url, listens=host)
    with _listen(app, host, port, behind_proxy=behind_proxy) as server:
        housekeeping = Housekeeping(site)
        if backup:
            _add_backups(site, housekeeping, backup, every, keep)
        post = app.extensions[POST]
        post.keep(housekeeping)
        with clear_refusals(site.store.place):
            base = url or f"http://{_shown_host(host)}:{server.port}"
            first = _show_demo(site, base) if demo else _hand_over_links(site, base, links)
        if not demo and reach_of(base) == "computer":
            click.echo(_HERE, err=True)
        once = "All of it is deleted at the end." if demo else "Links are shown once."
        click.echo(f"{once} Stop with Ctrl-C.", err=True)
        sys.stdout.flush()
        if open_browser:
            click.launch(first)
        housekeeping.start()
        try:
            number = server.run()
        finally:
            post.stop()
            housekeeping.stop()
            site.store.close()
    if number == signal.SIGINT:
        raise KeyboardInterrupt


def _made_up_study(context: click.Context) -> tuple[Path, str]:
    """A copy of a made-up study with its database, in a folder that is deleted at the end."""
    import shutil
    from tempfile import TemporaryDirectory

    from click.core import ParameterSource

    from quem.resources import resource

    for one in context.command.params:
        is_given = context.get_parameter_source(one.name or "") is ParameterSource.COMMANDLINE
        if is_given and one.name not in ("demo", "port", "open_browser"):
            name = "STUDY" if one.name == "study" else one.opts[0]
            raise click.UsageError(f"--demo takes --port and --open alone; leave out {name}")
    folder = Path(context.with_resource(TemporaryDirectory(prefix="quem-demo-")))
    # Files that an earlier session may have left beside it.
    left = shutil.ignore_patterns("*.sqlite3*", "*-report")
    shutil.copytree(resource("studies") / "cooling-plans", folder, ignore=left, dirs_exist_ok=True)
    return folder / "study.yaml", str(folder / "study.sqlite3")


def _show_demo(site: Site, base: str) -> str:
    """Print the links of a judge's first task and of the dashboard; return the first."""
    from quem.store.assignment import assign_ballots
    from quem.store.people import DEFAULT, consent, issue_link, person_named
    from quem.store.work import tasks_of

    with site.store.write() as c:
        judge = person_named(c, site.id, "judge", site.spec.judges[0].id)
        consent(c, judge)
        assign_ballots(c, judge.key, site.plan)
        task = next(one for one in tasks_of(c, judge.key) if not one.practice)
        link = f"{base}/j/{issue_link(c, judge, 'shell')}?task={task.public_id}"
        organizer = person_named(c, site.id, "organizer", DEFAULT)
        dashboard = f"{base}/d/{issue_link(c, organizer, 'shell')}"
    click.echo(f"Judge's task: {link}\nDashboard: {dashboard}")
    return link


def _listen(app: Flask, host: str, port: int, *, behind_proxy: bool) -> Server:
    """A listening server; refuses with the reason where it cannot listen."""
    import gc

    from quem.errors import QuemError
    from webjudge.app import LARGEST
    from webjudge.running import Server

    try:
        server = Server(app, host, port, app.config[LARGEST], behind_proxy=behind_proxy)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise QuemError(
            f"cannot listen on {host}:{port}: {reason}; name another --port or --host"
        ) from None
    gc.collect()
    gc.freeze()
    return server


def _add_backups(
    site: Site, housekeeping: Housekeeping, folder: Path, every: float, keep: int
) -> None:
    """Add backups to a server."""
    from quem.store.backup import back_up
    from quem.store.uploads import UploadFolder

    uploads = UploadFolder(site.path)
    copy = partial(back_up, site.store, site.id, folder, actor="server", uploads=uploads)
    housekeeping.add("backup", every, partial(copy, keep=keep, every=every))


def _hand_over_links(site: Site, base: str, out: Path | None) -> str:
    """Print new links, or write them to a file; returns one of the dashboard."""
    from quem.store.links import ROLE_NAMED, link_table
    from quem.store.studies import status_of

    with link_file(site.path, out) as file, site.store.write() as c:
        status = status_of(c, site.id)
        invited = _invited_by_mail(site)
        roles: list[RoleName] = ["organizers", "judges"]
        if site.spec.solving:
            roles.append("people")
        tables = {
            role: link_table(c, site.id, ROLE_NAMED[role], base, by_mail=invited[role])
            for role in roles
        }
        rows = [(role, *row) for role in roles for row in tables[role]]
        if out or (any(link for *_, link, _ in rows) and not may_show_links()):
            file.write([("role", "id", "name", "link", "state"), *rows])
    click.echo(f"{site.spec.title}: {status.state}, {site.store.place.name}")
    file.tell()
    organizers = tables["organizers"]
    for role, one, name, link, state in rows:
        who = f"{one}  {name}".rstrip() + " "
        if role == "organizers":
            who = "Dashboard:" if len(organizers) == 1 else f"Dashboard of {one}:"
        known = f"{base}/dashboard  {state}" if role == "organizers" else state
        text = known if file.is_made or not link else link
        is_asked = not link and (role == "organizers" or state == "has a link")
        remedy = f" ({program()} links {role} {site.path} --reissue {one})"
        again = remedy if is_asked else ""
        click.echo(f"{who} {text}{again}")
    if not tables["judges"]:
        click.echo("No judges yet: add them in the dashboard.")
    for trouble in site.troubles.values():
        click.secho(f"alert: {trouble}", err=True, fg="red")
    from quem.solutions.checking import GIVES_AWAY

    decide = sum(warning.code in GIVES_AWAY for warning in site.warnings)
    if decide:
        solutions = sum(map(len, site.solutions.by_problem.values()))
        line = f"{solutions} solutions; {decide} to decide at {base}/dashboard/solutions"
        click.echo(line, err=True)
    for warning in site.warnings:
        if warning.code not in GIVES_AWAY:
            click.echo(f"warning: {warning.code}: {warning.message}", err=True)
    return next((row[2] for row in organizers if row[2]), f"{base}/dashboard")


def _invited_by_mail(site: Site) -> defaultdict[str, set[str]]:
    """People by role whose links are made when their invitation is sent."""
    from quem.mail.server import mail_settings
    from quem.studyfile.addresses import addresses_of

    invited: defaultdict[str, set[str]] = defaultdict(set)
    if mail_settings():
        for role, person in addresses_of(site.spec, site.path):
            invited["judges" if role == "judge" else "people"].add(person)
    return invited


def _shown_host(host: str) -> str:
    """The host for a link: the machine's name if the server listens everywhere."""
    from webjudge.security import ANYWHERE

    if host in ANYWHERE:
        import socket

        return socket.gethostname()
    return f"[{host}]" if ":" in host else host
