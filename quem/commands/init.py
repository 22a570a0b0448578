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
@click.option(
    "--report",
    is_flag=True,
    help="Write report.qmd instead: a Quarto page of your own, which reads analysis.json.",
)
def init(folder: Path, kind: str, *, report: bool) -> None:
    """Write a small commented study to FOLDER, which can be analyzed as it is.

    Existing files are never overwritten.
    """
    import shlex

    from quem.errors import FileError
    from quem.report.files import write_files

    if report and kind != "experience":
        message = f"--report is for studies of kind experience, not {kind}; leave one of them out"
        raise click.UsageError(message)
    templates = resource("templates")
    sources = sorted((templates / "quarto" if report else templates / "init" / kind).iterdir())
    taken = [source.name for source in sources if (folder / source.name).exists()]
    if taken:
        message = f"already holds {' and '.join(taken)}; name another folder"
        raise FileError(folder, message)
    write_files(folder, {source.name: source.read_bytes() for source in sources})
    for source in sources:
        click.echo(f"wrote {folder / source.name}", err=True)
    if report:
        page = shlex.quote(str(folder / "report.qmd"))
        click.echo(f"Next: quem analyze the study, then quarto render {page}", err=True)
        return
    click.echo(f"Next: quem analyze {shlex.quote(str(folder / 'study.yaml'))}", err=True)
