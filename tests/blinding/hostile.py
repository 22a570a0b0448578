"""Attacks of a parser compromised by a file, each in a separate fork."""

from __future__ import annotations

import json
import os
import platform
import socket
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

# From Python's names of the places below; each ends without an error where it succeeds.
ATTEMPTS = {
    "TCP": "s = socket.socket(); s.settimeout(3); s.connect(('127.0.0.1', PORT)); s.send(b'x')",
    "UDP": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', PORT))",
    "UNIX socket": "socket.socket(socket.AF_UNIX).connect(FOLDER + '/socket')",
    "read a file": "open('/etc/passwd').read()",
    "read another study": "open(FOLDER + '/other.sqlite', 'rb').read()",
    "read it by SQLite": "sqlite3.connect(FOLDER + '/other.sqlite').execute('create table t (x)')",
    "read the parent's environment": "open(f'/proc/{PARENT}/environ', 'rb').read()",
    "write": "open(FOLDER + '/new', 'w').write('x')",
    "append": "open(FOLDER + '/other.sqlite', 'ab').write(b'x')",
    "truncate": "os.truncate(FOLDER + '/other.sqlite', 0)",
    "delete": "os.unlink(FOLDER + '/victim')",
    "rename": "os.rename(FOLDER + '/victim', FOLDER + '/renamed')",
    "make a folder": "os.mkdir(FOLDER + '/made')",
    "change permissions": "os.chmod(FOLDER + '/victim', 0o777)",
    "link": "os.symlink('/etc/passwd', FOLDER + '/link')",
    "fork": "p = os.fork(); os._exit(0) if p == 0 else os.waitpid(p, 0)",
    "exec": "os.execv(TRUE, ['true'])",
    "spawn": "os.waitpid(os.posix_spawn(TRUE, ['true'], {}), 0)",
    "subprocess": "subprocess.run([TRUE], check=True)",
    "memory file": "os.memfd_create('x')",
    "signal the parent": "os.kill(PARENT, 0)",
    "trace the parent": "assert libc.ptrace(0x4206, PARENT, 0, 0) == 0",
    "io_uring": "assert libc.syscall(425, 4, ctypes.create_string_buffer(256)) >= 0",
    "namespaces": "assert libc.unshare(0x10000000) == 0",
    "memory": "bytearray(3_000_000_000)",
    "raise its limits": "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))",
    "limit the parent": "resource.prlimit(PARENT, resource.RLIMIT_CORE, LIMIT)",
}
NEEDED = {
    "compute": "assert sum(range(10**6)) == 499999500000",
    "read a font": "assert open(FONT, 'rb').read(4)",
    "threads": "t = threading.Thread(target=print); t.start(); t.join()",
    "print": "print('x', flush=True)",
    "import late": "import colorsys",
}
_HEAD = """
import ctypes, json, os, resource, socket, sqlite3, subprocess, sys, threading
from quem.blinding.confined import confine
globals().update(json.loads(sys.argv[1]))
libc = ctypes.CDLL(None)
for name, code in CODES.items():
    for file in ("other.sqlite", "victim"):
        open(f"{FOLDER}/{file}", "wb").close()
    if not (child := os.fork()):
        if CONFINED:
            confine()
        try:
            exec(code)
        except BaseException:
            os._exit(7)
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        print(name, flush=True)
"""


@contextmanager
def surroundings(folder: Path) -> Iterator[dict[str, object]]:
    import resource

    import matplotlib as mpl

    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as unix:
        unix.bind(str(folder / "socket"))
        unix.listen()
        yield {
            "PORT": tcp.getsockname()[1],
            "FOLDER": str(folder),
            "PARENT": os.getpid(),
            "LIMIT": resource.getrlimit(resource.RLIMIT_CORE),
            "FONT": f"{mpl.get_data_path()}/fonts/ttf/DejaVuSans.ttf",
            "TRUE": "/bin/true",
        }


def succeeding(
    codes: Mapping[str, str], around: dict[str, object], *, confined: bool = True
) -> set[str]:
    """The names of those codes that succeed, each in a process that may be confined."""
    about = json.dumps(around | {"CODES": codes, "CONFINED": confined})
    head = [sys.executable, "-P", "-c", _HEAD, about]
    run = subprocess.run(head, stdout=subprocess.PIPE, text=True, timeout=120, check=True)
    return set(run.stdout.splitlines()) & set(codes)


# Runs Python where some system calls are refused, as a container may do it.
_CONTAINER = """
import ctypes, os, struct, sys
steps = [struct.pack("HBBI", 0x20, 0, 0, 0)]
for number in map(int, sys.argv[1].split(",")):
    steps += [struct.pack("HBBI", 0x15, 0, 1, number), struct.pack("HBBI", 6, 0, 0, 0x50026)]
steps += [struct.pack("HBBI", 6, 0, 0, 0x7FFF0000)]
class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(Program(len(steps), b"".join(steps)))) == 0
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""
LANDLOCK = "444,445,446"
SECCOMP = "317" if platform.machine() == "x86_64" else "277"


def in_container(refused: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", _CONTAINER, refused, *arguments]
