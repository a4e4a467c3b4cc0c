#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A tool of its own on stackmap's engine (examples/write_stacks): its stacks, and that tools and recordings that request a
stack at the same time get it from one unwind. Runs in a mount namespace with an engine of its own."""

import contextlib
import fcntl
import json
import os
import re
import subprocess
import time

from harness.cases import SECONDS_MAX, STACKMAP, main, needs, needs_command, program, run
from harness.engine_folder import FOLDER, HOME, enter_own_mounts, fresh_bpffs
from harness.recording import Recording, function, user_frames
from harness.waiting import WRITE

WORKLOAD = program("write_paths")
WRITE_STACKS = os.path.join(os.path.dirname(STACKMAP), "..", "examples", "write_stacks")
TRUTH = {("emit", "rare", "main"): 3, ("emit", "frequent", "main"): 5}
CALLS = sum(TRUTH.values())


def start(*command):
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def end(process, output):
    """Ends the input, so that the workload starts; returns its standard error."""
    written, messages = process.communicate(timeout=SECONDS_MAX)
    assert written == output and process.returncode == 0, messages
    return messages.decode()


class Blocked:
    """A workload whose first write() does not end: the pipe is full."""

    def __init__(self):
        self.reader, writer = os.pipe()
        self.full = fcntl.fcntl(writer, fcntl.F_GETPIPE_SZ)
        os.write(writer, bytes(self.full))
        self.process = subprocess.Popen([WORKLOAD], stdin=subprocess.PIPE, stdout=writer)
        os.close(writer)

    def write(self):
        """Sends the workload into write(), where it goes to sleep, and waits for that."""
        self.process.stdin.close()
        while not self.is_in_write():
            time.sleep(0.001)

    def is_in_write(self):
        with open("/proc/%d/syscall" % self.process.pid, encoding="ascii") as file:
            return file.read().startswith(WRITE + " ")

    def read(self):
        """Lets it go on to its end."""
        while os.read(self.reader, self.full):
            pass
        assert self.process.wait(SECONDS_MAX) == 0


def recorded_child(recorder):
    """The command that a recorder runs, once it is that."""
    children = "/proc/%d/task/%d/children" % (recorder.pid, recorder.pid)
    while recorder.poll() is None:
        with open(children, encoding="ascii") as file:
            for pid in file.read().split():
                with contextlib.suppress(FileNotFoundError):  # the linker that was asked for the command ends
                    if os.readlink("/proc/%s/exe" % pid) == WORKLOAD:
                        return int(pid)
        time.sleep(0.001)
    raise AssertionError(recorder.stderr.read())


class Tool:
    def __init__(self, pid):
        needs("bpf", "BPF task work")
        self.process = start(WRITE_STACKS, str(pid))
        assert self.process.stdout.readline() == b"ready\n", self.process.stderr.read()

    def end(self, calls=CALLS):
        """Its stacks, as lists of PATH+0xOFFSET, with their counts."""
        output, messages = self.process.communicate(timeout=SECONDS_MAX)
        assert self.process.returncode == 0, messages
        *stacks, account = re.split(r"^(?=\d+ calls, )", output.decode(), flags=re.M)[1:]
        assert account == "%d calls, 0 without a stack\n" % calls, output
        return [(int(stack.split()[0]), re.findall(r"^    (\S+)\+(0x[0-9a-f]+)$", stack, re.M)) for stack in stacks]


def names_in_workload(frames):
    """The functions of the frames that lie in it, innermost first."""
    offsets = ["%#x" % (int(offset, 16) - 1) for file, offset in frames if file == WORKLOAD]
    return run("addr2line", "-f", "-e", WORKLOAD, *offsets).stdout.splitlines()[::2]


def check_counts(stacks):
    assert {tuple(names_in_workload(frames)[:3]): count for count, frames in stacks} == TRUTH, stacks
    assert all("libc" in frames[0][0] for _, frames in stacks), stacks  # write() itself
    assert all(names_in_workload(frames)[-1] == "_start" for _, frames in stacks), stacks


def unwinds():
    """The number of stacks that the engine has unwound in callbacks, which is the number of claimed unwinders."""
    dump = run("bpftool", "-j", "map", "dump", "pinned", os.path.join(FOLDER, "engine_state")).stdout
    return json.loads(dump)[0]["formatted"]["value"]["unwinder_next"]


def test_stacks_are_counted_by_id():
    needs_command("addr2line", "--version")
    fresh_bpffs()
    workload = start(WORKLOAD)
    tool = Tool(workload.pid)
    end(workload, b"x" * CALLS)
    check_counts(tool.end())
    assert not os.path.exists(HOME), "the last one leaves nothing"


def test_who_ends_drops_only_its_own_requests():
    needs_command("addr2line", "--version")
    fresh_bpffs()
    workload = Blocked()
    first, second, killed = [Tool(workload.process.pid) for _ in range(3)]
    workload.write()
    assert first.end(calls=1) == [], "it was asked for, nobody has answered yet"
    killed.process.kill()
    killed.process.communicate(timeout=SECONDS_MAX)
    workload.read()
    check_counts(second.end())
    assert not os.path.exists(HOME), "the last one leaves nothing"


def test_a_task_that_is_killed_is_answered():
    needs_command("addr2line", "--version")
    fresh_bpffs()
    workload = Blocked()
    tool = Tool(workload.process.pid)
    workload.write()
    workload.process.kill()
    workload.process.wait(SECONDS_MAX)
    (count, frames), = tool.end(calls=1)
    assert count == 1 and names_in_workload(frames)[:3] == ["emit", "rare", "main"], frames


def test_tools_and_a_recording_share_each_unwind():
    needs_command("addr2line", "--version")
    needs_command("bpftool", "version")
    fresh_bpffs()
    recorder = start(STACKMAP, "record", "-o", "f.data", "-e", "syscalls:sys_enter_write", "--", WORKLOAD)
    pid = recorded_child(recorder)
    tools = [Tool(pid), Tool(pid)]
    messages = end(recorder, b"x" * CALLS)
    assert unwinds() == CALLS, unwinds()
    for tool in tools:
        check_counts(tool.end())
    recording = Recording("f.data", messages)
    recording.check()
    names = [tuple(map(function, user_frames(event)))[1:4] for event in recording.events()]
    assert {path: names.count(path) for path in set(names)} == TRUTH, names


if __name__ == "__main__":
    enter_own_mounts()
    main(globals())
