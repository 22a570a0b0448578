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
FLOW = "systems: [{id: a}, {id: b},\n  {id: c}]\nproblems: [{id: P1}]\njudging: {}\n"


def content(text: str) -> Any:  # noqa: ANN401  whatever YAML holds
    """What a study file says."""
    return parse_document(text, "study.yaml").content


def test_lines_that_are_not_meant_stay() -> None:
    """A change of one value changes one line, and a comment stays where it is."""
    new = edited(STUDY, [ValueChange(("problems", 0, "title"), "Row 7")])
    before, after = STUDY.split("\n"), new.split("\n")
    assert [(a, b) for a, b in zip(before, after, strict=True) if a != b] == [
        ('  - {id: P1, title: "x: y"}   # first', '  - {id: P1, title: "Row 7"}   # first')
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_marks_stay(end: str, mark: str) -> None:
    """A file of Windows stays one."""
    text = mark + STUDY.replace("\n", end)
    new = edited(text, [ListChange(("judges",), added=({"id": "J1", "name": "Zoë"},))])
    assert new.startswith(mark + "# A study")
    assert new.count("\n") == text.count("\n") + 1
    assert new.count("\r") == (new.count("\n") if end == "\r\n" else 0)
    assert f'judges:   # none yet{end}  - {{id: J1, name: "Zoë"}}{end}' in new


LINES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
VALUES: st.SearchStrategy[Any] = st.one_of(
    LINES,
    st.integers(0, 99),
    st.sampled_from(["yes", "null", "~", "1e3", "a: b", "- x", "#no", "2027-01-31", '"', "'", "{"]),
)
ITEMS = st.dictionaries(st.sampled_from(["id", "name", "experience"]), VALUES, min_size=1)
LISTS = ["problems", "judges", "subjects", "systems"]


@st.composite
def changes_of(draw: st.DrawFn) -> list[ListChange | ValueChange]:
    """Some changes, each of which fits what the file says then."""
    text = draw(st.sampled_from([STUDY, FLOW]))
    made: list[ListChange | ValueChange] = []
    for _ in range(draw(st.integers(1, 4))):
        now = content(edited(text, made))
        name = draw(st.sampled_from(LISTS))
        size = len(now.get(name) or [])
        kind = draw(st.sampled_from(["list", "key", "value"] if size else ["list", "key"]))
        if kind == "list":
            removed = draw(st.sets(st.sampled_from(range(size)))) if size else set()
            added = tuple(draw(st.lists(ITEMS, max_size=3)))
            made.append(ListChange((name,), frozenset(removed), added))
        elif kind == "value":
            at, key = draw(st.integers(0, size - 1)), draw(st.sampled_from(["id", "name"]))
            made.append(ValueChange((name, at, key), draw(VALUES)))
        else:
            key = draw(st.sampled_from(["name", "email"]))
            made.append(ValueChange(("organizer", key), draw(VALUES)))
    return [*made, ValueChange(("title",), text)]


@given(changes_of())
def test_what_is_meant_is_what_comes_out(changes: list[ListChange | ValueChange]) -> None:
    """The content is what the changes say; every comment, and every line of another key, stays."""
    last = changes.pop()
    assert isinstance(last, ValueChange)
    text = last.value
    new = edited(text, changes)
    wanted = content(text)
    for change in changes:
        parent = wanted
        for key in change.loc[:-1]:
            parent = parent.setdefault(key, {}) if isinstance(parent, dict) else parent[key]
        key = change.loc[-1]
        if isinstance(change, ValueChange):
            parent[key] = plain_value(change.value)
        elif change.removed or change.added:
            items = parent.get(key) or []
            kept = [item for at, item in enumerate(items) if at not in change.removed]
            parent[key] = kept + [plain_value(item) for item in change.added]
    assert content(new) == wanted
    comments = re.findall(r"# .*", text)
    assert all(comment in new for comment in comments)
    touched = {change.loc[0] for change in changes}
    for key in {"kind", "title", "rankings", "judging"} - touched:
        lines = [line for line in text.split("\n") if line.startswith(f"{key}:")]
        assert all(line in new.split("\n") for line in lines)


VALID = "id: x\nproblems: [{id: P1}]\njudges: []\nsystems: [{id: a}]\nrankings: {from: store}\n"


def test_a_study_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    """A new text that is no study, or a file that changed meanwhile, is refused; it stays then."""
    path = tmp_path / "study.yaml"
    path.write_text(VALID)
    path.chmod(0o640)
    before, text = read_bytes(path)
    with pytest.raises(QuemError, match=r"study\.yaml:2"):
        replace_study(path, before, text.replace("id: P1", "idd: P1"))
    assert path.read_text() == VALID
    replace_study(path, before, edited(text, [ValueChange(("title",), "New")]))
    assert path.read_text() == VALID + "title: New\n"
    assert path.stat().st_mode & 0o777 == 0o640
    with pytest.raises(QuemError, match="was changed meanwhile"):
        replace_study(path, before, text)
    assert [file.name for file in tmp_path.iterdir()] == ["study.yaml"]


LAYOUTS = {
    "no section": "id: x\ntitle: y # why\n",
    "no line end": "id: x",
    "an empty section": "id: x\njudging:\nseed: 1\n",
    "an empty section with a note": "judging:  # later\nid: x\n",
    "braces": "id: x\njudging: {briefing: b.md}  # note\nmore: 1\n",
    "empty braces": "id: x\njudging: {}\n",
    "braces with the key": "judging: {reviewed: [], repeat: 1}  # note\n",
    "braces over lines": "judging: {\n  repeat: 1,  # twice\n}\nid: x\n",
    "lines": "id: x\njudging:\n  briefing: b.md   # read first\n\n# then\nsubjects:\n- {id: S1}\n",
    "a list beside": "judging:\n    identity_words:\n    - A  # one\n    - B\n\n# end\n",
    "a text over lines": "judging:\n  note: |\n    one\n    two\nid: x\n",
    "an empty list": "judging:\n  reviewed: []  # none\n  repeat: 1\n",
    "an empty key": "judging:\n  reviewed:\n  repeat: 1\n",
    "a list": "judging:\n  reviewed:\n  # first\n  - {words: Old}  # said Ann\n  repeat: 1\n",
    "a list of lines": "judging:\n  reviewed:\n    - words: Old\n      decision: accept  # Ann\n"
    "    # the other\n    - {words: Older, decision: accept}\n  repeat: 1  # twice\n",
    "a list at the end": "judging:\n  reviewed:\n  - {words: Old, decision: accept}",
    "JSON": '{"id": "x", "judging": {"repeat": 1},\n "subjects": []}',
    "JSON without": '{\n "id": "x"\n}\n',
    "other line ends": "id: 'a\u2028 b\u0085 c 😀'\njudging:\n  repeat: 1  # 😀\n",
}
WORDS = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=8)
REVIEWED = st.fixed_dictionaries(
    {"words": WORDS | st.just('it\'s: "4.1" #1 {é}'), "decision": st.sampled_from(["accept", "no"])}
)


def reviewed(text: str) -> list[dict[str, str]]:
    return (content(text).get("judging") or {}).get("reviewed") or []


@pytest.mark.parametrize("text", LAYOUTS.values(), ids=LAYOUTS)
@settings(max_examples=12)
@given(data=st.data())
def test_a_list_is_edited_in_every_layout(text: str, data: st.DataObject) -> None:
    """Entries are added and taken back, whatever their words; all else and each comment stays."""
    before, comments = content(text), re.findall(r"#.*", text)
    before["judging"] = {**(before.get("judging") or {}), "reviewed": None}
    chosen = data.draw(st.lists(REVIEWED, max_size=4, unique_by=lambda one: one["words"]))
    for entries in ([*reviewed(text), *chosen], chosen, chosen[1:], []):
        held = reviewed(text)
        gone = frozenset(at for at, entry in enumerate(held) if entry not in entries)
        added = tuple(entry for entry in entries if entry not in held)
        text = edited(text, [ListChange(("judging", "reviewed"), gone, added)])
        now = content(text)
        assert sorted(map(str, reviewed(text))) == sorted(map(str, entries))
        assert {**now, "judging": {**(now.get("judging") or {}), "reviewed": None}} == before
        assert all(comment in text for comment in comments)
        if text.startswith("{"):
            json.loads(text)


def test_a_link_stays_one_and_what_may_not_be_written_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file behind a link changes; one that may not be written does not."""
    path, link = tmp_path / "study.yaml", tmp_path / "link.yaml"
    path.write_text(VALID)
    link.symlink_to(path.name)
    before, text = read_bytes(link)
    replace_study(link, before, edited(text, [ValueChange(("title",), "New")]))
    assert link.is_symlink()
    assert path.read_text() == VALID + "title: New\n"
    before, text = read_bytes(link)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anything
    with pytest.raises(QuemError, match="cannot be written: Permission denied"):
        replace_study(link, before, edited(text, [ValueChange(("title",), "Newer")]))
    assert path.read_text() == text
