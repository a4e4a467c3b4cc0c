# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A cgroup with a memory limit, of either version, and what came of the processes in it."""

import contextlib
import os
import pathlib

from harness.skip import Skip

ROOTS = (("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.oom_control", "memory.max_usage_in_bytes"),
         ("/sys/fs/cgroup", "memory.max", "memory.events", "memory.peak"))


class MemoryCgroup:
    def __init__(self, folder, limit, events, peak):
        self.folder, self.limit, self.events, self.peak = folder, folder / limit, folder / events, folder / peak

    def inside(self, *command):
        """The command as one that runs in it."""
        return ["sh", "-c", 'echo $$ >"$0" && exec "$@"', str(self.folder / "cgroup.procs"), *map(str, command)]

    def kills(self):
        """Processes that the kernel has killed for memory."""
        words = dict(line.split() for line in self.events.read_text().splitlines())
        return int(words["oom_kill"])

    def most_bytes(self):
        return int(self.peak.read_text()) if self.peak.exists() else 0


@contextlib.contextmanager
def memory_cgroup(limit_bytes):
    for root, *names in ROOTS:
        folder = pathlib.Path(root, "stackmap-test-%d" % os.getpid())
        made = MemoryCgroup(folder, *names)
        with contextlib.suppress(OSError):
            folder.mkdir()
            if made.limit.exists():
                break
            folder.rmdir()
    else:
        raise Skip("no cgroup with a memory limit can be made here")
    try:
        made.limit.write_text(str(limit_bytes))
        yield made
    finally:
        folder.rmdir()
