"""Exports for other programs: of a session about answers in logs, checked by their schemas."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import quem
from quem.cli import main
from quem.exporting.inspect_logs import years_metrics
from quem.exporting.preferences import average_ranks, preference_lines
from quem.solutions.model import Solution, SolutionFile, Solutions
from quem.store.exporting import SubmittedRanking
from quem.store.state import State
from tests.exporting.schemas import schema_of
from tests.importing.made import sample, write_eval
from tests.store.made import close, hold_session

if TYPE_CHECKING:
    from click.testing import Result

MODELS = [f"org/m{number}" for number in range(8)]
N_PEOPLE = 7
KEYS = ["prompt", "chosen", "rejected", "chosen_by", "rejected_by", "judge", "problem"]
KEYS += ["rank_gap", "ties_in_ranking"]
SHIPPED = "studies/p3-1997/study.yaml"


def run(*words: object) -> Result:
    """Run a command."""
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of eight models on three samples, one of them as JSON, one packed otherwise."""
    folder = tmp_path_factory.mktemp("logs")
    for number, model in enumerate(MODELS):
        samples = [sample(n, 1, f"Answer {number} to {n}.") for n in (1, 2, 3)]
        samples += [sample(1, 2, "Another epoch.")]
        name = f"run-{number}.{'json' if number == 1 else 'eval'}"
        write_eval(folder / name, model, samples, packed=number % 2 == 0)
    return folder


@pytest.fixture(scope="module")
def closed(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed session in which answers are ranked by their number; the first is the worst."""
    folder = tmp_path_factory.mktemp("made") / "study"
    assert run("init", folder, "--from", logs).exit_code == 0
    path = folder / "study.yaml"
    content = yaml.safe_load(path.read_text())
    content["subjects"] = [
        {**one, "experience": 2 * years + 1}
        for years, one in enumerate(content["systems"][:N_PEOPLE])
    ]
    content["systems"] = content["systems"][N_PEOPLE:]
    content["judges"] = [{"id": "J1"}, {"id": "J2"}]
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    solvers = [f"org-m{number}" for number in range(len(MODELS))]
    assert [one["id"] for one in content["subjects"] + content["systems"]] == solvers
    order: list[tuple[str, ...]] = [(name,) for name in reversed(solvers)]
    tied = [*order[:2], (*order[2], *order[3]), *order[4:]]
    states = [State(ranked=tuple(tied)), State(ranked=tuple(order))]
    hold_session(path, solvers=solvers, states=states).close()
    close(path)
    return path


@pytest.fixture
def study(closed: Path, tmp_path: Path) -> Path:
    """A copy of that session, which may be changed."""
    return shutil.copytree(closed.parent, tmp_path / "study") / "study.yaml"


def exported(study: Path, folder: Path, *words: object) -> Result:
    """Export to a folder, which has to succeed."""
    result = run("export", study, "--out", folder, *words)
    assert result.exit_code == 0, result.output
    return result


def lines_of(folder: Path) -> list[dict[str, Any]]:
    """What preferences.jsonl holds."""
    text = (folder / "preferences.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_preferences(study: Path, tmp_path: Path) -> None:
    """Each pair of different ranks is there once, with both texts and the question."""
    told = exported(study, tmp_path / "a", "--format", "preferences")
    assert "left out: ties: 3" in told.output
    pairs = lines_of(tmp_path / "a")
    whole = len(MODELS) * (len(MODELS) - 1) // 2
    assert Counter(pair["judge"] for pair in pairs) == {"J1": 3 * (whole - 1), "J2": 3 * whole}
    assert list(pairs[0]) == KEYS
    for pair in pairs:
        assert pair["chosen_by"] > pair["rejected_by"]
        number = pair["chosen_by"].removeprefix("org-m")
        assert pair["chosen"] == f"Answer {number} to {pair['problem']}.\n"
        assert f"Question {pair['problem']}?" in pair["prompt"]
        assert pair["ties_in_ranking"] == (pair["judge"] == "J1")
    gaps = {(p["chosen_by"], p["rejected_by"]): p["rank_gap"] for p in pairs if p["judge"] == "J1"}
    assert gaps["org-m7", "org-m6"] == 1
    assert gaps["org-m6", "org-m5"] == 1.5
    exported(study, tmp_path / "b", "--format", "preferences", "--ties", "half")
    both = [pair for pair in lines_of(tmp_path / "b") if pair["rank_gap"] == 0]
    assert sorted((p["chosen_by"], p["rejected_by"]) for p in both) == sorted(
        [("org-m5", "org-m4"), ("org-m4", "org-m5")] * 3
    )


def test_redacted_words_are_in_no_pair(study: Path, tmp_path: Path) -> None:
    """Pairs hold what judges read, and no solution that is more than a text."""
    content = yaml.safe_load(study.read_text())
    decision = {"problem": "1", "solver": "org-m3", "words": "Answer 3", "decision": "redact"}
    content["judging"]["reviewed"] = [decision]
    study.write_text(yaml.safe_dump(content))
    exported(study, tmp_path / "a", "--format", "preferences")
    texts = {p["chosen"] for p in lines_of(tmp_path / "a") if p["chosen_by"] == "org-m3"}
    assert texts == {"[removed] to 1.\n", "Answer 3 to 2.\n", "Answer 3 to 3.\n"}


GROUPS = st.lists(st.integers(1, 3), max_size=5)


@given(sizes=GROUPS, half=st.booleans())
def test_numbers_of_pairs(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], *, half: bool
) -> None:
    """With n distinct ranks n(n-1)/2 pairs; ties come twice, or not at all; ranks sum up."""
    names = iter("ABCDEFGHIJKLMNO")
    ranked = tuple(tuple(next(names) for _ in range(size)) for size in sizes)
    solvers = [name for group in ranked for name in group]
    folder = tmp_path_factory.getbasetemp() / "texts"
    folder.mkdir(exist_ok=True)
    for name in solvers:
        (folder / name).write_text(name)
    group = {
        name: Solution("P", name, (SolutionFile(folder / name, "text", name, name),))
        for name in solvers
    }
    ranking = SubmittedRanking("J", "P", 1, 1, State(ranked=ranked))
    ranks = average_ranks(ranking)
    n = len(solvers)
    assert sum(ranks.values()) == n * (n + 1) / 2
    text, left_out = preference_lines([ranking], Solutions({"P": group}), half_ties=half)
    pairs = [json.loads(line) for line in text.splitlines()]
    tied = sum(size * (size - 1) // 2 for size in sizes)
    assert len(pairs) == n * (n - 1) // 2 - tied + 2 * tied * half
    assert left_out["ties"] == (0 if half else tied)
    for pair in pairs:
        assert ranks[pair["chosen"]] - ranks[pair["rejected"]] == pair["rank_gap"] >= 0


def test_what_is_not_exported(study: Path, tmp_path: Path, logs: Path) -> None:
    """Neither logs of another study, nor what judges think so far in an open session."""
    other = write_eval(tmp_path / "other.eval", "org/other", [sample(9, 1, "Yes.")])

    def refusal(*words: object) -> str:
        result = run("export", study, "--out", tmp_path / "x", *words)
        assert result.exit_code == 1
        assert not (tmp_path / "x").exists()
        return str(result.exception)

    assert "no answer that judges ranked" in refusal("--inspect", other.parent)
    assert "no log" in refusal("--inspect", study)
    close(study, state="open")
    for words in (["--format", "preferences"], ["--inspect", logs]):
        assert "still open" in refusal(*words)


def test_scores_have_no_years_where_the_report_states_none() -> None:
    """The estimate that leads is a metric, with its interval; where none leads there is none."""
    loaded = quem.load_study(SHIPPED)
    [metrics] = years_metrics(quem.analyze(loaded).to_dict()).values()
    assert metrics["experience"] == pytest.approx(7.228, abs=1e-3)
    result = quem.analyze(loaded, reference_population={"years": [0, 15]}).to_dict()
    [metrics] = years_metrics(result).values()
    [reference] = (one["reference"] for one in result["estimates"])
    assert metrics["experience"] == reference["experience"]
    assert metrics["experience_low"] == reference["interval"][0]
    unstated = [{**one, "leads": None} for one in result["estimates"]]
    assert years_metrics({"estimates": unstated}) == {}


def read_log(path: Path) -> dict[str, Any]:
    """A log as one document."""
    if path.suffix == ".json":
        content: dict[str, Any] = json.loads(path.read_bytes())
        return content
    with zipfile.ZipFile(path) as archive:
        content = json.loads(archive.read("header.json"))
        names = [name for name in archive.namelist() if name.startswith("samples/")]
        content["samples"] = [json.loads(archive.read(name)) for name in names]
        summaries = json.loads(archive.read("summaries.json"))
    for one, summary in zip(content["samples"], summaries, strict=True):
        assert summary["scores"] == one["scores"]
    return content


def test_scores_in_logs(
    study: Path, logs: Path, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """Each answer that was ranked has its average rank; all else in the logs is as it was.

    They fit the schema in the package of Inspect AI, which is kept for the next run.
    """
    before = {path.name: path.read_bytes() for path in logs.iterdir()}
    out = tmp_path / "out"
    exported(study, out, "--inspect", logs)
    assert {path.name: path.read_bytes() for path in logs.iterdir()} == before
    assert {path.name for path in out.iterdir()} == set(before)
    for number in range(len(MODELS)):
        name = f"run-{number}.{'json' if number == 1 else 'eval'}"
        log = read_log(out / name)
        for one in log["samples"]:
            assert one["scores"]["match"]["value"] == "C"
            score = one["scores"].pop("quem", None)
            assert (score is None) == (one["epoch"] == 2)
            if score:
                tied = {4: 5.5, 5: 5.5}.get(number, number + 1)
                assert score["value"] == (tied + number + 1) / 2
                assert score["metadata"]["ranks"] == {"J1": tied, "J2": number + 1}
        old, new = log["results"]["scores"]
        assert old["name"] == "match"
        assert new["scored_samples"] == 3
        assert ("experience_low" in new["metrics"]) == (number == len(MODELS) - 1)
    again = exported(study, tmp_path / "again", "--inspect", logs / "run-0.eval")
    assert "run-0.eval" in again.output
    assert (tmp_path / "again/run-0.eval").read_bytes() == (out / "run-0.eval").read_bytes()
    cache = getattr(pytestconfig, "cache", None)
    wheels = Path(cache.mkdir("wheels")) if cache else tmp_path
    whole = schema_of("inspect-ai", "==0.3.285", "inspect_ai/_view/inspect-openapi.json", wheels)
    schema = {"$ref": "#/components/schemas/EvalLog", "components": whole["components"]}
    for path in out.iterdir():
        jsonschema.Draft202012Validator(schema).validate(read_log(path))
