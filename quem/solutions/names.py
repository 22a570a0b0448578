"""Names of people in their spellings, and the ids and texts that contain them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import unicodedata
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from quem.blinding.spans import seen
from quem.solutions.patterns import is_unspaced

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

# Words of ids that describe a role in the study.
ROLES = frozenset(
    (
        "admin administrator agent ai anonymous answer author baseline bot candidate control "
        "default demo draft employee engineer expert final group guest human junior master member "
        "model none novice owner participant person phd player prof root run seed senior solution "
        "solver student subject system team technician test unknown user version worker"
    ).split()
)
_PARTICLES = frozenset(("al and bin da de del den der di du el ibn la le the van von").split())
# English words that are also names: such a part of a name counts only in use as a name.
WORDS = frozenset(
    (
        "amber angel april art ash august autumn banks barber bell berry bill bishop black bloom "
        "bond booth bow bridge bridges brook brooks brown burns bush butler cannon carpenter "
        "carter case chance charity chase christian church clay cliff coal cole cook cooper cross "
        "crystal curtain dale dawn day dean drew drum duke earl eve faith farmer field fields "
        "fisher flint flower flowers ford forest foster fox frank frost gale garden gardener gene "
        "ginger glass gold good grace grant gray green grey guy hall hand hardy harmony harry "
        "hart heart heath heather hill holiday holly hope hunt hunter ivy jack jade jasmine jay "
        "john joy judge june keen king knight lake lamb lane law light lily little long lord love "
        "major mark marks marsh marshall mason max may mercy miles mill miller mills moon moore "
        "moss nick noble north olive page paige park parker parks parson pat patience pearl penny "
        "pepper piper pitch pond pool poppy porter post potter pound powers price prince rain ray "
        "read reed rich rivers rob robin rock rocky rod rose rowan ruby rush rusty sage sand "
        "sandy saw sharp shell shepherd short singer skip sky small snow sparks spring star stark "
        "stern stone storm strong summer sun tanner taylor terry thorn tower town trip turner "
        "victor violet wade walker wall ward waters weaver weeks wells west wheeler white will "
        "wills winter wise wolf wood woods work young"
    ).split()
)
_TITLES = re.compile(
    r"\b(?:dr|prof|mr|mrs|ms|dipl|ing|phd|msc|bsc|herr|frau)\b\.?|\(.*?\)", re.IGNORECASE
)
# Letters with marks that Unicode does not decompose.
_LETTERS = str.maketrans(
    {"ß": "ss", "ø": "o", "ł": "l", "ı": "i", "đ": "d", "æ": "ae", "œ": "oe", "þ": "th"}
    | dict.fromkeys("’‘ʼ´`", "'")
    # Cyrillic and Greek letters that look like these, in lower or upper case.
    | dict(zip("авеѕіјкмнһорстухοακντυχβεζηιμρ", "abesijkmhhopctyxoakvtyxbezhimp", strict=True))
)
# Signs of an address.
_ENCODED = re.compile(r"(?:%[\da-fA-F]{2})+")
_MOST_TOKENS = 4
_MOST_COMMITS = 5000
_MOST_SECONDS = 10
# A folder's own git configuration must not run programs, such as signatures, monitors, and lazy
# fetches.
_QUIET = ("core.quotePath=false", "core.fsmonitor=false", "core.hooksPath=/dev/null")
_SAFE = (*_QUIET, "log.showSignature=false", "log.follow=false")
_LEAST_WITH_UMLAUT = 5


@lru_cache(maxsize=1 << 16)
def _folded_sign(sign: str) -> str:
    small = unicodedata.normalize("NFKC", seen(sign).translate(_LETTERS))
    decomposed = unicodedata.normalize("NFKD", small.casefold().translate(_LETTERS))
    # Syllables of Korean are put together again.
    letters = (one for one in decomposed if not unicodedata.combining(one))
    return unicodedata.normalize("NFC", "".join(letters))


def folded(text: str) -> tuple[str, Sequence[int]]:
    """A text in lower case without accents, and the original position of each letter."""
    if text.isascii() and not _ENCODED.search(text):
        return text.lower().replace("`", "'"), range(len(text) + 1)
    signs: list[str] = []
    places: list[int] = []
    for place, sign in _decoded(text):
        for one in _folded_sign(sign):
            signs.append(one)
            places.append(place)
    return "".join(signs), [*places, len(text)]


def _decoded(text: str) -> Iterator[tuple[int, str]]:
    """Each sign of a text with its position; signs of addresses, such as %C3%BC, as read."""
    end = 0
    for run in _ENCODED.finditer(text):
        place, signs = run.start(), unquote(run[0])
        if "\ufffd" in signs:
            continue
        yield from enumerate(text[end:place], end)
        for sign in signs:
            yield place, sign
            place += 3 * len(sign.encode())
        end = run.end()
    yield from enumerate(text[end:], end)


def fold(words: str) -> str:
    """Words in lower case without accents."""
    return "".join(map(_folded_sign, words))


def key_of_name(word: str) -> str:
    """A key shared by spellings of a name: muller for Müller, Mueller, and Muller."""
    letters = fold(word).replace("'", "")
    return re.sub("([aou])e", r"\1", letters) if len(letters) >= _LEAST_WITH_UMLAUT else letters


def spelled(word: str, between: str = "") -> str:
    """A pattern of a folded name in all spellings: o'?neill, mu(?:e)?ller."""
    key = key_of_name(word)
    has_umlauts = len(key) >= _LEAST_WITH_UMLAUT - 1
    signs = []
    for before, sign in zip(f" {key}", key, strict=False):
        umlaut = f"(?:{between}e)?" if has_umlauts and sign in "aou" else ""
        apostrophe = "'?" if sign in "dlo" and not before.isalpha() else ""
        signs.append(f"{re.escape(sign)}{umlaut}{apostrophe}")
    return between.join(signs)


def tokens_of_name(name: str) -> list[str]:
    """The parts of a person's name, family name last, without titles."""
    name = _TITLES.sub(" ", name)
    if "," in name:
        family, _, first = name.partition(",")
        name = f"{first} {family}"
    return [token for token in re.split(r"[\s.]+", name.strip(" ,")) if token[:1].isalpha()]


def tokens_of_id(name: str) -> list[str]:
    """Split an id at characters that are not letters, and at lower-to-upper case changes."""
    local = re.sub(r"(?<=[a-zß-ÿ])(?=[A-ZÀ-Þ])", " ", name.partition("@")[0])
    return re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)?", local)


def person_in_id(name: str) -> list[str]:
    """The name in an id as tokens in unknown order; empty without one."""
    tokens = tokens_of_id(name)
    real = [one for one in tokens if one.lower() not in ROLES and (len(one) > 1 or len(tokens) > 1)]
    is_name = 1 < len(real) <= _MOST_TOKENS and any(len(one) > 1 for one in real)
    return real if is_name and len(real) == len(tokens) else []


def is_generic(name: str) -> bool:
    """Whether an id is a role with a number, or too short to be a name."""
    role = "|".join(ROLES)
    pattern = rf"[a-z]?[-_ ]?\d+|(?:{role})[-_ ]?[a-z\d]{{0,3}}"
    is_short = len(name) <= 2 and not is_unspaced(name)  # noqa: PLR2004
    return is_short or bool(re.fullmatch(pattern, name, re.IGNORECASE))


def is_particle(token: str) -> bool:
    """Whether a token is a word such as "van" or a role, not a name."""
    return token in _PARTICLES or token in ROLES


@lru_cache(maxsize=16)
def git_authors(folder: Path) -> Mapping[str, frozenset[str]]:
    """The committers of each file of a folder, without the organizer, who committed most files.

    Empty without git, or if it does not respond.
    """
    git = shutil.which("git")
    if not git:
        return {}
    command = [git, "--no-pager", *(word for one in _SAFE for word in ("-c", one))]
    command += ["-C", str(folder), "log", f"--max-count={_MOST_COMMITS}", "--no-renames"]
    command += ["--name-only", "--relative", "--format=%x00%an", "--", "."]
    own = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    safe = {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0"}
    try:
        log = subprocess.run(  # noqa: S603  the program that was found, and constants
            command,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_MOST_SECONDS,
            check=True,
            env={**own, **safe},
        ).stdout.decode(errors="replace")
    except (OSError, subprocess.SubprocessError):
        return {}
    authors: dict[str, set[str]] = {}
    for commit in log.split("\0")[1:]:
        author, *files = filter(None, commit.split("\n"))
        for file in files:
            authors.setdefault(file, set()).add(author)
    counts = Counter(author for some in authors.values() for author in some)
    organizer = {author for author, count in counts.items() if count > len(authors) / 2}
    return {file: frozenset(some - organizer) for file, some in authors.items()}
