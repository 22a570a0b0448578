"""Studies of option lists that tests write to folders."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

import quem

if TYPE_CHECKING:
    from pathlib import Path

    from quem.options.result import OptionsResult

KEY = "question,correct\nQ1,a\nQ2,b\nQ3,c\n"
LISTS = (
    "question,system,option,confidence\n"
    "Q1,x,a,0.9\nQ1,x,b,0.5\nQ2,x,a,0.6\nQ2,x,b,0.6\nQ2,x,c,0.1\nQ3,x,a,0.7\n"
    "Q1,y,b,0.8\nQ2,y,b,0.9\nQ2,y,d,0.2\nQ3,y,c,0.3\n"
)


def study_in(
    folder: Path,
    text: str | bytes = LISTS,
    key: str | bytes = KEY,
    name: str = "lists.csv",
    **study: object,
) -> Path:
    content: dict[str, Any] = {
        "kind": "options",
        "id": "example",
        "title": "Example",
        "questions": "questions.csv",
        "lists": name,
        **study,
    }
    content = {key: value for key, value in content.items() if value is not None}
    for file, raw in ((name, text), ("questions.csv", key)):
        (folder / file).write_bytes(raw if isinstance(raw, bytes) else raw.encode())
    (folder / "study.yaml").write_text(json.dumps(content, indent=1), encoding="utf-8")
    return folder / "study.yaml"


def analysed(path: Path, **settings: object) -> OptionsResult:
    """Analyse a study, with few patterns of signs unless told otherwise."""
    used = {"samples": 99, **settings}
    result: OptionsResult = quem.analyze(quem.load_study(path, kind="options"), **used)
    return result


def drawn(questions: int, systems: int = 2, options: int = 6, seed: int = 0) -> tuple[str, str]:
    """Draw a key and lists with confidences, of systems of rising skill."""
    rng = np.random.default_rng(seed)
    key = ["question,correct"]
    lists = ["question,system,option,confidence"]
    for number in range(questions):
        correct = int(rng.integers(options))
        key.append(f"Q{number},o{correct}")
        for system in range(systems):
            score = rng.normal(size=options)
            score[correct] += 0.5 + system
            confidence = np.round(np.exp(score) / np.exp(score).sum(), 2)
            shown = [o for o in np.argsort(-confidence).tolist() if confidence[o] >= 0.05]
            lists += [f"Q{number},s{system},o{o},{confidence[o]}" for o in shown]
    return "\n".join(key) + "\n", "\n".join(lists) + "\n"
