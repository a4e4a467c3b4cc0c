#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What is alive when recording ends: blocks of memory by --leaks, and other things by the words alive:BEGIN..END."""

import collections
import json
import math
import os
import re
import subprocess

from harness.cases import main, needs, program, stackmap
from harness.recording import names_of, record

PROGRAM = program("leaks")
STATIC = program("leaks_static")
KNOWN = program("known_counts")
KIB = 1 << 10
EVERY = 512

# By function: blocks and bytes that are never freed (tests/e2e/programs/leaks.c).
LEFT = {
    ("malloc", "leave_small"): (400, 400 * 401 // 2),
    ("calloc", "leave_zeroed"): (300, 300 * 150),
    ("realloc", "leave_grown"): (100, 98 * 700 + 2 * KIB * KIB),
    ("posix_memalign", "leave_aligned"): (60, 60 * 96),
    ("aligned_alloc", "leave_aligned"): (60, 60 * 96),
    ("mmap", "leave_mapped"): (5, 5 * 8192),
    ("malloc", "leave_in_thread"): (75, 75 * 64),
}
# The sizes of all these blocks, by function.
SIZES = {
    "malloc": list(range(1, 401)) + 75 * [64],
    "calloc": 300 * [150],
    "realloc": 98 * [700] + 2 * [KIB * KIB],
    "posix_memalign": 60 * [96],
    "aligned_alloc": 60 * [96],
    "mmap": 5 * [8192],
}
ALIASES = {"memalign": "aligned_alloc"}  # in glibc before 2.38 one function
SPANS = r"# ledger: +([0-9]+) ([^\n]*(?:spans|alive)[^\n]*)"


def function_of(event):
    name = event.name.partition("/every=")[0].rpartition(":")[2]
    return ALIASES.get(name, name)


def left_by(recording):
    """Blocks and bytes of the program's own functions, by the allocating function and its caller."""
    left = collections.defaultdict(lambda: (0, 0))
    for event in recording.events():
        names = names_of(event)
        if not names or not names[0].startswith(("leave_", "pass_", "free_", "ask_", "main")):
            continue
        key = function_of(event), names[0]
        left[key] = left[key][0] + 1, left[key][1] + event.value
    return dict(left)


def recorded(*arguments):
    needs("bpf", "raw tracepoints", "uprobes")
    recording = record(*arguments)
    ledger = recording.check(has_spare_stacks=True)
    assert ledger["recorded"] == ledger["produced"], ledger
    said = recording.read("report")
    assert "not in it" not in said and "not timed" not in said, said
    return recording


def test_a_thousand_blocks_by_stack_and_size():
    assert sum(blocks for blocks, _ in LEFT.values()) == 1000
    assert left_by(recorded("--leaks", "--", PROGRAM)) == LEFT


def test_a_sample_of_which_each_byte_is_one_has_all_blocks():
    assert left_by(recorded("--leaks-every", "1", "--", PROGRAM)) == LEFT


def test_a_sample_is_an_estimate_of_the_bytes():
    """Each sum is within ten standard errors, computed from the known sizes, of the true sum. All large blocks are taken."""
    recording = recorded("--leaks-every", str(EVERY), "--", PROGRAM, "5000")
    sums = collections.Counter()
    for event in recording.events():
        assert event.value >= EVERY and event.name.endswith("/every=%d/" % EVERY), event
        if names_of(event) and names_of(event)[0].startswith(("leave_", "pass_")):
            sums[function_of(event)] += event.value
    for function, sizes in SIZES.items():
        error = math.sqrt(sum(size * (EVERY - size) for size in sizes if size < EVERY))
        assert abs(sums[function] - sum(sizes)) <= 10 * error, (function, sums[function], sum(sizes), error)
    assert "unbegun" not in recording.read("report") and "had not begun" not in recording.read("report")
    check_errors(recording)


def check_errors(recording):
    """The report has the standard error of each sum: the size of the sample by the root of the number of blocks that stand for others."""
    estimates = collections.Counter(event.name for event in recording.events() if event.value == EVERY)
    for line in re.findall("^# events: .*, together .*", recording.read("report"), re.MULTILINE):
        name = re.search("alive:[^,]*", line)[0]
        assert (" +- 0 bytes" in line) == (not estimates[name]), (line, estimates)
    for stack in json.loads(recording.read("report", "--json"))["stacks"]:
        most = math.ceil(EVERY * math.sqrt(stack["count"]))
        is_all = stack["value"] == stack["count"] * EVERY
        assert stack["standard_error"] == most if is_all else stack["standard_error"] < most, stack
    rows = json.loads(recording.read("report", "--sort", "event", "--json"))["rows"]
    for row in rows:
        assert row["self"]["standard_error"] == math.ceil(EVERY * math.sqrt(estimates[row["event"]])), (row, estimates)


def test_a_sample_of_a_number_of_any_function():
    """Key 6 stays; a number that is not below the size of the sample is always taken."""
    word = "alive:u:%s:put_key..u:%s:take_key/by=arg1,value=arg1:keys,every=%d/"
    for every in 1, 6:
        recording = recorded("-e", word % (KNOWN, KNOWN, every), "--", KNOWN, "handed=6")
        assert [event.value for event in recording.events()] == [6], recording.script


def test_blocks_that_are_freed_do_not_stay():
    """More blocks than are held before the first look at those that are alive."""
    assert left_by(recorded("--leaks", "--ring", "64M", "--", PROGRAM, "70000")) == LEFT


def test_a_static_program_has_its_own_functions():
    assert left_by(recorded("--leaks", "--", STATIC)) == LEFT


def test_a_process_from_the_attach_on():
    """The process runs the program when the command tells it to, and the command waits for its end."""
    needs("bpf", "raw tracepoints", "uprobes")
    for pipe in "go", "done":
        os.mkfifo(pipe)
    shell = subprocess.Popen(["sh", "-c", "read line <go; exec %s 3>done" % PROGRAM])
    try:
        recording = recorded("--leaks", "-p", str(shell.pid), "--", "sh", "-c", "echo >go; cat done")
    finally:
        shell.kill()
        shell.wait()
    assert left_by(recording) == LEFT


def test_the_sums_of_the_report():
    report = recorded("--leaks", "--", PROGRAM).read("report", "--sort", "event")
    assert re.search(r"realloc, together 2\.07 MiB", report), report


def test_numbers_of_any_function():
    """Keys 1 to 6 begin, keys 1 to 5 end, and 7 ends without a begin."""
    word = "alive:u:%s:put_key..u:%s:take_key/by=arg1,value=arg1:keys/" % (KNOWN, KNOWN)
    recording = recorded("-e", word, "--", KNOWN, "handed=6")
    assert [(event.value, names_of(event)[:2]) for event in recording.events()] == [(6, ["put_key", "hand_over"])]
    assert re.findall(SPANS, recording.read("report")) == [("1", "ends of spans that had not begun in the recording")]


def test_conditions_on_the_call():
    word = "alive:ur:%s:take..u:%s:counted/by=ret:arg1,value=arg3,if=%s/"
    for condition, values in ("arg1>=690", {3 * i for i in range(690, 700)}), ("arg1<501", set()):
        recording = recorded("-e", word % (KNOWN, KNOWN, condition), "-e", "page-faults", "--", KNOWN, "arguments=700")
        assert {event.value for event in recording.events() if event.name.startswith("alive:")} == values, condition


def test_the_result_as_the_value_beside_a_condition_on_the_call():
    word = "alive:ur:%s:take..u:%s:counted/by=ret:arg1,value=ret%s,if=arg1>=690/"
    for every in "", ",every=190":
        recording = recorded("-e", word % (KNOWN, KNOWN, every), "--", KNOWN, "arguments=700")
        assert [event.value for event in recording.events()] == list(range(190, 200)), recording.script


def test_products():
    recording = recorded("-e", "u:%s:take/value=arg1*arg3/" % KNOWN, "--", KNOWN, "arguments=9")
    assert [event.value for event in recording.events()] == [3 * i * i for i in range(9)]


def refused(*arguments, says):
    done = stackmap("record", "-o", "no.data", *arguments, "--", "true", status=None)
    assert done.returncode and done.stderr.count("\n") == 1 and says in done.stderr, done.stderr
    assert not os.path.exists("no.data")


def test_words_that_cannot_be_recorded_are_refused():
    word = "alive:ur:libc.so.6:malloc..u:libc.so.6:free/by=%s,value=arg1/"
    refused("--leaks", "--flight", "1M", says="--leaks: a file of 'stackmap record' has it, without --flight and --rotate")
    refused("--leaks", "--rotate", "10s", says="without --flight and --rotate")
    for wrong, says in ((["record", "--leaks", "--instance", "it"], "--leaks: an instance does not have it"), (["start", "it", "--leaks"], "'record --leaks'"),
                        (["record", "--leaks", "1234"], "1234: No such file or directory; a process goes with -p 1234\n")):
        assert says in stackmap(*wrong, status=None).stderr, (wrong, stackmap(*wrong, status=None).stderr)
    refused("-e", "alive:u:libc.so.6:malloc..u:libc.so.6:free", says="expected by=NUMBER:NUMBER")
    refused("-e", "alive:u:libc.so.6:malloc", says="expected alive:BEGIN..END")
    refused("-e", word % "arg9:arg1", says="no number arg9; the return of a function has ret")
    refused("-e", word % "ret:*arg1", says="expected by=tid, by=pid, by=NAME, or by=NAME:NAME")
    refused("-e", word.replace("ur:", "u:") % "*arg1:arg1", says="only the return of a function of a program has")
    refused("-e", "span:u:libc.so.6:malloc..u:libc.so.6:free/by=*arg1:arg1/", says="only alive: has by=*arg1")
    refused("-F", "99", "--stop-when", word % "ret:arg1", says="is known when recording ends")
    refused("--leaks-every", "1K", "--flight", "1M", says="without --flight and --rotate")
    refused("-e", word.replace(",value=arg1", ",every=4") % "ret:arg1", says="every= is by the value")
    refused("-e", (word % "ret:arg1")[:-1] + ",every=4G/", says="expected every=NUMBER, from 1 to 4G-1")
    refused("-e", "u:libc.so.6:malloc/value=arg1,every=4/", says="only alive: has every=")
    refused("-e", "span:u:libc.so.6:malloc..u:libc.so.6:free/every=4/", says="only alive: has every=")
    refused("-e", "alive:cpu-clock..u:libc.so.6:free/by=pid/", says="what is alive is between system calls and functions")
    refused("-e", "alive:kmem:kmalloc..kmem:kfree/by=ptr/", says="what is alive is between system calls and functions")


if __name__ == "__main__":
    main(globals())
