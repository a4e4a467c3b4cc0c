#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The cgroups of events: of tasks in several cgroups, of tasks that are moved, of cgroups that are gone. The events are a
program's own calls of chdir, as many as it was told to make in each place."""

import contextlib
import json
import os
import sys

from harness.cases import STACKMAP, Skip, cgroup2, main, needs, needs_command, run, stackmap
from harness.engine_folder import enter_own_mounts, fresh_bpffs
from harness.exported import Pprof
from harness.recording import Recording, parse_events, record
from harness.task_tree import CALLS, SOURCE, TASKS, WaitingTree

CHDIR = "syscalls:sys_enter_chdir"


class Cgroups:
    """Cgroups below one of the test's own, as paths in the hierarchy; at the end their tasks are moved to its root."""

    def __init__(self):
        self.root = cgroup2()
        self.top = "/stackmap-cgroups-%d" % os.getpid()

    def __enter__(self):
        os.mkdir(self.directory(self.top))
        return self

    def directory(self, path):
        return self.root + path

    def tasks(self, path):
        return os.path.join(self.directory(path), "cgroup.procs")

    def make(self, name):
        path = self.top + "/" + name
        os.mkdir(self.directory(path))
        return path

    def own(self):
        """The cgroup of the test itself and of its children."""
        with open("/proc/self/cgroup", encoding="ascii") as file:
            return next(line.rstrip("\n")[3:] for line in file if line.startswith("0::"))

    def put(self, pid, path):
        with open(self.tasks(path), "w", encoding="ascii") as file:
            file.write(str(pid))

    def __exit__(self, *_):
        for folder, _, _ in os.walk(self.directory(self.top), topdown=False):
            with contextlib.suppress(OSError), open(os.path.join(folder, "cgroup.procs"), encoding="ascii") as file:
                for pid in file.read().split():
                    self.put(pid, "")
            os.rmdir(folder)


def table(recording, *options):
    """cgroup -> events."""
    report = json.loads(recording.read("report", "--json", "--sort", "cgroup", *options))
    return {row["cgroup"]: row["self"]["count"] for row in report["rows"]}


def check_filters(recording, counts):
    """Each cgroup by itself and with those below it, in all that has filters."""
    for path in counts:
        within = {other: count for other, count in counts.items() if (other + "/").startswith(path.rstrip("/") + "/")}
        chosen = ("--cgroup", path)
        assert table(recording, *chosen) == within, path
        assert len(parse_events(recording.read("script", *chosen))) == sum(within.values())
        exported = json.loads(recording.read("export", "-f", "json", *chosen))
        assert {stack["cgroup"] for stack in exported["stacks"]} == set(within)
        assert sum(stack["count"] for stack in exported["stacks"]) == sum(within.values())


def check(recording, counts):
    recording.check()
    assert table(recording) == counts, table(recording)
    check_filters(recording, counts)


def test_tasks_in_two_cgroups():
    needs("bpf", "uprobes")
    with Cgroups() as cgroups, WaitingTree() as first, WaitingTree() as second, WaitingTree() as outside:
        upper = cgroups.make("upper")
        inner = cgroups.make("upper/in ner")
        cgroups.put(first.tree.pid, upper)
        cgroups.put(second.tree.pid, inner)
        script = "; ".join(tree.go() for tree in (first, second, outside))
        recording = record("-a", "-e", SOURCE, "--", "sh", "-c", script)
        each = TASKS * CALLS
        check(recording, {upper: each, inner: each, cgroups.own(): each})
        for directory in cgroups.directory(upper), "/sys/fs/cgroup/unified" + upper + "/":
            assert table(recording, "--cgroup", directory) == {upper: each, inner: each}
        assert table(recording, "--cgroup", "/", "--pid", second.tree.pid) == {inner: CALLS * 4}
    merged = Recording("merged.data")
    stackmap("merge", "-o", merged.path, recording.path)
    assert table(merged) == table(recording)
    stackmap("export", "-f", "pprof", "-o", "f.pb.gz", recording.path)
    pprof = Pprof("f.pb.gz")
    assert {pprof.labels(sample)["cgroup"] for sample in pprof.samples} == set(table(recording))
    assert recording.read("script", "--ids", "--show-cgroup", "--cgroup", inner).count(" %s [" % inner) == each


def chdirs(count):
    return "cd /; " * count


def record_shell(script, *options):
    """The shell has moved when its write is done, so it is known which of its calls were where."""
    needs("bpf", "raw tracepoints", "tracefs")
    return record("-e", CHDIR, *options, "--", "sh", "-c", script)


def test_a_process_is_moved():
    with Cgroups() as cgroups:
        first, second = cgroups.make("first"), cgroups.make("second")
        enter = "echo $$ >%s; "
        script = (chdirs(3) + enter % cgroups.tasks(first) + chdirs(20) + enter % cgroups.tasks(second) + chdirs(100) +
                  "(%s); " % chdirs(7) + enter % cgroups.tasks(first) + chdirs(1) + enter % cgroups.tasks(""))
        check(record_shell(script), {cgroups.own(): 3, first: 21, second: 107})


THREADS = """
import os, sys, threading
first, second, files = threading.Barrier(5), threading.Barrier(5), sys.argv[1:]
def call():
    for _ in range(10):
        os.chdir("/")
    first.wait()
    second.wait()
    for _ in range(30):
        os.chdir("/")
threads = [threading.Thread(target=call) for _ in range(4)]
for thread in threads:
    thread.start()
first.wait()
open(files[0], "w").write(str(threads[2].native_id if len(files) > 1 else os.getpid()))
second.wait()
for thread in threads:
    thread.join()
open(files[-1], "w").write(str(os.getpid()))
"""


def record_threads(*files):
    needs("bpf", "raw tracepoints", "tracefs")
    return record("-e", CHDIR, "--", sys.executable, "-c", THREADS, *files)


def test_all_threads_are_moved():
    with Cgroups() as cgroups:
        place = cgroups.make("place")
        check(record_threads(cgroups.tasks(place)), {cgroups.own(): 40, place: 120})


def test_one_thread_is_moved():
    with Cgroups() as cgroups:
        place = cgroups.make("place")
        inner = cgroups.make("place/threads")
        try:
            with open(cgroups.directory(inner) + "/cgroup.type", "w", encoding="ascii") as file:
                file.write("threaded")
        except OSError as error:
            raise Skip("no threaded cgroups here: %s" % error) from error
        script = 'echo $$ >%s && exec "$@"' % cgroups.tasks(place)
        needs("bpf", "raw tracepoints", "tracefs")
        recording = record("-e", CHDIR, "--", "sh", "-c", script, "sh", sys.executable, "-c", THREADS,
                           cgroups.directory(inner) + "/cgroup.threads", cgroups.tasks(place))
        check(recording, {place: 130, inner: 30})


CLONE_INTO = """
import ctypes, os, sys
CLONE3, CLONE_INTO_CGROUP, SIGCHLD = 435, 0x200000000, 17
class Arguments(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("flags pidfd child_tid parent_tid exit_signal stack stack_size tls "
                                                     "set_tid set_tid_size cgroup").split()]
os.chdir("/")
place = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)
arguments = Arguments(flags=CLONE_INTO_CGROUP, exit_signal=SIGCHLD, cgroup=place)
child = ctypes.CDLL(None).syscall(CLONE3, ctypes.byref(arguments), ctypes.sizeof(arguments))
if child == 0:
    for _ in range(12):
        os.chdir("/")
    os._exit(0)
sys.exit(child < 0 or os.waitpid(child, 0)[1])
"""


def test_born_in_another_cgroup():
    needs("bpf", "raw tracepoints", "tracefs")
    with Cgroups() as cgroups:
        place = cgroups.make("place")
        recording = record("-e", CHDIR, "--", sys.executable, "-c", CLONE_INTO, cgroups.directory(place))
        check(recording, {cgroups.own(): 1, place: 12})


def test_cgroups_that_are_gone_when_their_name_is_asked_for():
    """The recorder is stopped meanwhile. The name of one that was made since it runs was kept for it."""
    with Cgroups() as cgroups:
        older, newer = cgroups.make("older"), cgroups.top + "/newer"
        number = os.stat(cgroups.directory(older)).st_ino
        leave = "echo $$ >%s; rmdir %%s; " % cgroups.tasks(cgroups.top)
        script = ("kill -STOP $PPID; " + "echo $$ >%s; " % cgroups.tasks(older) + chdirs(5) +
                  leave % cgroups.directory(older) + "mkdir %s; " % cgroups.directory(newer) +
                  "echo $$ >%s; " % cgroups.tasks(newer) + chdirs(8) + leave % cgroups.directory(newer) +
                  "kill -CONT $PPID")
        recording = record_shell(script)
        check(recording, {"[cgroup %d]" % number: 5, newer: 8})
    assert not table(recording, "--cgroup", older)


def test_an_instance_tells_where_its_tasks_were():
    needs("bpf", "raw tracepoints", "tracefs")
    fresh_bpffs()
    with Cgroups() as cgroups:
        stackmap("start", "live", "-e", CHDIR, "--flight", "2M")
        place = cgroups.make("place")
        run("sh", "-c", "echo $$ >%s; %s" % (cgroups.tasks(place), chdirs(9)))
        os.rmdir(cgroups.directory(place))
        found = json.loads(stackmap("report", "--instance", "live", "--json", "--sort", "cgroup", "--comm", "sh").stdout)
        stackmap("stop", "live")
        assert {row["cgroup"]: row["self"]["count"] for row in found["rows"]}[place] == 9, found["rows"]


def test_without_a_cgroup2_file_system():
    needs("bpf", "raw tracepoints", "tracefs")
    needs_command("unshare", "-m", "true")
    alone = ["unshare", "-m", "sh", "-c", 'umount -l -a -t cgroup2 && exec "$@"', "sh"]
    run(*alone, STACKMAP, "record", "-o", "f.data", "-e", CHDIR, "--", "sh", "-c", chdirs(4))
    recording = Recording("f.data")
    assert table(recording) == {"[unknown]": 4}
    refused = stackmap("report", "--cgroup", "/", recording.path, status=1)
    assert "holds no cgroups" in refused.stderr, refused.stderr


def test_wrong_paths():
    open("empty", "w", encoding="ascii").close()
    for wrong in "", "user.slice", "../x":
        refused = stackmap("report", "--cgroup", wrong, "empty", status=2)
        assert "--cgroup %s: must be" % wrong in refused.stderr, refused.stderr


if __name__ == "__main__":
    enter_own_mounts()
    main(globals())
