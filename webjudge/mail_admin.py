"""Letters in the dashboard: delivery states, and sending due ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from flask import Blueprint, current_app, request

from quem.errors import QuemError
from quem.store.models import LetterKind, PersonRow, Role
from quem.store.outbox import UNKNOWN, decide, queue_letter
from quem.studyfile.addresses import addresses_of
from webjudge.access import acting, site
from webjudge.dashboard.page import back, question, require_reviewed, require_sure
from webjudge.languages import day
from webjudge.mailing import POST, Post, reach_of, standings

if TYPE_CHECKING:
    from werkzeug.wrappers import Response

    from webjudge.site import Site

mail = Blueprint("mail", __name__, url_prefix="/mail")

_NO_SERVER = "No mail server is set. Start the server with QUEM_SMTP and QUEM_MAIL_FROM."
_NO_URL = (
    "Links in letters would work only on this computer. Restart the server with --url, the "
    "address that judges use."
)
_TROUBLES = ("mail-settings", "letters")  # of `Site.troubles`


def letters_page(served: Site, role: Role = "judge") -> dict[str, Any]:
    """Values of the page about letters to a role."""
    settings = _post().settings
    trouble = ""
    try:
        known = {person for of, person in addresses_of(served.spec, served.path) if of == role}
    except QuemError as error:
        known, trouble = set(), str(error)
    with served.store.read() as c:
        people = standings(c, served, role)
    addressed = [one for one in people if one.person.id in known]
    return {
        "server": settings and settings.host,
        "sender": settings and str(settings.sender),
        "invited": sum(one.is_due("invitation") for one in addressed),
        "reminded": {one.person.key for one in addressed if one.is_due("reminder")},
        "people": {one.person.key: one for one in people},
        "written": any(one.letters for one in people),
        "addressed": known,
        "troubles": [*filter(None, (trouble, *map(served.troubles.get, _TROUBLES)))],
        "unknown": UNKNOWN,
        "day": day,
    }


@mail.post("/<any(judge, subject):role>/<any(invitation, reminder):kind>s")
def send(role: Role, kind: LetterKind) -> Response:
    """Send due letters to everybody of a role with an address, or to one person."""
    served = site()
    _require_server(kind)
    if (role, kind) == ("judge", "invitation"):
        require_reviewed()
    known = addresses_of(served.spec, served.path)
    key = request.form.get("key", type=int)
    with served.store.write() as c:
        due = [
            one
            for one in standings(c, served, role)
            if one.is_due(kind) and (role, one.person.id) in known and key in (None, one.person.key)
        ]
        for one in due:
            queue_letter(c, served.id, one.person.key, kind, one.letters.get(kind))
    _post().look()
    return back("queued" if due else "nothing", "dashboard.people.page", role=role)


@mail.post("/<message_id>/<any(arrived, again):choice>")
def settle_letter(message_id: str, choice: Literal["arrived", "again"]) -> Response:
    """Mark a letter as arrived, or resend it; invitations get a new link."""
    with site().store.write() as c:
        letter = decide(c, site().id, message_id, choice, acting())
        person = c.get_one(PersonRow, letter.person_key)
        if choice == "again":
            _require_server(letter.kind)
            if person.has_link and letter.kind == "invitation":
                require_sure(question("again", person=person))
    _post().look()
    return back(choice, "dashboard.people.page", role=person.role)


def _require_server(kind: LetterKind) -> None:
    """Refuse without a mail server, or if links work only on this computer."""
    post = _post()
    if post.settings is None:
        raise QuemError(_NO_SERVER)
    if kind == "invitation":
        base = post.base or f"{request.host_url.rstrip('/')}{request.script_root}"
        if reach_of(base) == "computer":
            raise QuemError(_NO_URL)
        post.base = base


def _post() -> Post:
    post: Post = current_app.extensions[POST]
    return post
