#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`diff` of real recordings: two runs of one program show no change, a change of known size is shown with an interval that has it."""

import json
import os
import re
import time

from harness.cases import main, one_of_several, program, run, stackmap

PARTS = {"a": 40, "b": 30, "c": 20, "d": 10}
OTHER = dict(PARTS, d=20)
MORE = 100 * OTHER["d"] / sum(OTHER.values()) - 100 * PARTS["d"] / sum(PARTS.values())  # of share_d(), percentage points


SECONDS = {}  # what each recording took


def record(name, parts, milliseconds=1000):
    began = time.monotonic()
    stackmap("record", "-F", 999, "-o", name, "--", program("known_shares"), milliseconds, *parts.values())
    SECONDS[name] = time.monotonic() - began
    return name


def diff(*options):
    text = stackmap("diff", "--no-inline", "--json", "--comm", "known_shares", *options).stdout
    return {row["symbol"]: row for row in json.loads(text)["rows"]}


def shown(*options):
    """Functions of the program that the text shows."""
    text = stackmap("diff", "--no-inline", "--comm", "known_shares", *options).stdout
    return re.findall(r"  (share_[a-d])$", text, re.MULTILINE), text


@one_of_several
def test_two_runs_of_one_program_have_no_change():
    runs = [record("run%d.data" % i, PARTS) for i in range(6)]
    rows, text = shown(",".join(runs[:3]), ",".join(runs[3:]))
    assert not rows, text
    assert re.search(r"^# before: run0.data,run1.data,run2.data, 3 recordings, [0-9]+ cpu-clock$", text, re.MULTILINE), text
    assert re.search("^# .*[0-9]+ changes within the noise, --noise shows them$", text, re.MULTILINE), text
    assert set(shown("--noise", "--top", 0, "--min-percent", 0, ",".join(runs[:3]), ",".join(runs[3:]))[0]) == {"share_" + part for part in PARTS}
    rows, text = shown(runs[0], runs[1])
    assert not rows and "# the noise is that within a run;" in text, text


@one_of_several
def test_a_change_of_known_size_is_in_its_interval():
    os.mkdir("before")
    os.mkdir("after")
    for i in range(3):
        record("before/%d.data" % i, PARTS)
        record("after/%d.data" % i, OTHER)
    for sides in ["before", "after"], ["before/0.data", "after"], ["before/0.data,before/1.data", "after/0.data,after/2.data"]:
        row = diff(*sides)["share_d"]
        assert row["delta"] > row["noise"] > 0, (sides, row)
        assert abs(row["delta"] - MORE) <= row["noise"] + 1, (sides, row, MORE)
        assert "share_d" in shown(*sides)[0], sides
    row = diff("--per", "second", "before", "after")["share_d"]
    took = [seconds for name, seconds in SECONDS.items() if "/" in name]
    # Beside other work the recordings of one side have different numbers of events in a second.
    assert row["noise"] > 0 and (row["change"] > row["noise"] or max(took) > 1.1 * min(took)), (row, took)


def test_a_file_whose_name_has_a_comma():
    record("one,two", PARTS, 100)
    text = stackmap("diff", "one,two", "one,two").stdout
    assert "# before: one,two, " in text and "# no differences" in text, text
    done = stackmap("diff", "one,three", "one,two", status=1)
    assert "one: cannot be read: No such file or directory" in done.stderr, done.stderr


def test_a_list_of_more_recordings_than_are_compared():
    record("one.data", PARTS, 100)
    done = stackmap("diff", ",".join(65 * ["one.data"]), "one.data", status=1)
    assert "at most 64 recordings, 'stackmap merge' makes fewer of them" in done.stderr, done.stderr


def two_of(kind):
    """Two equal recordings: there is no scatter, so the noise is what the lost events may have been."""
    for i in range(2):
        run(program("write_odd"), kind, "%s%d.data" % (kind, i))
    return "%s0.data,%s1.data" % (kind, kind)


def change_of(after, *options):
    """(change in percent, noise in percent) of the events of the first source, from recordings without a loss."""
    text = stackmap("diff", "--no-inline", "--json", "--stacks", "-e", "odd", *options, two_of("two"), two_of(after)).stdout
    (row,) = json.loads(text)["stacks"]
    return row["change_percent"], 100 * row["noise"] / row["before"]["amount"] if options else row["noise"], text


def test_lost_events_of_several_sources_widen_the_interval():
    """30 events and 5 of the event that divides; 10 more are lost. If they may be of either source, all amounts are scaled alike, and each of
    both may be off by all of them."""
    change, noise, text = change_of("two-lost", "--per", "even")
    assert abs(change) < 1e-6 and abs(noise - 100 * (10 / 30 + 10 / 5)) < 1e-3, text
    _, noise, text = change_of("two-lost")
    assert abs(noise - 100 * 10 / (10 + 30)) < 1e-3, text


def test_lost_events_of_a_known_source_do_not():
    """The same, and all 10 are known to be of the first source: its amounts alone are scaled, and only its rows may be off."""
    change, noise, text = change_of("two-lost-known", "--per", "even")
    assert abs(change - 100 * 10 / 30) < 1e-6 and abs(noise - 100 * 10 / (10 + 30) * 4 / 3) < 1e-3, text
    ledger = json.loads(stackmap("report", "--json", "two-lost-known0.data").stdout)["ledger"]
    assert ledger["sources"] == [{"event": "odd", "recorded": 30, "counted_only": 0, "lost": 10},
                                 {"event": "even", "recorded": 5, "counted_only": 0, "lost": 0}], ledger
    assert "# ledger:   lost of odd: 10\n" in stackmap("report", "two-lost-known0.data").stdout
    two_of("two-lost")
    stackmap("merge", "-o", "merged.data", "two-lost-known0.data", "two-lost-known1.data", "two-lost0.data")
    merged = json.loads(stackmap("report", "--json", "merged.data").stdout)["ledger"]
    assert [source["lost"] for source in merged["sources"]] == [20, 0] and merged["lost"]["ring_full"] == 30, merged


if __name__ == "__main__":
    main(globals())
