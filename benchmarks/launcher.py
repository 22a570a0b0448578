"""Runs a command, and prints what it took as a last line of JSON.

A process counts the memory of the one that started it as its own: so this one is small.
"""

from __future__ import annotations

import json
import os
import sys
import time

start = time.perf_counter()
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
_, status, used = os.wait4(child, 0)
seconds = time.perf_counter() - start
print(f"\n{json.dumps([seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024])}")
sys.exit(os.waitstatus_to_exitcode(status))
