"""To whom a letter is due, what it says when it leaves, and a server's own sending."""

from __future__ import annotations

import datetime as dt
import logging
import threading
from functools import partial
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo

from quem.errors import QuemError
from quem.mail.message import Letter
from quem.mail.sending import KINDS, Sender
from quem.mail.server import MailSettings, mail_settings
from quem.store.ballots import ballots_of
from quem.store.judges import declined_judges, issue_link, judge_of_key, withdraw_link
from quem.store.models import now
from quem.store.outbox import has_lapsed, lapse, letters_of, next_due, queue_letter
from quem.store.progress import task_status
from quem.store.solving import solving_state, tasks_of
from quem.store.standing import judges_standing
from quem.store.studies import status_of
from quem.store.subjects import (
    StoredSubject,
    issue_subject_link,
    subjects_of,
    withdraw_subject_link,
)
from quem.study.addresses import addresses_of
from quem.study.models import MOST_REMINDERS
from webjudge.letters import Standing, write_to

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence

    from sqlalchemy import Connection

    from quem.mail.sending import Writer
    from quem.store.judges import StoredJudge
    from quem.store.outbox import Kind, Role, StoredLetter
    from quem.study.models import Reminder
    from webjudge.housekeeping import Housekeeping
    from webjudge.site import Site

ROLES: tuple[Role, ...] = ("judge", "subject")
POST = "quem-post"  # the key of an app's `Post` in its extensions
_log = logging.getLogger("webjudge")
# On the clock of the study's time zone: when rules apply, and until when a server follows them.
_MORNING, _EVENING = 9, 20
# What was sent by hand is not sent again by a second click, nor by a rule of the same day.
_APART = dt.timedelta(hours=20)
_UNSENT = ("queued", "retry", "sending")


class Planned(NamedTuple):
    """A letter that is due."""

    one: Standing
    kind: Kind
    round: int


def turn(c: Connection, site: Site) -> Role:
    """Say whose turn it is: people solve before judges rank."""
    if site.spec.solving and solving_state(c, site.id) != "closed":
        return "subject"
    return "judge"


def is_open(c: Connection, site: Site, role: Role) -> bool:
    """Whether the session of a role is open."""
    if role == "subject":
        return solving_state(c, site.id) == "open"
    return status_of(c, site.id).state == "open"


def standings(c: Connection, site: Site, role: Role) -> list[Standing]:
    """Say how far everybody of a role is; nobody before it is their turn."""
    if role == "subject":
        return [_solving(c, site, one) for one in subjects_of(c, site.id)]
    if turn(c, site) != "judge":
        return []
    return [
        Standing(one.judge, one.total, one.submitted, one.started > 0, one.status == "declined")
        for one in judges_standing(c, site.id, site.plan)
    ]


def _solving(c: Connection, site: Site, one: StoredSubject) -> Standing:
    """Say how far a subject is."""
    practice = site.spec.solving.practice if site.spec.solving else ""
    problems = {problem.id for problem in site.spec.problems} - {practice}
    tasks = [task for task in tasks_of(c, one.key) if task.problem in problems]
    return Standing(
        one,
        len(problems),
        sum(task.ended is not None for task in tasks),
        any(task.opened_at for task in tasks),
        bool(one.declined_at or one.withdrawn_at),
        "subject",
    )


def _total(site: Site) -> int:
    return len(site.plan.parts) + site.plan.repeat


def _letters_by_person(c: Connection, site: Site, role: Role) -> dict[int, list[StoredLetter]]:
    by_person: dict[int, list[StoredLetter]] = {}
    for letter in letters_of(c, site.id, role):
        by_person.setdefault(letter.person_key, []).append(letter)
    return by_person


def _of(letters: Iterable[StoredLetter], kind: Kind) -> list[StoredLetter]:
    return [letter for letter in letters if letter.kind == kind]


def invitations_due(
    c: Connection,
    site: Site,
    role: Role,
    *,
    new_link: bool = False,
    named: Container[str] = (),
) -> list[Planned]:
    """Give the people who were not invited: they have no link yet, and no letter."""
    letters = _letters_by_person(c, site, role)
    due = []
    for one in standings(c, site, role):
        mine = letters.get(one.judge.key, [])
        earlier = _of(mine, "invite")
        if not one.waits or any(letter.state in _UNSENT for letter in earlier):
            continue
        judge = one.judge
        is_named = judge.id in named
        # A link that was not accepted by the mail server was taken back.
        has_failed = is_named and all(letter.state == "failed" for letter in earlier)
        is_new = not (judge.linked_at or judge.revoked_at) and (not earlier or has_failed)
        is_asked = is_named or (judge.has_link and not _is_recent(earlier))
        if is_new or (new_link and is_asked):
            due.append(Planned(one, "invite", len(earlier) + 1))
    return due


def _is_recent(letters: Iterable[StoredLetter], at: dt.datetime | None = None) -> bool:
    recent = (at or now()) - _APART
    return any((letter.sent_at or letter.made_at) > recent for letter in letters)


def reminders_now(c: Connection, site: Site, role: Role) -> list[Planned]:
    """Give the people who may be reminded by hand: whom nothing was written to lately."""
    if not is_open(c, site, role):
        return []
    letters = _letters_by_person(c, site, role)
    planned = (
        _next_reminder(one, mine)
        for one in standings(c, site, role)
        if not _is_recent(mine := letters.get(one.judge.key, []))
    )
    return [*filter(None, planned)]


def _next_reminder(
    one: Standing, letters: Sequence[StoredLetter], at: dt.datetime | None = None
) -> Planned | None:
    earlier = _of(letters, "remind")
    if not one.is_reminded or len(earlier) >= MOST_REMINDERS or _is_recent(earlier, at):
        return None
    return Planned(one, "remind", len(earlier) + 1)


def reminders_due(c: Connection, site: Site, role: Role, at: dt.datetime) -> list[Planned]:
    """Give the people to whom a rule of the study applies, which was followed for nobody yet."""
    spec = site.spec
    if not spec.reminders or not is_open(c, site, role):
        return []
    zone = ZoneInfo(spec.timezone)
    # The deadline is that of the judges.
    deadline = spec.deadline if role == "judge" else None
    letters = _letters_by_person(c, site, role)
    due = []
    for one in standings(c, site, role):
        mine = letters.get(one.judge.key, [])
        planned = _next_reminder(one, mine, at)
        if planned and any(
            _applies(rule, one, mine, deadline, at.astimezone(zone)) for rule in spec.reminders
        ):
            due.append(planned)
    return due


def _applies(
    rule: Reminder,
    one: Standing,
    letters: Sequence[StoredLetter],
    deadline: dt.date | None,
    at: dt.datetime,
) -> bool:
    """Say whether a rule's day has come, and nothing was written to the judge since."""
    if rule.unless == "started" and (one.started or one.submitted):
        return False
    if rule.after_days is not None:
        sent = [letter.sent_at for letter in _of(letters, "invite") if letter.sent_at]
        began = max(sent, default=one.judge.linked_at)
        if began is None:
            return False
        day = began.astimezone(at.tzinfo).date() + dt.timedelta(days=rule.after_days)
    else:
        if deadline is None or at.date() > deadline:
            return False
        day = deadline - dt.timedelta(days=rule.before_due_days or 0)
    comes = dt.datetime.combine(day, dt.time(_MORNING), at.tzinfo)
    return comes <= at and not any(letter.made_at >= comes for letter in letters)


def thanks_due(c: Connection, site: Site, role: Role) -> list[Planned]:
    """Give the people who have finished, and were not thanked."""
    letters = _letters_by_person(c, site, role)
    return [
        Planned(one, "thanks", 1)
        for one in standings(c, site, role)
        if one.done
        and not one.judge.forgotten_at
        and not _of(letters.get(one.judge.key, ()), "thanks")
    ]


def queue_planned(c: Connection, site: Site, planned: Iterable[Planned]) -> int:
    """Put letters into the outbox; gives how many were not there."""
    return sum(
        queue_letter(c, site.id, one.role, one.judge.key, kind, round_)
        for one, kind, round_ in planned
    )


class PersonWriter:
    """Writes letters to the people of a role; see `quem.mail.sending.Writer`."""

    def __init__(self, site: Site, role: Role, base: str, actor: str, sender: str = "") -> None:
        self._site, self._role, self._base = site, role, base
        self._actor, self._sender = actor, sender
        self._addresses = addresses_of(site.spec, site.path)

    def write(self, c: Connection, stored: StoredLetter) -> Letter | None:
        """Write a letter, if the person is still to get it; an invitation with a new link."""
        site = self._site
        one = self._standing(c, stored.person_key)
        if one is None or one.judge.forgotten_at:
            return None
        person = one.judge
        is_wanted = {
            "invite": one.waits,
            "remind": one.is_reminded and is_open(c, site, self._role),
            "thanks": one.done,
        }
        if not is_wanted[stored.kind]:
            return None
        to = self._addresses.get((self._role, person.id))
        if to is None:
            raise QuemError([f"there is no email address of {person.id}"])
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
        written = write_to(
            site,
            one,
            "reminder" if stored.kind == "remind" else "thanks",
            self._sender,
            invited_at=last if is_last else None,
        )
        return Letter(to, written.subject, written.text, reply_to)

    def _standing(self, c: Connection, key: int) -> Standing | None:
        """Say how far the person is, as is known now."""
        site = self._site
        if self._role == "subject":
            found = (one for one in subjects_of(c, site.id) if one.key == key)
            return next((_solving(c, site, one) for one in found), None)
        judge = judge_of_key(c, site.id, key)
        if judge is None:
            return None
        tasks = [b for b in ballots_of(c, judge.key) if site.plan.find(b) and not b.practice]
        states = [task_status(ballot) for ballot in tasks]
        is_declined = judge.key in declined_judges(c, site.id)
        is_started = any(state != "new" for state in states)
        return Standing(judge, _total(site), states.count("submitted"), is_started, is_declined)

    def link(
        self, c: Connection, person: StoredJudge | StoredSubject
    ) -> tuple[str, Callable[[Connection], None]]:
        """Make a new link; gives it, and what takes it back."""
        if isinstance(person, StoredSubject):
            token = issue_subject_link(c, person, self._actor)
            undo = partial(withdraw_subject_link, subject=person, token=token, actor=self._actor)
            return f"{self._base}/p/{token}", undo
        token = issue_link(c, person, self._actor)
        taken_back = partial(withdraw_link, judge=person, token=token, actor=self._actor)
        return f"{self._base}/j/{token}", taken_back


_LOOK_SECONDS = 20
_STOP_SECONDS = 5


class Post:
    """Sends the letters of a running server: what organizers ask for, and reminders in time."""

    def __init__(self, served: Callable[[], Site], base: str = "") -> None:
        self._served = served
        self.base = base
        self._stopping = threading.Event()
        self._looking = threading.Lock()
        self._thread: threading.Thread | None = None
        self._reminded: dt.date | None = None

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
        """Queue reminders whose day has come, and send what is due, in a separate thread."""
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
        self._remind(site)
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

    def _remind(self, site: Site) -> None:
        at = now().astimezone(ZoneInfo(site.spec.timezone))
        if self._reminded == at.date() or not _MORNING <= at.hour < _EVENING:
            return
        known = addresses_of(site.spec, site.path)
        with site.store.read() as c:
            due = [
                planned
                for planned in reminders_due(c, site, turn(c, site), at)
                if (planned.one.role, planned.one.judge.id) in known
            ]
        if due:
            with site.store.write() as c:
                queue_planned(c, site, due)
        self._reminded = at.date()

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
