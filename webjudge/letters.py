"""What is written to people: invitations and reminders, each in their language."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from jinja2 import Environment, FileSystemLoader, select_autoescape

from quem.resources import resource
from quem.studyfile.letter import letter_in, read_letter
from webjudge.languages import day, gettext, ngettext, speaking

if TYPE_CHECKING:
    import datetime as dt

    from quem.store.models import PersonRow, Role
    from webjudge.site import Site

Text = Literal["invitation", "reminder"]


@dataclass(frozen=True)
class Standing:
    """How far a judge is, or a subject."""

    person: PersonRow
    # Tasks, without practice
    total: int
    submitted: int
    started: bool  # whether one of them is begun
    declined: bool  # whether they do not take part

    @property
    def role(self) -> Role:
        """Whether they judge or solve."""
        return self.person.role

    @property
    def done(self) -> bool:
        """Whether they have finished."""
        return 0 < self.total <= self.submitted

    @property
    def waits(self) -> bool:
        """Whether the study waits for them."""
        return not (self.done or self.declined or self.person.erased_at)

    @property
    def is_reminded(self) -> bool:
        """Whether they may be reminded: whose link was revoked may not."""
        return self.waits and self.person.has_link


@dataclass(frozen=True)
class Written:
    """The text of a letter, and its language."""

    subject: str
    text: str
    language: str


def write_to(
    site: Site,
    one: Standing,
    what: Text,
    sender: str,
    *,
    link: str = "",
    replaced: bool = False,
    invited_at: dt.datetime | None = None,
) -> Written:
    """Write to a judge or a subject, in the language that the study file names."""
    spec = site.spec
    language = site.language(one.person) or site.usual_language
    subject = spec.invitation.title or spec.title
    with speaking(language):
        due = day(spec.deadline) if spec.deadline else ""
        values = {
            "address": site.address(one.person),
            "contact": spec.organizer,
            "deadline": due,
            "grading": bool(spec.labels),
            "invited_on": day(invited_at.date()) if invited_at else "",
            "link": link,
            "limit": 60 * ((spec.solving and spec.solving.time_limit) or 0),
            "minutes": site.minutes,
            "n_problems": one.total,
            "n_tasks": one.total,
            "one": one,
            "replaced": replaced,
            "sender": spec.organizer.name or sender,
            "study": {"title": spec.title},
        }
        own = spec.invitation.text if (one.role, what) == ("judge", "invitation") else ""
        if not own:
            return Written(
                subject,
                _templates().get_template(f"{_FOLDERS[one.role]}/{what}.txt").render(values),
                language,
            )
        path = letter_in(site.path, own, language)
        letter = read_letter(path, str(path), has_deadline=spec.deadline is not None)
        fields = {
            "name": str(values["address"] or one.person.id),
            "title": spec.title,
            "link": link or gettext("[the link that you were sent, or a new one]"),
            "due": due,
            "minutes": str(site.minutes),
        }
        own_subject, text = letter.filled(fields)
        if replaced:
            note = gettext("This link replaces the one that we sent you, which no longer works.")
            text = f"{text.rstrip()}\n\n{note}\n"
    return Written(own_subject or subject, text, language)


_FOLDERS: dict[Role, str] = {"judge": "judge", "subject": "solve"}


@cache
def _templates() -> Environment:
    """The templates of letters, which are also written where no request is answered."""
    environment = Environment(
        loader=FileSystemLoader(str(resource("templates"))),
        autoescape=select_autoescape(),
        extensions=["jinja2.ext.i18n"],
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["ext.i18n.trimmed"] = True
    environment.install_gettext_callables(gettext, ngettext, newstyle=True)  # type: ignore[attr-defined]
    return environment
