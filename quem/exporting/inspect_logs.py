"""Copies of Inspect AI logs with judgments as scores; the originals stay."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections import Counter, defaultdict
from statistics import fmean
from typing import TYPE_CHECKING, Any

from quem.errors import FileError
from quem.exporting.preferences import average_ranks
from quem.importing.collected import Collected, Names
from quem.importing.detection import files_in
from quem.importing.inspect_logs import SAMPLE, find_logs, read_logs
from quem.importing.writing import ids_of
from quem.io.packages import Package

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from quem.solutions import Solutions
    from quem.store.exporting import SubmittedRanking
    from quem.studyfile.relevance import JudgedSpec

# Name of the scores in a log.
SCORER = "quem"
_METRICS = ("experience", "experience_low", "experience_high")
_SUMMARIES = ("summaries.json", "_journal/summaries/")
Json = dict[str, Any]
# By sample id and epoch.
Scores = dict[tuple[str, int], Json]


def scored_logs(
    paths: Sequence[Path],
    spec: JudgedSpec,
    solutions: Solutions,
    rankings: Iterable[SubmittedRanking],
    estimates: Mapping[str, Mapping[str, Any]],
    *,
    epoch: int = 1,
) -> dict[str, bytes]:
    """Copies of logs with the average rank of each answer as the score ``quem``.

    An answer is matched by its text, or else by the names of problem and model.
    """
    ranks, sizes = _ranks(rankings)
    by_text = _by_text(solutions)
    copies: dict[Path, bytes] = {}
    for path in paths:
        logs = find_logs(files_in(path))
        if not logs:
            message = "holds no log of Inspect AI; name the logs that the study was made of"
            raise FileError(path, message)
        for log in logs:
            scores: Scores = {}
            places = _places(read_logs([log], Names({}), epoch=epoch), spec, by_text)
            for (sample, number), place in places.items():
                if place in ranks:
                    scores[sample, number] = _score(ranks[place], sizes[place])
            if scores:
                [(solver, _)] = Counter(solver for _, solver in places.values()).most_common(1)
                copies[log] = _copy(log, scores, estimates.get(solver, {}))
    if not copies:
        message = "holds no answer that judges ranked; name the logs of this study"
        raise FileError(paths[0], message)
    names = [log.name for log in copies]
    if len({name.casefold() for name in names}) < len(names):
        names = [*ids_of([log.as_posix() for log in copies], "log").values()]
    return dict(zip(names, copies.values(), strict=True))


def _by_text(solutions: Solutions) -> dict[str, set[tuple[str, str]]]:
    """Problem and solver of each solution by digest."""
    found: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    for solution in solutions:
        found[solution.digest].add((solution.problem, solution.solver))
    return found


def _places(
    collected: Collected, spec: JudgedSpec, by_text: Mapping[str, set[tuple[str, str]]]
) -> dict[tuple[str, int], tuple[str, str]]:
    """Problem and solver of each sample of a log by sample id and epoch."""
    problems = _ids(collected.problems, {one.title: one.id for one in spec.problems}, "problem")
    named = {one.name: one.id for one in spec.subjects} | {one.name: one.id for one in spec.systems}
    solvers = _ids(collected.solvers, named, "solver")
    places = {}
    for (problem, solver), answer in collected.answers.items():
        if answer.origin:
            same = by_text.get(hashlib.sha256(f"{answer.text}\n".encode()).hexdigest(), set())
            by_name = problems[problem], solvers[solver]
            place = next(iter(same)) if len(same) == 1 else by_name
            places[str(answer.origin.sample), answer.origin.epoch] = place
    return places


def years_metrics(document: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """The years of each system with their interval, where an analysis states them."""
    metrics = {}
    for estimate in document["estimates"]:
        if estimate["leads"]:
            leading = estimate[estimate["leads"]]
            low, high = leading["interval"]
            values = (leading["experience"], low, high)
            known = {name: n for name, n in zip(_METRICS, values, strict=True) if n is not None}
            metrics[estimate["system"]] = known
    return metrics


def _ids(names: Iterable[str], declared: dict[str, str], otherwise: str) -> dict[str, str]:
    """The id in the study of each name in the logs, by title or origin."""
    made = ids_of(names, otherwise)
    return {name: declared.get(name) or one for name, one in made.items()}


def _ranks(
    rankings: Iterable[SubmittedRanking],
) -> tuple[dict[tuple[str, str], dict[str, float]], dict[tuple[str, str], int]]:
    """Each judge's rank of each solution, and the greatest group size."""
    ranks: defaultdict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    sizes: defaultdict[tuple[str, str], int] = defaultdict(int)
    for ranking in rankings:
        if ranking.occasion > 1:
            continue
        own = average_ranks(ranking)
        for solver, rank in own.items():
            place = ranking.problem, solver
            ranks[place].setdefault(ranking.judge, rank)
            sizes[place] = max(sizes[place], len(own))
    return ranks, sizes


def _score(by_judge: dict[str, float], size: int) -> Json:
    mean = fmean(by_judge.values())
    judges = f"{len(by_judge)} judge{'' if len(by_judge) == 1 else 's'}"
    return {
        "value": mean,
        "answer": None,
        "explanation": f"average rank {mean:g} of {size} solutions by {judges}; 1 is the worst",
        "metadata": {"ranks": by_judge, "n_solutions": size},
        "history": [],
    }


def _copy(log: Path, scores: Scores, metrics: Mapping[str, Any]) -> bytes:
    if log.suffix == ".json":
        content = json.loads(log.read_bytes())
        for sample in content["samples"]:
            _add_score(sample, scores)
        _add_results(content, scores, metrics)
        return _json(content)
    # The copy is deflated, whatever the original compression.
    archive = io.BytesIO()
    with (
        Package(log, most_parts=100_000, most_bytes=2_000_000_000) as package,
        zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as copy,
    ):
        for name in package.names:
            part = package.read(name)
            if name == "header.json":
                header = json.loads(part)
                _add_results(header, scores, metrics)
                part = _json(header)
            elif SAMPLE.fullmatch(name):
                sample = json.loads(part)
                _add_score(sample, scores)
                part = _json(sample)
            elif name.startswith(_SUMMARIES):
                summaries = json.loads(part)
                for summary in summaries:
                    _add_score(summary, scores)
                part = _json(summaries)
            copy.writestr(zipfile.ZipInfo(name), part, zipfile.ZIP_DEFLATED)
    return archive.getvalue()


def _add_score(sample: Json, scores: Scores) -> None:
    score = scores.get((str(sample.get("id")), sample.get("epoch", 1)))
    if score:
        sample["scores"] = {**(sample.get("scores") or {}), SCORER: score}


def _add_results(header: Json, scores: Scores, metrics: Mapping[str, Any]) -> None:
    """Add the mean of the scores, and metrics of the system, to the results of a run."""
    results = header.get("results")
    if results is None:
        return
    values = {"average_rank": fmean(score["value"] for score in scores.values()), **metrics}
    added = {
        "name": SCORER,
        "scorer": SCORER,
        "params": {},
        "metrics": {
            name: {"name": name, "value": value, "params": {}} for name, value in values.items()
        },
        "scored_samples": len(scores),
    }
    others = [one for one in results.get("scores") or [] if one.get("name") != SCORER]
    results["scores"] = [*others, added]


def _json(content: object) -> bytes:
    return json.dumps(content).encode()
