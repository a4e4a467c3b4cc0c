#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""OTLP profiles as a receiver decodes them, by the published definition. (Their sums are compared in test_sums and here.)"""

import json

from harness.blocked import record_blocked
from harness.cases import Skip, main, stackmap
from harness.exportable import inlined, real, report_of, small
from harness.exported import without_inlined
from harness.otlp import Otlp, single


def otlp_of(path, *options):
    stackmap("export", "-f", "otlp", "-o", path + ".otlp", *options, path)
    with open(path + ".otlp", "rb") as file:
        return Otlp(file.read())


def each_recording():
    yield small()
    for make in (real, inlined):
        try:
            yield make()
        except Skip as reason:
            print(reason)


def check_equal(found, expected):
    wrong = [(key, found.get(key), expected.get(key)) for key in {*found, *expected}
             if found.get(key) != expected.get(key)]
    assert not wrong, "%d stacks differ (export, report), such as %s" % (len(wrong), wrong[:3])


def test_sums():
    for path in each_recording():
        check_equal(otlp_of(path).sums(), report_of(path).renamed(without_inlined))


def test_filters():
    choice = ["--event", "sched:*", "--time", "101,111", "--comm", "sh"]
    expected = report_of(small(), *choice)
    assert len(expected) == 3
    check_equal(otlp_of(small(), *choice).sums(), expected)


def test_nothing_passes_the_filter():
    empty = otlp_of(small(), "--comm", "nobody")
    assert not empty.profiles and not empty.resource


def test_types_and_times():
    otlp = otlp_of(small())
    assert [otlp.type(profile) for profile in otlp.profiles] == [
        ("cpu-clock", "count"), ("sched:sched_switch", "count"), ("sched:sched_switch_value", "nanoseconds")]
    made = json.loads(stackmap("export", "-f", "json", small()).stdout)["recording"]
    for profile in otlp.profiles:
        assert single(profile, "duration_nano") == 12 * 10**9, profile["duration_nano"]
        assert single(profile, "time_unix_nano") > 10**18, made
    clocked, *others = otlp.profiles
    assert single(clocked, "period") == 10**9 // 99 and not any("period" in each for each in others)


def test_resource():
    otlp = otlp_of(small())
    assert otlp.resource == {"host.name": "testhost", "host.arch": "amd64", "os.type": "linux", "os.version": "6.1.0"}
    assert otlp.scope["name"] == "stackmap" and otlp.scope["version"]


def test_ledger_is_in_each_profile():
    """That of the recording, whatever is chosen of it."""
    ledger = json.loads(stackmap("report", "--json", small()).stdout)["ledger"]
    expected = {"stackmap.ledger.produced": ledger["produced"], "stackmap.ledger.recorded": ledger["recorded"],
                **{"stackmap.ledger.lost." + cause: lost for cause, lost in ledger["lost"].items() if lost}}
    for options in [], ["-e", "cpu-clock"]:
        otlp = otlp_of(small(), *options)
        assert otlp.profiles and all(otlp.attributes(profile) == expected for profile in otlp.profiles), expected
    assert sum(ledger["lost"].values()), "nothing lost in the recording of this test"


def test_places():
    """Mappings are files with build ids; code of files lies at its offset, also after a call; the kernel's frames say so."""
    otlp = otlp_of(small())
    assert otlp.attributes(otlp.mapping_of("/usr/bin/sh")) == {"process.executable.build_id.gnu": "1234"}
    assert otlp.attributes(otlp.mapping_of("[kernel.kallsyms]")) == {"process.executable.build_id.gnu": "aabbccdd"}
    found = {name: set() for name in ("main", "schedule")}
    for location in otlp.tables["location"][1:]:
        for name, _, _ in otlp.lines(location):
            if name in found:
                found[name].add((single(location, "address") & (1 << 40) - 1, otlp.attributes(location)["profile.frame.type"]))
    assert found["schedule"] == {(0xffffffff81001048 & (1 << 40) - 1, "kernel")}, found
    assert found["main"] == {(0x1040, "native"), (0x101f, "native")}, found


def test_attributes_of_samples():
    otlp = otlp_of(small())
    labels = [otlp.attributes(sample) for profile in otlp.profiles for sample in profile["samples"]]
    shell = {"thread.name": "sh", "process.pid": 100, "thread.id": 100, "cpu.logical_number": 0}
    for cgroup, service in ("/user.slice/sh.scope", "sh"), ("/user.slice", "user"):
        assert {**shell, "process.linux.cgroup": cgroup, "service.name": service} in labels, labels
    assert any((each["process.pid"], each["thread.id"]) == (200, 201) for each in labels)


def test_an_interrupt_is_no_thread():
    """A timer wakes a task that sleeps: the waker has a name, but no number."""
    record_blocked("--wakers")
    otlp = otlp_of("f.data")
    labels = [otlp.attributes(sample) for profile in otlp.profiles for sample in profile["samples"]]
    wakers = [each for each in labels if each["thread.name"] == "interrupt"]
    assert wakers and not any("thread.id" in each or "process.pid" in each for each in wakers), wakers
    assert all(each["thread.id"] != 0xffffffff for each in labels if each not in wakers), labels


def test_ids_are_those_of_the_content():
    """Equal exports have equal ids, so that a store can recognize them; another selection has other ids."""
    def ids(*options):
        return {single(profile, "profile_id") for profile in otlp_of(small(), *options).profiles}
    assert ids() == ids() and not ids() & ids("--comm", "sh")


def test_inlined_functions():
    """They are lines of one location, innermost first, with files and lines of the source."""
    otlp = otlp_of(inlined())
    several = [list(otlp.lines(location)) for location in otlp.tables["location"][1:] if len(location["lines"]) > 1]
    assert several and any(file.endswith(".c") and line for lines in several for _, file, line in lines), several[:2]


main(globals())
