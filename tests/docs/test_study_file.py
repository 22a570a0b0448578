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
# What these are where they are left out is up to the reader of the file, and tested by itself.
FILLED_IN = {"id", "title", "rankings", "analysis.at_least"}
KEYS = [(kind, key) for kind, (_, model) in KINDS.items() for key in keys_of(model)]
ALL_ROWS = {kind: rows_of(page) for kind, (page, _) in KINDS.items()}
ROWS = ALL_ROWS["experience"]


def _named(case: object) -> str:
    return getattr(case, "name", None) or str(case)


def test_every_kind_has_its_keys_tested() -> None:
    """No kind is forgotten."""
    assert tuple(KINDS) == quem.studyfile.KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_has_a_row_and_every_row_a_key(kind: str) -> None:
    """The tables name the keys of the models, no fewer and no more."""
    assert set(ALL_ROWS[kind]) == {key.name for key in keys_of(KINDS[kind][1])}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_agree_with_the_keys_that_messages_suggest(kind: str) -> None:
    """The keys that the checker of study files knows are those of the tables."""
    model = KINDS[kind][1]
    known = {".".join((*path, name)) for path, names in known_keys(model) for name in names}
    assert {key.replace("[]", "") for key in ALL_ROWS[kind]} == known


@pytest.mark.parametrize(
    ("kind", "key"), [case for case in KEYS if case[1].name not in FILLED_IN], ids=_named
)
def test_default_is_that_of_the_model(kind: str, key: Any) -> None:  # noqa: ANN401  a Key
    """The default that a row gives is the default of the field."""
    default = ALL_ROWS[kind][key.name][1]
    value: Any = key.field.get_default()
    if value is PydanticUndefined:
        assert default == "required"
    else:
        assert written(default.strip("`")) == plain(value)


@pytest.mark.parametrize(("kind", "key"), KEYS, ids=_named)
def test_every_choice_is_named(kind: str, key: Any) -> None:  # noqa: ANN401  a Key
    """A key with fixed choices names exactly these."""
    choices = set(literals(key.field.annotation))
    if choices:
        assert set(re.findall(r"`([^`]*)`", ALL_ROWS[kind][key.name][2])) == choices


@pytest.mark.parametrize("page", TABLES["PAGES"])
def test_tables_of_settings_are_those_of_the_models(page: str) -> None:
    """``python docs/make_tables.py`` would change nothing."""
    assert TABLES["with_tables"](page) == (ROOT / "docs" / page).read_text("utf-8")


def test_table_of_measures_is_that_of_the_definitions() -> None:
    """``python docs/make_tables.py`` would change nothing there either."""
    assert TABLES["with_measures"]() == (ROOT / "docs/reference/measures.md").read_text("utf-8")


def test_id_and_title_are_filled_in(tmp_path: Path) -> None:
    """A study without an id has that of its folder and file, and its title is the id."""
    folder = tmp_path / "p3-1997"
    folder.mkdir()
    (folder / "study.yaml").write_text("experience_unit: years\n", encoding="utf-8")
    spec = draft_study(folder / "study.yaml").spec
    assert spec is not None
    assert f"`{spec.id}`" in ROWS["id"][1]
    assert spec.title == spec.id
    assert ROWS["title"][1] == "the `id`"


def test_values_are_the_text_that_was_written(tmp_path: Path) -> None:
    """An id 007 stays 007, no stays a word, and 1.10 does not become 1.1, as the page says."""
    path = tmp_path / "study.yaml"
    path.write_text(
        "judges: [{id: 007}, {id: no}]\nsystems: [{id: s, version: 1.10}]\n", encoding="utf-8"
    )
    spec = draft_study(path).spec
    assert spec is not None
    assert [judge.id for judge in spec.judges] == ["007", "no"]
    assert spec.systems[0].version == "1.10"


def test_rankings_are_required(make_study: Any) -> None:  # noqa: ANN401  a fixture
    """A study file without rankings is a mistake, as its row says."""
    assert ROWS["rankings"][1] == "required"
    with pytest.raises(quem.QuemError, match="name the file that holds the rankings"):
        quem.load_study(make_study({"subjects": [{"id": "S1", "experience": 1}]}))


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
    (tmp_path / "study.yaml").write_text(SHARED + source, encoding="utf-8")
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return quem.analyze(quem.load_study(tmp_path / "study.yaml"))


def test_every_layout_has_an_example() -> None:
    """Two wide examples, and one of each other layout that this version reads."""
    assert set(LAYOUTS) == {"long", "wide-1", "wide-2", "preflib", "averages"}


@pytest.mark.parametrize("label", ["wide-1", "wide-2", "preflib"])
def test_examples_of_layouts_say_the_same(label: str, tmp_path: Path) -> None:
    """The examples of all layouts of ranks give the adjusted ranks of the long one."""
    folders = [tmp_path / "long", tmp_path / "other"]
    for folder in folders:
        folder.mkdir()
    ranks = [
        _analysis(folder, name).ranks[["judge", "problem", "solver", "adjusted_rank"]]
        for folder, name in zip(folders, ["long", label], strict=True)
    ]
    assert len(ranks[0]) == 15
    assert json.loads(ranks[0].to_json()) == json.loads(ranks[1].to_json())


def test_example_of_averages_says_nearly_the_same(tmp_path: Path) -> None:
    """The printed averages of the last example are those of the first, rounded."""
    folders = [tmp_path / "long", tmp_path / "averages"]
    for folder in folders:
        folder.mkdir()
    long, printed = (
        _analysis(folder, folder.name).averages["average_rank"].tolist() for folder in folders
    )
    assert printed == pytest.approx(long, abs=0.0005)
