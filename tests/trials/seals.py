"""Sealed studies, and archives of them, in which a single thing was changed."""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from quem import kinds
from quem.commands.archiving import sealed_archive
from quem.commands.verify import analysis_of
from quem.errors import QuemError
from quem.exporting.sealed_archives import verify_archive
from quem.sealing.seal import note_analysis, seal_study
from quem.study.reading import draft_study
from tests.commands.sessions import close, hold_session
from tests.served import write_judging_study
from tests.trials.runner import registered

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

_SOLVERS = ("S0", "S1", "S2", "S3", "sys")
_ORDERS = {
    ("J0", "P0"): "12345",
    ("J0", "P1"): "13245",
    ("J1", "P0"): "21354",
    ("J1", "P1"): "12453",
}


@cache
def _base(*, in_store: bool) -> Path:
    """Make a sealed study that was analyzed once; gives its folder, which nobody changes."""
    folder = Path(tempfile.mkdtemp(prefix="seals-"))
    study = write_judging_study(folder, judges=3 if in_store else 2)
    more = "analysis: {bootstrap: 0, permutations: 0}\n"
    more += "" if in_store else "rankings: {from: long, file: rankings.csv}\n"
    study.write_text(study.read_text("utf-8") + more, "utf-8")
    seal_study(draft_study(study))
    if in_store:
        hold_session(study).close()
        close(study)
    else:
        lines = ["judge,problem,solver,rank"]
        for (judge, problem), ranks in _ORDERS.items():
            lines += [f"{judge},{problem},{s},{r}" for s, r in zip(_SOLVERS, ranks, strict=True)]
        (folder / "rankings.csv").write_text("\n".join(lines) + "\n", "utf-8")
    note_analysis(draft_study(study))
    return folder


def sealed_study(folder: Path, *, in_store: bool) -> Path:
    """Copy the sealed study into a folder; gives its study file."""
    shutil.copytree(_base(in_store=in_store), folder, dirs_exist_ok=True)
    return folder / "study.yaml"


@cache
def archive(*, in_store: bool, without_names: bool = False) -> bytes:
    """Give the archive of the sealed study."""
    study = _base(in_store=in_store) / "study.yaml"
    return sealed_archive(study, without_names=without_names)


def _replaced(old: str, new: str, name: str = "study.yaml") -> Callable[[Path, random.Random], str]:
    def change(folder: Path, _: random.Random) -> str:
        path = folder / name
        text = path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), "utf-8")
        return f"{old!r} to {new!r} in {name}"

    return change


def _flipped(*patterns: str) -> Callable[[Path, random.Random], str]:
    def change(folder: Path, rng: random.Random) -> str:
        path = rng.choice(sorted(p for pattern in patterns for p in folder.glob(pattern)))
        raw = bytearray(path.read_bytes())
        place = rng.randrange(len(raw))
        raw[place] ^= 1 << rng.randrange(8)
        path.write_bytes(raw)
        return f"bit of byte {place} of {path.name}"

    return change


def _removed(*patterns: str) -> Callable[[Path, random.Random], str]:
    def change(folder: Path, rng: random.Random) -> str:
        path = rng.choice(sorted(p for pattern in patterns for p in folder.glob(pattern)))
        path.unlink()
        return path.name

    return change


def _line_gone(name: str) -> Callable[[Path, random.Random], str]:
    def change(folder: Path, rng: random.Random) -> str:
        lines = (folder / name).read_text("utf-8").splitlines()
        # Without its last line the log is one that was true once: only the archive shows that.
        last = len(lines) - (1 if name.endswith(".log") else 0)
        gone = lines.pop(rng.randrange(0 if name.endswith(".log") else 1, last))
        (folder / name).write_text("\n".join(lines) + "\n", "utf-8")
        return gone[:60]

    return change


def _swapped(folder: Path, rng: random.Random) -> str:
    path = folder / "rankings.csv"
    rows = [line.split(",") for line in path.read_text("utf-8").splitlines()]
    first = 1 + 5 * rng.randrange(4)
    one, other = rng.sample(range(first, first + 5), 2)
    rows[one][3], rows[other][3] = rows[other][3], rows[one][3]
    path.write_text("\n".join(map(",".join, rows)) + "\n", "utf-8")
    return f"ranks of lines {one} and {other}"


def _added(name: str, text: str) -> Callable[[Path, random.Random], str]:
    def change(folder: Path, _: random.Random) -> str:
        path = folder / name
        before = path.read_text("utf-8") if path.exists() else ""
        path.write_text(before + text, "utf-8")
        return f"{text[:40]!r} in {name}"

    return change


def _record(folder: Path, rng: random.Random) -> str:
    path = folder / "study.seal.json"
    record = json.loads(path.read_text("utf-8"))
    part = rng.choice(["settings", "solvers", "problems", "plan"])
    name = rng.choice(sorted(record["contents"][part]))
    record["contents"][part][name] = "another"
    path.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", "utf-8")
    return f"{part} {name}"


def _plan(folder: Path, _: random.Random) -> str:
    (folder / "study-plan").mkdir()
    (folder / "study-plan/analysis.json").write_text("{}\n", "utf-8")
    return "study-plan"


STUDY: dict[str, Callable[[Path, random.Random], str]] = {
    "setting": _replaced("bootstrap: 0,", "bootstrap: 0, level: 0.9,"),
    "seed": _replaced("bootstrap: 0,", "bootstrap: 0, seed: 7,"),
    "years": _replaced("id: S2, experience: 2", "id: S2, experience: 2.5"),
    "title": _replaced("title: Made up", "title: Made"),
    "unit": _replaced("experience_unit: years", "experience_unit: months"),
    "version of the system": _replaced("'9.9'", "'9.8'"),
    "withheld": _added("study.yaml", "withheld: [W]\n"),
    "missing": _added("study.yaml", "missing: [{problem: P0, solver: S9}]\n"),
    "subject left out": _replaced("  - {id: S1, experience: 1}\n", ""),
    "system left out": _replaced("systems:\n  - {id: sys, name: Zeta, version: '9.9'}\n", ""),
    "subject added": _replaced("systems:", "  - {id: S8, experience: 9}\nsystems:"),
    "judge added": _replaced("subjects:", "  - {id: J7, name: Judge 7}\nsubjects:"),
    "judge left out": _replaced("  - {id: J1, name: Judge 1}\n", ""),
    "years of a judge": _replaced("id: J1,", "id: J1, experience: 4,"),
    "statement's name": _replaced("statement: p1.md", "statement: p0.md"),
    "ranks swapped": _swapped,
    "ranking dropped": _line_gone("rankings.csv"),
    "ranking added": _added("rankings.csv", "J9,P0,S1,1\n"),
    "byte of rankings": _flipped("rankings.csv"),
    "rankings removed": _removed("rankings.csv"),
    "byte of a solution": _flipped("solutions/*/*.md"),
    "solution replaced": _added("solutions/P0/S1.md", "And more.\n"),
    "solution removed": _removed("solutions/*/*.md"),
    "statement replaced": _added("p0.md", "Be brief.\n"),
    "byte of a statement": _flipped("p?.md"),
    "record edited": _record,
    "byte of the record": _flipped("study.seal.json"),
    "record removed": _removed("study.seal.json"),
    "byte of the log": _flipped("study.seal.log"),
    "line of the log removed": _line_gone("study.seal.log"),
    "line added to the log": _added("study.seal.log", "{}\n"),
    "log removed": _removed("study.seal.log"),
    "record added": _added("study.seal-2.json", "{}\n"),
    "plan added": _plan,
}


def _sql(*statements: str) -> Callable[[Path, random.Random], str]:
    def change(folder: Path, rng: random.Random) -> str:
        statement = rng.choice(statements)
        connection = sqlite3.connect(folder / "study.sqlite3")
        with connection:
            assert connection.execute(statement).rowcount
        connection.close()
        return statement

    return change


IN_STORE: dict[str, Callable[[Path, random.Random], str]] = {
    "ranking changed in the store": _sql(
        "UPDATE revision SET state = replace(state, 'S3', 'S0') WHERE number = 2",
        "UPDATE revision SET made_at = '2020-01-01 00:00:00' WHERE number = 2",
        "UPDATE revision SET client = 'tab-87654321' WHERE number = 1",
        "UPDATE revision SET change = change + 1 WHERE number = 1",
    ),
    "ranking removed from the store": _sql("DELETE FROM revision WHERE number = 2"),
    "log of the store": _sql(
        "UPDATE event SET actor = 'dashboard'",
        "DELETE FROM event WHERE what = 'closed'",
        "UPDATE event SET detail = '{}' WHERE what = 'study-sealed'",
        "DELETE FROM event WHERE what = 'study-sealed'",
    ),
    "judge renamed in the store": _sql("UPDATE judge SET id = 'J8' WHERE id = 'J1'"),
    "layout of the store": _sql("UPDATE layout SET items = replace(items, 'S1', 'S9')"),
    "study opened in the store": _sql("UPDATE study SET state = 'open'"),
    "setting": STUDY["setting"],
    "byte of a solution": STUDY["byte of a solution"],
}


def _without(files: dict[str, bytes], rng: random.Random) -> str:
    name = rng.choice(sorted(files))
    del files[name]
    return name


def _with_more(files: dict[str, bytes], rng: random.Random) -> str:
    name = rng.choice(["study/more.txt", "more.json", "study/solutions/P0/S9.md"])
    files[name] = b"{}"
    return name


def _with_bit(files: dict[str, bytes], rng: random.Random) -> str:
    name = rng.choice(sorted(files))
    content = bytearray(files[name])
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    files[name] = bytes(content)
    return name


def _emptied(files: dict[str, bytes], rng: random.Random) -> str:
    name = rng.choice(sorted(files))
    files[name] = b""
    return name


def _in_crate(files: dict[str, bytes], rng: random.Random) -> str:
    name = "ro-crate-metadata.json"
    old, new = rng.choice([(b"Made up", b"Made"), (b"quem export", b"quem"), (b"1.1", b"1.2")])
    files[name] = files[name].replace(old, new, 1)
    return name


def _in_manifest(files: dict[str, bytes], _: random.Random) -> str:
    files["archive.json"] = files["archive.json"].replace(b'"quem": "', b'"quem": "9.', 1)
    return "archive.json"


_CONTENTS = {
    "file removed": _without,
    "file added": _with_more,
    "byte of a file": _with_bit,
    "file emptied": _emptied,
    "metadata of the crate": _in_crate,
    "versions": _in_manifest,
}
_PACKING: dict[str, dict[str, Any]] = {
    "files reordered": {"first": 1},
    "comment": {"comment": b"a comment"},
    "compressed": {"kind": ZIP_DEFLATED},
    "times": {"date": (2026, 1, 1, 0, 0, 0)},
    "permissions": {"mode": 0o755},
}


def _packed(
    files: dict[str, bytes],
    *,
    first: int = 0,
    comment: bytes = b"",
    kind: int = ZIP_STORED,
    date: tuple[int, int, int, int, int, int] = (1980, 1, 1, 0, 0, 0),
    mode: int = 0o644,
) -> bytes:
    """Write files as an archive does, but for what is given."""
    new = BytesIO()
    with ZipFile(new, "w", kind) as packed:
        packed.comment = comment
        names = sorted(files)
        for name in names[first:] + names[:first]:
            info = ZipInfo(name, date)
            info.create_system, info.external_attr, info.compress_type = 3, mode << 16, kind
            packed.writestr(info, files[name])
    return new.getvalue()


_OF_BYTES = ("any bit", "cut off", "bytes behind", "bytes before")
ARCHIVE = (*_CONTENTS, *_PACKING, *_OF_BYTES)


def mutated(raw: bytes, rng: random.Random, how: str) -> tuple[bytes, str]:
    """Change one thing of an archive; gives it, and what it was."""
    if how not in _OF_BYTES:
        with ZipFile(BytesIO(raw)) as old:
            files = {info.filename: old.read(info) for info in old.infolist()}
        assert _packed(files) == raw
        what = _CONTENTS[how](files, rng) if how in _CONTENTS else how
        return _packed(files, **_PACKING.get(how, {})), what
    place = rng.randrange(len(raw))
    if how == "any bit":
        changed = bytearray(raw)
        changed[place] ^= 1 << rng.randrange(8)
        return bytes(changed), f"byte {place}"
    if how == "cut off":
        return raw[:place], f"at byte {place}"
    more = rng.randbytes(1 + rng.randrange(30))
    return (raw + more if how == "bytes behind" else more + raw), f"{len(more)} bytes"


def unnoticed(rng: random.Random, folder: Path, where: str, how: str) -> tuple[str, str]:
    """Change one thing; gives what it was, and what was said of it: nothing if unnoticed."""
    if where in ("archive", "redacted"):
        whole = archive(in_store=rng.random() < 0.5, without_names=where == "redacted")
        raw, what = mutated(whole, rng, how)
        found = verify_archive(raw, "study-archive.zip", analysis_of)
        return what, "\n".join(map(str, found.differences))
    study = sealed_study(folder, in_store=where == "store")
    what = (IN_STORE if where == "store" else STUDY)[how](folder, rng)
    try:
        seal = kinds.load_study(study, kind="experience").seal
    except QuemError as error:
        return what, str(error)
    assert seal is not None
    return what, "\n".join(seal.texts)


_ALL = (
    *(("study", how) for how in STUDY),
    *(("store", how) for how in IN_STORE),
    # Twice, as one change of an archive can be at many places.
    *((where, how) for where in ("archive", "redacted") for how in ARCHIVE * 2),
)


@registered("seals", count=200)
def seals(rng: random.Random, folder: Path) -> dict[str, Any]:
    """One change of a sealed study, its store, or its archive, is named."""
    where, how = rng.choice(_ALL)
    what, said = unnoticed(rng, folder, where, how)
    assert said, f"{where}, {how} ({what}): went unnoticed"
    return {"where": where, "how": how, "what": what, "said": said[:400]}
