#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Every export has the events of the report: as many by every stack, with the same values, whatever the names are."""

import collections
import functools
import gzip
import json
import os
import re
import shutil
import stat
import subprocess

from harness.cases import STACKMAP, Skip, main, needs, needs_command, one_of_several, program, run, stackmap
from harness.exportable import export, in_folder, inlined, real, report_of, small
from harness.exported import (Perfetto, Pprof, Sums, as_folded, as_perf_script, check_chrome_tracks, read_chrome, read_folded, read_perf_script,
                              read_speedscope, stacks_of_report, without_inlined)
from harness.recording import record

PROTO_FOLDER = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "..", "lib", "export")
HOSTILE_NAME = 'a "b;c\n\\ \xff\t(2) x'


@functools.cache
def hostile():
    """A program and a folder whose name is made to break every format."""
    needs("bpf", "raw tracepoints")
    os.mkdir(HOSTILE_NAME.encode("latin-1"))
    path = os.path.join(HOSTILE_NAME, HOSTILE_NAME[:14]).encode("latin-1")
    shutil.copy(program("known_counts"), path)
    record("-e", "syscalls:sys_enter_getppid", "--", os.fsdecode(path), "getppid=50", output=in_folder("hostile.data"))
    return in_folder("hostile.data")


def each_recording():
    yield small()
    for make in (real, inlined, hostile):
        try:
            yield make()
        except Skip as reason:
            print(reason)


def pprof_of(path, *options):
    stackmap("export", "-f", "pprof", "-o", path + ".pb.gz", *options, path)
    return Pprof(path + ".pb.gz")


def by_value(sums):
    """Where a source has no values, perf's text counts each event as 1."""
    with_values = {event for (event, _, _), (_, value) in sums.items() if value}
    for (event, _, _), both in sums.items():
        if event not in with_values:
            both[1] = both[0]
    return sums


def check_equal(found, expected):
    wrong = [(key, found.get(key), expected.get(key)) for key in {*found, *expected}
             if found.get(key) != expected.get(key)]
    assert not wrong, "%d stacks differ (export, report), such as %s" % (len(wrong), wrong[:3])


def by_number(sums):
    """With a single number: of the events."""
    return Sums({key: [number, 0] for key, (number, _) in sums.items()})


def by_weight(sums, events):
    """With a single number: the sum of the values for these events."""
    return Sums({key: [value if key[0] in events else number, 0] for key, (number, value) in sums.items()})


def folded(path, *options):
    events = {event for event, _, _ in report_of(path, *options)}
    return read_folded(export("folded", path, *options), events.pop() if len(events) == 1 else None)


def test_folded():
    for path in each_recording():
        expected = report_of(path).renamed(as_folded)
        check_equal(folded(path, "--by", "count"), by_number(expected))
        sources = {source["name"] for source in json.loads(export("json", path))["sources"] if source["value_unit"]}
        check_equal(folded(path), by_weight(expected, sources))


def test_folded_by_value():
    """A flame graph of off-CPU events shows times, not numbers of waits. Each source is weighed by itself."""
    path = small()
    expected = report_of(path).renamed(as_folded)
    check_equal(folded(path, "--by", "value"), by_weight(expected, {"sched:sched_switch"}))
    check_equal(folded(path), folded(path, "--by", "value"))
    total = sum(int(line.split()[-1]) for line in export("folded", path, "-e", "sched:*").splitlines())
    assert total == sum(value for _, value in expected.values()) == 1500


def test_weight_is_of_folded_alone():
    path = small()
    for form in ("pprof", "speedscope", "perf-script", "json"):
        done = stackmap("export", "-f", form, "--by", "value", "-o", "out", path, status=2)
        assert "--by value: --format %s has no choice of it" % form in done.stderr and not os.path.exists("out")
    assert "must be one of count, value" in stackmap("export", "--by", "time", path, status=2).stderr


def test_json():
    for path in each_recording():
        check_equal(stacks_of_report(json.loads(export("json", path))), report_of(path))


def test_speedscope():
    for path in each_recording():
        check_equal(read_speedscope(export("speedscope", path)), report_of(path))


def test_perf_script():
    for path in each_recording():
        check_equal(read_perf_script(export("perf-script", path)), by_value(report_of(path).renamed(as_perf_script)))


def test_chrome():
    for path in each_recording():
        check_equal(read_chrome(export("chrome", path)), report_of(path))


@one_of_several
def test_chrome_shows_who_woke_whom():
    """An arrow for each wait that a thread ended."""
    needs("typed tracepoints")
    recording = record("--wakers", "--", program("waits"), "chain", 20)
    text = export("chrome", recording.path)
    check_equal(read_chrome(text), report_of(recording.path))
    _, arrows = check_chrome_tracks(json.loads(text)["traceEvents"])
    pairs = json.loads(recording.read("report", "--wakers", "--json"))["pairs"]
    assert len(arrows) == sum(pair["count"] for pair in pairs if pair["waker"] and "interrupt" not in pair["waker"]) >= 4, pairs
    assert export("chrome", recording.path, "--comm", "fourth").count('"ph":"f"') == 0


@one_of_several
def test_chrome_shows_the_states_of_threads():
    """They lie side by side, and add up to the life of each thread."""
    needs("typed tracepoints")
    recording = record("--time", "--wakers", "--", program("waits"), "lock", 20)
    text = export("chrome", recording.path)
    check_equal(read_chrome(text), report_of(recording.path))
    states = collections.defaultdict(collections.Counter)
    for event in json.loads(text)["traceEvents"]:
        if event["ph"] == "X" and event["cat"].startswith("time:"):
            assert event["cat"] == "time:" + event["name"], event
            states[event["tid"]][event["name"]] += round(event["dur"] * 1000)
    rows = json.loads(recording.read("report", "--thread-time", "--json"))["rows"]
    for row in rows:
        names = "running", "runnable", "interruptible", "uninterruptible", "stopped"
        assert {name: states[row["tid"]][name] for name in names} == {name: row[name] for name in names}, (row, states)
    assert len(rows) == len(states) == 3, rows
    assert '"time:running"' not in export("chrome", recording.path, "--event", "time:runnable")


def perfetto_of(path, *options):
    stackmap("export", "-f", "perfetto", "-o", "trace.perfetto", *options, path)
    return Perfetto("trace.perfetto")


def test_perfetto():
    """Samples of CPUs have no source there."""
    for path in each_recording():
        samples = {row["event"] for row in json.loads(stackmap("report", "--json", path).stdout)["stacks"]} & {"cpu-clock", "cycles"}
        check_equal(perfetto_of(path).sums, report_of(path).renamed(
            lambda event, task, stack, samples=samples: ("sample" if event in samples else event, "<...>" if task == "[unknown]" else task, stack)))


@one_of_several
def test_perfetto_shows_states_and_wake_ups():
    needs("typed tracepoints")
    recording = record("--time", "--wakers", "--", program("waits"), "chain", 20)
    trace = perfetto_of(recording.path)
    check_equal(trace.sums, report_of(recording.path))
    rows = {row["tid"]: row for row in json.loads(recording.read("report", "--thread-time", "--json"))["rows"]}
    sums = collections.defaultdict(collections.Counter)
    for thread, slices in trace.slices.items():
        for begin, end, name in slices:
            sums[thread][name] += end - begin
    for tid, row in rows.items():
        for state in "runnable", "interruptible", "uninterruptible", "stopped":
            assert sums[tid]["time:" + state] == row[state], (tid, state, sums[tid], row)
        changes = sorted(change[1:3] for change in trace.states if change[0] == tid)
        assert {state for _, state in changes} <= {"runnable", "running", "interruptible", "uninterruptible"}, changes
        assert not any(first == second == "running" for (_, first), (_, second) in zip(changes, changes[1:])), changes
    trace = perfetto_of(record("--wakers", "--", program("waits"), "chain", 20).path)
    assert trace.ends and trace.ends <= trace.flows and not trace.lost, (trace.flows, trace.ends)


def test_pprof():
    for path in each_recording():
        check_equal(pprof_of(path).sums(), report_of(path).renamed(without_inlined))


def test_filters():
    """The same choice of events in all formats."""
    path = small()
    choice = ["--event", "sched:*", "--time", "101,111", "--comm", "sh"]
    expected = report_of(path, *choice)
    assert len(expected) == 3 and len(expected) < len(report_of(path))
    check_equal(folded(path, "--by", "count", *choice), by_number(expected))
    check_equal(read_speedscope(export("speedscope", path, *choice)), expected)
    check_equal(read_perf_script(export("perf-script", path, *choice)), expected)
    check_equal(read_chrome(export("chrome", path, *choice)), expected)
    check_equal(pprof_of(path, *choice).sums(), expected)


def test_nothing_passes_the_filter():
    """Each is a file of its format, without events."""
    path = small()
    nothing = ["--comm", "nobody"]
    assert export("folded", path, *nothing) == export("perf-script", path, *nothing) == ""
    assert not read_speedscope(export("speedscope", path, *nothing))
    assert not read_chrome(export("chrome", path, *nothing))
    assert not pprof_of(path, *nothing).samples


def test_pprof_places():
    """Mappings are files with build ids; code of files lies at its offset, also after a call."""
    pprof = pprof_of(small())
    files = {pprof.text(mapping[5]): mapping for mapping in pprof.mappings.values()}
    assert pprof.text(files["/usr/bin/sh"][6]) == "1234"
    assert pprof.text(files["[kernel.kallsyms]"][6]) == "aabbccdd"
    addresses = {name: {location[3][0] for number, location in pprof.locations.items() if pprof.names(number) == [name]}
                 for name in ("main", "schedule")}
    assert addresses["schedule"] == {0xffffffff81001048}
    assert {address & (1 << 40) - 1 for address in addresses["main"]} == {0x1040, 0x101f}
    assert next(iter(pprof.mappings.values())) is files["/usr/bin/sh"], "the first mapping is not the main program"


def test_pprof_labels():
    labels = [pprof_of(small()).labels(sample) for sample in pprof_of(small()).samples]
    shell = {"comm": "sh", "pid": 100, "tid": 100, "cpu": "0"}
    for cgroup in "/user.slice/sh.scope", "/user.slice":
        assert {**shell, "cgroup": cgroup} in labels, labels
    assert any(each["cgroup"] == "[cgroup 4711]" for each in labels)
    assert any((each["pid"], each["tid"]) == (200, 201) for each in labels)


def test_pprof_types():
    assert pprof_of(small()).types == [("cpu-clock", "count"), ("sched:sched_switch", "count"),
                                       ("sched:sched_switch_value", "nanoseconds")]
    assert pprof_of(small(), "-e", "cpu-clock").types == [("cpu-clock", "count")]


def test_inlined_functions():
    """In each format as its readers know them; pprof has them as lines of one location."""
    path = inlined()
    calls = ["caller", "ask_again (inlined)", "ask (inlined)"]
    (_, _, stack), (number, _) = max(report_of(path).items(), key=lambda item: item[1])
    assert number == 40 and list(stack[stack.index("caller"):][:3]) == calls, stack
    assert ";caller;ask_again_[i];ask_[i];" in export("folded", path)
    assert re.search(r" ask \(inlined\)\n\s+\w+ ask_again \(inlined\)\n\s+\w+ caller\+", export("perf-script", path))
    pprof = pprof_of(path)
    lines = [pprof.lines(location) for location in pprof.locations if "caller" in pprof.names(location)]
    assert [[name for name, _, _ in each] for each in lines] == [["ask", "ask_again", "caller"]], lines
    assert all(file.endswith("inlined_calls.c") and line for _, file, line in lines[0]), lines


def protobuf(path):
    """The file as protoc reads it, by our description of the format."""
    needs_command("protoc", "--version")
    with gzip.open(path) as file:
        done = subprocess.run(["protoc", "--decode=pprof.Profile", "-I", PROTO_FOLDER, "profile.proto"], input=file.read(),
                              capture_output=True, check=True, timeout=60)
    return done.stdout.decode()


def test_pprof_by_protoc():
    """The file has only fields of its description."""
    for path in each_recording():
        pprof = pprof_of(path)
        text = protobuf(path + ".pb.gz")
        assert not re.search(r"^ *\d+[:{ ]", text, re.MULTILINE)
        assert text.count("\nsample {") == len(pprof.samples)
        assert text.count("\nlocation {") == len(pprof.locations)


TOP_ROW = re.compile(r"^ *(\S+) +\S+% +\S+% +(\S+) +\S+% +(.*)$")


def top_of(path, kind):
    """Total, and flat and cumulative numbers by function."""
    text = run("go", "tool", "pprof", "-top", "-nodecount=100000", "-nodefraction=0", "-sample_index=" + kind, path).stdout
    rows = filter(None, map(TOP_ROW.match, text.splitlines()))
    by_name = {re.sub(r" \((partial-)?inline\)$", "", row[3]): (int(row[1]), int(row[2])) for row in rows}
    return re.search(r"Total samples = (\S+)", text)[1], by_name


def tops_of_report(sums, event):
    flat, cumulative = {}, {}
    for (kind, _, stack), (number, _) in sums.items():
        if kind == event and stack:
            flat[stack[-1]] = flat.get(stack[-1], 0) + number
            for name in set(stack):
                cumulative[name] = cumulative.get(name, 0) + number
    return {name: (flat.get(name, 0), cumulative[name]) for name in cumulative}


def test_go_tool_pprof():
    """The real reader: total, and every function's own and cumulative number."""
    needs_command("go", "tool", "pprof", "-h")
    path = real()
    pprof_of(path)
    sums = report_of(path).renamed(without_inlined)
    for event in {event for event, _, _ in sums}:
        total, rows = top_of(path + ".pb.gz", event)
        assert int(total) == sum(number for (kind, _, _), (number, _) in sums.items() if kind == event)
        expected = tops_of_report(sums, event)
        assert {name: row for name, row in rows.items() if name != "[no_frames]"} == expected, (rows, expected)


def test_binary_needs_a_file():
    """A terminal gets no binary data."""
    needs_command("script", "--version")
    path = small()
    for form in ("pprof", "stack_map_bin"):
        done = run("script", "-qec", "%s export -f %s %s" % (STACKMAP, form, path), "/dev/null", status=2)
        assert "is binary" in done.stdout, done.stdout
    done = run("script", "-qec", "%s export -f pprof -o - %s" % (STACKMAP, path), "/dev/null", status=2)
    assert "is binary" in done.stdout, done.stdout


def test_output_is_whole_or_not_there():
    """A full disk leaves nothing, in any format."""
    path = small()
    for form in ("pprof", "speedscope", "perf-script", "chrome"):
        out = "out." + form
        done = run("sh", "-c", 'trap "" XFSZ; ulimit -f 0; exec "$@"', "sh", STACKMAP, "export", "-f", form, "-o", out,
                   path, status=1)
        assert "File too large" in done.stderr and not os.path.exists(out), done.stderr


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def test_modes():
    """Exports have the permissions of the umask; recordings, also merged ones, are readable only for their owner."""
    path = small()
    for umask in (0o022, 0o077, 0):
        for form in ("folded", "pprof"):
            stackmap("export", "-f", form, "-o", "out", path, umask=umask)
            assert mode_of("out") == 0o666 & ~umask, oct(mode_of("out"))
        stackmap("flamegraph", "-o", "out.html", path, umask=umask)
        assert mode_of("out.html") == 0o666 & ~umask, oct(mode_of("out.html"))
        stackmap("merge", "-o", "merged.data", path, path, umask=umask)
        assert mode_of("merged.data") == mode_of(path) == 0o600
        for name in ("out", "out.html", "merged.data", "merged.data.old"):
            if os.path.exists(name):
                os.unlink(name)
    assert not os.listdir("."), os.listdir(".")


def test_mode_of_a_file_stays():
    for mode in (0o600, 0o640, 0o666):
        with open("out", "wb") as file:
            os.fchmod(file.fileno(), mode)
        stackmap("export", "-o", "out", small())
        assert mode_of("out") == mode and os.path.getsize("out"), oct(mode_of("out"))


def test_link_stays():
    """The target of the link is written, whether it exists or not."""
    os.mkdir("folder")
    os.symlink("folder/out", "link")
    for _ in range(2):
        stackmap("export", "-o", "link", small())
        with open("folder/out", encoding="ascii") as file:
            assert file.read() == export("folded", small())
    assert os.path.islink("link") and sorted(os.listdir(".")) == ["folder", "link"] and os.listdir("folder") == ["out"]


def test_standard_output():
    """A dash, as for record: no file has that name."""
    path = small()
    assert export("folded", path, "-o", "-") == export("folded", path) != ""
    page = stackmap("flamegraph", "-o", "-", path)
    assert page.stdout.startswith("<!DOCTYPE html>") and page.stdout.endswith("</html>\n") and not page.stderr
    done = run("sh", "-c", 'exec "$@" >/dev/full', "sh", STACKMAP, "export", "-o", "-", path, status=1)
    assert done.stderr == "stackmap: standard output: No space left on device\n", done.stderr
    assert not os.listdir(".")


def test_recordings_are_files():
    """A pipe cannot be read twice, and says so."""
    for words in (["export"], ["flamegraph"], ["report"], ["merge", "-o", "merged.data"]):
        done = stackmap(*words, "-", status=1)
        assert "standard input: cannot be read: a recording is read from a regular file only" in done.stderr
    os.mkfifo("pipe")
    assert "regular file only" in stackmap("export", "pipe", status=1).stderr
    assert os.listdir(".") == ["pipe"]


if __name__ == "__main__":
    main(globals())
