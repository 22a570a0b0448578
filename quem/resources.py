"""The folders of templates and shipped studies: in the wheel, or in a checkout."""

from __future__ import annotations

from pathlib import Path


def resource(name: str) -> Path:
    """Find a folder that ships with the package."""
    package = Path(__file__).resolve().parent
    installed = package / name
    return installed if installed.is_dir() else package.parent / name
