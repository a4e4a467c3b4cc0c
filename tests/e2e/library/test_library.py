#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""libstackmap as other programs use it: the examples, built with what is installed alone, with the shared and with the
static library, on this kernel. CLANG and BPFTOOL name the two."""

import collections
import functools
import os
import signal
import subprocess
import tempfile

from harness.cases import SECONDS_MAX, STACKMAP, main, needs, one_of_several, program, run, stackmap
from harness.engine_folder import enter_own_mounts, fresh_bpffs
from harness.recording import Recording, names_of
from harness.skip import Skip

BUILD = os.path.dirname(os.path.dirname(STACKMAP))
SOURCE = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
SCRIPT = os.path.join(SOURCE, "tests", "house", "installed-examples.sh")
LIBRARIES = ("shared", "static")
BUILT = tempfile.TemporaryDirectory(prefix="stackmap-e2e-library-")
WRITES = {("emit", "rare", "main"): 3, ("emit", "frequent", "main"): 5}
CALLS = sum(WRITES.values())


@functools.lru_cache(maxsize=None)
def installed():
    """The folder with the examples of each library, and the environment that the shared one is found in."""
    if "CLANG" not in os.environ or "BPFTOOL" not in os.environ:
        raise Skip("CLANG and BPFTOOL are not named")
    run(SCRIPT, BUILD, SOURCE, os.environ["CLANG"], os.environ["BPFTOOL"], BUILT.name)
    library = run("find", BUILT.name, "-name", "libstackmap.so.0").stdout.strip()
    return BUILT.name, {**os.environ, "LD_LIBRARY_PATH": os.path.dirname(library)}


def start(library, name, *arguments):
    folder, environment = installed()
    if library == "static":
        environment = {key: value for key, value in environment.items() if key != "LD_LIBRARY_PATH"}
    return subprocess.Popen([os.path.join(folder, library, name), *map(str, arguments)], env=environment,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def end(process, status=0):
    output, messages = (text.decode() for text in process.communicate(timeout=SECONDS_MAX))
    assert process.returncode == status, messages
    return output.splitlines()


def await_ready(process):
    line = process.stdout.readline()
    assert line == b"ready\n", process.communicate(timeout=SECONDS_MAX)


class Workload:
    """Waits, and then writes eight times."""

    def __init__(self):
        self.process = subprocess.Popen([program("write_paths")], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.pid = self.process.pid

    def write(self):
        self.process.communicate(timeout=SECONDS_MAX)
        assert self.process.returncode == 0


def test_own_stacks_have_ids():
    for library in LIBRARIES:
        output = end(start(library, "own_stacks"))
        heads = [line.split(",")[0] for line in output if "calls" in line]
        assert heads == ["3 calls", "1 calls"], output
        assert len([line for line in output if line.startswith("    0x")]) >= 4, output


def recorded(library):
    workload = Workload()
    recorder = start(library, "record", workload.pid, library + ".data")
    await_ready(recorder)
    workload.write()
    recorder.send_signal(signal.SIGINT)
    account = end(recorder)
    recording = Recording(library + ".data")
    counts = recording.check()
    assert account == ["%(produced)d events, %(recorded)d recorded" % counts], (account, counts)
    return recording


@one_of_several
def test_a_program_records_to_a_file():
    """The command reads the file, names and ledger, as it reads its own."""
    needs("bpf", "raw tracepoints")
    for library in LIBRARIES:
        recording = recorded(library)
        writes = [tuple(names_of(event)[1:4]) for event in recording.events() if "write" in event.name]
        assert collections.Counter(writes) == WRITES, writes


def test_a_program_reads_a_recording():
    """As the command's own table of functions has it."""
    needs("bpf", "uprobes")
    counted = program("known_counts")
    stackmap("record", "-o", "f.data", "-e", "u:%s:counted" % counted, "--", counted, "calls=70")
    for library in LIBRARIES:
        assert end(start(library, "hot_functions", "f.data")) == ["70 counted"]
    with open("f.data", "r+b") as file:
        file.truncate(os.path.getsize("f.data") - 8)
    damaged = start("shared", "hot_functions", "f.data")
    assert damaged.communicate(timeout=SECONDS_MAX)[0] == b"70 counted\n"
    assert end(start("shared", "hot_functions", counted), status=1) == []


def stacks(lines):
    """The functions of each event that `follow` shows."""
    found = []
    for line in lines:
        if line.startswith("    "):
            found[-1].append(line.strip())
        elif " thread " in line:
            found.append([])
    return found


def check_writes(lines):
    """All writes of a workload, each once, in the order of time."""
    calls = [tuple(stack[stack.index("emit"):][:3]) for stack in stacks(lines)]
    assert collections.Counter(calls) == WRITES, lines
    times = [int(line.split()[0]) for line in lines if " thread " in line]
    assert times == sorted(times) and lines[-1] == "%d recorded" % CALLS, lines


@one_of_several
def test_a_program_follows_another_one_live():
    """The events of all windows: each once, in the order of time."""
    needs("bpf", "raw tracepoints")
    for library in LIBRARIES:
        workload = Workload()
        follower = start(library, "follow", workload.pid, "syscalls:sys_enter_write")
        await_ready(follower)
        workload.write()
        follower.send_signal(signal.SIGINT)
        check_writes(end(follower))


@one_of_several
def test_a_program_takes_the_events_of_an_instance():
    """The events end with the instance, and so does the program."""
    needs("bpf", "raw tracepoints")
    fresh_bpffs()
    for library in LIBRARIES:
        workload = Workload()
        stackmap("start", "live", "-q", "-p", workload.pid, "-e", "syscalls:sys_enter_write")
        follower = start(library, "follow", "live")
        await_ready(follower)
        workload.write()
        stackmap("stop", "live")
        check_writes(end(follower))


def test_bpf_programs_of_ones_own():
    needs("bpf", "BPF task work")
    for library in LIBRARIES:
        workload = Workload()
        counter = start(library, "write_stacks", workload.pid)
        await_ready(counter)
        workload.write()
        assert end(counter)[-1] == "%d calls, 0 without a stack" % CALLS


def test_what_is_not_there_is_said():
    needs("bpf", "raw tracepoints")
    for arguments, words in {("0", "no:such_event"): "no:such_event", ("2147483647", "cpu-clock"): "2147483647"}.items():
        follower = start("shared", "follow", *arguments)
        messages = follower.communicate(timeout=SECONDS_MAX)[1].decode()
        assert follower.returncode == 1 and words in messages, messages


if __name__ == "__main__":
    enter_own_mounts()
    main(globals())
