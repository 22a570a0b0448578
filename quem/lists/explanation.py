"""How one list came to its value, step by step, and worked examples for the reference."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from quem.lists.binary import common
from quem.lists.evaluation import score
from quem.lists.lists import Lists
from quem.lists.pairs import count_pairs
from quem.lists.properties import properties
from quem.lists.rank_quality import boundary, mean_weights, rank_weights
from quem.lists.registry import is_own, measure
from quem.lists.relevance import gains_of_a_cascade, nonrelevant_before

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from quem.lists.lists import Hits
    from quem.lists.measure import Definition, Measure
    from quem.lists.registry import Chosen

_Items: TypeAlias = "dict[Hashable, float]"

# List and ground truth, item to score.
_EXAMPLES: dict[str, tuple[_Items, _Items]] = {
    # That of ProCAKE's page.
    "retrieval": ({"G2": 0.5, "G4": 0.3, "G3": 0.2}, {"G2": 0.5, "G3": 0.3, "G4": 0.2}),
    "options": ({"w1": 3, "c": 2, "w2": 1}, {"c": 1}),
    "relevance": ({"d": 4, "a": 3, "x": 2, "b": 1}, {"a": 3, "b": 1, "c": 2, "d": 0}),
    # Nobody knows yet which of b, c and d is nearer, and k = 3 cuts between them.
    "dialogue": (
        {"a": 0.9, "b": 0.8, "c": 0.8, "d": 0.8, "e": 0.2},
        {"c": 0.9, "b": 0.8, "a": 0.7, "e": 0.5, "d": 0.4},
    ),
}

_ONLY_ORDER = ("options", "relevance", "own")


def describe(definition: Definition) -> dict[str, Any]:
    """Tell what a measure is."""
    bounds = [definition.low, definition.high]
    return {
        "name": definition.name,
        "family": definition.family,
        "summary": definition.summary,
        "definition": definition.formula,
        "range": [bound if math.isfinite(bound) else None for bound in bounds],
        "better": definition.better,
        "parameters": [
            {
                "name": parameter.name,
                "default": parameter.default,
                "meaning": parameter.meaning,
                "allowed": parameter.allowed,
            }
            for parameter in definition.parameters
        ],
        "ground_truth": definition.truth,
        "ties": definition.ties,
        "short_lists": definition.short,
        "unknown_items": definition.unknown,
        "undefined": definition.undefined,
        "source": definition.citation,
    }


def explain(by: Chosen) -> dict[str, Any]:
    """Explain a measure with a worked example."""
    chosen = measure(by)
    description = describe(chosen.definition)
    kind = chosen.definition.family
    # Those of the user are shown on the example of any list.
    listed, truth = _EXAMPLES.get(kind, _EXAMPLES["relevance"])
    plain = chosen.name == chosen.definition.name
    shown = chosen.definition.shown if plain else (chosen.name,)
    own = {chosen.definition.name: chosen.definition} if is_own(chosen.definition) else {}
    description["example"] = {
        "list": list(listed) if kind in _ONLY_ORDER else listed,
        "ground_truth": truth,
        "scores": [_worked(measure(name, own), listed, truth) for name in shown],
    }
    if kind == "options":
        description["properties"] = [
            {
                "name": entry.name,
                "promise": entry.promise,
                "holds": entry.holds,
                "counterexample": str(entry.counterexample) if entry.counterexample else None,
            }
            for entry in properties(chosen, 5)
        ]
    return description


def _worked(chosen: Measure, listed: _Items, truth: _Items) -> dict[str, str | float | None]:
    result = score(listed, truth, chosen)
    if result.reason:
        return {"measure": chosen.name, "score": None, "undefined": result.reason}
    lists = Lists([listed], [truth])
    if is_own(chosen.definition):
        calculation = f"{chosen.definition.name}(items, truth)"
    else:
        lists, values = chosen.applied(lists)
        calculation = WORKED[chosen.definition.name](lists, **values)
    return {"measure": chosen.name, "calculation": calculation, "score": result.value}


def _sum(terms: Iterable[str]) -> str:
    """Terms with plus signs between them; 0 for none."""
    return " + ".join(terms) or "0"


def _n(number: float) -> str:
    return f"{number:.6g}"


def _all(values: Iterable[float]) -> list[str]:
    return [_n(value) for value in values]


def _hits(lists: Lists, k: int | None) -> str:
    looked = common(lists, k)[: k or lists.run.total]
    return _sum("1" if hit else "0" for hit in looked)


def _hits_norm(lists: Lists, k: int | None) -> str:
    return f"({_hits(lists, k)}) / {k or lists.run.total}"


def _compared(lists: Lists, by: str) -> list[tuple[str, str]]:
    if by == "case":
        known = lists.known
        pairs = zip(lists.score[known], lists.value[known], strict=True)
    else:
        pairs = zip(lists.score, lists.true_value, strict=False)
    return [(_n(score), _n(true)) for score, true in pairs]


def _mae(lists: Lists, by: str) -> str:
    compared = _compared(lists, by)
    return f"({_sum(f'|{score} - {true}|' for score, true in compared)}) / {len(compared)}"


def _mse(lists: Lists, by: str) -> str:
    compared = _compared(lists, by)
    return f"({_sum(f'({score} - {true})^2' for score, true in compared)}) / {len(compared)}"


def _stromer(lists: Lists, k: int | None) -> str:
    depth = min(k or lists.truth.total, lists.truth.total)
    weights = range(depth + 1, 1, -1)
    match = [0] * depth
    for place, true in enumerate(lists.true_position[:depth]):
        match[place] = int(true == place + 1)
    terms = _sum(f"{hit} × {weight}" for hit, weight in zip(match, weights, strict=True))
    return f"({terms}) / ({_sum(map(str, weights))})"


def _mueller(lists: Lists, k: int | None) -> str:
    depth = min(k or lists.run.total, lists.run.total)
    present = set(lists.true_position[:depth].tolist())
    missing = [v for i, v in enumerate(lists.true_value[:depth].tolist(), 1) if i not in present]
    return f"1 - ({_sum(_all(missing))}) / {depth}"


def _correctness(lists: Lists, k: int | None) -> str:
    pairs = count_pairs(lists, k)
    c, d = pairs.concordant[0], pairs.discordant[0]
    return f"({c} - {d}) / ({c} + {d})"


def _completeness(lists: Lists, k: int | None) -> str:
    pairs = count_pairs(lists, k)
    return f"({pairs.concordant[0]} + {pairs.discordant[0]}) / {pairs.untied_in_truth[0]}"


def _kendall(lists: Lists, variant: str) -> str:
    pairs = count_pairs(lists, None)
    over = (
        str(pairs.all[0])
        if variant == "a"
        else f"√({pairs.untied_in_list[0]} × {pairs.untied_in_truth[0]})"
    )
    return f"({pairs.concordant[0]} - {pairs.discordant[0]}) / {over}"


def _distance(lists: Lists) -> str:
    known = lists.true_position > 0
    places = zip(lists.run.position[known], lists.true_position[known], strict=True)
    off = _sum(f"|{place} - {true}|" for place, true in places)
    return f"({off}) / {int(known.sum())}"


def _spearman(lists: Lists) -> str:
    rows = lists.run.only(lists.known)
    middle = (rows.total + 1) / 2
    listed = rows.average_ranks(lists.score[lists.known]) - middle
    true = rows.average_ranks(lists.value[lists.known]) - middle
    products = _sum(
        f"({_n(a)}) × ({_n(b)})" for a, b in zip(listed.tolist(), true.tolist(), strict=True)
    )
    return f"({products}) / √({_n(float(listed @ listed))} × {_n(float(true @ true))})"


def _counts(lists: Lists, rel: float) -> tuple[Hits, int, int, int]:
    """The hits, how many of how many relevant items are in the list, and how long it is."""
    hits = lists.hits(rel)
    return hits, int(hits.found[0]), int(hits.relevant[0]), lists.run.total


def _f1(lists: Lists, rel: float, k: int | None) -> str:
    hits, _, relevant, n = _counts(lists, rel)
    n_hits = int((hits.position <= (k or np.inf)).sum())
    return f"2 × {n_hits} / ({k or n} + {relevant})"


def _f1s(lists: Lists, rel: float) -> str:
    _, n_hits, relevant, n = _counts(lists, rel)
    return f"2 × ({n_hits} + 1) / ({n} + {relevant} + 2)"


def _lar(lists: Lists, rel: float) -> str:
    _, n_hits, _, n = _counts(lists, rel)
    return f"({min(n_hits, 1)} + 1/{n}) / 2"


def _olar(lists: Lists, rel: float, max_length: int, m: float | None) -> str:
    _, n_hits, _, n = _counts(lists, rel)
    if m is None:
        m = 0.998 / (max_length * (max_length - 1)) if max_length > 1 else 0
    return f"({min(n_hits, 1)} + 1/{n} + {_n(m)} × {_rr(lists, rel, None)}) / (2 + {_n(m)})"


def _precisions(hits: Hits, k: int | None = None) -> str:
    places = zip(hits.nth.tolist(), hits.position.tolist(), strict=True)
    return _sum(f"{nth}/{place}" for nth, place in places if k is None or place <= k)


def _p(lists: Lists, rel: float, k: int | None) -> str:
    places = lists.hits(rel).position.tolist()
    n_hits = sum(k is None or place <= k for place in places)
    return f"{n_hits} / {k or lists.run.total or 1}"


def _ap(lists: Lists, rel: float, k: int | None) -> str:
    hits, _, relevant, _ = _counts(lists, rel)
    return f"({_precisions(hits, k)}) / {relevant}"


def _aps(lists: Lists, rel: float) -> str:
    hits, n_hits, relevant, n = _counts(lists, rel)
    return f"({_precisions(hits)} + ({n_hits} + 1)/({n} + 1)) / ({relevant} + 1)"


def _apl(lists: Lists, rel: float) -> str:
    hits, n_hits, relevant, n = _counts(lists, rel)
    t = f"{n_hits}/{relevant}"
    return f"({_precisions(hits)} + {t} × ({n_hits} + {t})/({n} + 1)) / ({relevant} + 1)"


def _rr(lists: Lists, rel: float, k: int | None) -> str:
    first = lists.hits(rel).position[:1].tolist()
    return f"1/{first[0]}" if first and (k is None or first[0] <= k) else "0"


def _recall(lists: Lists, rel: float, k: int | None) -> str:
    hits, _, relevant, _ = _counts(lists, rel)
    return f"{int((hits.position <= (k or np.inf)).sum())} / {relevant}"


def _success(lists: Lists, rel: float, k: int | None) -> str:
    return str(int((lists.hits(rel).position <= (k or np.inf)).any()))


def _r_precision(lists: Lists, rel: float) -> str:
    return _recall(lists, rel, int(lists.hits(rel).relevant[0]))


def _err(lists: Lists, top: float, k: int | None) -> str:
    at, stops = gains_of_a_cascade(lists, top)
    terms, reached = [], ""
    for place, stop in zip((at + 1).tolist(), _all(stops.tolist()), strict=True):
        if place <= (k or np.inf):
            terms.append(f"{reached}{stop}/{place}")
        reached += f"(1 - {stop}) × "
    return _sum(terms)


def _bpref(lists: Lists, rel: float) -> str:
    _, _, relevant, _ = _counts(lists, rel)
    wrong = int(((lists.true_value >= 0) & (lists.true_value < rel)).sum())
    most = min(relevant, wrong)
    before = np.minimum(nonrelevant_before(lists, rel)[0], most).tolist()
    return f"({_sum(f'(1 - {n}/{most or 1})' for n in before)}) / {relevant}"


def _judged(lists: Lists, k: int | None) -> str:
    looked = lists.known[: k or lists.run.total]
    return f"{int(looked.sum())} / {len(looked)}"


def _ndcg(lists: Lists, gain: str, k: int | None) -> str:
    def dcg(grades: Iterable[float]) -> str:
        return _sum(
            f"{_n(grade if gain == 'linear' else 2**grade - 1)}/log2({place + 1})"
            for place, grade in enumerate(grades, 1)
            if grade > 0 and (k is None or place <= k)
        )

    return f"({dcg(lists.value.tolist())}) / ({dcg(lists.true_value.tolist())})"


def _ndcgl(lists: Lists, rel: float) -> str:
    hits, n_hits, relevant, n = _counts(lists, rel)
    terms = [f"1/log2({place + 1})" for place in hits.position.tolist()]
    ideal = _sum(f"1/log2({place})" for place in range(2, relevant + 3))
    return f"({_sum([*terms, f'{n_hits}/{relevant}/log2({n + 2})'])}) / ({ideal})"


def _rbp(lists: Lists, p: float, rel: float, top: float | None, k: int | None) -> str:
    values = np.nan_to_num(lists.value[: k or lists.run.total]).tolist()
    terms = [
        f"{1 if top is None else f'{_n(min(value, top))}/{_n(top)}'} × {_n(p)}^{place}"
        for place, value in enumerate(values)
        if (value >= rel if top is None else value > 0)
    ]
    return f"(1 - {_n(p)}) × ({_sum(terms)})"


def _rbpl(lists: Lists, p: float, rel: float) -> str:
    _, n_hits, relevant, n = _counts(lists, rel)
    return f"{_rbp(lists, p, rel, None, None)} + {n_hits}/{relevant} × {_n(p)}^{n}"


def _rank_quality(lists: Lists, k: int, lam: float, low: float, high: float) -> str:
    n = lists.run.total
    k = min(k, n)
    partial = 1 - lists.score[np.newaxis]
    up_to = int(boundary(partial, k)[0])
    if up_to == 0:
        return "0"
    weight = rank_weights(n, k, lam=lam, lowest=low, highest=high)
    averaged = mean_weights(partial, weight)[0, :up_to]
    nearest = (1 - lists.true_value)[:k]

    def weighted(weights: Iterable[float], distances: Iterable[float]) -> str:
        pairs = zip(_all(weights), _all(distances), strict=True)
        return _sum(f"{w} × {d}" for w, d in pairs)

    actual = weighted(averaged, (1 - lists.value)[:up_to])
    target = weighted(weight[:k], nearest)
    return f"1 - (({actual}) - ({target})) / ({_sum(_all(weight[:up_to]))})"


WORKED: dict[str, Callable[..., str]] = {
    "hits": _hits,
    "hits_norm": _hits_norm,
    "MAE": _mae,
    "MSE": _mse,
    "quality_stromer": _stromer,
    "quality_mueller": _mueller,
    "correctness": _correctness,
    "completeness": _completeness,
    "kendall": _kendall,
    "distance": _distance,
    "spearman": _spearman,
    "F1": _f1,
    "F1s": _f1s,
    "LAR": _lar,
    "OLAR": _olar,
    "P": _p,
    "AP": _ap,
    "APs": _aps,
    "APL": _apl,
    "RR": _rr,
    "R": _recall,
    "Success": _success,
    "Rprec": _r_precision,
    "ERR": _err,
    "bpref": _bpref,
    "Judged": _judged,
    "nDCG": _ndcg,
    "nDCGL": _ndcgl,
    "RBP": _rbp,
    "RBPL": _rbpl,
    "rank_quality": _rank_quality,
}
