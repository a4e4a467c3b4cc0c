#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Names that runtimes give to the code they generate: of processes that live, that have ended, and whose mounts have
gone with them. machine_code is such a runtime."""

import contextlib
import glob
import os
import subprocess

from harness.cases import PROGRAMS, main, needs, needs_command, never, one_of_several, program
from harness.machine_code import UNTIL_IT_RAN, check_generated_name
from harness.recording import function, names_of, record
from harness.waiting import wait_until

CODE = program("machine_code")
CALLS = 200000000  # long enough for the recorder to come round, which is every 100 ms at least


def check_both_places(recording):
    """It was moved half-way, and has its name in both."""
    check_generated_name(recording)
    places = {frame.address >> 12 for event in recording.events() for frame in event.frames if function(frame) == "generated code"}
    assert len(places) == 2, places
    stacks = [names_of(event) for event in recording.events() if event.comm == "machine_code"]
    callers = {names[names.index("counted") + 1] for names in stacks if "counted" in names[:-1]}
    assert callers == {"generated code"}, callers


@one_of_several
def test_jitdump_of_a_command():
    needs("bpf", "perf events")
    recording = record("-F", 999, "--", CODE, "jit_dump", CALLS)
    check_both_places(recording)
    assert "without names" not in recording.messages, recording.messages


@one_of_several
def test_jitdump_that_was_removed():
    """Its writer ends long before the recording does."""
    needs("bpf", "perf events")
    check_both_places(record("-F", 999, "--", "sh", "-c", "%s jit_dump %d; rm jit-*.dump; exec true" % (CODE, CALLS)))


@one_of_several
def test_code_that_is_mapped_shared():
    """As .NET and libffi have it: its place in the file says nothing, its address does."""
    needs("bpf", "perf events")
    check_generated_name(record("-F", 999, "--", CODE, "jit_shared", CALLS))


@contextlib.contextmanager
def running():
    """A process whose dump is there."""
    with subprocess.Popen([CODE, "jit_dump", "1000000000000"]) as process:
        try:
            wait_until(lambda: process.poll() is not None or b"generated" in b"".join(map(read_bytes, glob.glob("jit-*.dump"))))
            yield process.pid
        finally:
            process.kill()


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def record_process(pid):
    return record("-F", 999, "-p", pid, "--", "sh", "-c", UNTIL_IT_RAN, "sh", pid)


@one_of_several
def test_jitdump_of_a_running_process():
    needs("bpf", "perf events")
    with running() as pid:
        check_generated_name(record_process(pid))


@one_of_several
def test_jitdump_that_cannot_be_read():
    """In the byte order of another machine."""
    needs("bpf", "perf events")
    with running() as pid:
        with open("jit-%d.dump" % pid, "r+b") as file:
            magic = file.read(4)
            file.seek(0)
            file.write(magic[::-1])
        recording = record_process(pid)
    names = {name for event in recording.events() for name in names_of(event)}
    never("generated code" in names, names)
    assert "counted" in names, names
    assert "1 files without names" in recording.messages, recording.messages


def record_in_a_container(script, **options):
    """With mounts and ids of its own, which end with it."""
    needs("bpf", "perf events")
    needs_command("unshare", "-mpf", "true")
    return record("-F", 999, "--", "unshare", "-mpf", "sh", "-c", "mount -t tmpfs none " + script + "; exit", **options)


@one_of_several
def test_perf_map_of_a_container_that_has_ended():
    check_generated_name(record_in_a_container("/tmp && ./machine_code jit_map %d" % CALLS, cwd=PROGRAMS, output=os.path.abspath("f.data")))


@one_of_several
def test_jitdump_of_a_container_that_has_ended():
    check_both_places(record_in_a_container(". && cd $PWD && %s jit_dump %d" % (CODE, CALLS)))


if __name__ == "__main__":
    main(globals())
