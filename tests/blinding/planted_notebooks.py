"""A notebook and a drawing that name their author in every invisible place.

In both, «kind» is replaced by the name planted for that kind of place.
"""

from __future__ import annotations

import base64
import io
import json
from typing import TYPE_CHECKING, Any

from PIL.PngImagePlugin import PngInfo

from tests.blinding.planted_images import picture
from tests.blinding.planted_office import filled

if TYPE_CHECKING:
    from tests.blinding.planted_images import Name

_SOURCE = ["# Findings\n", "A plan to see: $\\vec{v}$ <!-- «comment» --> "]
_SOURCE += ["![plot](attachment:«name of an attachment».png)"]
_SHOWN = {
    "text/html": "<script>«script»</script><table class='«class»'><tr><td>7",
    "text/plain": "«another form of an output»",
    "application/json": {"who": "«JSON of an output»"},
}
_OUTPUTS = [
    {"output_type": "stream", "name": "stdout", "text": ["hello\n"]},
    {
        "output_type": "display_data",
        "metadata": {"who": "«output metadata»"},
        "data": {"image/png": "", "text/plain": "<Figure>"},
    },
    {"output_type": "execute_result", "data": _SHOWN},
    {
        "output_type": "error",
        "ename": "«kind of an error»",
        "traceback": ["\x1b[0;31mZeroDivisionError\x1b[0m: division"],
    },
]
_TAGS, _RUN = (
    {"tags": ["«cell tag»"], "who": "«cell metadata»"},
    {"execution": {"who": "«execution»"}},
)
_CELLS: list[dict[str, Any]] = [
    {"cell_type": "markdown", "id": "«cell id»", "metadata": _TAGS, "source": _SOURCE},
    {"cell_type": "code", "metadata": _RUN, "source": "1 / 0", "outputs": _OUTPUTS},
    {"cell_type": "raw", "source": "«raw cell»"},
    {"cell_type": "markdown", "metadata": {}, "source": "The end of a plan."},
]
_METADATA = {
    "authors": [{"name": "«authors»"}],
    "title": "«title»",
    "kernelspec": {"display_name": "«kernel»", "name": "«name of a kernel»"},
    "vscode": {"path": "«path»"},
    "colab": {"user": "«colab»", "provenance": [{"file_id": "«provenance»"}]},
    "language_info": {"name": "python", "version": "«version»"},
    "widgets": {"state": "«widget»"},
}
_DRAWING = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    ' id="«id of a drawing»" width="80" height="40"><title>«title of a drawing»</title>'
    "<desc>«description of a drawing»</desc><metadata>«metadata of a drawing»</metadata>"
    "<!-- «comment of a drawing» --><script>«script of a drawing»</script>"
    "<style>.«class of a drawing» { fill: red }</style>"
    '<g display="none"><text>«hidden text of a drawing»</text></g>'
    '<rect width="80" height="40" fill="#0a0"/>'
    '<text x="2" y="30" font-size="20" data-who="«attribute of a drawing»">plan</text>'
)


def _png(name: str) -> str:
    info, raw = PngInfo(), io.BytesIO()
    info.add_text("Author", name)
    picture().save(raw, "PNG", pnginfo=info)
    return base64.b64encode(raw.getvalue()).decode()


def planted_notebook(name: Name) -> dict[str, Any]:
    """A notebook of text, code, and outputs, with two pictures."""
    whole: dict[str, Any] = {"cells": _CELLS, "metadata": _METADATA, "signature": "«signature»"}
    whole |= {"nbformat": 4, "nbformat_minor": 5}
    made: dict[str, Any] = json.loads(filled(json.dumps(whole, ensure_ascii=False), name))
    made["cells"][1]["outputs"][1]["data"]["image/png"] = _png(name("picture"))
    return made


def with_attachment(notebook: dict[str, Any], name: Name) -> dict[str, Any]:
    cell = notebook["cells"][0]
    target = cell["source"][2].partition("attachment:")[2].rstrip(")")
    cell["attachments"] = {target: {"image/png": _png(name("attachment"))}}
    return notebook


def drawing(name: Name, more: str = "") -> str:
    """A drawing in SVG of 80 by 40, green, with the word "plan" and what is given besides."""
    return f"{filled(_DRAWING, name)}{more}</svg>"
