"""Bodies of whoever has no valid cookie, at a real server: they end at 64 kB."""

from __future__ import annotations

import socket
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

import pytest

from tests.patience import SECONDS
from tests.served import Browserless, Served
from tests.webjudge.solving_sites import write_solving_study

if TYPE_CHECKING:
    from pathlib import Path

MEGABYTES = 20


def sent(port: int, cookie: str, *, chunked: bool) -> tuple[int, bytes]:
    """Send a large body until it is refused; gives how much went, and the answer."""
    length = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {MEGABYTES << 20}"
    head = f"POST /solve/t/x/files?name=a.md HTTP/1.1\r\nHost: localhost\r\n{length}\r\n"
    piece = b"x" * 65_536
    piece = b"10000\r\n" + piece + b"\r\n" if chunked else piece
    count = 0
    with socket.create_connection(("127.0.0.1", port), SECONDS) as one:
        one.sendall(f"{head}Cookie: {cookie}\r\n\r\n".encode())
        try:
            for _ in range(MEGABYTES * 16):
                one.sendall(piece)
                count += len(piece)
            if chunked:
                one.sendall(b"0\r\n\r\n")
            answer = one.recv(1000)
        except OSError:
            answer = b""
    return count, answer


@pytest.mark.parametrize("chunked", [False, True])
def test_a_stranger_sends_no_large_body(tmp_path: Path, *, chunked: bool) -> None:
    """Neither without a cookie nor with a made-up one; who has one may."""
    with Served(write_solving_study(tmp_path)) as served:
        browser = Browserless(served.base)
        browser.get(served.links["S1"])
        [mine] = browser.cookies
        for cookie in ("a=b", f"{mine.name}=made-up"):
            count, answer = sent(served.port, cookie, chunked=chunked)
            assert count < MEGABYTES << 20
            assert not answer or b" 413 " in answer.partition(b"\r\n")[0]
        count, answer = sent(served.port, f"{mine.name}={mine.value}", chunked=chunked)
        assert count >= MEGABYTES << 20
        assert b" 404 " in answer.partition(b"\r\n")[0]


def test_nobody_sends_more_at_once_than_they_may_have(tmp_path: Path) -> None:
    """Of several files that are under way their 200 MB are counted, whatever else is sent."""
    with Served(write_solving_study(tmp_path)) as served, ExitStack() as stack:
        browser = Browserless(served.base)
        browser.get(served.links["S1"])
        [mine] = browser.cookies
        answers = []
        for number in range(5):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", served.port), SECONDS))
            head = "POST /solve/t/x/files?name=a.md HTTP/1.1\r\nHost: localhost\r\n"
            cookie = f"n={number}; {mine.name}={mine.value}"
            one.sendall(f"{head}Content-Length: 49000000\r\nCookie: {cookie}\r\n\r\n".encode())
            try:
                for _ in range(48):
                    one.sendall(b"x" * 1_000_000)
            except OSError:
                answers.append(number)
                continue
            one.settimeout(0 if number < 4 else SECONDS)
            with suppress(BlockingIOError, OSError):
                answers += [number] if one.recv(100) else []
        assert answers == [4]
