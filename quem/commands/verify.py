"""``quem verify``: whether the archive of a sealed study is as it was written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


def analysis_of(study: Path, database: Path) -> tuple[bytes, Any]:
    """Analyze a study as an archive holds it; gives analysis.json and what its seal says."""
    from quem import kinds
    from quem.errors import FileError
    from quem.report.files import json_text

    result = kinds.analyze(kinds.load_study(study, kind="experience", database=str(database)))
    if result.findings.seal is None:
        raise FileError(study, "is not sealed; an archive to verify is of a sealed study")
    return json_text(result.to_dict()).encode(), result.findings.seal


@click.command()
@click.argument("archive", type=click.Path(path_type=Path))
@click.option("--seal", "expected", default="", metavar="HASH", help="What `quem seal` printed.")
def verify(archive: Path, expected: str) -> None:
    """Verify ARCHIVE, which `quem export --archive` wrote of a sealed study.

    Recomputes every digest and the analysis, without network, and names each difference (exit
    code 1). With --seal, the seal must be the one whose hash was printed at sealing.
    """
    from quem.errors import FileError, Mistake, QuemError
    from quem.exporting.sealed_archives import verify_archive

    try:
        raw = archive.read_bytes()
    except OSError as error:
        raise FileError(archive, f"cannot be read: {error.strerror or error}") from None
    found = verify_archive(raw, str(archive), analysis_of, expected)
    if found.differences:
        raise QuemError(
            Mistake(one.file, message=f"{one.kind}; {one.remedy}") for one in found.differences
        )
    for note in found.notes:
        click.echo(f"note: {note}", err=True)
    end = ":" if found.deviations else "."
    click.echo(f"{archive}: verified, nothing differs. {found.headline}{end}")
    for text in found.deviations:
        click.echo(f"  - {text}")
    click.echo(f"seal: {found.hash}")
