"""Decisions are written into a study file, and everything else stays as its author wrote it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quem.errors import QuemError
from quem.study.document import parse_document
from quem.study.models import Reviewed
from quem.study.rewriting import save_reviewed, with_reviewed

if TYPE_CHECKING:
    from pathlib import Path

ONE = {"problem": "P1", "solver": "S1", "words": "Claude", "decision": "redact"}
TWO = {"words": 'it\'s: "4.1" #1 {é}', "decision": "accept"}
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
    "a list": (
        "judging:\n  reviewed:\n  # first\n  - {words: Old, decision: accept}  # said Ann\n"
        "  repeat: 1\n"
    ),
    "a list of lines": (
        "judging:\n  reviewed:\n    - words: Old\n      decision: accept  # said Ann\n"
        "    # the other\n    - {words: Older, decision: accept}\n  repeat: 1  # twice\n"
    ),
    "a list at the end": "judging:\n  reviewed:\n  - {words: Old, decision: accept}",
    "JSON": '{"id": "x", "judging": {"repeat": 1},\n "subjects": []}',
    "JSON without": '{\n "id": "x"\n}\n',
    "other line ends": "id: 'a\u2028 b\u0085 c 😀'\njudging:\n  repeat: 1  # 😀\n",
}  # fmt: skip


@pytest.mark.parametrize("text", LAYOUTS.values(), ids=LAYOUTS)
def test_every_layout(text: str) -> None:
    """Added, changed and taken back; each comment and each other line stays."""
    before = parse_document(text, "x").content
    section = before.get("judging") or {}
    old = section.get("reviewed") or []
    for entries in ([*old, ONE], [*old, ONE, TWO], [*old[1:], TWO], [TWO], []):
        after = with_reviewed(text, entries)
        content = parse_document(after, "x").content
        assert content["judging"].pop("reviewed") == entries
        rest = {key: value for key, value in section.items() if key != "reviewed"}
        assert content == {**before, "judging": rest}
        kept = [line for line in text.split("\n") if "reviewed" not in line and "Old" not in line]
        for line in kept:
            comment = line.partition("#")[2]
            is_of_old = "said Ann" in comment and old and old[0] not in entries
            assert is_of_old or not entries or comment in after, after
        assert with_reviewed(after, entries) == after
        text_again = with_reviewed(after, [*entries, ONE]) if ONE not in entries else after
        assert parse_document(text_again, "x").content["judging"]["reviewed"][-1]


@given(
    st.sampled_from(sorted(LAYOUTS)),
    st.lists(
        st.fixed_dictionaries(
            {
                "words": st.text(
                    st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=8
                ),
                "decision": st.sampled_from(["accept", "redact"]),
            }
        ),
        max_size=4,
        unique_by=lambda entry: entry["words"],
    ),
    st.data(),
)
def test_any_words(layout: str, entries: list[dict[str, str]], data: st.DataObject) -> None:
    """Whatever the words are, they are read as they were written, also after others went."""
    text = with_reviewed(LAYOUTS[layout], entries)
    for _ in range(2):
        entries = data.draw(st.lists(st.sampled_from(entries), unique_by=str)) if entries else []
        text = with_reviewed(text, entries)
        read = parse_document(text, "x").content["judging"]["reviewed"]
        assert sorted(map(str, read or [])) == sorted(map(str, entries))


def test_the_file_keeps_its_form(tmp_path: Path) -> None:
    """Encoding, line ends, permissions, and a link to it."""
    path = tmp_path / "study.yaml"
    entry = Reviewed.model_validate(ONE)
    for raw, after in (
        (b"id: x\r\ntitle: y\r\n", b"id: x\r\ntitle: y\r\njudging:\r\n  reviewed:\r\n"),
        (b"\xef\xbb\xbfid: x\n", b"\xef\xbb\xbfid: x\njudging:\n"),
        ("id: é\n".encode("utf-16"), "id: é\njudging:\n".encode("utf-16")),
    ):
        path.write_bytes(raw)
        path.chmod(0o640)
        link = tmp_path / "link.yaml"
        link.unlink(missing_ok=True)
        link.symlink_to(path.name)
        save_reviewed(link, "link.yaml", [entry])
        assert path.read_bytes().startswith(after)
        assert link.is_symlink()
        assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(one.name for one in tmp_path.iterdir()) == ["link.yaml", "study.yaml"]


@pytest.mark.parametrize("text", ["id: x\njudging: &a {}\nother: *a\n", "id: x\n...\n"])
def test_what_is_unclear_stays(tmp_path: Path, text: str) -> None:
    """The lines to add are named."""
    path = tmp_path / "study.yaml"
    path.write_text(text)
    with pytest.raises(QuemError, match="by hand") as caught:
        save_reviewed(path, "study.yaml", [Reviewed.model_validate(ONE)])
    line = "- {problem: P1, solver: S1, words: Claude, decision: redact}"
    assert str(caught.value.mistakes[-1]) == line
    assert path.read_text() == text


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions are another matter there")
def test_a_file_that_may_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing changes, and the lines to add are named."""
    path = tmp_path / "study.yaml"
    path.write_text("id: x\n")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anything
    with pytest.raises(QuemError, match="cannot be written: Permission denied") as caught:
        save_reviewed(path, "study.yaml", [Reviewed.model_validate(ONE)])
    assert "words: Claude" in str(caught.value.mistakes[-1])
    assert path.read_text() == "id: x\n"
