#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Kernels that refuse single features, as LSMs, lockdown and containers do: every command uses the next simpler way and
names it, or prints one line with the refused feature and the reason that doctor gives beforehand. The test prints a row of
docs/kernels.md for each feature."""

import contextlib
import json
import os

from harness.cases import STACKMAP, Skip, main, needs, program, run, stackmap
from harness.engine_folder import enter_own_mounts, fresh_bpffs

WORKLOAD = program("known_counts")
FEATURES = ["map-iterators", "symbol-iterators", "task-iterators", "task-work", "raw-tracepoints",
            "raw-tracepoint-cookies", "typed-tracepoints", "perf-events", "uprobe-multi", "uprobes"]
RESTRICTIONS = [[feature] for feature in FEATURES] + [
    ["map-iterators", "symbol-iterators"], ["uprobe-multi", "uprobes"], FEATURES]
NAME = "restricted"
NOBODY_HERE = "http://127.0.0.1:1"
IGNORED = (" events, ", " files gave no names ", "symbols were not read in time")


def refusing(refused, *arguments, status=None):
    done = run(program("refuse_feature"), ",".join(refused), STACKMAP, *arguments, status=None)
    if done.returncode == 77:
        raise Skip(done.stderr.strip())
    if status is not None:
        assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done


def messages(done):
    """The command's messages, without the usual ones and those of names that a loaded machine did not give in time."""
    lines = [line.removeprefix("stackmap: ") for line in done.stderr.splitlines()]
    usual = ("ledger: ", "Total: ", NAME + ": records until ", NOBODY_HERE, "agent: ")
    return [line for line in lines if not line.startswith(usual) and not any(words in line for words in IGNORED)]


def outcome(done):
    """A cell of the table: how the command works, or what it says."""
    said = messages(done)
    if done.returncode == 0:
        return "; ".join(["works", *said])
    assert done.returncode == 1 and len(said) == 1, (done.returncode, done.stderr)
    return "refused: " + said[0]


def recorded(done, path):
    """The recording is complete, or does not exist."""
    if done.returncode == 0:
        report = json.loads(run(STACKMAP, "report", "-j", path).stdout)["ledger"]
        assert report["recorded"] > 0 and report["produced"] == report["recorded"], report
    else:
        assert not os.path.exists(path), path
    return outcome(done)


CALLS = [WORKLOAD, "calls=2000", "getppid=2000"]
WORK = [WORKLOAD, "calls=300000000"]
WAITS = ["sh", "-c", "sleep 0.1; sleep 0.1"]


def record(refused, *options, command=CALLS):
    with contextlib.suppress(FileNotFoundError):
        os.unlink("r.data")
    return recorded(refusing(refused, "record", "-o", "r.data", *options, "--", *command), "r.data")


def instance(refused):
    """An instance from start to stop: each command that reads it works, with and without files."""
    started = refusing(refused, "start", NAME, "-e", "syscalls:sys_enter_getppid")
    if started.returncode:
        return outcome(started)
    try:
        run(WORKLOAD, "getppid=500")
        folder = os.path.join("/sys/fs/bpf/stackmap", NAME)
        has_files = os.path.exists(folder + "/stack_map")
        for name in ("stack_map", "stack_map_bin", "stack_map_stat", "mappings", "trace") if has_files else ():
            with open(os.path.join(folder, name), "rb") as file:
                assert file.read(), name
        assert has_files != ("files that cat could read" in started.stderr), started.stderr
        assert NAME in refusing(refused, "status", status=0).stdout
        stacks = json.loads(refusing(refused, "dump", "--instance", NAME, "-j", status=0).stdout)
        assert sum(stack["ref_count"] for stack in stacks) >= 500, stacks
        if has_files:
            assert json.loads(run(STACKMAP, "dump", "-j", folder + "/stack_map_bin").stdout)
        assert "sys_enter_getppid" in refusing(refused, "script", "--instance", NAME, status=0).stdout
    finally:
        refusing(refused, "stop", NAME, status=0)
    return outcome(started)


def top(refused):
    done = refusing(refused, "top", "-b", "-n", "1", "-d", "1")
    return outcome(done)


def agent(refused):
    """The agent has no store: windows stay in the spool."""
    os.makedirs("spool", mode=0o700, exist_ok=True)
    return outcome(refusing(refused, "agent", "--config", "/dev/null", "--to", NOBODY_HERE, "--spool", "spool", "--window", "1",
                            "--once", "1", "-F", "99"))


COMMANDS = {
    "record -F": lambda refused: record(refused, "-F", "999", command=WORK),
    "record -e TRACEPOINT": lambda refused: record(refused, "-a", "-e", "sched:sched_switch"),
    "record -e SYSCALL": lambda refused: record(refused, "-e", "syscalls:sys_enter_getppid"),
    "record -e u:": lambda refused: record(refused, "-e", "u:%s:counted" % WORKLOAD),
    "record --off-cpu": lambda refused: record(refused, "--off-cpu", command=WAITS),
    "record --flight": lambda refused: record(refused, "--flight", "1M", "-e", "syscalls:sys_enter_getppid"),
    "start, status, dump, script, stop": instance,
    "top": top,
    "agent": agent,
}


def reasons(refused):
    """doctor under the same refusals: the reason of each feature that it says no to."""
    found, last = {}, None
    for line in refusing(refused, "doctor").stdout.splitlines():
        if line.startswith(("yes  ", "no   ")):
            last = line[5:29].strip()
            found[last] = None if line.startswith("yes") else ""
        elif line.strip().startswith("why:") and last:
            found[last] = line.split("why:", 1)[1].strip()
    return {feature: why for feature, why in found.items() if why}


def check(refused):
    why = reasons(refused)
    for name in refused:
        words = name.replace("-", " ")
        told = {"task work": "BPF task work"}.get(words, words)
        assert told in why or words == "typed tracepoints", (name, why)
    for command, way in COMMANDS.items():
        cell = way(refused)
        print("restricted: %s | %s | %s" % (" + ".join(refused) if refused != FEATURES else "all", command, cell))
        if cell.startswith("refused: "):
            assert any(feature in cell and reason in cell for feature, reason in why.items()), (cell, why)


def begin():
    """The mounts are this test's own, so are the facts of this boot: which features have worked before."""
    needs("bpf", "perf events", "raw tracepoints")
    fresh_bpffs()
    run("mount", "-t", "tmpfs", "none", "/run")


def test_each_feature_refused():
    begin()
    for refused in RESTRICTIONS:
        run("rm", "-rf", "/run/stackmap")
        check(refused)


def test_features_that_are_refused_later():
    """A feature has worked on this boot, and the next command is refused it."""
    begin()
    stackmap("record", "-o", "before.data", "-a", "--off-cpu", "-F", "99", "--", "true")
    for refused in (["map-iterators"], ["task-iterators"], ["task-work"], ["uprobe-multi"]):
        for way in COMMANDS.values():
            assert way(refused).startswith("works"), (refused, way)


enter_own_mounts()
main(globals())
