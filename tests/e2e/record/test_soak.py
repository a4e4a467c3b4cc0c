#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Mixed load for a while, STACKMAP_SOAK_SECONDS (20): data of ended tasks is deleted, no task waits for ever, no unwinder
stays claimed, and every event is accounted for. The load tells when all but its residents are gone, so nothing is guessed
from time. Runs in a mount namespace with an engine of its own."""

import contextlib
import glob
import json
import os
import platform
import re
import time

from harness.cases import main, needs, needs_command, program, run
from harness.engine_folder import enter_own_mounts, fresh_bpffs
from harness.recorder import Recorder
from harness.recording import check_ledger

SECONDS = float(os.environ.get("STACKMAP_SOAK_SECONDS", 20))
TASKS_FIRST, TASKS = 10000, 500
# arm64 has no tracepoint for page faults, but the software event.
FAULTS = "exceptions:page_fault_user" if platform.machine() == "x86_64" else "page-faults"
EVENTS = ["cpu-clock", "sched:sched_switch", FAULTS, "syscalls:sys_enter_futex",
          "syscalls:sys_enter_execve", "syscalls:sys_exit_execve", "syscalls:sys_enter_rt_sigreturn",
          "syscalls:sys_enter_exit_group"]

# Maps whose keys are tasks, and how a key says which.
BY_TASK = {"deferrals": 0, "engine_tasks": 0, "works": 1, "execve_calls": 0, "followed": 0}
# Of these, so many of the latest exits may still be there.
FOLLOWED, EXITED_MAX = "followed", 1024
PENDING, STATE_BITS = 1, 2
MAPPING_FILE = 1


class Maps:
    """The maps of one recorder, by name."""

    def __init__(self, pid):
        self.ids = {}
        for file in glob.glob("/proc/%d/fdinfo/*" % pid):
            found = None
            with contextlib.suppress(FileNotFoundError), open(file, encoding="ascii") as lines:  # else closed since
                found = re.search(r"^map_id:\s*(\d+)$", lines.read(), re.M)
            if found:
                shown = json.loads(run("bpftool", "-j", "map", "show", "id", found[1]).stdout)
                self.ids[shown["name"]] = shown["id"]

    def entries(self, name):
        """key -> value; as the map may change meanwhile, an entry may be gone again."""
        if name not in self.ids:
            return {}
        dump = json.loads(run("bpftool", "-j", "map", "dump", "id", self.ids[name]).stdout)
        found = [entry["formatted"] for entry in dump if "formatted" in entry]
        return {json.dumps(entry["key"]): entry["value"] for entry in found}

    def files(self):
        """Not the vDSO, which a sample may meet at any time."""
        return {key for key in self.entries("mapping_numbers") if json.loads(key)["kind"] == MAPPING_FILE}

    def tasks(self, name):
        return {int(key) >> BY_TASK[name] for key in self.entries(name)}

    def waiting(self):
        """task -> its cookie, of those that wait for an answer."""
        words = {int(key): value["word"] for key, value in self.entries("deferrals").items()}
        return {tid: word >> STATE_BITS for tid, word in words.items() if word & (1 << STATE_BITS) - 1 == PENDING}

    def claimed(self):
        return [index for index, unwinder in self.entries("unwinders").items() if unwinder["busy"]]


def resident_bytes(pid):
    with open("/proc/%d/statm" % pid, encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def load_pid(recorder):
    with open("/proc/%d/task/%d/children" % (recorder.process.pid, recorder.process.pid), encoding="ascii") as file:
        return int(file.read().split()[0])


def threads_of(pid):
    return set(map(int, os.listdir("/proc/%d/task" % pid)))


def second_recording(pid):
    """Another instance, which comes and goes."""
    recorder = Recorder("-p", pid, "-e", "sched:sched_switch", "--", "cat", output="second.data")
    recorder.say(b"x\n")
    return recorder


class Soak:
    def __init__(self):
        arguments = [word for name in EVENTS for word in ("-e", name)]
        self.recorder = Recorder("-m", "64M", *arguments, "--", program("soak_load"))
        self.rounds = 0
        self.waiting = {}
        self.play(TASKS_FIRST)
        self.pid = load_pid(self.recorder)
        self.maps = Maps(self.recorder.process.pid)
        self.inspect()
        self.round()
        self.files = self.maps.files()

    def play(self, tasks):
        self.recorder.say(b"%d\n" % tasks)
        self.rounds += 1

    def inspect(self):
        """After a round: who waits now has not waited since the last one, as it has been in user mode."""
        gone = {name: self.maps.tasks(name) - threads_of(self.pid) for name in BY_TASK}
        exited = gone.pop(FOLLOWED)
        assert len(exited) <= EXITED_MAX, "%d tasks are followed that are gone: %s" % (len(exited), sorted(exited)[:10])
        for name, tasks in gone.items():
            assert not tasks, "%s remembers %d tasks that are gone: %s" % (name, len(tasks), sorted(tasks)[:10])
        waiting = self.maps.waiting()
        stuck = waiting.items() & self.waiting.items()
        assert not stuck, "waiting since the round before: %s" % stuck
        self.waiting = waiting

    def round(self):
        second = second_recording(self.pid)
        self.play(TASKS)
        check_ledger(second.end().ledger())
        self.inspect()

    def end(self):
        assert not self.maps.claimed(), self.maps.claimed()
        files = self.maps.files() - self.files
        assert not files, "the load has no other files than at first: %s" % files
        return self.recorder.end().ledger()


def check_account(ledger):
    check_ledger(ledger)
    assert not any(ledger["lost"].values()), ledger
    users = ledger["user_stacks"]
    assert users["complete"] + users["unknown_end"] + sum(users["stops"].values()) + sum(users["reasons"].values()) == ledger["recorded"], users
    for reason in "unanswered", "answer_lost", "no_state", "gone":
        assert not users["reasons"][reason], users


def test_mixed_load():
    needs("bpf", "raw tracepoints", "perf events")
    needs_command("bpftool", "version")
    fresh_bpffs()
    soak = Soak()
    begin, size = time.monotonic(), resident_bytes(soak.recorder.process.pid)
    while time.monotonic() - begin < SECONDS:
        soak.round()
    growth = resident_bytes(soak.recorder.process.pid) - size
    ledger = soak.end()
    print("%d rounds, %d events, the recorder grew by %d KiB; user stacks: %s" % (
        soak.rounds, ledger["recorded"], growth >> 10, json.dumps(ledger["user_stacks"])))
    check_account(ledger)


if __name__ == "__main__":
    enter_own_mounts()
    main(globals())
