#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The units' restrictions: few enough doors are open for systemd's own measure, and all that the units start works with what
is left."""

import os
import pathlib
import shutil
import subprocess
import sys

from harness import cases, unit
from harness.agent import GETPPID
from harness.cases import STACKMAP, needs_command, run, stackmap
from harness.engine_folder import HOME, fresh_bpffs
from harness.recording import Recording, function, names_of
from harness.sandbox import needs_root

UNITS = pathlib.Path(cases.PROGRAMS).parents[1] / "systemd"
AGENT, INSTANCE = UNITS / "stackmap-agent.service", UNITS / "stackmap@.service"
EXPOSURE_MAX = 40  # tenths: 4.0
USER = 12345


def under(path, *command):
    """The command under the unit's restrictions; this folder is where it may write."""
    return [sys.executable, unit.__file__, str(path), os.getcwd(), *map(str, command)]


def needs_systemd():
    needs_command("systemd-analyze", "syscall-filter", "@system-service")
    needs_root()


def test_exposure_is_low():
    needs_command("systemd-analyze", "security", "--help")
    for path, name in (AGENT, AGENT.name), (INSTANCE, "stackmap@slab.service"):
        shutil.copy(path, name)
        done = run("systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=%d" % EXPOSURE_MAX, "./" + name,
                   status=None)
        if "unrecognized option" in done.stderr:
            raise cases.Skip("this systemd-analyze reads no files")
        assert "Overall exposure level" in done.stdout and done.returncode == 0, (name, done.stdout[-2000:], done.stderr)


def test_the_harness_refuses():
    needs_systemd()
    tries = {"import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)": "Operation not permitted",
             "import os; os.mkdir('/etc/stackmap-test')": "Read-only file system",
             "import mmap; mmap.mmap(-1, 4096, prot=7)": "Operation not permitted",
             "import os; os.chown('.', 1, 1)": "Operation not permitted",
             "import ctypes, os; r = ctypes.CDLL(None, use_errno=True).unshare(0x10000000); "
             "raise OSError(os.strerror(ctypes.get_errno()))": "Operation not permitted"}
    for text, why in tries.items():
        done = run(*under(AGENT, "/usr/bin/python3", "-c", text), status=None)
        assert done.returncode == 1 and why in done.stderr, (text, done.stderr)


def test_the_agent_works_under_its_unit():
    """Windows with the names of the kernel's code and of another user's program, whose folder nobody else may read."""
    needs_systemd()
    os.chmod(".", 0o755)
    os.mkdir("theirs", 0o700)
    shutil.copy(os.path.realpath("/usr/bin/python3"), "theirs/called")
    for path in "theirs", "theirs/called":
        os.chown(path, USER, USER)
    with subprocess.Popen(["setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups", "theirs/called", "-c",
                           "import os, time\nwhile True: os.getppid(), time.sleep(0.01)"]) as calling:
        try:
            said = run(*under(AGENT, STACKMAP, "agent", "--config", "/dev/null", "--to", "http://127.0.0.1:1", "--spool", "spool",
                              "--window", 1, "--batch", 2, "--exemplars", "windows", "--once", 4, "-e", GETPPID, "-e", "sched:sched_switch")).stderr
        finally:
            calling.kill()
    assert "4 windows" in said and "not permitted" not in said, said
    windows = sorted(pathlib.Path("windows").glob("window.data.*"))
    assert len(windows) == 4, said
    events = [event for path in windows for event in Recording(str(path), said).events()]
    theirs = {name for event in events if event.comm == "called" for name in names_of(event)}
    assert any(name.startswith("_PyEval_") for name in theirs), (theirs, said)
    assert {"schedule", "__schedule"} & {name for event in events for name in map(function, event.frames)}, said


def test_an_instance_starts_and_stops_under_its_unit():
    needs_systemd()
    fresh_bpffs()
    options = ["-e", "syscalls:sys_enter_getppid", "--no-user"]
    if run(STACKMAP, "start", "plain", *options, status=None).returncode:
        raise cases.Skip("no instance starts on this kernel")
    stackmap("stop", "plain")
    run(*under(INSTANCE, STACKMAP, "start", "slab", *options))
    assert os.path.isdir(HOME + "/slab")
    run(*under(INSTANCE, STACKMAP, "stop", "slab"))
    assert not os.path.exists(HOME + "/slab")


if __name__ == "__main__":
    cases.main(globals())
