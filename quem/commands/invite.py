"""``quem invite``: invitations, reminders, and thanks by mail."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from quem.commands.options import check_url, database_option, study_argument

if TYPE_CHECKING:
    from collections.abc import Iterable

    from quem.commands.links import Row
    from quem.errors import Mistake
    from quem.mail.sending import Writer
    from quem.mail.server import MailSettings, Outcome
    from quem.store.outbox import Role, StoredLetter
    from webjudge import Site
    from webjudge.letters import Text
    from webjudge.mailing import Planned

_NAMES = {"invite": "invitation", "remind": "reminder", "thanks": "thanks"}
_NOTES = {
    "retry": "the mail server did not want it yet; a run after {at} tries again",
    "unknown": "nobody knows whether it was sent; decide in the dashboard, under Invitations",
}
_HINTS = {
    "invite": "; --new-link replaces the link that they have",
    "remind": ": the study is not open, they have finished, declined, or no link, or were written "
    "to in the last 20 hours, or reminded three times",
}
_NO_SERVER = (
    "no mail server: set QUEM_SMTP, such as smtps://user@mail.example.org:465, or write a table "
    "for mail merge with --table FILE"
)
_NO_URL = (
    "--url is missing: links begin with the address of the server; name it, such as "
    "https://judging.example.org, or set QUEM_URL"
)
_NO_RULES = (
    "the study file has no reminders; add rules such as {after_days: 3, unless: started}, or name "
    "judges with --to ID"
)


@click.command()
@study_argument()
@database_option
@click.option("--remind", is_flag=True, help="Send the reminders whose day has come.")
@click.option("--thanks", is_flag=True, help="Thank those who have finished, once.")
@click.option("--new-link", is_flag=True, help="Send a new link also to those who have one.")
@click.option("--to", "named", multiple=True, metavar="ID", help="Write to this person only.")
@click.option(
    "--url",
    envvar="QUEM_URL",
    callback=check_url,
    help="Address of the server, with which links begin.  [default: $QUEM_URL]",
)
@click.option(
    "--table",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Send nothing: write a new CSV file for mail merge, which only you can read.",
)
@click.option("--dry-run", is_flag=True, help="Say who would get what; send and store nothing.")
def invite(
    study: Path,
    database: str | None,
    named: tuple[str, ...],
    url: str | None,
    table: Path | None,
    *,
    remind: bool,
    thanks: bool,
    new_link: bool,
    dry_run: bool,
) -> None:
    """Send each judge of STUDY an invitation with a private link, once; or those who solve.

    Before a solving session is closed, letters go to the people who solve; then to judges.

    Makes the links of those who have none yet, and sends them by the mail server that the
    environment names: QUEM_SMTP, QUEM_SMTP_PASSWORD, QUEM_MAIL_FROM. However often it runs, no
    letter is sent twice; what a mail server did not want yet is tried again. --to can be repeated.
    """
    if remind and thanks:
        raise click.UsageError("--remind and --thanks are different letters; leave one of them out")
    if thanks and new_link:
        raise click.UsageError("--new-link belongs to invitations and reminders; leave it out")
    from quem.errors import QuemError
    from quem.mail.server import mail_settings
    from quem.store.engine import clear_refusals
    from quem.store.location import locate_database
    from webjudge import open_site

    settings = None if table or dry_run else mail_settings()
    if not (table or dry_run or settings):
        raise QuemError([_NO_SERVER])
    with clear_refusals(locate_database(study, database)):
        site = open_site(study, database)
        try:
            kind = "remind" if remind else "thanks" if thanks else "invite"
            planned = _planned(site, kind, named, new_link=new_link)
            _refuse_mistakes(site, planned, url, needs_addresses=not table, needs_url=not dry_run)
            if dry_run:
                _show(site, planned, url)
            elif table:
                _write_table(site, planned, url or "", table)
            elif settings:
                _send(site, planned, url or "", settings)
        finally:
            site.store.close()


def _planned(site: Site, kind: str, named: tuple[str, ...], *, new_link: bool) -> list[Planned]:
    """Find the letters that are due, and say of judges who were named why none is."""
    from quem.errors import QuemError
    from quem.store.judges import judge_named
    from quem.store.models import now
    from quem.store.studies import status_of
    from quem.store.subjects import subject_named
    from webjudge.mailing import invitations_due, reminders_due, reminders_now, thanks_due, turn

    with site.store.read() as c:
        role = turn(c, site)
        find = judge_named if role == "judge" else subject_named
        for one in named:
            find(c, site.id, one)
        is_over = role == "judge" and status_of(c, site.id).state == "closed"
        if kind != "thanks" and is_over:
            raise QuemError(
                ["the study is closed: nobody can rank; send --thanks, or open it again"]
            )
        if kind == "remind" and not (site.spec.reminders or named):
            raise QuemError([_NO_RULES])
        if kind == "thanks":
            due = thanks_due(c, site, role)
        elif kind == "remind":
            due = reminders_now(c, site, role) if named else reminders_due(c, site, role, now())
        else:
            due = invitations_due(c, site, role, new_link=new_link, named=named)
        if kind == "remind" and new_link:
            ids = [one.judge.id for one, *_ in due]
            due = invitations_due(c, site, role, new_link=True, named=ids)
            due = [planned for planned in due if planned.one.judge.id in ids]
    if named:
        due = [planned for planned in due if planned.one.judge.id in named]
    ids = [planned.one.judge.id for planned in due]
    for judge_id in dict.fromkeys(named):
        if judge_id not in ids:
            hint = "" if new_link else _HINTS.get(kind, "")
            click.echo(f"{judge_id}: no {_NAMES[kind]} is due{hint}", err=True)
    return due


def _refuse_mistakes(
    site: Site,
    planned: list[Planned],
    url: str | None,
    *,
    needs_addresses: bool,
    needs_url: bool,
) -> None:
    """Refuse to begin where a letter could not be sent, with every mistake."""
    from quem.errors import QuemError
    from quem.mail.message import receiver_of
    from quem.study.addresses import PEOPLE, addresses_of

    mistakes: list[Mistake | str] = []
    addresses = addresses_of(site.spec, site.path)
    for one, *_ in planned if needs_addresses else ():
        to = addresses.get((one.role, one.judge.id))
        if to is None:
            where = f"add email to the study file, or a line to {PEOPLE} beside it"
            mistakes.append(f"{one.judge.id}: has no email address; {where}")
            continue
        try:
            receiver_of(to)
        except QuemError as error:
            mistakes += [f"{one.judge.id}: {mistake}" for mistake in error.mistakes]
    if needs_url and not url and any(kind == "invite" for _, kind, _ in planned):
        mistakes.append(_NO_URL)
    if mistakes:
        raise QuemError(mistakes)


def _show(site: Site, planned: list[Planned], url: str | None) -> None:
    """Say who would get what, and show the first letter."""
    from quem.study.addresses import addresses_of

    addresses = addresses_of(site.spec, site.path)
    for one, kind, _ in planned:
        email = addresses[one.role, one.judge.id].email
        click.echo(f"{one.judge.id}  {email}  {_NAMES[kind]}")
    if planned:
        path = "p" if planned[0].one.role == "subject" else "j"
        subject, text, _ = _written(site, planned[0], f"{url or 'https://...'}/{path}/...")
        click.echo(f"\nSubject: {subject}\n\n{text}")
    click.echo(f"{len(planned)} to be sent; nothing was sent.", err=True)


def _written(site: Site, planned: Planned, link: str) -> tuple[str, str, str]:
    """Write a letter that is not sent by mail: subject, text, and link."""
    from webjudge.letters import write_to

    one, kind, _ = planned
    is_invited = kind == "invite" and not one.started
    what: Text = "thanks" if kind == "thanks" else "invitation" if is_invited else "reminder"
    replaced = bool(link and one.judge.linked_at)
    letter = write_to(site, one, what, "", link=link, replaced=replaced)
    return letter.subject, letter.text, link


def _write_table(site: Site, planned: list[Planned], base: str, path: Path) -> None:
    """Make the links, and write the letters with them as a table for mail merge."""
    from quem.commands.links import link_file
    from quem.study.addresses import Addressee, addresses_of
    from webjudge.mailing import PersonWriter

    addresses = addresses_of(site.spec, site.path)
    rows: list[Row] = [("id", "name", "email", "subject", "text", "link")]
    with link_file(site.path, path) as file, site.store.write() as c:
        for each in planned:
            judge = each.one.judge
            link = ""
            if each.kind == "invite":
                link, _ = PersonWriter(site, each.one.role, base, "shell").link(c, judge)
            to = addresses.get((each.one.role, judge.id), Addressee(""))
            subject, text, _ = _written(site, each, link)
            rows.append((judge.id, judge.name or to.name, to.email, subject, text, link))
        file.write(rows)
    click.echo(f"{path.absolute()}: {len(planned)} letters (only you can read it)", err=True)


def _send(site: Site, planned: Iterable[Planned], base: str, settings: MailSettings) -> None:
    """Queue letters, and send all that are due; those that failed make the command fail."""
    from quem.errors import QuemError
    from quem.mail.sending import KINDS, Sender
    from quem.store.judges import judges_of
    from quem.store.outbox import letters_of
    from quem.store.subjects import subjects_of
    from webjudge.mailing import ROLES, PersonWriter, queue_planned
    from webjudge.wording import at_utc

    with site.store.read() as c:
        ids: dict[tuple[Role, int], str] = {
            ("judge", judge.key): judge.id for judge in judges_of(c, site.id)
        }
        ids |= {("subject", one.key): one.id for one in subjects_of(c, site.id)}
    failed: list[Mistake | str] = []

    def tell(letter: StoredLetter, outcome: Outcome) -> None:
        reason = f": {outcome.reason}" if outcome.reason else ""
        name = ids.get((letter.role, letter.person_key), "")
        text = f"{name}: {_NAMES[letter.kind]}: {outcome.state}{reason}"
        if outcome.state == "failed":
            failed.append(text)
        else:
            click.echo(text)

    kinds = KINDS if base else tuple(kind for kind in KINDS if kind != "invite")
    signs = settings.sender.display_name
    writers: dict[Role, Writer] = {
        role: PersonWriter(site, role, base, "shell", signs) for role in ROLES
    }
    sender = Sender(site.store, site.id, settings, writers, "shell", kinds=kinds, tell=tell)
    with site.store.write() as c:
        queue_planned(c, site, planned)
    counts = sender.run()
    with site.store.read() as c:
        for letter in (one for role in ROLES for one in letters_of(c, site.id, role)):
            if note := _NOTES.get(letter.state):
                who = ids.get((letter.role, letter.person_key), "")
                name = f"{who}: {_NAMES[letter.kind]}"
                click.echo(f"{name}: {note.format(at=at_utc(letter.due_at))}", err=True)
    click.echo(f"{counts['sent']} sent.", err=True)
    if failed:
        raise QuemError(failed)
