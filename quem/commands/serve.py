"""``quem serve``: a judging session."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
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
    study_in,
    unsandboxed_option,
)

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication
    from sqlalchemy import Connection

    from quem.commands.links import Row
    from webjudge import Site
    from webjudge.housekeeping import Housekeeping
    from webjudge.running import Server

_NOT_INVITED = "not invited yet: quem invite, or the dashboard"


@click.command()
@click.argument(
    "study", default=".", type=click.Path(path_type=Path), callback=lambda _, __, v: _served(v)
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
    """Run a judging session of STUDY, or of all studies in the folders of a folder.

    Shows the private link of each organizer, judge, and subject once, when it is made: on a
    terminal, or else in a file that only you can read.
    Stop it with Ctrl-C or SIGTERM: everything is kept, and a later start continues.
    """
    import gc
    import logging
    import signal

    from quem.store.backup import make_folder, refuse_server
    from quem.store.location import locate_database

    # That requests wait for a thread for some milliseconds is no news.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    gc.enable()  # which the command line switched off: a server runs for long
    if backup:
        refuse_server(locate_database(study, database))
        make_folder(backup)
    place = _Place(host, port, url, behind_proxy=behind_proxy, sandboxed=not unsandboxed)
    copies = _Copies(backup, every, keep)
    if study.is_dir():
        if links:
            raise click.UsageError(
                "--links names one file, and each study has its links; leave it out"
            )
        number = _serve_folder(study, database, place, copies, open_browser=open_browser)
    else:
        number = _serve_study(study, database, place, copies, links, open_browser=open_browser)
    if number == signal.SIGINT:
        raise KeyboardInterrupt


@dataclass(frozen=True)
class _Place:
    """Where a server listens, and how it is reached."""

    host: str
    port: int
    url: str | None
    behind_proxy: bool
    sandboxed: bool

    def listen(self, app: WSGIApplication, largest: int) -> Server:
        """Give a server that listens there."""
        import gc

        from quem.errors import QuemError
        from webjudge.running import Server

        try:
            server = Server(app, self.host, self.port, largest)
        except (OSError, OverflowError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            where = f"{self.host}:{self.port}"
            raise QuemError(
                [f"cannot listen on {where}: {reason}; name another --port or --host"]
            ) from None
        gc.collect()
        gc.freeze()
        return server

    def base(self, server: Server) -> str:
        """Give what links begin with."""
        return self.url or f"http://{_shown_host(self.host)}:{server.port}"


@dataclass(frozen=True)
class _Copies:
    """Where backups go, and how often."""

    folder: Path | None
    every: float
    keep: int

    def add_to(self, site: Site, housekeeping: Housekeeping) -> None:
        """Let a server make them."""
        from quem.store.backup import back_up
        from quem.store.uploads import UploadFolder

        if self.folder is None:
            return
        uploads = UploadFolder(site.path)
        copy = partial(back_up, site.store, site.id, self.folder, actor="server", uploads=uploads)
        housekeeping.add("backup", self.every, partial(copy, keep=self.keep, every=self.every))


def _served(study: Path) -> Path:
    """Give the study file that is meant, or a folder whose folders hold studies."""
    from webjudge.studies import study_files

    is_folder = study.is_dir() and not any(study.glob("*.yaml"))
    return study if is_folder and study_files(study) else study_in(study)


def _serve_study(
    study: Path,
    database: str | None,
    place: _Place,
    copies: _Copies,
    links: Path | None,
    *,
    open_browser: bool,
) -> int:
    """Serve one study until a signal stops it; gives that."""
    from quem.store.engine import clear_refusals
    from quem.store.location import locate_database
    from webjudge import create_app, open_site
    from webjudge.app import LARGEST
    from webjudge.housekeeping import Housekeeping
    from webjudge.mailing import POST

    with clear_refusals(locate_database(study, database)):
        site = open_site(study, database, sandboxed=place.sandboxed, tell=conversion_progress)
    app = create_app(site, behind_proxy=place.behind_proxy, url=place.url, listens=place.host)
    with place.listen(app, app.config[LARGEST]) as server:
        housekeeping = Housekeeping(site)
        copies.add_to(site, housekeeping)
        post = app.extensions[POST]
        post.keep(housekeeping)
        with clear_refusals(site.store.place):
            dashboard = _hand_over_links(site, place.base(server), links)
        _say_shown()
        if open_browser:
            click.launch(dashboard)
        housekeeping.start()
        try:
            return server.run()
        finally:
            post.stop()
            housekeeping.stop()
            site.store.close()


def _serve_folder(
    folder: Path, database: str | None, place: _Place, copies: _Copies, *, open_browser: bool
) -> int:
    """Serve the studies of a folder until a signal stops it; gives that."""
    from quem.errors import QuemError
    from quem.store.engine import clear_refusals
    from webjudge.solving import LARGEST_UPLOAD
    from webjudge.studies import StudiesFolder

    studies = StudiesFolder(
        folder,
        database,
        behind_proxy=place.behind_proxy,
        url=place.url,
        listens=place.host,
        sandboxed=place.sandboxed,
        prepare=copies.add_to,
    )
    with place.listen(studies, LARGEST_UPLOAD) as server:
        try:
            dashboards = []
            for key, site in studies.opened():
                base = studies.base(key, place.base(server))
                try:
                    with clear_refusals(site.store.place):
                        dashboards.append(_hand_over_links(site, base, None))
                except QuemError as error:
                    click.secho(f"error: {error}", err=True, fg="red")
            for mistake in studies.broken.values():
                click.secho(f"error: {mistake}", err=True, fg="red")
            _say_shown()
            if open_browser and dashboards:
                click.launch(dashboards[0])
            return server.run()
        finally:
            studies.close()


def _say_shown() -> None:
    import sys

    click.echo("Links are shown once. Stop with Ctrl-C.", err=True)
    sys.stdout.flush()


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
