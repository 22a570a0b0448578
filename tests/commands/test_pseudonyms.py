"""With ``--pseudonyms`` nothing that is written or printed names a judge or a subject."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import quem
from quem.errors import StudyWarning
from quem.rankings import Rankings
from quem.rankings.pseudonyms import pseudonymize
from quem.report.files import report_files
from quem.store.answers import Answer
from quem.store.care import Care
from quem.store.reviewing import Guess, RecordedBlinding
from quem.studyfile.models import Question
from tests.blinding.searching import everything_in
from tests.examples import write_study

if TYPE_CHECKING:
    from pathlib import Path

    from quem.rankings.loading import Study
    from tests.commands.conftest import Command

JUDGES = ("Quxwin", "Brzezicka", "Ödlund", "Xu-Yzerman")
SUBJECTS = ("vlaskovich", "hjortnaes", "zpqr17", "mbeki%", "oyelaran", "tkx & co")
NAMES = {
    "vlaskovich": "Ludmila Vlaskovich-Zorn",
    "zpqr17": "Zbigniew Pfqr",
    "Quxwin": "Edwina Quxwin",
}
ASSISTED, WITHHELD = "hjortnaes+kit", "gonewithrank"
PLANTED = (*JUDGES, *SUBJECTS, *NAMES.values(), ASSISTED, WITHHELD)
YEARS = (1, 3, 4, 7, 9, 12)


def _person(one: str, years: float) -> dict[str, Any]:
    return {"id": one, "experience": years, **({"name": NAMES[one]} if one in NAMES else {})}


STUDY: dict[str, Any] = {
    "id": "kit-study",
    "title": "Kit, on hjortnaes's shelf",
    "description": "By ludmila vlaskovich-zorn, oyelaran, and others. Ranked by Ödlund.",
    "problems": [{"id": f"P{p}", "title": f"Of tkx & co {p}"} for p in range(4)],
    "judges": [_person(judge, 20) for judge in JUDGES],
    "subjects": [_person(one, years) for one, years in zip(SUBJECTS, YEARS, strict=True)],
    "systems": [{"id": "kit", "name": "Kit"}, {"id": "S2"}],
    "assisted": [{"id": ASSISTED, "by": "kit", "person": "hjortnaes"}],
    "withheld": [WITHHELD],
    "missing": [{"problem": "P3", "solver": "oyelaran", "reason": "failed"}],
    "rankings": {"from": "long", "file": "rankings.csv"},
}
ABSENT = {(3, "oyelaran"), (0, ASSISTED), (1, ASSISTED), (2, "hjortnaes"), (3, "hjortnaes")}


def _ranks(seed: int = 0) -> str:
    rng = np.random.default_rng(seed)
    solvers = (*SUBJECTS, "kit", "S2", ASSISTED, WITHHELD)
    skill = np.array([*YEARS, 6, 8, 5, 2])
    lines = ["judge,problem,solver,rank,occasion,notes of Quxwin"]
    for judge in JUDGES:
        for problem in range(4):
            quality = skill + rng.normal(0, 3, len(solvers))
            # One group has no first occasion, which a warning says.
            when = 2 if (judge, problem) == ("Brzezicka", 2) else 1
            for solver, rank in zip(solvers, quality.argsort().argsort() + 1, strict=True):
                if (problem, solver) not in ABSENT:
                    lines.append(f"{judge},P{problem},{solver},{rank},{when},")
    return "\n".join(lines) + "\n"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return write_study(tmp_path, STUDY, rankings__csv=_ranks())


def load(path: Path, *, pseudonyms: bool = True) -> Study:
    return quem.load_study(path, kind="experience", pseudonyms=pseudonyms)


def named_in(*contents: bytes | str) -> list[str]:
    """Which planted names are there, in whatever case and escape."""
    raw = b"\n".join(one if isinstance(one, bytes) else one.encode() for one in contents)
    everything = everything_in(raw).decode("utf-8", "ignore").casefold()
    held = []
    for name in PLANTED:
        plain = name.casefold()
        forms = {plain, plain.replace("&", "&amp;"), json.dumps(plain)[1:-1]}
        held += [name] if any(form in everything for form in forms) else []
    return held


@pytest.mark.parametrize("command", ["analyze", "compare"])
def test_nothing_names_anybody(study: Path, run: Command, command: str) -> None:
    """No file, text, or metadata holds an id or a name, and all that was planted is read."""
    plain, hidden = study.parent / "plain", study.parent / "hidden"
    code, out, err = run(command, study, "--out", plain)
    assert code == 0, err
    written = {path.name: path.read_bytes() for path in plain.iterdir()}
    # Without the option people are named.
    assert len(named_in(*written.values(), out, err)) > (8 if command == "analyze" else 1)
    code, out, err = run(command, study, "--out", hidden, "--pseudonyms")
    assert (code, "has no first occasion" in err) == (0, True)
    assert {path.name for path in hidden.iterdir()} == set(written)
    for path in hidden.iterdir():
        assert named_in(path.read_bytes()) == [], path.name
    assert named_in(out, err) == []
    option = b"<code>--pseudonyms</code>"
    assert option in written["report.html"]
    assert option not in (hidden / "report.html").read_bytes()
    code, out, err = run(command, study, "--json", "--pseudonyms")
    assert (code, named_in(out, err)) == (0, [])


def test_numbers_are_those_of_the_named_study(study: Path) -> None:
    a, b = (quem.analyze(load(study, pseudonyms=flag)) for flag in (False, True))
    for column in ("paper_experience", "paper_low", "reference_high", "average_rank"):
        np.testing.assert_allclose(a.estimates[column], b.estimates[column], rtol=1e-9)
    assert list(a.estimates["system"]) == list(b.estimates["system"]) == ["kit", "S2"]
    frames = [one.averages.drop(columns="solver") for one in (a, b)]
    rows = [sorted(frame.round(9).astype(str).values.tolist()) for frame in frames]
    assert rows[0] == rows[1]
    assert list(b.averages["solver"]) == ["kit", "S2", "S1", "S3", "S4", "S5", "S6", "S7", "A1"]


def test_pseudonyms_are_drawn_once(study: Path) -> None:
    hidden = load(study)
    assert hidden.named is not None
    assert pseudonymize([hidden])[0].declared == hidden.declared
    years = [subject.experience for subject in hidden.spec.subjects]
    assert sorted(years) == sorted(YEARS)
    assert years != list(YEARS)
    changed = {**STUDY, "analysis": {"level": 0.9}}
    other = load(write_study(study.parent, changed, rankings__csv=_ranks(seed=1)))
    assert [s.experience for s in other.spec.subjects] == years


def test_one_person_has_one_pseudonym_in_several_studies(study: Path) -> None:
    folder = study.parent / "b"
    folder.mkdir()
    changed = {**STUDY, "id": "b", "subjects": STUDY["subjects"][::-1]}
    other = write_study(folder, changed, rankings__csv=_ranks())
    cores = quem.compare(load(study), load(other)).findings.cores
    one, two = ({s.id: s.experience for s in core.study.spec.subjects} for core in cores)
    assert one == two


def test_what_a_session_adds_is_renamed(study: Path) -> None:
    """Answers, guesses, and warnings of a judging session name nobody either."""
    named = load(study, pseudonyms=False)
    assert isinstance(named.data, Rankings)
    question = Question(
        id="who", about="solution", kind="choice", text="Is it oyelaran?", options=("Ödlund", "no")
    )
    data = replace(
        named.data,
        cares=(Care("Quxwin", 60.0, 900.0, 9, 4, 0.5, None, 3, 0),),
        blinding=RecordedBlinding(
            9, guesses=tuple(Guess(judge, "P0", "zpqr17", "person") for judge in JUDGES)
        ),
        answers=(
            Answer("Quxwin", "P0", 1, 1, "zpqr17", "who", "Ödlund"),
            Answer("Brzezicka", "P0", 1, 1, "zpqr17", "why", "as oyelaran does", is_written=True),
        ),
        warnings=(
            *named.data.warnings,
            StudyWarning("link-replaced", "the link of Quxwin was replaced on 2026-01-01"),
            StudyWarning("removed-after-ranking", "formerperson: removed from the study"),
        ),
    )
    judging = named.spec.judging.model_copy(
        update={"questions": (question,), "identity_words": ("hjortnaes",)}
    )
    spec = named.spec.model_copy(update={"judging": judging})
    hidden = pseudonymize([replace(named, data=data, spec=spec)])[0]
    result = quem.analyze(hidden)
    spec_only = replace(hidden, named=None).spec
    texts = [repr(one) for one in (spec_only, hidden.data, hidden.declared)]
    texts.append(result.to_html())
    content = b"\n".join([*report_files(result).values(), "\n".join(texts).encode()])
    assert named_in(content) == []
    assert b"formerperson" not in content
