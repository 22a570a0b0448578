"""Spellings of measures, all mapped to the same measure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from quem.errors import Mistake, QuemError, refuse
from quem.io.text import closest
from quem.lists.measure import OWN, Definition, Measure
from quem.lists.own import CALL, define
from quem.lists.registry import DEFINITIONS, is_own

# A measure: its spelling, itself, its definition, an object of ir_measures, or a custom function
# that scores a list.
Chosen: TypeAlias = str | Measure | Definition | Callable[..., object]

_NAMES = {
    alias: entry
    for entry in DEFINITIONS.values()
    for alias in (entry.name.casefold(), *entry.aliases)
}
# Names of measures with parameters.
_WITH_VALUES = {
    "ndcg_burges": ("ndcg", {"gain": "exponential"}),
    "ndcg_exp": ("ndcg", {"gain": "exponential"}),
    "completeness_listed": ("completeness", {"of": "listed"}),
}
# Measures of other tools without a counterpart, by prefix, with the reason.
_REFUSED = {
    **dict.fromkeys(("alpha_", "err_ia", "nerr_ia", "nrbp", "nnrbp"), "is a measure of diversity"),
    **dict.fromkeys(("ap_ia", "p_ia", "strec"), "is a measure of diversity"),
    **dict.fromkeys(("num_", "numrel", "numret", "numq"), "is a count, not a measure"),
    "infap": "needs judgments of a sample, with its design",
    "gm_map": "is a geometric mean; use AP",
    "fallout": "needs the size of the collection",
    "iprec": "is interpolated; use P@k or AP",
    "11pt": "is interpolated; use AP",
    "auc": "is a measure of classifiers",
    "utility": "has no one definition",
    "compat": "compares with ideal lists; use nDCG, or rank_quality",
}
_PARAMETERS = {"cutoff": "k", "min_rel": "rel", "dcg": "gain", "judged_only": "unjudged"}
_VALUES = {
    "gain": {"log2": "linear", "exp-log2": "exponential"},
    "unjudged": {"true": "skip", "false": "count"},
}
_SPELLED = re.compile(r"([\w.-]+)\s*(?:\(([^()]*)\))?\s*(?:@\s*([^\s@]+))?")
# ir_measures has its own default, and its Accuracy is not the share of right answers.
_RBP_OF_IR_MEASURES = 0.8
_OTHER_ACCURACY = "of ir_measures says how often relevant items are before others; use bpref"


def measure(
    spelling: Chosen, own: Mapping[str, Definition] | None = None, /, **values: object
) -> Measure:
    """Find a measure with values for its parameters.

    Parameters
    ----------
    spelling : str, Measure, Definition or callable
        A name with parameters as in ``nDCG``, ``hits@5``, ``RBP(p=0.8)`` and
        ``AP(rel=2)@10``; ``@10`` is short for ``k=10``. The names of trec_eval, ir_measures, and
        ranx are known, such as ``ndcg_cut_10``, and so are objects of ir_measures. Or a measure
        of the user; see `quem.lists.define`.
    own : mapping of str to Definition, optional
        Measures of the user that can be spelled too, by their names; where quem has one of that
        name, as in ``own.recall``.
    **values
        Parameters by name, instead of those in the spelling.

    Raises
    ------
    QuemError
        There is no such measure or parameter, or a value is wrong.
    """
    if isinstance(spelling, Measure):
        return _own_name(spelling.definition).with_values({**dict(spelling.values), **values})
    if isinstance(spelling, Definition):
        return _own_name(spelling).with_values(values)
    if hasattr(spelling, "NAME") and hasattr(spelling, "params"):
        return _of_ir_measures(spelling, values)
    if not isinstance(spelling, str) and callable(spelling):
        return _own_name(define(spelling)).with_values(values)
    split = split_spelling(spelling) if isinstance(spelling, str) else None
    if split is None:
        raise QuemError(
            f"{spelling!r} is not a measure; write it like AP, AP@10, RBP(p=0.8) or AP(rel=2)@10"
        )
    name, spelled = split
    found, preset = definition(name, own, spelling)
    shown = spelling.strip().removeprefix(OWN)
    return found.with_values({**preset, **spelled, **values}, shown)


def measures(
    spelled: Chosen | Iterable[Chosen], own: Mapping[str, Definition] | None = None, /
) -> tuple[Measure, ...]:
    """Find several measures, without duplicates in different spellings.

    Parameters
    ----------
    spelled : str, or iterable of str, Measure, Definition or callable
        A text has them one after another, as in ``"nDCG@10 map recall@100"``.

    Raises
    ------
    QuemError
        What is wrong with each of them.
    """
    if isinstance(spelled, str):
        # trec_eval has several cutoffs of one measure, as in P.5,10.
        several = re.sub(
            r"(\w+)\.(\d+(?:,\d+)+)",
            lambda m: " ".join(f"{m[1]}.{k}" for k in m[2].split(",")),
            spelled,
        )
        spelled = [one for one in re.split(r"[\s,]+(?![^(]*\))", several) if one]
    elif isinstance(spelled, Measure | Definition) or callable(spelled):
        spelled = [spelled]
    found: dict[str, Measure] = {}
    mistakes: list[Mistake | str] = []
    for one in spelled:
        try:
            entry = measure(one, own)
        except QuemError as error:
            mistakes += error.mistakes
            continue
        if found.setdefault(entry.name, entry).definition != entry.definition:
            mistakes.append(f"two measures have the name {entry.name}; give one another name")
    refuse(mistakes)
    if not found:
        raise QuemError("no measure is named; name one such as AP")
    return tuple(found.values())


def definition(
    name: str, own: Mapping[str, Definition] | None = None, spelling: str = ""
) -> tuple[Definition, Mapping[str, object]]:
    """Find a measure by its name, regardless of case, with the values that the name implies."""
    folded = name.casefold().replace("-", "_")
    users = {key.casefold().removeprefix(OWN): entry for key, entry in (own or {}).items()}
    preset: Mapping[str, object] = {}
    if folded in _WITH_VALUES:
        folded, preset = _WITH_VALUES[folded]
    if folded in _NAMES:
        return _NAMES[folded], preset
    if folded.removeprefix(OWN) in users:
        return _own_name(users[folded.removeprefix(OWN)]), {}
    for start, why in _REFUSED.items():
        if folded.startswith(start):
            raise QuemError(f"{spelling or name}: {why}")
    known = {**{key: entry.name for key, entry in _NAMES.items()}, **{key: key for key in users}}
    close = closest(folded, known)
    hint = f"did you mean {known[close]}?" if close else "`quem score --measures` lists them"
    raise QuemError(f"there is no measure {spelling.strip() or name!r}; {hint}")


def split_spelling(text: str) -> tuple[str, dict[str, str]] | None:
    """Split ``name(parameter=value, ...)@k``, or another tool's spelling, into its parts."""
    text, values = _as_others_write(text.strip())
    match = _SPELLED.fullmatch(text)
    if match is None:
        return None
    for part in filter(None, map(str.strip, (match[2] or "").split(","))):
        name, equals, value = (word.strip() for word in part.partition("="))
        name, value = _as_ours(name, value.strip("'\""))
        if not (equals and name and value) or name in values:
            return None
        values[name] = value
    if match[3]:
        if "k" in values:
            return None
        values["k"] = match[3]
    return match[1], values


def _as_others_write(text: str) -> tuple[str, dict[str, str]]:
    """The suffixes of trec_eval and ranx: ``ndcg_cut_10``, ``rbp.95``, ``map-l2``."""
    values = {}
    if level := re.search(r"-l(\d+)(?=@|$)", text):
        text, values["rel"] = text[: level.start()] + text[level.end() :], level[1]
    if patience := re.match(r"rbp[._](\d+)(?=@|$)", text, re.IGNORECASE):
        text, values["p"] = f"RBP{text[patience.end() :]}", f"0.{patience[1]}"
    elif (cut := re.fullmatch(r"(?!set_)(\w+?)[._](\d+)", text, re.IGNORECASE)) and (
        cut[1].casefold() in _NAMES
    ):
        text, values["k"] = cut[1], cut[2]
    return text, values


def _as_ours(name: str, value: str) -> tuple[str, str]:
    name = _PARAMETERS.get(name, name)
    return name, _VALUES.get(name, {}).get(value.casefold(), value)


def _of_ir_measures(given: Any, values: Mapping[str, object]) -> Measure:  # noqa: ANN401
    if given.NAME == "Accuracy":
        raise QuemError(f"{given}: {_OTHER_ACCURACY}")
    found, preset = definition(given.NAME, spelling=str(given))
    spelled: dict[str, object] = dict(preset)
    for key, value in given.params.items():
        name, ours = _as_ours(key, str(value))
        spelled[name] = ours
    if found.name == "RBP":
        spelled.setdefault("p", _RBP_OF_IR_MEASURES)
    return found.with_values({**spelled, **values}, str(given))


def _own_name(one: Definition) -> Definition:
    """Prefix a custom measure that has the name of a built-in one."""
    folded = one.name.casefold()
    if is_own(one) and (folded in _NAMES or folded in _WITH_VALUES):
        return replace(one, name=f"{OWN}{one.name}")
    return one


def own_definition(
    target: object,
    *,
    name: str,
    better: str | None = None,
    low: float | None = None,
    high: float | None = None,
    citation: str = "",
) -> Definition:
    """The definition of a measure that a study names: a function or a definition."""
    if isinstance(target, type) or not (callable(target) or isinstance(target, Definition)):
        raise QuemError(f"is not a measure; name a {CALL} or a quem.lists.Definition")
    found = target if isinstance(target, Definition) else define(target, name=name)
    changed = {"better": better, "low": low, "high": high, "citation": citation or None}
    given: dict[str, Any] = {key: value for key, value in changed.items() if value is not None}
    return _own_name(replace(found, name=name, **given))


def describe_own(measures: Iterable[Measure]) -> list[str]:
    """A description of each custom measure, with its source."""
    own = dict.fromkeys(one.definition for one in measures if is_own(one.definition))
    return [f"{one.name}: {one.summary.rstrip('.')} ({one.citation})." for one in own]


def named(settings: Mapping[str, object]) -> tuple[dict[str, object], dict[str, Definition]]:
    """Names of the measures that are objects in settings, such as custom functions."""
    own: dict[str, Definition] = {}
    mistakes: list[Mistake | str] = []

    def spelled(one: object) -> object:
        if isinstance(one, str) or not (isinstance(one, Measure | Definition) or callable(one)):
            return one
        try:
            found = measure(one)
        except QuemError as error:
            mistakes.extend(error.mistakes)
            return ""
        if is_own(found.definition):
            name = found.definition.name
            if own.setdefault(name, found.definition) != found.definition:
                mistakes.append(f"two measures have the name {name}; give one another name")
        return found.name

    changed = dict(settings)
    value = changed.get("measures")
    if isinstance(value, Iterable) and not isinstance(value, str | Mapping):
        changed["measures"] = [spelled(one) for one in value]
    elif value is not None:
        changed["measures"] = spelled(value)
    refuse(mistakes)
    return changed, own
