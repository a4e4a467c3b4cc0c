#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""From a recording to stack_map_bin and through `dump` back to the same stacks, named offline by `mappings`."""

import collections
import json
import os

from harness.cases import main, needs, program, stackmap
from harness.recording import record, user_frames

OFFSET_BITS = 40
OFFSET_MASK = (1 << OFFSET_BITS) - 1


def recording():
    needs("bpf", "uprobes", "raw tracepoints", "tracefs")
    workload = program("call_paths")
    made = record("-e", "u:%s:leaf" % workload, "-e", "sched:sched_switch", "--", workload, 200, 3)
    made.check()
    stackmap("export", "-f", "mappings", "-o", "mappings", made.path)
    return made


def test_every_stack_and_frame():
    made = recording()
    by_id, in_full = made.stacks()
    assert not in_full and len(by_id) >= 200
    done = stackmap("dump", "--json", made.path + ".bin")
    assert done.stderr == "Total: %d unique stacks\n" % len(by_id), done.stderr
    dumped = json.loads(done.stdout)
    assert {stack["stack_id"] for stack in dumped} == set(by_id)
    for stack in dumped:
        binary = by_id[stack["stack_id"]]
        addresses = [int(address, 16) for address in stack["ips"]]
        assert (stack["ref_count"], addresses) == (binary.refs, list(binary.frames)), stack


def test_names_from_mappings():
    """Each frame by its file and offset, as `script` shows them."""
    made = recording()
    dumped = json.loads(stackmap("dump", "--json", "--mappings", "mappings", made.path + ".bin").stdout)
    named = {stack["stack_id"]: stack["symbols"] for stack in dumped}
    for line, event in zip(made.ids(), made.events()):
        if line.user:
            places = ["%s+%#x" % (os.path.basename(frame.object), frame.address) for frame in user_frames(event)]
            assert named[line.user] == places, (named[line.user], places)


def test_text():
    made = recording()
    by_id, _ = made.stacks()
    text = stackmap("dump", made.path + ".bin").stdout
    stacks = [block.splitlines() for block in text.split("\n\n") if block]
    assert len(stacks) == len(by_id)
    for head, *frames in stacks:
        number = int(head.split()[1])
        stack = by_id[number]
        assert head == "stack_id %d [ref %d, depth %d]" % (number, stack.refs, len(stack.frames)), head
        assert len(frames) == len(stack.frames) + (stack.flags & 1)
        assert [line.split()[0] for line in frames[:len(stack.frames)]] == \
            ["[%d]" % i for i in range(len(stack.frames))]


def test_hottest():
    made = recording()
    by_id, _ = made.stacks()
    top = json.loads(stackmap("dump", "--json", "--top", 7, made.path + ".bin").stdout)
    assert [stack["ref_count"] for stack in top] == sorted((s.refs for s in by_id.values()), reverse=True)[:7]


def test_user_frames_are_places_in_files():
    """Mapping number and file offset agree with the frames of the same stack in `script`."""
    made = recording()
    by_id, _ = made.stacks()
    numbers = collections.defaultdict(set)
    for line, event in zip(made.ids(), made.events()):
        if not line.user:
            continue
        for binary, frame in zip(by_id[line.user].frames, user_frames(event), strict=True):
            assert binary >> 63 == 0 and binary & OFFSET_MASK == frame.address, (hex(binary), frame)
            numbers[frame.object].add(binary >> OFFSET_BITS)
    assert program("call_paths") in numbers and all(len(found) == 1 for found in numbers.values()), numbers


main(globals())
