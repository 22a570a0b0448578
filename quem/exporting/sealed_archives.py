"""A sealed study as one file that proves itself: its parts, their digests, and the analysis.

The file is a ZIP archive of which there is one form, so that any byte that differs is noticed.
"""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass
from importlib.metadata import version
from io import BytesIO
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote
from zipfile import ZIP_STORED, BadZipFile, ZipFile

from quem import __version__
from quem.errors import FileError, QuemError
from quem.exporting.crates import CRATE, crate
from quem.io.packages import zipped
from quem.sealing.log import log_file, read_log, record_file
from quem.sealing.record import canonical, hash_of, plan_file
from quem.sealing.seal import ranking_files
from quem.solutions import find_solutions
from quem.study.kept_digests import digests_file, kept_digests
from quem.study.reading import draft_study
from quem.study.runs import FOLDER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from quem.study.reading import StudyFile
    from quem.study.relevance import JudgedSpec

FORMAT = 1
_MANIFEST, _ANALYSIS, _STORE, _STUDY = "archive.json", "analysis.json", "store.jsonl", "study"
_AGAIN = "take another copy of the archive"
_LIBRARIES = ("numpy", "scipy")
_KEYS = {"format", "study", "exported_on", "versions", "files"}


@dataclass(frozen=True)
class Difference:
    """Something in an archive that is not as it was written."""

    file: str  # in the archive, or the archive itself
    kind: str  # what is wrong
    remedy: str = _AGAIN

    def __str__(self) -> str:
        """One line."""
        return f"{self.file}: {self.kind}; {self.remedy}"


@dataclass(frozen=True)
class Verified:
    """What a verification found."""

    differences: tuple[Difference, ...]
    # What the study's seal says, where it could be analyzed, and its hash
    headline: str = ""
    hash: str = ""
    notes: tuple[str, ...] = ()  # what a reader should know besides
    deviations: tuple[str, ...] = ()  # what the study's seal says is not as it was sealed


def study_files(draft: StudyFile) -> dict[str, Path]:
    """Name every file that a sealed study is made of, by its path inside the study's folder.

    A copy without names has no files of solutions and texts, and their digests instead.
    """
    study = draft.path
    shown: list[Path] = [digests_file(study)]
    if kept_digests(study) is None:
        solutions, mistakes, _ = find_solutions(draft, complete=False)
        if mistakes:
            raise QuemError(mistakes)
        shown = [plan_file(study)]
        shown += [file.path for solution in solutions for file in solution.files]
        shown += [file.path for sheet in solutions.sheets() for file in sheet.files]
    subjects = _table_of_subjects(study)
    lines, _ = read_log(study)
    paths = [study, *ranking_files(draft), *subjects, log_file(study)]
    paths += [draft.beside(draft.spec.panel.file)[0]] if draft.spec and draft.spec.panel else []
    paths += [record_file(study, n) for n in range(1, sum(x.what == "sealed" for x in lines) + 2)]
    paths += shown
    paths += sorted(path for path in (study.parent / FOLDER).rglob("*") if path.is_file())
    folder = study.parent.resolve()
    files = {}
    for path in paths:
        if not path.is_file():
            continue
        whole = path.parent.resolve() / path.name
        if not whole.is_relative_to(folder):
            raise FileError(path, "is outside the study's folder; move it there for an archive")
        files[whole.relative_to(folder).as_posix()] = path
    return files


def _table_of_subjects(study: Path) -> list[Path]:
    from quem.io.text import read_text
    from quem.study.document import parse_document

    content = parse_document(read_text(study, str(study), what="study file"), str(study)).content
    named = content.get("subjects") if isinstance(content, dict) else None
    return [study.parent / named] if isinstance(named, str) else []


def require_sealed(draft: StudyFile) -> None:
    """Refuse to write an archive of a study that is not sealed."""
    if draft.spec is None or not any(line.what == "sealed" for line in read_log(draft.path)[0]):
        raise FileError(draft.path, "is not sealed; `quem seal` seals it before the first ranking")


def pack(
    study: str,
    spec: JudgedSpec,
    files: Mapping[str, bytes],
    analysis: bytes,
    store: str = "",
) -> bytes:
    """Write a sealed study as an archive."""
    files = {f"{_STUDY}/{name}": content for name, content in files.items()}
    files[_ANALYSIS] = analysis
    if store:
        files[_STORE] = store.encode()
    today = dt.datetime.now(dt.UTC).date().isoformat()
    manifest = {
        "format": FORMAT,
        "study": study,
        "exported_on": today,
        "versions": _versions(),
        "files": {name: hash_of(content) for name, content in files.items()},
    }
    files[_MANIFEST] = canonical(manifest)
    files[CRATE] = crate(dict(sorted(files.items())), spec, today, __version__).encode()
    return zipped(files)


def _versions() -> dict[str, str]:
    return {"quem": __version__, **{name: version(name) for name in _LIBRARIES}}


def verify_archive(
    raw: bytes, name: str, analyze: Callable[[Path, Path], tuple[bytes, Any]], expected: str = ""
) -> Verified:
    """Say everything that is not as it was when an archive was written."""
    try:
        files = _unzipped(raw)
    except (BadZipFile, ValueError, NotImplementedError, EOFError, OSError, RuntimeError) as error:
        return Verified((Difference(name, f"cannot be read as an archive ({error})"),))
    with TemporaryDirectory() as place:
        folder = Path(place)
        for inner, content in files.items():
            path = folder / inner
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        found = list(_differences(files, folder))
        if zipped(files) != raw:
            kind = "the ZIP file holds other bytes than its files: order, times, or comments"
            found.append(Difference(name, kind))
        if found:
            return Verified(tuple(found))
        manifest = json.loads(files[_MANIFEST])
        study = folder / _STUDY / manifest["study"]
        try:
            return _analyzed(study, files, manifest, analyze, expected)
        except QuemError as error:
            kinds = [
                Difference(_STUDY, str(mistake).replace(f"{folder}/", ""))
                for mistake in error.mistakes
            ]
            return Verified(tuple(kinds))


def _unzipped(raw: bytes) -> dict[str, bytes]:
    with ZipFile(BytesIO(raw)) as archive:
        infos = archive.infolist()
        names = [info.filename for info in infos]
        if len(set(names)) < len(names):
            raise ValueError("a file is in it twice")
        if wrong := next((n for n in names if not _is_plain(n)), ""):
            raise ValueError(f"the name {wrong!r} leads out of it")
        if any(info.compress_type != ZIP_STORED for info in infos):
            raise ValueError("its files are compressed, as quem does not write them")
        if sum(info.file_size for info in infos) > len(raw):
            raise ValueError("its files overlap")
        return {info.filename: archive.read(info) for info in infos}


def _is_plain(name: str) -> bool:
    path = PurePosixPath(name)
    return (
        not path.is_absolute()
        and path.as_posix() == name
        and not {"..", ".", ""} & {*path.parts}
        and not {"\\", ":", "\0"} & {*name}
    )


def _differences(files: Mapping[str, bytes], folder: Path) -> Iterator[Difference]:
    """Compare files, which are in a folder too, with the digests that the archive has of them."""
    try:
        manifest = json.loads(files[_MANIFEST])
        digests = dict(manifest["files"])
        is_one = manifest["format"] == FORMAT and manifest.keys() == _KEYS
        is_one = is_one and f"{_STUDY}/{manifest['study']}" in digests
        canonical(manifest)
        published, writer = str(manifest["exported_on"]), str(manifest["versions"]["quem"])
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError):
        is_one = False
    if not is_one:
        yield Difference(_MANIFEST, "is missing, damaged, or of another version of quem")
        return
    if canonical(manifest) != files[_MANIFEST]:
        yield Difference(_MANIFEST, "was edited")
    apart = {_MANIFEST, CRATE}
    for name in sorted({*digests, *files} - apart):
        if name not in files:
            yield Difference(name, "is missing")
        elif name not in digests:
            yield Difference(
                name, "was added: the archive does not name it", "remove it, or " + _AGAIN
            )
        elif hash_of(files[name]) != digests[name]:
            yield Difference(name, "was changed: its digest is not the one in archive.json")
    yield from _of_crate(files, folder / _STUDY / manifest["study"], published, writer)


def _of_crate(
    files: Mapping[str, bytes], study: Path, published: str, writer: str
) -> Iterator[Difference]:
    if CRATE not in files:
        yield Difference(CRATE, "is missing")
        return
    described = _described(files[CRATE])
    for name in sorted(files.keys() - {CRATE}):
        if described.get(name) != hash_of(files[name]):
            yield Difference(name, f"is not as {CRATE} describes it")
    try:
        spec = draft_study(study).spec
    except QuemError:
        spec = None
    if spec is None:
        yield Difference(f"{_STUDY}/{study.name}", "is not a study file that can be read")
        return
    rest = {name: files[name] for name in sorted(files) if name != CRATE}
    if crate(rest, spec, published, writer).encode() != files[CRATE]:
        yield Difference(CRATE, "was changed: it does not describe this archive")


def _described(raw: bytes) -> dict[str, str]:
    try:
        graph = json.loads(raw)["@graph"]
        return {unquote(one["@id"]): one["sha256"] for one in graph if "sha256" in one}
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}


def _analyzed(
    study: Path,
    files: Mapping[str, bytes],
    manifest: dict[str, Any],
    analyze: Callable[[Path, Path], tuple[bytes, Any]],
    expected: str,
) -> Verified:
    """Analyze the study of an archive once more, and compare."""
    database = study.parent.parent / "store.sqlite3"
    if _STORE in files:
        restore_store(files[_STORE].decode(), database, draft_study(study))
    content, seal = analyze(study, database)
    found, notes = [*_unknown(study, files)], []
    if expected and not seal.hash.startswith(expected.lower()):
        kind = f"the hash of the seal is {seal.hash}, and {expected} was expected"
        name = f"{_STUDY}/{record_file(study, 1).name}"
        found.append(Difference(name, kind, "ask who keeps the study for the one that was sealed"))
    if content != files[_ANALYSIS]:
        now = _versions()
        other = [
            f"{k} {v} here {now.get(k)}" for k, v in manifest["versions"].items() if now.get(k) != v
        ]
        if not other:
            kind = "is not what the analysis of this study gives"
            found.append(Difference(_ANALYSIS, kind))
        elif _is_close(json.loads(content), json.loads(files[_ANALYSIS])):
            notes.append(f"the analysis agrees to 1e-6, not to the byte: {', '.join(other)}")
        else:
            kind = f"is not what the analysis gives here ({', '.join(other)})"
            found.append(Difference(_ANALYSIS, kind, "verify it with the versions it names"))
    notes += [seal.note] if seal.note else []
    return Verified(tuple(found), seal.headline, seal.hash, tuple(notes), tuple(seal.texts))


def _unknown(study: Path, files: Mapping[str, bytes]) -> Iterator[Difference]:
    """Name what quem did not write into an archive, and what it would have written."""
    own = study_files(draft_study(study))
    known = {_MANIFEST, CRATE, _ANALYSIS, _STORE, *(f"{_STUDY}/{name}" for name in own)}
    for name in sorted(files.keys() - known):
        yield Difference(name, "is not a part of this study", "remove it, or " + _AGAIN)
    if not any(line.what == "analyzed" for line in read_log(study)[0]):
        name = f"{_STUDY}/{log_file(study).name}"
        yield Difference(name, "does not have the first analysis, which each archive notes")


_CLOSE = 1e-6


def _is_close(one: Any, other: Any) -> bool:  # noqa: ANN401  JSON holds anything
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_close(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_close, one, other))
    if isinstance(one, float) and isinstance(other, int | float):
        return abs(one - other) <= _CLOSE * max(1, abs(one))
    return bool(one == other)


def restore_store(text: str, database: Path, draft: StudyFile) -> None:
    """Put what the store of an archive holds into a separate file."""
    from quem.store.archive import read_archive, restore_archive
    from quem.store.engine import clear_refusals, open_store
    from quem.store.location import locate_database

    study_id = draft.spec.id if draft.spec else ""
    rows = read_archive(text, _STORE, study_id)
    store = open_store(locate_database(draft.path, str(database)))
    try:
        with clear_refusals(store.place), store.write() as c:
            restore_archive(c, study_id, rows, _STORE)
    finally:
        store.close()
