"""Runs of quem on the shipped studies, what comes out as flat JSON, and how it departs."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import re
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner

from quem.cli import main

STUDIES = Path(__file__).resolve().parents[2] / "studies"
DATA = STUDIES.parents[1] / "shared" / "data"
KEPT = Path(__file__).parent / "results"
_GONE = "nothing"


class Run(NamedTuple):
    """A command, and what may differ between two runs of it."""

    words: tuple[str | Path, ...]
    # Keys and columns whose numbers are times, as a regular expression.
    times: str = r"(?!)"
    # Replacements in texts: regular expression, replacement.
    masks: tuple[tuple[str, str], ...] = ()
    # Longer columns are kept as a number for every 100 rows.
    longest: int = 1000


_WITHOUT_RANKINGS = {"cooling-plans/study.yaml"}
_WITH_DATA = {f"ccbr/{name}.yaml" for name in ("zoo", "spect", "pima")}
_FILES = {path.relative_to(STUDIES).as_posix() for path in STUDIES.rglob("*.yaml")}
RUNS = {
    name.removesuffix(".yaml").replace("/", "-"): Run(("analyze", STUDIES / name))
    for name in sorted(_FILES - _WITHOUT_RANKINGS - _WITH_DATA)
}
RUNS["bicycles-study"] = Run(
    ("analyze", STUDIES / "bicycles/study.yaml"),
    times=r"seconds|share|speedup|[.:]ms",
    masks=(
        (r"^(ms/query|interval|speedup) .*", r"\1 TIME"),
        # A pair of filter and k, and its means.
        (r"^(  \d+ +\d+(?: +[\d.]+){4}) .*", r"\1 TIME"),
        (" {2,}", "  "),
    ),
)
_PLANNERS = STUDIES / "assembly-planners"
RUNS |= {
    "compare-versions": Run(("compare", _PLANNERS / "study.yaml")),
    "compare-assistance": Run(("compare", _PLANNERS / "assistance.yaml")),
    "compare-years": Run(("compare", _PLANNERS / "study.yaml", _PLANNERS / "next-year.yaml")),
    "compare-scores": RUNS["bicycles-study"]._replace(
        words=("compare", STUDIES / "bicycles/study.yaml")
    ),
    "plan": Run(("plan", "--width", "3")),
    "plan-from-pilot": Run(("plan", STUDIES / "p3-1997/study.yaml")),
}
# No case of the data is kept: long columns are digests, and a case is not named.
DATA_RUNS = {
    Path(name).stem: Run(
        ("analyze", STUDIES / name, "--data", DATA, "--jobs", "2"),
        masks=((r"several cases are named '.*?'", "several cases are named CASE"),),
        longest=400,
    )
    for name in sorted(_WITH_DATA)
}


def outcome(run: Run) -> dict[str, Any]:
    """The terminal summary, analysis.json and the CSV tables, as values by place."""
    with tempfile.TemporaryDirectory() as folder:
        words = [str(word) for word in (*run.words, "--figures", "none", "--out", folder)]
        environment = {"COLUMNS": "100", "QUEM_DATABASE_URL": None}
        done = CliRunner().invoke(main, words, env=environment, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        found: dict[str, Any] = {"summary": done.stdout.replace(folder, "OUT").splitlines()}
        found |= _flat("analysis", json.loads((Path(folder) / "analysis.json").read_text("utf-8")))
        for path in sorted(Path(folder).glob("*.csv")):
            found |= _columns(path, run.longest)
    return {place: _masked(value, run, place) for place, value in found.items()}


def _flat(place: str, value: Any) -> dict[str, Any]:  # noqa: ANN401  JSON
    if isinstance(value, dict) and value:
        parts = {f"{place}.{key}": part for key, part in value.items()}
    elif isinstance(value, list) and any(isinstance(part, dict) for part in value):
        parts = {f"{place}[{at}]": part for at, part in enumerate(value)}
    else:
        return {place: value}
    return {key: leaf for name, part in parts.items() for key, leaf in _flat(name, part).items()}


def _columns(path: Path, longest: int) -> dict[str, Any]:
    text = re.sub(r"\A#.*\n", "", path.read_text("utf-8-sig"))
    header, *rows = csv.reader(text.splitlines())
    columns = {name: [_number(row[at]) for row in rows] for at, name in enumerate(header)}
    return {
        f"{path.name}:{name}": values if len(values) <= longest else _digest(values)
        for name, values in columns.items()
    }


def _number(cell: str) -> float | str:
    try:
        number = float(cell)
    except ValueError:
        return cell
    return number if math.isfinite(number) else cell


def _digest(values: list[float | str]) -> dict[str, Any]:
    """How many there are, and for every 100 their sum by place, or a hash where there are texts."""
    blocks: list[float | str] = []
    for start in range(0, len(values), 100):
        block = values[start : start + 100]
        numbers = [at * value for at, value in enumerate(block, 1) if isinstance(value, float)]
        texts = json.dumps([value for value in block if isinstance(value, str)])
        hashed = hashlib.sha256(texts.encode()).hexdigest()[:12]
        blocks += [math.fsum(numbers)] if numbers else []
        blocks += [hashed] if texts != "[]" else []
    return {"rows": len(values), "every 100": blocks}


def _masked(value: Any, run: Run, place: str) -> Any:  # noqa: ANN401  JSON
    """Numbers have 12 digits; times are left out, and what varies in texts is replaced."""
    if isinstance(value, list):
        return [_masked(part, run, place) for part in value]
    if isinstance(value, dict):
        return {key: _masked(part, run, place) for key, part in value.items()}
    if isinstance(value, str):
        value = value.replace(str(STUDIES), "studies").replace(str(DATA), "data")
        for pattern, replacement in run.masks:
            value = re.sub(pattern, replacement, value)
        return value
    if isinstance(value, float):
        if re.search(run.times, place):
            return "TIME"
        return int(value) if value.is_integer() else float(f"{value:.12g}")
    return value


def keep(name: str, found: dict[str, Any]) -> None:
    """Write an outcome, a line for each place."""
    lines = (f"{json.dumps(place)}: {json.dumps(value)}" for place, value in found.items())
    (KEPT / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def kept(name: str) -> dict[str, Any]:
    """The outcome that is kept."""
    found: dict[str, Any] = json.loads((KEPT / f"{name}.json").read_text("utf-8"))
    return found


def departures(name: str, was: dict[str, Any], now: dict[str, Any], *, most: int = 20) -> str:
    """Where an outcome departs from what was kept: a line for each key or column."""
    lines = [
        f"{name}: {place}{at}: was {_short(old)}, is {_short(new)}"
        for place in {**was, **now}
        for at, old, new in [_unlike(was.get(place, _GONE), now.get(place, _GONE))]
        if at is not None
    ]
    more = [f"{name}: and {len(lines) - most} more keys or columns"] if len(lines) > most else []
    return "\n".join(lines[:most] + more)


def _unlike(was: Any, now: Any, at: str = "") -> tuple[str | None, Any, Any]:  # noqa: ANN401  JSON
    """The first place where two values differ, with both; None where there is none."""
    same = type(was) is type(now)
    if same and isinstance(was, list | dict) and len(was) == len(now):
        keys = range(len(was)) if isinstance(was, list) else {**was, **now}
        for key in keys:
            of = (was[key], now[key]) if isinstance(was, list) else (was.get(key), now.get(key))
            if (found := _unlike(*of, f"{at}[{key}]"))[0] is not None:
                return found
        return None, was, now
    if all(isinstance(one, int | float) and not isinstance(one, bool) for one in (was, now)):
        same = math.isclose(was, now, rel_tol=1e-9, abs_tol=1e-12)
    else:
        same = same and was == now
    return None if same else at, was, now


def _short(value: Any) -> str:  # noqa: ANN401  JSON
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:200]}..."
