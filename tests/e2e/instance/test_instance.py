#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The life of an instance without a process: it is started, outlives its shell, records, is paused, and ends, by stop or
because its folder is gone; then the kernel has freed all of its objects."""

import collections
import json
import os
import re
import shutil
import signal
import subprocess
import time

from harness.bpf_objects import is_there, shown
from harness.cases import SECONDS_MAX, STACKMAP, main, needs, needs_command, program, run, stackmap
from harness.engine_folder import ENGINE, HOME, enter_own_mounts, fresh_bpffs
from harness.instance import CALLS, path_of, read, stat_of, status_of
from harness.recording import function, parse_events, user_frames
from harness.waiting import wait_until

FILES = {"stack_map", "stack_map_stat", "stack_map_bin", "mappings", "trace"}
COMM = "counts-%d" % os.getpid()
COUNTS = program("known_counts", called=COMM)
CALLS_ONLY = ["-e", CALLS, "--comm", COMM]
LINE = re.compile(r"^%s-\d+ \[\d{3}\] \d+\.\d{6}: sys_enter_getppid: <stack_id \d+> <(user_stack_id|cookie) \d+>$" % COMM)


def begin(name, *options):
    needs("bpf", "raw tracepoints", "tracefs")
    fresh_bpffs()
    stackmap("start", name, *(options or CALLS_ONLY))


def call(count):
    run(COUNTS, "getppid=%d" % count)


def held_by(name):
    """The ids of all that the folder keeps alive: what is pinned there, the programs of its links, their maps; but not
    what the engine has pinned."""
    folder, engine = path_of(name, ""), path_of(ENGINE, "")
    pinned, kept = {}, set()
    everything = {kind: {one["id"]: one for one in shown(kind)} for kind in ("link", "prog", "map")}
    for kind, objects in everything.items():
        paths = {number: one.get("pinned", []) for number, one in objects.items()}
        pinned[kind] = {number for number in paths if any(path.startswith(folder) for path in paths[number])}
        kept |= {(kind, number) for number in paths if any(path.startswith(engine) for path in paths[number])}
    programs = pinned["prog"] | {everything["link"][link]["prog_id"] for link in pinned["link"]}
    maps = pinned["map"].union(*(everything["prog"][one].get("map_ids", []) for one in programs)) & set(everything["map"])
    assert pinned["link"] and programs and maps
    return {("link", one) for one in pinned["link"]} | {("prog", one) for one in programs} | \
        {("map", one) for one in maps} - kept


def wait_until_freed(objects):
    """The kernel frees after a grace period, and in turn."""
    wait_until(lambda: not any(is_there(*one) for one in objects))


def fails(*arguments, status=1):
    message = stackmap(*arguments, status=status).stderr
    assert message.startswith("stackmap: ") and message.count("\n") == 1, message
    return message


def test_it_outlives_its_shell():
    needs("bpf", "raw tracepoints", "tracefs")
    fresh_bpffs()
    run("setsid", "sh", "-c", "exec '%s' start life %s" % (STACKMAP, " ".join(CALLS_ONLY)))
    call(1000)
    lines = read("life", "trace").splitlines()
    assert len(lines) == 1000 and all(LINE.match(line) for line in lines), lines[:3]
    stat = stat_of("life")
    assert stat["recorded"] == stat["produced"] == "1000", stat
    assert "  [0] " in read("life", "stack_map")
    stackmap("stop", "life")


def test_its_folder():
    begin("folder")
    assert set(os.listdir(path_of("folder"))) == FILES | {"pins"}
    assert not os.stat(HOME).st_mode & 0o066, "nobody else lists it"
    assert os.stat(path_of("folder")).st_mode & 0o777 == 0o700
    assert os.stat(path_of("folder", "pins")).st_mode & 0o777 == 0o700
    for name in FILES:
        assert os.stat(path_of("folder", name)).st_mode & 0o777 == 0o400, name
    stackmap("stop", "folder")


def test_for_a_group():
    begin("group", *CALLS_ONLY, "--group", "users")
    gid = int(run("getent", "group", "users").stdout.split(":")[2])
    for name in FILES:
        status = os.stat(path_of("group", name))
        assert (status.st_mode & 0o777, status.st_gid) == (0o440, gid), name
    status = os.stat(path_of("group"))
    assert (status.st_mode & 0o777, status.st_gid) == (0o750, gid)
    assert os.stat(path_of("group", "pins")).st_mode & 0o777 == 0o700
    stackmap("stop", "group")


def test_status():
    before = time.time()
    begin("about", *CALLS_ONLY, "--ring", "64K", "--bits", 12)
    call(300)
    status = status_of("about")
    assert status["state"] == "recording" and status["mode"] == "drain" and status["reader"] is None
    assert before - 1 <= status["since"] <= time.time()
    assert status["sources"] == [CALLS] and " start about " in status["command"]
    assert status["ledger"]["recorded"] == 300
    stat = stat_of("about")
    entries, places = map(int, stat["entries"].split(" / "))
    assert status["stack_map"]["entries"] == entries > 0 and status["stack_map"]["max_entries"] == places
    assert status["stack_map"]["generation"] == int(stat["generation"])
    assert status["memory"] > 1 << 16
    text = stackmap("status", "about").stdout
    assert "about" in text and "recording" in text and CALLS in text and "300 recorded" in text, text
    stackmap("stop", "about")


def places(name, map_name):
    needs_command("bpftool", "version")
    return json.loads(run("bpftool", "-j", "map", "show", "pinned", path_of(name, "pins/map_" + map_name)).stdout)["max_entries"]


def test_no_room_for_what_it_does_not_take():
    """The memory for threads' user stacks is large, and not made without user stacks."""
    begin("kernel", *CALLS_ONLY, "--no-user")
    for map_name in ("deferrals", "works", "execve_calls"):
        assert places("kernel", map_name) == 1, map_name
    call(10)
    run("true")
    assert status_of("kernel")["ledger"]["recorded"] == 10
    stackmap("stop", "kernel")


def test_status_of_all():
    begin("one")
    stackmap("start", "two", *CALLS_ONLY, "--flight", "1M")
    stackmap("pause", "two")
    found = {one["name"]: one for one in json.loads(stackmap("status", "--json").stdout)["instances"]}
    assert set(found) == {"one", "two"}
    assert [found[name]["state"] for name in ("one", "two")] == ["recording", "paused"]
    assert [found[name]["mode"] for name in ("one", "two")] == ["drain", "flight"]
    lines = stackmap("status").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["NAME", "one", "two"], lines
    stackmap("stop", "one")
    stackmap("stop", "two")


def test_status_names_the_reader():
    begin("reader")
    with subprocess.Popen([STACKMAP, "script", "--instance", "reader", "-f"], stdout=subprocess.PIPE) as reader:
        wait_until(lambda: status_of("reader")["reader"] == reader.pid)
        assert "process %d" % reader.pid in stackmap("status", "reader").stdout
        call(1)
        assert COMM.encode() in reader.stdout.readline()
        fails("script", "--instance", "reader", "-f")
        reader.send_signal(signal.SIGINT)
    assert reader.returncode == 0
    assert status_of("reader")["reader"] is None
    stackmap("stop", "reader")


def test_status_without_instances():
    needs("bpf")
    fresh_bpffs()
    assert json.loads(stackmap("status", "--json").stdout) == {"instances": []}
    assert "no instance" in stackmap("status").stdout
    assert not os.path.exists(HOME), "looking makes nothing"


def pause_and_resume(*options):
    begin("pause", *CALLS_ONLY, *options)
    call(100)
    for _ in range(2):
        stackmap("pause", "pause")
        assert status_of("pause")["state"] == "paused"
    call(50)
    assert len(read("pause", "trace").splitlines()) == 100
    for _ in range(2):
        stackmap("resume", "pause")
        assert status_of("pause")["state"] == "recording"
    call(30)
    ledger = status_of("pause")["ledger"]
    assert (ledger["produced"], ledger["recorded"], ledger["lost"]["paused"]) == (180, 130, 50), ledger
    assert len(read("pause", "trace").splitlines()) == 130
    stackmap("stop", "pause")


def test_pause_and_resume():
    pause_and_resume()


def test_pause_and_resume_a_flight_recorder():
    pause_and_resume("--flight", "1M")


def line_of(name):
    """Of the list of instances: heading -> word."""
    heads, *lines = stackmap("status").stdout.splitlines()
    words = next(line for line in lines if line.startswith(name)).split()
    words[3:5] = [" ".join(words[3:5])]  # date and time
    return dict(zip(heads.split(), words))


def test_the_default_map_has_room():
    begin("room", "-e", CALLS, "--flight", "1M", "--comm", COMM)
    call(50)
    status = status_of("room")
    assert status["stack_map"]["max_entries"] == 1 << 17 and status["stack_map"]["not_counted"] == 0, status
    assert 1 << 20 <= status["memory_rings"] < 3 << 19 and status["memory_stack_map"] > 32 << 20, status
    assert status["memory"] > status["memory_rings"] + status["memory_stack_map"], status
    assert "not counted" not in stackmap("status", "room").stdout
    assert line_of("room")["MAP"] == stat_of("room")["full"] == "0%", line_of("room")


def test_what_a_full_map_does_not_count():
    """12,000 call paths, each twice: status, the list, the file and top say what is not in a map of 1,024. Stacks of execve
    calls of other tasks come in addition."""
    needs("uprobes")
    workload = program("call_paths")
    begin("full", "-e", "u:%s:leaf" % workload, "--no-kernel", "--bits", 10, "--flight", "8M")
    run(workload, 12000, 2)
    stacks, stat = status_of("full")["stack_map"], stat_of("full")
    assert stacks["full"] >= 95 and stacks["counted"] + stacks["not_counted"] >= 23900, stacks
    assert 23900 - 2 * 1024 <= stacks["not_counted"] <= int(stat["drops"]), (stacks, stat)
    assert (stat["full"], line_of("full")["MAP"]) == ("%d%%" % stacks["full"], "full"), stat
    text = stackmap("status", "full").stdout
    assert re.search(r"^  not counted  9\d\.\d % of the stacks of events, ", text, re.MULTILINE), text
    shown = stackmap("top", "--instance", "full", "--batch", "-n", 1).stdout
    told = re.search(r"; stack map: full, (\d+) stacks of events are not in it", shown)
    assert told and int(told[1]) >= stacks["not_counted"], shown


def test_counts_of_user_stacks():
    """-v prints the counts of the file, of the whole life of the instance."""
    needs("BPF task work")
    begin("counts", *CALLS_ONLY, "--flight", "1M")
    call(100)
    done = stackmap("record", "-v", "--instance", "counts", "-o", "f.data")
    counts = dict(re.findall(r"^stackmap: (user_\w+): (\d+)$", done.stderr, re.MULTILINE))
    stat = {name: value for name, value in stat_of("counts").items() if name in counts or name.startswith("user_") and value != "0"}
    assert stat == counts, (stat, done.stderr)
    stacks = [int(count) for name, count in counts.items() if name == "user_walked" or name.startswith("user_deferred_")]
    assert sum(stacks) == 100, done.stderr
    stackmap("stop", "counts")


def test_stop_leaves_nothing():
    needs("perf events", "uprobes")
    begin("stop", "-e", CALLS, "-e", "u:%s:counted" % COUNTS, "-e", "page-faults", "-e", "cpu-clock")
    objects = held_by("stop")
    assert all(is_there(*one) for one in objects)
    stackmap("stop", "stop")
    assert not os.path.exists(HOME), os.listdir(HOME)
    wait_until_freed(objects)


def test_a_removed_folder_ends_it():
    begin("removed", "-e", CALLS, "-e", "page-faults")
    objects = held_by("removed")
    shutil.rmtree(path_of("removed"))
    wait_until_freed(objects)
    assert "removed" in fails("status", "removed")
    stackmap("start", "removed", *CALLS_ONLY)
    call(10)
    assert status_of("removed")["ledger"]["recorded"] == 10
    stackmap("stop", "removed")
    assert not os.path.exists(HOME)


def test_removed_while_it_is_read():
    """A reader with an open file reads it to its end, and keeps only the objects that this needs."""
    begin("read")
    call(100)
    objects = held_by("read")
    with open(path_of("read", "trace"), encoding="utf-8") as trace:
        shutil.rmtree(path_of("read"))
        assert len(trace.read().splitlines()) == 100
    wait_until_freed(objects)


def test_user_functions_that_nobody_reads():
    """The kernel learns how to walk them: far more events than there is room to save stacks for."""
    source = "u:%s:counted" % COUNTS
    begin("unread", "-e", source)
    run(COUNTS, "calls=20000")
    events = parse_events(stackmap("script", "--no-inline", "--instance", "unread").stdout)
    assert len(events) == status_of("unread")["ledger"]["recorded"] == 20000
    stacks = collections.Counter(tuple(function(frame) for frame in user_frames(event)) for event in events)
    stack, count = stacks.most_common(1)[0]
    assert stack[0] == "counted" and "main" in stack and count > 19990, stacks
    stackmap("stop", "unread")


def test_two_starts_at_once():
    """One start wins and records; the other one reports the reason and leaves no objects."""
    needs("bpf", "raw tracepoints", "tracefs")
    for _ in range(3):
        fresh_bpffs()
        both = [subprocess.Popen([STACKMAP, "start", "race", *CALLS_ONLY], stderr=subprocess.PIPE) for _ in range(2)]
        messages = [one.communicate(timeout=SECONDS_MAX)[1].decode() for one in both]
        assert sorted(one.returncode for one in both) == [0, 1], messages
        loser = next(message for one, message in zip(both, messages) if one.returncode)
        assert "race" in loser and loser.count("\n") == 1, loser
        assert set(os.listdir(HOME)) == {ENGINE, "race"}
        call(10)
        assert status_of("race")["ledger"]["recorded"] == 10
        stackmap("stop", "race")
        assert not os.path.exists(HOME), os.listdir(HOME)


def test_an_engine_that_cannot_be_shared():
    """It says so, and records by itself."""
    begin("first")
    os.unlink(path_of(ENGINE, "rules"))
    assert "engine" in stackmap("start", "second", *CALLS_ONLY).stderr
    call(10)
    for name in ("first", "second"):
        assert status_of(name)["ledger"]["recorded"] == 10
        stackmap("stop", name)
    assert not os.path.exists(HOME), os.listdir(HOME)
    assert "engine" not in stackmap("start", "third", *CALLS_ONLY).stderr
    stackmap("stop", "third")


def test_a_name_in_use():
    begin("used")
    assert "used" in fails("start", "used", *CALLS_ONLY)
    call(10)
    assert status_of("used")["ledger"]["recorded"] == 10, "the first one is untouched"
    stackmap("stop", "used")


def test_bad_names():
    needs("bpf")
    fresh_bpffs()
    for command in (["start"], ["status"], ["pause"], ["resume"], ["stop"]):
        options = CALLS_ONLY if command == ["start"] else []
        for name in (ENGINE, "", "a/b", "..", "a.b", "ä", "a" * 61, "a b"):
            fails(*command, name, *options, status=2)
    assert not os.path.exists(HOME)
    longest = "a" * 60
    begin(longest)
    assert status_of(longest)["state"] == "recording"
    stackmap("stop", longest)


def test_unknown_instances():
    needs("bpf")
    fresh_bpffs()
    for command in ("status", "pause", "resume", "stop"):
        assert "nobody" in fails(command, "nobody")
    assert not os.path.exists(HOME)
    for command in ("start", "pause", "resume", "stop"):
        fails(command, status=2)


def test_a_start_that_fails_leaves_nothing():
    needs("bpf")
    fresh_bpffs()
    fails("start", "no", "-e", "no:such_event")
    fails("start", "no", "--cgroup", "/nowhere", "-e", "page-faults")
    fails("start", "no", "-e", "page-faults", "--group", "no-such-group-here", status=2)
    assert not os.path.exists(HOME), os.listdir(HOME)


def test_another_version_is_refused():
    """Its map `metadata` says another number."""
    begin("other")
    folder = path_of("other", "pins")
    os.unlink(os.path.join(folder, "map_metadata"))
    run("bpftool", "map", "create", os.path.join(folder, "map_metadata"), "type", "array", "key", 4, "value", 32, "entries", 1,
        "name", "about")
    version = [200] + 31 * [0]
    run("bpftool", "map", "update", "pinned", os.path.join(folder, "map_metadata"), "key", *4 * [0], "value", *version)
    for command in (["status", "other"], ["pause", "other"]):
        assert "200" in fails(*command), "names the other version"
    stackmap("stop", "other")
    assert not os.path.exists(HOME)


if __name__ == "__main__":
    enter_own_mounts()
    main(globals())
