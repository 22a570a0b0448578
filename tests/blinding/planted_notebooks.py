"""A notebook and a drawing that name their author in every place where nobody looks."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any

from PIL.PngImagePlugin import PngInfo

from tests.blinding.planted_images import picture

if TYPE_CHECKING:
    from tests.blinding.planted_images import Name


def _png(name: str) -> str:
    info = PngInfo()
    info.add_text("Author", name)
    raw = io.BytesIO()
    picture().save(raw, "PNG", pnginfo=info)
    return base64.b64encode(raw.getvalue()).decode()


def planted_notebook(name: Name) -> dict[str, Any]:
    """A notebook of text, code, and outputs, with two pictures."""
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "authors": [{"name": name("authors")}],
            "title": name("title"),
            "kernelspec": {"display_name": name("kernel"), "name": name("name of a kernel")},
            "vscode": {"path": name("path")},
            "colab": {"user": name("colab"), "provenance": [{"file_id": name("provenance")}]},
            "language_info": {"name": "python", "version": name("version")},
            "widgets": {"state": name("widget")},
        },
        "cells": [
            {
                "cell_type": "markdown",
                "id": name("cell id"),
                "metadata": {"tags": [name("cell tag")], "who": name("cell metadata")},
                "source": [
                    "# Findings\n",
                    f"A plan to see: $\\vec{{v}}$ <!-- {name('comment')} --> ",
                    f"![plot](attachment:{name('name of an attachment')}.png)",
                ],
                "attachments": {},
            },
            {
                "cell_type": "code",
                "metadata": {"execution": {"who": name("execution")}},
                "source": "1 / 0",
                "outputs": [
                    {"output_type": "stream", "name": "stdout", "text": ["hello\n"]},
                    {
                        "output_type": "display_data",
                        "metadata": {"who": name("output metadata")},
                        "data": {"image/png": _png(name("picture")), "text/plain": "<Figure>"},
                    },
                    {
                        "output_type": "execute_result",
                        "data": {
                            "text/html": f"<script>{name('script')}</script>"
                            f'<table class="{name("class")}"><tr><td>7',
                            "text/plain": name("another form of an output"),
                            "application/json": {"who": name("JSON of an output")},
                        },
                    },
                    {
                        "output_type": "error",
                        "ename": name("kind of an error"),
                        "traceback": ["\x1b[0;31mZeroDivisionError\x1b[0m: division"],
                    },
                ],
            },
            {"cell_type": "raw", "source": name("raw cell")},
            {"cell_type": "markdown", "metadata": {}, "source": "The end of a plan."},
        ],
        "signature": name("signature"),
    }


def with_attachment(notebook: dict[str, Any], name: Name) -> dict[str, Any]:
    """Give the first cell the picture that its text shows."""
    cell = notebook["cells"][0]
    target = cell["source"][2].partition("attachment:")[2].rstrip(")")
    cell["attachments"] = {target: {"image/png": _png(name("attachment"))}}
    return notebook


def drawing(name: Name, more: str = "") -> str:
    """A drawing in SVG of 80 by 40, green, with the word "plan" and what is given besides."""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
        f' id="{name("id of a drawing")}" width="80" height="40">'
        f"<title>{name('title of a drawing')}</title>"
        f"<desc>{name('description of a drawing')}</desc>"
        f"<metadata>{name('metadata of a drawing')}</metadata>"
        f"<!-- {name('comment of a drawing')} --><script>{name('script of a drawing')}</script>"
        f"<style>.{name('class of a drawing')} {{ fill: red }}</style>"
        f'<g display="none"><text>{name("hidden text of a drawing")}</text></g>'
        '<rect width="80" height="40" fill="#0a0"/>'
        f'<text x="2" y="30" font-size="20" data-who="{name("attribute of a drawing")}">plan</text>'
        f"{more}</svg>"
    )
