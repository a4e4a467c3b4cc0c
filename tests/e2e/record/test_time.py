#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The account of time: the states of each thread add up to its life, and to what events and the kernel say of them."""

import collections
import contextlib
import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys

from harness.cases import cgroup2, main, needs, one_of_several, program, stackmap
from harness.recording import Recording, function, record, user_frames
from harness.waiting import wait_until

STATES = ["running", "runnable", "interruptible", "uninterruptible", "stopped"]

# Lets the program go, waits until it is done, and notes what the kernel has counted by then of each thread, which sleeps.
OVERSEER = """
import os, sys, time
pid, go, done = sys.argv[1:]
def threads():
    return os.listdir("/proc/%s/task" % pid)
def note(file):
    for tid in threads():
        while open("/proc/%s/task/%s/stat" % (pid, tid)).read().rsplit(")", 1)[1].split()[0] != "S":
            time.sleep(0.001)
        file.write("%s %s" % (tid, open("/proc/%s/task/%s/schedstat" % (pid, tid)).read()))
with open("before", "w") as file:
    note(file)
open(go, "w").close()
open(done).read()
with open("after", "w") as file:
    note(file)
"""


def account(recording, *options):
    """The rows of the account of time, each of which must add up, and their sum."""
    report = recording_json(recording, "--thread-time", *options)
    for row in report["rows"]:
        assert sum(row[state] for state in STATES) == row["life"], row
    whole = report["time"]
    assert whole["difference"] == 0 and sum(whole[state] for state in STATES) == whole["life"], whole
    for name in ["threads", "life", *STATES]:
        assert whole[name] == sum(row[name] for row in report["rows"]), (name, whole)
    return report["rows"], whole


def recording_json(recording, *options):
    return json.loads(recording.read("report", "--json", *options))


def check(recording):
    """The account by itself, and against the events, of which none is lost. A run has no event."""
    ledger = recording.check()
    rows, whole = account(recording)
    assert not any(ledger["lost"].values()), ledger
    waits = collections.Counter()
    for stack in recording.report()["stacks"]:
        waits[stack["event"]] += stack["value"]
    for state in STATES[1:]:
        assert waits["time:" + state] == whole[state], (state, waits, whole)
    assert whole["difference"] == 0
    return rows, whole


@contextlib.contextmanager
def asleep(*arguments):
    """A process of the program, all of whose threads sleep."""
    process = subprocess.Popen([program("timed"), *arguments], stdout=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def states_of(pid):
    states = []
    for tid in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/stat" % (pid, tid), encoding="ascii", errors="replace") as file:
            states.append(file.read().rsplit(")", 1)[1].split()[0])
    return states


def schedstat(path):
    """tid -> ns on a CPU, ns in a run queue, and how often the thread has run."""
    with open(path, encoding="ascii") as file:
        return {int(tid): (int(ran), int(waited), int(runs)) for tid, ran, waited, runs in map(str.split, file)}


def record_overseen(mode, threads):
    needs("typed tracepoints", "task iterators")
    os.mkfifo("go")
    os.mkfifo("done")
    with asleep(mode, str(threads), "go", "done") as process:
        wait_until(lambda: states_of(process.pid) == ["S"])
        recording = record("--time", "-p", process.pid, "--", sys.executable, "-c", OVERSEER, process.pid, "go", "done")
    rows, _ = check(recording)
    before, after = schedstat("before"), schedstat("after")
    rows = {row["tid"]: row for row in rows}
    assert rows.keys() == after.keys(), (rows.keys(), after.keys())
    return rows, {tid: tuple(now - then for now, then in zip(after[tid], before.get(tid, (0, 0, 0)))) for tid in after}


NS_A_SWITCH = 100000  # what other tracers at the same switch may take between the scheduler's clock and the account's
NS_A_WAKE_UP = 200000  # what a loaded machine may take from a wake-up that preempts to the switch: the kernel's clock skips it
SPIN_NS = 300000000  # by the kernel's clock, of each thread of `timed spin`


def check_schedstat(mode, threads):
    """All threads are still there, so the kernel has its sums of each. Running and runnable time together differ from these by
    5 % at most, by what lies between the kernel's clock and the tracepoint, and by what the hypervisor has stolen. The kernel
    draws the line between the two at the wake-up that preempts, the account at the switch (docs/internals/capture.md)."""
    rows, kernel = record_overseen(mode, threads)
    ran, waited, runs = (sum(sums) for sums in zip(*kernel.values()))
    running, runnable, stolen = (sum(row[name] for row in rows.values()) for name in ("running", "runnable", "stolen"))
    slack = NS_A_SWITCH * runs + stolen
    assert abs(running + runnable - ran - waited) <= (ran + waited) * 0.05 + slack, (running, runnable, ran, waited, stolen, runs)
    assert abs(running - ran) <= ran * 0.05 + slack + NS_A_WAKE_UP * runs, (running, ran, stolen, runs)
    return rows


@one_of_several
def test_spinners_on_one_cpu():
    """The process stays on one CPU, so its threads together run no longer than its first thread lives, and while one of the
    spinners runs the others wait. How long each one runs is bounded widely: the kernel's clock and the account's are read at two
    places of a switch, and other tracers or the hypervisor may take any time between these, which the thread that comes loses to
    the one that goes."""
    rows = check_schedstat("spin", 3).values()
    spinners = sorted(rows, key=lambda row: -row["running"])[:3]
    assert all(row["running"] >= SPIN_NS / 2 for row in spinners), spinners
    assert sum(row["running"] for row in rows) <= 1.01 * max(row["life"] for row in rows), rows
    assert sum(row["runnable"] for row in spinners) >= 2 * SPIN_NS, spinners


@one_of_several
def test_two_hundred_threads_and_a_mutex():
    check_schedstat("mutex", 200)


def test_short_processes():
    """Threads that begin and end in the recording, most of them in less than a tick."""
    needs("typed tracepoints")
    rows, whole = check(record("--time", "--", "sh", "-c", "for i in $(seq 1 50); do ls -l / | cat; done > /dev/null; wait"))
    names = collections.Counter(row["comm"] for row in rows)
    assert names["ls"] == names["cat"] == 50 and whole["threads"] == len(rows) >= 101, names


def test_whole_machine():
    needs("typed tracepoints", "task iterators")
    recording = record("--time", "-a", "--", "sleep", "0.5")
    rows, whole = account(recording)
    assert not any(row["tid"] == 0 for row in rows), rows
    life = max(row["life"] for row in rows)
    assert whole["running"] <= life * os.cpu_count(), whole
    there = [row["life"] for row in rows if row["tid"] in (os.getpid(), os.getppid())]  # all the time
    assert there == [life, life], (there, life)
    for key in "pid", "comm", "cgroup":
        assert account(recording, "--sort", key)[1] == whole, key


def test_a_thread_that_calls_execve():
    """It goes on with the id of its process, and has an account for either id."""
    needs("typed tracepoints")
    shutil.copy(shutil.which("sleep"), "became")
    rows, _ = check(record("--time", "--", program("timed"), "exec", "./became"))
    assert len({row["pid"] for row in rows}) == 1, rows
    leader = [row for row in rows if row["tid"] == row["pid"]]
    assert len(rows) >= 2 and {row["comm"] for row in leader} == {"timed", "became"}, rows


def test_a_deadlock_from_before():
    """Each thread has waited since before the recording, where it still does."""
    needs("typed tracepoints", "task iterators", "BPF task work")
    for option in "--time", "--off-cpu":
        with asleep("deadlock") as process:
            wait_until(lambda: states_of(process.pid) == ["S"] * 3)
            recording = record(option, "-p", process.pid, "--", "true", output="f" + option)
            recording.check()
        events = recording.events()
        names = {name for event in events for name in map(function, user_frames(event))}
        assert {"first_then_second", "second_then_first"} <= names, (option, events)
        assert len(events) == 3 and {event.other for event in events} == {"since before"}, (option, events)
        assert "3 waits that began before the recording" in recording.messages, recording.messages
        if option == "--time":
            rows, _ = check(recording)
            assert all(row["interruptible"] == row["life"] for row in rows), rows


def test_a_wait_that_ends_in_the_recording():
    """Begun before, it has the time since the recording's start, and its whole stack."""
    needs("typed tracepoints", "task iterators", "BPF task work")
    os.mkfifo("go")
    os.mkfifo("done")
    with asleep("spin", "1", "go", "done") as process:
        wait_until(lambda: states_of(process.pid) == ["S"])
        recording = record("--off-cpu", "-p", process.pid, "--", "sh", "-c", ": > go; cat done")
    waits = [event for event in recording.events() if event.other and "since before" in event.other]
    assert len(waits) == 1 and "run_threads" in map(function, user_frames(waits[0])), recording.events()
    first = min(event.time * 1e9 - event.value for event in recording.events() if event not in waits)
    assert waits[0].time * 1e9 - waits[0].value < first, recording.events()


def test_a_stopped_process():
    needs("typed tracepoints")
    stop = "kill -STOP $$; true"
    with subprocess.Popen(["sh", "-c", "%s" % stop], stdout=subprocess.DEVNULL) as process:
        wait_until(lambda: states_of(process.pid) == ["T"])
        rows, _ = check(record("--time", "-p", process.pid, "--", "true"))
        process.send_signal(signal.SIGCONT)
    assert [row["stopped"] == row["life"] for row in rows] == [True], rows


def test_filters():
    """Only tasks with this name have accounts, from the moment when they get the name."""
    needs("typed tracepoints")
    name = "timed-%d" % os.getpid()
    shutil.copy(shutil.which("ls"), name)
    recording = record("--time", "--comm", name, "--", "sh", "-c", "ls > /dev/null; ./%s > /dev/null; ls > /dev/null" % name)
    rows, _ = check(recording)
    assert [row["comm"] for row in rows] == [name] and rows[0]["running"], rows


def test_a_cgroup():
    """Only tasks in or below the cgroup have accounts, also tasks that already sleep there."""
    needs("typed tracepoints", "task iterators")
    folder = os.path.join(cgroup2(), "stackmap-time-%d" % os.getpid())
    inner = os.path.join(folder, "inner")
    os.makedirs(inner)
    try:
        with subprocess.Popen(["sh", "-c", "echo $$ > %s/cgroup.procs; exec sleep 1000" % inner]) as process:
            wait_until(lambda: open("/proc/%d/comm" % process.pid, encoding="ascii").read() == "sleep\n"
                       and states_of(process.pid) == ["S"])
            recording = record("--time", "--cgroup", folder, "--", "sh", "-c", "echo $$ > %s/cgroup.procs; ls > /dev/null" % inner)
            process.kill()
        rows, _ = check(recording)
    finally:
        wait_until(lambda: not open(os.path.join(inner, "cgroup.procs"), encoding="ascii").read())
        os.rmdir(inner)
        os.rmdir(folder)
    names = {row["comm"]: row for row in rows}
    assert names["sleep"]["interruptible"] == names["sleep"]["life"] and {"ls"} <= names.keys() <= {"ls", "sleep", "sh"}, rows


def test_table():
    needs("typed tracepoints")
    recording = record("--time", "--", "sh", "-c", "sleep 0.01; ls > /dev/null")
    rows, whole = account(recording)
    text = recording.read("report", "--thread-time")
    assert "# time:     %d threads, " % whole["threads"] in text and "difference 0 ns" in text, text
    assert text.splitlines()[-1].endswith("all %d threads" % whole["threads"]), text
    table = list(csv.DictReader(io.StringIO(recording.read("report", "--thread-time", "--csv"))))
    assert [{name: int(row[name]) for name in ["tid", "pid", "life", *STATES]} for row in table] == \
        [{name: row[name] for name in ["tid", "pid", "life", *STATES]} for row in rows], table
    assert "difference 0 ns" in recording.read("report"), recording.read("report")
    only = account(recording, "--comm", "ls")[0]
    assert only and {row["comm"] for row in only} == {"ls"}, only
    stackmap("merge", "-o", "merged.data", recording.path, recording.path)
    merged = account(Recording("merged.data"))[1]
    assert merged["life"] == 2 * whole["life"] and merged["threads"] == 2 * whole["threads"], merged


def test_what_is_refused():
    for options, why in ((["--flight", "1M"], "begin and an end"), (["-C", "0"], "choose tasks"), (["--rotate", "1min"], "--rotate")):
        done = stackmap("record", "--time", *options, "--", "true", status=None)
        assert done.returncode and why in done.stderr and done.stderr.count("\n") == 1, (options, done.stderr)
    needs("bpf", "raw tracepoints")
    other = record("-e", "sched:sched_process_exit", "--", "true")
    done = stackmap("report", "--thread-time", other.path, status=None)
    assert done.returncode == 1 and "record --time" in done.stderr, done.stderr
    done = stackmap("report", "--thread-time", "--sort", "symbol", other.path, status=None)
    assert done.returncode == 2 and "tid, pid, comm or cgroup" in done.stderr, done.stderr


if __name__ == "__main__":
    main(globals())
