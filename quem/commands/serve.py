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
    study_argument,
    unsandboxed_option,
)

if TYPE_CHECKING:
    from flask import Flask
    from sqlalchemy import Connection

    from quem.commands.links import Row
    from webjudge import Site
    from webjudge.housekeeping import Housekeeping
    from webjudge.running import Server

_NOT_INVITED = "not invited yet: quem invite, or the dashboard"


@click.command()
@study_argument(default=".")
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
@click.option("--open", "open_browser", is_flag=True, help="Open the dashboard in a browser.")
def serve(
    study: Path,
    host: str,
    port: int,
    database: str | None,
    url: str | None,
    links: Path | None,
    backup: Path | None,
    every: float,
    keep: int,
    *,
    behind_proxy: bool,
    unsandboxed: bool,
    open_browser: bool,
) -> None:
    """Run a judging session of STUDY.

    Shows the private link of each organizer, judge, and subject once, when it is made: on a
    terminal, or else in a file that only you can read.
    Stop it with Ctrl-C or SIGTERM: everything is kept, and a later start continues.
    """
    import gc
    import logging
    import signal
    import sys

    from quem.store.backup import make_folder, refuse_server
    from quem.store.engine import clear_refusals
    from quem.store.location import locate_database
    from webjudge import create_app, open_site
    from webjudge.app import LARGEST
    from webjudge.housekeeping import Housekeeping
    from webjudge.mailing import POST

    # That requests wait for a thread for some milliseconds is no news.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    gc.enable()  # which the command line switched off: a server runs for long
    place = locate_database(study, database)
    if backup:
        refuse_server(place)
        make_folder(backup)
    with clear_refusals(place):
        site = open_site(study, database, sandboxed=not unsandboxed, tell=conversion_progress)
    app = create_app(site, behind_proxy=behind_proxy, url=url, listens=host)
    with _listen(app, host, port, app.config[LARGEST]) as server:
        housekeeping = Housekeeping(site)
        if backup:
            _add_backups(site, housekeeping, backup, every, keep)
        post = app.extensions[POST]
        post.keep(housekeeping)
        with clear_refusals(site.store.place):
            base = url or f"http://{_shown_host(host)}:{server.port}"
            dashboard = _hand_over_links(site, base, links)
        click.echo("Links are shown once. Stop with Ctrl-C.", err=True)
        sys.stdout.flush()
        if open_browser:
            click.launch(dashboard)
        housekeeping.start()
        try:
            number = server.run()
        finally:
            post.stop()
            housekeeping.stop()
            site.store.close()
    if number == signal.SIGINT:
        raise KeyboardInterrupt


def _listen(app: Flask, host: str, port: int, largest: int) -> Server:
    """Give a server that listens, or refuse with the reason why it cannot."""
    import gc

    from quem.errors import QuemError
    from webjudge.running import Server

    try:
        server = Server(app, host, port, largest)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise QuemError(
            [f"cannot listen on {host}:{port}: {reason}; name another --port or --host"]
        ) from None
    gc.collect()
    gc.freeze()
    return server


def _add_backups(
    site: Site, housekeeping: Housekeeping, folder: Path, every: float, keep: int
) -> None:
    """Let a server make backups."""
    from quem.store.backup import back_up
    from quem.store.uploads import UploadFolder

    uploads = UploadFolder(site.path)
    copy = partial(back_up, site.store, site.id, folder, actor="server", uploads=uploads)
    housekeeping.add("backup", every, partial(copy, keep=keep, every=every))


def _hand_over_links(site: Site, base: str, out: Path | None) -> str:
    """Show every link that is made now, or write it to a file; gives one of the dashboard."""
    from quem.store.studies import status_of

    with link_file(site.path, out) as file, site.store.write() as c:
        status = status_of(c, site.id)
        organizers = _organizers(c, site.id, base)
        invited = _invited_by_mail(site)
        judges = _judges(c, site.id, base, invited["judge"])
        subjects = _subjects(c, site.id, base, invited["subject"]) if site.spec.solving else []
        is_new = any(link for *_, link, _ in (*organizers, *judges, *subjects))
        if out or (is_new and not may_show_links()):
            rows = [("role", "id", "name", "link", "state"), *organizers, *judges, *subjects]
            file.write(rows)
    click.echo(f"{site.spec.title}: {status.state}, {site.store.place.name}")
    file.tell()
    for role, one, _, link, state in organizers:
        who = "Dashboard" if len(organizers) == 1 else f"Dashboard of {one} ({role})"
        text = f"{base}/dashboard  {state}" if file.is_made or not link else link
        again = "" if link else f" (quem organizers {site.path} --new-link {one})"
        click.echo(f"{who}: {text}{again}")
    commands = {"judge": "judges", "subject": "solve"}
    for role, one, name, link, state in (*judges, *subjects):
        text = state if file.is_made or not link else link
        command = f" (quem {commands[role]} {site.path} --reissue {one})"
        again = command if state == "has a link" else ""
        click.echo(f"{one}  {name}".rstrip() + f"  {text}{again}")
    if not judges:
        click.echo("No judges yet: add them in the dashboard.")
    for trouble in site.troubles.values():
        click.secho(f"alert: {trouble}", err=True, fg="red")
    for warning in site.warnings:
        click.echo(f"warning: {warning.code}: {warning.message}", err=True)
    return next((row[3] for row in organizers if row[3]), f"{base}/dashboard")


def _organizers(c: Connection, study_id: str, base: str) -> list[Row]:
    """Give role, id, name, link and state of organizers, with the links that are made now."""
    from quem.store.organizers import issue_organizer_link, organizers_of

    rows: list[Row] = []
    for one in organizers_of(c, study_id):
        link, state = "", "has a link" if one.has_link else "link revoked"
        if not (one.linked_at or one.revoked_at):
            link, state = f"{base}/d/{issue_organizer_link(c, study_id, one.id)}", "new link"
        rows.append((one.role, one.id, one.name, link, state))
    return rows


def _invited_by_mail(site: Site) -> defaultdict[str, set[str]]:
    """Name by role the people whose links are made when their invitation is sent."""
    from quem.mail.server import mail_settings
    from quem.study.addresses import addresses_of

    invited: defaultdict[str, set[str]] = defaultdict(set)
    if mail_settings():
        for role, person in addresses_of(site.spec, site.path):
            invited[role].add(person)
    return invited


def _judges(c: Connection, study_id: str, base: str, invited: set[str]) -> list[Row]:
    """Give role, id, name, link and state of judges, with the links that are made now."""
    from quem.store.judges import issue_links, judges_of

    judges = judges_of(c, study_id)
    new = [
        one for one in judges if one.linked_at is one.forgotten_at is None and one.id not in invited
    ]
    tokens = dict(zip((one.key for one in new), issue_links(c, new, "shell"), strict=True))
    rows: list[Row] = []
    for judge in judges:
        link, state = "", "has a link"
        if judge.id in invited and judge.linked_at is judge.revoked_at is None:
            state = _NOT_INVITED
        elif judge.key in tokens:
            link, state = f"{base}/j/{tokens[judge.key]}", "new link"
        elif not judge.has_link:
            state = "forgotten" if judge.forgotten_at else "link revoked"
        rows.append(("judge", judge.id, judge.name, link, state))
    return rows


def _subjects(c: Connection, study_id: str, base: str, invited: set[str]) -> list[Row]:
    """Give role, id, name, link and state of subjects, with the links that are made now."""
    from quem.store.subjects import issue_subject_link, subjects_of

    rows: list[Row] = []
    for one in subjects_of(c, study_id):
        link, state = "", "has a link" if one.has_link else "link revoked"
        if one.is_gone:
            state = "gone"
        elif one.id in invited and one.linked_at is one.revoked_at is None:
            state = _NOT_INVITED
        elif one.linked_at is None:
            link, state = f"{base}/p/{issue_subject_link(c, one, 'shell')}", "new link"
        rows.append(("subject", one.id, one.name, link, state))
    return rows


def _shown_host(host: str) -> str:
    """The host for a link: where it listens everywhere, the machine's name."""
    from webjudge.security import ANYWHERE

    if host in ANYWHERE:
        import socket

        return socket.gethostname()
    return f"[{host}]" if ":" in host else host
