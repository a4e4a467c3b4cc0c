#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Recordings of all tasks of the machine: every event is accounted for, and has its user stack, or the reason why not, or
there is none to be had."""

import collections
import os
import platform

from harness.cases import main, needs, one_of_several, program
from harness.known_stack import KNOWN
from harness.recorder import sources
from harness.recording import kernel_frames, marker, names_of, record, user_account
from harness.roots import check_roots
from harness.waiting import read_text

# arm64 has no tracepoint for page faults, but the software event.
FAULTS = "exceptions:*" if platform.machine() == "x86_64" else "page-faults"


def test_chosen_tracepoints():
    needs("bpf", "raw tracepoints", "tracefs")
    workload = "dd if=/dev/zero bs=64k count=300 status=none | tar cf - /usr/include/linux | cat >/dev/null; "\
        "echo $PPID >recorder"
    recording = record("-a", "-e", "sched:sched_switch", "-e", "kmem:kmem_cache_alloc", "--", "sh", "-c", workload)
    recording.check()
    events = recording.events()
    assert {event.name for event in events} == {"sched:sched_switch", "kmem:kmem_cache_alloc"}
    assert {"dd", "tar", "cat"} <= {event.comm for event in events}
    switches = [event for event in events if event.name == "sched:sched_switch"]
    assert all(kernel_frames(event)[0].name.startswith("__schedule+") for event in switches)
    with open("recorder", encoding="ascii") as file:
        assert int(file.read()) not in {event.tid for event in events}, "the recorder recorded itself"


def test_overflow_of_many_sources():
    needs("bpf", "uprobes", "raw tracepoints", "tracefs", "perf events")
    workload = program("known_counts")
    recording = record("-a", "--ring", "8K", "-F", 5000, "-e", "cpu-clock", "-e", "sched:*", "-e", "page-faults",
                       "-e", "u:%s:counted" % workload, "--no-dedup", "--",
                       "sh", "-c", "%s calls=50000 faults=5000 & perf bench sched pipe -l 5000; wait" % workload)
    ledger = recording.check()
    assert ledger["counted_only"] + ledger["lost"]["ring_full"] > 0, ledger


WORKLOAD = """
for i in 1 2 3 4 5; do ls -lR /etc >/dev/null 2>&1; /bin/true; sh -c 'echo $(id) >/dev/null'; done &
python3 -c 'import json; [json.dumps(list(range(1000))) for _ in range(300)]' &
%s thread_spin 4 & kill -9 $!
%s exec /bin/true & %s threads 8 </dev/null &
dd if=/dev/zero of=file count=2000 conv=fsync status=none &
wait
""" % (KNOWN, KNOWN, KNOWN)


@one_of_several
def test_every_event():
    """Each has its whole stack, or a marker of the reason, or there was none to be had; and each is in the ledger."""
    needs("bpf", "raw tracepoints", "perf events", "tracefs")
    recording = record("-a", "-F", 999, "-e", "cpu-clock", "-e", "sched:*", "-e", "syscalls:sys_enter_*", "-e",
                       FAULTS, "-e", "kmem:mm_page_alloc", "--ring", "8M", "--", "sh", "-c", WORKLOAD)
    complete, rest = user_account(recording)
    events = recording.events()
    assert sum(not names_of(event) for event in events) == rest.pop("refused", 0) + rest.pop("interrupt", 0), rest
    markers = collections.Counter(filter(None, map(marker, events)))
    assert markers == {"truncated" if name == "depth" else name: count for name, count in rest.items()}, (markers, rest)
    assert complete and not rest.get("unanswered") and not rest.get("answer_lost"), (complete, rest)
    own = [event for event in events if event.comm in ("ls", "dd", "sh", "id", "true", "known_stack")]
    check_roots(own)
    own = [marker(event) for event in own]
    assert len(own) > 10000 and sum(map(bool, own)) < len(own) / 100, collections.Counter(own)


def kernel_threads():
    """PF_KTHREAD in /proc/PID/stat."""
    flags = {int(pid): read_text("/proc/%s/stat" % pid).rpartition(")")[2].split()
             for pid in os.listdir("/proc") if pid.isdigit()}
    return {pid for pid, words in flags.items() if words and int(words[6]) & 0x200000}


def test_kernel_threads():
    """They have no user stack: refused, counted."""
    needs("bpf", "raw tracepoints", "tracefs")
    recording = record("-a", *sources("sched:sched_switch"), "--", "dd", "if=/dev/zero", "of=f", "count=1000", "conv=fsync")
    account = user_account(recording)[1]
    events = recording.events()
    missing = [event for event in events if not names_of(event)]
    assert account["refused"] == len(missing), account
    threads = kernel_threads()
    of_kernel_threads = [event for event in events if event.tid in threads]
    assert of_kernel_threads and not any(names_of(event) for event in of_kernel_threads)


if __name__ == "__main__":
    main(globals())
