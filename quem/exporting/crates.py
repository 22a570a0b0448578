"""A description of exported files as RO-Crate 1.1 has it, which archives of data read."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from quem import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from quem.study.relevance import JudgedSpec

CRATE = "ro-crate-metadata.json"
_SPECIFICATION = "https://w3id.org/ro/crate/1.1"
# Version 1.1 has no term for digests, and readers drop what the context does not define.
_CONTEXT = [f"{_SPECIFICATION}/context", {"sha256": "http://schema.org/sha256"}]
# The same on every system, as archives are compared byte for byte.
_TYPES = {
    ".csv": "text/csv",
    ".eval": "application/zip",
    ".html": "text/html",
    ".jpg": "image/jpeg",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".md": "text/markdown",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".toc": "text/plain",
    ".txt": "text/plain",
    ".yaml": "application/yaml",
    ".zip": "application/zip",
}


def crate(
    files: Mapping[str, bytes],
    spec: JudgedSpec,
    published: str = "",
    version: str = __version__,
) -> str:
    """Describe files that are written to one folder."""
    title = spec.title or spec.id
    folder: dict[str, Any] = {
        "@id": "./",
        "@type": "Dataset",
        "identifier": spec.id,
        "name": title,
        "description": f"Rankings of solutions by expert judges, of the QUEM study {title}",
        "datePublished": published or dt.datetime.now(dt.UTC).date().isoformat(),
        # The profile demands one, and a study file says nothing of it.
        "license": {"@id": "#license"},
        "hasPart": [{"@id": quote(name)} for name in files],
    }
    graph: list[dict[str, Any]] = [
        {
            "@id": CRATE,
            "@type": "CreativeWork",
            "conformsTo": {"@id": _SPECIFICATION},
            "about": {"@id": "./"},
        },
        folder,
        *(_file(name, content) for name, content in files.items()),
        {
            "@id": "#license",
            "@type": "CreativeWork",
            "name": "No license is given",
            "description": "Ask the organizer of the study before you use it.",
        },
        {"@id": "#quem", "@type": "SoftwareApplication", "name": "quem", "version": version},
        {
            "@id": "#export",
            "@type": "CreateAction",
            "name": "quem export",
            "instrument": {"@id": "#quem"},
            "result": [{"@id": quote(name)} for name in files],
        },
    ]
    if spec.organizer.name:
        graph.append({"@id": "#organizer", "@type": "Person", "name": spec.organizer.name})
        folder["author"] = {"@id": "#organizer"}
    content = {"@context": _CONTEXT, "@graph": graph}
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def _file(name: str, content: bytes) -> dict[str, Any]:
    return {
        "@id": quote(name),
        "@type": "File",
        "name": name,
        "contentSize": str(len(content)),
        "encodingFormat": _TYPES.get(PurePath(name).suffix, "application/octet-stream"),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
