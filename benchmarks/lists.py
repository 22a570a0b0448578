"""Memory, files, and time of large evaluations of options, retrievers, and dialogues."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.measuring import QUEM, Cost, Row, cost, timed
from quem.dialogue.reading import EncodedCases
from quem.dialogue.simulation import NamedStrategy, prepare, run_experiment
from quem.dialogue.users import named_user
from quem.parallel import Workers
from quem.studyfile.dialogue import DialogueSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

STRATEGIES = tuple(NamedStrategy(name) for name in ("DD", "FA", "ND", "NF", "RA"))
USERS = (
    *(named_user(name, b) for name in ("A5", "T1", "T5") for b in (0.05, 0.10, 0.15, 0.30)),
    named_user("DL", None),
)
# Cases, attributes, and how many of these are numeric: as Zoo, Spect, and Pima have.
BASES = ((101, 16, 0), (267, 22, 0), (768, 8, 8))
FEW = 50  # cases, beside which the memory of many is counted


def rows(*, short: bool) -> Iterator[Row]:
    """100,000 questions, 3,000 cases, and dialogues on three case bases."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        questions = 1_000 if short else 100_000
        found = analyzed(write_options(folder / "options", questions, systems=2))
        what = f"analyze 2 systems' options for {questions:,} questions, memory"
        yield Row(what, found.mib, "MiB", most=500)

        cases = 100 if short else 3_000
        few = analyzed(write_retrieval(folder / "few", FEW))
        many = analyzed(write_retrieval(folder / "many", cases))
        what = f"evaluate 2 retrievers on {cases:,} cases, leave-one-out"
        more = f"{what}, memory beyond that of {FEW} cases"
        yield Row(more, many.mib - few.mib, "MiB", most=100)
        written = sum(path.stat().st_size for path in (folder / "many" / "out").iterdir())
        yield Row(f"{what}, files", written / 1e6, "MB", most=40)
    yield Row(
        "simulate dialogues on 3 case bases of the size of Zoo, Spect, and Pima, 2 processes",
        sum(timed_dialogues(made_up(*size), 1 if short else 10) for size in BASES),
        "s",
        most=60,
    )


def analyzed(study: Path) -> Cost:
    """A whole analysis with default settings."""
    return cost(*QUEM, "analyze", study, "--out", study.parent / "out", COLUMNS="100")


def write_options(folder: Path, questions: int, systems: int) -> Path:
    """Lists of one to five options; the correct one is among them in most."""
    folder.mkdir()
    random = np.random.default_rng(1)
    with (folder / "questions.csv").open("w") as file:
        file.write("question,correct\n")
        file.writelines(f"Q{i},answer {i % 500}\n" for i in range(questions))
    with (folder / "lists.csv").open("w") as file:
        file.write("question,system,option,confidence\n")
        for system in range(systems):
            lengths = random.integers(1, 6, questions)
            places = random.integers(0, 6, questions)
            for question, (length, place) in enumerate(zip(lengths, places, strict=True)):
                confidence = np.sort(random.random(length))[::-1]
                file.writelines(
                    f"Q{question},bot {system},"
                    f"{f'answer {question % 500}' if at == place else f'other {at}'},{value:.3f}\n"
                    for at, value in enumerate(confidence)
                )
    study = folder / "study.yaml"
    study.write_text("kind: options\nquestions: questions.csv\nlists: lists.csv\n")
    return study


def write_retrieval(folder: Path, cases: int) -> Path:
    """Cases of four numbers and four words."""
    folder.mkdir()
    random = np.random.default_rng(1)
    numbers, words = random.random((cases, 4)), random.integers(6, size=(cases, 4))
    with (folder / "cases.csv").open("w") as file:
        file.write("id,a,b,c,d,e,f,g,h\n")
        for case in range(cases):
            cells = [f"{value:.4f}" for value in numbers[case]] + [f"w{w}" for w in words[case]]
            file.write(f"case-{case:05d},{','.join(cells)}\n")
    study = folder / "study.yaml"
    study.write_text("""kind: retrieval
cases: cases.csv
queries: leave-one-out
retrievers:
  - {id: all, linear: {}}
  - {id: numbers, linear: {attributes: [{name: a}, {name: b}, {name: c}, {name: d}]}}
  - {id: words, linear: {attributes: [{name: e}, {name: f}, {name: g}, {name: h}]}}
ground_truth: all
analysis: {measures: [nDCG@10, hits_norm@10, quality_mueller@10]}
""")
    return study


def made_up(n: int, m: int, numeric: int) -> EncodedCases:
    """A case base with five classes that its attributes tell of."""
    random = np.random.default_rng(1)
    classes = random.integers(5, size=n)
    values = random.integers(4, size=(n, m)).astype(float)
    tells = random.random((n, m)) < 0.4  # noqa: PLR2004  of the values
    values[tells] = ((classes[:, np.newaxis] + np.arange(m)) % 4)[tells]
    values[:, :numeric] += random.normal(0, 0.5, (n, numeric))
    return EncodedCases(
        tuple(map(str, range(n))),
        tuple(f"a{i}" for i in range(m)),
        values,
        tuple(None if i < numeric else tuple("wxyz") for i in range(m)),
        classes,
        tuple("ABCDE"),
        np.ones(m),
    )


def timed_dialogues(cases: EncodedCases, orders: int) -> float:
    """Seconds for all users, strategies, and orders of questions, with quality after each."""
    settings = DialogueSettings(orders=orders)
    return timed(
        lambda: run_experiment(
            prepare(cases, settings, strategies=STRATEGIES, users=USERS), workers=Workers(2)
        )
    )
