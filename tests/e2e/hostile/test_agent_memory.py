#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""An agent in a cgroup with the limit of its unit, beside an ordinary user whose files take some kilobytes on disk and claim
gigabytes: no process is killed for memory, no window is missing, and the agent reports the users whose files have no names.
Names that do not come hold back no window for long, also not names of root's files."""

import os
import pathlib
import re
import signal

from harness import cases
from harness.agent import Agent
from harness.cases import never, one_of_several, stackmap
from harness.unit import memory_cgroup
from harness.neighbours import USER, neighbour
from harness.sandbox import children, needs_root, status
from harness.waiting import wait_until

UNIT = pathlib.Path(cases.PROGRAMS).parents[1] / "systemd" / "stackmap-agent.service"
WINDOWS = 6


def limit_of_the_unit():
    mebibytes = re.search(r"^MemoryMax=(\d+)M$", UNIT.read_text(), re.M).group(1)
    return int(mebibytes) << 20


def beside_files(command, *options):
    """The command's messages; it runs in a cgroup of its own."""
    needs_root()
    with memory_cgroup(limit_of_the_unit()) as cgroup, neighbour("symbols", cases.PROGRAMS):
        said = cases.run(*cgroup.inside(cases.STACKMAP, command, *options)).stderr
        never(cgroup.kills(), (cgroup.kills(), cgroup.most_bytes(), said))
    assert re.search("stackmap: user %d: \\d+ files gave no names" % USER, said), said
    return said


@one_of_several
def test_an_agent_keeps_to_the_memory_of_its_unit():
    said = beside_files("agent", "--config", "/dev/null", "--to", "http://127.0.0.1:1", "--spool", "spool", "--window", 1,
                        "--batch", 2, "-e", "sched:sched_switch", "--exemplars", "windows", "--once", WINDOWS)
    assert "%d windows" % WINDOWS in said, said
    windows = sorted(pathlib.Path("windows").glob("window.data.*"))
    assert len(windows) == WINDOWS, windows
    shown = [stackmap("report", path) for path in windows]
    assert any("files without names" in done.stdout + done.stderr for done in shown), shown[0]


@one_of_several
def test_a_recording_keeps_to_it_too():
    said = beside_files("record", "-a", "-e", "sched:sched_switch", "-o", "f.data", "--", "sleep", 3)
    assert "files without names" in said, said
    stackmap("report", "f.data")


def symbolizer_of_root(pid):
    """The first one of the agent's children, but for the sender."""
    return min(child for child in children(pid) if status(child)["Name"] == "stackmap")


def test_a_window_ends_although_root_s_names_do_not_come():
    """The process that opens the files of root is stopped. It is given up after 12 s; a window does not wait for that. Stacks
    are the kernel's, whose names are asked for in each window."""
    needs_root()
    cases.needs("bpf", "raw tracepoints")
    agent = Agent("http://127.0.0.1:1", "-e", "sched:sched_switch", "--no-user", "--exemplars", "windows", batch=100)
    windows = pathlib.Path("windows")
    try:
        wait_until(lambda: list(windows.glob("window.data.*")))
        stopped = symbolizer_of_root(agent.process.pid)
        os.kill(stopped, signal.SIGSTOP)
        before = len(list(windows.glob("window.data.*")))
        wait_until(lambda: len(list(windows.glob("window.data.*"))) > before)
        assert stopped in children(agent.process.pid) and status(stopped)["State"].startswith("T")
        os.kill(stopped, signal.SIGCONT)
        agent.stop()
    finally:
        if agent.process.poll() is None:
            agent.kill()


if __name__ == "__main__":
    cases.main(globals())
