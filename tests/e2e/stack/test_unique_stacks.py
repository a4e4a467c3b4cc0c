#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Thousands of unique user stacks, each known frame by frame: no event is lost and no stack is merged with another,
whether the stack map takes all of them, some, or none."""

import collections
import functools

from harness.cases import main, needs, program
from harness.recording import function, record, user_frames

LEVELS = 14  # as in call_paths.c


@functools.lru_cache(maxsize=None)
def path_of(frames):
    """The number that the calls of zero() and one() spell."""
    names = [function(frame) for frame in frames]
    assert names[0] == "leaf" and "main" in names, names
    bits = ["zero one".split().index(name) for name in reversed(names) if name in ("zero", "one")]
    assert len(bits) == LEVELS, names
    return int("".join(map(str, bits)), 2)


def record_paths(paths, repeats, *options):
    """All events are there, and each has the call path that the program took at that time."""
    needs("bpf", "uprobes")
    workload = program("call_paths")
    recording = record(*options, "-e", "u:%s:leaf" % workload, "--", workload, paths, repeats)
    ledger = recording.check()
    assert ledger["recorded"] == ledger["produced"] == paths * repeats, ledger
    taken = [path_of(tuple(user_frames(event))) for event in recording.events()]
    assert taken == list(range(paths)) * repeats, "call paths are not those of the program"
    return recording


def counts_of_ids(recording):
    """id -> events, of the stacks in the map and of those that were recorded in full: these have high ids."""
    counts = collections.Counter(line.user for line in recording.ids())
    in_map = {number: count for number, count in counts.items() if number < 1 << 31}
    in_full = {number: count for number, count in counts.items() if number >= 1 << 31}
    return in_map, in_full


def check_all_in_map(recording, paths, repeats):
    in_map, in_full = counts_of_ids(recording)
    assert not in_full and len(in_map) == paths and set(in_map.values()) == {repeats}, (len(in_map), len(in_full))


def test_5000_stacks_50000_events():
    check_all_in_map(record_paths(5000, 10), 5000, 10)


def test_12000_stacks_in_a_map_of_1024():
    in_map, in_full = counts_of_ids(record_paths(12000, 2, "--bits", 10, "--pool", "1M", "--ring", "32M"))
    assert 900 < len(in_map) <= 1024 and len(in_map) + len(in_full) == 12000, (len(in_map), len(in_full))


def test_12000_stacks_in_a_tiny_pool():
    in_map, in_full = counts_of_ids(record_paths(12000, 1, "--pool", "64K", "--ring", "32M"))
    assert 0 < len(in_map) < 1000 and len(in_map) + len(in_full) == 12000, (len(in_map), len(in_full))


def test_every_stack_in_full():
    in_map, in_full = counts_of_ids(record_paths(5000, 2, "--no-dedup", "--ring", "32M"))
    assert not in_map and len(in_full) == 5000, (len(in_map), len(in_full))


def test_flight_recorder():
    check_all_in_map(record_paths(5000, 3, "--flight", "64M"), 5000, 3)


def test_flight_recorder_in_full():
    in_map, in_full = counts_of_ids(record_paths(5000, 2, "--flight", "64M", "--no-dedup"))
    assert not in_map and len(in_full) == 5000, (len(in_map), len(in_full))


main(globals())
