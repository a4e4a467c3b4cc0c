# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The programs mapping_swap, in which code is replaced by other code at the same address."""

import collections
import functools
import itertools
import os

from harness.cases import needs, program, stackmap
from harness.recording import function, is_kernel, marker, record, user_frames

TURNS = ("first", "second")
ROUNDS = 2000
PROBED = "leaf"
CALLED = "syscalls:sys_enter_getppid"  # in leaf()
TOLD_MIN = 0.999  # one of 4,000 was seen once, and none of 32,000 later


@functools.lru_cache(maxsize=None)
def can_unwind():
    return "--user-unwind" in stackmap("record", "--help").stdout


def builds():
    """How the workloads were built, and how they are unwound then."""
    yield "plain", (["--user-unwind", "fp"] if can_unwind() else [])
    if can_unwind():
        yield "optimised", ["--user-unwind", "auto"]


def library(turn, build):
    return program("lib%s_%s.so" % (turn, build))


def turn_of(names):
    """Which turn the names of a stack speak of; they must agree."""
    turns = {turn for turn in TURNS for name in names if name.endswith("_" + turn)}
    assert len(turns) <= 1, names
    return turns.pop() if turns else None


def names_of(frames):
    return [function(frame) for frame in frames]


def is_probe(event):
    return event.name == CALLED or event.name.endswith(":" + PROBED)


def check_probed(event, inner):
    """An event of leaf(): the whole chain of its callers is known. Returns where the swapped code was."""
    frames = user_frames(event)
    turn = turn_of(names_of(frames))
    expected = [name % {"turn": turn} for name in inner]
    assert names_of(frames)[:len(expected)] == expected, frames
    assert "main" in names_of(frames), frames
    swapped = frames[[name.startswith("through_") for name in expected].index(True)]
    return turn, swapped


def is_untold(event):
    """True if the frame is unknown or the stack ends because another thread is changing the mappings: a thread that is
    preempted there stays there for milliseconds, and a walk cannot wait."""
    return marker(event) == "not_code" or any(frame.object == "[unknown]" for frame in event.frames)


def check_untold(event, inner):
    """Frames up to the unknown one are complete, and no frame behind it is wrong."""
    told = itertools.takewhile(lambda frame: frame.object not in ("[unknown]", "[user stack]"), event.frames)
    names = names_of(frame for frame in told if not is_kernel(frame))
    expected = [name % {"turn": turn_of(names)} for name in inner]
    assert names and names[:len(expected)] == expected[:len(names)], event
    check_sampled(event)


def check_sampled(event):
    """A sample at any instruction: no frame of one turn beside one of the other."""
    names = names_of(user_frames(event))
    files = [os.path.basename(frame.object) for frame in user_frames(event)]
    turn_of(names)
    for turn, other in (TURNS, TURNS[::-1]):
        if any(name.endswith("_" + turn) for name in names):
            assert not any(file.startswith(("lib" + other, "exec_" + other)) for file in files), event


def check(recording, rounds, inner, told_min=1):
    """Every event of a recording, and that the swap was one: the same place in both files. At least that share of the probed
    stacks is whole."""
    recording.check()
    places, events = collections.Counter(), recording.events()
    sampled = untold = 0
    for event in events:
        if is_probe(event) and told_min < 1 and is_untold(event):
            check_untold(event, inner)
            untold += 1
        elif is_probe(event):
            places[check_probed(event, inner)] += 1
        else:
            sampled += any("through_" in frame.name for frame in user_frames(event))
            check_sampled(event)
    assert len(places) == 2 and {turn for turn, _ in places} == set(TURNS) and max(places.values()) <= rounds, places
    assert places.total() + untold == 2 * rounds and places.total() >= told_min * 2 * rounds, (places, untold)
    assert len({frame.address for _, frame in places}) == 1, "the swapped code is not alike: %s" % places
    return sampled


def swap(way, rounds=ROUNDS, told_min=1):
    needs("bpf", "uprobes", "perf events", "raw tracepoints", "tracefs")
    for build, options in builds():
        target = program("mapping_swap_" + build)
        recording = record("-F", 4999, "-e", "cpu-clock", "-e", CALLED, "-e", "u:%s:%s" % (target, PROBED), *options, "--",
                           target, way, rounds, *[library(turn, build) for turn in TURNS])
        sampled = check(recording, rounds, [PROBED, "emit_%(turn)s", "through_%(turn)s", "call_%(turn)s"], told_min)
        assert sampled or rounds < ROUNDS, "no sample met the libraries"
        yield recording
