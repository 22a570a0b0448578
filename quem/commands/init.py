"""``quem init``: a small commented study to start from."""

from __future__ import annotations

from pathlib import Path

import click

from quem.resources import resource

__all__ = ["init"]

# Those with a study to start from.
_KINDS = sorted(folder.name for folder in (resource("templates") / "init").iterdir())


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--kind",
    type=click.Choice(_KINDS),
    default="experience",
    show_default=True,
    help="Kind of study.",
)
def init(folder: Path, kind: str) -> None:
    """Write a small commented study to FOLDER, which can be analyzed as it is.

    Existing files are never overwritten.
    """
    import shlex

    from quem.errors import FileError
    from quem.report.files import write_files

    sources = sorted((resource("templates") / "init" / kind).iterdir())
    taken = [source.name for source in sources if (folder / source.name).exists()]
    if taken:
        message = f"already holds {' and '.join(taken)}; name another folder"
        raise FileError(folder, message)
    write_files(folder, {source.name: source.read_bytes() for source in sources})
    for source in sources:
        click.echo(f"wrote {folder / source.name}", err=True)
    click.echo(f"Next: quem analyze {shlex.quote(str(folder / 'study.yaml'))}", err=True)
