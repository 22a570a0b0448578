"""Due letters, and sending them from a command or a running server."""

from __future__ import annotations

import logging
import threading
from contextlib import closing
from functools import partial
from ipaddress import ip_address
from socket import inet_aton
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from quem.errors import QuemError
from quem.mail.server import MailServer, MailSettings, mail_settings, message_of
from quem.store.links import PATHS
from quem.store.models import LetterKind, LetterRow, PersonRow, Role
from quem.store.outbox import KINDS, UNKNOWN, claim, is_due, letters_of, settle
from quem.store.people import issue_link, people_of, withdraw_link
from quem.store.standing import judges_standing
from quem.store.studies import solving_state, status_of
from quem.store.work import tasks_of
from quem.studyfile.addresses import addresses_of
from webjudge.letters import Standing, write_to

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from email.message import EmailMessage

    from sqlalchemy.orm import Session

    from webjudge.housekeeping import Housekeeping
    from webjudge.site import Site

ROLES: tuple[Role, ...] = ("judge", "subject")
POST = "quem-post"  # the key of an app's `Post` in its extensions
_PATIENCE = 30.0  # seconds: the outcome of a letter must be stored
_LOOK_SECONDS = 20
_STOP_SECONDS = 5
_log = logging.getLogger("webjudge")


def reach_of(base: str) -> Literal["computer", "network", "anywhere"]:
    """Reach of links with a base URL, as far as the URL shows it."""
    host = (urlsplit(base).hostname or "").rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return "computer"
    try:
        # Includes short forms such as 127.1.
        address = ip_address(host if ":" in host else inet_aton(host))
    except (OSError, ValueError):
        return "anywhere" if "." in host and not host.endswith(".local") else "network"
    if address.is_loopback or address.is_unspecified:
        return "computer"
    return "anywhere" if address.is_global else "network"


def turn(c: Session, site: Site) -> Role:
    """The role to write to now: subjects solve before judges rank."""
    if site.spec.solving and solving_state(c, site.id) != "closed":
        return "subject"
    return "judge"


def standings(c: Session, site: Site, role: Role, key: int | None = None) -> list[Standing]:
    """Progress of a role's people, or of one person; empty before it is their turn."""
    letters: dict[int, dict[str, LetterRow]] = {}
    for letter in letters_of(c, site.id, role, key):
        letters.setdefault(letter.person_key, {})[letter.kind] = letter
    if role == "subject":
        is_open = solving_state(c, site.id) == "open"
        mine = [PersonRow.key == key] if key is not None else []
        problems, found = _to_solve(site), []
        for one in people_of(c, site.id, "subject", *mine):
            tasks = [task for task in tasks_of(c, one.key) if task.problem in problems]
            done = sum(task.ended is not None for task in tasks)
            is_started = any(task.opened_at for task in tasks)
            declined, mail = bool(one.declined_at or one.withdrawn_at), letters.get(one.key, {})
            found.append(Standing(one, len(problems), done, is_started, declined, is_open, mail))
        return found
    if turn(c, site) != "judge":
        return []
    is_open = status_of(c, site.id).state == "open"
    return [
        Standing(
            one.judge,
            one.total,
            one.submitted,
            one.started > 0,
            one.status == "declined",
            is_open,
            letters.get(one.judge.key, {}),
        )
        for one in judges_standing(c, site.id, site.plan, key=key)
    ]


def total_of(site: Site, role: Role) -> int:
    """Number of tasks per person of a role, without practice."""
    if role == "judge":
        return len(site.plan.parts) + site.plan.repeat
    return len(_to_solve(site))


def _to_solve(site: Site) -> set[str]:
    practice = site.spec.solving.practice if site.spec.solving else ""
    return {problem.id for problem in site.spec.problems} - {practice}


class Sender:
    """Sends a study's due letters, each committed as tried before the handover."""

    def __init__(self, site: Site, settings: MailSettings, base: str, actor: str) -> None:
        self._site, self._settings, self._base, self._actor = site, settings, base, actor
        self._addresses = addresses_of(site.spec, site.path)

    def run(
        self, kinds: Collection[LetterKind] = KINDS, stop: threading.Event | None = None
    ) -> Iterator[LetterRow]:
        """Send due letters until done or stopped; yield each outcome."""
        stop = stop or threading.Event()
        with closing(MailServer(self._settings)) as server:
            while not stop.is_set():
                with self._site.store.read() as c:
                    if not is_due(c, self._site.id, kinds):
                        break
                server.ready()
                if letter := self._send_one(server, kinds):
                    yield letter
                    stop.wait(1 / self._settings.rate)

    def _send_one(self, server: MailServer, kinds: Collection[LetterKind]) -> LetterRow | None:
        store, actor = self._site.store, self._actor
        with store.write() as c:
            letter = claim(c, self._site.id, kinds)
            if letter is None:
                return None
            person = c.get_one(PersonRow, letter.person_key)
            one = next(iter(standings(c, self._site, person.role, person.key)), None)
            if one is None or not one.wants(letter.kind):
                c.delete(letter)
                return None
            try:
                with c.begin_nested():
                    message, token = self._written(c, one, letter)
            except QuemError as error:
                return settle(c, letter, "failed", actor, error.mistakes[0].message)
        state, reason = server.send(message)
        with store.write(_PATIENCE) as c:
            if token and state != "sent" and reason != UNKNOWN:
                withdraw_link(c, one.person, token, actor)
            return settle(c, letter, state, actor, reason)

    def _written(self, c: Session, one: Standing, letter: LetterRow) -> tuple[EmailMessage, str]:
        """Compose a letter; an invitation comes with the token of its new link."""
        site, person, sender = self._site, one.person, self._settings.sender
        if (to := self._addresses.get((person.role, person.id))) is None:
            raise QuemError(f"there is no email address of {person.id}")
        token = link = ""
        kind, is_replaced = letter.kind, person.linked_at is not None
        if kind == "invitation":
            token = issue_link(c, person, self._actor)
            link = f"{self._base}/{PATHS[person.role]}/{token}"
            kind = "reminder" if one.started else kind
        written = write_to(site, one, kind, sender.display_name, link=link, replaced=is_replaced)
        message = message_of(
            letter,
            to._replace(name=to.name or person.name),
            written.subject,
            written.text,
            sender=sender,
            reply_to=site.spec.organizer.email,
        )
        return message, token


class Post:
    """Sends letters that organizers request on a running server."""

    def __init__(self, served: Callable[[], Site], base: str = "") -> None:
        self._served, self.base = served, base
        self._stopping, self._looking = threading.Event(), threading.Lock()
        self._thread: threading.Thread | None = None

    @property
    def settings(self) -> MailSettings | None:
        """The mail server; None if unset or invalid."""
        troubles = self._served().troubles
        try:
            settings = mail_settings()
        except QuemError as error:
            troubles["mail-settings"] = str(error)
            return None
        troubles.pop("mail-settings", None)
        return settings

    def keep(self, housekeeping: Housekeeping) -> None:
        """Register the job that sends letters; call before the housekeeping starts."""
        housekeeping.add("mail", _LOOK_SECONDS, self.look)

    def look(self) -> None:
        """Send due letters in a separate thread."""
        site, settings = self._served(), self.settings
        with self._looking:
            is_sending = self._thread and self._thread.is_alive()
            if settings is None or is_sending or self._stopping.is_set():
                return
            # Invitations need the base URL of links.
            kinds = KINDS if self.base else ("reminder",)
            with site.store.read() as c:
                if not is_due(c, site.id, kinds):
                    return
            send = partial(self._send, site, settings, kinds)
            self._thread = threading.Thread(target=send, name="mail", daemon=True)
            self._thread.start()

    def _send(self, site: Site, settings: MailSettings, kinds: tuple[LetterKind, ...]) -> None:
        try:
            for _ in Sender(site, settings, self.base, "server").run(kinds, self._stopping):
                pass
        except Exception as error:  # noqa: BLE001  whatever it is, the server goes on
            reason = str(error) if isinstance(error, QuemError) else type(error).__name__
            if site.troubles.get("letters") != reason:  # once, however often it is tried
                # A traceback could contain addresses.
                _log.error("letters: %s", reason)
            site.troubles["letters"] = reason
        else:
            site.troubles.pop("letters", None)

    def stop(self) -> None:
        """Stop after the current letter, or after a timeout."""
        self._stopping.set()
        if self._thread:
            self._thread.join(_STOP_SECONDS)
