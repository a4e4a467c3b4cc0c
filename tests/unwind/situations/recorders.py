# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The profilers that are compared. Each records a command and gives text as `perf script` prints it (judge.py). To try another
profiler, add a class with the same four members, and its line at the end:

    name           as --recorders has it
    is_marking     it says of a stack that ends early that it does
    version()      a line; raises Unable where it cannot record here
    record(event, command, folder, scratch)
                   event: "samples", "syscall" (getppid), or "entry FILE:FUNCTION"; the command runs in folder, own files
                   go to scratch; raises Unable with the reason if this event cannot be recorded
"""
import itertools
import os
import subprocess
import tempfile

FREQUENCY = 999
SECONDS_MAX = 120
SYSCALL = "syscalls:sys_enter_getppid"


class Unable(Exception):
    pass


def run(command, folder=".", with_errors=False):
    try:
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS_MAX, check=False)
    except OSError as error:
        raise Unable("%s: %s" % (command[0], error.strerror)) from error
    except subprocess.TimeoutExpired as error:
        raise Unable("%s does not end" % command[0]) from error
    if done.returncode:
        lines = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
        raise Unable("%s: exit %d: %s" % (os.path.basename(command[0]), done.returncode, lines[-1] if lines else ""))
    return (done.stderr + done.stdout if with_errors else done.stdout).decode(errors="replace")


class Stackmap:
    name = "stackmap"
    is_marking = True

    def __init__(self, path="stackmap"):
        self.path = path

    def version(self):
        """On its best way it prints nothing but its ledger; where it falls back to frame pointers, there is nothing to judge."""
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "stackmap.data")
            said = run([self.path, "record", "-F", str(FREQUENCY), "-o", file, "--", "true"], with_errors=True)
        worse = [line for line in said.splitlines() if "by frame pointers" in line]
        if worse:
            raise Unable(worse[0])
        return run([self.path, "--version"]).strip()

    def record(self, event, command, folder, scratch):
        file = os.path.join(scratch, "stackmap.data")
        kind, _, what = event.partition(" ")
        way = {"samples": ["-F", str(FREQUENCY)], "syscall": ["-e", SYSCALL], "entry": ["-e", "u:" + what]}[kind]
        run([self.path, "record", "-q", "--no-kernel", *way, "-o", file, "--", *command], folder)
        return run([self.path, "script", "--no-inline", file], folder)


class Perf:
    is_marking = False
    probes = itertools.count()

    def __init__(self, call_graph):
        self.name = "perf-" + call_graph
        self.call_graph = call_graph

    def version(self):
        run(["perf", "record", "-q", "-e", "cpu-clock", "--call-graph", self.call_graph, "-o", os.devnull, "--", "true"])
        return run(["perf", "--version"]).strip()

    def record(self, event, command, folder, scratch):
        kind, _, what = event.partition(" ")
        if kind != "entry":
            return self._record(["-e", "cpu-clock", "-F", str(FREQUENCY)] if kind == "samples" else ["-e", SYSCALL], command, folder, scratch)
        path, _, name = what.rpartition(":")
        probe = "situation:entry_%d_%d" % (os.getpid(), next(self.probes))
        run(["perf", "probe", "-x", path, "-a", "%s=%s" % (probe, name)], folder)
        try:
            return self._record(["-e", probe], command, folder, scratch)
        finally:
            run(["perf", "probe", "-d", probe], folder)

    def _record(self, way, command, folder, scratch):
        file = os.path.join(scratch, "perf.data")
        run(["perf", "record", "-q", *way, "--call-graph", self.call_graph, "-o", file, "--", *command], folder)
        return run(["perf", "script", "--no-inline", "-F", "comm,tid,time,event,ip,sym,dso", "-i", file], folder)


def all_recorders(stackmap):
    return [Stackmap(stackmap), Perf("fp"), Perf("dwarf")]
