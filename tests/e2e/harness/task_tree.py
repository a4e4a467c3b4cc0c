# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The program task_tree, a tree of processes and threads, each of which calls one function a known number of times."""

import collections
import os
import subprocess

from harness.cases import SECONDS_MAX, Skip, needs, program
from harness.recording import record

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
        return "echo >/proc/{0}/fd/0; while [ -e /proc/{0}/exe ]; do sleep 0.01; done".format(self.tree.pid)

    def __exit__(self, *_):
        self.tree.stdin.close()
        self.tree.wait(SECONDS_MAX)


def command_with_all_its_descendants():
    by_task(record_tree(), TASKS)


def pid_with_threads_and_children():
    """The command tells only how long, though it runs the same program."""
    with WaitingTree() as tree, WaitingTree() as other:
        script = "%s; %s; echo | %s %d >/dev/null" % (tree.go(), other.go(), TREE, CALLS)
        found = by_task(record("-p", tree.tree.pid, "-e", SOURCE, "--", "sh", "-c", script), TASKS)
    assert tree.tree.pid in found and other.tree.pid not in found


def pid_of_a_parent():
    """Children that run already belong to it."""
    with WaitingTree("sh", "-c", '"$@"; :', "sh") as tree:
        tree.wait_for_child()
        by_task(record("-p", tree.tree.pid, "-e", SOURCE, "--", "sh", "-c", tree.go()), TASKS)


def command_and_nobody_else():
    with WaitingTree() as other:
        script = "echo | %s %d >/dev/null; %s" % (TREE, CALLS, other.go())
        found = by_task(record("-e", SOURCE, "--", "sh", "-c", script), TASKS)
    assert other.tree.pid not in found


def whole_machine():
    with WaitingTree() as other:
        script = "echo | %s %d >/dev/null; %s" % (TREE, CALLS, other.go())
        by_task(record("-a", "-e", SOURCE, "--", "sh", "-c", script), 2 * TASKS)
