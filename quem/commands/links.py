"""``quem links``: private links of judges, of people who solve, and of organizers."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from quem.commands.options import check_url, database_option, mistaken_options, study_argument

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from sqlalchemy.orm import Session

    from quem.errors import Mistake
    from quem.mail.server import MailSettings, Outcome
    from quem.store.links import RoleName
    from quem.store.models import Role
    from quem.store.outbox import Kind, StoredLetter
    from quem.studyfile.relevance import JudgedSpec
    from webjudge import Site
    from webjudge.letters import Text
    from webjudge.mailing import Planned

# A header, or an id and what belongs to it.
Row = tuple[str, ...]

_HEADER = ("id", "name", "link", "state")
_LOCAL = "http://127.0.0.1:8080"
_NOTES = {
    "retry": "the mail server did not want it yet; a run after {at} tries again",
    "unknown": "nobody knows whether it was sent; decide in the dashboard, under Invitations",
}
_NO_SERVER = (
    "no mail server: set QUEM_SMTP, such as smtps://user@mail.example.org:465, or leave out --mail "
    "and send the links yourself"
)
_NO_URL = (
    "--url is missing: links begin with the address of the server; name it, such as "
    "https://judging.example.org, or set QUEM_URL"
)
_ONLY_HERE = (
    "--url: links that begin with {} work only on this computer; name the address by which "
    "others reach the server, such as https://judging.example.org"
)
_NOT_NOW = {
    "solving": "people still solve: judges are invited when the solving session is closed",
    "solved": "the solving session is closed: nobody can solve",
    "closed": "the study is closed: nobody can rank; open it again",
}


@click.command()
@click.argument("role", type=click.Choice(["judges", "people", "organizers"]), metavar="ROLE")
@study_argument()
@database_option
@click.option(
    "--url",
    envvar="QUEM_URL",
    callback=check_url,
    help=f"Address of the server, with which links begin.  [default: $QUEM_URL, or {_LOCAL}]",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="New file for the table with the links, which only you can read.",
)
@click.option("--reissue", multiple=True, metavar="ID", help="Replace this person's link.")
@click.option("--revoke", multiple=True, metavar="ID", help="End this person's link.")
@click.option(
    "--erase",
    multiple=True,
    metavar="ID",
    help="Delete this person's data; rankings and times stay under a pseudonym.",
)
@click.option("--add", metavar="ID", help="Add a person whom the study file does not name.")
@click.option("--name", default="", help="With --add: the person's name.")
@click.option("--experience", type=float, help="With --add: a judge's years of experience.")
@click.option("--mail", is_flag=True, help="Send each person an invitation with a link, once.")
@click.option("--dry-run", is_flag=True, help="With --mail: say who would get what, and end.")
def links(
    role: RoleName,
    study: Path,
    database: str | None,
    url: str | None,
    out: Path | None,
    reissue: tuple[str, ...],
    revoke: tuple[str, ...],
    erase: tuple[str, ...],
    add: str | None,
    name: str,
    experience: float | None,
    *,
    mail: bool,
    dry_run: bool,
) -> None:
    """Make private links: of judges, of people who solve, or of organizers.

    ROLE is judges, people, or organizers. Makes a link for each person of STUDY who has none yet.
    A link is shown once, when it is made: the store holds only its hash. It is shown on a terminal;
    otherwise it is written to a CSV file beside the study, or to --out. Options that name an ID can
    be repeated.

    --mail sends the links by the mail server that the environment names: QUEM_SMTP,
    QUEM_SMTP_PASSWORD, QUEM_MAIL_FROM. However often it runs, no letter is sent twice; what a mail
    server did not want yet is tried again. With --reissue, only those whom it names get a letter.
    """
    if add is None and (name or experience is not None):
        raise click.UsageError("--name and --experience belong to --add ID")
    _refuse_roles(role, {*reissue}, {*revoke}, {*erase}, experience, mail=mail)
    if mail and (out or revoke or erase or add is not None):
        raise click.UsageError("--mail goes without --out, --revoke, --erase, and --add")
    if dry_run and not mail:
        raise click.UsageError("--dry-run belongs to --mail")
    from quem.errors import FileError
    from quem.studyfile.reading import read_study

    spec = read_study(study)
    if role == "people" and spec.solving is None:
        raise FileError(study, "has no solving session; add the key solving")
    from quem.store.links import ROLE_NAMED, link_table, revoke_links

    kind = ROLE_NAMED[role]
    if mail:
        _invite(kind, study, database, url, reissue, dry_run=dry_run)
        return
    from quem.store.people import people_declared, sync_people
    from quem.store.studies import register_study
    from quem.store.uploads import UploadFolder

    with links_session(study, database, out) as (c, file):
        register_study(c, spec.id)
        sync_people(c, spec.id, kind, people_declared(spec, kind))
        if add is not None:
            _add(c, kind, spec, add, name, experience)
        said, files = _erase(c, kind, spec, study, erase)
        revoke_links(c, spec.id, kind, revoke)
        table = link_table(c, spec.id, kind, url or _LOCAL, again=reissue)
        hand_over([_HEADER, *table], file, is_asked=out is not None)
    UploadFolder(study).remove(files)
    for line in said:
        click.echo(line, err=True)


def _refuse_roles(
    role: RoleName,
    reissue: set[str],
    revoke: set[str],
    erase: set[str],
    experience: float | None,
    *,
    mail: bool,
) -> None:
    """Refuse options that a role does not have, and those that contradict each other."""
    if role != "judges" and experience is not None:
        raise click.UsageError("--experience belongs to judges; leave it out")
    if role == "organizers" and (erase or mail):
        raise click.UsageError("--erase and --mail are for judges and people; leave them out")
    for one in reissue & revoke | erase & (reissue | revoke):
        raise click.UsageError(f"{one} can be named by only one of --reissue, --revoke, --erase")


def _add(
    c: Session, role: Role, spec: JudgedSpec, one: str, name: str, years: float | None
) -> None:
    """Add somebody whom the study file does not name, checked as one whom it names."""
    from pydantic import ValidationError

    from quem.store.people import add_person, refuse_taken
    from quem.studyfile.models import Judge, Organizer

    try:
        if role == "organizer":
            Organizer(id=one, name=name)
        if role == "judge":
            Judge(id=one, name=name, experience=years)
    except ValidationError as error:
        raise mistaken_options(error) from None
    refuse_taken(spec, role, one, name)
    add_person(c, spec.id, role, one, "shell", name=name, experience=years)


def _erase(
    c: Session, role: Role, spec: JudgedSpec, study: Path, ids: Collection[str]
) -> tuple[list[str], list[tuple[str, str]]]:
    """Erase people's data; gives what to say of it, and which files are to be deleted."""
    from quem.store.people import erase, people_declared, person_named
    from quem.studyfile.addresses import PEOPLE, addresses_of

    said: list[str] = []
    files: list[tuple[str, str]] = []
    declared = {one.id for one in people_declared(spec, role)}
    bare = spec.model_copy(update={"judges": (), "solving": None})
    listed = set(addresses_of(bare, study)) if ids else set()
    for one in dict.fromkeys(ids):
        pseudonym, gone = erase(c, person_named(c, spec.id, role, one), "shell")
        files += gone
        stays = "rankings stay" if role == "judge" else "times stay"
        said.append(f"erased {one}, whose {stays} as those of {pseudonym}")
        if one in declared:
            said.append(f"warning: {study} still names {one}; delete that entry")
        if (role, one) in listed:
            path = study.with_name(PEOPLE)
            said.append(f"warning: {path} still names {one}; delete that line")
    if ids:
        said.append("Archives, backups, and written solutions still hold the personal data.")
    return said, files


def _invite(
    role: Role,
    study: Path,
    database: str | None,
    url: str | None,
    again: Collection[str],
    *,
    dry_run: bool,
) -> None:
    """Send invitations to those who have none, or to those in `again`; or only show them."""
    from quem.errors import QuemError
    from quem.mail.server import mail_settings
    from quem.store.engine import clear_refusals
    from quem.store.location import locate_database
    from webjudge import open_site
    from webjudge.mailing import reach_of

    if url and reach_of(url) == "computer":
        raise QuemError(_ONLY_HERE.format(url))
    settings = None if dry_run else mail_settings()
    if not (dry_run or settings):
        raise QuemError(_NO_SERVER)
    with clear_refusals(locate_database(study, database)):
        site = open_site(study, database)
        try:
            planned = _planned(site, role, again)
            _refuse_addresses(site, planned)
            if settings is None:
                _show(site, planned, url)
            elif url is None:
                raise QuemError(_NO_URL)
            else:
                _send(site, role, planned, url, settings)
        finally:
            site.store.close()


def _say_unreviewed(site: Site) -> None:
    """Say how many solutions nobody looked through, as long as no judge has ranked."""
    from quem.store.reviewing import is_frozen
    from webjudge.solution_review import unreviewed_count

    with site.store.read() as c:
        left = 0 if is_frozen(c, site.id) else unreviewed_count(c, site)
    if left:
        of = f"{left} of {len(site.solutions)} solutions are not reviewed"
        click.echo(f"{of}; the report will say so. To review them: quem serve", err=True)


def _planned(site: Site, role: Role, again: Collection[str]) -> list[Planned]:
    """Find the invitations that are due, and say of whom was named why none is."""
    from quem.errors import QuemError
    from quem.store.people import person_named
    from quem.store.studies import status_of
    from webjudge.mailing import invitations_due, turn

    with site.store.read() as c:
        for one in again:
            person_named(c, site.id, role, one)
        if turn(c, site) != role:
            raise QuemError(_NOT_NOW["solving" if role == "judge" else "solved"])
        if role == "judge" and status_of(c, site.id).state == "closed":
            raise QuemError(_NOT_NOW["closed"])
        due = invitations_due(c, site, role, again)
    if again:
        due = [each for each in due if each.one.person.id in again]
        for one in {*again} - {each.one.person.id for each in due}:
            click.echo(f"{one}: no invitation is due", err=True)
    return due


def _refuse_addresses(site: Site, planned: list[Planned]) -> None:
    """Refuse to begin where a letter could not be sent, with every mistake."""
    from quem.errors import QuemError
    from quem.mail.message import receiver_of
    from quem.studyfile.addresses import PEOPLE, addresses_of

    mistakes: list[Mistake | str] = []
    addresses = addresses_of(site.spec, site.path)
    for one, *_ in planned:
        to = addresses.get((one.role, one.person.id))
        if to is None:
            where = f"add email to the study file, or a line to {PEOPLE} beside it"
            mistakes.append(f"{one.person.id}: has no email address; {where}")
            continue
        try:
            receiver_of(to)
        except QuemError as error:
            mistakes += [f"{one.person.id}: {mistake}" for mistake in error.mistakes]
    if mistakes:
        raise QuemError(mistakes)


def _show(site: Site, planned: list[Planned], url: str | None) -> None:
    """Say who would get an invitation, and show the first one."""
    from quem.store.links import PATHS
    from quem.studyfile.addresses import addresses_of
    from webjudge.letters import write_to

    addresses = addresses_of(site.spec, site.path)
    for one, *_ in planned:
        click.echo(f"{one.person.id}  {addresses[one.role, one.person.id].email}  invitation")
    if planned:
        one = planned[0].one
        link = f"{url or 'https://...'}/{PATHS[one.role]}/..."
        what: Text = "reminder" if one.started else "invitation"
        letter = write_to(site, one, what, "", link=link, replaced=bool(one.person.linked_at))
        click.echo(f"\nSubject: {letter.subject}\n\n{letter.text}")
    click.echo(f"{len(planned)} to be sent; nothing was sent.", err=True)


def _send(
    site: Site, role: Role, planned: Sequence[Planned], base: str, settings: MailSettings
) -> None:
    """Queue invitations, and send all that are due; those that failed make the command fail."""
    from quem.errors import QuemError
    from quem.mail.sending import Sender
    from quem.store.outbox import letters_of
    from quem.store.people import people_of
    from webjudge.mailing import PersonWriter, queue_planned
    from webjudge.wording import at_utc

    with site.store.read() as c:
        people = people_of(c, site.id, role)
    ids = {one.key: one.id for one in people}
    failed: list[Mistake | str] = []

    def tell(letter: StoredLetter, outcome: Outcome) -> None:
        reason = f": {outcome.reason}" if outcome.reason else ""
        text = f"{ids.get(letter.person_key, '')}: invitation: {outcome.state}{reason}"
        if outcome.state == "failed":
            failed.append(text)
        else:
            click.echo(text)

    writer = PersonWriter(site, role, base, "shell", settings.sender.display_name)
    kinds: tuple[Kind, ...] = ("invite",)
    sender = Sender(site.store, site.id, settings, {role: writer}, "shell", kinds=kinds, tell=tell)
    with site.store.write() as c:
        queue_planned(c, site, planned)
    if role == "judge" and planned:
        _say_unreviewed(site)
    counts = sender.run()
    with site.store.read() as c:
        for letter in letters_of(c, site.id, role):
            if letter.kind == "invite" and (note := _NOTES.get(letter.state)):
                who = ids.get(letter.person_key, "")
                click.echo(f"{who}: invitation: {note.format(at=at_utc(letter.due_at))}", err=True)
    click.echo(f"{counts['sent']} sent.", err=True)
    if failed:
        raise QuemError(failed)


@contextmanager
def links_session(
    study: Path, database: str | None, out: Path | None
) -> Iterator[tuple[Session, LinkFile]]:
    """Open a study's store, made where there is none, to write; and a file for links.

    All is done that was asked for, and its links are handed over, or nothing is.
    """
    from quem.store.engine import clear_refusals, open_store
    from quem.store.location import locate_database

    store = open_store(locate_database(study, database))
    try:
        with clear_refusals(store.place), link_file(study, out) as file, store.write() as c:
            yield c, file
    finally:
        store.close()
    file.tell()


def may_show_links() -> bool:
    """Whether what is printed is seen by a person, and kept by no log."""
    return sys.stdout.isatty() and sys.stderr.isatty()


def hand_over(rows: list[Row], file: LinkFile, *, is_asked: bool) -> None:
    """Show a table, but links only to a person at a terminal; others find them in the file."""
    at = rows[0].index("link")
    if is_asked or (any(row[at] for row in rows[1:]) and not may_show_links()):
        file.write(rows)
        rows = [rows[0], *((*row[:at], "", *row[at + 1 :]) for row in rows[1:])]
    click.echo(_table(rows), nl=False)
    sys.stdout.flush()


def _table(rows: Iterable[Row]) -> str:
    """Write rows as CSV; cells that a spreadsheet would calculate get an apostrophe in front."""
    import csv
    from io import StringIO

    from quem.io.text import no_formula

    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        writer.writerow(map(no_formula, row))
    return text.getvalue()


class LinkFile:
    """A file for links, which nobody else can read, and that replaces no other."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_made = False

    def write(self, rows: Iterable[Row]) -> None:
        """Make the file; the first row is the header."""
        from quem.errors import FileError

        try:
            # Never one that is there, nor one that a link of somebody else leads to.
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            self.is_made = True
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(_table(rows))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise FileError(
                self.path, f"cannot be written: {error.strerror}; name another file for the links"
            ) from None

    def tell(self) -> None:
        """Say where the links are."""
        if self.is_made:
            click.echo(f"Links: {self.path.absolute()} (only you can read it)", err=True)


@contextmanager
def link_file(study: Path, out: Path | None) -> Iterator[LinkFile]:
    """Give a file for links that is there afterwards only if all went well."""
    import datetime as dt

    made_at = dt.datetime.now(dt.UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    file = LinkFile(out or study.with_name(f"{study.stem}-links-{made_at}.csv"))
    try:
        yield file
    except BaseException:
        if file.is_made:
            file.path.unlink(missing_ok=True)
        raise
