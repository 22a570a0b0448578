"""Models of JSON bodies and forms, and the responses to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from flask import Response, abort, jsonify, request
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from quem.store.answers import GUESSES  # noqa: TC001  pydantic reads it
from quem.store.state import Text
from webjudge.languages import LANGUAGES

if TYPE_CHECKING:
    from quem.store.work import Saved

LONGEST_TEXT = 1_000_000  # bytes of an answer
MOST_FILES = 10  # of an answer
_TOO_LARGE = "too_large"


def _check_text(text: str) -> str:
    if len(text.encode()) > LONGEST_TEXT:
        raise PydanticCustomError(_TOO_LARGE, "is too large")
    return text


def _check_files(files: list[str]) -> list[str]:
    if len(files) > MOST_FILES or len(set(files)) < len(files):
        raise ValueError("too many files, or one of them twice")
    return files


def _check_language(code: str) -> str:
    if code not in LANGUAGES:
        raise ValueError("not a language of the pages")
    return code


Client = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{8,44}$")]
Seconds = Annotated[float, Field(ge=0)]
LongText = Annotated[Text, AfterValidator(_check_text)]


class Body(BaseModel):
    """Base model of JSON bodies."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    @classmethod
    def read(cls) -> Self:
        """Parse and validate the request body."""
        if not request.is_json:
            abort(415)
        try:
            return cls.model_validate_json(request.get_data())
        except ValidationError as error:
            (first, *_) = error.errors(include_url=False)
            if first["type"] == _TOO_LARGE:
                abort(413)
            abort(422, f"{'.'.join(map(str, first['loc'])) or 'body'}: {first['msg']}")


class TimeBody(Body):
    """Working time, and viewing time per letter."""

    seconds: Seconds = 0.0
    views: dict[str, Seconds] = {}


class ReopenBody(TimeBody):
    """The revision that a change is based on, and the tab that makes it."""

    base: int | str
    client: Client
    change: Annotated[int, Field(ge=0, lt=2**31)]
    layout: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{0,64}$")]


class SaveBody(ReopenBody):
    """A change of a ranking; `quem.store.state` checks the state against the task."""

    state: Any
    submit: bool


class CheckBody(Body):
    """A solution: text and files."""

    text: LongText
    files: Annotated[list[str], AfterValidator(_check_files)]


class AnswerBody(SaveBody):
    """A draft or submission of a solution."""

    state: CheckBody


class PreviewBody(Body):
    """Markdown to preview as judges see it."""

    text: LongText


class ClockBody(Body):
    """State of a problem's page: visible, paused, or left."""

    client: Client
    running: Literal["work", "pause", "away"]
    take: bool


def acknowledged(saved: Saved, after: str) -> Response:
    """Confirm a stored change; after a submission, include the receipt and the next page."""
    at = saved.at.isoformat().replace("+00:00", "Z")
    answered = {"revision": saved.revision, "submitted": saved.is_ended, "saved_at": at}
    return jsonify(answered | ({"receipt": saved.receipt, "next": after} if after else {}))


class Form(BaseModel):
    """Base model of forms; `webjudge.pages` reads the study's questions."""

    model_config = ConfigDict(allow_inf_nan=False)

    @classmethod
    def read(cls) -> Self:
        """Parse and validate the submitted form."""
        try:
            return cls.model_validate(request.form.to_dict())
        except ValidationError:
            abort(400)


class ConsentForm(Form):
    """Consent or refusal."""

    consent: Literal["yes", "no"] = "yes"


class LanguageForm(Form):
    """The chosen language, and the task to return to."""

    language: Annotated[str, AfterValidator(_check_language)]
    gid: str = ""


class GuessForm(Form):
    """A guess whether a person or a system made a solution."""

    gid: str
    letter: str
    guess: Literal[*GUESSES, "skip"]  # type: ignore[valid-type]


class ExperienceForm(Form):
    """A subject's experience, in the study's unit."""

    experience: Annotated[
        float, Field(ge=0, le=80), BeforeValidator(lambda text: text.strip().replace(",", "."))
    ]
