# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The kernel's own event tracer as a peer: an instance of its own, with the stacktrace option and a
buffer that overwrites the oldest. An event with its stack is two entries there.
"""
import glob
import os

from measure import TRACEFS


class Ftrace:
    def __init__(self, event, total_bytes):
        self.event = event
        self.folder = f"{TRACEFS}/instances/stackmap_bench_{os.getpid()}"
        self.cpus = len(glob.glob(f"{TRACEFS}/per_cpu/cpu*"))
        self.kib_per_cpu = total_bytes // 1024 // self.cpus

    def __enter__(self):
        os.mkdir(self.folder)
        self._write("buffer_size_kb", str(self.kib_per_cpu))
        self._write("options/overwrite", "1")
        self._write("options/stacktrace", "1")
        return self

    def __exit__(self, *error):
        self.stop()
        os.rmdir(self.folder)

    def _write(self, file, text):
        with open(f"{self.folder}/{file}", "w") as out:
            out.write(text)

    def start(self):
        self._write(f"events/{self.event.replace(':', '/')}/enable", "1")

    def stop(self):
        self._write(f"events/{self.event.replace(':', '/')}/enable", "0")

    def _sum(self, name):
        total = 0
        for path in glob.glob(f"{self.folder}/per_cpu/cpu*/stats"):
            with open(path) as lines:
                total += sum(int(line.split(":")[1]) for line in lines if line.startswith(f"{name}:"))
        return total

    def bytes(self):
        """Bytes of the entries in the buffer, without page headers and unused ends of pages."""
        return self._sum("bytes")

    def overwritten(self):
        return self._sum("overrun")

    def events(self):
        """The number of retained events that have their stack."""
        mark = f" {self.event.split(':')[1]}: "
        with open(f"{self.folder}/trace", errors="replace") as lines:
            return sum(mark in line for line in lines)
