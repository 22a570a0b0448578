"""Invitations and reminders, in the recipient's language."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from jinja2 import Environment, FileSystemLoader, select_autoescape

from quem.resources import resource
from quem.store.models import LetterKind, LetterRow, PersonRow, Role, now
from quem.studyfile.letter import letter_in, read_letter
from webjudge.languages import day, gettext, marked, ngettext, speaking

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webjudge.site import Site

# Minimum time between two letters to a person: about a day.
_APART = dt.timedelta(hours=20)
_REPLACED = marked("This link replaces the one that we sent you, which no longer works.")
_FOLDERS: dict[Role, str] = {"judge": "judge", "subject": "solve"}


@dataclass(frozen=True)
class Standing:
    """Progress and letters of a judge or subject."""

    person: PersonRow
    # Tasks, without practice
    total: int
    submitted: int
    started: bool  # whether a task is in progress
    declined: bool  # whether they declined
    is_open: bool = False  # whether their session is open
    letters: Mapping[str, LetterRow] = field(default_factory=dict)  # by kind

    def wants(self, kind: LetterKind) -> bool:
        """Whether the study waits for the person; a reminder also needs a link."""
        is_gone = self.declined or self.person.erased_at or 0 < self.total <= self.submitted
        return not is_gone and (kind == "invitation" or (self.is_open and self.person.has_link))

    def may_get(self, kind: LetterKind) -> bool:
        """Whether a letter can be sent or resent, and none is pending."""
        letter = self.letters.get(kind)
        return self.wants(kind) and (letter is None or letter.is_settled)

    def is_due(self, kind: LetterKind) -> bool:
        """Whether the person was never invited, or may be reminded: at most once per day."""
        if not self.may_get(kind):
            return False
        if kind == "invitation":
            return not (self.person.linked_at or self.person.revoked_at or self.letters.get(kind))
        recent = now() - _APART
        return all((one.sent_at or one.made_at) <= recent for one in self.letters.values())

    @property
    def mailed_at(self) -> dt.datetime | None:
        """When the current link was mailed; None if it was replaced by hand since."""
        letter, linked_at = self.letters.get("invitation"), self.person.linked_at
        at = letter.sent_at if letter else None
        return at if at and linked_at and linked_at <= at else None


class Written(NamedTuple):
    """A letter's text and language."""

    subject: str
    text: str
    language: str


def write_to(
    site: Site,
    one: Standing,
    kind: LetterKind,
    sender: str,
    *,
    link: str = "",
    replaced: bool = False,
) -> Written:
    """Compose a letter to a judge or subject, in their language."""
    spec, person = site.spec, one.person
    language = site.language(person) or site.usual_language
    own = spec.invitation.text if (person.role, kind) == ("judge", "invitation") else ""
    with speaking(language):
        due = day(spec.deadline) if spec.deadline else ""
        subject = spec.invitation.title or spec.title
        if own:
            path = letter_in(site.path, own, language)
            letter = read_letter(path, str(path), has_deadline=spec.deadline is not None)
            own_subject, text = letter.filled(
                {
                    "name": site.address(person) or person.id,
                    "title": spec.title,
                    "link": link or gettext("[the link that you were sent, or a new one]"),
                    "due": due,
                    "minutes": str(site.minutes),
                }
            )
            if replaced:
                note = gettext(
                    "This link replaces the one that we sent you, which no longer works."
                )
                text = f"{text.rstrip()}\n\n{note}\n"
            return Written(own_subject or subject, text, language)
        text = (
            _templates()
            .get_template(f"{_FOLDERS[person.role]}/{kind}.txt")
            .render(
                address=site.address(person),
                contact=spec.organizer,
                deadline=due,
                grading=bool(spec.labels),
                invited_on=day(one.mailed_at.date()) if one.mailed_at else "",
                kind=kind,
                link=link,
                limit=60 * ((spec.solving and spec.solving.time_limit) or 0),
                minutes=site.minutes,
                one=one,
                replaced=replaced,
                sender=spec.organizer.name or sender,
                study={"title": spec.title},
            )
        )
    return Written(subject, text, language)


@cache
def _templates() -> Environment:
    """Templates of letters, usable outside requests."""
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
