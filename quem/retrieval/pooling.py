"""Pooling: the best of every retriever's list for each query, to be judged.

Spärck Jones, K. and van Rijsbergen, C. J. (1975). *Report on the need for and provision of an
"ideal" information retrieval test collection*. British Library.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np

from quem.errors import QuemError, StudyWarning, refuse
from quem.io.text import nearest, shown
from quem.parallel import Progress, silent
from quem.retrieval.retrievers import make_retrievers
from quem.retrieval.running import Times, run_retrievers
from quem.scores.matching import Judgments
from quem.studyfile.subjects import PooledQuery
from quem.wording import format_count

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from quem.retrieval.lists import CaseLists
    from quem.retrieval.loading import RetrievalStudy

    Pair = tuple[str, str]

_MOST_NAMED = 3
# A longer value, or one of several lines, goes below the others.
_LONG = 80
_SPECIAL = re.compile(r"[`*_<>|~&\\\[\]$]")
# After a backslash these begin a formula, and are written as numeric entities.
_OF_FORMULAS = "\\[]$"
_AT_START = re.compile(r"^(\s*)([#>+=-]|\d+(?=[.)]))", re.MULTILINE)
_LONGEST_TITLE = 80


@dataclass(frozen=True)
class Pool:
    """Pairs to be judged."""

    candidates: Mapping[str, Sequence[str]]  # cases of each query that has any
    n_found: int  # pairs of query and case, judged or not
    n_judged: int
    retrievers: tuple[str, ...] = ()  # ids of the pooled retrievers
    warnings: tuple[StudyWarning, ...] = ()  # about these

    @property
    def n_taken(self) -> int:
        """Pairs of query and case to judge."""
        return self.n_found - self.n_judged


def make_pool(
    study: RetrievalStudy,
    depth: int,
    judged: Collection[Pair] = (),
    *,
    seed: int = 0,
    progress: Progress = silent,
) -> Pool:
    """Run the retrievers of a study, and pool all lists.

    A retriever that is the ground truth is not pooled.
    """
    retrievers, warnings = make_retrievers(study)
    retrievers.pop(study.spec.ground_truth.retriever, None)
    if not retrievers:
        raise QuemError("there is no retriever to pool beside the ground truth")
    depth = min(depth, max(study.data.task.n_candidates, 1))
    runs = run_retrievers(study, retrievers, depth, Times(0, 1), progress)
    pairs = pooled([run.lists for run in runs.values()], depth, seed)
    return _without(pairs, judged, tuple(runs), (*study.data.warnings, *warnings))


def picked(study: RetrievalStudy, pairs: Iterable[Pair], judged: Collection[Pair] = ()) -> Pool:
    """Named pairs instead of a pool."""
    wanted = dict.fromkeys(pairs)
    known = study.data.task.queries.index
    if unknown := [query for query, _ in wanted if query not in known]:
        hint = nearest(unknown[0], known) or "; check the file of the queries"
        raise QuemError(f"{study.name} has no query {shown(unknown[0])}{hint}")
    return _without(wanted, judged)


def _without(
    pairs: Collection[Pair],
    judged: Collection[Pair],
    retrievers: tuple[str, ...] = (),
    warnings: tuple[StudyWarning, ...] = (),
) -> Pool:
    """A pool without the judged pairs."""
    candidates: dict[str, list[str]] = {}
    n_judged = 0
    for query, case in pairs:
        if (query, case) in judged:
            n_judged += 1
        else:
            candidates.setdefault(query, []).append(case)
    return Pool(candidates, len(pairs), n_judged, retrievers, warnings)


def judged_pairs(study: RetrievalStudy) -> dict[Pair, float]:
    """Query and case of each judgment in the study's ground truth, with the grade."""
    truth = study.data.truth
    if truth is None or truth.kind == "similarities":
        return {}
    judgments = Judgments.of(truth.columns)
    graded = judgments.truth
    names = truth.columns.names(judgments.row[graded.item])
    queries = (judgments.queries[at] for at in graded.rows.row.tolist())
    return dict(zip(zip(queries, names, strict=True), graded.value.tolist(), strict=True))


def pooled(lists: Sequence[CaseLists], depth: int, seed: int = 0) -> dict[Pair, None]:
    """Query and case of each list's best; ties are broken at random."""
    rng = np.random.default_rng(seed)
    return {
        (name, one.cases[case]): None
        for query, name in enumerate(lists[0].queries)
        for one in lists
        for case in _head(one, query, depth, rng).tolist()
    }


def _head(lists: CaseLists, query: int, depth: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """The best indices of one list, with ties in random order."""
    case, similarity = lists.of(query)
    if lists.scored:
        drawn = rng.permutation(len(case))
        order = drawn[np.argsort(-similarity[drawn], kind="stable")]
        case = case[order]
    return case[:depth]


def with_texts(
    study: RetrievalStudy, pool: Pool, documents: Mapping[str, Path]
) -> list[PooledQuery]:
    """The queries of a pool with the judges' texts of queries and candidates.

    Parameters
    ----------
    documents : mapping
        Files by the ids of cases, in the place of their attributes; %2F may stand for a slash.

    Raises
    ------
    QuemError
        Judges would read nothing of a query or a case.
    """
    task = study.data.task
    cases = dict.fromkeys(case for own in pool.candidates.values() for case in own)
    texts: dict[str, str | Path] = {
        case: documents.get(case)
        or documents.get(quote(case, safe=""))
        or (case_text(task.cases.case(task.cases.index[case])) if case in task.cases.index else "")
        for case in cases
    }
    made = []
    for query, own in pool.candidates.items():
        asked = task.queries.case(task.queries.index[query], solved=not task.leave_one_out)
        candidates = {case: texts[case] for case in own}
        made.append(PooledQuery(query, short_title(asked), case_text(asked), candidates))
    silent_cases = [case for case, text in texts.items() if not text]
    silent_queries = [one.id for one in made if not one.text]
    mistakes = [
        study.mistake((key,), f"judges would read nothing of {_named(few, noun)}; {remedy}")
        for key, noun, few, remedy in (
            (
                "queries",
                "query",
                silent_queries,
                "name the file of the queries, with a column of their text",
            ),
            (
                "cases",
                "case",
                silent_cases,
                "name the file of the cases, or give --documents FOLDER with a file named by the "
                "id of each case, with %2F for a slash",
            ),
        )
        if few
    ]
    refuse(mistakes)
    return made


def _named(ids: Sequence[str], noun: str) -> str:
    few = ", ".join(ids[:_MOST_NAMED])
    if len(ids) == 1:
        return f"the {noun} {few}"
    return f"{format_count(len(ids), noun)} ({few}{', …' if len(ids) > _MOST_NAMED else ''})"


def case_text(case: Mapping[str, object]) -> str:
    """A case or query as a judge reads it, without its id."""
    known = {name: text for name, value in case.items() if (text := _value(value))}
    if len(known) == 1:
        return _plain(*known.values())
    short = {name: text for name, text in known.items() if not _is_long(text)}
    # Two spaces end a line within a paragraph, whose beginning lists show.
    lines = "  \n".join(f"{_name(name)} {_line(text)}" for name, text in short.items())
    long = (f"{_name(name)}\n\n{_plain(text)}" for name, text in known.items() if name not in short)
    return "\n\n".join(filter(None, (lines, *long)))


def short_title(case: Mapping[str, object]) -> str:
    """A query's only text on one line, cut at a word; empty if there are several."""
    texts = [text for value in case.values() if (text := _value(value))]
    if len(texts) != 1:
        return ""
    line = "".join(sign if sign.isprintable() else " " for sign in " ".join(texts[0].split()))
    if len(line) <= _LONGEST_TITLE:
        return line
    return f"{line[:_LONGEST_TITLE].rpartition(' ')[0] or line[:_LONGEST_TITLE]}…"


def _is_long(text: str) -> bool:
    return len(text) > _LONG or "\n" in text


def _value(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.15g}"
    if isinstance(value, list):
        return ", ".join(filter(None, map(_value, value)))
    if isinstance(value, dict):
        return ", ".join(f"{key}: {text}" for key, one in value.items() if (text := _value(one)))
    return str(value).strip()


def _name(name: str) -> str:
    return f"**{_line(name)}:**"


def _line(text: str) -> str:
    return _escaped(" ".join(text.split()))


def _escaped(text: str) -> str:
    return _SPECIAL.sub(_literal, text)


def _literal(match: re.Match[str]) -> str:
    sign = match[0]
    return f"&#{ord(sign)};" if sign in _OF_FORMULAS else f"\\{sign}"


def _plain(text: str) -> str:
    """Keep the lines and paragraphs of a text, with markup escaped."""
    lines = [line.strip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    escaped = _escaped("\n".join(lines))
    escaped = _AT_START.sub(_shielded, escaped)
    return re.sub(r"(?<!\n)\n(?!\n)", "  \n", escaped)


def _shielded(match: re.Match[str]) -> str:
    space, sign = match.groups()
    return f"{space}{sign}\\" if sign.isdecimal() else f"{space}\\{sign}"
