#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The stack map of an instance is emptied while two CPUs are busy with calls that are counted: the events in its files and
the lost events of its ledger are all calls. The same for recordings of one file after another."""

import fcntl
import os
import re
import shutil
import signal
import subprocess
import threading

from harness.cases import SECONDS_MAX, STACKMAP, main, needs, program, run, stackmap
from harness.engine_folder import HOME, enter_own_mounts, fresh_bpffs
from harness.instance import CALLS, stat_of, status_of
from harness.recording import Recording, check_ledger
from harness.waiting import wait_until

NAME = "calls"
COMM = "calls-%d" % os.getpid()  # nobody else's calls are counted
CALLS_ONLY = ["-e", CALLS, "--comm", COMM]
RESETS = 100
RESETS_READ = 25
LEDGER = re.compile(r"ledger: (\d+) events = (\d+) recorded(?: \+ \d+ counted only)? \+ (\d+) lost$", re.M)


def counted_calls():
    """The workload by its own name."""
    if not os.path.exists(COMM):
        shutil.copy(program("known_counts"), COMM)
    return "./" + COMM


class Load:
    """Two busy CPUs, until it is left; then `calls` is how often they called."""

    def __init__(self, batch=20000):
        self.calls, self.batch = 0, batch
        self.command = counted_calls()
        self.lock, self.enough = threading.Lock(), threading.Event()
        self.workers = [threading.Thread(target=self.work) for _ in range(2)]

    def work(self):
        while not self.enough.is_set():
            run(self.command, "getppid=%d" % self.batch)
            with self.lock:
                self.calls += self.batch

    def __enter__(self):
        for worker in self.workers:
            worker.start()
        return self

    def __exit__(self, *_):
        self.enough.set()
        for worker in self.workers:
            worker.join()


class Reader:
    """`record` of the instance, from when its file is there."""

    def __init__(self, output, *options, first=None):
        with open("messages", "wb") as messages:
            self.process = subprocess.Popen([STACKMAP, "record", "--instance", NAME, "-o", output, *options],
                                            stdin=subprocess.DEVNULL, stderr=messages)
        wait_until(lambda: os.path.exists(first or output) or self.process.poll() is not None)
        assert self.process.poll() is None, self.messages()

    def messages(self):
        with open("messages", encoding="utf-8") as file:
            return file.read()

    def end(self, status=0):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=SECONDS_MAX)
        assert self.process.returncode == status, self.messages()
        return self.messages()

    def kill(self):
        self.process.kill()
        self.process.wait(timeout=SECONDS_MAX)


def start(*options):
    needs("bpf", "raw tracepoints", "tracefs")
    fresh_bpffs()
    stackmap("start", NAME, "-q", *CALLS_ONLY, *options)


def call(count):
    run(counted_calls(), "getppid=%d" % count)


def reset(**options):
    return stackmap("reset", NAME, **options)


def ledger_of(path):
    ledger = Recording(path).ledger()
    check_ledger(ledger)
    return ledger


def check_stacks(path, unanswered_max=0):
    """Every event has its stacks, and none is of another event: all are calls of getppid."""
    recording = Recording(path)
    lines = recording.ids()
    ledger = recording.ledger()
    assert sum(line.times for line in lines) == ledger["recorded"] + ledger["counted_only"], ledger
    assert all(line.kernel for line in lines)
    without = sum(not line.user for line in lines if line.is_timed)  # an event that is counted only does not wait for its stack
    assert without <= unanswered_max, without
    for stack in recording.report()["stacks"]:
        if stack["user"]:
            assert "ask_parent" in stack["user"], stack


def check_total(calls, **lost):
    """The instance's own account."""
    ledger = status_of(NAME)["ledger"]
    assert ledger["produced"] == calls, (ledger, calls)
    for cause, count in lost.items():
        assert ledger["lost"][cause] == count, ledger
    return ledger


def generation():
    return status_of(NAME)["stack_map"]["generation"]


def test_flight_under_load():
    """Difference 0: seen = recorded + lost, over all generations."""
    start("--flight", "4M")
    with Load() as load:
        for _ in range(RESETS):
            reset()
    assert generation() == 1 + RESETS
    stackmap("record", "--instance", NAME, "-o", "f.data")
    ledger = ledger_of("f.data")
    assert ledger["produced"] == load.calls and ledger["lost"]["reset"] > 0, (ledger, load.calls)
    assert check_total(load.calls)["lost"]["reset"] == ledger["lost"]["reset"]


def test_snapshot_leaves_the_instance():
    start("--flight", "4M")
    for total in (100, 250):
        call(total if total == 100 else 150)
        stackmap("record", "--instance", NAME, "-o", "f.data")
        assert ledger_of("f.data")["recorded"] == total
        check_stacks("f.data")
    reset()
    call(7)
    stackmap("record", "--instance", NAME, "-o", "f.data")
    ledger = ledger_of("f.data")
    assert (ledger["recorded"], ledger["lost"]["reset"]) == (7, 250), ledger
    check_stacks("f.data")


def test_drain_under_load():
    """The reader gets every event, with the stacks of the generation it is of."""
    start()
    reader = Reader("f.data")
    with Load(1000) as load:
        for _ in range(RESETS_READ):
            reset()
    reader.end()
    assert generation() == 1 + RESETS_READ
    ledger = ledger_of("f.data")
    assert ledger["recorded"] + ledger["counted_only"] == load.calls, (ledger, load.calls)
    check_stacks("f.data")
    check_total(load.calls, reset=0)


def test_nobody_reads():
    start()
    call(1000)
    reset()
    call(70)
    reader = Reader("f.data")
    reader.end()
    ledger = ledger_of("f.data")
    assert (ledger["recorded"], ledger["lost"]["reset"]) == (70, 1000), ledger
    check_total(1070, reset=1000)


def test_nobody_reads_a_full_ring():
    """Events that found their ring full are discarded with those in the ring."""
    start("--ring", "64K")
    call(20000)
    assert status_of(NAME)["ledger"]["counted_only"] > 0
    reset()
    ledger = check_total(20000)
    assert ledger["counted_only"] == 0 and ledger["lost"]["reset"] + ledger["lost"]["ring_full"] == 20000, ledger
    assert stat_of(NAME)["counted_only"] == "0"
    call(70)
    reader = Reader("f.data")
    reader.end()
    ledger = ledger_of("f.data")
    assert (ledger["recorded"], ledger["counted_only"]) == (70, 0), ledger
    assert ledger["lost"]["reset"] + ledger["lost"]["ring_full"] == 20000, ledger
    check_stacks("f.data")
    check_total(20070)


def test_reader_that_is_stopped():
    """One generation may wait for it, not two; and all of it is read when it goes on."""
    start()
    reader = Reader("f.data")
    reader.process.send_signal(signal.SIGSTOP)
    call(100)
    reset()
    call(10)
    done = reset(status=1)
    assert "the reader is behind" in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert generation() == 2
    reader.process.send_signal(signal.SIGCONT)
    reset()
    call(1)
    reader.end()
    assert ledger_of("f.data")["recorded"] == 111
    check_stacks("f.data")
    check_total(111, reset=0)


def test_reader_that_is_killed():
    """The reader's lock is free, and the next reader gets the remaining events."""
    start()
    reader = Reader("f.data")
    reader.process.send_signal(signal.SIGSTOP)
    call(100)
    reset()
    call(10)
    reader.kill()
    second = Reader("g.data")
    second.end()
    assert ledger_of("g.data")["recorded"] == 110
    check_stacks("g.data")
    call(5)
    reset()
    check_total(115, reset=5)


def test_one_reader_at_a_time():
    start()
    reader = Reader("f.data")
    done = stackmap("record", "--instance", NAME, "-o", "g.data", status=1)
    assert "another process reads" in done.stderr and not os.path.exists("g.data")
    reader.end()


def test_two_resets_at_once():
    """While one is under way, which is when it holds the lock of the folder."""
    start()
    folder = os.open(os.path.join(HOME, NAME), os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    done = reset(status=1)
    assert "another command is changing it" in done.stderr, done.stderr
    os.close(folder)
    many = [subprocess.Popen([STACKMAP, "reset", NAME], stderr=subprocess.PIPE) for _ in range(8)]
    failed = sum(process.communicate(timeout=SECONDS_MAX) and process.returncode for process in many)
    assert generation() == 1 + len(many) - failed


def test_no_such_instance():
    needs("bpf")
    fresh_bpffs()
    stackmap("reset", "nothing", status=1)
    stackmap("reset", "../etc", status=2)
    stackmap("reset", status=2)


def files_of(output):
    return sorted(name for name in os.listdir(".") if re.fullmatch(re.escape(output) + r"\.\d{4}", name))


def check_windows(output, calls):
    files = files_of(output)
    ledgers = [ledger_of(path) for path in files]
    assert sum(ledger["produced"] for ledger in ledgers) == calls, (ledgers, calls)
    for path in files:
        check_stacks(path, unanswered_max=2)
        assert "damaged" not in stackmap("report", path).stdout
    return files, ledgers


def test_rotation_by_time():
    start()
    reader = Reader("w", "--rotate", "1s", first="w.0001")
    with Load(2000) as load:
        wait_until(lambda: os.path.exists("w.0004"))
    reader.end()
    files, ledgers = check_windows("w", load.calls)
    assert len(files) >= 4 and sum(ledger["recorded"] > 0 for ledger in ledgers) >= 3, ledgers
    assert generation() == len(files)
    check_total(load.calls)


def test_rotation_by_size():
    start()
    reader = Reader("w", "--rotate", "50K", first="w.0001")
    with Load(2000) as load:
        wait_until(lambda: os.path.exists("w.0003"))
    reader.end()
    check_windows("w", load.calls)
    assert all(os.path.getsize(path) >= 50 << 10 for path in files_of("w")[:-1])


def test_rotation_of_a_command():
    needs("bpf", "raw tracepoints", "tracefs")
    script = "%s getppid=100000 & %s getppid=100000; wait" % (counted_calls(), counted_calls())
    stackmap("record", "-o", "w", *CALLS_ONLY, "--rotate", "50K", "--", "sh", "-c", script)
    files, _ = check_windows("w", 200000)
    assert len(files) > 1


def test_oldest_windows_go():
    """And a recorder that is started again goes on counting."""
    start()
    for name in ("w.0007", "w.0008", "w.0009x", "w.8"):
        with open(name, "w", encoding="ascii"):
            pass
    reader = Reader("w", "--rotate", "20K", "--keep", "2", first="w.0009")
    with Load(2000):
        wait_until(lambda: os.path.exists("w.0011"))
    reader.end()
    files = files_of("w")
    assert len(files) == 2 and files[0] >= "w.0010", files
    assert os.path.exists("w.0009x") and os.path.exists("w.8")


def test_disk_that_is_full():
    """The window that it hits is cut, and counted; the next is whole."""
    start()
    os.mkdir("disk")
    run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", "disk")
    try:
        reader = Reader("disk/w", "--rotate", "1h", first="disk/w.0001")
        with Load() as load:
            with open("disk/filler", "wb", buffering=0) as filler:
                try:
                    while filler.write(b"x" * 4096):
                        pass
                except OSError:
                    pass
            wait_until(lambda: "No space left" in reader.messages())
            os.unlink("disk/filler")
            wait_until(lambda: os.path.exists("disk/w.0002"))
        messages = reader.end(status=1)
        counts = [tuple(map(int, found)) for found in LEDGER.findall(messages)]
        assert sum(produced for produced, _, _ in counts) == load.calls, (messages, load.calls)
        assert len(counts) >= 2, messages  # a window may begin, and be cut, before the disk has room
        last = "disk/" + max(name for name in os.listdir("disk") if name.startswith("w.") and name[2:].isdigit())
        check_stacks(last)
        assert ledger_of(last)["lost"]["write_error"] == 0
    finally:
        run("umount", "-l", "disk")


def test_wrong_words():
    for words in (["--rotate", "5x"], ["--rotate", "0s"], ["--rotate", "s"], ["--keep", "3"], ["--rotate", "1s", "-o", "-"],
                  ["--rotate", "1s", "--flight", "4M"], ["--instance", "x", "-e", "page-faults"], ["--instance", "x", "-a"]):
        stackmap("record", *words, "--", "true", status=2)
    stackmap("record", "--instance", "x", "true", status=2)


enter_own_mounts()
main(globals())
