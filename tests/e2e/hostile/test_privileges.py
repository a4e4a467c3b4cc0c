#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The privileges of a recorder while it records, the privileges that it needs to begin, and attacks on the process that
parses other users' files."""

import contextlib
import os
import re
import signal
import struct
import subprocess

from harness import cases
from harness.cases import Skip, needs, one_of_several, run
from harness.engine_folder import HOME, fresh_bpffs
from harness.recording import Recording, function, one_with_names, record, user_frames
from harness.sandbox import (children, end, end_with_stopped_sandbox, needs_root, recording, recording_of_ls, sandbox_of,
                             status, wait_for, wait_for_sleep)

NOBODY = 65534
BPF_AND_PERFMON = "+bpf,+perfmon"

# Bits of /proc/PID/status
READING = {"sys_ptrace": 19, "dac_read_search": 2, "checkpoint_restore": 40}
KILL = {"kill": 5}
OPENING = {"perfmon": 38}
WRITING = {"dac_override": 1, "fowner": 3}


def bits(which):
    return sum(1 << bit for bit in which.values())


def capabilities(pid):
    found = status(pid)
    return {name: int(found["Cap" + name], 16) for name in ("Eff", "Prm", "Inh", "Amb")}


def is_gone(pid):
    try:
        return status(pid)["State"].startswith("Z")
    except OSError:
        return True


# What stays

def check_capabilities(pid, kept):
    for name, found in capabilities(pid).items():
        wanted = bits(kept) & capabilities_of_us() if name in ("Eff", "Prm") else 0
        assert found == wanted, "%s of the recorder: %x, not %x" % (name, found, wanted)


def capabilities_of_us():
    return capabilities(os.getpid())["Prm"]


def test_capabilities_are_given_up():
    needs_root()
    with recording("-a", "-e", "sched:sched_switch") as recorder:
        check_capabilities(recorder.pid, READING)
        end(recorder).check()


def test_cpus_that_come_online_may_be_sampled():
    needs_root()
    needs("perf events")
    with recording("-a", "-F", "99") as recorder:
        check_capabilities(recorder.pid, {**READING, **OPENING})
        end(recorder).check()


def test_a_command_may_be_ended():
    needs_root()
    with recording("-e", "sched:sched_switch", "--", "sleep", "1000") as recorder:
        check_capabilities(recorder.pid, {**READING, **KILL})
        end(recorder).check()


def test_a_command_of_another_user_is_ended():
    needs_root()
    command = ("setpriv", "--reuid", str(NOBODY), "--clear-groups", "sleep", "1000")
    with recording("-e", "sched:sched_switch", "--", *command) as recorder:
        def became_another():
            return any(status(child)["Name"] == "sleep" for child in children(recorder.pid))
        wait_for("the command is another user", became_another)
        end(recorder).check()


def test_a_flight_in_our_own_folder():
    needs_root()

    def flight():
        with recording("-a", "-e", "sched:sched_switch", "--flight", "1M") as recorder:
            check_capabilities(recorder.pid, READING)
            return end(recorder)
    made = one_with_names(flight, has_kernel_names)
    assert "were hidden" not in made.read("report")
    assert has_kernel_names(made), kernel_names(made)


def test_a_flight_in_a_folder_of_another_user():
    needs_root()
    os.mkdir("theirs", 0o755)
    os.chown("theirs", NOBODY, NOBODY)
    with recording("-a", "-e", "sched:sched_switch", "--flight", "1M", output="theirs/f.data") as recorder:
        check_capabilities(recorder.pid, {**READING, **WRITING})
        end(recorder, "theirs/f.data").check()


def test_the_sandbox_has_nothing():
    """The sandbox has no open file except the one that it reads."""
    with recording("-a", "-e", "sched:sched_switch") as recorder:
        pid = sandbox_of(recorder.pid)
        assert pid, "there is no sandbox"
        assert not any(capabilities(pid).values()), capabilities(pid)
        found = status(pid)
        assert found["Seccomp"] == "2" and found["NoNewPrivs"] == "1", found
        if not os.geteuid():
            assert found["Uid"].split() == [str(NOBODY)] * 4, found["Uid"]
            assert found["Gid"].split() == [str(NOBODY)] * 4, found["Gid"]
            wait_for("nothing is open but socket and lifeline", lambda: len(os.listdir("/proc/%d/fd" % pid)) == 2)
        end(recorder)
        wait_for("the sandbox is gone", lambda: is_gone(pid))


def test_the_sandbox_goes_with_a_killed_recorder():
    """A stopped sandbox does not see that its socket is closed, like one that is parsing a file."""
    with recording("-a", "-e", "sched:sched_switch") as recorder:
        pid = sandbox_of(recorder.pid)
        os.kill(pid, signal.SIGSTOP)
        recorder.kill()
        recorder.wait()
        wait_for("the sandbox is gone", lambda: is_gone(pid))


def test_readers_of_recordings_may_open_files_only():
    """A recording may come from any user. The pipe stops the readers before the first byte."""
    needs_root()
    os.mkfifo("pipe")
    for command in (("report",), ("script",), ("export", "-f", "folded"), ("dump",)):
        reader = subprocess.Popen([cases.STACKMAP, *command, "pipe"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_for("privileges are given up", lambda: status(reader.pid)["NoNewPrivs"] == "1")
            check_capabilities(reader.pid, {"dac_read_search": 2, **WRITING})
        finally:
            reader.kill()
            reader.wait()


# What it takes

def confined(user, which, *command):
    """A command with no other capabilities."""
    if not user:
        return ["setpriv", "--bounding-set=-all," + which, "--inh-caps=-all", *command]
    ids = ["--reuid=%d" % user, "--regid=%d" % user, "--clear-groups"]
    return ["setpriv", *ids, *("--%s=-all,%s" % (which_set, which) for which_set in ("inh-caps", "ambient-caps", "bounding-set")),
            *command]


def record_confined(user, which, *arguments):
    os.makedirs("open", exist_ok=True)
    os.chmod("open", 0o777)
    os.chmod(".", 0o755)
    done = run(*confined(user, which, cases.STACKMAP, "record", "-o", "open/%d.data" % user, *arguments), status=None)
    return done, Recording("open/%d.data" % user, done.stderr)


def needs_reach(user):
    """The program under test may lie in a folder that is closed to others."""
    needs_root()
    done = run(*confined(user, BPF_AND_PERFMON, cases.STACKMAP, "--version"), status=None)
    if done.returncode:
        raise Skip("user %d may not run the program here: %s" % (user, done.stderr.strip()))


SOURCES = {
    "perf events": ("-F", "999"),
    "page faults": ("-e", "page-faults"),
    "raw tracepoints": ("-e", "sched:sched_switch"),
    "system calls": ("-e", "syscalls:sys_enter_*"),
    "uprobe multi": ("-e", "u:libc.so.6:getenv"),
}
FEATURE_OF = {"page faults": "perf events", "system calls": "raw tracepoints"}


def check_sources(user):
    needs_reach(user)
    for name, arguments in SOURCES.items():
        needs(FEATURE_OF.get(name, name))
        done, made = record_confined(user, BPF_AND_PERFMON, *arguments, "--", "ls", "-lR", "/usr/include/linux")
        assert not done.returncode, "%s as user %d: %s" % (name, user, done.stderr)
        ledger = made.check()
        assert ledger["recorded"] or name == "perf events", name
        os.unlink(made.path)


def test_root_with_two_capabilities_records_every_source():
    check_sources(0)


def test_another_user_with_two_capabilities_records_every_source():
    check_sources(NOBODY)


def test_their_own_functions_have_names():
    """Files that the user may read anyway need no privilege."""
    needs("raw tracepoints")
    needs_reach(NOBODY)
    _, made = record_confined(NOBODY, BPF_AND_PERFMON, "-e", "syscalls:sys_enter_getdents64", "--", "ls", "/")
    names = {function(frame) for event in made.events() for frame in user_frames(event)}
    assert "getdents64" in names or "readdir64" in names or "readdir" in names, names


def test_without_capabilities_it_says_what_it_takes():
    needs_reach(NOBODY)
    done, _ = record_confined(NOBODY, "-all", "-F", "99", "--", "true")
    assert done.returncode == 1, done
    assert "CAP_BPF" in done.stderr and "CAP_PERFMON" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and len(done.stderr.splitlines()) <= 2, done.stderr


def test_without_perfmon_it_says_what_it_takes():
    needs_reach(NOBODY)
    for arguments in SOURCES.values():
        done, _ = record_confined(NOBODY, "+bpf", *arguments, "--", "true")
        assert done.returncode == 1, done
        assert "CAP_PERFMON" in done.stderr, done.stderr


def test_doctor_says_what_it_takes():
    needs_reach(NOBODY)
    done = run(*confined(NOBODY, "-all", cases.STACKMAP, "doctor"), status=1)
    assert "CAP_BPF and CAP_PERFMON" in done.stdout, done.stdout
    done = run(*confined(NOBODY, BPF_AND_PERFMON, cases.STACKMAP, "doctor"), status=None)
    for name in ("bpf", "perf events", "raw tracepoints"):
        assert re.search(r"(?m)^yes  %s " % name, done.stdout), done.stdout


# Kernel addresses

@contextlib.contextmanager
def kptr_restrict(value):
    path = "/proc/sys/kernel/kptr_restrict"
    try:
        with open(path, "r+") as file:
            before = file.read()
            file.seek(0)
            file.write(str(value))
    except OSError as error:
        raise Skip("%s: %s" % (path, error)) from error
    try:
        yield
    finally:
        with open(path, "w") as file:
            file.write(before)


def kernel_names(made):
    return [name for stack in made.report()["stacks"] for name in stack["kernel"]]


def has_kernel_names(made):
    return bool({"schedule", "__schedule"} & set(kernel_names(made)))


def check_hidden(made):
    assert "were hidden" in made.read("report")
    named = [name for name in kernel_names(made) if not name.startswith(("0x", "["))]
    assert not named, "named though hidden: %s" % sorted(set(named))[:10]
    kernel = made.read("export", "-f", "mappings").splitlines()[0]
    assert kernel.startswith("kernel vmlinux 0x0-0x0 "), kernel
    for command in (("script",), ("report",), ("report", "--json"), ("export", "-f", "perf-script"), ("export", "-f", "folded")):
        shown = re.findall(r"(?:0x|\b)(ffff[0-9a-f]{12})\b", made.read(*command))
        assert not shown, "%s shows %s" % (command, shown[:3])
    by_id, without_id = made.stacks()
    frames = [frame for stack in [*by_id.values(), *without_id] for frame in stack.frames]
    assert not max(frames) >> 63 and 0 in frames, frames[:10]


def test_kptr_restrict_1_shows_addresses_to_root():
    needs_root()
    with kptr_restrict(1):
        made = record("-e", "syscalls:sys_enter_getdents64", "--", "ls", "/")
    assert "were hidden" not in made.read("report")
    assert "do_syscall_64" in kernel_names(made), kernel_names(made)


def test_kptr_restrict_1_hides_addresses_from_others():
    needs_reach(NOBODY)
    with kptr_restrict(1):
        done, made = record_confined(NOBODY, BPF_AND_PERFMON, "-e", "syscalls:sys_enter_getdents64", "--", "ls", "/")
    assert not done.returncode, done.stderr
    check_hidden(made)


def test_kptr_restrict_2_hides_addresses_from_root():
    needs_root()
    with kptr_restrict(2):
        made = record("-e", "syscalls:sys_enter_getdents64", "--", "ls", "/")
        check_hidden(made)
    with kptr_restrict(0), open("/proc/kallsyms", encoding="utf-8") as live, open("kallsyms", "w", encoding="utf-8") as kept:
        kept.write(live.read())
    named = made.read("script", "--kallsyms", "kallsyms")
    assert re.search(r"^\t\s+0 do_syscall_64\+", named, re.M), "who may see them names them: %s" % named[:1000]
    with open("vmlinux", "w", encoding="utf-8"):
        pass
    said = cases.stackmap("report", "--vmlinux", "vmlinux", made.path).stderr
    assert said.startswith("stackmap: vmlinux: its debug information is not used: where the kernel lay was hidden"), said


def test_kptr_restrict_as_it_was_at_the_start():
    needs_root()
    arguments = ("-a", "-e", "sched:sched_switch", "--flight", "1M")
    with kptr_restrict(2), recording(*arguments) as recorder:
        with kptr_restrict(0):
            check_hidden(end(recorder))
    with kptr_restrict(1), recording(*arguments) as recorder:
        with kptr_restrict(2):
            made = end(recorder)
    assert "were hidden" not in made.read("report")


# Instances without a process

FILES = ("stack_map", "stack_map_stat", "stack_map_bin", "mappings", "trace")


@contextlib.contextmanager
def instance(name, *arguments):
    needs_root()
    fresh_bpffs()
    run(cases.STACKMAP, "start", name, *arguments)
    try:
        yield os.path.join(HOME, name)
    finally:
        run(cases.STACKMAP, "stop", name, status=None)


def read_file(*path):
    with open(os.path.join(*path)) as file:
        return file.read()


def test_files_of_an_instance_are_its_owners():
    with instance("mine", "-e", "sched:sched_switch") as folder:
        assert os.stat(folder).st_mode & 0o777 == 0o700, oct(os.stat(folder).st_mode)
        for name in FILES:
            assert os.stat(os.path.join(folder, name)).st_mode & 0o777 == 0o400, name
            with open(os.path.join(folder, name), "rb") as file:
                file.read()


COMMANDS = (("stop",), ("pause",), ("resume",), ("reset",), ("status",), ("record", "--instance"), ("script", "--instance"),
            ("script", "-f", "--instance"), ("report", "--instance"), ("export", "--instance"))


def check_denied(command, name, why):
    """Runs as another user with CAP_BPF: the command is refused with one line."""
    done = run(*confined(NOBODY, BPF_AND_PERFMON, cases.STACKMAP, *command, name), status=1)
    assert re.fullmatch(r"stackmap: %s: Permission denied: it %s, .*root may open it\n" % (name, why), done.stderr), (command, done)
    assert not done.stdout, done


def generation_of(folder):
    return re.search(r"(?m)^generation: +(\d+)", read_file(folder, "stack_map_stat")).group(1)


def test_another_user_cannot_touch_an_instance():
    needs_reach(NOBODY)
    with instance("mine", "-e", "sched:sched_switch") as folder:
        for name in FILES:
            done = run(*confined(NOBODY, BPF_AND_PERFMON, "cat", os.path.join(folder, name)), status=1)
            assert "Permission denied" in done.stderr, done.stderr
        before = generation_of(folder)
        for command in COMMANDS:
            check_denied(command, "mine", "belongs to user 0")
        assert generation_of(folder) == before
        assert "Permission denied" in run(*confined(NOBODY, BPF_AND_PERFMON, cases.STACKMAP, "status"), status=1).stderr


def test_a_group_may_read_but_not_change():
    needs_reach(NOBODY)
    with instance("ours", "-e", "sched:sched_switch", "--group", str(NOBODY)) as folder:
        for name in FILES:
            run(*confined(NOBODY, "-all", "cat", os.path.join(folder, name)))
        done = run(*confined(NOBODY, "-all", "ls", os.path.join(folder, "pins")), status=None)
        assert done.returncode and "Permission denied" in done.stderr, done
        for command in COMMANDS:
            check_denied(command, "ours", "belongs to user 0")
        assert os.path.isdir(folder), "stopped by a reader"


def test_a_home_of_another_user_is_not_trusted():
    """In a folder where any user may make folders, another user may have made the home first."""
    needs_root()
    fresh_bpffs()
    os.mkdir(HOME, 0o777)
    os.chown(HOME, NOBODY, NOBODY)
    done = run(cases.STACKMAP, "start", "mine", "-e", "sched:sched_switch", status=1)
    assert done.stderr, done
    record("-e", "sched:sched_switch", "--", "true").check()
    assert not os.listdir(HOME), os.listdir(HOME)


def test_an_instance_of_another_user_is_not_trusted():
    """An owner other than root and this user may have put any pins there."""
    for place in ("mine", ""):
        with instance("mine", "-e", "sched:sched_switch") as folder:
            theirs = os.path.join(HOME, place)
            os.chown(theirs, NOBODY, NOBODY)
            for command in COMMANDS:
                done = run(cases.STACKMAP, *command, "mine", status=1)
                assert "belongs to another user than root or you" in done.stderr, (command, done)
            assert "entries:" in read_file(folder, "stack_map_stat")
            os.chown(theirs, 0, 0)
            run(cases.STACKMAP, "status", "mine")


def frames_of_bin(path):
    """All of them; stacks are added while it is read, so the header's count is a lower bound."""
    with open(path, "rb") as file:
        data = file.read()
    frames, at = [], 16
    while at < len(data):
        _, depth, _, _ = struct.unpack_from("=4I", data, at)
        frames += struct.unpack_from("=%dQ" % depth, data, at + 16)
        at += 16 + 8 * depth
    return frames


def test_files_of_an_instance_follow_kptr_restrict():
    address = re.compile(r"ffffffff[89a-f][0-9a-f]{7}")
    with kptr_restrict(2), instance("hidden", "-e", "sched:sched_switch") as folder:
        wait_for("a stack", lambda: "stack_id" in read_file(folder, "stack_map"))
        for name in ("stack_map", "mappings", "trace"):
            found = address.search(read_file(folder, name))
            assert not found, "%s shows %s" % (name, found)
        frames = frames_of_bin(os.path.join(folder, "stack_map_bin"))
        assert frames and not any(frame >> 63 for frame in frames), [hex(frame) for frame in frames]
    with kptr_restrict(0), instance("shown", "-e", "sched:sched_switch") as folder:
        wait_for("a stack", lambda: "stack_id" in read_file(folder, "stack_map"))
        assert any(frame >> 63 for frame in frames_of_bin(os.path.join(folder, "stack_map_bin")))


# An attack on the sandbox

def test_a_sandbox_that_is_killed_is_replaced():
    def killed():
        with recording("-a", "-e", "sched:sched_switch") as recorder:
            os.kill(sandbox_of(recorder.pid), signal.SIGKILL)
            return end(recorder)
    made = one_with_names(killed, has_kernel_names)
    made.check()
    assert "unread_files" not in made.messages, made.messages
    assert has_kernel_names(made), kernel_names(made)


def check_one_file_unread(made):
    assert made.check()["recorded"] > 0
    assert "1 files without names" in made.messages, made.messages


def kernel_and_user_names(made):
    stacks = made.report()["stacks"]
    return [[name for stack in stacks for name in stack[side]] for side in ("kernel", "user")]


@one_of_several
def test_a_parser_that_crashes_costs_the_names_of_one_file():
    needs_root()
    with recording_of_ls() as recorder:
        wait_for_sleep(recorder)
        made = end_with_stopped_sandbox(recorder, signal.SIGKILL)
    check_one_file_unread(made)
    assert any(kernel_and_user_names(made)), "nothing has a name"


@one_of_several
def test_who_insists_gets_what_is_there():
    """After the second Ctrl-C the recorder waits for no name: names of root's files are missing."""
    with recording("-a", "-e", "sched:sched_switch") as recorder:
        subprocess.run(["sleep", "0.01"], check=True)
        made = end_with_stopped_sandbox(recorder, None)
    assert made.check()["recorded"] > 0
    unread = re.search(r"(\d+) files without names", made.messages)
    assert unread and int(unread[1]) >= 1, made.messages


if __name__ == "__main__":
    cases.main(globals())
