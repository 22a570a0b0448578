"""``quem seal``, ``quem verify``, and what an analysis says of a sealed study."""

from __future__ import annotations

import json
import random
import re
from io import BytesIO
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote
from zipfile import ZipFile

import pytest

import quem
from quem.commands.verify import analysis_of
from quem.errors import FileError
from quem.exporting.crates import crate
from quem.io.packages import zipped
from quem.sealing.record import canonical, hash_of
from quem.sealing.seal import compare_with_seal
from quem.study.reading import draft_study
from tests.commands.sessions import close, hold_session
from tests.served import write_judging_study
from tests.trials import seals
from tests.trials.runner import TRIALS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Outcome = tuple[int, str, str]
SETTINGS = "analysis: {bootstrap: 0, permutations: 0}\n"
QUICK = ("--figures", "none", "--tables", "none")
# One of each sort: what is edited, replaced, removed, added, and tampered with.
NAMED = (
    *(("study", how) for how in ("setting", "years", "judge added", "ranks swapped")),
    *(("study", how) for how in ("ranking dropped", "system left out", "solution replaced")),
    *(("study", how) for how in ("statement replaced", "record edited", "record removed")),
    *(("study", how) for how in ("byte of the log", "log removed", "judge left out")),
    *(("store", how) for how in ("ranking changed in the store", "log of the store")),
    *(("archive", how) for how in ("any bit", "file removed", "file added", "comment")),
    *(("redacted", how) for how in ("any bit", "byte of a file", "file removed", "versions")),
    ("archive", "metadata of the crate"),
)


@pytest.mark.parametrize(("where", "how"), NAMED)
def test_each_change_is_named(tmp_path: Path, where: str, how: str) -> None:
    """A single change of a sealed study, its store, or its archive never goes unnoticed."""
    what, said = seals.unnoticed(random.Random(f"{where} {how}"), tmp_path, where, how)
    assert said, what


def test_the_trial_is_registered() -> None:
    """The bar counts 200 changes."""
    assert TRIALS["seals"].count == 200


def test_an_unchanged_study_has_no_deviation(tmp_path: Path) -> None:
    """What is tried above is noticed because of the change alone."""
    for in_store in (False, True):
        folder = tmp_path / str(in_store)
        seal = quem.load_study(
            seals.sealed_study(folder, in_store=in_store), kind="experience"
        ).seal
        assert seal is not None
        assert seal.headline.endswith("; no deviations")
        assert seal.texts == []


def test_a_session_is_sealed_once_and_early(
    judging_study: Path, quem_command: Callable[..., Outcome]
) -> None:
    """A second seal needs a reason and is a deviation; after the first ranking it is too late."""
    code, out, err = quem_command("seal", judging_study)
    assert code == 0
    digest = out.removeprefix("seal: ").strip()
    assert "study.seal.json" in err
    assert json.loads(judging_study.with_suffix(".seal.json").read_bytes())["study"] == "made-up"
    code, _, err = quem_command("seal", judging_study)
    assert code == 1
    assert "--again REASON" in err
    judging_study.write_text(judging_study.read_text() + SETTINGS)
    assert quem_command("seal", judging_study, "--again", "fewer replicates")[0] == 0
    hold_session(judging_study).close()
    close(judging_study)
    code, out, _ = quem_command("analyze", judging_study, "--seal", digest[:12], *QUICK)
    assert code == 0
    assert out.startswith("Sealed on ")
    assert "3 deviations:" in out.splitlines()[0]
    said = " ".join(out.split())
    assert "setting bootstrap: 2000 is now 0, before rankings were revealed" in said
    assert "(reason given: fewer replicates)" in said
    code, out, _ = quem_command("analyze", judging_study, "--json", "--seal", "00ff")
    assert "00ff was expected" in json.loads(out)["seal"]["deviations"][0]["message"]
    page = judging_study.with_name("study-report") / "report.html"
    text = page.read_text("utf-8")
    assert text.index("3 deviations") < text.index('class="kicker"')


def test_rankings_come_after_the_seal(
    judging_study: Path, quem_command: Callable[..., Outcome]
) -> None:
    """Nothing is sealed, and nothing written, where rankings are there already."""
    hold_session(judging_study).close()
    code, _, err = quem_command("seal", judging_study)
    assert code == 1
    assert "judges have started to rank" in err
    assert not judging_study.with_suffix(".seal.json").exists()
    assert not judging_study.with_suffix(".seal.log").exists()
    code, _, err = quem_command("seal", judging_study, "--again", "never sealed")
    assert code == 1
    assert "not sealed yet" in err


def test_a_folder_to_read_from_will_do(
    tmp_path: Path, quem_command: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the log cannot be written to, the study is analyzed, and a line says so."""
    study = seals.sealed_study(tmp_path, in_store=False)
    log = study.with_suffix(".seal.log")
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(lines[0])

    def refuse(*_args: object) -> None:
        raise FileError(log, "cannot be written to: Read-only file system")

    monkeypatch.setattr("quem.sealing.seal.append", refuse)
    code, out, err = quem_command("analyze", study, "--json")
    assert code == 0
    assert "not noted" in err
    assert "Read-only" in err
    assert json.loads(out)["seal"]["deviations"] == []


def test_a_lost_record_is_a_deviation_of_the_first_analysis(
    tmp_path: Path, quem_command: Callable[..., Outcome]
) -> None:
    """Nobody is kept from analyzing, and the report says that the record is missing."""
    study = seals.sealed_study(tmp_path, in_store=False)
    log = study.with_suffix(".seal.log")
    log.write_bytes(log.read_bytes().splitlines(keepends=True)[0])
    study.with_suffix(".seal.json").unlink()
    code, out, err = quem_command("analyze", study, "--json")
    assert code == 0, err
    said = [one["message"] for one in json.loads(out)["seal"]["deviations"]]
    assert any("is missing" in message for message in said)


def test_the_text_says_all(judging_study: Path, quem_command: Callable[..., Outcome]) -> None:
    """The preregistration has each part, and seals nothing."""
    code, text, _ = quem_command("seal", judging_study, "--text")
    assert code == 0
    parts = (
        "Question People Systems Problems Solutions Judges Ranking Analysis Exclusions Plan Seal"
    )
    assert [line[3:] for line in text.splitlines() if line.startswith("## ")] == parts.split()
    for said in ("- S2: 2 years", "- sys: Zeta (version 9.9)", "- level: 0.95", "S1 on P0: "):
        assert said in text
    assert not judging_study.with_suffix(".seal.json").exists()


@pytest.mark.parametrize("in_store", [False, True])
def test_an_archive_proves_itself(
    tmp_path: Path, quem_command: Callable[..., Outcome], *, in_store: bool
) -> None:
    """An archive gives the same analysis.json elsewhere, and compares the hash of the seal."""
    study = seals.sealed_study(tmp_path, in_store=in_store)
    assert quem_command("export", study, "--archive")[0] == 0
    archive = tmp_path / "study-archive.zip"
    code, out, _ = quem_command("verify", archive)
    assert code == 0
    assert "verified, nothing differs. Sealed on " in out
    digest = out.splitlines()[1].removeprefix("seal: ")
    assert quem_command("verify", archive, "--seal", digest)[0] == 0
    code, _, err = quem_command("verify", archive, "--seal", "f" * 64)
    assert code == 1
    assert "was expected" in err


def repacked(files: dict[str, bytes], study: Path, **versions: str) -> bytes:
    """Pack files of an archive as somebody would who edits them and recomputes all digests."""
    manifest = json.loads(files.pop("archive.json"))
    del files["ro-crate-metadata.json"]
    manifest["versions"] |= versions
    manifest["files"] = {name: hash_of(content) for name, content in files.items()}
    files["archive.json"] = canonical(manifest)
    spec = draft_study(study).spec
    assert spec is not None
    about = crate(
        dict(sorted(files.items())), spec, manifest["exported_on"], manifest["versions"]["quem"]
    )
    return zipped({**files, "ro-crate-metadata.json": about.encode()})


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("nothing", ""),
        ("file added", "study/extra.txt: is not a part of this study"),
        ("twin", "study/STUDY.yaml: is not a part of this study"),
        ("no first analysis", "study/study.seal.log: does not have the first analysis"),
        ("key of the manifest", "archive.json: is missing, damaged, or of another version"),
        ("numbers, other version", "is not what the analysis gives here (numpy 1.0"),
        ("version of the system, other version", "is not what the analysis gives here"),
        ("last digit, other version", "agrees to 1e-6, not to the byte: numpy 1.0"),
        ("solution", "  - solution S1 on P0: changed, after rankings were revealed"),
    ],
)
def test_recomputed_digests_hide_nothing(
    tmp_path: Path, quem_command: Callable[..., Outcome], how: str, said: str
) -> None:
    """Whoever edits an archive and recomputes its digests is found out, or leaves a deviation."""
    study = seals.sealed_study(tmp_path / "own", in_store=False)
    with ZipFile(BytesIO(seals.archive(in_store=False))) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    analysis, log = files["analysis.json"].decode(), "study/study.seal.log"
    versions = {"numpy": "1.0"} if how.endswith("other version") else {}
    number = re.search(r'"experience": (\d+\.\d{6,})', analysis)
    assert number is not None
    if how == "file added":
        files["study/extra.txt"] = b"More.\n"
    elif how == "twin":
        files["study/STUDY.yaml"] = files["study/study.yaml"]
    elif how == "no first analysis":
        files[log] = files[log].splitlines(keepends=True)[0]
        files["analysis.json"] = analysis_after(files, tmp_path)
    elif how == "key of the manifest":
        manifest = json.loads(files["archive.json"])
        files["archive.json"] = canonical({**manifest, "note": "trust me"})
    elif how == "numbers, other version":
        files["analysis.json"] = analysis.replace(number[1], f"{float(number[1]) + 1e-4}").encode()
    elif how == "last digit, other version":
        files["analysis.json"] = analysis.replace(number[1], f"{float(number[1]) + 1e-9}").encode()
    elif how == "version of the system, other version":
        assert '"version": "9.9"' in analysis
        files["analysis.json"] = analysis.replace('"version": "9.9"', '"version": "9.8"').encode()
    elif how == "solution":
        files["study/solutions/P0/S1.md"] += b"And more.\n"
        files["analysis.json"] = analysis_after(files, tmp_path)
    place = tmp_path / "made-up.zip"
    place.write_bytes(repacked(files, study, **versions))
    code, out, err = quem_command("verify", place)
    named = bool(said) and not said.startswith((" ", "agrees"))
    assert code == named, err
    assert said in out + err


def analysis_after(files: dict[str, bytes], folder: Path) -> bytes:
    """Analyze the edited study of an archive, as whoever edited it would."""
    for name, content in files.items():
        (folder / "edited" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "edited" / name).write_bytes(content)
    return analysis_of(folder / "edited/study/study.yaml", folder / "none.sqlite3")[0]


def test_files_that_overlap_are_not_unpacked(
    tmp_path: Path, quem_command: Callable[..., Outcome]
) -> None:
    """An archive that says to hold more than itself could fill the disk."""
    raw = seals.archive(in_store=False)
    at = raw.rindex(b"PK\x01\x02")
    size = (len(raw) * 2).to_bytes(4, "little")
    place = tmp_path / "overlap.zip"
    place.write_bytes(raw[: at + 20] + size * 2 + raw[at + 28 :])
    code, _, err = quem_command("verify", place)
    assert code == 1
    assert "cannot be read as an archive (its files overlap)" in err


def test_a_later_version_may_know_more(tmp_path: Path) -> None:
    """A key that an older quem did not know is no deviation while it has its default."""
    study = seals.sealed_study(tmp_path, in_store=False)
    path = study.with_suffix(".seal.json")
    record = json.loads(path.read_bytes())
    del record["contents"]["settings"]["seed"], record["contents"]["plan"]["verb"]
    del record["contents"]["plan"]["judging"]["offline"]
    del record["contents"]["solvers"]["sys"]["architecture"]
    path.write_bytes(canonical(record))
    result = quem.analyze(quem.load_study(study, kind="experience"))
    seal = result.findings.seal
    assert seal is not None
    assert [one.kind for one in seal.deviations] == ["seal"]
    study.write_text(study.read_text() + "verb: acts\n")
    changed = quem.load_study(study, kind="experience").seal
    assert changed is not None
    assert [one.name for one in changed.deviations] == ["", "verb"]


def test_another_draw_is_named(tmp_path: Path, quem_command: Callable[..., Outcome]) -> None:
    """With another nonce, other problems are drawn for experts than the seal has."""
    study = write_judging_study(tmp_path, problems=6)
    study.write_text(study.read_text() + "machine: {experts_on: {n: 3, nonce: abc}}\n")
    assert quem_command("seal", study)[0] == 0
    sealed = compare_with_seal(draft_study(study), None, {})
    assert sealed is not None
    assert sealed.texts == []
    study.write_text(study.read_text().replace("nonce: abc", "nonce: xyz"))
    changed = compare_with_seal(draft_study(study), None, {})
    assert changed is not None
    assert [(one.kind, one.when) for one in changed.deviations] == [
        ("plan", "before"),
        ("draw", "before"),
    ]


def test_an_archive_is_a_crate(tmp_path: Path, quem_command: Callable[..., Outcome]) -> None:
    """The description keeps the rules of RO-Crate 1.1: descriptor, root, and a part per file."""
    study = seals.sealed_study(tmp_path, in_store=True)
    statement = "Das Prüfen 100%.md"
    (tmp_path / "p1.md").rename(tmp_path / statement)
    study.write_text(study.read_text("utf-8").replace("p1.md", statement), "utf-8")
    assert quem_command("export", study, "--archive")[0] == 0
    assert quem_command("verify", tmp_path / "study-archive.zip")[0] == 0
    with ZipFile(tmp_path / "study-archive.zip") as archive:
        names = {*archive.namelist()}
        described = json.loads(archive.read("ro-crate-metadata.json"))
    assert described["@context"][0] == "https://w3id.org/ro/crate/1.1/context"
    assert "sha256" in described["@context"][1]
    entities = {one["@id"]: one for one in described["@graph"]}
    assert len(entities) == len(described["@graph"])
    descriptor, root = entities["ro-crate-metadata.json"], entities["./"]
    assert descriptor["@type"] == "CreativeWork"
    assert descriptor["about"] == {"@id": "./"}
    assert descriptor["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"}
    assert root["@type"] == "Dataset"
    assert all(root[key] for key in ("name", "description", "datePublished", "license"))
    parts = {one["@id"] for one in root["hasPart"]}
    assert {one["@id"] for one in described["@graph"] if one["@type"] == "File"} == parts
    assert f"study/{quote(statement)}" in parts
    parts = {unquote(one) for one in parts}
    assert parts == names - {"ro-crate-metadata.json"}
    assert {"store.jsonl", "analysis.json", "study/study.yaml", "study/study.seal.json"} < parts


def test_a_seal_that_only_the_store_knows_is_missed(
    judging_study: Path, quem_command: Callable[..., Outcome]
) -> None:
    """Whoever removes record and log leaves a deviation, as the session knows of the seal."""
    judging_study.write_text(judging_study.read_text() + SETTINGS)
    assert quem_command("seal", judging_study)[0] == 0
    hold_session(judging_study).close()
    close(judging_study)
    judging_study.with_suffix(".seal.json").unlink()
    judging_study.with_suffix(".seal.log").unlink()
    code, out, _ = quem_command("analyze", judging_study, "--json")
    assert code == 0
    said = json.loads(out)["seal"]
    assert said["headline"].startswith("Sealed, record missing")
    assert {one["kind"] for one in said["deviations"]} == {"seal", "log"}


def test_only_sealed_studies_have_archives(
    judging_study: Path, quem_command: Callable[..., Outcome], tmp_path: Path
) -> None:
    """Others are refused, as are files that are no archive."""
    judging_study.write_text(judging_study.read_text() + SETTINGS)
    hold_session(judging_study).close()
    close(judging_study)
    code, _, err = quem_command("export", judging_study, "--archive")
    assert code == 1
    assert "is not sealed" in err
    code, _, err = quem_command("verify", tmp_path / "nothing.zip")
    assert code == 1
    assert "cannot be read" in err


def test_pseudonyms_hold_in_deviations(
    tmp_path: Path, quem_command: Callable[..., Outcome]
) -> None:
    """Deviations name nobody where judges and subjects have pseudonyms."""
    study = seals.sealed_study(tmp_path, in_store=False)
    study.write_text(study.read_text().replace("id: S2, experience: 2", "id: S2, experience: 2.5"))
    code, out, _ = quem_command("analyze", study, "--json", "--pseudonyms")
    assert code == 0
    (deviation,) = json.loads(out)["seal"]["deviations"]
    assert (deviation["kind"], deviation["name"]) == ("solver", "")
