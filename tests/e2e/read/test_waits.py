#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Both sides of a wake-up, compared with programs whose wakers are known."""

import csv
import io
import json
import os
import subprocess
import sys

from harness.cases import Skip, main, needs, one_of_several, program, stackmap
from harness.recording import record
from harness.waiting import wait_until

MS = 100


def pairs_of(recording, *options):
    report = json.loads(recording.read("report", "--wakers", "--json", "--no-inline", *options))
    pairs, waits = report["pairs"], report["waits"]
    assert waits["total"] == sum(pair["total"] for pair in pairs) and waits["count"] == sum(pair["count"] for pair in pairs), waits
    assert [pair["total"] for pair in pairs] == sorted((pair["total"] for pair in pairs), reverse=True), pairs
    return pairs


def record_waits(*arguments):
    needs("typed tracepoints")
    recording = record("--wakers", "--", program("waits"), *arguments)
    assert not any(recording.check()["lost"].values()), recording.ledger()
    events = recording.report()["stacks"]
    pairs = pairs_of(recording)
    assert sum(pair["total"] for pair in pairs) == sum(row["value"] for row in events if row["event"] == "offcpu-time"), pairs
    return recording


def pair_in(pairs, function):
    """The pair whose sleeper waits longest in that function."""
    found = [pair for pair in pairs if function in pair["sleeper"]["user"]]
    assert found, (function, pairs)
    return found[0]


def check_times(pair, least_ms=0.98 * MS):
    assert pair["count"] == 1 and pair["most"] == pair["total"] == pair["longest"]["ns"] >= least_ms * 1e6, pair
    assert 0 <= pair["until_run"] < pair["total"], pair


@one_of_several
def test_a_lock_that_another_thread_holds():
    recording = record_waits("lock", MS)
    pair = pair_in(pairs_of(recording), "want_lock")
    check_times(pair, 0.5 * MS)
    waker = pair["waker"]
    assert pair["sleeper"]["comm"] == "waiter" and waker["comm"] == "owner" and not pair["holds_lock"], pair
    assert "hold_lock" in waker["user"] and "futex_wake" in waker["kernel"] and "interrupt" not in waker, waker
    assert pair["chain"] == [], pair
    step, = pair_in(pairs_of(recording, "--chain", 1), "want_lock")["chain"]
    assert "sleep_ms" in step["sleeper"]["user"] and step["chain"] == [] and step["total"] <= pair["total"], step
    assert pairs_of(recording, "--comm", "waiter")[0]["sleeper"] == pair["sleeper"], pair


@one_of_several
def test_a_timer():
    pair = pair_in(pairs_of(record_waits("timer", MS)), "sleep_ms")
    check_times(pair)
    assert (pair["waker"]["interrupt"], pair["waker"]["function"]) == ("timer", "hrtimer_wakeup"), pair
    assert pair["waker"]["user"] == [], pair


@one_of_several
def test_a_chain_of_four_threads():
    """Each waits for the next one; its wait is inside of that of the thread before, and so are the times."""
    recording = record_waits("chain", MS)
    step, names = pair_in(pairs_of(recording, "--chain", 8), "first_waits"), []
    while True:
        names.append(step["sleeper"]["comm"])
        assert sum(below["total"] for below in step["chain"]) <= step["most"], step
        if not step["chain"]:
            break
        assert step["waker"] and step["waker"]["comm"] == step["chain"][0]["sleeper"]["comm"], step
        step = step["chain"][0]
    assert names == ["first", "second", "third", "fourth"] and step["waker"] and step["waker"]["interrupt"] == "timer", (names, step)
    two = pair_in(pairs_of(recording, "--chain", 2), "first_waits")
    assert two["chain"][0]["chain"][0]["chain"] == [], two
    text = recording.read("report", "--wakers", "--chain", 8)
    lines = [line for line in text.splitlines() if "fourth <- timer hrtimer_wakeup" in line]
    assert any(line.startswith("        ") for line in lines) and any("%" in line for line in lines), text


def test_a_deadlock_from_before():
    """No thread is woken: the report finds the holder of the lock, and that the holder waits itself."""
    needs("typed tracepoints", "task iterators", "BPF task work")
    with subprocess.Popen([program("waits"), "deadlock"]) as process:
        def all_asleep():
            folder = "/proc/%d/task" % process.pid
            states = [open("%s/%s/stat" % (folder, tid), encoding="ascii").read().rsplit(")", 1)[1].split()[0] for tid in os.listdir(folder)]
            return states == ["S"] * 3
        wait_until(all_asleep)
        recording = record("--wakers", "-p", process.pid, "--", "true")
        process.kill()
    recording.check()
    pairs = pairs_of(recording, "--chain", 4)
    for function, sleeper, holder in ("one_then_two", "one", "two"), ("two_then_one", "two", "one"):
        pair = pair_in(pairs, function)
        assert (pair["sleeper"]["comm"], pair["waker"]["comm"], pair["holds_lock"]) == (sleeper, holder, True), pair
        step, = pair["chain"]
        assert step["deadlock"] and step["chain"] == [] and step["waker"]["comm"] == sleeper and not pair["deadlock"], pair
    assert "DEADLOCK" in recording.read("report", "--wakers", "--chain", 4)
    assert {event.other for event in recording.events() if event.comm == "one"} >= {"since before lock held by two %d" % next(
        event.tid for event in recording.events() if event.comm == "two")}, recording.events()


def test_a_table():
    recording = record_waits("lock", MS)
    rows = list(csv.DictReader(io.StringIO(recording.read("report", "--wakers", "--csv", "--no-inline"))))
    pairs = pairs_of(recording)
    assert [(int(row["total"]), row["comm"], row["other_comm"]) for row in rows] == \
        [(pair["total"], pair["sleeper"]["comm"], (pair["waker"] or {"comm": ""})["comm"]) for pair in pairs], rows
    assert rows[0]["user"].split(";") == pairs[0]["sleeper"]["user"] and abs(sum(float(row["share"]) for row in rows) - 100) < 0.1, rows
    text = recording.read("report", "--wakers", "--top", 1)
    assert "1 of %d pairs shown" % len(pairs) in text and text.count("sleeps in") == 1, text


def locks_of(recording, *options):
    report = json.loads(recording.read("report", "--locks", "--json", "--no-inline", *options))
    for lock in report["locks"]:
        assert (lock["count"], lock["total"]) == tuple(sum(pair[key] for pair in lock["pairs"]) for key in ("count", "total")), lock
    for key in "count", "total":
        assert report["waits"][key] == sum(lock[key] for lock in report["locks"]), report["waits"]
    return report["locks"]


@one_of_several
def test_a_mutex_of_a_process():
    """Its waiters' stacks, its address, and who has unlocked it."""
    needs("typed tracepoints")
    recording = record("--locks", "--", program("waits"), "lock", MS)
    recording.check()
    lock, = [lock for lock in locks_of(recording) if lock["pid"] and any("want_lock" in pair["sleeper"]["user"] for pair in lock["pairs"])]
    pair, = lock["pairs"]
    assert lock["type"] == "mutex" and lock["comm"] == "waits" and lock["pid"] and lock["count"] == 1, lock
    assert pair["sleeper"]["comm"] == "waiter" and pair["waker"]["comm"] == "owner" and "hold_lock" in pair["waker"]["user"], pair
    calls = [event for event in recording.events() if event.name == "syscalls:sys_enter_futex" and event.comm == "waiter"]
    assert int(lock["address"], 16) in {event.value for event in calls}, (lock, calls)
    rows = list(csv.DictReader(io.StringIO(recording.read("report", "--locks", "--csv", "--no-inline"))))
    assert [(row["type"], int(row["total"])) for row in rows] == [(lock["type"], lock["total"]) for lock in locks_of(recording)], rows
    assert "mutex %s of waits %d" % (lock["address"], lock["pid"]) in recording.read("report", "--locks", "--no-inline"), lock


CREATE = """
import os, sys
for i in range(3000):
    name = "d/%d.%d" % (os.getpid(), i)
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
    os.unlink(name)
"""


@one_of_several
def test_a_lock_of_the_kernel():
    """Processes that make files in one folder wait for the folder's lock."""
    needs("typed tracepoints")
    if stackmap("list", "lock:contention_begin", status=None).returncode:
        raise Skip("no lock:contention_begin here")
    os.mkdir("d")
    with open("create.py", "w", encoding="ascii") as file:
        file.write(CREATE)
    recording = record("--locks", "--", "sh", "-c", "for i in 1 2 3 4; do %s create.py & done; wait" % sys.executable)
    recording.check()
    locks = [lock for lock in locks_of(recording) if lock["pid"] is None]
    folder = [lock for lock in locks if lock["type"] == "rwsem (write)"]
    assert folder and all(lock["address"].startswith("0xff") for lock in locks), [lock["type"] for lock in locks]
    assert all("rwsem_down_write_slowpath" in pair["sleeper"]["kernel"] for lock in folder for pair in lock["pairs"]), folder[0]
    begun = sum(event.name == "lock:contention_begin" for event in recording.events())
    assert sum(lock["count"] for lock in locks) <= begun, begun


POLLS = "import select; select.poll().poll(%d)" % MS


def test_idle_is_told_apart():
    """A thread that waits in poll() for any event is idle; a sleeping thread is idle only if the user says so. No wait is
    left out."""
    needs("typed tracepoints")
    recording = record("--time", "--wakers", "--", "sh", "-c", "%s -c '%s' & %s timer %d; wait" % (
        sys.executable, POLLS, program("waits"), 2 * MS))
    for idle, busy, options in (("do_sys_poll", "hrtimer_nanosleep", []), ("hrtimer_nanosleep", "do_sys_poll", ["--idle", "x", "--idle", "hrtimer_nano*"])):
        report = json.loads(recording.read("report", "--thread-time", "--json", *options))
        for row in [*report["rows"], report["time"]]:
            assert 0 <= row["idle"] <= row["interruptible"], row
        assert sum(row["idle"] for row in report["rows"]) == report["time"]["idle"] >= 0.9 * MS * 1e6, report["rows"]
        pairs = json.loads(recording.read("report", "--wakers", "--json", "--no-inline", *options))
        sleepers = [pair["sleeper"] for pair in pairs["pairs"]]
        assert [sleeper["idle"] for sleeper in sleepers] == sorted(sleeper["idle"] for sleeper in sleepers), sleepers
        assert {sleeper["idle"] for sleeper in sleepers if idle in sleeper["kernel"]} == {True}, sleepers
        assert {sleeper["idle"] for sleeper in sleepers if busy in sleeper["kernel"]} == {False}, sleepers
        assert pairs["waits"]["idle_total"] == sum(pair["total"] for pair in pairs["pairs"] if pair["sleeper"]["idle"]), pairs["waits"]
        text = recording.read("report", "--thread-time", *options)
        assert "blocked             idle" in text, text
    assert " idle" not in recording.read("report", "--thread-time", "--idle", "nothing")


def test_what_is_refused():
    needs("bpf", "raw tracepoints")
    other = record("-e", "sched:sched_process_exit", "--", "true")
    for options, status, why in ((["--wakers"], 1, "record --wakers"), (["--chain", "2"], 2, "it goes with --wakers"),
                                 (["--wakers", "--chain", "99"], 2, "--chain"), (["--wakers", "--tree"], 2, "choose one view"), (["--locks"], 1, "record --locks"),
                                 (["--idle", "x", "--tree"], 2, "--wakers and --thread-time")):
        done = stackmap("report", *options, other.path, status=status)
        assert why in done.stderr and not done.stdout, (options, done.stderr)


if __name__ == "__main__":
    main(globals())
