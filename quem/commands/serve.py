"""``quem serve``: a judging session."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from quem.commands.options import database_option

if TYPE_CHECKING:
    from webjudge import Site

__all__ = ["serve"]


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

    Prints the link of the dashboard, and the private link of each judge when it is made.
    Stop it with Ctrl-C or SIGTERM: everything is kept, and a later start goes on.
    """
    import gc
    import logging
    import signal

    from quem.errors import QuemError
    from webjudge import create_app, open_site
    from webjudge.housekeeping import Housekeeping
    from webjudge.running import Server

    # That requests wait for a thread for some milliseconds is no news.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    gc.enable()  # which the command line switched off: a server runs for long
    site = open_site(study, database)
    app = create_app(site, behind_proxy=behind_proxy, url=url, listens=host)
    try:
        server = Server(app, host, port)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = f"cannot listen on {host}:{port}: {reason}; name another --port or --host"
        raise QuemError([message]) from None
    gc.collect()
    gc.freeze()
    base = (url or f"http://{_shown_host(host)}:{server.port}").rstrip("/")
    housekeeping = Housekeeping(site)
    dashboard = _print_links(site, study, base)
    if open_browser:
        click.launch(dashboard)
    housekeeping.start()
    try:
        told = server.run()
    finally:
        housekeeping.stop()
        site.store.close()
    if told == signal.SIGINT:
        raise KeyboardInterrupt


def _print_links(site: Site, study: Path, base: str) -> str:
    """Print every link that is made now; gives that of the dashboard."""
    from quem.store.judges import issue_link, judges_of
    from quem.store.organizers import issue_organizer_link
    from quem.store.studies import status_of

    with site.store.write() as c:
        dashboard = f"{base}/d/{issue_organizer_link(c, site.id)}"
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
    click.echo(f"Dashboard: {dashboard}")
    for line in lines or ["No judges yet: add them in the dashboard."]:
        click.echo(line)
    for trouble in site.troubles.values():
        click.secho(f"alert: {trouble}", err=True, fg="red")
    for doubt in site.doubts:
        click.echo(f"warning: {doubt.code}: {doubt.message}", err=True)
    click.echo("Judges' links are shown once. Stop with Ctrl-C.", err=True)
    import sys

    sys.stdout.flush()
    return dashboard


def _shown_host(host: str) -> str:
    """The host for a link: where it listens everywhere, the machine's name."""
    from webjudge.hosts import ANYWHERE

    if host in ANYWHERE:
        import socket

        return socket.gethostname()
    return f"[{host}]" if ":" in host else host
