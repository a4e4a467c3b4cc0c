#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Every reader of a recording has the same events and values as the file itself, which is added up by another program
(harness/file_sums.py): by stack where it shows stacks, else by what it shows."""

import csv
import functools
import io
import itertools
import json
import re

from harness.cases import Skip, main, needs, program, run, stackmap
from harness.exportable import in_folder, real, small
from harness.exported import (Perfetto, Pprof, Sums, as_folded, as_perf_script, plain, read_chrome, read_folded, read_perf_script,
                              read_speedscope, stacks_of_report, without_inlined)
from harness.file_sums import FileSums
from harness.otlp import Otlp
from harness.recording import parse_events, parse_ids, parse_stack_map_bin, record

AS_RECORDED = ["--no-inline", "--no-demangle"]
NO_STACK = ("[no_frames]", "[not_asked]", "[refused]", "[none]", "[root]", "[interrupt]")


def without_place(name):
    """Code without a name is called by its place, which readers may group."""
    return re.sub(r"^0x[0-9a-f]+$", "0x", re.sub(r"(?<=.)\+0x[0-9a-f]+.*$", "+", name))


def by_names(event, task, stack):
    has_frames = len(stack) != 1 or stack[0] not in NO_STACK
    return event, task, tuple(map(without_place, stack)) if has_frames else ()


def read(*words):
    return stackmap(*words[:-1], *AS_RECORDED, words[-1]).stdout


# The results of readers: {key: [number, sum of values]}.


def report_json(path):
    return stacks_of_report(json.loads(read("report", "--json", path)))


def exported_json(path):
    return stacks_of_report(json.loads(read("export", "-f", "json", path)))


def of_any_event(event, task, stack):
    return "", task, stack


def perfetto(path):
    """A sample of a CPU does not say its source."""
    stackmap("export", "-f", "perfetto", *AS_RECORDED, "-o", in_folder("trace.perfetto"), path)
    return Perfetto(in_folder("trace.perfetto")).sums.renamed(
        lambda event, task, stack: ("", "[unknown]" if task == "<...>" else task, stack))


def innermost_first(text):
    return [re.sub("^'", "", name) for name in text.split(";")][::-1] if text else []


def path_of(row):
    return tuple(name for name in innermost_first(row["user"]) + innermost_first(row["kernel"]) if name not in NO_STACK)


def rows_of_csv(*words):
    csv.field_size_limit(1 << 20)
    return list(csv.DictReader(io.StringIO(read(*words))))


def report_csv(path):
    sums = Sums()
    for row in rows_of_csv("report", "--csv", path):
        sums.add((row["event"], re.sub("^'", "", row["comm"]) or "[unknown]", path_of(row)), int(row["count"]), int(row["value"]))
    return sums


def report_text(path):
    """Values are rounded there."""
    sums = Sums()
    for part in read("report", "--no-pager", "--top", "0", path).split("\n\n")[1:]:
        head, *lines = part.rstrip("\n").split("\n")
        task, event, *_ = re.match(r" *[0-9.]+%  (\d+)  (.*)$", head)[2].split("  ")
        frames = [re.sub(r"^(\[\w+\]) .*$", r"\1", line[8:]) for line in lines]
        stack = tuple(name for name in frames[::-1] if name not in NO_STACK)
        user = sum(line.startswith("    [u] ") for line in lines)
        assert all(line[4:7] == ("[k]" if i < len(lines) - user else "[u]") for i, line in enumerate(lines)), part
        sums.add((event, task, stack), int(head.split()[1]), 0)
    return sums


def script(path):
    sums = Sums()
    for event in parse_events(read("script", path)):
        stack = tuple(plain(re.sub(r"(?<=.)\+0x[0-9a-f]+.*$", "", frame.name)) for frame in event.frames[::-1])
        sums.add((event.name, plain(event.comm).replace("<...>", "[unknown]"), stack), event.times, event.value)
    return sums


def folded(by):
    def read_sums(path):
        text = read("export", "-f", "folded", "--by", by, path)
        events = {event.source for event in FileSums(path).events}
        return read_folded(text, events.pop() if len(events) == 1 else None)
    return read_sums


def speedscope(path):
    return read_speedscope(read("export", "-f", "speedscope", path))


def perf_script(path):
    return read_perf_script(read("export", "-f", "perf-script", path)).renamed(without_inlined)


def chrome(path):
    return read_chrome(read("export", "-f", "chrome", path))


def pprof(path):
    read("export", "-f", "pprof", "-o", path + ".pb.gz", path)
    return Pprof(path + ".pb.gz").sums().renamed(without_inlined)


def otlp(path):
    read("export", "-f", "otlp", "-o", path + ".otlp", path)
    with open(path + ".otlp", "rb") as file:
        return Otlp(file.read()).sums().renamed(without_inlined)


def page_nodes(columns, names):
    """The stack of each node, outermost first."""
    stacks, path = [()], [()]
    for up, frame in zip(columns["up"], columns["frame"]):
        del path[len(path) - up:]
        path.append((*path[-1], names[frame]))
        stacks.append(path[-1])
    return stacks


def page(path):
    text = read("flamegraph", "-o", "-", path)
    data, _ = json.JSONDecoder().raw_decode(text, text.index('{"version":1,'))
    stacks, sums = page_nodes(data["nodes"], [plain(name) for name in data["frames"]["name"]]), Sums()
    cells = data["cells"][0]
    for stack, source, thread, count, value in zip(*(cells[name] for name in ("stack", "source", "thread", "count", "value"))):
        task, *frames = stacks[stack]
        sums.add((data["sources"][source]["name"], task, tuple(frames)), count, value)
    return sums


def tree_nodes(node, above=()):
    for child in node["children"]:
        path = (*above, plain(child["name"]))
        yield path, child["self"]
        yield from tree_nodes(child, path)


def tree(by):
    """A tree does not have the tasks; stacks without frames are the rest of its root."""
    def read_sums(path):
        sums = Sums()
        for each in json.loads(read("report", "--json", "--tree", "--by", by, path))["trees"]:
            nodes = list(tree_nodes(each["tree"]))
            assert sum(weight for _, weight in nodes) + each["tree"]["self"] == each["tree"]["count"], each["tree"]["count"]
            for stack, weight in [*nodes, ((), each["tree"]["self"])]:
                if weight:
                    sums.add((each["event"], "", stack), weight, 0)
        return sums
    return read_sums


def diff(side):
    def read_sums(path):
        sums = Sums()
        for row in json.loads(read("diff", "--json", "--stacks", path, path))["stacks"]:
            stack = tuple(plain(name) for name in row["user"][::-1] + row["kernel"][::-1] if name not in NO_STACK)
            sums.add((row["event"], plain(row["comm"]) or "[unknown]", stack), row[side]["count"], row[side]["value"])
        return sums
    return read_sums


# The expected results, from the file.


def by_stack(file):
    return file.by_stack().renamed(by_names)


def number_alone(sums):
    return Sums({key: [number, 0] for key, (number, _) in sums.items()})


def as_script(event, task, stack):
    return event, task, tuple(re.sub(r"(?<=.)\+0x[0-9a-f]+.*$", "", name) for name in stack)


def as_csv(event, task, stack):
    return event, task, tuple(name.replace(";", ":") for name in stack)


def with_values(file):
    return {name for name, extras, _ in file.file.sources if extras & 2}


def weight_alone(file, sums):
    """Events without a value weigh 1."""
    valued = with_values(file)
    weights = {key: value if key[0] in valued else number for key, (number, value) in sums.items()}
    return Sums({key: [weight, 0] for key, weight in weights.items() if weight})


def periods(file):
    """perf's text counts an event without a value as 1, or as many as it stands for; it has one line in any case."""
    valued, sums = with_values(file), Sums()
    for event in file.events:
        key = as_perf_script(event.source, event.comm or "[unknown]", event.stack)
        sums.add(key, 1, event.value if event.source in valued else event.times)
    return sums


def without_task(sums):
    return sums.renamed(lambda event, task, stack: (event, "", stack))


BY_STACK = {
    "report --json": (report_json, by_stack),
    "report --csv": (report_csv, lambda file: by_stack(file).renamed(as_csv)),
    "report": (report_text, lambda file: number_alone(by_stack(file))),
    "report --tree --by count": (tree("count"), lambda file: number_alone(without_task(by_stack(file)))),
    "report --tree --by value": (tree("value"), lambda file: weight_alone(file, without_task(by_stack(file)))),
    "script": (script, lambda file: file.by_stack().renamed(as_script)),
    "diff before": (diff("before"), by_stack),
    "diff after": (diff("after"), by_stack),
    "flamegraph": (page, by_stack),
    "folded by count": (folded("count"), lambda file: number_alone(file.by_stack().renamed(as_folded).renamed(by_names))),
    "folded by value": (folded("value"), lambda file: weight_alone(file, file.by_stack().renamed(as_folded).renamed(by_names))),
    "json": (exported_json, by_stack),
    "speedscope": (speedscope, by_stack),
    "perf-script": (perf_script, periods),
    "chrome": (chrome, by_stack),
    "perfetto": (perfetto, lambda file: by_stack(file).renamed(of_any_event)),
    "pprof": (pprof, lambda file: by_stack(file).renamed(without_inlined)),
    "otlp": (otlp, lambda file: by_stack(file).renamed(without_inlined)),
}


def check_equal(what, found, expected):
    found = Sums({key: both for key, both in found.items() if any(both)})
    wrong = [(key, found.get(key), expected.get(key)) for key in {*found, *expected} if found.get(key) != expected.get(key)]
    assert not wrong, "%s: %d of %d sums differ (found, in the file), such as %s" % (what, len(wrong), len(expected), wrong[:3])


@functools.cache
def views():
    run(program("write_views"), 1000, 3000, in_folder("views.data"))
    return in_folder("views.data")


@functools.cache
def flames():
    run(program("write_flames"), 1, 300, 4000, in_folder("flames.data"))
    return in_folder("flames.data")


@functools.cache
def odd(kind):
    run(program("write_odd"), kind, in_folder(kind + ".data"))
    return in_folder(kind + ".data")


@functools.cache
def waits():
    needs("bpf", "raw tracepoints")
    record("--wakers", "-e", "syscalls:sys_exit_read/value=ret:bytes/", "--", "sh", "-c", "ls -R /usr/include | wc; sleep 0.2",
           output=in_folder("waits.data"))
    return in_folder("waits.data")


@functools.cache
def summary():
    run(program("write_views"), 1000, 3000, 70, in_folder("summary.data"))
    return in_folder("summary.data")


@functools.cache
def partly_summary():
    stackmap("merge", "-o", in_folder("partly.data"), small(), summary(), flames())
    return in_folder("partly.data")


@functools.cache
def merged():
    stackmap("merge", "-o", in_folder("merged.data"), small(), views(), flames())
    return in_folder("merged.data")


MADE = [small, views, flames, summary, partly_summary, real, waits, merged,
        *(functools.partial(odd, kind) for kind in ("no-events", "only-lost", "no-stacks", "only-kernel", "no-values", "great-values"))]


def each_recording():
    for make in MADE:
        try:
            path = make()
        except Skip as reason:
            print(reason)
            continue
        yield path, FileSums(path)


def test_sums_by_stack():
    for path, file in each_recording():
        for name, (reader, expected) in BY_STACK.items():
            found = reader(path)
            check_equal((path, name), found if name in ("script", "perf-script") else found.renamed(by_names), expected(file))


def test_each_format_is_here():
    said = stackmap("export", "-f", "none", "x", status=2).stderr
    formats = set(re.search("must be one of (.*)", said)[1].split(", "))
    others = {"stack_map_bin", "mappings"}  # below
    assert formats - others == {name.split(" by ")[0] for name in BY_STACK} & formats, formats


INTERRUPT = 0xffffffff  # has neither pid nor tid
KEYS = ["comm"], ["pid"], ["tid"], ["cpu"], ["comm", "tid", "cpu"]


def test_tables():
    for path, file in each_recording():
        for keys in KEYS:
            found = {"json": Sums(), "csv": Sums()}
            for row in json.loads(read("report", "--json", "--sort", ",".join(keys), path))["rows"]:
                key = row["event"], *("" if row[name] is None else plain(str(row[name])) for name in keys)
                found["json"].add(key, row["self"]["count"], row["self"]["value"])
            for row in rows_of_csv("report", "--csv", "--fields", ",".join(["event", *keys, "count", "value"]), path):
                key = row["event"], *(re.sub("^'", "", row[name]) for name in keys)
                found["csv"].add(key, int(row["count"]), int(row["value"]))
            expected = file.by(*keys).renamed(
                lambda event, *key: (event, *("[unknown]" if part in ("", INTERRUPT) else str(part) for part in key)))
            for form, sums in found.items():
                check_equal((path, form, keys), sums.renamed(lambda *key: tuple(part or "[unknown]" for part in key)), expected)


def test_threads_and_ids():
    for path, file in each_recording():
        found = Sums()
        for line in parse_ids(read("script", "--ids", path)):
            found.add((line.name, line.tid), line.times, 0)
        expected = number_alone(file.by("tid")).renamed(
            lambda source, tid: (source.rpartition(":")[2], 0 if tid == INTERRUPT else tid))
        check_equal(path, found, expected)


def test_references_of_stacks():
    for path, file in each_recording():
        out = path + ".bin"
        stackmap("export", "-f", "stack_map_bin", "-o", out, path)
        with open(out, "rb") as opened:
            by_id, without_id = parse_stack_map_bin(opened.read())
        found = {}
        for stack in itertools.chain(by_id.values(), without_id):
            found[stack.frames] = found.get(stack.frames, 0) + stack.refs
        assert {frames: refs for frames, refs in found.items() if refs} == file.stack_references(), path
        stackmap("export", "-f", "mappings", "-o", out, path)
        with open(out, encoding="utf-8") as opened:
            kernel = [line.split()[2] for line in opened if line.startswith("kernel ")]
        assert file.names.shown or set(kernel) <= {"0x0-0x0"}, kernel


def hidden(event, task, stack):
    return event, task, tuple(re.sub(r"^(0xffff|(vmlinux|ext4)\+0x).*$", "[unknown]", name) for name in stack)


def test_a_merged_recording_is_the_sum():
    parts = [FileSums(path).by_stack() for path in (small(), views(), flames())]
    expected = Sums()
    for key, (number, value) in itertools.chain(*(part.items() for part in parts)):
        expected.add(key, number, value)
    file = FileSums(merged())
    assert not file.names.shown, "of one that hid kernel addresses the result hides them"
    check_equal("merge", file.by_stack(), expected.renamed(hidden))


def test_two_sides_of_a_diff():
    before, after = views(), flames()
    rows = json.loads(read("diff", "--json", "--stacks", before, after))["stacks"]
    for side, path in ("before", before), ("after", after):
        found = Sums()
        for row in rows:
            stack = tuple(plain(name) for name in row["user"][::-1] + row["kernel"][::-1] if name not in NO_STACK)
            found.add((row["event"], plain(row["comm"]) or "[unknown]", stack), row[side]["count"], row[side]["value"])
        check_equal(side, found.renamed(by_names), by_stack(FileSums(path)))


main(globals())
