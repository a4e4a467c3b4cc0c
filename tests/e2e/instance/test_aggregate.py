#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Events that the kernel aggregates: counts, sums, minima, maxima and histograms are those of the same events recorded one by one."""

import csv
import io
import json
import os
import pathlib
import re
import signal
import subprocess

from harness.cases import SECONDS_MAX, STACKMAP, main, needs, program, run, stackmap
from harness.engine_folder import enter_own_mounts, fresh_bpffs
from harness.instance import read, stat_of, status_of
from harness.recording import Recording, check_ledger, names_of, record, user_account
from harness.waiting import wait_until

GUIDE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "guide.md"
COMM = "sums-%d" % os.getpid()
PROGRAM = program("known_counts", called=COMM)
TAKE, TEN = "u:%s:take" % PROGRAM, "ur:%s:ten" % PROGRAM
EVENTS = ["-e", "%s/value=arg3:bytes/,%s/value=ret:u8/" % (TAKE, TEN), "--user-unwind", "fp"]
LINE = re.compile(r"^%s-\d+ \[000\] (\S+): <user_stack_id \d+> count (\d+) sum (\d+) avg (\d+) min (\d+) max (\d+)$" % COMM)
EXACT = "count", "sum", "average", "min", "max", "buckets", "unit"
PERCENTILES = "p50", "p90", "p99", "p99.9"


def histograms(recording, *options):
    """(event, callers of the event) -> histogram"""
    found = json.loads(recording.read("report", "--json", "--hist", "log2", *options))["histograms"]
    by_stack = {(one["event"], tuple(one["user"])): one for one in found}
    assert len(by_stack) == len(found) > 0
    return by_stack


def expected(values):
    """The exact part of a histogram of these values."""
    return {"count": len(values), "sum": sum(values), "min": min(values), "max": max(values)}


def takes(first, end):
    return expected([3 * i for i in range(first, end)])


def assert_has(histogram, numbers):
    assert {name: histogram[name] for name in numbers} == numbers, (histogram, numbers)


def start(*options):
    needs("bpf", "uprobes")
    fresh_bpffs()
    stackmap("start", "sums", "--aggregate", "--comm", COMM, *EVENTS, *options)


def call(count):
    run("taskset", "-c", "0", PROGRAM, "arguments=%d" % count)


def take_file(name):
    with subprocess.Popen([STACKMAP, "record", "--instance", "sums", "-o", name], stderr=subprocess.PIPE, text=True) as reader:
        wait_until(lambda: os.path.exists(name) or reader.poll() is not None)
        reader.send_signal(signal.SIGINT)
        _, said = reader.communicate(timeout=SECONDS_MAX)
    assert reader.returncode == 0, said
    return Recording(os.path.abspath(name))


def check_file(numbers):
    """The file has a line for each power of two of a stack; each value is between its bounds."""
    lines = [LINE.match(line) for line in read("sums", "aggregates").splitlines()]
    assert lines and all(lines), read("sums", "aggregates")
    rows = [[int(number) for number in line.groups()[1:]] for line in lines if line[1].endswith("take")]
    for count, total, average, least, most in rows:
        assert least.bit_length() == most.bit_length() and average == total // count and least <= average <= most, rows
    count, total, _, least, most = zip(*rows)
    assert {"count": sum(count), "sum": sum(total), "min": min(least), "max": max(most)} == numbers, rows


def test_numbers_are_those_of_single_events():
    needs("bpf", "uprobes")
    single = record(*EVENTS, "--", PROGRAM, "arguments=1000")
    sums = record("--aggregate", *EVENTS, "--", PROGRAM, "arguments=1000", output="sums.data")
    single.check()
    ledger = sums.check()
    assert ledger["recorded"] == 0 and ledger["counted_only"] == 2000 and not any(ledger["lost"].values()), ledger
    before, after = histograms(single), histograms(sums)
    assert set(before) == set(after) and len(after) == 3, (set(before), set(after))
    for stack, one in before.items():
        assert_has(after[stack], {name: one[name] for name in EXACT})
        for name in PERCENTILES:
            assert after[stack][name].bit_length() == one[name].bit_length(), (name, one, after[stack])
    rows = list(csv.DictReader(io.StringIO(sums.read("report", "--csv", "--hist", "log2", "--sort", "event"))))
    assert {(row["event"], row["count"], row["min"], row["max"]) for row in rows} == \
        {(TAKE, "1000", "0", "2997"), (TEN, "1000", "0", "255")}, rows
    assert "aggregated in the kernel" in sums.read("report", "--hist", "log2")
    assert "aggregated in the kernel" not in single.read("report", "--hist", "log2")
    refused = stackmap("report", "--hist", "lin", sums.path, status=1).stderr
    assert "--hist log2" in refused, refused


def totals(recording):
    """event -> number of events and sum of their values, of all stacks"""
    found = {}
    for one in json.loads(recording.read("report", "--json", "--hist", "log2"))["histograms"]:
        count, total = found.get(one["event"], (0, 0))
        found[one["event"]] = count + one["count"], total + one["sum"]
    return found


def test_counts_and_sums_do_not_need_the_stacks():
    """The guide promises the same counts and sums. The unwind tables of a new program are not known at its first events, whose user stacks are
    missing then."""
    needs("bpf", "uprobes")
    single = record(*EVENTS[:2], "--", PROGRAM, "arguments=1000")
    sums = record("--aggregate", *EVENTS[:2], "--", PROGRAM, "arguments=1000", output="sums.data")
    ledger = sums.check()
    assert ledger["counted_only"] == 2000 and not any(ledger["lost"].values()), ledger
    assert totals(sums) == totals(single), (totals(sums), totals(single))
    guide = " ".join(GUIDE.read_text().split())
    assert "has the same counts and sums." in guide and "has the same numbers" not in guide


def test_waits_have_user_stacks_by_frame_pointers_only():
    """As the manual says: by unwind tables, the user stack of a wait always comes later."""
    needs("bpf", "raw tracepoints")
    for way, is_missing in ("auto", True), ("fp", False):
        ledger = record("--aggregate", "--off-cpu", "--user-unwind", way, "--", PROGRAM, "nested=20").check()
        missing = ledger["user_stacks"]["reasons"]["answer_lost"]
        assert ledger["counted_only"] >= 40 and (missing >= 40 if is_missing else not missing), (way, ledger)


def test_an_instance_and_its_files():
    start()
    call(250)
    assert status_of("sums")["ledger"]["counted_only"] == 500
    assert stat_of("sums")["counted_only"] == "500" and stat_of("sums")["recorded"] == "0"
    assert read("sums", "trace") == ""
    check_file(takes(0, 250))
    seen = json.loads(stackmap("report", "--instance", "sums", "--json", "--hist", "log2", "-e", TAKE).stdout)
    assert_has(seen["histograms"][0], takes(0, 250))
    first = take_file("first.data")
    assert_has(next(one for (event, _), one in histograms(first).items() if event == TAKE), takes(0, 250))
    assert read("sums", "aggregates") == "", "the reader has taken all"
    call(1000)
    check_file(takes(0, 1000))
    second = histograms(take_file("second.data"))
    by_caller = {stack[1]: one for (event, stack), one in second.items() if event == TAKE}
    assert_has(by_caller["call_low"], takes(0, 250))
    assert_has(by_caller["call_high"], takes(250, 1000))
    ledger = take_file("third.data").ledger()
    check_ledger(ledger)
    assert ledger["produced"] == 0, ledger
    stackmap("stop", "sums")


def test_top_shows_and_takes():
    start()
    call(1000)
    text = stackmap("top", "--instance", "sums", "--batch", "--iterations", "1", "--delay", "1", "--hist", "log2").stdout
    assert "1000 events  sum " in text, text
    assert "aggregated in the kernel" in text and "min 0" in text, text
    assert read("sums", "aggregates") == ""
    stackmap("stop", "sums")


def test_a_full_table():
    """64 rows: a thread has 24, of two callers and of ten."""
    start("--ring", "8K")
    assert status_of("sums")["sums"] == {"rows": 0, "max_rows": 64}
    for _ in range(6):
        call(1000)
    status = status_of("sums")
    ledger = status["ledger"]
    assert 48 < status["sums"]["rows"] <= 64, status
    lost = ledger["lost"]["table_full"]
    assert ledger["produced"] == 12000 == ledger["counted_only"] + lost and lost > 0, ledger
    assert stat_of("sums")["table_full"] == str(lost)
    stackmap("reset", "sums")
    assert "of 64 rows on the CPU" in stackmap("status", "sums").stdout and status_of("sums")["sums"]["rows"] == 0
    assert "a reset emptied the rings or the table for --aggregate" in stackmap("status", "sums").stdout
    call(250)
    assert status_of("sums")["ledger"]["lost"]["table_full"] == lost, "a reset empties the table"
    recording = take_file("full.data")
    assert_has(next(one for (event, _), one in histograms(recording).items() if event == TAKE), takes(0, 250))
    stackmap("stop", "sums")


def test_rows_of_ended_threads_make_room():
    """128 rows, and three times 75 processes of one row each: without free rows, 97 events would be lost. The recorder looks every 5 s, and once
    after each time."""
    needs("bpf", "uprobes")
    processes = "i=0; while [ $i -lt 75 ]; do %s calls=1; i=$((i + 1)); done" % PROGRAM
    recording = record("--aggregate", "--ring", "16K", "--user-unwind", "fp", "-e", "u:%s:counted" % PROGRAM, "--",
                       "taskset", "-c", "0", "sh", "-c", "%s; sleep 12; %s; sleep 7; %s" % (processes, processes, processes))
    recording.is_window = True  # the stack map was emptied in between
    ledger = recording.check()
    lost = ledger["lost"]["table_full"]
    assert ledger["produced"] == 225 == ledger["counted_only"] + lost and lost < 18, ledger


def test_stacks_of_the_past_make_room():
    """A map of 1,024 stacks, and 700 stacks of each of two programs: in one map there would be no room for 376. The recorder looks every 5 s."""
    needs("bpf", "uprobes")
    first, second = (program("call_paths", called=name) for name in ("first", "second"))
    recording = record("--aggregate", "--bits", "10", "--no-kernel", "--user-unwind", "fp", "-e", "u:%s:leaf,u:%s:leaf" % (first, second), "--",
                       "sh", "-c", "%s 700 1; sleep 12; %s 700 1" % (first, second))
    ledger, (_, rest) = recording.check(), user_account(recording)
    assert ledger["counted_only"] == 1400 and rest.get("no_room", 0) < 50, (ledger, rest)


def test_samples_without_values():
    needs("bpf")
    recording = record("--aggregate", "-F", "999", "--", PROGRAM, "calls=200000000")
    ledger = recording.check()
    assert ledger["recorded"] == 0 and ledger["counted_only"] > 20, ledger
    assert any("call" in names_of(event) for event in recording.events())


def test_both_ends_of_waits():
    needs("bpf")
    ledger = record("--aggregate", "-e", "offcpu-time,offcpu-waker", "--", "sleep", "0.1").check()
    assert ledger["recorded"] == 0 and ledger["counted_only"] > 0, ledger


def test_what_needs_single_events_is_refused():
    for options in (["--flight", "1M"], ["--no-dedup"], ["--trace-ids"], ["--wakers"], ["--locks"], ["-e", "offcpu-time,offcpu-holder"]):
        said = stackmap("record", "--aggregate", *options, "--", "true", status=2).stderr
        assert said.startswith("stackmap: --aggregate: ") and options[0] in said and said.count("\n") == 1, said


if __name__ == "__main__":
    enter_own_mounts()
    main(globals())
