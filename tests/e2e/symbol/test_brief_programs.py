#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A user's programs that live some 6 ms and remove their own files, one after the other, as a build runs them. Each file can
be opened only while its program lives. Whatever reads the events of the machine meanwhile has the names of most: what
visits the rings each 100 ms has those of one in ten."""

import glob
import os
import shutil
import signal
import subprocess

from harness.agent import GETPPID
from harness.cases import PROGRAMS, SECONDS_MAX, STACKMAP, main, needs, needs_command, one_of_several, program, run, stackmap
from harness.engine_folder import enter_own_mounts, fresh_bpffs
from harness.recording import Recording, names_of, parse_events
from harness.sandbox import end, needs_root, recording
from harness.top_text import Text

# Removes its own file, asks for its parent's id during 6 ms and 20 times at least, and is gone. On a loaded machine it waits for
# CPUs as the recorder does, so that both have their turns.
SOURCE = """
#include <time.h>
#include <unistd.h>
static long now_ms(void)
{ struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000; }
__attribute__((noinline)) static void brief(void)
{ getppid();
  __asm__ volatile("" ::: "memory"); }
int main(int count, char **arguments)
{ const struct timespec pause = {.tv_nsec = 200000};
  long end = now_ms() + 6;
  if (count != 1 || unlink(arguments[0])) return 1;
  for (int i = 0; i < 20 || now_ms() < end; i++) { brief(); nanosleep(&pause, NULL); }
  return 0; }
"""
USER = 12345
PROGRAM_COUNT = 100
NAMED_LEAST = 50  # 87 to 99 of 100, the machine idle or busy


def run_programs():
    """Each is a file of its own, called briefN."""
    with open("source.c", "w", encoding="ascii") as file:
        file.write(SOURCE)
    run("gcc", "-O2", "-fno-omit-frame-pointer", "source.c", "-o", "brief")
    os.chmod(".", 0o755)
    os.mkdir("theirs")
    os.chown("theirs", USER, USER)
    paths = [os.path.abspath("theirs/brief%d" % number) for number in range(PROGRAM_COUNT)]
    for path in paths:
        shutil.copy("brief", path)
        os.chown(path, USER, USER)
    for path in paths:
        run(path, user=USER, group=USER, extra_groups=[])
    assert not os.listdir("theirs")


def check_most(named):
    assert len(named) >= NAMED_LEAST, "%d of %d programs have names" % (len(named), PROGRAM_COUNT)


def check_events(events):
    check_most({event.comm for event in events if "brief" in names_of(event)})


def needs_all():
    needs_root()
    needs_command("gcc", "--version")
    needs("bpf", "raw tracepoints")
    fresh_bpffs()


@one_of_several
def test_record():
    needs_all()
    with recording("-a", "-e", GETPPID) as recorder:
        run_programs()
        check_events(end(recorder).events())


@one_of_several
def test_windows_of_a_rotation():
    needs_all()
    with recording("-a", "-e", GETPPID, "--rotate", "1s", output="w") as recorder:
        run_programs()
        end(recorder, "w.0001")
    check_events([event for path in sorted(glob.glob("w.*")) for event in Recording(path).events()])


@one_of_several
def test_agent():
    needs_all()
    agent = subprocess.Popen(
        [STACKMAP, "agent", "--config", "/dev/null", "--to", "http://127.0.0.1:1", "--spool", "spool", "--window", "1",
         "--exemplars", "kept", "-e", GETPPID], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = ""
    while ": recording as " not in said:
        said = agent.stderr.readline()
        assert said, "the agent has ended"
    run_programs()
    agent.terminate()
    assert not agent.wait(SECONDS_MAX), agent.communicate()
    agent.stderr.close()
    check_events([event for path in sorted(glob.glob("kept/window.data.*")) for event in Recording(path).events()])


@one_of_several
def test_top():
    """The last program is one that top cannot miss."""
    needs_all()
    text = Text("-e", GETPPID, "--lines", "1000")
    text.refresh()
    run_programs()
    last, lines = program("known_counts", called="last_of_all"), []
    run(last, "getppid=9")
    while not any(last in line for line in lines):
        lines += text.refresh()
    text.end()
    check_most({line.split()[3] for line in lines if line.split()[2:3] == ["brief"]})


@one_of_several
def test_follow():
    needs_all()
    stackmap("start", "live", "-a", "-e", GETPPID, "--ring", "1M")
    with open("shown", "w+", encoding="utf-8") as shown:
        with subprocess.Popen([STACKMAP, "script", "--no-inline", "--instance", "live", "--follow"], stdin=subprocess.DEVNULL,
                              stdout=shown, stderr=subprocess.PIPE) as following:
            run_programs()
            stackmap("stop", "live")
            assert following.stderr.read() and not following.wait(SECONDS_MAX)
        shown.seek(0)
        check_events(parse_events(shown.read()))


@one_of_several
def test_library():
    """A program of examples/ that follows all tasks by libstackmap, which names a stack's functions below its thread."""
    needs_all()
    follow = os.path.join(PROGRAMS, "..", "..", "examples", "follow")
    with open("shown", "w+", encoding="utf-8") as shown:
        with subprocess.Popen([follow, "0", GETPPID], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as following:
            assert following.stdout.readline() == "ready\n"
            reader = subprocess.Popen(["cat"], stdin=following.stdout, stdout=shown)
            run_programs()
            following.send_signal(signal.SIGINT)
            assert not following.wait(SECONDS_MAX) and not reader.wait(SECONDS_MAX)
        shown.seek(0)
        named, thread = set(), None
        for line in shown:
            if " thread " in line:
                thread = line.split()[2]
            elif line.split() == ["brief"]:
                named.add(thread)
    check_most(named)


if __name__ == "__main__":
    enter_own_mounts()
    main(globals())
