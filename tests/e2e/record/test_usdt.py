#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""USDT probes of a program whose probes and arguments are known, and of Debian's python3."""

import json
import os
import shutil
import subprocess
import time

from harness.cases import STACKMAP, Skip, main, needs, needs_command, program, run, stackmap
from harness.recording import record, user_frames

PROGRAM = program("usdt_probes")
CALLS = 500


def recorded(name, *options, command=(PROGRAM, CALLS), path=PROGRAM):
    needs("bpf", "raw tracepoints", "uprobes")
    recording = record("-e", "usdt:%s:%s" % (path, name), *options, "--", *command)
    ledger = recording.check()
    assert ledger["recorded"] == ledger["produced"], ledger
    return recording


def values(name):
    return [event.value for event in recorded(name).events()]


def test_each_passage_is_an_event_with_its_stack():
    recording = recorded("known:counted")
    events = list(recording.events())
    assert len(events) == CALLS and {event.name for event in events} == {"usdt:%s:known:counted" % PROGRAM}
    assert all([frame.name.split("+")[0] for frame in user_frames(event)][:2] == ["work", "main"] for event in events), user_frames(events[0])


def test_arguments_are_read_where_the_program_has_them():
    assert values("known:counted/value=arg1/") == list(range(CALLS))
    assert values("known:counted/value=arg3/") == list(range(CALLS))
    assert values("known:counted/value=arg4/") == [7] * CALLS
    assert values("known:counted/value=arg5/") == list(range(CALLS))
    assert values("known:counted/value=arg1,if=arg2>=-9 && arg2<-1 && arg4==7/") == list(range(2, 10))


def test_a_probe_with_a_semaphore_is_turned_on():
    assert values("known:guarded/value=arg1/") == list(range(CALLS))


def test_a_probe_at_two_places_has_the_arguments_of_each():
    assert values("known:twice/value=arg1/") == [1, 2] * CALLS


def test_probes_are_chosen_by_globs_and_listed():
    names = {"usdt:%s:known:%s" % (PROGRAM, name) for name in ("counted", "guarded", "twice")}
    memory = {"usdt:%s:otel_memory:%s" % (PROGRAM, name) for name in ("alloc", "free")}
    listed = stackmap("list", "usdt:%s:*" % PROGRAM).stdout
    assert names | memory == {word for line in listed.splitlines() for word in line.split() if word.startswith("usdt:")}, listed
    assert {event.name for event in recorded("known:*").events()} == names
    assert len(list(recorded("kn*:*d").events())) == 2 * CALLS
    assert len(list(recorded("counted").events())) == CALLS


def python_with_probes():
    path = os.path.realpath("/usr/bin/python3")
    probes = stackmap("list", "usdt:%s:*" % path, status=None).stdout.splitlines()
    if not probes:
        raise Skip("/usr/bin/python3 has no USDT probes")
    return path, probes


def test_probes_of_a_process_are_those_of_its_files():
    path, probes = python_with_probes()
    with subprocess.Popen([path, "-c", "import sys; print('ready', flush=True); sys.stdin.read()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        assert set(probes) <= set(stackmap("list", "-p", process.pid).stdout.splitlines())
        chosen = {each["name"] for each in json.loads(stackmap("list", "-p", process.pid, "--json", "python:gc__*").stdout)}
        assert chosen == {line.split()[0] for line in probes if ":python:gc__" in line}, chosen
        assert "no USDT probe" in stackmap("list", "-p", process.pid, "nobody:*", status=1).stderr
        process.stdin.close()
    assert "no such process" in stackmap("list", "-p", 2 ** 22 + 1, status=1).stderr


def in_another_root(folder, name, *arguments):
    """The command that runs a static program, whose file gets this name, in a mount namespace with the folder as its root."""
    os.makedirs(os.path.join(folder, "old"))
    shutil.copy(program("usdt_probes_static"), os.path.join(folder, name))
    enter = ("import ctypes, os, sys; libc = ctypes.CDLL(None); folder = sys.argv[1].encode(); "
             "failed = libc.unshare(0x20000) or libc.mount(None, b'/', None, 1 << 14 | 1 << 18, None) "
             "or libc.mount(folder, folder, None, 1 << 12, None); os.chdir(folder); "
             "failed = failed or libc.pivot_root(b'.', b'old'); os.chdir('/'); "
             "sys.exit('failed') if failed else os.execv(sys.argv[2], sys.argv[2:])")
    return ["/usr/bin/python3", "-c", enter, os.path.abspath(folder), "/" + name, *arguments]


def test_probes_of_a_process_in_another_root_are_those_of_its_file():
    needs_command("unshare", "-m", "true")
    command = in_another_root("root", "a:b", str(10 ** 15))
    with subprocess.Popen(command) as process:
        while os.readlink("/proc/%u/exe" % process.pid) != "/a:b":
            assert process.poll() is None, process.returncode
            time.sleep(0.01)
        listed = stackmap("list", "-p", process.pid).stdout.split()
        process.kill()
    path = "usdt:/proc/%u/root/a:b:" % process.pid
    assert {word for word in listed if word.startswith("usdt:")} == {path + name for name in ("known:counted", "known:guarded", "known:twice", "otel_memory:alloc", "otel_memory:free")}, listed


def test_probes_of_a_package_are_those_of_its_files():
    needs_command("dpkg", "--version")
    path, probes = python_with_probes()
    package = run("dpkg", "-S", path, status=None).stdout.partition(":")[0]
    if not package:
        raise Skip("%s is of no package" % path)
    assert set(probes) <= set(stackmap("list", "--package", package).stdout.splitlines()), probes
    assert "no such package" in stackmap("list", "--package", "nothing-of-this-name", status=1).stderr
    assert "exclude each other" in stackmap("list", "--package", package, "-p", 1, status=2).stderr


def test_memory_probes_of_opentelemetry():
    """An allocator says of each sampled block how many bytes it stands for, and when it is freed: the rest is alive at the end."""
    assert values("otel_memory:alloc/value=arg3:bytes/") == [512 << 10] * CALLS
    assert values("otel_memory:alloc/value=arg2:bytes/") == list(range(16, 16 + CALLS))
    alive = "alive:usdt:%s:otel_memory:alloc..usdt:%s:otel_memory:free/by=arg1:arg1,value=arg3:bytes/" % (PROGRAM, PROGRAM)
    events = list(record("-e", alive, "--", PROGRAM, CALLS).events())
    assert [event.value for event in events] == [512 << 10] * (CALLS // 2), len(events)
    assert all(user_frames(event)[0].name.startswith("work") for event in events), user_frames(events[0])


def test_a_span_may_lie_between_probes():
    needs("bpf", "raw tracepoints", "uprobes")
    span = "span:usdt:%s:known:counted..usdt:%s:known:guarded/by=arg1/" % (PROGRAM, PROGRAM)
    recording = record("-e", span, "--", PROGRAM, CALLS)
    recording.check()
    assert len(list(recording.events())) == CALLS


def test_what_is_not_there_is_named():
    for word, reason in (("usdt:%s:known:cuonted" % PROGRAM, "did you mean usdt:%s:known:counted" % PROGRAM),
                         ("usdt:%s:known:counted/value=arg6/" % PROGRAM, "the arguments of the probe are"),
                         ("usdt:/bin/true:a:b", "the file has no USDT probes"), ("usdt:true:", "expected usdt:PATH:PROVIDER:NAME")):
        refused = stackmap("record", "-e", word, "--", "true", status=None)
        assert refused.returncode and reason in refused.stderr, (word, refused.stderr)


def test_probes_of_the_interpreter_tell_its_collections():
    python = shutil.which("python3", path="/usr/bin")
    if not python or "gc__start" not in run(STACKMAP, "list", "usdt:%s:python:*" % python, status=None).stdout:
        raise Skip("no python3 with USDT probes here")
    script = "import gc\ngc.disable()\nfor i in range(20): gc.collect(i % 3)"
    recording = recorded("python:gc__start/value=arg1/", command=(python, "-c", script), path=python)
    seen = [event.value for event in recording.events()]
    assert "".join(map(str, [i % 3 for i in range(20)])) in "".join(map(str, seen)), seen


if __name__ == "__main__":
    main(globals())
