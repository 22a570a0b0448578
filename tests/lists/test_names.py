"""How measures are spelled, here and elsewhere; which spellings are refused, and why."""

from __future__ import annotations

import re
from typing import Any

import ir_measures
import pytest
from ir_measures import AP, RBP, RR, Judged, P, R, Rprec, SetF, SetP, SetR, nDCG

from quem import lists
from quem.errors import QuemError

# Texts that mean the same, separated by two spaces, and what ir_measures calls it.
SPELLINGS: dict[str, tuple[str, *tuple[Any, ...]]] = {
    "AP": ("ap  map  average_precision  AP(rel=1)  AP(unjudged=count)", AP, AP(rel=1)),
    "AP@10": (" AP @ 10  AP(k=10)  AP(cutoff=10)  map_cut_10  map_cut.10  MAP@10", AP @ 10),
    "AP(rel=2)": ("AP(min_rel=2)  map-l2", AP(rel=2)),
    "AP(rel=2)@100": ("map-l2@100  map@100-l2", AP(rel=2) @ 100),
    "AP(unjudged=skip)@5": ("AP(judged_only=True)@5", AP(judged_only=True) @ 5),
    "P": ("precision  set_P", SetP),
    "P@10": ("P_10  P.10  precision@10", P @ 10),
    "R": ("recall  set_recall", SetR),
    "R@100": ("recall_100  recall.100  recall@100", R @ 100),
    "F1": ("f1  set_F", SetF),
    "RR": ("mrr  recip_rank  reciprocal_rank", RR, RR(judged_only=False)),
    "RR@10": ("mrr@10", RR @ 10),
    "Success@5": ("success_5  hit_rate@5  accuracy@5  match@5", ir_measures.Success @ 5),
    "Rprec": ("rprec  R-precision  r_precision", Rprec),
    "nDCG": ("ndcg  NDCG  nDCG(dcg='log2')  nDCG(gain=linear)", nDCG, nDCG(dcg="log2")),
    "nDCG@10": ("ndcg_cut_10  ndcg_cut.10  ndcg@10", nDCG @ 10),
    "nDCG(gain=exponential)@5": ("nDCG(dcg=exp-log2)@5  ndcg_burges@5", nDCG(dcg="exp-log2") @ 5),
    "RBP": ("rbp  RBP(p=0.5)  rbp.5  rank_biased_precision", RBP(p=0.5)),
    "RBP(p=0.95)@20": ("rbp.95@20  RBP(p=.95)@20", RBP(p=0.95) @ 20),
    "RBP(p=0.8)": ("RBP(p=0.80)", RBP, RBP(p=0.8)),
    "RBP(p=0.8, top=3)": ("rbp(p=0.80, top=3)",),
    "bpref": ("bpref", ir_measures.Bpref),
    "ERR@20": ("err@20", ir_measures.ERR @ 20),
    "Judged@10": ("judged@10", Judged @ 10),
    "completeness(of=listed)": ("completeness_listed",),
    "kendall": ("kendall_tau",),
    "MAE(by=case)": ("mae( by = case )",),
    "rank_quality": ("rank_quality@10",),
    "OLAR(max_length=7)": ("olar(max_length='7')",),
    "LAR": ("lar  length_aware_recall",),
    "hits@10": ("Hits(k=10)",),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_spellings(name: str) -> None:
    texts, *theirs = SPELLINGS[name]
    spelled = [name, *texts.split("  "), *theirs]
    assert {str(lists.measure(one)) for one in spelled} == {name}
    assert len(set(lists.measures(spelled))) == 1
    assert lists.evaluate({"q": ["a"]}, {"q": {"a": 1, "b": 1}}, spelled).names == (name,)


def test_texts_of_several() -> None:
    """A text names several, each once, in the order in which they are first named."""
    text = "nDCG@10 map,recall@100 P.5,10 AP RBP(p=0.8, rel=2) ndcg_cut_10"
    names = ["nDCG@10", "AP", "R@100", "P@5", "P@10", "RBP(p=0.8, rel=2)"]
    assert [str(one) for one in lists.measures(text)] == names
    assert [str(one) for one in lists.measures(text.split(" ", 1)[:1])] == names[:1]
    assert [one.heading for one in lists.measures("RBP rbp.95@5 AP")] == [
        *("RBP(p=0.5)", "RBP(p=0.95)@5", "AP"),
    ]


@pytest.mark.parametrize(
    ("spelling", "message"),
    [
        ("NDGC@10", "there is no measure 'NDGC@10'; did you mean nDCG?"),
        ("wow", "there is no measure 'wow'; `quem score --measures`"),
        ("nDCG@0", "nDCG@0: the cutoff should be a whole number from 1 to 1,000,000,000"),
        ("AP@1.5", "AP@1.5: the cutoff should be a whole number"),
        ("AP@many", "AP@many: the cutoff should be a whole number"),
        ("AP(x=2)", "AP(x=2): 'x' is not a parameter of AP; it has k, rel"),
        ("LAR@5", "LAR@5: LAR has no cutoff"),
        ("AP(rel=nan)", "AP(rel=nan): rel should be a number"),
        ("RBP(p=1)", "RBP(p=1): p should be a number from 0 to 0.999999"),
        ("MAE(by=item)", "MAE(by=item): by should be position or case"),
        ("nDCG(dcg=root)", "nDCG(dcg=root): gain should be linear or exponential"),
        (ir_measures.alpha_nDCG @ 10, "alpha_nDCG@10: is a measure of diversity"),
        ("infAP", "infAP: needs judgments of a sample"),
        ("iprec_at_recall_0.10", "iprec_at_recall_0.10: is interpolated"),
        (ir_measures.Accuracy, "Accuracy: of ir_measures says"),
        (nDCG(gains={1: 5}), "nDCG(gains={1:5}): 'gains' is not a parameter of nDCG"),
        *(
            (wrong, "is not a measure; write it")
            for wrong in ("AP(", "AP(rel)", "AP(rel=1, rel=2)", "AP(k=1)@2", "", 3)
        ),
    ],
)
def test_refusals(spelling: lists.Measure, message: str) -> None:
    with pytest.raises(QuemError, match=re.escape(message)):
        lists.measure(spelling)


def test_all_refusals_at_once() -> None:
    with pytest.raises(QuemError) as caught:
        lists.measures("NDGC AP LAR@5")
    assert [str(one)[:14] for one in caught.value.mistakes] == ["there is no me", "LAR@5: LAR has"]
    with pytest.raises(QuemError, match="no measure is named; name one such as AP"):
        lists.measures([])


def recall(items: list[str], _: object) -> float:
    return float(len(items))


def test_own_names() -> None:
    """A function with a name of ours has a prefix; without it the name is ours."""
    own = {"recall": lists.define(recall), "size": lists.define(recall, name="size")}
    names = {"recall": "R", "own.recall": "own.recall", "own.size@2": "size@2", "SIZE": "size"}
    assert {key: lists.measure(key, own).name for key in names} == names
    scores = lists.evaluate({"q": ["a", "b"]}, {"q": ["a"]}, [recall, "recall"])
    assert scores.names == ("own.recall", "R")
    assert (scores.values.tolist(), scores["own.recall"].tolist()) == ([[2, 1]], [2])
