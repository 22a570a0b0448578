"""``quem export --archive --redacted``: nobody is named, and the seal still holds."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from io import BytesIO
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest

from quem.errors import FileError
from quem.sealing.record import canonical, hash_of_record, hidden, parsed, record_of, token
from quem.store.events import record
from quem.store.judges import add_judge, erase_judge, judges_of
from quem.store.reviewing import note_decisions
from quem.store.state import State
from quem.study.reading import draft_study, read_study
from tests.commands.sessions import close, hold_session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Outcome = tuple[int, str, str]
    Command = Callable[..., Outcome]

JUDGES = {"Ada-Lovelace": "judge-1", "b.pascal": "judge-2", "Émilie": "judge-3"}
PEOPLE = {"Zuse": "person-1", "hopper": "person-2", "Turing": "person-3", "Noether": "person-4"}
SOLVERS = (*PEOPLE, "sys")
SAID = ("Countess", "Blaise", "Marquise", "Amazing Grace", "grace@", "Northgate", "Secretly")
STUDY = """
id: named
title: What hopper and Ada-Lovelace did
description: Amazing Grace took part.
organizer: {{name: Secretly Somebody, email: grace@example.org}}
organizers: [{{id: Secretly, name: Secretly}}]
problems: [{{id: P0, title: First, statement: p0.md}}, {{id: P1, title: Second}}]
judges:
  - {{id: Ada-Lovelace, name: Countess, address: Countess A., experience: 9}}
  - {{id: b.pascal, name: Blaise, email: grace@example.org}}
  - {{id: Émilie, name: Marquise}}
subjects:
  - {{id: Zuse, experience: 1}}
  - {{id: hopper, name: Amazing Grace, experience: 2}}
  - {{id: Turing, experience: 4}}
  - {{id: Noether, experience: 6}}
systems: [{{id: sys, name: Zeta, version: "1"}}]
judging:
  identity_words: [Northgate]
  reviewed: [{{problem: P0, solver: Zuse, words: Northgate, decision: redact}}]
analysis: {{bootstrap: 50, permutations: 50}}
{rankings}
"""


def named_study(folder: Path, *, rankings: str = "") -> Path:
    """Write a study that names people wherever it can."""
    (folder / "p0.md").write_text("As Secretly asked.\n", encoding="utf-8")
    for problem in ("P0", "P1"):
        for solver in SOLVERS:
            path = folder / "solutions" / problem / f"{solver}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"By Northgate, {solver}.\n", encoding="utf-8")
    path = folder / "study.yaml"
    path.write_text(STUDY.format(rankings=rankings), encoding="utf-8")
    return path


def renamed(text: str) -> str:
    """Put new names for old ones."""
    for old, new in {**JUDGES, **PEOPLE}.items():
        text = text.replace(old, new)
    return text


def names_in(raw: bytes) -> list[str]:
    """Give the names that an archive holds, in whatever file or file name."""
    with ZipFile(BytesIO(raw)) as archive:
        texts = [archive.read(name).decode() + name for name in archive.namelist()]
    words = (*JUDGES, *PEOPLE, *SAID)
    return [word for word in words for text in texts if re.search(rf"\b{re.escape(word)}", text)]


def archives(quem_command: Command, study: Path) -> tuple[bytes, bytes]:
    """Write a study with names and without."""
    for more in ((), ("--redacted",)):
        code, _, err = quem_command("export", study, "--archive", *more)
        assert code == 0, err
    return tuple(  # type: ignore[return-value]
        study.with_name(f"study-{kind}.zip").read_bytes() for kind in ("archive", "redacted")
    )


@pytest.mark.parametrize("in_store", [True, False])
def test_nobody_is_named_and_all_else_is_the_same(
    quem_command: Command, tmp_path: Path, *, in_store: bool
) -> None:
    """Names, ids, and words are gone; hash and analysis are those of the study."""
    wide = "rankings: {from: wide, file: wide.csv}"
    study = named_study(tmp_path, rankings="" if in_store else wide)
    code, out, _ = quem_command("seal", study)
    assert code == 0
    seal = out.split()[-1]
    if in_store:
        first = State(ranked=tuple((solver,) for solver in reversed(SOLVERS)))
        second = replace(
            first,
            ranked=(("sys",), ("Noether", "Turing"), ("hopper",)),
            cannot={"Zuse": "written by Zuse, says Countess"},
            comments={"sys": "Secretly bad"},
            recognized=("hopper",),
            comment="ask Blaise",
        )
        states = (first, second, first)
        hold_session(study, solvers=SOLVERS, states=states).close()
        close(study)
    else:
        header = ",".join(f"{judge}:{problem}" for judge in JUDGES for problem in ("P0", "P1"))
        rows = [f"{s},{n},{n},{n},{6 - n},{n},{n}" for n, s in enumerate(SOLVERS, 1)]
        text = "\n".join([f"solver,{header}", *rows])
        (tmp_path / "wide.csv").write_text(text, encoding="utf-8")
    whole, redacted = archives(quem_command, study)
    assert set(names_in(whole)) >= {*JUDGES, *PEOPLE, "Northgate", "Amazing Grace"}
    assert names_in(redacted) == []
    with ZipFile(BytesIO(whole)) as one, ZipFile(BytesIO(redacted)) as other:
        analyses = [json.loads(archive.read("analysis.json")) for archive in (one, other)]
        record = json.loads(other.read("study/study.seal.json"))
        assert "secret" not in record
    titles = [made["study"].pop("title") for made in analyses]
    assert titles == [
        "What hopper and Ada-Lovelace did",
        "What person-2 and judge-1 did",
    ]
    assert json.loads(renamed(json.dumps(analyses[0], ensure_ascii=False))) == analyses[1]
    assert analyses[1]["seal"]["hash"] == seal
    assert analyses[1]["seal"]["headline"].endswith("; no deviations")
    for kind in ("archive", "redacted"):
        place = study.with_name(f"study-{kind}.zip")
        code, out, err = quem_command("verify", place, "--seal", seal[:12])
        assert code == 0, err
        assert "no deviations" in out
        assert ("copy without names" in err) == (kind == "redacted")
    code, _, err = quem_command("verify", study.with_name("study-redacted.zip"), "--seal", "0" * 9)
    assert code == 1
    assert "was expected" in err


def test_deviations_are_in_the_copy_too(quem_command: Command, tmp_path: Path) -> None:
    """What is not as it was sealed is named under the new names, also where words are hidden."""
    study = named_study(tmp_path, rankings="rankings: ranks.csv")
    assert quem_command("seal", study)[0] == 0
    rows = [
        f"{judge},{problem},{solver},{n}"
        for judge in JUDGES
        for problem in ("P0", "P1")
        for n, solver in enumerate(SOLVERS, 1)
    ]
    (tmp_path / "ranks.csv").write_text("\n".join(["judge,problem,solver,rank", *rows]), "utf-8")
    text = study.read_text("utf-8")
    study.write_text(
        text.replace("experience: 4", "experience: 5")
        .replace("[Northgate]", "[Southgate]")
        .replace("Amazing Grace took", "Grace took"),
        encoding="utf-8",
    )
    (tmp_path / "solutions/P1/hopper.md").write_text("By Northgate, again.\n", encoding="utf-8")
    assert quem_command("seal", study, "--again", "hopper asked")[0] == 0
    whole, redacted = archives(quem_command, study)
    assert names_in(redacted) == []
    seals = []
    for raw in (whole, redacted):
        with ZipFile(BytesIO(raw)) as archive:
            seals.append(json.loads(archive.read("analysis.json"))["seal"])
    of = [[(d["kind"], renamed(d["name"]), d["when"]) for d in s["deviations"]] for s in seals]
    assert of[0] == of[1]
    assert ("solver", "person-3", "before") in of[1]
    assert ("solution", "person-2 on P1", "before") in of[1]
    assert {name for kind, name, _ in of[1] if kind == "plan"} == {"description", "judging"}
    reasons = {d["reason"] for d in seals[1]["deviations"]} - {""}
    assert reasons == {"redacted"}


def test_events_and_latecomers_name_nobody(quem_command: Command, tmp_path: Path) -> None:
    """What happened in the session is there without words, also of those whom no seal names."""
    study = named_study(tmp_path)
    assert quem_command("seal", study)[0] == 0
    ranked = State(ranked=tuple((solver,) for solver in reversed(SOLVERS)))
    store = hold_session(study, solvers=SOLVERS, states=[ranked] * 3)
    reviewed = read_study(study).judging.reviewed
    with store.write() as c:
        note_decisions(c, "named", "organizer:Secretly", reviewed)
        changed = ["hopper on P0 is new for Émilie, says Amazing Grace"]
        record(c, "named", "server", "study-changed", effects=changed)
        record(c, "named", "organizer:Secretly-gone", "backup", file="Northgate.sqlite3", rows=3)
        record(c, "named", "shell", "organizer-removed", whom="Secretly-gone")
        add_judge(c, "named", "Marquise-late", "Marquise", None, "organizer:Secretly")
        (pascal,) = (one for one in judges_of(c, "named") if one.id == "b.pascal")
        erase_judge(c, pascal, "shell")
    store.close()
    close(study)
    whole, redacted = archives(quem_command, study)
    assert {"Northgate", "Amazing Grace", "Marquise", "Secretly"} <= {*names_in(whole)}
    assert names_in(redacted) == []
    with ZipFile(BytesIO(redacted)) as archive:
        rows = [json.loads(line) for line in archive.read("store.jsonl").splitlines()]
    events = [row for row in rows if row.get("table") == "event"]
    assert {"words-redacted", "study-changed", "backup", "judge-added"} <= {
        one["what"] for one in events
    }
    assert [one["detail"]["rows"] for one in events if one["what"] == "backup"] == [3]
    for kind in ("archive", "redacted"):
        code, _, err = quem_command("verify", study.with_name(f"study-{kind}.zip"))
        assert code == 0, err


def test_names_cannot_be_tried_out_on_the_log(quem_command: Command, tmp_path: Path) -> None:
    """The log has no plain digest of the table, whose ranks a copy shows."""
    study = named_study(tmp_path, rankings="rankings: by-Countess.csv")
    assert quem_command("seal", study)[0] == 0
    table = tmp_path / "by-Countess.csv"
    rows = [f"{j},{p},{s},{n}" for j in JUDGES for p in ("P0", "P1") for n, s in enumerate(SOLVERS)]
    table.write_text(
        "\n".join(["judge,problem,solver,rank", *rows]).replace(",0\n", ",5\n"), "utf-8"
    )
    _, redacted = archives(quem_command, study)
    with ZipFile(BytesIO(redacted)) as archive:
        log = archive.read("study/study.seal.log").decode()
    assert '"analyzed"' in log
    assert "Countess" not in log
    assert hashlib.sha256(table.read_bytes()).hexdigest() not in log
    table.write_text(table.read_text("utf-8").replace("Zuse,5", "Zuse,4"), "utf-8")
    code, out, _ = quem_command("analyze", study, "--json")
    assert code == 0
    (deviation,) = json.loads(out)["seal"]["deviations"]
    assert (deviation["kind"], deviation["name"]) == ("ranking", "by-Countess.csv")


def test_nobody_is_slipped_into_the_record_of_a_copy(tmp_path: Path) -> None:
    """Somebody who has the token of another person would change no hash, and is refused."""
    made = record_of(draft_study(named_study(tmp_path)), "2027-03-02T09:00:00Z")
    secret = made.pop("secret")
    solvers = made["contents"]["solvers"]
    copy = {**made, "tokens": {one: token(secret, one) for one in (*JUDGES, *PEOPLE)}}
    texts = {
        f"{'.'.join(path)} {json.dumps(value, ensure_ascii=False, sort_keys=True)}"
        for path, value in hidden(made["contents"]["plan"])
    }
    copy["tokens"] |= {text: token(secret, text) for text in texts}
    assert hash_of_record(copy) == hash_of_record({**made, "secret": secret})
    assert parsed(canonical(copy), tmp_path)["study"] == "named"
    copy["tokens"]["Aiken"] = copy["tokens"]["Zuse"]
    guest = {**solvers["Zuse"], "id": "Aiken", "experience": 12.0}
    copy["contents"] = {**made["contents"], "solvers": {"Aiken": guest, **solvers}}
    with pytest.raises(FileError, match="damaged or edited"):
        parsed(canonical(copy), tmp_path)


def test_a_copy_is_told_from_a_study(quem_command: Command, tmp_path: Path) -> None:
    """Digests beside a study do not stand for its files unless its record is without names."""
    study = named_study(tmp_path, rankings="rankings: ranks.csv")
    assert quem_command("seal", study)[0] == 0
    rows = [f"{j},{p},{s},{n}" for j in JUDGES for p in ("P0", "P1") for n, s in enumerate(SOLVERS)]
    (tmp_path / "ranks.csv").write_text(
        "\n".join(["judge,problem,solver,rank", *rows]).replace(",0\n", ",5\n"), "utf-8"
    )
    _, redacted = archives(quem_command, study)
    with ZipFile(BytesIO(redacted)) as archive:
        digests = archive.read("study/study.digests.json").decode()
    (tmp_path / "solutions/P0/Zuse.md").write_text("Another.\n", encoding="utf-8")
    old = {new: name for name, new in PEOPLE.items()}
    for new, name in old.items():
        digests = digests.replace(new, name)
    (tmp_path / "study.digests.json").write_text(digests, encoding="utf-8")
    code, out, _ = quem_command("analyze", study, "--figures", "none", "--tables", "none")
    assert code == 0
    assert "the study has digests for its solutions, and its record has names" in out
    (tmp_path / "study.digests.json").write_text("{}", encoding="utf-8")
    code, _, err = quem_command("analyze", study)
    assert code == 1
    assert "study.digests.json" in err


def test_what_cannot_be_redacted_is_refused(quem_command: Command, tmp_path: Path) -> None:
    """Without a seal, without --archive, and with machine judges."""
    study = named_study(tmp_path, rankings="rankings: ranks.csv")
    assert quem_command("export", study, "--redacted")[0] == 2
    code, _, err = quem_command("export", study, "--archive", "--redacted")
    assert code == 1
    assert "is not sealed" in err
    assert not (tmp_path / "study-redacted.zip").exists()


def test_tokens_hide_names(tmp_path: Path) -> None:
    """Two seals of one study have other secrets, so that tokens cannot be looked up."""
    draft = draft_study(named_study(tmp_path))
    one, two = (record_of(draft, "2027-03-02T09:00:00Z") for _ in range(2))
    assert one["contents"] == two["contents"]
    assert one["secret"] != two["secret"]
