#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Unwind tables of whole files: a recording has them made, and a started instance those of what runs, and from then on
code that was never met is unwound at the event.
Runs in a mount namespace with a BPF file system of its own: an instance that nobody reads keeps the engine there, and
counts."""

import json
import os
import re
import shutil
import subprocess
import sys

from harness.cases import SECONDS_MAX, Skip, main, needs, needs_command, never, one_of_several, program, run, stackmap
from harness.engine_folder import FOLDER, enter_own_mounts, fresh_bpffs
from harness.instance import stat_of
from harness.known_stack import KNOWN, PATH_INSIDE
from harness.recording import Recording, check_whole_later, marker, names_of, record
from harness.waiting import readers, unread, wait_until

PYTHON = program(os.path.realpath(sys.executable), "own_python")
CODE = program("machine_code")
NOBODY = "nobody"  # an instance that samples what a test counts would meet its code first
WORK = "import json; print(sum(len(json.dumps(list(range(1000)))) for i in range(4000)))"
TABLES = os.path.join(FOLDER, "file_tables")


def count_of(command):
    """An engine that lasts, with an instance that counts the samples of one command."""
    needs("bpf", "perf events", "BPF task work")
    fresh_bpffs()
    stackmap("start", "counting", "-F", 999, "--comm", os.path.basename(command))


def walks():
    stat = stat_of("counting")
    deferred = {name: int(value) for name, value in stat.items() if name.startswith("user_deferred_")}
    assert "user_deferred_no_rule" in deferred, stat
    return int(stat["user_walked"]), sum(deferred.values()), int(stat["user_table_frames"])


def python(*before):
    run(*before, PYTHON, "-c", WORK, env={**os.environ, "PYTHONHOME": sys.base_prefix})


def walks_of(work):
    before = walks()
    work()
    return [now - then for now, then in zip(walks(), before)]


def check_few_deferred(walked, deferred, by_table):
    """Without tables it is about half of them. The step cache answers for most frames, so few of them need a table."""
    if walked + deferred < 100:
        raise Skip("no more than %d samples here" % (walked + deferred))
    assert by_table > 0 and deferred * 10 < walked, (walked, deferred, by_table)


def test_a_short_run_defers_few_of_its_samples():
    """Of a program that a recording has met."""
    count_of(PYTHON)
    record("-F", 999, "--", "sh", "-c", 'PYTHONHOME=%s exec %s -c "$1"' % (sys.base_prefix, PYTHON), "sh", WORK)
    check_few_deferred(*walks_of(python))
    stackmap("stop", "counting")


@one_of_several
def test_what_runs_at_the_start_has_tables():
    """Nobody reads the instance, and yet its walks find a program that it has never met."""
    needs("bpf", "perf events", "BPF task work")
    fresh_bpffs()
    command = [PYTHON, "-c", "input()\n" + WORK]
    with subprocess.Popen(command, stdin=subprocess.PIPE, env={**os.environ, "PYTHONHOME": sys.base_prefix}) as process:
        wait_until(lambda: not unread(process.stdin) and readers(process.pid))
        stackmap("start", "counting", "-F", 999, "-p", process.pid)
        process.communicate(b"\n", timeout=SECONDS_MAX)
    check_few_deferred(*walks())
    stackmap("stop", "counting")


def check_inside(recording):
    stacks = [names_of(event) for event in recording.events() if event.comm == os.path.basename(KNOWN) and not marker(event)]
    inside = [names for names in stacks if "spin" in names]
    path = ["spin", *PATH_INSIDE, "main"]
    wrong = [names for names in inside if path != names[names.index("spin"):][:len(path)]]
    never(wrong, wrong[:3])
    assert len(inside) > len(stacks) * 0.95, (len(inside), len(stacks))


def unmet_by_tables():
    """A recording in an engine that has met nothing: its command's own code has tables before it runs."""
    fresh_bpffs()
    return check_unmet()


def test_a_commands_files_have_tables_before_it_runs():
    """On a busy machine the programs may be loaded sooner."""
    needs("raw tracepoints", "BPF task work")
    assert any(unmet_by_tables() for _ in range(5))


@one_of_several
def test_stacks_by_tables_are_the_same():
    count_of(KNOWN)
    check_inside(record("-F", 999, "--", KNOWN, "spin"))
    recording = record("-F", 999, "--", KNOWN, "spin")
    check_inside(recording)
    check_whole_later(recording, 50, 200)
    stackmap("stop", "counting")


def check_unmet():
    """The file was met in another function: how many frames are by its table."""
    done = stackmap("record", "-v", "-e", "syscalls:sys_enter_getrandom", "-o", "f.data", "--", KNOWN, "faults", 10)
    inside = [names for names in map(names_of, Recording("f.data").events()) if "meet_faults" in names]
    assert [names[:5] for names in inside] == [["meet_faults", *PATH_INSIDE, "main"]], inside
    return int(re.search(r"user_table_frames: (\d+)", done.stderr)[1])


def meet_known():
    """Twice: on a busy machine the first recording may end before the table is made."""
    for _ in range(2):
        check_inside(record("-F", 999, "--", KNOWN, "spin"))


@one_of_several
def test_code_that_nobody_met_is_found_by_the_table():
    needs("raw tracepoints")
    count_of(NOBODY)
    meet_known()
    assert check_unmet()
    stackmap("stop", "counting")


def walks_through(kind, calls):
    """Of stacks through a function in a file without tables, by nobody but the kernel: a reader knows what the file has."""
    needs("bpf", "uprobes", "BPF task work")
    fresh_bpffs()
    stackmap("start", "counting", "-e", "u:%s:counted" % CODE)
    run(CODE, kind, calls)
    walked, deferred, _ = walks()
    stackmap("stop", "counting")
    assert walked + deferred == calls, (walked, deferred)
    return walked


def check_code(kind):
    """It is of a file, but lies where no header says what its tables are: its bytes are read, as those of generated code."""
    assert walks_through(kind, 1000) > 990
    events = record("-e", "u:%s:counted" % CODE, "--", CODE, kind, 100).events()
    frames = {(names_of(event)[0], os.path.basename(event.frames[1].object), names_of(event)[2]) for event in events}
    assert len(events) == 100 and frames == {("counted", "code", "run_code")}, (len(events), frames)


def test_code_apart_from_tables_is_read():
    check_code("file")


def test_code_that_may_be_written_is_read():
    """What is read serves this stack alone."""
    check_code("file_written")


def fill(age):
    run(program("fill_tables"), TABLES, age)


@one_of_several
def test_a_full_map_takes_new_tables():
    """Those that nobody has used for long go."""
    needs("raw tracepoints")
    count_of(NOBODY)
    fill(1000)
    meet_known()
    assert check_unmet()
    stackmap("stop", "counting")


@one_of_several
def test_tables_in_use_stay():
    """Then new files have none: their stacks are deferred, and are the same."""
    needs("raw tracepoints")
    count_of(NOBODY)
    fill(0)
    check_inside(record("-F", 999, "--", KNOWN, "spin"))
    assert not check_unmet()
    stackmap("stop", "counting")


@one_of_several
def test_a_table_is_made_once():
    """Its chunks are those of each file that was met, and stay as they are."""
    needs_command("bpftool", "version")
    count_of(KNOWN)
    record("-F", 999, "--", KNOWN, "spin")
    first = dump()
    assert len({key >> 32 for key in first}) > 1 and all(key >> 32 << 32 in first for key in first), sorted(first)
    record("-F", 999, "--", KNOWN, "spin")
    second = dump()
    assert {key: second[key] for key in first} == first
    stackmap("stop", "counting")


def stacks_of_debug_frame(path):
    """All stacks below by_hand(), each whole and right, or marked: how many are marked. A shell runs the program: the files of the
    recording's own command have their tables before it runs."""
    recording = record("-e", "syscalls:sys_enter_getppid", "--", "sh", "-c", path + "; true")
    events = [event for event in recording.events() if names_of(event)[0] == "ask"]
    marks = [marker(event) for event in events]
    wrong = [names_of(event) for event, mark in zip(events, marks) if not mark and names_of(event)[:4] != ["ask", "by_hand", "middle", "main"]]
    never(len(events) != 50 or wrong, (len(events), wrong[:3]))
    return len(marks) - marks.count(None)


def debug_frame_edited(name, *options):
    needs_command("objcopy", "--version")
    run("objcopy", *options, program("debug_frame"), name)
    return os.path.abspath(name)


def sections_of(path):
    needs_command("readelf", "--version")
    return re.findall(r"\] (\.\S+) +\S+ +\S+ \S+ \S+ \S+ +([A-Z]*)", run("readelf", "-SW", path).stdout)


@one_of_several
def test_a_section_for_debuggers_is_a_table():
    """Only .debug_frame covers a function of the program, as it is and compressed. The program runs for less time than its table
    takes: its stacks wait for the table."""
    needs("raw tracepoints", "tracefs")
    paths = [shutil.copy(program("debug_frame"), "plain")]
    for way in ("zlib", "zstd"):
        path = debug_frame_edited(way, "--compress-debug-sections=" + way)
        if (".debug_frame", "C") in sections_of(path):
            paths.append(path)
    count_of(NOBODY)
    for path in paths:
        assert stacks_of_debug_frame(os.path.abspath(path)) == 0, path
    stackmap("stop", "counting")


def test_a_stack_without_that_section_is_marked():
    needs("raw tracepoints", "tracefs")
    path = debug_frame_edited("removed", "--remove-section=.debug_frame")
    assert ".debug_frame" not in dict(sections_of(path)), sections_of(path)
    count_of(NOBODY)
    for _ in range(3):
        assert stacks_of_debug_frame(path) == 50
    stackmap("stop", "counting")


def dump():
    """key -> content, without the time of the last use."""
    entries = json.loads(run("bpftool", "-j", "map", "dump", "pinned", TABLES).stdout)
    return {int("".join(byte[2:] for byte in reversed(entry["key"])), 16): "".join(entry["value"][:16] + entry["value"][20:])
            for entry in entries}


if __name__ == "__main__":
    enter_own_mounts()
    main(globals())
