#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Filters: all events of the chosen tasks, none of others. The workload is a tree of processes and threads, each of
which calls one function a known number of times."""

import os

from harness import task_tree
from harness.cases import STACKMAP, Skip, cgroup2, main, needs, program
from harness.recording import record
from harness.task_tree import SOURCE, TASKS, THREADS, WaitingTree, by_task, record_tree

# test_namespaces runs these, too.
test_command_with_all_its_descendants = task_tree.command_with_all_its_descendants
test_pid_with_threads_and_children = task_tree.pid_with_threads_and_children
test_pid_of_a_parent = task_tree.pid_of_a_parent
test_command_and_nobody_else = task_tree.command_and_nobody_else
test_whole_machine = task_tree.whole_machine


def test_comm():
    for name, tasks in (("tree-root", 1), ("tree-thread", THREADS), ("tree-child", THREADS),
                        ("tree-leaf", THREADS * THREADS)):
        recording = record_tree("-a", "--comm", name)
        by_task(recording, tasks)
        assert {line.comm for line in recording.ids()} == {name}


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
