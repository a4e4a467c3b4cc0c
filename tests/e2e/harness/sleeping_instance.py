# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""An instance whose tasks sleep in the kernel, and its reader."""

import os
import signal
import subprocess

from harness.cases import SECONDS_MAX, STACKMAP, needs, one_of_several, stackmap
from harness.engine_folder import forget_tables, fresh_bpffs
from harness.known_stack import ENTER_READ, Target, check_sleepers, check_whole
from harness.recording import Recording, names_of, parse_events
from harness.waiting import readers, unread, wait_until

THREADS = 3


class Reader:
    """`record` of the instance, from when its file is there."""

    def __init__(self, output, *options, first=None):
        self.output = output
        self.process = subprocess.Popen([STACKMAP, "record", "--instance", "sleep", "-o", output, *options],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: os.path.exists(first or output) or self.process.poll() is not None)
        assert self.process.poll() is None, self.process.stderr.read()

    def wait(self):
        _, messages = self.process.communicate(timeout=SECONDS_MAX)
        assert self.process.returncode == 0, messages
        return messages

    def end(self):
        self.process.send_signal(signal.SIGINT)
        return Recording(self.output, self.wait())


def start(*options):
    """Starts an instance, and a process that is about to sleep and whose stack was never unwound before."""
    needs("BPF task work", "tracefs")
    fresh_bpffs()
    target = Target("threads", THREADS)
    stackmap("start", "sleep", "-e", ENTER_READ, "-p", target.pid, *options)
    forget_tables()
    return target


def fall_asleep(target):
    target.go_on()
    wait_until(lambda: not unread(target.process.stdin) and readers(target.pid) == THREADS)


def stop(target):
    stackmap("stop", "sleep")
    target.end()


def check_waiting(events, count):
    assert len(events) == count and {names_of(event)[0] for event in events} == {"wait_for_end"}, events
    for event in events:
        check_whole(event, "wait_for_end", "thread")


def snapshots(*options):
    """Repeated snapshots show the same events."""
    target = start(*options)
    fall_asleep(target)
    for _ in range(3):
        events = parse_events(stackmap("script", "--no-inline", "--instance", "sleep").stdout)
        check_waiting([event for event in events if event.comm == "known_stack"], THREADS)
    return target


@one_of_several
def a_snapshot():
    target = snapshots()
    check_sleepers(Reader("f.data").end(), THREADS)
    stop(target)
