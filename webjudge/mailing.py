"""To whom a letter is due, what it says when it leaves, and a server's own sending."""

from __future__ import annotations

import datetime as dt
import logging
import threading
from functools import partial
from ipaddress import ip_address
from socket import inet_aton
from typing import TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import urlsplit

from quem.errors import QuemError
from quem.mail.message import Letter
from quem.mail.sending import KINDS, Sender
from quem.mail.server import MailSettings, mail_settings
from quem.store.links import PATHS
from quem.store.models import now
from quem.store.outbox import has_lapsed, lapse, letters_of, next_due, queue_letter
from quem.store.people import issue_link, people_of, person_of_key, withdraw_link
from quem.store.standing import judges_standing
from quem.store.studies import solving_state, status_of
from quem.store.work import tasks_of
from quem.studyfile.addresses import addresses_of
from webjudge.letters import Standing, write_to

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

    from sqlalchemy.orm import Session

    from quem.mail.sending import Writer
    from quem.store.models import PersonRow, Role
    from quem.store.outbox import Kind, StoredLetter
    from webjudge.housekeeping import Housekeeping
    from webjudge.site import Site

ROLES: tuple[Role, ...] = ("judge", "subject")
POST = "quem-post"  # the key of an app's `Post` in its extensions
_log = logging.getLogger("webjudge")
# How long nobody is reminded to whom something was written: about a day.
_APART = dt.timedelta(hours=20)
_UNSETTLED = ("queued", "retry", "sending", "unknown")


class Planned(NamedTuple):
    """A letter that is due."""

    one: Standing
    kind: Kind
    round: int


def reach_of(base: str) -> Literal["computer", "network", "anywhere"]:
    """Say from where links work that begin with an address, as far as the address shows it."""
    host = (urlsplit(base).hostname or "").rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return "computer"
    try:
        # Also in short forms, such as 127.1.
        address = ip_address(host if ":" in host else inet_aton(host))
    except (OSError, ValueError):
        return "anywhere" if "." in host and not host.endswith(".local") else "network"
    if address.is_loopback or address.is_unspecified:
        return "computer"
    return "anywhere" if address.is_global else "network"


def turn(c: Session, site: Site) -> Role:
    """Say whose turn it is: people solve before judges rank."""
    if site.spec.solving and solving_state(c, site.id) != "closed":
        return "subject"
    return "judge"


def is_open(c: Session, site: Site, role: Role) -> bool:
    """Whether the session of a role is open."""
    if role == "subject":
        return solving_state(c, site.id) == "open"
    return status_of(c, site.id).state == "open"


def standings(c: Session, site: Site, role: Role) -> list[Standing]:
    """Say how far everybody of a role is; nobody before it is their turn."""
    if role == "subject":
        return [_solving(c, site, one) for one in people_of(c, site.id, "subject")]
    if turn(c, site) != "judge":
        return []
    return [
        Standing(one.judge, one.total, one.submitted, one.started > 0, one.status == "declined")
        for one in judges_standing(c, site.id, site.plan)
    ]


def _solving(c: Session, site: Site, one: PersonRow) -> Standing:
    """Say how far a subject is."""
    problems = _to_solve(site)
    tasks = [task for task in tasks_of(c, one.key) if task.problem in problems]
    return Standing(
        one,
        len(problems),
        sum(task.ended is not None for task in tasks),
        any(task.opened_at for task in tasks),
        bool(one.declined_at or one.withdrawn_at),
    )


def total_of(site: Site, role: Role) -> int:
    """How many tasks there are for each person of a role, without practice."""
    if role == "judge":
        return len(site.plan.parts) + site.plan.repeat
    return len(_to_solve(site))


def _to_solve(site: Site) -> set[str]:
    practice = site.spec.solving.practice if site.spec.solving else ""
    return {problem.id for problem in site.spec.problems} - {practice}


def _letters_by_person(c: Session, site: Site, role: Role) -> dict[int, list[StoredLetter]]:
    by_person: dict[int, list[StoredLetter]] = {}
    for letter in letters_of(c, site.id, role):
        by_person.setdefault(letter.person_key, []).append(letter)
    return by_person


def _of(letters: Iterable[StoredLetter], kind: Kind) -> list[StoredLetter]:
    return [letter for letter in letters if letter.kind == kind]


def invitations_due(
    c: Session, site: Site, role: Role, again: Container[str] = ()
) -> list[Planned]:
    """Give the people who were not invited, with no link and no letter yet, and those in `again`.

    Nobody is invited whom the study does not wait for, or whose last invitation may be on its way.
    """
    letters = _letters_by_person(c, site, role)
    due = []
    for one in standings(c, site, role):
        earlier = _of(letters.get(one.person.key, []), "invite")
        is_new = not (one.person.linked_at or one.person.revoked_at or earlier)
        is_settled = all(letter.state not in _UNSETTLED for letter in earlier)
        if one.waits and is_settled and (is_new or one.person.id in again):
            due.append(Planned(one, "invite", len(earlier) + 1))
    return due


def reminders_due(c: Session, site: Site, role: Role) -> list[Planned]:
    """Give the people who may be reminded: to whom nothing was written within a day."""
    if not is_open(c, site, role):
        return []
    letters = _letters_by_person(c, site, role)
    recent = now() - _APART
    due = []
    for one in standings(c, site, role):
        mine = letters.get(one.person.key, [])
        is_recent = any((letter.sent_at or letter.made_at) > recent for letter in mine)
        if one.is_reminded and not is_recent:
            due.append(Planned(one, "remind", len(_of(mine, "remind")) + 1))
    return due


def queue_planned(c: Session, site: Site, planned: Iterable[Planned]) -> int:
    """Put letters into the outbox; gives how many were not there."""
    return sum(
        queue_letter(c, site.id, one.person.key, kind, round_) for one, kind, round_ in planned
    )


class PersonWriter:
    """Writes letters to the people of a role; see `quem.mail.sending.Writer`."""

    def __init__(self, site: Site, role: Role, base: str, actor: str, sender: str = "") -> None:
        self._site, self._role, self._base = site, role, base
        self._actor, self._sender = actor, sender
        self._addresses = addresses_of(site.spec, site.path)

    def write(self, c: Session, stored: StoredLetter) -> Letter | None:
        """Write a letter, if the person is still to get it; an invitation with a new link."""
        site = self._site
        one = self._standing(c, stored.person_key)
        if one is None or one.person.erased_at:
            return None
        person = one.person
        is_wanted = one.waits
        if stored.kind == "remind":
            is_wanted = one.is_reminded and is_open(c, site, self._role)
        if not is_wanted:
            return None
        to = self._addresses.get((self._role, person.id))
        if to is None:
            raise QuemError(f"there is no email address of {person.id}")
        to = to._replace(name=to.name or person.name)
        reply_to = site.spec.organizer.email
        if stored.kind == "invite":
            link, undo = self.link(c, person)
            written = write_to(
                site,
                one,
                "reminder" if one.started else "invitation",
                self._sender,
                link=link,
                replaced=person.linked_at is not None,
            )
            return Letter(to, written.subject, written.text, reply_to, undo)
        sent = [
            letter.sent_at
            for letter in letters_of(c, site.id, self._role, person.key)
            if letter.kind == "invite" and letter.sent_at
        ]
        last = max(sent, default=None)
        # The link that was mailed may have been replaced by hand since.
        is_last = last is not None and person.linked_at is not None and person.linked_at <= last
        invited_at = last if is_last else None
        written = write_to(site, one, "reminder", self._sender, invited_at=invited_at)
        return Letter(to, written.subject, written.text, reply_to)

    def _standing(self, c: Session, key: int) -> Standing | None:
        """Say how far the person is, as is known now."""
        site = self._site
        person = person_of_key(c, site.id, self._role, key)
        if person is None:
            return None
        if person.role == "subject":
            return _solving(c, site, person)
        tasks = [b for b in tasks_of(c, person.key) if site.plan.find(b) and not b.practice]
        states = [ballot.status for ballot in tasks]
        is_started = any(state != "new" for state in states)
        submitted, is_declined = states.count("submitted"), person.declined_at is not None
        return Standing(person, total_of(site, "judge"), submitted, is_started, is_declined)

    def link(self, c: Session, person: PersonRow) -> tuple[str, Callable[[Session], None]]:
        """Make a new link; gives it, and what takes it back."""
        token = issue_link(c, person, self._actor)
        undo = partial(withdraw_link, person=person, token=token, actor=self._actor)
        return f"{self._base}/{PATHS[person.role]}/{token}", undo


_LOOK_SECONDS = 20
_STOP_SECONDS = 5


class Post:
    """Sends the letters of a running server: what organizers ask for."""

    def __init__(self, served: Callable[[], Site], base: str = "") -> None:
        self._served = served
        self.base = base
        self._stopping = threading.Event()
        self._looking = threading.Lock()
        self._thread: threading.Thread | None = None

    @property
    def settings(self) -> MailSettings | None:
        """The mail server; None where none is set, or the settings have mistakes."""
        troubles = self._served().troubles
        try:
            settings = mail_settings()
        except QuemError as error:
            troubles["mail-settings"] = str(error)
            return None
        troubles.pop("mail-settings", None)
        return settings

    def keep(self, housekeeping: Housekeeping) -> None:
        """Let a server's housekeeping look after the letters, before its start."""
        housekeeping.add("mail", _LOOK_SECONDS, self.look)

    def look(self) -> None:
        """Send what is due, in a separate thread."""
        with self._looking:
            self._look(self._served(), self.settings)

    def _look(self, site: Site, settings: MailSettings | None) -> None:
        if self._stopping.is_set() or (self._thread and self._thread.is_alive()):
            return
        with site.store.read() as c:
            is_late = has_lapsed(c, site.id)
        if is_late:
            with site.store.write() as c:
                lapse(c, site.id)
        if settings is None:
            return
        kinds = KINDS if self.base else tuple(kind for kind in KINDS if kind != "invite")
        with site.store.read() as c:
            if next_due(c, site.id, kinds, ROLES) is None:
                return
        name = settings.sender.display_name
        writers: dict[Role, Writer] = {
            role: PersonWriter(site, role, self.base, "server", name) for role in ROLES
        }
        sender = Sender(site.store, site.id, settings, writers, "server", kinds=kinds)
        self._thread = threading.Thread(target=self._send, args=(sender,), name="mail", daemon=True)
        self._thread.start()

    def _send(self, sender: Sender) -> None:
        troubles = self._served().troubles
        try:
            sender.run(self._stopping)
        except Exception as error:  # noqa: BLE001  whatever it is, the server goes on
            reason = str(error) if isinstance(error, QuemError) else type(error).__name__
            if troubles.get("letters") != reason:  # once, however often it is tried
                # A traceback could hold addresses.
                _log.error("letters: %s", reason)
            troubles["letters"] = reason
        else:
            troubles.pop("letters", None)

    def stop(self) -> None:
        """End, after the letter that is being sent, if the mail server answers soon."""
        self._stopping.set()
        if self._thread:
            self._thread.join(_STOP_SECONDS)
