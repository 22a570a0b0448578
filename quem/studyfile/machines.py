"""Machine judges in a study file."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from quem.studyfile.fields import (
    FileId,
    FileName,
    Line,
    Numeral,
    OneOrMore,
    Section,
    StudyPart,
)

MOST_MACHINES = 5
_HERE = ("localhost", "127.0.0.1", "::1")


def _https(value: str) -> str:
    parts = urlsplit(value)
    schemes = ("http", "https") if parts.hostname in _HERE else ("https",)
    if value and not (parts.hostname and parts.scheme in schemes):
        raise ValueError(
            f"{value[:80]!r} is not an https address; only this computer can have http"
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("holds more than an address; name the variable of the key in key_env")
    return value.rstrip("/")


class Machine(StudyPart):
    """A machine judge: a command, or a model behind an address."""

    id: FileId = Field(
        description="Unlike the id of every judge; its transcripts are in a folder of this name."
    )
    command: Annotated[tuple[Line, ...], OneOrMore] = Field(
        (), description="Program and arguments; it reads a request and writes an answer."
    )
    url: Annotated[Line, AfterValidator(_https)] = Field(
        "", description="Address of an OpenAI-compatible service, without `/chat/completions`."
    )
    model: Line = Field("", description="Name of the model, as the service knows it.")
    key_env: Line = Field(
        "", description="Environment variable that holds the key, if one is needed."
    )
    repeats: Annotated[int, Field(ge=1, le=64), Numeral] = Field(
        2, description="How often it ranks each problem, each time in another order."
    )
    temperature: Annotated[float, Field(ge=0, le=2), Numeral] = Field(
        0, description="Sent to the service."
    )
    images: bool = Field(default=False, description="Whether it can see images.")
    max_input_bytes: Annotated[int, Field(ge=1000, le=1_000_000_000), Numeral] = Field(
        400_000, description="Most bytes of a request; an image counts as 3,000."
    )
    timeout: Annotated[float, Field(gt=0, le=86_400), Numeral] = Field(
        300, description="Seconds that a call can take."
    )
    per_minute: Annotated[int, Field(ge=1, le=100_000), Numeral] = Field(
        30, description="Most calls in a minute."
    )
    concurrency: Annotated[int, Field(ge=1, le=64), Numeral] = Field(
        2, description="Most calls at the same time."
    )

    @property
    def host(self) -> str:
        """The host that receives material, without the port; empty for a command."""
        return urlsplit(self.url).hostname or ""

    @property
    def is_here(self) -> bool:
        """Whether nothing leaves this computer."""
        return not self.url or self.host in _HERE

    @model_validator(mode="after")
    def _is_one(self) -> Machine:
        if bool(self.command) == bool(self.url):
            raise ValueError("needs one of command and url")
        if self.url and not self.model:
            raise ValueError("model is missing; name it as the service does")
        return self


def _few(value: tuple[Machine, ...]) -> tuple[Machine, ...]:
    if (more := len(value) - MOST_MACHINES) > 0:
        raise ValueError(f"a study has at most {MOST_MACHINES} machine judges; leave {more} out")
    return value


Machines = Annotated[tuple[Machine, ...], Section, AfterValidator(_few)]


class ExpertsOn(StudyPart):
    """Which problems experts rank: drawn from the solutions, so that nobody can choose them."""

    n: Annotated[int, Field(ge=3), Numeral] = Field(description="How many problems.")
    nonce: Line = Field("", description="Any text; it is part of what is drawn from.")


class MachineUse(StudyPart):
    """How machine judges are used; with this section, the analysis uses their rankings."""

    prompt: FileName = Field(
        "", description="File with your own prompt; it has to hold `{letters}` and `{token}`."
    )
    experts_on: ExpertsOn | None = Field(
        None, description="Problems that experts rank; machine judges rank all of them."
    )
    shared_with: Annotated[tuple[Line, ...], OneOrMore] = Field(
        (), description="Hosts that solutions may be sent to, with `--send-to` each time."
    )
