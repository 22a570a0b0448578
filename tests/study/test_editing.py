"""Editing a study file: what is meant changes, and nothing else does."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quem.errors import QuemError
from quem.studyfile.document import parse_document
from quem.studyfile.editing import (
    ListChange,
    ValueChange,
    edited,
    plain_value,
    read_bytes,
    replace_study,
)

if TYPE_CHECKING:
    from pathlib import Path

    Change = ListChange | ValueChange

STUDY = """\
# A study of ours.
kind: experience   # the kind
title:   'My study'
problems:
  - {id: P1, title: "x: y"}   # first
  # about the second
  - id: P2
    title: >
      long
      text
judges: []   # none yet
subjects:
# nobody
systems:
  - {id: a}  # ours
  - {id: b, name: "B: the second"}

  - id: c
    version: 2
organizer: {name: Me}
rankings: {from: store}
# the end
"""
LAYOUTS = {
    "all": STUDY,
    "flow": "systems: [{id: a}, {id: b},\n  {id: c}]\nproblems: [{id: P1}]\njudging: {}\n",
    "no section": "id: x\ntitle: y # why\n",
    "no line end": "id: x",
    "an empty section": "id: x\njudging:\nseed: 1\n",
    "an empty section with a note": "judging:  # later\nid: x\n",
    "braces": "id: x\njudging: {briefing: b.md}  # note\nmore: 1\n",
    "braces with the key": "judging: {reviewed: [], repeat: 1}  # note\n",
    "braces over lines": "judging: {\n  repeat: 1,  # twice\n}\nid: x\n",
    "lines": "id: x\njudging:\n  briefing: b.md   # read first\n\n# then\nsubjects:\n- {id: S1}\n",
    "a list beside": "judging:\n    identity_words:\n    - A  # one\n    - B\n\n# end\n",
    "a text over lines": "judging:\n  note: |\n    one\n    two\nid: x\n",
    "an empty list": "judging:\n  reviewed: []  # none\n  repeat: 1\n",
    "an empty key": "judging:\n  reviewed:\n  repeat: 1\n",
    "a list": "judging:\n  reviewed:\n  # first\n  - {words: Old}  # said Ann\n  repeat: 1\n",
    "a list of lines": "judging:\n  reviewed:\n    - words: Old\n      id: a  # said Ann\n"
    "    # the other\n    - {words: Older, id: b}\n  repeat: 1  # twice\n",
    "a list at the end": "judging:\n  reviewed:\n  - {words: Old, decision: accept}",
    "JSON": '{"id": "x", "judging": {"repeat": 1},\n "subjects": []}',
    "JSON without": '{\n "id": "x"\n}\n',
    "other line ends": "id: 'a\u2028 b\u0085 c 😀'\njudging:\n  repeat: 1  # 😀\n",
}
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
ODD = ["yes", "null", "~", "1e3", "a: b", "- x", "#no", "2027-01-31", '"', "'", "{"]
VALUES: st.SearchStrategy[Any] = st.one_of(TEXTS, st.integers(0, 99), st.sampled_from(ODD))
ITEMS = st.dictionaries(st.sampled_from(["id", "name", "words"]), VALUES, min_size=1)
LISTS = [("problems",), ("judges",), ("subjects",), ("systems",), ("judging", "reviewed")]


def content(text: str) -> Any:  # noqa: ANN401  whatever YAML holds
    """What a study file says."""
    return parse_document(text, "study.yaml").content


def at(tree: Any, loc: tuple[Any, ...]) -> Any:  # noqa: ANN401  the same
    """What is at a place, if anything is."""
    for key in loc:
        tree = (tree or {}).get(key) if isinstance(key, str) else tree[key]
    return tree


@st.composite
def changes_of(draw: st.DrawFn, text: str) -> list[Change]:
    """Some changes, each of which fits what the file says then."""
    made: list[Change] = []
    for _ in range(draw(st.integers(1, 4))):
        loc = draw(st.sampled_from(LISTS))
        places = range(len(at(content(edited(text, made)), loc) or ()))
        kind = draw(st.sampled_from(["list", "list", "key", "value"]))
        if kind == "list":
            removed = draw(st.sets(st.sampled_from(places))) if places else set()
            made.append(
                ListChange(loc, frozenset(removed), tuple(draw(st.lists(ITEMS, max_size=3))))
            )
        elif kind == "value" and places:
            key = draw(st.sampled_from(["id", "name"]))
            made.append(ValueChange((*loc, draw(st.sampled_from(places)), key), draw(VALUES)))
        else:
            key = draw(st.sampled_from(["name", "email"]))
            made.append(ValueChange(("organizer", key), draw(VALUES)))
    return made


def changed(tree: Any, change: Change) -> None:  # noqa: ANN401  the same
    """Change what a study file says as its text is to be changed."""
    *above, key = change.loc
    for one in above:
        if isinstance(one, str) and not tree.get(one):
            tree[one] = {}
        tree = tree[one]
    if isinstance(change, ValueChange):
        tree[key] = plain_value(change.value)
    else:
        kept = [one for n, one in enumerate(tree.get(key) or ()) if n not in change.removed]
        tree[key] = kept + [plain_value(item) for item in change.added]


def without_empty(tree: Any) -> Any:  # noqa: ANN401  the same
    """No list or section means an empty one."""
    if isinstance(tree, dict):
        pruned = {key: without_empty(value) for key, value in tree.items()}
        return {key: value for key, value in pruned.items() if value not in ({}, [], None)}
    return tree


@pytest.mark.parametrize("layout", LAYOUTS)
@settings(max_examples=20)
@given(data=st.data())
def test_what_is_meant_is_what_comes_out(layout: str, data: st.DataObject) -> None:
    """The content is what the changes say; comments, line ends, and other keys' lines stay."""
    plain = LAYOUTS[layout]
    mark = data.draw(st.sampled_from(["", "\ufeff"]))
    end = data.draw(st.sampled_from(["\n", "\r\n"] if "\n" in plain else ["\n"]))
    text = mark + plain.replace("\n", end)
    changes = data.draw(changes_of(text))
    new = edited(text, changes)
    wanted = content(text)
    for change in changes:
        changed(wanted, change)
    assert without_empty(content(new)) == without_empty(wanted)
    assert new.startswith(mark)
    assert end == "\n" or new.count("\r") == new.count("\n")
    assert all(comment in new for comment in re.findall(r"#.*", plain))
    touched = {change.loc[0] for change in changes}
    lines = [line for line in text.split(end) if re.match(r"\w+:", line)]
    untouched = [line for line in lines if line.partition(":")[0] not in touched]
    assert set(untouched) <= set(new.split(end))
    if layout.startswith("JSON"):
        json.loads(new.removeprefix(mark))


VALID = "id: x\nproblems: [{id: P1}]\njudges: []\nsystems: [{id: a}]\nrankings: {from: store}\n"


def test_a_study_is_replaced_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text that is no study, a file that changed meanwhile or may not be written is refused."""
    path, link = tmp_path / "study.yaml", tmp_path / "link.yaml"
    path.write_text(VALID)
    path.chmod(0o640)
    link.symlink_to(path.name)
    before, text = read_bytes(link)
    with pytest.raises(QuemError, match=r"link\.yaml:2"):
        replace_study(link, before, text.replace("id: P1", "idd: P1"))
    assert path.read_text() == VALID
    new = edited(text, [ValueChange(("title",), "New")])
    replace_study(link, before, new)
    assert new == path.read_text() == VALID + "title: New\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert link.is_symlink()
    with pytest.raises(QuemError, match="was changed meanwhile"):
        replace_study(link, before, text)
    before, text = read_bytes(link)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anything
    with pytest.raises(QuemError, match="cannot be written: Permission denied"):
        replace_study(link, before, VALID)
    assert path.read_text() == new
    assert {file.name for file in tmp_path.iterdir()} == {"study.yaml", "link.yaml"}
