#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Recordings inside a PID namespace: of its tasks and those of inner namespaces, by their ids in this namespace, and of no
other tasks. Runs in a namespace of its own with a BPF file system of its own; outside of it a process goes on all the time,
and writes into a pipe that leads in. What holds of filters and of blocked tasks holds there, too: those cases run as they
are."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile

from harness import blocked, known_stack, sleeping_instance, task_tree
from harness.blocked import TIME, WAKER
from harness.cases import OWN, SAID, SECONDS_MAX, STACKMAP, Skip, main, needs, run, stackmap
from harness.engine_folder import ENGINE, HOME, SHARED, fresh_bpffs
from harness.instance import read
from harness.known_stack import KNOWN, PATH_INSIDE
from harness.recording import Recording, function, kernel_frames, names_of, parse_events, record, user_frames
from harness.waiting import wait_until

PIPE = "STACKMAP_TEST_PIPE"  # set in the namespace
FAULTS = 50
NESTED = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
LAST_ID = "/proc/sys/kernel/ns_last_pid"  # the next is given behind it
OUTSIDE = "outside-%d" % os.getppid()  # as it is called by whoever is not

# Cases that also run inside of a namespace.
test_a_snapshot = sleeping_instance.a_snapshot
test_asleep_at_the_end = known_stack.asleep_at_the_end
test_inside_execve_of_a_thread = known_stack.inside_execve_of_a_thread
test_command_and_nobody_else = task_tree.command_and_nobody_else
test_command_with_all_its_descendants = task_tree.command_with_all_its_descendants
test_pid_of_a_parent = task_tree.pid_of_a_parent
test_pid_with_threads_and_children = task_tree.pid_with_threads_and_children
test_whole_machine = task_tree.whole_machine
test_wakers = blocked.wakers
test_where_and_how_long = blocked.where_and_how_long


def namespace_number():
    return os.stat("/proc/self/ns/pid").st_ino


def newest_id():
    return int(run("sh", "-c", "echo $$").stdout)


def check_known(events, tid):
    """The page faults of known_stack are this task's, each with its whole stack."""
    known = [event for event in events if "meet_faults" in names_of(event) and event.comm == "known_stack"]
    assert len(known) >= FAULTS and {event.tid for event in known} == {tid}, ({event.tid for event in known}, tid)
    for event in known:
        names = names_of(event)
        at = names.index("inner")
        assert names[at:at + 3] == PATH_INSIDE and names[-1] == "_start", names


def fault_in(output, *prefix):
    """A shell that says what it is called, from the outermost namespace that its /proc knows to its own, and becomes
    known_stack."""
    script = "exec 3</proc/self/status; grep NSpid <&3 >%s; exec %s faults %d" % (output, KNOWN, FAULTS)
    return [*prefix, "sh", "-c", script]


def ids_told(output):
    with open(output, encoding="ascii") as file:
        return [int(word) for word in file.read().split()[1:]]


def check_all_are_ours(recording, least=1):
    """Each id is one of this namespace, where they are given from 1 on, and has a name that somebody here has."""
    ledger = recording.check()
    lines = recording.ids()
    assert len(lines) >= least, ledger
    newest = newest_id()
    assert all(1 <= line.tid < newest for line in lines), ({line.tid for line in lines}, newest)
    assert not [line for line in lines if line.comm in ("swapper", "outside", OUTSIDE)], {line.comm for line in lines}
    assert all(line.comm and line.comm != str(line.tid) for line in lines)


def test_the_whole_namespace():
    """Sampled, switched and faulting tasks: ours only, though the machine has more to do."""
    needs("bpf", "perf events", "raw tracepoints")
    recording = record("-a", "-e", "sched:sched_switch", "-e", "page-faults", "-e", "cpu-clock", "--", *fault_in("ids"))
    check_all_are_ours(recording, FAULTS)
    own, = ids_told("ids")
    check_known(recording.events(), own)


def test_tasks_of_a_namespace_inside():
    """They have an id here, too."""
    recording = record("-a", "-e", "page-faults", "--", *fault_in("ids", "unshare", "--pid", "--fork"))
    check_all_are_ours(recording, FAULTS)
    own, inner = ids_told("ids")
    assert inner == 1 != own
    check_known(recording.events(), own)


def test_a_command_of_a_namespace_inside():
    recording = record("-e", "page-faults", "--", *fault_in("ids", "unshare", "--pid", "--fork"))
    check_known(recording.events(), ids_told("ids")[0])


def test_from_a_namespace_inside():
    """By the ids of that one, and of its tasks only: ours go on meanwhile."""
    needs("bpf", "raw tracepoints")
    with subprocess.Popen(["sh", "-c", "while sleep 0.01; do :; done"], start_new_session=True) as around:
        command = " ".join("'%s'" % word for word in fault_in("ids"))
        done = run(*NESTED, "sh", "-c", "'%s' record -a -o f.data -e page-faults -e sched:sched_switch -- %s; exit $?" %
                   (STACKMAP, command.replace("'sh' '-c' '", "sh -c '")))
        os.killpg(around.pid, signal.SIGKILL)
    recording = Recording("f.data", done.stderr)
    recording.check()
    events = recording.events()
    check_known(events, ids_told("ids")[0])
    ours = {"sh", "grep", "known_stack", os.path.basename(STACKMAP)[:15]}
    assert {event.comm for event in events} <= ours, {event.comm for event in events}
    assert max(event.tid for event in events) < 20, "a new namespace gives ids from 1 on"


def test_ended_tasks_have_names_in_a_flight():
    """Tasks older than the recorder are noted only at their exit: the id is gone before the task is freed."""
    os.mkfifo("go")
    early = "sh -c 'printf early >/proc/self/comm; echo $$ >id; read line <go; :'; :"
    with subprocess.Popen(["sh", "-c", early]):
        wait_until(lambda: os.path.exists("id") and os.path.getsize("id"))
        script = "echo >go; while [ -e /proc/$(cat id) ]; do sleep 0.01; done"
        recording = record("-a", "-e", "sched:sched_process_exit", "--flight", "1M", "--", "sh", "-c", script)
    recording.check()
    assert [event for event in recording.events() if event.comm == "early"], recording.script


def test_a_waker_outside():
    """Has the id 0 and a kernel stack; its program is not looked at."""
    needs("bpf", "raw tracepoints")
    script = "dd if=$0 iflag=nonblock of=/dev/null bs=1M count=1; exec head -c 100 $0"  # what was written before is there
    recording = record("-a", "--wakers", "--", "sh", "-c", script, os.environ[PIPE])
    recording.check()
    wakers = [event for event in recording.events() if event.name == WAKER and event.tid == 0]
    by_writing = [event for event in wakers if any("pipe_write" in function(frame) for frame in kernel_frames(event))]
    assert by_writing and {event.comm for event in by_writing} == {"outside"}, by_writing  # fewer if the reader has no CPU meanwhile
    assert {event.comm for event in wakers} <= {"outside", "interrupt"}, wakers  # a disk's interrupt wakes who reads a page
    assert not [event for event in wakers if user_frames(event)], wakers
    assert [event for event in recording.events() if event.name == TIME and event.comm == "head"]


def engines():
    return {name: set(os.listdir(os.path.join(HOME, name))) for name in os.listdir(HOME) if name.startswith("_engine")}


def test_the_engine_is_of_the_namespace():
    """Cookies and rules have ids as keys: recordings in other PID namespaces must not find them."""
    fresh_bpffs()
    with subprocess.Popen([STACKMAP, "record", "-e", "page-faults", "-o", "f.data", "--", "cat"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as recorder:
        recorder.stdin.write(b"x\n")
        recorder.stdin.flush()
        assert recorder.stdout.readline() == b"x\n", recorder.stderr.read()
        ours = "%s-pid-%d" % (ENGINE, namespace_number())
        assert engines() == {ours: SHARED}, engines()
        inner = "ls '%s'" % HOME
        done = run(*NESTED, STACKMAP, "record", "-o", "g.data", "-e", "page-faults", "--", "sh", "-c", inner)
        assert len([name for name in done.stdout.split() if name.startswith(ENGINE + "-pid-")]) == 2, done.stdout
        assert engines() == {ours: SHARED}, "the inner one is gone with its only user"
        recorder.communicate(timeout=SECONDS_MAX)
    assert not os.path.exists(HOME)


def test_what_a_namespace_has_left():
    """The next recorder that ends removes the engine of a recorder that was killed with its namespace."""
    fresh_bpffs()
    with subprocess.Popen([*NESTED, STACKMAP, "record", "-e", "page-faults", "-o", "f.data", "--", "cat"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as recorder:
        recorder.stdin.write(b"x\n")
        recorder.stdin.flush()
        assert recorder.stdout.readline() == b"x\n"
        recorder.kill()
        recorder.communicate(timeout=SECONDS_MAX)
    assert len(engines()) == 1, engines()
    record("-e", "page-faults", "--", "true").check()
    assert not os.path.exists(HOME), os.listdir(HOME)


def test_an_instance():
    """Its files and its readers have the ids of here."""
    needs("bpf", "raw tracepoints", "tracefs")
    fresh_bpffs()
    stackmap("start", "inside", "-e", "page-faults", "--comm", "known_stack")
    run(*fault_in("ids"))
    own, = ids_told("ids")
    told = {int(found) for found in re.findall(r"^known_stack-(\d+) ", read("inside", "trace"), re.M)}
    assert told == {own}, (told, own)
    assert json.loads(stackmap("status", "inside", "--json").stdout)["ledger"]["recorded"] >= FAULTS
    found = parse_events(stackmap("script", "--instance", "inside").stdout)
    assert {(event.comm, event.tid) for event in found} == {("known_stack", own)}, found
    stackmap("stop", "inside")
    assert not os.path.exists(HOME)


def test_an_instance_that_is_read_elsewhere():
    """There the same id is another task's, whose name is not taken for its name."""
    needs("bpf", "raw tracepoints", "tracefs")
    if not os.path.exists(LAST_ID):
        raise Skip("no %s here" % LAST_ID)
    fresh_bpffs()
    with subprocess.Popen([KNOWN, "line", "faults", str(FAULTS)], stdin=subprocess.PIPE) as early:
        stackmap("start", "inside", "-e", "page-faults", "--comm", "known_stack")
        early.communicate(b"\n", timeout=SECONDS_MAX)
    script = "echo %d >%s; sleep 1000 & [ $! = %d ] && exec '%s' script --instance inside"
    found = parse_events(run(*NESTED, "sh", "-c", script % (early.pid - 1, LAST_ID, early.pid, STACKMAP)).stdout)
    assert {(event.comm, event.tid) for event in found} == {("known_stack", early.pid)}, found[:1]
    stackmap("stop", "inside")


def test_an_instance_does_not_pass_to_the_next_namespace():
    """The kernel gives the memory of one that has ended to another, soon."""
    needs("bpf", "raw tracepoints")
    fresh_bpffs()
    run(*NESTED, STACKMAP, "start", "left", "-q", "-e", "sched:sched_switch")
    before = json.loads(stackmap("status", "left", "--json").stdout)["ledger"]
    run("sh", "-c", "for i in $(seq 100); do %s true; done" % " ".join(NESTED))
    assert json.loads(stackmap("status", "left", "--json").stdout)["ledger"] == before
    stackmap("stop", "left")


def begin_outside():
    """The pipe, and who writes into it for as long as we run."""
    folder = tempfile.mkdtemp(prefix="stackmap-e2e-pipe-")
    pipe = os.path.join(folder, "pipe")
    os.mkfifo(pipe)
    name = "outside-%d" % os.getpid()
    script = "printf %s >/proc/self/comm; exec 1<>%s; while sleep 0.01; do echo; done" % (name, pipe)
    return pipe, subprocess.Popen(["sh", "-c", script], start_new_session=True)


def enter_namespace():
    if PIPE in os.environ:
        return
    OWN.cleanup()  # the program that runs in there has another
    pipe, outside = begin_outside()
    command = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", sys.executable, *sys.argv]
    try:
        os.environ.pop(SAID, None)  # doctor has not been asked in there
        status = subprocess.run(command, env={**os.environ, PIPE: pipe}, check=False).returncode
    except OSError as error:
        print("no unshare here: %s" % error)
        status = 77
    finally:
        os.killpg(outside.pid, signal.SIGKILL)
        outside.wait()
        os.unlink(pipe)
        os.rmdir(os.path.dirname(pipe))
    sys.exit(status)


if __name__ == "__main__":
    enter_namespace()
    main(globals())
