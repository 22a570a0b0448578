"""``quem links``: private links of judges, subjects, and organizers."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from quem.commands.options import check_url, database_option, mistaken_options, study_argument
from quem.errors import FileError, Mistake, QuemError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from sqlalchemy.orm import Session

    from quem.mail.server import MailSettings
    from quem.store.links import RoleName
    from quem.store.models import Role
    from quem.studyfile.relevance import JudgedSpec
    from webjudge import Site
    from webjudge.letters import Standing

# A header, or an id with its columns.
Row = tuple[str, ...]

_HEADER = ("id", "name", "link", "state")
_LOCAL = "http://127.0.0.1:8080"
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
@click.option("--add", metavar="ID", help="Add a person who is not in the study file.")
@click.option("--name", default="", help="With --add: the person's name.")
@click.option("--experience", type=float, help="With --add: a judge's years of experience.")
@click.option("--mail", is_flag=True, help="Send each person an invitation with a link, once.")
@click.option("--again", is_flag=True, help="With --mail: write to all who were invited before.")
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
    again: bool,
    dry_run: bool,
) -> None:
    """Make private links: of judges, of people who solve, or of organizers.

    ROLE is judges, people, or organizers. Makes a link for each person of STUDY who has none yet.
    A link is shown once, when it is made: the store holds only its hash. It is shown on a terminal;
    otherwise it is written to a CSV file beside the study, or to --out. Options that name an ID can
    be repeated.

    --mail sends the links by the mail server that the environment names: QUEM_SMTP,
    QUEM_SMTP_PASSWORD, QUEM_MAIL_FROM. However often it runs, no letter is sent twice; what a mail
    server did not want yet is tried again. With --reissue, only those whom it names get a letter,
    and with --again, all who were invited before: a new link takes the place of the old one.
    """
    if add is None and (name or experience is not None):
        raise click.UsageError("--name and --experience belong to --add ID")
    _refuse_roles(role, {*reissue}, {*revoke}, {*erase}, experience, mail=mail)
    if mail and (out or revoke or erase or add is not None):
        raise click.UsageError("--mail goes without --out, --revoke, --erase, and --add")
    if (dry_run or again) and not mail:
        raise click.UsageError("--dry-run and --again belong to --mail")
    if again and reissue:
        raise click.UsageError("--again is for all; leave it or --reissue out")
    from quem.studyfile.reading import read_study

    spec = read_study(study)
    if role == "people" and spec.solving is None:
        raise FileError(study, "has no solving session; add the key solving")
    from quem.store.links import ROLE_NAMED, link_table, revoke_links

    kind = ROLE_NAMED[role]
    if mail:
        _invite(kind, study, database, url, reissue, again=again, dry_run=dry_run)
        return
    from quem.store.location import locate_database
    from quem.store.people import people_declared, sync_people
    from quem.store.studies import register_study
    from quem.store.uploads import UploadFolder

    with links_session(study, database, out) as (c, file):
        register_study(c, spec.id, locate_database(study, database).beside(study))
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
    """Refuse options that do not fit a role or contradict each other."""
    if role != "judges" and experience is not None:
        raise click.UsageError("--experience belongs to judges; leave it out")
    if role == "organizers" and (erase or mail):
        raise click.UsageError("--erase and --mail are for judges and people; leave them out")
    for one in reissue & revoke | erase & (reissue | revoke):
        raise click.UsageError(f"{one} can be named by only one of --reissue, --revoke, --erase")


def _add(
    c: Session, role: Role, spec: JudgedSpec, one: str, name: str, years: float | None
) -> None:
    """Add a person that the study file does not name, checked like one that it names."""
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
    """Erase personal data; returns what to print, and which files to delete."""
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
    named: Collection[str],
    *,
    again: bool,
    dry_run: bool,
) -> None:
    """Send invitations, or preview them."""
    from quem.mail.server import mail_settings
    from quem.store.database import clear_refusals
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
        with site.store:
            people = _invited(site, role, named, again=again)
            if settings is None:
                _show(site, people, url)
            elif url is None:
                raise QuemError(_NO_URL)
            else:
                _send(site, role, people, url, settings)


def _invited(site: Site, role: Role, named: Collection[str], *, again: bool) -> list[Standing]:
    """The people to invite: those not invited yet, all again, or those named."""
    from quem.store.people import person_named
    from quem.store.studies import status_of
    from quem.studyfile.addresses import PEOPLE, addresses_of
    from webjudge.mailing import standings, turn

    with site.store.read() as c:
        for one in named:
            person_named(c, site.id, role, one)
        if turn(c, site) != role:
            raise QuemError(_NOT_NOW["solving" if role == "judge" else "solved"])
        if role == "judge" and status_of(c, site.id).state == "closed":
            raise QuemError(_NOT_NOW["closed"])
        people = standings(c, site, role)
    if named:
        people = [one for one in people if one.person.id in named]
    elif again:
        people = [one for one in people if "invitation" in one.letters]
    else:
        people = [one for one in people if one.is_due("invitation")]
    invited = [one for one in people if one.may_get("invitation")]
    for one in {*named} - {each.person.id for each in invited}:
        click.echo(f"{one}: no invitation is due", err=True)
    known = addresses_of(site.spec, site.path)
    where = f"add email to the study file, or a line to {PEOPLE} beside it"
    if lacking := [x.person.id for x in invited if (role, x.person.id) not in known]:
        raise QuemError(f"{one}: has no email address; {where}" for one in lacking)
    return invited


def _show(site: Site, people: Sequence[Standing], url: str | None) -> None:
    """List the recipients and show the first invitation."""
    from quem.store.links import PATHS
    from quem.studyfile.addresses import addresses_of
    from webjudge.letters import write_to

    addresses = addresses_of(site.spec, site.path)
    for one in people:
        role, person = one.person.role, one.person.id
        click.echo(f"{person}  {addresses[role, person].email}  invitation")
    for one in people[:1]:
        link = f"{url or 'https://...'}/{PATHS[one.person.role]}/..."
        letter = write_to(
            site,
            one,
            "reminder" if one.started else "invitation",
            "",
            link=link,
            replaced=bool(one.person.linked_at),
        )
        click.echo(f"\nSubject: {letter.subject}\n\n{letter.text}")
    click.echo(f"{len(people)} to be sent; nothing was sent.", err=True)


def _send(
    site: Site, role: Role, people: Sequence[Standing], base: str, settings: MailSettings
) -> None:
    """Queue invitations and send all that are due; a failed one fails the command."""
    from quem.store.outbox import UNKNOWN, letters_of, queue_letter
    from quem.store.people import people_of
    from webjudge.mailing import ROLES, Sender
    from webjudge.wording import at_utc

    with site.store.write() as c:
        ids = {one.key: one.id for each in ROLES for one in people_of(c, site.id, each)}
        for one in people:
            queue_letter(c, site.id, one.person.key, "invitation", one.letters.get("invitation"))
    if role == "judge" and people:
        _say_unreviewed(site)
    failed: list[Mistake | str] = []
    count = 0
    for letter in Sender(site, settings, base, "shell").run():
        reason = f": {letter.error}" if letter.error else ""
        text = f"{ids[letter.person_key]}: {letter.kind}: {letter.state}{reason}"
        if letter.state == "failed":
            failed.append(text)
        else:
            click.echo(text)
        count += letter.state == "sent"
    with site.store.read() as c:
        letters = letters_of(c, site.id, role)
    for letter in letters:
        who = f"{ids[letter.person_key]}: {letter.kind}"
        if letter.state == "due":
            click.echo(f"{who}: due; a run after {at_utc(letter.due_at)} tries again", err=True)
        elif letter.error == UNKNOWN:
            click.echo(f"{who}: {UNKNOWN}; decide in the dashboard, or use --reissue", err=True)
    click.echo(f"{count} sent.", err=True)
    if failed:
        raise QuemError(failed)


def _say_unreviewed(site: Site) -> None:
    """Print how many solutions nobody reviewed, as long as no judge has ranked."""
    from quem.store.reviewing import count_unreviewed

    with site.store.read() as c:
        left = count_unreviewed(c, site.id, site.solutions)
    if left:
        of = f"{left} of {len(site.solutions)} solutions are not reviewed"
        click.echo(f"{of}; the report will say so. To review them: quem serve", err=True)


@contextmanager
def links_session(
    study: Path, database: str | None, out: Path | None
) -> Iterator[tuple[Session, LinkFile]]:
    """Open a study's store for writing, created where missing, and a file for links.

    All changes are made and their links written, or none.
    """
    from quem.store.database import clear_refusals, open_store
    from quem.store.location import locate_database

    store = open_store(locate_database(study, database))
    with store, clear_refusals(store.place), link_file(study, out) as file, store.write() as c:
        yield c, file
    file.tell()


def may_show_links() -> bool:
    """Whether output goes to a person, and into no log."""
    return sys.stdout.isatty() and sys.stderr.isatty()


def hand_over(rows: list[Row], file: LinkFile, *, is_asked: bool) -> None:
    """Print a table with its links on a terminal; otherwise write them to the file."""
    at = rows[0].index("link")
    if is_asked or (any(row[at] for row in rows[1:]) and not may_show_links()):
        file.write(rows)
        rows = [rows[0], *((*row[:at], "", *row[at + 1 :]) for row in rows[1:])]
    click.echo(_table(rows), nl=False)
    sys.stdout.flush()


def _table(rows: Iterable[Row]) -> str:
    """Rows as CSV; cells that a spreadsheet would calculate get an apostrophe in front."""
    from quem.io.rows import csv_text
    from quem.io.text import no_formula

    return csv_text(map(no_formula, row) for row in rows)


class LinkFile:
    """A file for links that only its owner can read, and that never replaces another."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_made = False

    def write(self, rows: Iterable[Row]) -> None:
        """Create the file; the first row is the header."""
        try:
            # Never an existing file, nor the target of a symbolic link.
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
        """Print where the links are."""
        if self.is_made:
            click.echo(f"Links: {self.path.absolute()} (only you can read it)", err=True)


@contextmanager
def link_file(study: Path, out: Path | None) -> Iterator[LinkFile]:
    """A file for links that exists afterwards only if all went well."""
    import datetime as dt

    made_at = dt.datetime.now(dt.UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    file = LinkFile(out or study.with_name(f"{study.stem}-links-{made_at}.csv"))
    try:
        yield file
    except BaseException:
        if file.is_made:
            file.path.unlink(missing_ok=True)
        raise
