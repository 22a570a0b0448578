"""``quem serve``: a judging session."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quem.commands.options import database_option

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from webjudge import Site

__all__ = ["serve"]

# More of them only wait for each other: pages are made by one at a time.
_THREADS = 4
_ANYWHERE = ("0.0.0.0", "::", "")  # noqa: S104  compared with, not bound to


@click.command()
@click.argument("study", type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    default=8080,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 for any that is free.",
)
@database_option
@click.option("--url", help="Address that judges use, where it is another: https://...")
@click.option(
    "--behind-proxy", is_flag=True, help="Trust X-Forwarded-* of a proxy in front, that ends TLS."
)
@click.option("--open", "open_browser", is_flag=True, help="Open the dashboard in a browser.")
def serve(
    study: Path,
    host: str,
    port: int,
    database: str | None,
    url: str | None,
    *,
    behind_proxy: bool,
    open_browser: bool,
) -> None:
    """Run a judging session of STUDY.

    Prints the private link of each organizer and judge once, when it is made.
    Stop it with Ctrl-C: everything is kept, and a later start goes on.
    """
    import gc
    import logging

    from waitress.server import create_server

    from quem.errors import QuemError
    from webjudge import create_app, open_site

    # That requests wait for a thread for some milliseconds is no news.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    gc.enable()  # which the command line switched off: a server runs for long
    site = open_site(study, database)
    app = create_app(site, behind_proxy=behind_proxy, url=url)
    try:
        server: Any = create_server(app, host=host, port=port, threads=_THREADS, ident=None)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = f"cannot listen on {host}:{port}: {reason}; name another --port or --host"
        raise QuemError([message]) from None
    gc.collect()
    gc.freeze()
    listens = getattr(server, "effective_listen", None) or [(host, server.effective_port)]
    base = (url or f"http://{_shown_host(host)}:{listens[0][1]}").rstrip("/")
    dashboard = _print_links(site, study, base)
    if open_browser:
        click.launch(dashboard)
    try:
        server.run()
    finally:
        site.store.close()
    # Only Ctrl-C ends it.
    raise KeyboardInterrupt


def _print_links(site: Site, study: Path, base: str) -> str:
    """Print every link that is made now; gives an address of the dashboard to open."""
    from quem.store.judges import issue_link, judges_of
    from quem.store.studies import status_of

    with site.store.write() as c:
        desks = _dashboards(c, site.id, study, base)
        status = status_of(c, site.id)
        lines = []
        for judge in judges_of(c, site.id):
            who = f"{judge.id}  {judge.name}".rstrip()
            if judge.linked_at is None and judge.forgotten_at is None:
                lines.append(f"{who}  {base}/j/{issue_link(c, judge, 'shell')}")
            elif judge.has_link:
                lines.append(f"{who}  has a link (quem judges {study} --reissue {judge.id})")
            else:
                state = "forgotten" if judge.forgotten_at else "link revoked"
                lines.append(f"{who}  {state}")
    click.echo(f"{site.spec.title}: {status.state}, {site.store.place.name}")
    for line in desks:
        click.echo(line)
    for line in lines or ["No judges yet: add them in the dashboard."]:
        click.echo(line)
    for doubt in site.doubts:
        click.echo(f"warning: {doubt.code}: {doubt.message}", err=True)
    click.echo("Links are shown once. Stop with Ctrl-C.", err=True)
    import sys

    sys.stdout.flush()
    return desks[0].partition(": ")[2].split()[0]


def _dashboards(c: Connection, study_id: str, study: Path, base: str) -> list[str]:
    """The line of each organizer, with the link that is made now; new ones come first."""
    from quem.store.organizers import DEFAULT, issue_organizer_link, organizers_of

    new, old = [], []
    for one in organizers_of(c, study_id):
        who = "" if one.id == DEFAULT else f" of {one.id} ({one.role})"
        if not (one.linked_at or one.revoked_at):
            token = issue_organizer_link(c, study_id, one.id)
            new.append(f"Dashboard{who}: {base}/d/{token}")
        else:
            state = "has a link" if one.has_link else "link revoked"
            again = f"quem organizers {study} --new-link {one.id}"
            old.append(f"Dashboard{who}: {base}/desk  {one.id} {state} ({again})")
    return new + old


def _shown_host(host: str) -> str:
    """The host for a link: where it listens everywhere, the machine's name."""
    if host in _ANYWHERE:
        import socket

        return socket.gethostname()
    return f"[{host}]" if ":" in host else host
