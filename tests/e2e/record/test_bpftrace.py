#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""One run of a program, watched by stackmap and by bpftrace: both have the same counts, sums and histograms."""

import contextlib
import json
import math
import signal
import subprocess

from harness.cases import SECONDS_MAX, main, needs, needs_command, one_of_several, program
from harness.recording import record
from harness.waiting import wait_until

CALLS = 500


def end(process):
    """A signal that arrives just before bpftrace begins to wait for events does not end the wait (0.17); the next one does."""
    for _ in range(SECONDS_MAX // 5):
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=5)
            return
    process.kill()
    process.wait()
    raise AssertionError("bpftrace does not end: %s" % process.args)


@contextlib.contextmanager
def bpftrace(script):
    """Watches while the block runs; then the dictionary that is handed out has the maps by name."""
    needs_command("bpftrace", "--version")
    maps = {}
    with open("bpftrace.json", "w+", encoding="utf-8") as output:
        process = subprocess.Popen(["bpftrace", "-f", "json", "-e", "BEGIN { printf(\"begun\"); } " + script],
                                   stdout=output, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        try:
            wait_until(lambda: "begun" in open("bpftrace.json", encoding="utf-8").read() or process.poll() is not None)
            yield maps
        finally:
            end(process)
        output.seek(0)
        for line in filter(str.strip, output):
            entry = json.loads(line)
            if entry["type"] in ("map", "hist"):
                maps.update(entry["data"])


def values(recording, name):
    return [event.value for event in recording.events() if event.name.startswith(name)]


def recorded(*arguments):
    recording = record(*arguments)
    ledger = recording.check()
    assert ledger["recorded"] == ledger["produced"], ledger
    return recording


def log2_histogram(numbers):
    """Lower bound -> count."""
    buckets = {}
    for number in numbers:
        least = 1 << int(math.log2(number)) if number > 0 else 0
        buckets[least] = buckets.get(least, 0) + 1
    return buckets


def theirs(histogram):
    return {bucket.get("min", 0): bucket["count"] for bucket in histogram if bucket["count"]}


def ours(recording):
    histogram, = json.loads(recording.read("report", "--json", "--hist", "log2", "--sort", "pid"))["histograms"]
    return {bucket["from"]: bucket["count"] for bucket in histogram["buckets"] if bucket["count"]}


def test_argument_of_a_function():
    needs("bpf", "uprobes")
    known = program("known_counts")
    with bpftrace("uprobe:%s:take { @count = count(); @sum = sum(arg0); @hist = hist(arg0); }" % known) as maps:
        recording = recorded("-e", "u:%s:take/value=arg1/" % known, "--", known, "arguments=%d" % CALLS)
    numbers = values(recording, "u:")
    assert (len(numbers), sum(numbers)) == (maps["@count"], maps["@sum"]) == (CALLS, CALLS * (CALLS - 1) // 2), maps
    assert log2_histogram(numbers) == theirs(maps["@hist"]) == ours(recording), (maps, ours(recording))


def test_filter_and_its_complement():
    needs("bpf", "uprobes")
    known = program("known_counts")
    found = []
    for condition in (">=123", "<123"):
        with bpftrace("uprobe:%s:take /arg0 %s/ { @count = count(); }" % (known, condition)) as maps:
            recording = recorded("-e", "u:%s:take/value=arg1,if=arg1%s/" % (known, condition), "--", known, "arguments=%d" % CALLS)
        found.append(values(recording, "u:"))
        assert len(found[-1]) == maps["@count"], (condition, maps)
    assert all(number >= 123 for number in found[0]) and sorted(found[0] + found[1]) == list(range(CALLS)), found


def test_result_of_a_system_call():
    needs("bpf", "raw tracepoints", "tracefs")
    copy = program("known_counts", "copies")
    with bpftrace("tracepoint:syscalls:sys_exit_getpgid /comm == \"copies\"/ { @count = count(); }"
                  "tracepoint:syscalls:sys_exit_write /comm == \"copies\"/ { @sum = sum(args->ret); @hist = hist(args->ret); }") as maps:
        recording = recorded("-e", "syscalls:sys_exit_getpgid,syscalls:sys_exit_write/value=ret:bytes/", "--comm", "copies", "--", copy,
                             "getpgid=700", "faults=12345")
    assert len(values(recording, "syscalls:sys_exit_getpgid")) == maps["@count"] == 700, maps
    numbers = values(recording, "syscalls:sys_exit_write")
    assert numbers and sum(numbers) == maps["@sum"] and log2_histogram(numbers) == theirs(maps["@hist"]), (numbers, maps)


@one_of_several
def test_time_of_a_call():
    """Each reads the clock for itself, so a time at the bound of two buckets may be in either."""
    needs("bpf", "raw tracepoints", "tracefs")
    known = program("known_counts", "sleeps")
    call = "syscalls:sys_%s_clock_nanosleep"
    with bpftrace("tracepoint:%s /comm == \"sleeps\"/ { @at[tid] = nsecs; } tracepoint:%s /@at[tid]/ "
                  "{ @count = count(); @sum = sum(nsecs - @at[tid]); delete(@at[tid]); }" % (call % "enter", call % "exit")) as maps:
        recording = recorded("-e", "span:%s..%s" % (call % "enter", call % "exit"), "--comm", "sleeps", "--", known, "nested=20")
    numbers = values(recording, "span:")
    assert len(numbers) == maps["@count"] > 30 and math.isclose(sum(numbers), maps["@sum"], rel_tol=0.1), (len(numbers), maps)


main(globals())
