#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Programs whose files are not to be had when a recording ends: deleted, replaced, or in containers that are gone. Each
has the names of its own file, which was kept when its code was met, and never those of another one."""

import os
import shutil

from harness.cases import Skip, main, needs, needs_command, program, run
from harness.inlined_program import ASK_PARENT, hottest_names
from harness.recorder import Recorder
from harness.recording import function, one_with_names, record, user_frames
from harness.waiting import wait_until_reading

# Five events, then the program waits until its input is closed.
SOURCE = """
#include <unistd.h>
static inline __attribute__((always_inline)) void PREFIX(inner)(void)
{ """ + ASK_PARENT + """ }
__attribute__((noinline)) void PREFIX(outer)(void)
{ PREFIX(inner)();
  __asm__ volatile("nop"); }
int main(void)
{ char byte;
  for (int i = 0; i < 5; i++) PREFIX(outer)();
  return read(0, &byte, 1); }
"""

# The program runs before `meanwhile`. It ends when a child of the recorder, which is the parent of this shell, has opened the file:
# the children that read names or tables keep their files open.
UNTIL_KEPT = """
mkfifo go
{ %(start)s; } <go &
exec 3>go
until grep -qsx '%(comm)s' /proc/[0-9]*/comm; do sleep 0.01; done
%(meanwhile)s
tries=0
until ls -l $(sed 's:[0-9]*:/proc/&/fd:g' /proc/$PPID/task/$PPID/children) 2>/dev/null | grep -q '/%(name)s'; do
	tries=$((tries + 1))
	[ $tries -lt 3000 ] || exit 9
	sleep 0.01
done
exec 3>&-
wait $!
"""


def build(path, prefix, *linked):
    needs_command("gcc", "--version")
    with open("source.c", "w", encoding="ascii") as file:
        file.write(SOURCE)
    run("gcc", "-O2", "-g", *(linked or ["-static"]), "-Wl,--build-id", "-DPREFIX(name)=%s_##name" % prefix, "source.c", "-o", path)


def record_until_kept(name, start, meanwhile=":"):
    needs("bpf", "raw tracepoints")
    comm = name[:15]
    script = UNTIL_KEPT % {"name": name, "comm": comm, "start": start, "meanwhile": meanwhile}
    return record("-e", "syscalls:sys_enter_getppid", "--comm", comm, "--", "sh", "-c", script)


def expect_names(made, prefix):
    events = made.events()
    assert len(events) == 5, events
    for event in events:
        assert [function(frame) for frame in user_frames(event)][:2] == [prefix + "_outer", "main"], event


def test_a_deleted_program():
    build("deleted_program", "mine")
    made = record_until_kept("deleted_program", "./deleted_program", "rm deleted_program")
    expect_names(made, "mine")


def test_a_deleted_command_in_flight():
    """Nobody looks at the ring before the end: its file is found by the mappings of the process that the events are of,
    which are not those of the linker that had mapped it before."""
    def deleted():
        build("deleted_command", "mine", "-no-pie")
        recorder = Recorder("--flight", "1M", "-e", "syscalls:sys_enter_getppid", "--", "./deleted_command")
        wait_until_reading("deleted_command")
        os.unlink("deleted_command")
        return recorder.end()
    expect_names(one_with_names(deleted, lambda made: "mine_outer+0x" in made.script), "mine")


def test_a_program_deleted_afterwards():
    build("ended_program", "mine")
    made = record_until_kept("ended_program", "./ended_program; rm ended_program")
    assert not os.path.exists("ended_program")
    expect_names(made, "mine")


def test_a_program_replaced_by_another():
    build("replaced", "mine")
    build("other", "others")
    made = record_until_kept("replaced", "./replaced; mv other replaced")
    expect_names(made, "mine")
    assert hottest_names(made)[:2] == ["mine_outer", "main"]


def test_a_program_written_over():
    """The old content is gone: missing names are better than those of the new content."""
    build("written_over", "mine")
    build("other", "others")
    made = record_until_kept("written_over", "./written_over; cat other >written_over")
    for event in made.events():
        assert all(frame.name.startswith("written_over+0x") for frame in user_frames(event)), event
    assert all(name.startswith("written_over+0x") for name in hottest_names(made))


def record_contained(kind, path):
    """The program `path` below the folder `inside`, which is the root of its container."""
    inside = os.path.abspath("inside")
    done = run("unshare", "-m", "true", status=None)
    if done.returncode:
        raise Skip("no mount namespace here: " + done.stderr.strip())
    return record_until_kept(os.path.basename(path), "%s %s %s %s" % (program("contained"), kind, inside, path))


def contained(kind):
    os.mkdir("inside")
    build("inside/contained_code", "mine")
    made = record_contained(kind, "/contained_code")
    shutil.move("inside", "elsewhere")
    expect_names(made, "mine")
    assert hottest_names(made)[:2] == ["mine_outer", "main"]
    assert hottest_names(made, "--sysroot", "elsewhere")[:3] == ["mine_inner (inlined)", "mine_outer", "main"]


def test_a_container():
    contained("bind")


def test_a_container_in_memory():
    contained("tmpfs")


def test_a_container_of_layers():
    contained("overlay")


def test_the_same_path_inside_and_outside():
    """The host has a program of another build at the path that the container's has in it."""
    outside = os.path.abspath("same_path")
    build(outside, "others")
    os.makedirs("inside" + os.getcwd())
    build("inside" + outside, "mine")
    made = record_contained("bind", outside)
    expect_names(made, "mine")
    shutil.move("inside", "elsewhere")
    assert hottest_names(made)[:2] == ["mine_outer", "main"]
    assert hottest_names(made, "--sysroot", "elsewhere")[:2] == ["mine_inner (inlined)", "mine_outer"]


main(globals())
