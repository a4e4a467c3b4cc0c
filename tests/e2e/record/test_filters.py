#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Filters: all events of the chosen tasks, none of others. The workload is a tree of processes and threads, each of
which calls one function a known number of times."""

import contextlib
import os
import subprocess

from harness import task_tree
from harness.cases import SECONDS_MAX, STACKMAP, Skip, cgroup2, main, needs, program, run, stackmap
from harness.engine_folder import enter_own_mounts, fresh_bpffs
from harness.recorder import Recorder
from harness.recording import parse_ids, record
from harness.task_tree import CALLS, SOURCE, TASKS, THREADS, TREE, WaitingTree, by_task, record_tree
from harness.top_text import LEDGER, Text
from harness.waiting import wait_until

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


def test_comm_may_be_a_glob_and_be_repeated():
    """The same names pass in `record` and in `report`."""
    whole = record_tree("-a")
    for globs, tasks in ((["tree-[rt]*"], 1 + THREADS), (["tree-root", "*-leaf"], 1 + THREADS * THREADS), (["tree-?????*"], 2 * THREADS),
                         (["tree-root", "no-task"], 1)):
        options = [word for glob in globs for word in ("--comm", glob)]
        by_task(record_tree("-a", *options), tasks)
        passed = parse_ids(stackmap("script", "--ids", *options, whole.path).stdout)
        assert len({line.tid for line in passed}) == tasks, (globs, passed)


def test_a_thread_is_no_process():
    """Its process is named, which is what -p takes."""
    with WaitingTree() as tree:
        threads = "/proc/%d/task" % tree.tree.pid
        wait_until(lambda: len(os.listdir(threads)) > 1)
        tid = next(tid for tid in os.listdir(threads) if int(tid) != tree.tree.pid)
        for command in (["record", "-o", "f.data"], ["top", "--batch"], ["start", "no"]):
            said = stackmap(*command, "-p", tid, "-e", SOURCE, status=1).stderr
            assert "-p %s: a thread of process %d" % (tid, tree.tree.pid) in said, said
        gone = tree.tree.pid
    assert "-p %d: no such process" % gone in stackmap("record", "-p", gone, "-e", SOURCE, status=1).stderr


def test_a_comm_that_no_task_can_have():
    for option in ("sixteen-bytes-are*too-many", "?" * 16):
        assert "15 bytes at most" in stackmap("record", "-a", "--comm", option, status=2).stderr


@contextlib.contextmanager
def cgroup_of(pid):
    """A cgroup whose child cgroup has the process in it."""
    folder = os.path.join(cgroup2(), "stackmap-e2e-%d" % os.getpid())
    inner = os.path.join(folder, "inner")
    os.makedirs(inner)
    try:
        with open(os.path.join(inner, "cgroup.procs"), "w", encoding="ascii") as procs:
            procs.write(str(pid))
        yield folder
    finally:
        wait_until(lambda: "populated 0" in open(os.path.join(inner, "cgroup.events"), encoding="ascii").read())
        os.rmdir(inner)
        os.rmdir(folder)


def test_cgroup_of_a_condition():
    """The cgroup itself, by its number: a task in a cgroup below it has another one."""
    needs("bpf", "raw tracepoints")
    waiting = ["sh", "-c", 'read line; exec "$0" getppid=100', program("known_counts")]
    with subprocess.Popen(waiting, stdin=subprocess.PIPE) as process, cgroup_of(process.pid) as folder:
        inner, outer = (os.stat(path).st_ino for path in (os.path.join(folder, "inner"), folder))
        words = "syscalls:sys_enter_getppid/if=cgroup==%d/,syscalls:sys_exit_getppid/if=cgroup==%d/" % (inner, outer)
        done = "echo >/proc/{0}/fd/0; while readlink /proc/{0}/exe; do sleep 0.05; done".format(process.pid)
        recording = record("-a", "-e", words, "--", "sh", "-c", done)
    recording.check()
    assert [event.name for event in recording.events()] == ["syscalls:sys_enter_getppid"] * 100, recording.script


# Three trees run: one in the process of -p and the cgroup of --cgroup, one elsewhere, one that the command starts.
# Options -> tasks recorded with and without a command; None: nothing is chosen.
ROOT = ["--comm", "tree-root"]
CHOICES = [
    ([], TASKS, None),
    (["-C", "0-%d" % (os.cpu_count() - 1)], TASKS, 3 * TASKS),
    (["-a"], 3 * TASKS, 3 * TASKS),
    (["-p", "PID"], TASKS, TASKS),
    (["--cgroup", "DIR"], TASKS, TASKS),
    (ROOT, 3, 3),
    (["-a", *ROOT], 3, 3),
    (["-p", "PID", *ROOT], 1, 1),
    (["--cgroup", "DIR", *ROOT], 1, 1),
    (["-p", "PID", "--cgroup", "DIR"], TASKS, TASKS),
]


@contextlib.contextmanager
def chosen_trees():
    """The values of PID and DIR, and a command that runs all three trees."""
    with WaitingTree() as inside, WaitingTree() as outside, cgroup_of(inside.tree.pid) as folder:
        script = "%s; %s; echo | %s %d >/dev/null" % (inside.go(), outside.go(), TREE, CALLS)
        yield {"PID": str(inside.tree.pid), "DIR": folder}, script


def words_of(options, values):
    return [values.get(word, word) for word in options]


def test_every_choice_with_a_command():
    """One rule: beside a choice of tasks the command sets only the duration."""
    needs("bpf", "uprobes")
    for options, tasks, _ in CHOICES:
        with chosen_trees() as (values, script):
            found = by_task(record(*words_of(options, values), "-e", SOURCE, "--", "sh", "-c", script), tasks)
            assert (int(values["PID"]) in found) == (options not in ([], CHOICES[1][0])), (options, found)


def test_every_choice_without_a_command():
    """The recorders of all choices see the same trees."""
    assert "nothing to record" in stackmap("record", "-e", SOURCE, status=2).stderr
    choices = [(options, tasks, "%d.data" % row) for row, (options, _, tasks) in enumerate(CHOICES) if tasks]
    with chosen_trees() as (values, script):
        recorders = [Recorder(*words_of(options, values), "-e", SOURCE, output=output) for options, _, output in choices]
        for recorder in recorders:
            wait_until(lambda: os.path.exists(recorder.output) or recorder.process.poll() is not None)
        run("sh", "-c", script)
        for recorder, (options, tasks, _) in zip(recorders, choices):
            by_task(recorder.ended() if "PID" in options else recorder.end(), tasks)


def test_every_choice_in_top():
    """The views of all choices see the same trees. The processes of -p include one that stays, since top ends with them."""
    needs("bpf", "uprobes")
    with chosen_trees() as (values, script), subprocess.Popen(["sleep", "600"]) as sleeper:
        stays = ["-p", str(sleeper.pid)]
        views = [(Text("-e", SOURCE, *words_of(options, values), *(stays if "PID" in options else [])), options, CALLS * (tasks or 3 * TASKS))
                 for options, _, tasks in CHOICES]
        for text, _, _ in views:
            text.refresh()
        run("sh", "-c", script)
        for text, options, expected in views:
            produced = 0
            while produced < expected:
                produced = int(LEDGER.match(text.refresh()[1])[1])
            assert int(LEDGER.match(text.refresh()[1])[1]) == expected, (options, produced)
        sleeper.kill()
        for text, options, _ in views:
            if "PID" not in options:
                text.end()
            text.process.communicate(timeout=SECONDS_MAX)


def test_every_choice_of_an_instance():
    """The instances of all choices see the same trees."""
    needs("bpf", "uprobes")
    fresh_bpffs()
    with chosen_trees() as (values, script):
        for row, (options, _, _) in enumerate(CHOICES):
            begun = stackmap("start", "choice%d" % row, *words_of(options, values), "-e", SOURCE, status=None)
            if begun.returncode:
                raise Skip("no instance here: " + begun.stderr.strip())
        run("sh", "-c", script)
        for row, (options, _, tasks) in enumerate(CHOICES):
            found = len(stackmap("script", "--ids", "--instance", "choice%d" % row).stdout.splitlines())
            stackmap("stop", "choice%d" % row)
            assert found == CALLS * (tasks or 3 * TASKS), (options, found)


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
    enter_own_mounts()
    main(globals())
