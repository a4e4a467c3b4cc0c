#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The same workload recorded by perf at the same time: the same stacks, frame by frame, as often."""

import collections
import itertools

from harness.cases import Skip, main, needs, needs_command, run
from harness.recording import function, kernel_frames, parse_events, record, user_frames

COMM = "sched-pipe"
PIPE = ["perf", "bench", "sched", "pipe", "-l", "10000"]


def record_with_peer(options, peer_options, workload):
    """Events of both, and how many of ours were lost: the peer is part of the command that is recorded, its workload
    is what they share."""
    recording = record("--user-unwind", "fp", *options, "--", "perf", "record", "-q", "-o", "peer.data", *peer_options, "--", *workload)
    lost = sum(recording.check()["lost"].values())
    peer = run("perf", "script", "-i", "peer.data", "-F", "comm,tid,time,event,ip,sym,symoff,dso")
    if "LOST" in run("perf", "report", "-i", "peer.data", "--stats", status=None).stdout:
        raise Skip("perf lost events, there is nothing to compare with")
    return recording.events(), list(map(without_tracepoint, parse_events(peer.stdout))), lost


def of_comm(events, comm):
    """Without the end of a task: the peer takes its events away from a task that exits, early in do_exit()."""
    return [event for event in events if event.comm == comm and "do_exit" not in map(function, event.frames)]


def kernel_stack(event):
    return tuple((frame.address, frame.name) for frame in kernel_frames(event))


def without_tracepoint(event):
    """The peer's stacks begin in the tracepoint's own function, ours where the code has the tracepoint."""
    if event.frames and event.frames[0].name.startswith("__traceiter_"):
        return event._replace(frames=event.frames[1:])
    return event


def user_stack(event):
    """Where in which file; the peer also shows what a program without frame pointers left in the register."""
    frames = []
    for frame in event.frames[len(kernel_frames(event)):]:
        if frame.object == "[unknown]":
            break
        frames.append((frame.address, frame.object))
    return tuple(frames)


def needs_peer():
    needs("bpf", "raw tracepoints", "tracefs", "perf events")
    needs_command("perf", "record", "-q", "-o", "/dev/null", "-e", "sched:sched_switch", "--", "true")
    needs_command("perf", "bench", "sched", "pipe", "-l", "10")


def by_task(stack, events):
    stacks = collections.defaultdict(list)
    for event in events:
        stacks[event.tid].append(stack(event))
    return stacks


def overlaps(ours, peers):
    """A task's events without what one of both may have alone, before the other began or after it ended: a task gets its
    name, and loses its events, at another moment for the one than for the other. One event at either end."""
    for first, last in itertools.product((-1, 0, 1), repeat=2):
        yield (collections.Counter(ours[max(first, 0):len(ours) - max(last, 0)]),
               collections.Counter(peers[max(-first, 0):len(peers) - max(-last, 0)]))


def missing(ours, peers):
    """How many of the peer's events of a task we have not; None: we have others."""
    found = [(theirs - mine).total() for mine, theirs in overlaps(ours, peers) if not mine - theirs]
    return min(found, default=None)


def check_same(stack, ours, peers, lost):
    ours, peers = by_task(stack, ours), by_task(stack, peers)
    absent = 0
    for tid in ours.keys() | peers.keys():
        mine, theirs = (collections.Counter(stacks[tid]) for stacks in (ours, peers))
        found = missing(ours[tid], peers[tid])
        ends = [(stacks[tid][:1], stacks[tid][-1:]) for stacks in (ours, peers)]
        assert found is not None, (tid, mine - theirs, theirs - mine, ends)
        absent += found
        assert absent <= lost, (tid, mine - theirs, theirs - mine, ends, lost)


def test_switches():
    needs_peer()
    ours, peers, lost = record_with_peer(["-e", "sched:sched_switch"], ["-g", "-e", "sched:sched_switch"], PIPE)
    ours, peers = of_comm(ours, COMM), of_comm(peers, COMM)
    check_same(kernel_stack, ours, peers, lost)
    check_same(user_stack, ours, peers, lost)
    assert len(ours) > 10000 and sum(bool(user_stack(event)) for event in ours) > 10000


def test_allocations():
    needs_peer()
    workload = ["tar", "cf", "/dev/null", "/usr/include/linux"]
    event = "kmem:kmem_cache_alloc"
    ours, peers, lost = record_with_peer(["-e", event], ["-g", "-e", event], workload)
    check_same(kernel_stack, of_comm(ours, "tar"), of_comm(peers, "tar"), lost)


def hottest(events):
    """The hottest kernel stack, by function."""
    stacks = collections.Counter(tuple(map(function, kernel_frames(event))) for event in events if kernel_frames(event))
    return stacks.most_common(1)[0][0]


def test_samples():
    """Two samplers hit different instructions; the hottest stack is that of both."""
    needs_peer()
    workload = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "count=20000", "status=none"]
    ours, peers, _ = record_with_peer(["-F", 999, "-e", "cpu-clock"], ["-g", "-F", "999", "-e", "cpu-clock"], workload)
    ours, peers = of_comm(ours, "dd"), of_comm(peers, "dd")
    assert hottest(ours) == hottest(peers), (hottest(ours), hottest(peers))
    users = [{function(frame) for event in events for frame in user_frames(event)} for events in (ours, peers)]
    assert users[0] & users[1], users


main(globals())
