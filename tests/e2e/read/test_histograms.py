#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`report --hist`: the values of events as histograms, compared with the values themselves, as `script` has them."""

import csv
import io
import json
import math

from harness.cases import main, needs, program, run, stackmap
from harness.engine_folder import enter_own_mounts
from harness.recording import names_of, record

PROGRAM = program("known_counts")
COMMAND = [PROGRAM, "arguments=1000"]
TAKE, TEN = "u:%s:take" % PROGRAM, "ur:%s:ten" % PROGRAM
RANKS = {"p50": 500, "p90": 900, "p99": 990, "p99.9": 999}


def recorded():
    needs("bpf", "raw tracepoints", "uprobes")
    recording = record("-e", "%s/value=arg3:bytes/,%s/value=ret:u8/" % (TAKE, TEN), "--", *COMMAND)
    recording.check()
    return recording


def histograms(recording, *options):
    return json.loads(recording.read("report", "--json", *options))["histograms"]


def log2_bucket(value):
    return value if value < 2 else 1 << (value.bit_length() - 1)


def check(histogram, values):
    """Each number of a histogram follows from the values."""
    values = sorted(values)
    count = len(values)
    assert histogram["count"] == count and histogram["sum"] == sum(values), histogram
    assert math.isclose(histogram["average"], sum(values) / count), histogram
    assert (histogram["min"], histogram["max"]) == (values[0], values[-1]), histogram
    for name, permille in RANKS.items():
        assert histogram[name] == values[-(-count * permille // 1000) - 1], (name, histogram)
    for bucket in histogram["buckets"]:
        assert bucket["count"] == sum(bucket["from"] <= value <= bucket["to"] for value in values), bucket
    assert sum(bucket["count"] for bucket in histogram["buckets"]) == count
    for before, after in zip(histogram["buckets"], histogram["buckets"][1:]):
        assert after["from"] == before["to"] + 1, (before, after)


def test_each_stack_has_its_histogram():
    recording = recorded()
    by_caller = {}
    for event in recording.events():
        caller = names_of(event)[1] if event.name == TAKE else "ten"
        by_caller.setdefault(caller, []).append(event.value)
    assert sorted(by_caller) == ["call_high", "call_low", "ten"], by_caller.keys()
    for scale in "log2", "lin":
        found = histograms(recording, "--hist", scale)
        assert len(found) == 3 and {histogram["unit"] for histogram in found} == {"bytes", "ret"}, found
        for histogram in found:
            check(histogram, by_caller["ten" if histogram["event"] == TEN else histogram["user"][1]])
    for histogram in histograms(recording, "--hist", "log2"):
        assert all(bucket["from"] == log2_bucket(bucket["to"]) for bucket in histogram["buckets"]), histogram


def test_by_function_thread_and_source():
    recording = recorded()
    events = recording.events()
    takes = [event.value for event in events if event.name == TAKE]
    by_symbol = {histogram["symbol"]: histogram
                 for histogram in histograms(recording, "--hist", "log2", "--sort", "symbol", "-e", TAKE)}
    assert list(by_symbol) == ["take"], by_symbol
    check(by_symbol["take"], takes)
    with_callees = {histogram["symbol"]: histogram
                    for histogram in histograms(recording, "--hist", "log2", "--sort", "symbol", "--children", "-e", TAKE)}
    check(with_callees["main"], takes)
    check(with_callees["call_low"], [3 * i for i in range(250)])
    check(with_callees["call_high"], [3 * i for i in range(250, 1000)])
    threads = histograms(recording, "--hist", "lin", "--sort", "tid", "-e", TAKE)
    assert [histogram["tid"] for histogram in threads] == [events[0].tid]
    check(threads[0], takes)


def test_csv_has_the_same_numbers():
    recording = recorded()
    rows = list(csv.DictReader(io.StringIO(recording.read("report", "--csv", "--hist", "lin", "--sort", "symbol"))))
    found = histograms(recording, "--hist", "lin", "--sort", "symbol")
    assert len(rows) == len(found) == 2
    for row, histogram in zip(rows, found):
        assert row["event"] == histogram["event"] and row["symbol"] == histogram["symbol"]
        for name in ("count", "sum", "min", "max", *RANKS):
            assert int(row[name]) == histogram[name], (name, row, histogram)
        buckets = ["%(from)d..%(to)d:%(count)d" % bucket for bucket in histogram["buckets"]]
        assert row["histogram"].split(" ") == buckets, (row, buckets)


def test_text():
    recording = recorded()
    text = recording.read("report", "--hist", "lin", "--sort", "symbol", "-e", TEN)
    assert "  1000 events  sum %d ret  average %d ret  min 0 ret" % (100 * sum(-i & 0xff for i in range(10)),
                                                                    100 * sum(-i & 0xff for i in range(10)) // 1000) in text, text
    assert "   0 ret .. 19 ret         100  ####\n" in text and " 900  %s\n" % ("#" * 40) in text, text


def test_conditions_and_top_choose():
    recording = recorded()
    assert len(histograms(recording, "--hist", "log2", "--top", "1")) == 1
    assert len(histograms(recording, "--hist", "log2", "--min-percent", "50")) == 2
    assert "1 of 3 histograms shown" in recording.read("report", "--hist", "log2", "--top", "1")


def test_waits():
    needs("bpf", "typed tracepoints")
    recording = record("--off-cpu", "--", "sh", "-c", "sleep 0.01; sleep 0.02")
    recording.check()
    found = histograms(recording, "--hist", "log2", "--sort", "event")
    check(found[0], [event.value for event in recording.events()])
    assert found[0]["unit"] == "ns" and found[0]["max"] >= 20000000, found


def refused(*arguments, status, says):
    said = stackmap("report", *arguments, status=status).stderr
    assert says in said and said.count("\n") == 1, said


def test_what_has_no_values_is_refused():
    needs("bpf", "raw tracepoints", "uprobes")
    recording = record("-e", TAKE, "--", *COMMAND)
    refused("--hist", "log2", recording.path, status=1, says="--hist: no event of this recording has a value")
    refused("--hist", "log3", recording.path, status=2, says="--hist log3")
    refused("--hist", "log2", "--tree", recording.path, status=2, says="--tree and --hist: choose one view")
    refused("--hist", "log2", "--fields", "self", recording.path, status=2, says="choose one view")


if __name__ == "__main__":
    enter_own_mounts()
    main(globals())
