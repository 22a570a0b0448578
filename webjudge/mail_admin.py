"""The dashboard's letters: what became of each, and sending what is due."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flask import Blueprint, current_app, request

from quem.errors import QuemError
from quem.store.outbox import decide, letters_of
from quem.studyfile.addresses import PEOPLE, addresses_of
from webjudge.access import acting, site
from webjudge.dashboard_pages import back, require_reviewed
from webjudge.languages import day
from webjudge.mailing import POST, invitations_due, queue_planned, reach_of, reminders_due
from webjudge.wording import short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from werkzeug.wrappers import Response

    from quem.store.models import Role
    from quem.store.outbox import StoredLetter
    from webjudge.mailing import Planned, Post
    from webjudge.site import Site

mail = Blueprint("mail", __name__, url_prefix="/mail")

_NAMES = {"invite": "Invitation", "remind": "Reminder"}
# Which pages show what becomes of letters.
_PAGES: dict[Role, str] = {"judge": "people.invitations", "subject": "solving.session"}
_NO_SERVER = "No mail server is set. Start the server with QUEM_SMTP and QUEM_MAIL_FROM."
_NO_URL = (
    "Links in letters would work only on this computer. Restart the server with --url, the "
    "address that judges use."
)
_TROUBLES = ("mail-settings", "letters")  # of `Site.troubles`


@dataclass(frozen=True)
class LetterState:
    """What became of a letter, in words."""

    key: int  # of its row; 0 where there is no letter
    text: str
    tone: str = ""  # the color of the text
    reason: str = ""  # what the mail server said, or when it is tried again
    choices: tuple[str, ...] = ()  # what can be decided: "sent", "again"


def _state(letter: StoredLetter) -> LetterState:
    name, key = _NAMES[letter.kind], letter.key
    if letter.state == "sent" and letter.sent_at:
        return LetterState(key, f"{name} sent {day(letter.sent_at.date())}", "good")
    if letter.state == "retry":
        reason = f"Tried again after {short(letter.due_at)} UTC. {letter.error}"
        return LetterState(key, f"{name} not accepted yet", "warn", reason)
    if letter.state == "failed":
        return LetterState(key, f"{name} failed", "bad", letter.error, ("again",))
    if letter.state == "unknown":
        reason = "The connection broke off. Ask them whether it arrived, then decide."
        return LetterState(key, f"{name}: unknown", "bad", reason, ("sent", "again"))
    return LetterState(key, f"{name} on its way", "info")


def letters_page(served: Site, role: Role = "judge") -> dict[str, Any]:
    """Give what a page shows of the letters to people of a role.

    The newest letter to each is shown, and each of which something has to be decided.
    """
    post = _post()
    settings = post.settings
    trouble = ""
    try:
        known = {person for of, person in addresses_of(served.spec, served.path) if of == role}
    except QuemError as error:
        known, trouble = set(), str(error)
    with served.store.read() as c:
        letters = letters_of(c, served.id, role)
        due = {
            "invitations": _addressed(invitations_due(c, served, role), known),
            "reminders": _addressed(reminders_due(c, served, role), known),
        }
    states: dict[int, list[LetterState]] = {}
    newest = {letter.person_key: letter.key for letter in letters}
    for letter in letters:
        state = _state(letter)
        is_newest = newest[letter.person_key] == letter.key
        if state.choices or is_newest:
            states.setdefault(letter.person_key, []).append(state)
    return {
        "server": settings and settings.host,
        "sender": settings and str(settings.sender),
        "due": due,
        "reminded": {each.one.person.key for each in due["reminders"]},
        "states": states,
        "addressed": known,
        "troubles": [*filter(None, (trouble, *map(served.troubles.get, _TROUBLES)))],
        "people": PEOPLE,
    }


def _addressed(planned: Sequence[Planned], known: set[str]) -> list[Planned]:
    return [each for each in planned if each.one.person.id in known]


@mail.post("/<any(judge, subject):role>/<any(invitations, reminders):letters>")
def send(role: Role, letters: str) -> Response:
    """Send what is due, to everybody of a role whose address is known, or to one of them."""
    served, post = site(), _post()
    if post.settings is None:
        raise QuemError(_NO_SERVER)
    if letters == "invitations":
        base = post.base or f"{request.host_url.rstrip('/')}{request.script_root}"
        if reach_of(base) == "computer":
            raise QuemError(_NO_URL)
        post.base = base
        if role == "judge":
            require_reviewed()
    known = {person for of, person in addresses_of(served.spec, served.path) if of == role}
    key = request.form.get("key", type=int)
    find = {"invitations": invitations_due, "reminders": reminders_due}[letters]
    with served.store.write() as c:
        due = _addressed(find(c, served, role), known)
        mine = [one for one in due if key in (None, one.one.person.key)]
        count = queue_planned(c, served, mine)
    post.look()
    return back("queued" if count else "nothing", _PAGES[role])


@mail.post("/<int:key>/<any(sent, again):choice>")
def settle_letter(key: int, choice: str) -> Response:
    """Say what becomes of a letter that failed, or of which nobody knows."""
    with site().store.write() as c:
        decide(c, site().id, key, choice, acting())
        is_of_subject = any(one.key == key for one in letters_of(c, site().id, "subject"))
    _post().look()
    return back(choice, _PAGES["subject" if is_of_subject else "judge"])


def _post() -> Post:
    post: Post = current_app.extensions[POST]
    return post
