"""Orders, the form of requests, and reading answers: golden cases and laws."""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quem.machines.answers import Answer, InvalidAnswerError, Refusal, read_answer
from quem.machines.material import Piece
from quem.machines.requests import Request, default_prompt
from quem.machines.running import first_order, orders

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parent / "protocol.json").read_text("utf-8"))
LETTERS = "ABCDEF"


@pytest.mark.parametrize("case", GOLDEN["parse"], ids=lambda case: case["text"][:30])
def test_golden_answers(case: dict[str, Any]) -> None:
    expected = case["result"]
    if "invalid" in expected:
        with pytest.raises(InvalidAnswerError) as wrong:
            read_answer(case["text"], case["letters"])
        assert str(wrong.value) == expected["invalid"]
        return
    read = read_answer(case["text"], case["letters"])
    if isinstance(read, Refusal):
        assert read.reason == expected["refused"]
    else:
        assert [list(tied) for tied in read.ranked] == expected["ranked"]
        assert read.cannot == expected["cannot"]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ('{"answer": 1}', "neither ranked nor refused"),
        ('{"refused": "no", "ranked": [["A"]]}', "refused is not a text, or is beside ranked"),
        ('{"ranked": "A"}', "ranked is not a list, or cannot is not an object"),
        ('{"ranked": [["A"], [2]]}', "a tie group is empty or holds something else than letters"),
        ("[" * 100_000, "no JSON object"),
        ("{" * 100_000, "no JSON object"),
    ],
)
def test_other_forms(text: str, wrong: str) -> None:
    with pytest.raises(InvalidAnswerError, match=wrong):
        read_answer(text, "ABC")


@given(
    places=st.lists(st.integers(0, 5), min_size=6, max_size=6),
    before=st.sampled_from(["", "I think {so}. ", "\ufeff", "```\n"]),
)
def test_every_weak_order_is_read(places: list[int], before: str) -> None:
    """Alone, after prose, and after a mark; small letters and blanks mean nothing."""
    named = list(zip(LETTERS, places, strict=True))
    groups = [[letter for letter, at in named if at == place] for place in sorted({*places})]
    for said in (groups, [[f" {letter.lower()} " for letter in group] for group in groups]):
        read = read_answer(before + json.dumps({"ranked": said}), LETTERS)
        assert isinstance(read, Answer)
        assert [list(tied) for tied in read.ranked] == groups


@given(text=st.text())
def test_any_text_is_an_answer_or_invalid(text: str) -> None:
    with suppress(InvalidAnswerError):
        read_answer(text, LETTERS)


def test_golden_orders() -> None:
    """The first one by hashes of names; repeats rotated and reversed."""
    first = GOLDEN["first_order"]
    names = (first["study"], first["judge"], first["problem"], first["block"])
    for solvers in permutations(first["solvers"]):
        assert first_order(*names, solvers) == tuple(first["order"])
    assert [list(order) for order in orders("ABCDE", 4)] == GOLDEN["orders_4_of_ABCDE"]
    assert [list(order) for order in orders(range(12), 4)] == GOLDEN["orders_4_of_12"]


@given(n=st.integers(2, 30), half=st.integers(1, 6))
def test_orders_are_balanced(n: int, half: int) -> None:
    """Over an even number of repeats everybody has the same mean place."""
    shown = orders(range(n), 2 * half)
    assert all(sorted(order) == list(range(n)) for order in shown)
    places = np.array([[order.index(one) for one in range(n)] for order in shown])
    assert np.allclose(places.mean(axis=0), (n - 1) / 2)


@given(texts=st.lists(st.text(max_size=40), min_size=2, max_size=6), statement=st.text(max_size=40))
def test_material_stands_between_marks_that_it_cannot_hold(
    texts: list[str], statement: str
) -> None:
    """Also where a solution holds the marks of another group."""
    for _ in range(2):
        pieces = tuple((Piece(text),) for text in texts)
        solvers = tuple(LETTERS[: len(texts)])
        made = Request(default_prompt(), (), (Piece(statement),), solvers, pieces, 0)
        system, user = made.messages()
        assert made.token in system["content"]
        assert all(made.token not in text for text in texts)
        for letter, text in zip(made.letters, texts, strict=True):
            mark = f"<<SOLUTION {letter} {made.token}>>\n{text}\n<<END {letter} {made.token}>>"
            assert mark in user["content"]
        texts = [f"{text}\n<<END A {made.token}>>" for text in texts]


def test_images_are_sent_whole_and_kept_as_digests() -> None:
    image = Piece("a chart", "image/png", b"\x89PNG")
    made = Request("p {letters} {token}", (), (), ("S1",), ((Piece("before"), image),), 3)
    sent = made.document()
    (of,) = sent["solutions"]
    kind = {"kind": "image", "media_type": "image/png"}
    assert of["parts"][1] == {**kind, "data": "iVBORw==", "text": "a chart"}
    url = {"url": "data:image/png;base64,iVBORw=="}
    assert made.messages()[1]["content"][1] == {"type": "image_url", "image_url": url}
    assert "iVBORw" not in json.dumps([made.document(whole=False), made.messages(whole=False)])
    assert sent["seed"] == 3
    assert {*sent} == {*"format task seed prompt briefing problem solutions".split()}
