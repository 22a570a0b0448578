"""A paragraph on the methods, to be pasted into a paper, and what it cites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem import __version__
from quem.retrieval.showing.wording import rounds_text
from quem.wording import joined, percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.retrieval.findings import Findings

__all__ = ["methods_paragraph", "references"]

_PROCAKE = (
    "Bergmann, R., Grumbach, L., Malburg, L., & Zeyen, C. (2019). ProCAKE: A process-oriented "
    "case-based reasoning framework. ICCBR workshops; and its documentation, Retriever Evaluation."
)
_SMUCKER = (
    "Smucker, M. D., Allan, J., & Carterette, B. (2007). A comparison of statistical significance "
    "tests for information retrieval evaluation. CIKM, 623-632."
)
_HOLM = (
    "Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian "
    "Journal of Statistics, 6(2), 65-70."
)
_QUEM = (
    "Hayes, C. C., & Parzen, M. I. (1997). QUEM: An achievement test for knowledge-based systems. "
    "IEEE Transactions on Knowledge and Data Engineering, 9(6), 838-847."
)
_MAC_FAC = (
    "Forbus, K. D., Gentner, D., & Law, K. (1995). MAC/FAC: A model of similarity-based retrieval. "
    "Cognitive Science, 19(2), 141-205."
)
_ORDER = "David, H. A., & Nagaraja, H. N. (2003). Order statistics (3rd ed.). Wiley."
_HEOM = (
    "Wilson, D. R., & Martinez, T. R. (1997). Improved heterogeneous distance functions. Journal "
    "of Artificial Intelligence Research, 6, 1-34."
)


def methods_paragraph(found: Findings) -> str:
    """Write the methods as a paragraph.

    Parameters
    ----------
    found : Findings
    """
    return " ".join(_sentences(found))


def _sentences(found: Findings) -> Iterator[str]:
    used, task = found.settings, found.task
    names = joined((one.name for one in found.scored), 8)
    n = f"{len(task.queries):,} quer{'y' if len(task.queries) == 1 else 'ies'}"
    base = (
        f"{n}, each case of the base in turn, left out of it"
        if task.leave_one_out
        else f"{n} to {len(task.cases):,} cases"
    )
    if names:
        yield f"{names} {'was' if len(found.scored) == 1 else 'were'} evaluated on {base}."
    truth = {
        "similarities": "the similarities of",
        "grades": "the relevance judgements of",
        "experts": "the consensus order, by average rank, of",
    }[found.truth.kind]
    yield f"Their lists were held against {truth} {found.truth.source}."
    yield (
        f"Measures were averaged over the queries, with {percent(used.level)} percentile bootstrap "
        f"intervals of {used.bootstrap:,} replicates"
        + (" over queries and judges." if found.n_panels else ".")
    )
    if any(one.run.lists.tied.any() for one in found.scored):
        yield {
            "expected": "Scores are means over all orders of tied cases.",
            "id": "Tied cases were ordered by id, the last first.",
            "input": "Tied cases were taken in the order given.",
        }[used.ties]
    if any(one.n_failed for one in found.scored):
        yield "Queries for which a retriever failed were scored as empty lists."
    if found.differences:
        yield (
            "Retrievers were compared by paired randomisation tests (Smucker et al., 2007), "
            "adjusted after Holm (1979)."
        )
    if any(one.source in ("linear", "python") for one in found.evaluated):
        yield (
            f"Retrieval times are {rounds_text(found)} (David & Nagaraja, 2003), after "
            f"{used.warm_up} call{'' if used.warm_up == 1 else 's'} to warm up."
        )
    if found.mac_fac is not None:
        yield (
            f"As MAC/FAC (Forbus et al., 1995), {found.mac_fac.mac} filtered the case base for "
            f"{found.mac_fac.fac}."
        )
    if any(one.source == "linear" for one in found.evaluated):
        yield (
            "The linear retriever takes the weighted mean of the attributes' similarities, those "
            "of numbers relative to their range (Wilson & Martinez, 1997)."
        )
    yield f"Analyses were done with quem {__version__}."


def references(found: Findings) -> list[str]:
    """Give what the paragraph cites, and where the measures are from."""
    cited = [(_PROCAKE, found.truth.kind == "similarities"), (_QUEM, found.experts is not None)]
    cited += [(_SMUCKER, bool(found.differences)), (_HOLM, bool(found.differences))]
    cited.append((_MAC_FAC, found.mac_fac is not None))
    cited.append((_ORDER, any(len(one.run.timed) for one in found.evaluated)))
    cited.append((_HEOM, any(one.source == "linear" for one in found.evaluated)))
    return [text for text, wanted in cited if wanted]
