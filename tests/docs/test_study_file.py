"""``docs/reference/study-file.md`` says what the models of the study file say."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from pydantic_core import PydanticUndefined

import quem
import quem.studyfile
from quem.studyfile.document import parse_document
from quem.studyfile.reading import draft_study
from quem.studyfile.schema import known_keys
from tests.docs.keys import KINDS, TABLES, keys_of, literals, plain, rows_of, written
from tests.docs.pages import ROOT, blocks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEXT = (ROOT / "docs/reference/study-file.md").read_text(encoding="utf-8")
# Their defaults are set on reading, and tested separately.
FILLED_IN = {"id", "title", "rankings", "analysis.at_least"}
ROWS = rows_of(KINDS["experience"][0])


@pytest.mark.parametrize("kind", quem.studyfile.KINDS)
def test_rows_are_those_of_the_models(kind: str) -> None:
    """Tables and messages name the keys of the models, with their defaults and fixed choices."""
    page, model = KINDS[kind]
    rows, keys = rows_of(page), list(keys_of(model))
    assert set(rows) == {key.name for key in keys}
    known = {".".join((*path, name)) for path, names in known_keys(model) for name in names}
    assert {name.replace("[]", "") for name in rows} == known
    for key in keys:
        _, default, allowed = rows[key.name]
        value: Any = key.field.get_default()
        if value is PydanticUndefined:
            assert key.name in FILLED_IN or default == "required", key.name
        elif key.name not in FILLED_IN:
            assert written(default.strip("`")) == plain(value), key.name
        if choices := set(literals(key.field.annotation)):
            assert set(re.findall(r"`([^`]*)`", allowed)) == choices, key.name


def test_generated_tables_are_those_of_the_code() -> None:
    """``python docs/make_tables.py`` would change nothing."""
    for page in TABLES["PAGES"] | TABLES["SHARED"]:
        assert TABLES["with_tables"](page) == (ROOT / "docs" / page).read_text("utf-8"), page
    assert TABLES["with_measures"]() == (ROOT / "docs/reference/measures.md").read_text("utf-8")


def test_what_is_left_out_or_plain_is_read_as_the_page_says(tmp_path: Path) -> None:
    """The id is that of folder and file, the title the id; 007, no and 1.10 stay words."""
    path = tmp_path / "p3-1997" / "study.yaml"
    path.parent.mkdir()
    path.write_text("judges: [{id: 007}, {id: no}]\nsystems: [{id: s, version: 1.10}]\n")
    spec = draft_study(path).spec
    assert spec is not None
    assert f"`{spec.id}`" in ROWS["id"][1]
    assert spec.title == spec.id
    assert ROWS["title"][1] == "the `id`"
    assert [judge.id for judge in spec.judges] == ["007", "no"]
    assert spec.systems[0].version == "1.10"
    assert ROWS["rankings"][1] == "required"
    with pytest.raises(quem.QuemError, match="name the file that holds the rankings"):
        quem.load_study(path)


def _section(title: str) -> str:
    return TEXT.split(f"\n### {title}\n", 1)[1].split("\n## ", 1)[0].split("\n### ", 1)[0]


def _layouts() -> Iterator[tuple[str, str, dict[str, str]]]:
    """Each example: its name, its part of a study file, and its files."""
    named = {"preflib": ("p1.soc", "p2.toi")}
    for layout in ("long", "wide", "preflib", "averages"):
        parts = blocks(_section(layout))
        heads = [index for index, block in enumerate(parts) if block.language == "yaml"]
        for number, head in enumerate(heads):
            files = []
            for block in parts[head + 1 :]:
                if block.language == "yaml":
                    break
                files.append(block.text)
            source = parse_document(parts[head].text, "doc").content["rankings"]
            names = named.get(layout) or (source["file"],)
            label = f"{layout}-{number + 1}" if len(heads) > 1 else layout
            yield label, parts[head].text, dict(zip(names, files, strict=True))


LAYOUTS = {label: (source, files) for label, source, files in _layouts()}
SHARED = blocks(TEXT.split("\n## Layouts of rankings\n", 1)[1])[0].text


def _analysis(tmp_path: Path, label: str) -> Any:  # noqa: ANN401  whatever quem gives
    source, files = LAYOUTS[label]
    folder = tmp_path / label
    folder.mkdir()
    (folder / "study.yaml").write_text(SHARED + source, encoding="utf-8")
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return quem.analyze(quem.load_study(folder / "study.yaml"))


def test_examples_of_layouts_say_the_same(tmp_path: Path) -> None:
    """All layouts of ranks give those of the long one; printed averages are its, rounded."""
    assert set(LAYOUTS) == {"long", "wide-1", "wide-2", "preflib", "averages"}
    found = {label: _analysis(tmp_path, label) for label in LAYOUTS}
    columns = ["judge", "problem", "solver", "adjusted_rank"]
    long = found["long"].ranks[columns]
    assert len(long) == 15
    for label in ("wide-1", "wide-2", "preflib"):
        other = found[label].ranks[columns]
        assert json.loads(other.to_json()) == json.loads(long.to_json()), label
    printed, exact = (
        found[name].averages["average_rank"].tolist() for name in ("averages", "long")
    )
    assert printed == pytest.approx(exact, abs=0.0005)
