"""A sealed study with its analysis as one file, with names or without; for ``quem export``."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from quem import kinds
from quem.commands.verify import analysis_of
from quem.errors import QuemError
from quem.experience.pseudonyms import Pseudonyms
from quem.exporting.redacting import redacted
from quem.exporting.sealed_archives import pack, require_sealed, restore_store, study_files
from quem.rankings.stored import Session, session_of_study
from quem.report.files import json_text
from quem.sealing.seal import note_analysis
from quem.store.location import locate_database
from quem.study.reading import draft_study

if TYPE_CHECKING:
    from collections.abc import Mapping

    from quem.experience.loading import Study
    from quem.study.reading import StudyFile


def sealed_archive(
    study: Path, database: str | None = None, *, reveal: bool = False, without_names: bool = False
) -> bytes:
    """Write a sealed study as an archive, with what its analysis gives."""
    draft = draft_study(study)
    if draft.mistakes or draft.spec is None:
        raise QuemError(draft.mistakes)
    require_sealed(draft)
    kinds.load_study(study, kind="experience", database=database, reveal=reveal)
    note_analysis(draft)
    loaded = kinds.load_study(study, kind="experience", database=database)
    store = _store_text(draft, draft.spec.id, database)
    if without_names:
        return _without_names(draft, loaded, store)
    files = {name: path.read_bytes() for name, path in study_files(draft).items()}
    analysis = json_text(kinds.analyze(loaded).to_dict()).encode()
    return pack(study.name, draft.spec, files, analysis, store)


def _store_text(draft: StudyFile, study_id: str, database: str | None) -> str:
    """Give what the store holds of a study; nothing where it has none."""
    store = session_of_study(Session(locate_database(draft.path, database)), study_id)
    if store is None:
        return ""
    from quem.store.archive import archive_text

    try:
        with store.read() as c:
            return archive_text(c, study_id)
    finally:
        store.close()


def _without_names(draft: StudyFile, loaded: Study, store: str) -> bytes:
    """Pack a study without names, with the analysis that its files give."""
    spec = loaded.spec
    named = {one.name: one.id for one in spec.judges if one.name}
    named |= {one.name: one.id for one in spec.subjects if one.name}

    def prose(words: str, people: Mapping[str, str]) -> str:
        names = {name: people[one] for name, one in named.items() if one in people}
        return Pseudonyms(dict(people), names, {}).prose(words)

    made = redacted(draft, loaded.data, store, prose)
    with TemporaryDirectory() as place:
        folder = Path(place)
        for name, content in made.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        copy = draft_study(folder / draft.path.name)
        database = folder / "store.sqlite3"
        if made.store:
            restore_store(made.store, database, copy)
        analysis, _ = analysis_of(copy.path, database)
    assert copy.spec is not None  # noqa: S101  it was analyzed
    return pack(draft.path.name, copy.spec, made.files, analysis, made.store)
