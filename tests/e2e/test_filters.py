#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Filters: all events of the chosen tasks, none of others. The workload is a tree of processes and threads, each of
which calls one function a known number of times."""

import collections
import os
import subprocess

from cases import SECONDS_MAX, STACKMAP, Skip, main, needs, program
from recording import record

TREE = program("task_tree")
SOURCE = "u:%s:counted" % TREE
TASKS, THREADS, CALLS = 16, 3, 200


def by_task(recording, tasks, calls=CALLS):
    """Exactly so many tasks are in the recording, each with all of its calls."""
    ledger = recording.check()
    found = collections.Counter(line.tid for line in recording.ids())
    assert len(found) == tasks and set(found.values()) == {calls}, found
    assert ledger["produced"] == tasks * calls, ledger
    return found


def record_tree(*options):
    needs("bpf", "uprobes")
    return record(*options, "-e", SOURCE, "--", "sh", "-c", "echo | %s %d >/dev/null" % (TREE, CALLS))


class WaitingTree:
    """A tree that was started before its recorder, and waits for a line; maybe as the child of a shell."""

    def __init__(self, *shell):
        needs("bpf", "uprobes")
        self.tree = subprocess.Popen([*shell, TREE, str(CALLS)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def wait_for_child(self):
        """Until the shell has started the tree."""
        path = "/proc/{0}/task/{0}/children".format(self.tree.pid)
        if not os.path.exists(path):
            raise Skip("no %s here" % path)
        while self.tree.poll() is None:
            with open(path, encoding="ascii") as children:
                if children.read():
                    break

    def go(self):
        """A shell command that lets the tree go and ends after it."""
        return "echo >/proc/{0}/fd/0; while [ -e /proc/{0}/exe ]; do :; done".format(self.tree.pid)

    def __exit__(self, *_):
        self.tree.stdin.close()
        self.tree.wait(SECONDS_MAX)


def test_command_with_all_its_descendants():
    by_task(record_tree(), TASKS)


def test_pid_with_threads_and_children():
    """The command tells only how long, though it runs the same program."""
    with WaitingTree() as tree, WaitingTree() as other:
        script = "%s; %s; echo | %s %d >/dev/null" % (tree.go(), other.go(), TREE, CALLS)
        found = by_task(record("-p", tree.tree.pid, "-e", SOURCE, "--", "sh", "-c", script), TASKS)
    assert tree.tree.pid in found and other.tree.pid not in found


def test_pid_of_a_parent():
    """Children that run already belong to it."""
    with WaitingTree("sh", "-c", '"$@"; :', "sh") as tree:
        tree.wait_for_child()
        by_task(record("-p", tree.tree.pid, "-e", SOURCE, "--", "sh", "-c", tree.go()), TASKS)


def test_command_and_nobody_else():
    with WaitingTree() as other:
        script = "echo | %s %d >/dev/null; %s" % (TREE, CALLS, other.go())
        found = by_task(record("-e", SOURCE, "--", "sh", "-c", script), TASKS)
    assert other.tree.pid not in found


def test_whole_machine():
    with WaitingTree() as other:
        script = "echo | %s %d >/dev/null; %s" % (TREE, CALLS, other.go())
        by_task(record("-a", "-e", SOURCE, "--", "sh", "-c", script), 2 * TASKS)


def test_comm():
    for name, tasks in (("tree-root", 1), ("tree-thread", THREADS), ("tree-child", THREADS),
                        ("tree-leaf", THREADS * THREADS)):
        recording = record_tree("-a", "--comm", name)
        by_task(recording, tasks)
        assert {line.comm for line in recording.ids()} == {name}


def cgroup2():
    with open("/proc/mounts", encoding="ascii") as mounts:
        for line in mounts:
            _, folder, kind, options, *_ = line.split()
            if kind == "cgroup2" and "rw" in options.split(",") and os.access(folder, os.W_OK):
                return folder
    raise Skip("no writable cgroup2 file system is mounted here")


def test_cgroup():
    folder = os.path.join(cgroup2(), "stackmap-e2e-%d" % os.getpid())
    inner = os.path.join(folder, "inner")
    os.makedirs(inner)
    try:
        with WaitingTree() as inside, WaitingTree() as outside:
            with open(os.path.join(inner, "cgroup.procs"), "w", encoding="ascii") as procs:
                procs.write(str(inside.tree.pid))
            script = inside.go() + "; " + outside.go()
            found = by_task(record("-a", "--cgroup", folder, "-e", SOURCE, "--", "sh", "-c", script), TASKS)
            assert inside.tree.pid in found
    finally:
        os.rmdir(inner)
        os.rmdir(folder)


def test_cpu():
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Skip("needs two CPUs")
    needs("bpf", "uprobes")
    workload = program("known_counts")
    command = "taskset -c %d %s calls=300; taskset -c %d %s calls=500" % (cpus[0], workload, cpus[1], workload)
    source = "u:%s:counted" % workload
    for chosen, calls in ((cpus[0], 300), (cpus[1], 500)):
        recording = record("-C", chosen, "-e", source, "--", "sh", "-c", command)
        assert recording.check()["produced"] == calls
        assert {event.cpu for event in recording.events()} == {chosen}
    both = record("-C", "%d,%d" % (cpus[0], cpus[1]), "-e", source, "--", "sh", "-c", command)
    assert both.check()["produced"] == 800


def test_recorder_is_not_in_its_recording():
    """Its own system calls, of which it makes some all the time, are left out; those of another recorder are not."""
    needs("bpf", "raw tracepoints", "tracefs")
    recording = record("-a", "-e", "syscalls:sys_enter_*", "--", "sh", "-c",
                       "echo $PPID >recorder; %s record -o other.data -e page-faults -- true" % STACKMAP)
    with open("recorder", encoding="ascii") as file:
        recorder = int(file.read())
    recording.check()
    tids = {event.tid: event.comm for event in recording.events()}
    assert recorder not in tids and "stackmap" in tids.values(), tids


if __name__ == "__main__":
    main(globals())
