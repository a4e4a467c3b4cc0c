#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Traces and spans of events (record --trace-ids). The program works for span N in its function span_N(), and for no span in nothing_N()."""

import collections
import csv
import io
import json
import os
import re
import subprocess

from harness.cases import PROGRAMS, STACKMAP, Skip, main, needs, needs_command, never, one_of_several, program, run, stackmap
from harness.engine_folder import fresh_bpffs
from harness.otlp import Otlp, single
from harness.recording import Recording, names_of, record
from harness.top_text import Text
from harness.waiting import wait_until

CALL = "syscalls:sys_enter_getppid"
OF_SPAN = re.compile(r"(span|nothing)_(\d)$")
UNREAD = re.compile(r"(\d+) events without trace ids")
SECONDS = "0.3"  # of CPU time
COMM = "spans-%d" % os.getpid()  # of the tasks of a case that records all tasks of a name
NODE_PROGRAM = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "programs", "spans", "spans_node.js")
WITHOUT_IDS = re.compile(r"(\d+) events (?:from before their process was looked at|without trace ids)")


def library(name):
    return os.path.join(PROGRAMS, "lib%s.so" % name)


def record_spans(*command):
    needs("bpf", "raw tracepoints")
    return record("--trace-ids", "--off-cpu", "-F", "499", "-e", "cpu-clock", "-e", CALL, "--", *command)


def span_of(event):
    """The span number in the function's name; 0: a function without a span; None: another function."""
    found = [match for match in map(OF_SPAN.match, names_of(event)) if match]
    if not found:
        return None
    return int(found[0][2]) if found[0][1] == "span" else 0


def read_at(event):
    """When the ids of an event were read: those of a wait, at its begin."""
    return event.time - event.value / 1e9 if event.name == "offcpu-time" else event.time


def check_ids(recording, is_loaded_later=False):
    """Checks that no event has a wrong id, and that each event in a span has an id unless the ledger counts it. A library that the program loads
    after the recorder has first searched the process is found by a later search: the ledger does not count the events until then, so those of a
    thread count here from its first event with ids on."""
    traces, missing, right = collections.defaultdict(set), 0, collections.Counter()
    for event in sorted((event for event in recording.events() if event.time is not None), key=read_at):  # others are counted only
        span = span_of(event)
        if span is None:
            continue
        if event.span:
            never(int(event.span, 16) != span, "span %s in %s" % (event.span, names_of(event)))
            traces[event.tid].add(event.trace)
            right[event.name] += 1
        elif event.tid in traces or not is_loaded_later:
            missing += span > 0
    never(any(found not in ({"70" * 16}, {"71" * 16}) for found in traces.values()), dict(traces))
    never(len(traces) > 2 or len({tuple(found) for found in traces.values()}) < len(traces), dict(traces))
    known = sum(map(int, WITHOUT_IDS.findall(recording.messages)))
    never(missing > known, "%d events of spans have no ids, %d are known" % (missing, known))
    assert right[CALL] and right["cpu-clock"] and right["offcpu-time"], right


@one_of_several
def test_variable_of_the_program():
    recording = record_spans(program("spans"), SECONDS)
    check_ids(recording)
    recording.check()
    check_views(recording)


@one_of_several
def test_variable_of_a_library_by_descriptor():
    check_ids(record_spans(program("spans_loader"), SECONDS, library("spans_descriptor")), is_loaded_later=True)


@one_of_several
def test_variable_of_a_library_by_module():
    check_ids(record_spans(program("spans_loader"), SECONDS, library("spans_module")), is_loaded_later=True)


@one_of_several
def test_variable_of_a_library_in_static_memory():
    check_ids(record_spans(program("spans_loader"), SECONDS, library("spans_initial")), is_loaded_later=True)


@one_of_several
def test_addon_of_node():
    """The program is JavaScript, and writes the bytes of the record."""
    needs_command("node", "--version")
    check_ids(record_spans("node", NODE_PROGRAM, library("spans_node"), "1"), is_loaded_later=True)


SLEEP = "syscalls:sys_enter_clock_nanosleep"
OF_MISSING = {(CALL, 1), (SLEEP, 2), (SLEEP, 3), ("offcpu-time", 2), ("offcpu-time", 3)}


def record_missing(*arguments):
    """The page of the record is not in memory at any event of a span."""
    needs("bpf", "raw tracepoints")
    if "deferred: in the kernel" not in stackmap("--version", "--verbose").stdout:
        raise Skip("this kernel has no callbacks for BPF programs (Linux 6.18)")
    return record("--trace-ids", "--off-cpu", "-e", CALL, "-e", SLEEP, "--", program("spans_missing"), *arguments)


@one_of_several
def test_ids_of_a_page_that_is_not_in_memory():
    """The callback reads them, also for a system call whose event is read long before the call returns."""
    recording = record_missing("4")
    begun, right = False, set()
    for event in sorted(recording.events(), key=read_at):
        span = span_of(event)
        begun |= bool(event.span)
        if span and begun:
            never(not event.span or int(event.span, 16) != span, (event.name, event.span, names_of(event)))
            right.add((event.name, span))
    never("without trace ids" in recording.messages or "without their thread's attributes" in recording.messages, recording.messages)
    assert OF_MISSING <= right, right
    lines = [line for line in recording.read("script", "--show-attributes").splitlines() if " span " in line]
    never([line for line in lines if "1 attributes are not shown" not in line], lines)  # the process publishes no list of keys
    recording.check()


@one_of_several
def test_events_of_a_page_that_cannot_be_read_are_counted():
    recording = record_missing("3", "none")
    events = [event for event in recording.events() if span_of(event)]
    never(any(event.span for event in events), events)
    unread = sum(map(int, UNREAD.findall(recording.messages)))
    never(unread > len(events) or sum(map(int, WITHOUT_IDS.findall(recording.messages))) < len(events), (recording.messages, len(events)))
    assert unread, recording.messages


@one_of_several
def test_an_instance_has_ids_while_it_is_read():
    """The reader's child finds the variable. Without a reader each event is counted as one from before the search."""
    needs("bpf", "raw tracepoints")
    fresh_bpffs()
    start = "start", "live", "--trace-ids", "--ring", "8M", "-F", "499", "-e", "cpu-clock", "-e", CALL, "--comm", COMM
    stackmap(*start, "--off-cpu")
    with subprocess.Popen([STACKMAP, "record", "--instance", "live", "-o", "f.data"], stderr=subprocess.PIPE, text=True) as reader:
        wait_until(lambda: json.loads(stackmap("status", "live", "--json").stdout)["reader"] == reader.pid)
        run(program("spans", called=COMM), SECONDS)
        stackmap("stop", "live")
        recording = Recording("f.data", reader.stderr.read())
    check_ids(recording)
    stackmap(*start)
    run(program("spans", called=COMM), "0.1")
    text = stackmap("report", "--instance", "live").stdout
    held = json.loads(stackmap("report", "--json", "--sort", "span", "--instance", "live").stdout)
    stackmap("stop", "live")
    assert [int(count) for count in WITHOUT_IDS.findall(text)] == [held["ledger"]["recorded"]], text
    assert all(row["span"] is None for row in held["rows"]), held["rows"]


@one_of_several
def test_spans_have_the_ids_of_their_begin():
    needs("bpf", "raw tracepoints")
    span = "span:%s..syscalls:sys_exit_getppid/stack=begin/" % CALL
    events = list(record("--trace-ids", "-e", span, "--", program("spans"), SECONDS).events())
    wrong = [names_of(event) for event in events if event.span and int(event.span, 16) != span_of(event)]
    never(wrong, wrong[:3])
    assert any(event.span for event in events), len(events)


def table(recording, *options):
    return json.loads(recording.read("report", "--json", "--top", "0", *options))["rows"]


def sums_of(recording, *options):
    return {(row["trace"], row["span"]): row["self"]["count"] for row in table(recording, "--sort", "trace,span", *options)}


def check_views(recording):
    events = [event for event in recording.events() if event.name == CALL]
    by_span = collections.Counter((event.trace, event.span) for event in events)
    assert sums_of(recording, "--event", CALL) == by_span, by_span
    text = recording.read("report", "--csv", "--sort", "span", "--event", CALL)
    sums = {row["span"]: int(row["count"]) for row in csv.DictReader(io.StringIO(text))}
    assert sums == collections.Counter(event.span or "" for event in events), (sums, by_span)
    check_filter(recording, events)
    check_links(recording, by_span)
    stackmap("merge", "-o", "merged.data", recording.path, recording.path)
    assert sums_of(Recording("merged.data"), "--event", CALL) == {ids: 2 * count for ids, count in by_span.items()}, by_span


def check_filter(recording, events):
    """A filter takes the events of the span, by the whole id, by its first digits, and of several."""
    for options, spans in [(["--span", "0" * 15 + "2"], {2}), (["--span", "0" * 15 + "1", "--span", "0" * 15 + "3"], {1, 3}),
                           (["--trace", "7"], {1, 2, 3}), (["--trace", "ab"], set())]:
        shown = table(recording, "--sort", "comm", "--event", CALL, *options)
        expected = sum(event.span is not None and int(event.span, 16) in spans for event in events)
        assert sum(row["self"]["count"] for row in shown) == expected, (options, shown, expected)
    for option, text in ("--span", "2x"), ("--trace", "0" * 33):
        assert "hexadecimal" in stackmap("report", option, text, recording.path, status=2).stderr


def check_links(recording, by_span):
    stackmap("export", "-f", "otlp", "-o", "spans.otlp", "--event", CALL, recording.path)
    with open("spans.otlp", "rb") as file:
        otlp = Otlp(file.read())
    sums = collections.Counter()
    for sample in otlp.profiles[0]["samples"]:
        link = otlp.tables["link"][single(sample, "link_index")]
        ids = tuple(single(link, name).hex() for name in ("trace_id", "span_id")) if link else (None, None)
        sums[ids] += sum(sample["values"])
    assert sums == by_span, (sums, by_span)


def published_by(*arguments):
    """A recording of a program that publishes attributes of itself, and what a report has of them."""
    needs("bpf", "raw tracepoints")
    recording = record("--trace-ids", "-e", CALL, "--", program("process_context"), *arguments)
    return recording, json.loads(recording.read("report", "--json")).get("processes", [])


PUBLISHED = {"service.name": "shop", "service.version": "2.0"}


@one_of_several
def test_attributes_that_a_process_publishes():
    """Those that it published last; in the report, and with each sample of OTLP."""
    recording, processes = published_by("1.5")
    pids = {event.tid for event in recording.events() if event.name == CALL}
    assert processes == [{"pid": pid, "attributes": PUBLISHED, "left_out": 0, "damaged": False} for pid in pids], (pids, processes)
    assert re.search(r"^# process: +%d service\.name=shop service\.version=2\.0$" % pids.pop(), recording.read("report"), re.M)
    stackmap("merge", "-o", "merged.data", recording.path, recording.path)
    for path in recording.path, "merged.data":
        stackmap("export", "-f", "otlp", "-o", "context.otlp", path)
        with open("context.otlp", "rb") as file:
            otlp = Otlp(file.read())
        samples = [otlp.attributes(sample) for profile in otlp.profiles for sample in profile["samples"]]
        never(not samples or any({key: sample.get(key) for key in PUBLISHED} != PUBLISHED for sample in samples), samples)


TEXTS = " ".join("%s=%s" % item for item in PUBLISHED.items())


@one_of_several
def test_views_by_attributes():
    """Of two processes one publishes: its events, and no others, are in the rows, and pass the filters, of its attributes."""
    needs("bpf", "raw tracepoints")
    recording = record("--trace-ids", "-e", CALL, "--", "sh", "-c", '"$0" 1.5 silent & "$0" 1.5; wait', program("process_context"))
    (process,) = json.loads(recording.read("report", "--json"))["processes"]
    tids = collections.Counter(event.tid for event in recording.events())
    others, events = sum(tids.values()) - tids[process["pid"]], tids[process["pid"]]
    assert process["attributes"] == PUBLISHED and others and events, (process, tids)
    for key, value in list(PUBLISHED.items()) + [("attribute:service.version", PUBLISHED["service.version"]), ("service.instance.id", None)]:
        expected = {None: others, value: events} if value else {None: others + events}
        assert {row[key]: row["self"]["count"] for row in table(recording, "--sort", key)} == expected, (key, expected)
    text = recording.read("report", "--csv", "--sort", "service.name,pid")
    assert {row["service.name"]: int(row["count"]) for row in csv.DictReader(io.StringIO(text)) if row["pid"] == str(process["pid"])} == {"shop": events}, text
    for filters, expected in ((["service.name=sh*"], events), (["service.name=x"], 0), (["service.name=shop", "service.version=1.0"], 0),
                              (["service.name=x", "service.name=shop", "service.version=[12].0"], events), (["service=shop"], 0)):
        rows = table(recording, "--sort", "comm", *(word for one in filters for word in ("--attribute", one)))
        assert sum(row["self"]["count"] for row in rows) == expected, (filters, rows, expected)
    for form in [], ["--ids"], ["--hashes"]:
        lines = [line for line in recording.read("script", "--show-attributes", *form).splitlines() if re.search(r"] \d+\.\d+: ", line)]
        assert [sum(line.endswith(" " + TEXTS) for line in lines), len(lines)] == [events, events + others], lines[:5]
    text = stackmap("diff", "--sort", "service.name", "--json", "--noise", recording.path, recording.path).stdout
    assert {row["service.name"]: row["before"]["count"] for row in json.loads(text)["rows"]} == {"-": others, "shop": events}, text


def test_words_of_attributes_that_cannot_be():
    needs("bpf")
    recording = record("-F", "99", "--", "true")
    for options, words in ((["--attribute", "shop"], "service.name=shop"), (["--sort", "service.name,service.version"], "one attribute"),
                           (["--sort", "attribute:"], "no such key"), (["--attribute", "service.name=shop", "--from", "http://127.0.0.1:1"], "no attributes")):
        assert words in stackmap("report", *options, status=2).stderr, options
    assert "record --trace-ids" in stackmap("report", "--attribute", "service.name=shop", recording.path, status=1).stderr


OF_ATTRIBUTES = re.compile(r" (http\.route|worker\.id|service\.name)=(\S*)")
OF_FUNCTION = re.compile(r" (\w+_\d)\+0x")
LONG_VALUES = ("f" * 255, "f" * 96)
# by function: the span, and the attributes but worker.id of route_1, which is that of the thread
OF_THREADS = {"route_1": (1, {"http.route": "/1"}), "route_2": (0, {"http.route": "/2"}), "service_3": (3, {"service.name": "thread"}), "nothing_4": (4, {}),
              "cut_5": (5, {"http.route": "/5"}), "invalid_6": (0, {}), "full_7": (7, dict(zip(("http.route", "worker.id"), LONG_VALUES)))}
# by function: the span, the attributes, and how many are left out
FORGED = {"control_1": (1, {}, 1), "bytes_2": (2, {}, 1), "number_3": (3, {}, 1), "key_4": (4, {}, 1), "service_5": (5, None, 1), "long_6": (6, {}, 0),
          "page_7": (7, {}, 0), "ending_7": (7, {}, 0), "half_8": (0, {}, 0), "many_9": (9, {"worker.id": "", "service.name": ""}, 253)}
NOT_SHOWN = re.compile(r"\((\d+) attributes are not shown\)")
WITHOUT_ATTRIBUTES = re.compile(r"(\d+) events without their thread's attributes: (\w+)")


def attributes_of(text):
    """Of each event of `script --show-attributes`: the thread's id, the function of the program, the span, the attributes, and how many are not shown."""
    for part in text.split("\n\n"):
        head, _, lines = part.lstrip("\n").partition("\n")
        function, span, not_shown = OF_FUNCTION.search(lines), re.search(r" span (\w+)", head), NOT_SHOWN.search(head)
        if function:
            yield int(head.split()[1]), function[1], int(span[1], 16) if span else 0, dict(OF_ATTRIBUTES.findall(head)), int(not_shown[1]) if not_shown else 0


def check_attributes_of_threads(recording):
    """Each event has the attributes that its function says, or is one of those from before the search. Returns the events by route."""
    early, workers, routes = 0, collections.defaultdict(set), collections.Counter()
    for tid, function, span, attributes, not_shown in attributes_of(recording.read("script", "--no-inline", "--show-attributes")):
        expected = OF_THREADS[function]
        found = {key: value for key, value in attributes.items() if key != "worker.id" or function != "route_1"}
        routes[attributes.get("http.route")] += 1
        if found == {"service.name": "shop"} and not span and expected[0:2] != (0, {}):
            early += 1
            continue
        never((span, found) != (expected[0], {"service.name": "shop", **expected[1]}) or not_shown, (function, span, attributes, not_shown))
        if function == "route_1":
            workers[tid].add(attributes["worker.id"])
    assert sorted(workers.values(), key=str) == [{"first"}, {"second"}], workers
    assert {"/1", "/2", "/5", LONG_VALUES[0]} <= set(routes), routes
    never(early > sum(map(int, WITHOUT_IDS.findall(recording.messages))), (early, recording.messages))
    return routes


def record_attributes(*arguments, options=("--off-cpu",)):
    needs("bpf", "raw tracepoints")
    return record("--trace-ids", *options, "-e", CALL, "--", program("attributes"), *arguments)


@one_of_several
def test_attributes_of_threads():
    recording = record_attributes("1")
    routes = check_attributes_of_threads(recording)
    recording.check()
    never("without their thread's attributes" in recording.messages, recording.messages)
    stackmap("merge", "-o", "merged.data", recording.path, recording.path)
    for merged, times in (recording, 1), (Recording("merged.data"), 2):
        sums = collections.Counter()
        for row in table(merged, "--sort", "http.route"):
            sums[row["http.route"]] += row["self"]["count"]
        assert {route: sums[route] for route in routes if route} == {route: times * count for route, count in routes.items() if route}, (sums, routes)
        for globs, shown in (["/[15]"], ["/1", "/5"]), (["/2"], ["/2"]), (["/3"], []):
            rows = table(merged, "--sort", "comm", *("--attribute=http.route=" + glob for glob in globs))
            assert sum(row["self"]["count"] for row in rows) == times * sum(routes[route] for route in shown), (globs, rows, routes)
    services = {row["service.name"]: row["self"]["count"] for row in table(recording, "--sort", "service.name", "--event", CALL)}
    assert set(services) == {"shop", "thread"}, services
    stackmap("export", "-f", "otlp", "-o", "attributes.otlp", recording.path)
    with open("attributes.otlp", "rb") as file:
        otlp = Otlp(file.read())
    sums = collections.Counter()
    samples = [(sample, otlp.attributes(sample)) for sample in otlp.profiles[0]["samples"]]
    for sample, attributes in samples:
        sums[attributes.get("http.route")] += sum(sample["values"])
        link = otlp.tables["link"][single(sample, "link_index")]
        never(link and not any(single(link, "span_id")), link)
        never(not link and attributes.get("http.route") not in (None, "/2"), attributes)
    assert set(sums) == set(routes), (sums, routes)


@one_of_several
def test_forged_attributes_of_threads():
    """What cannot be shown is counted and hides what it would replace; what cannot be read is in the ledger. The ids stay."""
    recording = record_attributes("1", "forged", options=("-e", "syscalls:sys_enter_exit_group"))
    counts, early = collections.Counter(), 0
    for _, function, span, attributes, not_shown in attributes_of(recording.read("script", "--no-inline", "--show-attributes")):
        expected = FORGED[function]
        if attributes == {"service.name": "shop"} and not span and not not_shown and function != "half_8":
            early += 1
            continue
        wanted = {} if expected[1] is None else {"service.name": "shop", **expected[1]}
        never((span, attributes, not_shown) != (expected[0], wanted, expected[2]), (function, span, attributes, not_shown))
        counts[function] += 1
    assert set(counts) == set(FORGED), counts
    never("\033" in recording.read("script", "--show-attributes") + recording.read("report", "--sort", "http.route"), counts)
    known = {words: int(count) for count, words in WITHOUT_ATTRIBUTES.findall(recording.messages)}
    assert known == {"these": counts["page_7"] + counts["ending_7"], "more": counts["long_6"]}, (known, counts)
    never(early > sum(map(int, WITHOUT_IDS.findall(recording.messages))), (early, recording.messages))
    recording.check()


def test_each_attribute_of_a_flood_is_right_or_counted():
    """Each event has other attributes, more than the table of the programs holds between two visits of the recorder."""
    recording = record_attributes("1", "flood", options=())
    ids = missing = 0
    for line in recording.read("script", "--show-attributes").splitlines():
        span, route = re.search(r" span (\w+)", line), re.search(r" http\.route=/(\d+)", line)
        ids += span is not None
        missing += span is not None and route is None
        never(route and (not span or int(span[1], 16) != int(route[1])), line)
    known = {words: int(count) for count, words in WITHOUT_ATTRIBUTES.findall(recording.messages)}
    assert known.get("these", 0) == missing and ids > missing, (known, missing, ids)


def test_an_instance_and_a_flight_recorder_have_attributes_of_threads():
    needs("bpf", "raw tracepoints")
    fresh_bpffs()
    stackmap("start", "live", "--trace-ids", "--off-cpu", "--ring", "8M", "-e", CALL, "--comm", COMM)
    with subprocess.Popen([STACKMAP, "record", "--instance", "live", "-o", "i.data"], stderr=subprocess.PIPE, text=True) as reader:
        wait_until(lambda: json.loads(stackmap("status", "live", "--json").stdout)["reader"] == reader.pid)
        run(program("attributes", called=COMM), "1")
        stackmap("stop", "live")
        check_attributes_of_threads(Recording("i.data", reader.stderr.read()))
    check_attributes_of_threads(record_attributes("1", options=("--off-cpu", "--flight", "32M")))


@one_of_several
def test_attributes_in_named_anonymous_memory():
    _, processes = published_by("1", "anonymous")
    if not processes and not names_anonymous_memory():
        raise Skip("this kernel gives anonymous memory no names (CONFIG_ANON_VMA_NAME)")
    assert [process["attributes"] for process in processes] == [PUBLISHED], processes


def names_anonymous_memory():
    with subprocess.Popen([program("process_context"), "2", "anonymous"]) as process:
        found = False
        while process.poll() is None and not found:
            with open("/proc/%d/maps" % process.pid, encoding="utf-8") as maps:
                found = "[anon:OTEL_CTX]" in maps.read()
        process.kill()
    return found


@one_of_several
def test_hostile_attributes():
    """What cannot be shown is counted, a message without end is marked, and one that is not there does not exist."""
    recording, processes = published_by("1", "damaged")
    (process,) = processes
    never((process["left_out"], process["damaged"]) != (1, True), process)
    assert process["attributes"] == PUBLISHED, process
    text = recording.read("report")
    never("\033" in text or "1 attributes are not shown) (the rest is damaged)" not in text, text[:2000])
    recording, processes = published_by("0.5", "nowhere")
    never(processes, processes)
    recording.check()


@one_of_several
def test_attributes_end_with_their_program():
    """The process goes on with another program, which publishes nothing: its events must not have the attributes of the first one."""
    recording, processes = published_by("1.5", "replaced")
    assert len({event.tid for event in recording.events() if event.name == CALL}) == 1, recording.messages
    never(processes, processes)


@one_of_several
def test_a_process_whose_memory_does_not_answer_stops_no_search():
    """The read of its message does not end. The context of a process that begins later is found nevertheless."""
    needs("bpf", "raw tracepoints")
    path = program("process_context")
    if subprocess.run([path, "0", "endless"], check=False).returncode == 3:
        raise Skip("this kernel has no pages that never come (userfaultfd)")
    recording = record("--trace-ids", "-e", CALL, "--", "sh", "-c", '"$0" 13 endless & sleep 1; "$0" 11; kill $!; wait; true', path)
    processes = json.loads(recording.read("report", "--json")).get("processes", [])
    assert [process["attributes"] for process in processes] == [PUBLISHED], processes
    recording.check()


def test_processes_that_answer_late_do_not_hold_up_those_of_others():
    """A hundred processes of another user hold up each visit for two seconds. A process that begins later is visited soon nevertheless."""
    needs("bpf", "raw tracepoints")
    path = program("process_context")
    if subprocess.run([path, "0", "endless"], check=False).returncode == 3:
        raise Skip("this kernel has no pages that come late (userfaultfd)")
    recording = record("--trace-ids", "-e", CALL, "--", "sh", "-c", '"$0" 20 late & sleep 2; "$0" 10; wait; true', path)
    processes = json.loads(recording.read("report", "--json")).get("processes", [])
    assert [process["attributes"] for process in processes if process["attributes"]] == [PUBLISHED], processes
    recording.check()


SHOWN = re.compile(r" *([0-9.]+)%  (\S+)$")
SHOWN_STACK = re.compile(r" *[0-9.]+%%  %s +([0-9a-f]{32}|-) +(\w+)  .*/%s$" % (COMM, COMM))
TRACES = {"70" * 16, "71" * 16}


def watch(*options):
    """The refreshes of top with events, while the program runs for longer than the search of its variable takes."""
    text = Text("--sort", "trace", "--comm", COMM, "-e", "cpu-clock", "-F", "499", "--no-kernel", *options)
    text.refresh()
    run(program("spans", called=COMM), "1.5")
    refreshes = [text.refresh()]
    while len(refreshes[-1]) > 3 or not any(len(refresh) > 3 for refresh in refreshes):
        refreshes.append(text.refresh())
    text.end()
    return [refresh for refresh in refreshes if len(refresh) > 3]


def test_top_lists_traces():
    needs("bpf", "perf events")
    seen = set()
    for refresh in watch():
        shares = {match[2]: float(match[1]) for match in map(SHOWN.match, refresh[3:])}
        assert set(shares) <= TRACES | {"-"} and abs(sum(shares.values()) - 100) < 0.1, refresh
        seen |= set(shares)
    assert TRACES < seen, seen


def test_top_shows_the_stacks_of_a_span():
    needs("bpf", "perf events")
    functions = set()
    for refresh in watch("--stacks", "--trace", "7", "--span", "0" * 15 + "2"):
        stacks = [SHOWN_STACK.match(line) for line in refresh[3:]]
        never(any(stack is None or stack[1] not in TRACES for stack in stacks if stack), refresh)
        functions |= {stack[2] for stack in stacks if stack}
    never({name for name in functions if OF_SPAN.match(name)} - {"span_2"}, functions)
    assert "span_2" in functions, functions


def check_top_cuts_long_values_beside_stacks():
    text = Text("--stacks", "--sort", "http.route", "--comm", COMM, "-e", CALL, "--no-kernel")
    text.refresh()
    shown, lines = set(), []
    while not {"f" * 15 + "..." + "f" * 14, "/1".ljust(32)} <= shown:
        run(program("attributes", called=COMM), "2")
        lines = text.refresh()[3:]
        shown = {line[26:58] for line in lines if re.match(r" *[0-9.]+%%  %s {2,}\S.{31}  \S" % COMM, line)}
        never(any("f" * 30 in line for line in lines), lines)
    text.end()


def test_top_lists_the_values_of_an_attribute():
    needs("bpf", "perf events")
    text = Text("--sort", "http.route", "--comm", COMM, "-e", CALL)
    text.refresh()
    shown, values = {}, {"/1", "/2", "/5", LONG_VALUES[0]}
    while not values <= set(shown):
        run(program("attributes", called=COMM), "1")
        shown = {match[2]: float(match[1]) for match in map(SHOWN.match, text.refresh()[3:])}
    text.end()
    assert set(shown) == values | {"-"} and abs(sum(shown.values()) - 100) < 0.1, shown
    check_top_cuts_long_values_beside_stacks()
    assert "no such order" in stackmap("top", "-b", "--sort", "route", status=2).stderr


def test_top_refuses_what_has_no_ids():
    needs("bpf")
    assert "hexadecimal" in stackmap("top", "-b", "--trace", "x", status=2).stderr
    assert "no trace ids" in stackmap("top", "-b", "--sort", "trace", "--from", "http://127.0.0.1:1", status=2).stderr
    assert "by an attribute" in stackmap("top", "-b", "--sort", "http.route", "--from", "http://127.0.0.1:1", status=2).stderr
    fresh_bpffs()
    stackmap("start", "without", "--ring", "1M", "-e", CALL)
    assert "start --trace-ids" in stackmap("top", "-b", "--sort", "trace", "--instance", "without", status=1).stderr
    stackmap("stop", "without")


def test_recording_without_ids():
    needs("bpf")
    recording = record("-F", "99", "--", "true")
    assert "record --trace-ids" in stackmap("report", "--trace", "1", recording.path, status=1).stderr
    rows = table(recording, "--sort", "trace")
    assert all(row["trace"] is None for row in rows), rows


main(globals())
