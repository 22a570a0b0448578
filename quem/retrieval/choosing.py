"""Which measures an evaluation has, and how many cases it has to ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.measures import measure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from quem.measures import Measure
    from quem.retrieval.findings import TruthKind

__all__ = ["DEFAULTS", "chosen_measures", "depth_of", "mac_fac_measures"]

DEFAULTS: dict[TruthKind, tuple[str, ...]] = {
    "similarities": (
        "hits",
        "hits_norm",
        "MAE",
        "MSE",
        "MAE(by=case)",
        "MSE(by=case)",
        "quality_stromer",
        "quality_mueller",
        "correctness",
        "completeness",
        "distance",
        "kendall",
        "spearman",
        "nDCG",
    ),
    "grades": ("AP", "RR", "nDCG", "RBP", "hits_norm"),
    "experts": (
        "hits_norm",
        "quality_stromer",
        "correctness",
        "completeness",
        "distance",
        "kendall",
        "kendall(variant=b)",
        "spearman",
        "nDCG",
    ),
}
# The one that the answer is given in, where none of them is named.
_HEADLINES: dict[TruthKind, str] = {
    "similarities": "nDCG",
    "grades": "nDCG",
    "experts": "kendall(variant=b)",
}
_DEFAULT_K = 10
_MAC_FAC = ("hits_norm", "quality_stromer", "quality_mueller", "nDCG")


def chosen_measures(
    named: Iterable[str],
    k_values: Iterable[int],
    kind: TruthKind,
    n_candidates: int,
    headline: str = "",
) -> tuple[tuple[Measure, ...], int]:
    """Say by which measures lists are scored, and which of them is the headline.

    A measure that knows k, and is named without one, is there without k and with each k.

    Parameters
    ----------
    named : iterable of str
        As the study names them; by default those of `DEFAULTS`.
    k_values : iterable of int
        By default 10 where nothing is named and there are more cases than that; else none.
    kind : {"similarities", "grades", "experts"}
        What the ground truth is.
    n_candidates : int
    headline : str
        By default the first that is named, or that of `_HEADLINES`; with the first k where it is
        there with one.

    Returns
    -------
    measures : tuple of Measure
    headline : int
        Its place among them.
    """
    named, k_values = list(named), list(k_values)
    if not named and not k_values and n_candidates > _DEFAULT_K:
        k_values = [_DEFAULT_K]
    chosen: dict[str, Measure] = {}
    for spelling in named or DEFAULTS[kind]:
        plain = measure(spelling)
        chosen[plain.name] = plain
        if _takes_k(plain):
            for k in k_values:
                with_k = measure(plain, k=k)
                chosen[with_k.name] = with_k
    best = measure(headline or (named[0] if named else _HEADLINES[kind]))
    if not headline and _takes_k(best) and k_values:
        best = measure(best, k=k_values[0])
    chosen.setdefault(best.name, best)
    return tuple(chosen.values()), list(chosen).index(best.name)


def _takes_k(found: Measure) -> bool:
    return dict(found.values).get("k", 0) is None


def depth_of(measures: Iterable[Measure], n_candidates: int) -> int:
    """Say how many cases have to be retrieved: all, unless each measure looks at the k best."""
    depths = [dict(found.values).get("k") for found in measures]
    if all(isinstance(depth, int) for depth in depths):
        return min(n_candidates, max(int(depth or 0) for depth in depths))
    return n_candidates


def mac_fac_measures(k: int) -> tuple[Measure, ...]:
    """Say by which measures MAC/FAC is scored."""
    return tuple(measure(name, k=k) for name in _MAC_FAC)
