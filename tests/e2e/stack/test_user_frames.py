#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""User frames are places in files: the same in every process and every run, with the names and the build id of the
file that was mapped, and of no other."""

import collections
import os
import re
import shutil

from harness.cases import Skip, main, needs, needs_command, never, one_of_several, program, run
from harness.recording import function, marker, names_of, record, user_frames

PATHS = program("call_paths")
CODE = program("machine_code")


def places(recording):
    """Stacks as (file offset, file), with their counts."""
    return collections.Counter(tuple((frame.address, frame.object) for frame in user_frames(event))
                               for event in recording.events())


def needs_random_layout():
    with open("/proc/sys/kernel/randomize_va_space", encoding="ascii") as file:
        if file.read().strip() == "0":
            raise Skip("address space layout is not random here")


def test_same_stacks_in_two_recordings():
    needs("bpf", "uprobes")
    needs_random_layout()
    first, second = (record("-e", "u:%s:leaf" % PATHS, "--", PATHS, 50, 2, output=name)
                     for name in ("first.data", "second.data"))
    assert places(first) == places(second) and len(places(first)) == 50
    assert {function(frame) for event in first.events() for frame in user_frames(event)} >= {"leaf", "zero", "one"}


def test_same_ids_in_two_processes():
    needs("bpf", "uprobes")
    needs_random_layout()
    recording = record("-e", "u:%s:leaf" % PATHS, "--", "sh", "-c", "%s 50 1; %s 50 1" % (PATHS, PATHS))
    recording.check()
    lines = recording.ids()
    ids = [[line.user for line in lines if line.tid == tid] for tid in dict.fromkeys(line.tid for line in lines)]
    assert len(ids) == 2 and ids[0] == ids[1] and len(set(ids[0])) == 50, ids


def build_ids(recording):
    """path -> build id, of what `export -f mappings` lists."""
    found = {}
    for line in recording.read("export", "-f", "mappings").splitlines():
        words = re.match(r"^\d+ ([0-9a-f]+) (.*)$", line)
        if words:
            found[words[2]] = words[1]
    return found


def build_id_of(path):
    needs_command("readelf", "--version")
    return re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", path).stdout)[1]


def test_build_ids():
    needs("bpf", "uprobes")
    found = build_ids(record("-e", "u:%s:leaf" % PATHS, "--", PATHS, 5, 1))
    assert found[PATHS] == build_id_of(PATHS), found


def test_exec_storm():
    """Hundreds of processes that are gone before anybody could look at them."""
    needs("bpf", "uprobes")
    shutil.copy(PATHS, "short")
    path = os.path.abspath("short")
    recording = record("-e", "u:%s:leaf" % path, "--", "sh", "-c",
                       "i=0; while [ $i -lt 300 ]; do ./short 1 1; i=$((i + 1)); done")
    assert recording.check()["produced"] == 300
    assert build_ids(recording)[path] == build_id_of(path)
    for event in recording.events():
        names = [function(frame) for frame in user_frames(event)]
        assert names[0] == "leaf" and names.count("zero") == 14 and event.comm == "short", event


def symbols_of(path):
    """The names of the file's symbols, and NAME@plt for each imported function."""
    names = {line.split()[-1] for line in run("nm", path).stdout.splitlines()}
    return names | {name.split("@")[0] + "@plt" for name in names if "@" in name}


def names_by_run(recording, path):
    """Of each process in turn: the names of its frames in this file."""
    names = collections.defaultdict(set)
    for event in recording.events():
        names[event.tid] |= {function(frame) for frame in user_frames(event) if frame.object == path}
    return [found for found in names.values() if found]


@one_of_several
def test_program_replaced():
    """Two programs of one name, one after the other: each frame has the name of its own program or none."""
    needs("bpf", "raw tracepoints", "tracefs")
    needs_command("nm", "--version")
    shutil.copy(PATHS, "program")
    shutil.copy(CODE, "other")
    recording = record("-F", 4999, "--", "sh", "-c",
                       "./program 10000 200; mv other program; ./program jit 200000000")
    recording.check()
    runs = names_by_run(recording, os.path.abspath("program"))
    assert len(runs) == 2 and all(runs), runs
    for names, program_file in zip(runs, (PATHS, CODE)):
        named = names - {"program"}  # without a name a frame is FILE+0xOFFSET
        never(named - symbols_of(program_file), named - symbols_of(program_file))
    assert {"counted", "run_code"} <= runs[1], runs[1]


RUN_FROM_MEMORY = """import os, sys
file = os.memfd_create("program")
os.write(file, open(sys.argv[1], "rb").read())
os.execv("/proc/self/fd/%d" % file, sys.argv[1:])"""


@one_of_several
def test_program_that_is_no_file():
    """A memfd has no path, but a name, and symbols as long as it is mapped."""
    needs("bpf", "perf events")
    recording = record("-F", 999, "--", "python3", "-c", RUN_FROM_MEMORY, CODE, "jit", 500000000)
    frames = {(function(frame), frame.object) for event in recording.events() for frame in user_frames(event)}
    assert ("run_code", "/memfd:program") in frames, frames


def test_code_without_tables():
    """The direct caller is on the stack: at rsp that is proven, further out it is a guess and marked."""
    needs("bpf", "raw tracepoints", "tracefs")
    for name in ("no_tables", "no_tables_omit"):
        recording = record("-e", "syscalls:sys_enter_getppid", "--", program(name))
        recording.check()
        seen = collections.Counter()
        for event in recording.events():
            names = names_of(event)
            if names[0] == "frameless":
                assert names[1:4] == ["call_frameless", "middle", "main"] and marker(event) is None, names
            elif names[0] == "pushing":
                assert names[1:4] == ["? call_pushing", "? middle", "? main"], names
                assert marker(event) == "guessed" and all(each.startswith("? ") for each in names[1:-1]), names
            seen[names[0]] += 1
        assert seen["frameless"] == seen["pushing"] == 50, seen
        assert "guessed" in recording.read("report")


def test_entries_of_code_without_tables():
    """At a function's entry the return address is where rsp points, whatever rbp is."""
    needs("bpf", "uprobes")
    for name in ("no_tables", "no_tables_omit"):
        recording = record("-e", "u:%s:frameless" % program(name), "-e", "u:%s:pushing" % program(name), "--", program(name))
        recording.check()
        for event in recording.events():
            names = names_of(event)
            assert names[1:4] == ["call_" + names[0], "middle", "main"] and marker(event) is None, names


def test_a_caller_found_by_a_register_that_calls_may_change():
    """rax counts where the return address that rax leads to proves it; the stack ends there otherwise."""
    needs("bpf", "uprobes")
    path = program("rax_frame")
    recording = record("-e", "u:%s:kept" % path, "-e", "u:%s:changed" % path, "--", path)
    assert recording.check()["produced"] == 100
    for event in recording.events():
        names = names_of(event)
        if names[0] == "kept":
            assert names[1:4] == ["by_rax", "middle", "main"] and marker(event) is None, names
        else:
            assert names[:3] == ["changed", "changing", "by_rax"] and marker(event) == "unknown_register", names
            assert "middle" not in names, names


def test_generated_code():
    """Generated code has its address and no name."""
    needs("bpf", "uprobes")
    recording = record("--user-unwind", "fp", "-e", "u:%s:leaf" % CODE, "--",
                       "sh", "-c", "%s jit 5 >address" % CODE)
    assert recording.check()["produced"] == 5
    with open("address", encoding="ascii") as file:
        address = int(file.read(), 16)
    for event in recording.events():
        frames = user_frames(event)
        generated = [frame for frame in frames if frame.object == "[anon]"]
        assert [(frame.address, frame.name) for frame in generated] == [(address, hex(address))], frames
        names = [function(frame) for frame in frames]
        assert names[0] == "leaf" and names.index(hex(address)) < names.index("run_code") < names.index("main"), names


def test_generated_code_of_two_processes():
    """The same address in two processes is two places. The first stack of a process may end at its generated code: the
    recorder finishes it, if it comes while the process is there; it is known from then on."""
    needs("bpf", "uprobes")
    needs_command("setarch", "-R", "true")
    recording = record("-e", "u:%s:leaf" % CODE, "--", "setarch", "-R", "sh", "-c",
                       "%s jit 5 >first; %s jit 5 >second" % (CODE, CODE))
    recording.check()
    with open("first", encoding="ascii") as first, open("second", encoding="ascii") as second:
        if first.read() != second.read():
            raise Skip("two processes have different addresses here")
    tasks = collections.defaultdict(list)
    for line, event in zip(recording.ids(), recording.events()):
        tasks[line.tid].append((line.user, function(event.frames[-1])))
    first, second = (set(seen) for seen in tasks.values())
    assert not {user for user, _ in first} & {user for user, _ in second}, tasks
    for seen in tasks.values():
        assert len(seen) == 5 and len(set(seen[1:])) == 1 and seen[1][1] == "_start", tasks


@one_of_several
def test_vdso():
    needs("bpf", "perf events")
    recording = record("-F", 4999, "--", CODE, "vdso", 20000000)
    recording.check()
    inside = [user_frames(event)[0] for event in recording.events()
              if user_frames(event) and user_frames(event)[0].object == "[vdso]"]
    if not inside and not any(function(frame) == "ask_time" for event in recording.events()
                              for frame in user_frames(event)):
        raise Skip("the clock is read by system calls here")
    assert inside and any("clock_gettime" in frame.name for frame in inside), set(inside)


main(globals())
