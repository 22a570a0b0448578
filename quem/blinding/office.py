"""Office files as judges receive them: cleaned, converted once, and cached.

A document becomes a PDF, whose pages `quem.blinding.pages` draws, and a workbook becomes tables.
All are converted together before judging; no request waits for a conversion.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from quem.blinding.cache import SizedCache, cache_folder, trim, write_whole
from quem.blinding.packages import Cleaned
from quem.blinding.workers import RefusedError, parser
from quem.errors import FileError, Mistake
from quem.solutions.model import SolutionFile, file_digest, signature

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from quem.blinding.workbooks import Table


# Part of the cache's key: a change of the cleaning invalidates cached files.
_RECIPE = 3
_LIBRARIES = ("lxml", "openpyxl", "pikepdf", "pypdfium2")
_EXTRA = (
    "is read by lxml and openpyxl, and drawn by pikepdf and pypdfium2; pip install 'quem[office]'"
)
_RTF = (
    "is RTF, which LibreOffice opens before it is cleaned, and so only without network; save it "
    "as DOCX"
)
_NOT_YET = "is not converted yet; try again in a minute"
_MOST_KEPT = 32_000_000
_NO_OFFICE = "none"
_INDEX = "office.json"
_PDF = "document.pdf"


@dataclass(frozen=True)
class Converted:
    """What judges receive of a file, and what is withheld."""

    entries: dict[str, str]  # the file's metadata, which is removed
    # Content that a reader of the file may see and judges do not, with counts.
    lost: dict[str, int]
    tables: tuple[Table, ...] = ()  # of a workbook
    pdf: Path | None = None  # pages of a document, or of the drawn sheets


_cache: SizedCache[object, Converted] = SizedCache(_MOST_KEPT)
# Entries whose conversion failed, which is not repeated.
_failed: SizedCache[str, str] = SizedCache(1_000)


def read_office(file: SolutionFile) -> Converted:
    """The cached conversion of a document or workbook."""
    try:
        key = file.path, signature(file.path), file.keep_headers
        known = _cache.get(key)
        if known and (known.pdf is None or known.pdf.is_file()):
            return known
        entry = _entry(file)
        found = json.loads((entry / _INDEX).read_text(encoding="utf-8"))
        with suppress(OSError):
            os.utime(entry)
    except FileNotFoundError:
        raise FileError(file.path, _NOT_YET) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(file.path, f"cannot be read: {reason}") from None
    from quem.blinding.workbooks import Table

    tables = tuple(Table(**table) for table in found["tables"])
    pdf = entry / _PDF
    if found["pdf"] and not pdf.is_file():
        raise FileError(file.path, _NOT_YET)
    path = pdf if found["pdf"] else None
    made = Converted(found["entries"], found["lost"], tables, path)
    _cache.put(key, made, 1_000 + sum(len(table.html) for table in tables))
    return made


def prepare(
    files: Iterable[SolutionFile],
    *,
    sandboxed: bool = True,
    tell: Callable[[int, int], object] = lambda _done, _all: None,
) -> list[Mistake]:
    """Convert all documents and workbooks that are not in the cache."""
    wanted = [file for file in dict.fromkeys(files) if file.kind in ("office", "workbook")]
    if not wanted:
        return []
    if not all(find_spec(name) for name in _LIBRARIES):
        return _by_format(wanted, _EXTRA)
    with _alone():
        waiting, mistakes = [], []
        for file in wanted:
            try:
                entry = _entry(file)
                if known := _failed.get(entry.name):
                    mistakes.append(Mistake(file.name, message=known))
                elif not _is_there(entry):
                    waiting.append(file)
            except OSError as error:
                message = f"cannot be read: {error.strerror or error}"
                mistakes.append(Mistake(file.name, message=message))
        return mistakes + _Preparation(waiting, sandboxed=sandboxed, tell=tell).run()


def await_conversion(files: Iterable[SolutionFile]) -> bool:
    """Whether any document or workbook is still to be converted."""
    for file in files:
        if file.kind in ("office", "workbook"):
            with suppress(OSError):
                entry = _entry(file)
                if not _is_there(entry) and not _failed.get(entry.name):
                    return True
    return False


def clean(file: SolutionFile) -> Cleaned:
    """An office file without metadata, as LibreOffice receives it."""
    form = file.path.suffix[1:].casefold()
    if form == "rtf":
        # Only LibreOffice reads its commands, and returns a document to clean.
        return Cleaned(file.path.read_bytes())
    return _clean_package(file, file.path.read_bytes())


def _clean_package(file: SolutionFile, content: bytes) -> Cleaned:
    answer, made = _parsed(file, "clean_package", content, keep_headers=file.keep_headers)
    return TypeAdapter(Cleaned).validate_python({**answer, "content": made})


def _tables_of(file: SolutionFile, content: bytes) -> list[Table]:
    from quem.blinding.workbooks import Table

    answer, _ = _parsed(file, "tables_of", content)
    return TypeAdapter(list[Table]).validate_python(answer["tables"])


def _parsed(
    file: SolutionFile,
    do: str,
    content: bytes,
    **request: Any,  # noqa: ANN401  JSON
) -> tuple[dict[str, Any], bytes]:
    """Have a confined process parse a package."""
    try:
        return parser.parsed(do, content, **request)
    except RefusedError as error:
        raise FileError(file.path, str(error)) from None


@contextmanager
def _alone() -> Iterator[None]:
    """Lock out other processes of the server, so that each file is converted once."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with (cache_folder("work") / "lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _entry(file: SolutionFile) -> Path:
    """The cache folder of a file."""
    from quem.blinding.libreoffice import find_office, office_version

    version = office_version() if find_office() else _NO_OFFICE
    headers = "-headers" if file.keep_headers else ""
    form = file.path.suffix[1:].casefold()
    name = f"{file_digest(file.path)}-{form}-{_RECIPE}-{version}{headers}"
    return cache_folder("office") / name


def _is_there(entry: Path) -> bool:
    try:
        index = json.loads((entry / _INDEX).read_text(encoding="utf-8"))
        return not index["pdf"] or (entry / _PDF).is_file()
    except (OSError, ValueError, KeyError):
        return False


def _by_format(files: Iterable[SolutionFile], message: str) -> list[Mistake]:
    """One error for each format, at its first file."""
    by_form: defaultdict[str, list[SolutionFile]] = defaultdict(list)
    for file in files:
        by_form[file.path.suffix.casefold()].append(file)
    mistakes = []
    for form, some in by_form.items():
        more = len(some) - 1
        others = f" (and {more} more {form} file{'s' if more > 1 else ''})" if more else ""
        mistakes.append(Mistake(f"{some[0].name}{others}", message=message))
    return mistakes


@dataclass
class _Preparation:
    """The conversion of one batch of files."""

    files: list[SolutionFile]
    sandboxed: bool
    tell: Callable[[int, int], object]
    mistakes: list[Mistake] = field(default_factory=list)
    cleaned: dict[SolutionFile, Cleaned] = field(default_factory=dict)
    made: dict[SolutionFile, dict[str, Any]] = field(default_factory=dict)
    pdfs: dict[SolutionFile, bytes] = field(default_factory=dict)
    reported: int = -1

    def run(self) -> list[Mistake]:
        """Convert all files and return the errors."""
        if not self.files:
            return []
        self._report(0)
        for file in self._ready():
            self._try(file, self._clean)
        self._open_first()
        for file in list(self.cleaned):
            self._try(file, self._read)
        self._draw()
        for file in list(self.made):
            self._try(file, self._keep)
        self._report(len(self.files))
        return self.mistakes

    def _report(self, done: int) -> None:
        """Report progress if more files are converted than before."""
        done = min(done, len(self.files))
        if done > self.reported:
            self.reported = done
            self.tell(done, len(self.files))

    def _ready(self) -> list[SolutionFile]:
        """The files for which this system has the required programs."""
        from quem.blinding.libreoffice import INSTALL, NO_SANDBOX, find_office, is_sandboxed

        if not find_office():
            # Stored results can be shown without them.
            xlsx = [file for file in self.files if _form(file) == "xlsx"]
            others = [file for file in self.files if file not in xlsx]
            self.mistakes += _by_format(others, f"is converted by {INSTALL}")
            return xlsx
        if self.sandboxed and not is_sandboxed():
            self.mistakes += _by_format(self.files, NO_SANDBOX)
            return []
        if not self.sandboxed:
            rtf = [file for file in self.files if _form(file) == "rtf"]
            self.mistakes += _by_format(rtf, _RTF)
            return [file for file in self.files if file not in rtf]
        return self.files

    def _try(self, file: SolutionFile, step: Callable[[SolutionFile], None]) -> None:
        try:
            step(file)
        except FileError as error:
            self._fail(file, error.message)
        except OSError as error:
            self._fail(file, f"cannot be read: {error.strerror or error}")

    def _fail(self, file: SolutionFile, message: str) -> None:
        self.mistakes.append(Mistake(file.name, message=message))
        self.cleaned.pop(file, None)
        self.made.pop(file, None)
        with suppress(OSError):
            _failed.put(_entry(file).name, message, 1)

    def _clean(self, file: SolutionFile) -> None:
        self.cleaned[file] = clean(file)

    def _open_first(self) -> None:
        """Have LibreOffice open files that only it reads, or whose formulas it has to compute."""
        from quem.blinding.libreoffice import find_office

        asked: dict[str, list[SolutionFile]] = {"docx": [], "xlsx": []}
        for file in list(self.cleaned) if find_office() else ():
            form = _form(file)
            if form == "rtf":
                asked["docx"].append(file)
            elif form == "ods" or (form == "xlsx" and self._lacks_results(file)):
                asked["xlsx"].append(file)
        for target, files in asked.items():
            for file, content in self._converted(files, target).items():
                self._try(file, partial(self._again, content=content, form=target))

    def _lacks_results(self, file: SolutionFile) -> bool:
        try:
            tables = _tables_of(file, self.cleaned[file].content)
        except FileError as error:
            self._fail(file, error.message)
            return False
        return any(table.formulas for table in tables)

    def _again(self, file: SolutionFile, content: bytes, form: str) -> None:
        """Clean LibreOffice's output like an untrusted file."""
        again = _clean_package(file, content)
        known = self.cleaned[file]
        entries = {**known.entries, **(again.entries if form == "docx" else {})}
        self.cleaned[file] = Cleaned(again.content, entries, {**again.lost, **known.lost})

    def _converted(self, files: list[SolutionFile], target: str) -> dict[SolutionFile, bytes]:
        """Convert cleaned contents; failures are noted."""
        from quem.blinding.libreoffice import convert

        opened = {"rtf": "rtf", "ods": "ods", "odt": "odt", "odp": "odp", "pptx": "pptx"}
        contents, names = {}, {}
        for number, file in enumerate(files):
            form = opened.get(_form(file), "xlsx" if file.kind == "workbook" else "docx")
            if target == "pdf":
                form = {"rtf": "docx", "ods": "xlsx"}.get(form, form)
            name = f"{number}.{form}"
            names[name], contents[name] = file, self.cleaned[file].content
        if not contents:
            return {}
        done = len(self.files) - len(files)
        results = convert(
            contents,
            target,
            sandboxed=self.sandboxed,
            tell=lambda count: self._report(done + count) if target == "pdf" else None,
        )
        converted = {}
        for name, result in results.items():
            if isinstance(result, str):
                self._fail(names[name], result)
            else:
                converted[names[name]] = result
        return converted

    def _read(self, file: SolutionFile) -> None:
        """Read the tables of a workbook, and find sheets with charts or pictures."""
        from quem.blinding.libreoffice import find_office

        known = self.cleaned[file]
        made: dict[str, Any] = {"entries": known.entries, "lost": known.lost, "tables": []}
        made["pdf"] = file.kind == "office"
        if file.kind == "workbook":
            tables = _tables_of(file, known.content)
            drawn = [table.name for table in tables if table.drawn]
            if not drawn and not any(table.html for table in tables):
                message = "is empty: no visible sheet has a value; put the solution into it"
                raise FileError(file.path, message)
            made["tables"] = [asdict(table) for table in tables]
            if drawn and find_office():
                made["pdf"] = True
                _, known.content = _parsed(file, "sheets_to_print", known.content, names=drawn)
        self.made[file] = made

    def _draw(self) -> None:
        """Turn documents, and sheets with charts, into PDFs."""
        files = [file for file, made in self.made.items() if made["pdf"]]
        self.pdfs = self._converted(files, "pdf")

    def _keep(self, file: SolutionFile) -> None:
        """Write conversions into the cache if they can be drawn."""
        entry = _entry(file)
        entry.mkdir(mode=0o700, exist_ok=True)
        if file in self.pdfs:
            pdf = entry / _PDF
            write_whole(pdf, self.pdfs[file])
            _draw_first(file, pdf)
        write_whole(entry / _INDEX, json.dumps(self.made[file]).encode())
        trim(entry.parent, entry.name)


def _form(file: SolutionFile) -> str:
    return file.path.suffix[1:].casefold()


def _draw_first(file: SolutionFile, pdf: Path) -> None:
    """Read the pages of a conversion: a PDF that cannot be drawn is an error of its file."""
    from quem.blinding.pdf import read_pdf

    try:
        read_pdf(pdf)
    except FileError as error:
        pdf.unlink(missing_ok=True)
        raise FileError(file.path, error.message.replace("is a ", "becomes a ", 1)) from None
