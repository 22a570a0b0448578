"""Confinement of a process that parses untrusted files: Landlock, seccomp, limits.

``python -m quem.blinding.confined`` prints as one line of JSON what works on this system.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import struct
import sys
import sysconfig
from contextlib import suppress
from pathlib import Path
from typing import TypedDict

_MEMORY = 2_000_000_000
CPU_SECONDS = 60
_FILES = 64
# All readable paths: fonts, and those of Python itself.
_READ = (
    *("/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/X11/fonts", "/etc/fonts"),
    *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
)
_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
# System calls that a parser may make, on x86_64 and on aarch64; all others are refused.
_ALLOWED: dict[str, tuple[int | None, int | None]] = {
    "read": (0, 63),
    "write": (1, 64),
    "readv": (19, 65),
    "writev": (20, 66),
    "pread64": (17, 67),
    "close": (3, 57),
    "fstat": (5, 80),
    "newfstatat": (262, 79),
    "statx": (332, 291),
    "stat": (4, None),
    "lstat": (6, None),
    "access": (21, None),
    "faccessat": (269, 48),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "getdents64": (217, 61),
    "lseek": (8, 62),
    "fadvise64": (221, 223),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "brk": (12, 214),
    "membarrier": (324, 283),
    "futex": (202, 98),
    "set_robust_list": (273, 99),
    "rseq": (334, 293),
    "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "restart_syscall": (219, 128),
    "alarm": (37, None),
    "setitimer": (38, 103),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "gettimeofday": (96, 169),
    "getrandom": (318, 278),
    "poll": (7, None),
    "ppoll": (271, 73),
    "select": (23, None),
    "pselect6": (270, 72),
    "dup": (32, 23),
    "getpid": (39, 172),
    "gettid": (186, 178),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
    "getcwd": (79, 17),
    "getrusage": (98, 165),
    "uname": (63, 160),
    "sysinfo": (99, 179),
}
# Those whose arguments are checked.
_OPENAT, _FCNTL, _CLONE = (257, 56), (72, 25), (56, 220)
_CLONE3, _IOCTL, _PRLIMIT = (435, 435), (16, 29), (302, 261)
_SECCOMP = (317, 277)
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_EPERM, _EACCES, _ENOTTY, _ENOSYS = 1, 13, 25, 38
_PR_SET_NO_NEW_PRIVS = 38
# O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND, O_TMPFILE
_WRITING = 0o1 | 0o2 | 0o100 | 0o1000 | 0o2000 | 0o20000000
_CLONE_THREAD, _TCGETS, _F_SETFL, _F_DUPFD_CLOEXEC, _X32 = 0x10000, 0x5401, 4, 1030, 0x40000000
# Instructions of a filter, and its results.
_LOAD, _EQUAL, _ANY_BIT, _AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000


class Held(TypedDict):
    """The confinement of a process."""

    landlock: int  # version; 0 where unavailable
    seccomp: bool
    limits: bool
    why: list[str]  # reasons for missing confinement


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def confine() -> Held:
    """Keep this process from the network, other files, writing, and other processes.

    Landlock comes first, since seccomp forbids the system calls that it needs.
    """
    limits = {"AS": _MEMORY, "CPU": CPU_SECONDS, "FSIZE": 0, "NOFILE": _FILES, "CORE": 0}
    limited = [_limit(name, most) for name, most in limits.items()]
    held = Held(landlock=0, seccomp=False, limits=all(limited), why=[])
    if not sys.platform.startswith("linux"):
        system = platform.system().replace("Darwin", "macOS")
        held["why"].append(f"{system} has neither Landlock nor seccomp")
    else:
        kernel = ctypes.CDLL(None, use_errno=True)
        kernel.syscall.restype = ctypes.c_long
        kernel.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        try:
            held["landlock"] = _restrict_files(kernel)
        except OSError as error:
            held["why"].append(str(error))
        try:
            held["seccomp"] = _filter_calls(kernel, may_open=bool(held["landlock"]))
        except OSError as error:
            held["why"].append(str(error))
    if not held["seccomp"]:
        _limit("NPROC", 0)
    return held


def _limit(name: str, most: int) -> bool:
    """Lower a limit of this process permanently, where the system supports it."""
    try:
        import resource
    except ImportError:
        return False
    kind = getattr(resource, f"RLIMIT_{name}")
    hard = resource.getrlimit(kind)[1]
    allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
    with suppress(ValueError, OSError):
        # macOS refuses some.
        resource.setrlimit(kind, (allowed, allowed))
        return True
    return False


def _restrict_files(kernel: ctypes.CDLL) -> int:
    """Restrict reading to some folders; returns the version of Landlock."""
    if len(list(Path("/proc/self/task").iterdir())) > 1:
        raise OSError("threads are already running, which Landlock does not confine")
    version = kernel.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1)
    if version < 1:
        raise OSError("the kernel has no Landlock, or a container forbids it")
    # All rights in this version: files, TCP, other processes.
    bits = 13 + (version >= 2) + (version >= 3) + (version >= 5)  # noqa: PLR2004
    rights = ((1 << bits) - 1, 3, 3)[: 1 + (version >= 4) + (version >= 6)]  # noqa: PLR2004
    asked = struct.pack(f"{len(rights)}Q", *rights)
    rules = _checked(
        kernel.syscall(_LANDLOCK_CREATE, asked, ctypes.c_size_t(len(asked)), 0), "Landlock"
    )
    for folder in _READ:
        with suppress(OSError):
            opened = os.open(folder, os.O_PATH | os.O_CLOEXEC)
            read_files_and_folders = struct.pack("=Qi", 1 << 2 | 1 << 3, opened)
            kernel.syscall(_LANDLOCK_ADD, rules, 1, read_files_and_folders, 0)
            os.close(opened)
    _checked(kernel.syscall(_LANDLOCK_RESTRICT, rules, 0), "Landlock")
    os.close(rules)
    return int(version)


def _filter_calls(kernel: ctypes.CDLL, *, may_open: bool) -> bool:
    """Restrict all threads of this process to a few system calls."""
    machine = platform.machine()
    if machine not in _ARCHITECTURES or struct.calcsize("P") != 8:  # noqa: PLR2004  of 64 bits
        raise OSError(f"no list of system calls for {machine}")
    which, architecture = _ARCHITECTURES[machine]
    allow, refuse = _step(_RETURN, _ALLOW), _step(_RETURN, _ERROR | _EPERM)
    steps = [_step(_LOAD, 4), _step(_EQUAL, architecture, 1, 0), _step(_RETURN, _KILL)]
    steps += [_step(_LOAD, 0)]
    if machine == "x86_64":
        steps += [_step(_AT_LEAST, _X32, 0, 1), _step(_RETURN, _KILL)]
    for numbers in _ALLOWED.values():
        if (number := numbers[which]) is not None:
            steps += _case(number, allow)
    if may_open:
        denied = _step(_RETURN, _ERROR | _EACCES)
        steps += _case(_OPENAT[which], _argument(2), _step(_ANY_BIT, _WRITING, 0, 1), denied, allow)
    # Threads, but no processes; glibc makes them by `clone` where there is no `clone3`.
    thread = _step(_ANY_BIT, _CLONE_THREAD, 0, 1)
    steps += _case(_CLONE[which], _argument(0), thread, allow, refuse)
    steps += _case(_CLONE3[which], _step(_RETURN, _ERROR | _ENOSYS))
    flags = _step(_AT_LEAST, _F_SETFL + 1, 0, 1), _step(_EQUAL, _F_DUPFD_CLOEXEC, 0, 1)
    steps += _case(_FCNTL[which], _argument(1), *flags, allow, refuse)
    terminal = _step(_EQUAL, _TCGETS, 0, 1), allow, _step(_RETURN, _ERROR | _ENOTTY)
    steps += _case(_IOCTL[which], _argument(1), *terminal)
    # Limits of this process are read; they and those of others are not changed.
    none = _step(_EQUAL, 0, 0, 5), _argument(2), _step(_EQUAL, 0, 0, 3), _argument(2, half=1)
    steps += _case(_PRLIMIT[which], _argument(0), *none, _step(_EQUAL, 0, 0, 1), allow, refuse)
    program = _Program(len(steps) + 1, b"".join([*steps, refuse]))
    done = kernel.syscall(_SECCOMP[which], 1, 1, ctypes.byref(program))
    return _checked(done, "seccomp") == 0


def _case(number: int, *steps: bytes) -> list[bytes]:
    """Instructions for one system call; leaves its number loaded for those that follow."""
    return [_step(_EQUAL, number, 0, len(steps)), *steps]


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)


def _argument(number: int, *, half: int = 0) -> bytes:
    """Load the lower or upper half of a call's argument."""
    return _step(_LOAD, 16 + 8 * number + 4 * half)


def _checked(result: int, what: str) -> int:
    if result < 0:
        raise OSError(f"{what} is refused: {os.strerror(ctypes.get_errno())}")
    return result


if __name__ == "__main__":
    sys.stdout.write(json.dumps(confine()) + "\n")
