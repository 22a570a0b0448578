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

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from quem.rankings.loading import Study

JUDGES = ("Quxwin", "Brzezicka", "Ödlund", "Xu-Yzerman")
SUBJECTS = ("vlaskovich", "hjortnaes", "zpqr17", "mbeki%", "oyelaran", "tkx & co")
NAMES = {"vlaskovich": "Ludmila Vlaskovich-Zorn", "zpqr17": "Zbigniew Pfqr"}
ASSISTED, WITHHELD = "hjortnaes+kit", "gonewithrank"
PLANTED = (*JUDGES, *SUBJECTS, *NAMES.values(), ASSISTED, WITHHELD, "Edwina Quxwin")
YEARS = (1, 3, 4, 7, 9, 12)


def _study(title: str = "Kit, on hjortnaes's shelf") -> dict[str, Any]:
    return {
        "id": "kit-study",
        "title": title,
        "description": "By ludmila vlaskovich-zorn, oyelaran, and others. Ranked by Ödlund.",
        "problems": [{"id": f"P{p}", "title": f"Of tkx & co {p}"} for p in range(4)],
        "judges": [
            {"id": judge, "experience": 20, **({"name": "Edwina Quxwin"} if not at else {})}
            for at, judge in enumerate(JUDGES)
        ],
        "subjects": [
            {"id": one, "experience": y, **({"name": NAMES[one]} if one in NAMES else {})}
            for one, y in zip(SUBJECTS, YEARS, strict=True)
        ],
        "systems": [{"id": "kit", "name": "Kit"}, {"id": "S2"}],
        "assisted": [{"id": ASSISTED, "by": "kit", "person": "hjortnaes"}],
        "withheld": [WITHHELD],
        "missing": [{"problem": "P3", "solver": "oyelaran", "reason": "failed"}],
        "rankings": {"from": "long", "file": "rankings.csv"},
    }


def _ranks(seed: int = 0) -> str:
    rng = np.random.default_rng(seed)
    solvers = (*SUBJECTS, "kit", "S2", ASSISTED, WITHHELD)
    skill = np.array([*YEARS, 6, 8, 5, 2])
    lines = ["judge,problem,solver,rank,occasion,notes of Quxwin"]
    for judge in JUDGES:
        for problem in range(4):
            quality = skill + rng.normal(0, 3, len(solvers))
            for solver, rank in zip(solvers, quality.argsort().argsort() + 1, strict=True):
                absent = {(3, "oyelaran"), (0, ASSISTED), (1, ASSISTED)}
                absent |= {(2, "hjortnaes"), (3, "hjortnaes")}
                if (problem, solver) not in absent:
                    # One group has no first occasion, which a warning says.
                    when = 2 if (judge, problem) == ("Brzezicka", 2) else 1
                    lines.append(f"{judge},P{problem},{solver},{rank},{when},")
    return "\n".join(lines) + "\n"


def _named_in(content: bytes) -> list[str]:
    """Which planted names some bytes hold, in whatever case and escape."""
    everything = everything_in(content).decode("utf-8", "ignore").casefold()
    held = []
    for name in PLANTED:
        plain = name.casefold()
        forms = {plain, plain.replace("&", "&amp;"), json.dumps(plain)[1:-1]}
        held += [name] if any(form in everything for form in forms) else []
    return held


@pytest.mark.parametrize("command", ["analyze", "compare"])
def test_nothing_names_anybody(
    make_study: Callable[..., Path], quem_command: Callable[..., Any], command: str
) -> None:
    """No file, text, or metadata holds an id or a name, and all that was planted is read."""
    study = make_study(_study(), rankings__csv=_ranks())
    plain, hidden = study.parent / "plain", study.parent / "hidden"
    code, out, err = quem_command(command, study, "--out", plain)
    assert code == 0, err
    written = {path.name: path.read_bytes() for path in plain.iterdir()}
    shown = b"\n".join([*written.values(), out.encode(), err.encode()])
    # The file that could leak does name people without the option.
    assert len(_named_in(shown)) > (8 if command == "analyze" else 1)
    code, out, err = quem_command(command, study, "--out", hidden, "--pseudonyms")
    assert code == 0
    assert {path.name for path in hidden.iterdir()} == set(written)
    for path in hidden.iterdir():
        assert _named_in(path.read_bytes()) == [], path.name
    assert _named_in(out.encode() + err.encode()) == []
    assert "has no first occasion" in err
    page = (hidden / "report.html").read_text(encoding="utf-8")
    option = "<code>--pseudonyms</code>"
    assert option not in page
    assert option in (plain / "report.html").read_text(encoding="utf-8")
    code, out, err = quem_command(command, study, "--json", "--pseudonyms")
    assert code == 0
    assert _named_in(out.encode() + err.encode()) == []


def test_other_kinds_have_no_people(
    make_study: Callable[..., Path], quem_command: Callable[..., Any]
) -> None:
    """The option is refused where there is nobody to name."""
    study = make_study({"kind": "options", "id": "o", "title": "O"})
    code, _, err = quem_command("analyze", study, "--pseudonyms")
    assert code == 2
    assert "--pseudonyms is not for a study of kind options" in err


def _loaded(make_study: Callable[..., Path], *, pseudonyms: bool) -> Study:
    study = make_study(_study(), rankings__csv=_ranks())
    return quem.load_study(study, kind="experience", pseudonyms=pseudonyms)


def test_numbers_are_those_of_the_named_study(make_study: Callable[..., Path]) -> None:
    """Estimates, averages, and residuals are the same, in another order."""
    named, hidden = (_loaded(make_study, pseudonyms=flag) for flag in (False, True))
    a, b = (quem.analyze(study) for study in (named, hidden))
    for column in ("paper_experience", "paper_low", "reference_high", "average_rank"):
        np.testing.assert_allclose(a.estimates[column], b.estimates[column], rtol=1e-9)
    assert list(a.estimates["system"]) == list(b.estimates["system"]) == ["kit", "S2"]
    frames = [one.averages.drop(columns="solver") for one in (a, b)]
    rows = [sorted(frame.round(9).astype(str).values.tolist()) for frame in frames]
    assert rows[0] == rows[1]
    assert list(b.averages["solver"]) == ["kit", "S2", "S1", "S3", "S4", "S5", "S6", "S7", "A1"]


def test_pseudonyms_are_drawn_once(make_study: Callable[..., Path]) -> None:
    """They do not follow the file, and depend on neither ranks nor settings nor loading twice."""
    study = _loaded(make_study, pseudonyms=True)
    assert study.named is not None
    again = pseudonymize([study])[0]
    assert again.declared == study.declared
    years = [subject.experience for subject in study.spec.subjects]
    assert sorted(years) == sorted(YEARS)
    assert years != list(YEARS)
    path = make_study(
        {**_study(), "analysis": {"level": 0.9}},
        rankings__csv=_ranks(seed=1),
    )
    other = quem.load_study(path, kind="experience", pseudonyms=True)
    assert [s.experience for s in other.spec.subjects] == years
    assert other.data.warnings != ()


def test_one_person_has_one_pseudonym_in_several_studies(tmp_path: Path) -> None:
    """Who is in two compared studies has the same name in both."""
    studies = []
    for name in ("a", "b"):
        folder = tmp_path / name
        folder.mkdir()
        changed = {**_study(), "id": name}
        changed["subjects"] = changed["subjects"][:: 1 if name == "a" else -1]
        (folder / "study.yaml").write_text(json.dumps(changed))
        (folder / "rankings.csv").write_text(_ranks(), encoding="utf-8")
        studies.append(quem.load_study(folder / "study.yaml", kind="experience", pseudonyms=True))
    result = quem.compare(*studies)
    years = [
        {s.id: s.experience for s in core.study.spec.subjects} for core in result.findings.cores
    ]
    assert years[0] == years[1]


def test_what_a_session_adds_is_renamed(make_study: Callable[..., Path]) -> None:
    """Answers, guesses, and warnings of a judging session name nobody either."""
    named = _loaded(make_study, pseudonyms=False)
    data = named.data
    assert isinstance(data, Rankings)
    question = Question(
        id="who", about="solution", kind="choice", text="Is it oyelaran?", options=("Ödlund", "no")
    )
    data = replace(
        data,
        cares=(Care("Quxwin", 60.0, 900.0, 9, 4, 0.5, None, 3, 0),),
        blinding=RecordedBlinding(
            9, guesses=tuple(Guess(judge, "P0", "zpqr17", "person") for judge in JUDGES)
        ),
        answers=(
            Answer("Quxwin", "P0", 1, 1, "zpqr17", "who", "Ödlund"),
            Answer("Brzezicka", "P0", 1, 1, "zpqr17", "why", "as oyelaran does", is_written=True),
        ),
        warnings=(
            *data.warnings,
            StudyWarning("link-replaced", "the link of Quxwin was replaced on 2026-01-01"),
            StudyWarning("removed-after-ranking", "formerperson: removed from the study"),
        ),
    )
    judging = named.spec.judging.model_copy(
        update={"questions": (question,), "identity_words": ("hjortnaes",)}
    )
    spec = named.spec.model_copy(update={"judging": judging})
    study = pseudonymize([replace(named, data=data, spec=spec)])[0]
    assert isinstance(study.data, Rankings)
    result = quem.analyze(study)
    texts = [repr(replace(study, named=None).spec), repr(study.data), repr(study.declared)]
    files = report_files(result)
    for content in (*(text.encode() for text in texts), *files.values(), result.to_html().encode()):
        assert _named_in(content) == []
        assert b"formerperson" not in content
