#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The units' restrictions: systemd-analyze rates the exposure low, everything that the units start works under them, and each
capability of the agent is needed."""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

from harness import cases, unit
from harness.agent import GETPPID
from harness.cases import STACKMAP, needs_command, one_of_several, run, stackmap
from harness.engine_folder import HOME, fresh_bpffs
from harness.recording import Recording, function, names_of
from harness.sandbox import needs_root
from harness.waiting import read_text, wait_until

UNITS = pathlib.Path(cases.PROGRAMS).parents[1] / "systemd"
AGENT, INSTANCE = UNITS / "stackmap-agent.service", UNITS / "stackmap@.service"
EXPOSURE_MAX = 40  # tenths: 4.0
USER = 12345
TRIES = 4


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


def test_a_kill_for_memory_ends_one_process():
    """The kernel chooses a sandbox, and its recorder starts another one. By systemd's default the whole unit would be stopped."""
    assert re.findall(r"^OOMPolicy=(.*)$", AGENT.read_text(), re.M) == ["continue"]


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


@one_of_several
def test_the_agent_works_under_its_unit():
    """Windows have the names of the kernel's code and of another user's program in a folder that only this user may read."""
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
    assert "Py_RunMain" in theirs, (theirs, said)  # the interpreter's loop has the script's names instead of its own
    assert {"schedule", "__schedule"} & {name for event in events for name in map(function, event.frames)}, said


# The names that are lost without each capability of the agent's unit.
LOST = {
    "CAP_BPF": "windows",
    "CAP_PERFMON": "windows",
    "CAP_SYS_PTRACE": "names in a container",
    "CAP_DAC_READ_SEARCH": "names in a private folder",
    "CAP_CHECKPOINT_RESTORE": "names of a file that is gone",
    "CAP_SYSLOG": "names of the kernel",
    "CAP_SETUID": "user of sandboxes",
    "CAP_SETGID": "group of sandboxes",
}
NOBODY = "65534"
CALL = "import os, time\nwhile True: os.getppid(), time.sleep(0.01)"
# Programs with names of their own: in a folder of its user, on a private mount, without a file.
PLACES = {
    "private": "exec theirs/private -c \"$CALL\"",
    "contained": "mkdir hidden; mount -t tmpfs none hidden; cp \"$PYTHON\" hidden/contained; exec hidden/contained -c \"$CALL\"",
    "gone": "cp \"$PYTHON\" gone; exec ./gone -c \"import os; os.unlink('gone')\n$CALL\"",
}


@contextlib.contextmanager
def calling_programs():
    os.chmod(".", 0o755)
    os.mkdir("theirs", 0o700)
    shutil.copy(os.path.realpath("/usr/bin/python3"), "theirs/private")
    for path in "theirs", "theirs/private":
        os.chown(path, USER, USER)
    environment = {**os.environ, "CALL": CALL, "PYTHON": os.path.realpath("/usr/bin/python3")}
    starts = {"private": ["setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups"], "contained": ["unshare", "-m"]}
    calling = [subprocess.Popen([*starts.get(name, []), "sh", "-c", script], env=environment) for name, script in PLACES.items()]
    try:
        wait_until(lambda: all(read_text("/proc/%d/comm" % each.pid).strip() in PLACES for each in calling)
                   and not os.path.exists("gone"))
        yield
    finally:
        for each in calling:
            each.kill()
            each.wait()


def below(pid):
    children = [int(word) for word in read_text("/proc/%d/task/%d/children" % (pid, pid)).split()]
    return children + [other for child in children for other in below(child)]


def of_processes(pid):
    """The processes of an agent: recorder and sender of the unit's user, sandboxes of user nobody."""
    found = set()
    for other in below(pid):
        lines = dict(line.split(":\t", 1) for line in read_text("/proc/%d/status" % other).splitlines() if ":\t" in line)
        found |= {"%s of sandboxes" % what for what, key in (("user", "Uid"), ("group", "Gid"))
                  if lines.get(key, "").split()[:1] == [NOBODY]}
    return found


def of_windows():
    found = set()
    for path in pathlib.Path("windows").glob("window.data.*"):
        found.add("windows")
        for event in Recording(str(path)).events():
            if {"do_syscall_64", "entry_SYSCALL_64_after_hwframe", "do_el0_svc"} & {function(frame) for frame in event.frames}:
                found.add("names of the kernel")
            if any(name.startswith("_PyEval_") for name in names_of(event)):
                found.add({"private": "names in a private folder", "contained": "names in a container",
                           "gone": "names of a file that is gone"}.get(event.comm))
    return found


def run_agent_under(path, windows=2):
    """The names that an agent under these restrictions has in so many windows of a second, and its messages."""
    shutil.rmtree("windows", ignore_errors=True)
    agent = subprocess.Popen(
        under(path, STACKMAP, "agent", "--config", "/dev/null", "--to", "http://127.0.0.1:1", "--spool", "spool", "--window", 1,
              "--exemplars", "windows", "--once", windows, "-e", GETPPID),
        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said, found = "", set()
    for line in agent.stderr:
        said += line
        if ": recording as " in line:
            found = of_processes(agent.pid)
    agent.stderr.close()
    agent.wait(cases.SECONDS_MAX)
    return found | of_windows(), said


def test_each_capability_of_the_agent_is_needed():
    needs_systemd()
    needs_command("unshare", "-m", "true")
    text = AGENT.read_text()
    assert set(unit.settings(AGENT)["CapabilityBoundingSet"]) == set(LOST)
    with calling_programs():
        found = set()
        for number in range(TRIES):  # names may come too late for a few windows on a loaded machine
            more, said = run_agent_under(AGENT, 2 << number)
            found |= more
            if found >= set(LOST.values()):
                break
        assert found >= set(LOST.values()), (set(LOST.values()) - found, said)
        for capability, what in LOST.items():
            pathlib.Path("less.service").write_text(re.sub(r"\b%s\b" % capability, "", text))
            found, said = run_agent_under("less.service")
            assert what not in found, "without %s nothing is lost: %s" % (capability, said)


def test_an_instance_starts_and_stops_under_its_unit():
    needs_systemd()
    fresh_bpffs()
    options = ["-e", "syscalls:sys_enter_getppid", "--no-user"]
    if run(STACKMAP, "start", "plain", *options, status=None).returncode:
        raise cases.Skip("no instance starts on this kernel")
    stackmap("stop", "plain")
    run(*under(INSTANCE, STACKMAP, "start", "slab", *options, "--group", USER))
    assert os.stat(HOME + "/slab").st_gid == USER
    run(*under(INSTANCE, STACKMAP, "stop", "slab"))
    assert not os.path.exists(HOME + "/slab")


def test_an_instance_has_few_capabilities_more():
    """Those of the agent; CAP_CHOWN for a group that may read it; CAP_SYS_ADMIN, which older kernels want for user functions."""
    needs_systemd()
    fresh_bpffs()
    assert set(unit.settings(INSTANCE)["CapabilityBoundingSet"]) == {*LOST, "CAP_CHOWN", "CAP_SYS_ADMIN"}
    options = ["-e", "syscalls:sys_enter_getppid", "--no-user", "--group", USER]
    if run(STACKMAP, "start", "plain", *options, status=None).returncode:
        raise cases.Skip("no instance starts on this kernel")
    stackmap("stop", "plain")
    pathlib.Path("less.service").write_text(INSTANCE.read_text().replace(" CAP_CHOWN", ""))
    said = run(*under("less.service", STACKMAP, "start", "slab", *options), status=None).stderr
    assert "not permitted" in said and not os.path.exists(HOME + "/slab"), said


if __name__ == "__main__":
    cases.main(globals())
