"""In which language a request is answered: the judge's choice, then what is known of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flask import request

from webjudge.languages import ENGLISH, LANGUAGES, accepted, catalog, speak, spoken

if TYPE_CHECKING:
    from werkzeug.wrappers import Response

    from quem.store.models import PersonRow
    from webjudge.site import Site

_SECONDS = 60 * 60 * 24 * 7 * 26
_PREVIEW = "/dashboard/preview"
# Their pages are in English.
_OF_ORGANIZERS = ("/dashboard", "/d/")


def choose_language(site: Site, person: PersonRow | None = None) -> None:
    """Choose the language of a request."""
    speak(_chosen(site, person))


def _chosen(site: Site, person: PersonRow | None) -> str:
    study = site.usual_language
    if request.path.startswith(_PREVIEW):
        named = request.args.get("language", "")
        return named if named in LANGUAGES else study
    if request.path.startswith(_OF_ORGANIZERS):
        return ENGLISH
    kept = request.cookies.get(_cookie(site), "")
    if kept in LANGUAGES:
        return kept
    return (
        (site.language(person) if person else None)
        or accepted(tag for tag, quality in request.accept_languages if quality > 0)
        or study
    )


def keep_language(site: Site, response: Response, code: str) -> None:
    """Keep a language that a judge chose in their browser."""
    response.set_cookie(_cookie(site), code, max_age=_SECONDS, **cookie_options())


def cookie_options() -> dict[str, Any]:
    """Where a cookie is sent, and that no script reads it."""
    path = request.script_root or "/"
    return {"path": path, "httponly": True, "samesite": "Lax", "secure": request.is_secure}


def _cookie(site: Site) -> str:
    return f"quem-language-{site.key}"


@dataclass(frozen=True)
class LanguageChoice:
    """An entry of the menu of languages."""

    code: str
    name: str
    is_read: bool  # whether a native reader has read all texts
    is_current: bool


def language_values() -> dict[str, Any]:
    """Give what every template takes: the language of the page, the others, and the texts."""
    current = spoken()
    return {
        "language": current,
        "direction": LANGUAGES[current].direction,
        "languages": [
            LanguageChoice(code, language.name, language.is_read, code == current)
            for code, language in LANGUAGES.items()
        ],
        "words": catalog(current).words,
    }
