"""The texts for judges: statements of problems, briefing, and consent."""

from __future__ import annotations

import posixpath
import re
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, TypedDict, get_args
from urllib.parse import unquote

from quem.errors import Mistake, QuemError, collecting
from quem.io.text import read_text, shown
from quem.solutions.files import inspect, kind_of
from quem.solutions.model import Kind, Sheet, SolutionFile, StudyText
from quem.studyfile.letter import find_letter, letters
from quem.studyfile.models import LanguageCode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.studyfile.document import Loc
    from quem.studyfile.reading import StudyFile

_READABLE: tuple[Kind, ...] = ("markdown", "text", "html")
# ![text](target), ![text](<target>), [text]: target, and <img src="target">.
_REFERENCE = re.compile(
    r"""!\[[^\]]*\]\(\s*(?:<([^<>\n]+)>|([^\s()<>]+))
    | ^\s{0,3}\[[^\]\n]+\]:\s*(?:<([^<>\n]+)>|(\S+))
    | <img\b[^>]*?\bsrc\s*=\s*(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"'<>]+))""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)


class Sheets(TypedDict):
    """The texts in `Solutions`."""

    statements: dict[str, Sheet]
    briefing: Sheet | None
    consent: Sheet | None
    solving_briefing: Sheet | None
    solving_consent: Sheet | None


def references(text: str) -> Iterator[tuple[int, str]]:
    """The image references of a Markdown or HTML text: line and target."""
    for match in _REFERENCE.finditer(text):
        target = next(group for group in match.groups() if group)
        # A reference definition may be a link as well.
        if match[0].lstrip().startswith("[") and kind_of(PurePosixPath(target)) != "image":
            continue
        yield text.count("\n", 0, match.start()) + 1, target


def inner_path(target: str, base: str = "") -> str:
    """The path inside a folder that a reference means; empty if it leaves the folder."""
    if ":" in target.split("/", 1)[0] or target.startswith(("/", "\\")):
        return ""
    named = unquote(target.partition("#")[0].partition("?")[0])
    if not named or named.startswith(("/", "\\")) or not named.isprintable():
        return ""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(base), named))
    return "" if path == "." or path.split("/")[0] == ".." else path


def find_sheets(file: StudyFile) -> tuple[Sheets, list[Mistake]]:
    """Find the texts that a study names."""
    content = file.document.content
    mistakes: list[Mistake] = []
    statements = {}
    problems = content.get("problems")
    for index, entry in enumerate(problems if isinstance(problems, list) else []):
        if isinstance(entry, dict):
            statement, problem = entry.get("statement"), entry.get("id")
            loc = ("problems", index, "statement")
            sheet = _sheet(file, loc, statement, "statement", mistakes)
            if sheet and isinstance(problem, str):
                statements[problem] = sheet
    texts = {
        (session, key): _translated_sheet(file, (session, key), named.get(key), key, mistakes)
        for session in ("judging", "solving")
        if isinstance(named := content.get(session) or {}, dict)
        for key in ("briefing", "consent")
    }
    found = Sheets(
        statements=statements,
        briefing=texts.get(("judging", "briefing")),
        consent=texts.get(("judging", "consent")),
        solving_briefing=texts.get(("solving", "briefing")),
        solving_consent=texts.get(("solving", "consent")),
    )
    mistakes += find_letter(file)
    return found, mistakes


def study_texts(file: StudyFile) -> Iterator[StudyText]:
    """The words that judges read besides solutions and pages, without who asks."""
    spec = file.spec
    if spec is None:
        return
    yield StudyText("title", "", spec.title)
    yield StudyText("invitation.title", "", spec.invitation.title)
    for path, name in letters(file, spec.invitation.text):
        with suppress(QuemError):  # noted where the letter is checked
            yield StudyText(path.name, "", read_text(path, name, what="invitation"))
    yield StudyText("organizer.institution", "", spec.organizer.institution)
    yield StudyText("organizer.email", "", spec.organizer.email.partition("@")[2])
    for problem in spec.problems:
        yield StudyText(f"problems.{problem.id}.title", problem.id, problem.title)
    for one in spec.judging.questions:
        words = (one.text, *one.options, *one.ends)
        yield StudyText(f"judging.questions.{one.id}", "", "\n".join(words))


def is_unwritten(sheet: Sheet) -> bool:
    """Whether a text is a placeholder: one of its lines begins with ``TODO``."""
    file = sheet.files[0]
    try:
        text = read_text(file.path, file.name, what="text")
    except QuemError:
        return False
    return any(line.lstrip().startswith("TODO") for line in text.split("\n"))


def _translated_sheet(
    file: StudyFile, loc: Loc, value: object, what: str, mistakes: list[Mistake]
) -> Sheet | None:
    """A text with the translations beside it: ``briefing.de.md`` is one of ``briefing.md``."""
    sheet = _sheet(file, loc, value, what, mistakes)
    if sheet is None or not isinstance(value, str):
        return None
    stem, ending = posixpath.splitext(value)
    names = {code: f"{stem}.{code}{ending}" for code in get_args(LanguageCode)}
    found = {
        code: _sheet(file, loc, name, what, mistakes)
        for code, name in names.items()
        if file.beside(name)[0].exists()
    }
    return Sheet(sheet.files, {code: one for code, one in found.items() if one})


def _sheet(
    file: StudyFile, loc: Loc, value: object, what: str, mistakes: list[Mistake]
) -> Sheet | None:
    if not isinstance(value, str) or not value:
        return None
    path, name = file.beside(value)
    try:
        if not path.exists() and (missing := file.not_there(loc, value)):
            mistakes.append(missing)
            return None
        text = inspect(path, name, path.name, what=what, only=_READABLE)
    except QuemError as error:
        mistakes += error.mistakes
        return None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        mistakes.append(file.document.mistake(loc, f"{shown(value)} cannot be read: {reason}"))
        return None
    return Sheet((text, *_images(text, mistakes)))


def _images(text: SolutionFile, mistakes: list[Mistake]) -> Iterator[SolutionFile]:
    """The images of a text that are beside it."""
    if text.kind == "text":
        return
    folder = text.path.parent
    inner = dict.fromkeys(
        inner_path(target) for _, target in references(read_text(text.path, text.name, what="text"))
    )
    for name in filter(None, inner):
        path = folder / name
        if kind_of(path) != "image" or not path.is_file():
            continue
        if not path.resolve().is_relative_to(folder.resolve()):
            continue
        with collecting(mistakes):
            yield inspect(path, str(Path(text.name).parent / name), name)
