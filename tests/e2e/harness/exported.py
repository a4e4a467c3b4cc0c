# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Readers of all export formats, which read like the tools of each format. The result is the sums of events by stack.

A reader gives {(event, task, stack): [number, sum of values]}, a stack as names, outermost first. Where a format
cannot tell something apart, so does expected() of that format."""

import collections
import gzip
import json
import re

UNNAMED = re.compile(r"^0x[0-9a-f]+$|.\+0x[0-9a-f]+(\.\.0x[0-9a-f]+)?$")
NO_LOSS = ("[no_frames]", "[not_asked]", "[refused]", "[none]", "[interrupt]")


class Sums(collections.defaultdict):
    def __init__(self, sums=()):
        super().__init__(lambda: [0, 0], sums)

    def add(self, key, number, value):
        self[key][0] += number
        self[key][1] += value

    def renamed(self, rename):
        new = Sums()
        for key, (number, value) in self.items():
            new.add(rename(*key), number, value)
        return new


def plain(name):
    """The text that all formats can hold: UTF-8 without control characters and invisible ones."""
    return re.sub("[\0-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffd]", "?", name)


def stacks_of_report(report):
    sums = Sums()
    for row in report["stacks"]:
        user = ["[%s]" % row["user_cut"]] if "user_cut" in row else []
        kernel = ["[%s]" % row["kernel_cut"]] if "kernel_cut" in row else []
        stack = user + row["user"][::-1] + kernel + row["kernel"][::-1]
        key = row["event"], plain(row["comm"]) or "[unknown]", tuple(map(plain, stack))
        sums.add(key, row["count"], row["value"])
    return sums


def read_folded(text, source=None):
    """Its second frame is the source where there are several; the weight is taken for the number of events."""
    sums = Sums()
    for line in text.splitlines():
        stack, _, number = line.rpartition(" ")
        task, *frames = plain(stack).split(";")
        event = source or frames.pop(0)
        names = (re.sub(r"_\[k\]$", "", re.sub(r"_\[i\]$", " (inlined)", frame)) for frame in frames)
        sums.add((event, task, tuple(names)), int(number), 0)
    return sums


def as_folded(event, task, stack):
    return event, task.replace(";", ":"), tuple(name.replace(";", ":") for name in stack)


def check_speedscope(file):
    """Checks the requirements of the schema, and that every frame number exists."""
    assert set(file) <= {"$schema", "shared", "profiles", "name", "activeProfileIndex", "exporter"}
    assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    for frame in file["shared"]["frames"]:
        assert set(frame) <= {"name", "file", "line", "col"} and isinstance(frame["name"], str), frame
        assert isinstance(frame.get("file", ""), str)
    for profile in file["profiles"]:
        assert set(profile) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
        assert profile["type"] == "sampled"
        assert profile["unit"] in ("none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes")
        assert len(profile["samples"]) == len(profile["weights"])
        assert profile["endValue"] - profile["startValue"] == sum(profile["weights"])
        for stack in profile["samples"]:
            assert all(0 <= frame < len(file["shared"]["frames"]) for frame in stack)


def read_speedscope(text):
    file = json.loads(text)
    check_speedscope(file)
    names = [plain(frame["name"]) for frame in file["shared"]["frames"]]
    sums = Sums()
    for profile in file["profiles"]:
        event = profile["name"].removesuffix(" (value)")
        for stack, weight in zip(profile["samples"], profile["weights"]):
            task, *frames = (names[frame] for frame in stack)
            by_value = event != profile["name"]
            sums.add((event, task, tuple(frames)), 0 if by_value else weight, weight if by_value else 0)
    return sums


# As stackcollapse-perf.pl and the importer of speedscope take perf's text apart.
PERF_HEAD = re.compile(r"^(\S.+?)\s+(\d+)/*(\d+)*\s+")
PERF_EVENT = re.compile(r":\s*(\d+)*\s+(\S+):\s*$")
PERF_FRAME = re.compile(r"^\s*(\w+)\s*(.+) \((\S*)\)")


def read_perf_script(text):
    sums = Sums()
    for part in text.split("\n\n"):
        head, *lines = part.strip("\n").split("\n")
        if not head:
            continue
        task, (period, event) = PERF_HEAD.match(head), PERF_EVENT.search(head).groups()
        assert task[2] and task[3], head
        frames = []
        for line in lines:
            frame = PERF_FRAME.match(line)
            assert frame, "no frame: " + line
            frames.insert(0, plain(re.sub(r"\+0x[\da-f]+$", "", frame[2])))
        sums.add((event, plain(task[1]).strip(), tuple(frames)), 1, int(period))
    return sums


def as_perf_script(event, task, stack):
    """Spaces end the names of events and tasks, code without a name is [unknown], `inlined` is an object; folded later, as by as_folded."""
    event, task, stack = as_folded(event.replace(";", ":"), task, stack)
    return (event.replace(" ", "_"), task.replace(" ", "_"),
            tuple("[unknown]" if UNNAMED.search(name) else name.removesuffix(" (inlined)") for name in stack))


def check_stack_frames(frames):
    for number, frame in frames.items():
        assert set(frame) <= {"name", "category", "parent"} and frame["name"], frame
        assert frame.get("parent", 0) < int(number), "a frame comes before its parent"


def chrome_stack(frames, number):
    stack = []
    while number:
        stack.insert(0, plain(frames[str(number)]["name"]))
        number = frames[str(number)].get("parent")
    return tuple(stack)


def check_chrome_tracks(events):
    """Slices of a thread nest, and both ends of an arrow are in a slice."""
    slices, arrows = collections.defaultdict(list), collections.defaultdict(dict)
    for event in events:
        if event["ph"] == "X":
            begin = round(event["ts"] * 1000)
            slices[event["pid"], event["tid"]].append((begin, begin + round(event["dur"] * 1000)))
        if event["ph"] in "sf":
            assert event["ph"] not in arrows[event["id"]], event
            arrows[event["id"]][event["ph"]] = (event["pid"], event["tid"]), round(event["ts"] * 1000)
    for thread, found in slices.items():
        above = []
        for begin, end in sorted(found, key=lambda part: (part[0], -part[1])):
            while above and above[-1] <= begin:
                above.pop()
            assert begin < end and (not above or end <= above[-1]), (thread, begin, end, above)
            above.append(end)
    for ends in arrows.values():
        assert ends.keys() == set("sf"), ends
        for thread, time in ends.values():
            assert any(begin <= time <= end for begin, end in slices[thread]), (ends, slices[thread])
    return slices, arrows


def read_chrome(text):
    """Both ways to the stack, that of chrome://tracing and that of Perfetto, are one."""
    file, tasks, sums = json.loads(text), {}, Sums()
    check_stack_frames(file["stackFrames"])
    check_chrome_tracks(file["traceEvents"])
    for event in file["traceEvents"]:
        thread = event.get("pid"), event.get("tid")
        assert thread == (None, None) or all(0 <= number < 2 ** 31 for number in thread), event
        if event["ph"] == "M":
            if event["name"] == "thread_name":
                tasks[thread] = plain(event["args"]["name"])
            continue
        if event["ph"] in "sf" or event["cat"] == "time:running":  # no events of the recording
            continue
        where = [("i", "g")] if thread == (None, None) else [("i", "t"), ("X", None)]
        assert (event["ph"], event.get("s")) in where and event["ts"] >= 0, event
        stack = chrome_stack(file["stackFrames"], event.get("sf"))
        assert stack == tuple(map(plain, event["args"]["stack"][::-1])), event
        value = event["args"].get("value", 0)
        if event["ph"] == "X":
            length = 1 if event["cat"] == "offcpu-waker" else value
            assert round(event["dur"] * 1000) == length or event["ts"] == 0, event  # nothing begins before that
        task = event["args"].get("task") or tasks.get(thread, "[unknown]")
        sums.add((event["cat"], task, stack), event["args"].get("count", 1), value)
    return sums


TASK_STATES = {2: "runnable", 3: "running", 4: "interruptible", 5: "uninterruptible", 6: "stopped"}
FIXED64 = 1


def wire(data):
    """Field number -> its values, of all wire types that Perfetto has: varints, 8 bytes, and bytes."""
    fields, at = collections.defaultdict(list), 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == FIXED64:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        else:
            assert tag & 7 in (0, 2), "wire type %d" % (tag & 7)
            value, at = varint(data, at)
            if tag & 7 == 2:
                assert at + value <= len(data), "a message ends outside"
                value, at = data[at:at + value], at + value
        fields[tag >> 3].append(value)
    return fields


class Perfetto:
    """The trace as the published definitions say: number by number, without the definitions that the product has."""

    def __init__(self, path):
        self.strings, self.paths, self.mappings, self.frames, self.stacks = {}, {}, {}, {}, {}
        self.threads, self.processes, self.sums, self.states = {}, {}, Sums(), []
        self.flows, self.ends, self.open, self.lost = set(), set(), collections.defaultdict(list), 0
        self.slices, self.queued_by, self.begun_by = collections.defaultdict(list), collections.Counter(), collections.Counter()
        with open(path, "rb") as file:
            packets = [wire(packet) for packet in wire(file.read())[1]]
        assert single(packets[0][13]) == 1 and all(single(packet[13]) == 2 for packet in packets[1:])
        assert all(packet[10] == [1] for packet in packets)
        clocks = [wire(clock) for clock in wire(packets[0][6][0])[1]]
        assert 3 in [single(clock[1]) for clock in clocks] and wire(packets[0][6][0])[2] == [3], clocks
        for packet in packets[1:]:
            self.take(packet)
        assert not any(self.open.values()), self.open

    def take(self, packet):
        for data in packet[12]:
            self.intern(wire(data))
        for data in packet[60]:
            self.track(wire(data))
        timed = [packet[number] for number in (11, 66, 117) if packet[number]]
        assert not timed or (packet[8] and packet[58] == [3]), packet
        for data in packet[11]:
            self.event(wire(data), single(packet[8]))
        for data in packet[66]:
            self.sample(wire(data))
        for data in packet[117]:
            state = wire(data)
            self.states.append((single(state[3]), single(packet[8]), TASK_STATES[single(state[4])], single(state[1])))

    def intern(self, data):
        def add(table, entries, make):
            for entry in map(wire, entries):
                iid = single(entry[1])
                assert iid and iid not in table, "an id twice, or 0"
                table[iid] = make(entry)
        add(self.strings, data[5], lambda entry: single(entry[2]).decode() if entry[2] else "")
        add(self.paths, data[17], lambda entry: single(entry[2]).decode())
        add(self.mappings, data[19], lambda entry: [self.paths[number] for number in entry[7]])
        add(self.frames, data[6], self.frame)
        add(self.stacks, data[7], lambda entry: tuple(self.frames[number] for number in numbers(entry[2])))

    def frame(self, entry):
        assert not entry[3] or (self.mappings[single(entry[3])] and entry[4]), entry
        return plain(self.strings[single(entry[2])])

    def track(self, track):
        uuid = single(track[1])
        for data in track[4]:
            thread = wire(data)
            self.threads[uuid] = single(thread[2]), plain(single(thread[5]).decode())
        for data in track[3]:
            self.processes[uuid] = single(wire(data)[1])
        if not track[4] and not track[3]:
            self.threads[uuid] = None, single(track[2]).decode()

    def add(self, name, comm, event, values):
        self.sums.add((name, comm, self.stacks[single(event[56])] if event[56] else ()), values.get("count", 1), values.get("value", 0))

    def event(self, event, time):
        uuid, kind = single(event[11]), single(event[9])
        self.flows |= set(event[47])
        self.ends |= set(event[48])
        if kind == 2:
            name, begin = self.open[uuid].pop()
            self.slices[self.threads[uuid][0]].append((begin, time, name))
            return
        values = {single(note[10]).decode(): single(note[3] or note[6]) for note in map(wire, event[4])}
        name = single(event[22]).decode()
        if "queued_by" in values:
            self.queued_by[name, values["queued_by"]] += 1
        if "begun_by" in values:
            self.begun_by[name, values["begun_by"]] += 1
        self.add(name, self.threads[uuid][1], event, values)
        assert kind in (1, 3) and event[23], event
        if kind == 1:
            self.open[uuid].append((name, time))

    def sample(self, sample):
        if sample[17]:
            self.lost += single(sample[17])
            return
        names = {thread: name for thread, name in self.threads.values()}
        assert single(sample[5]) in (1, 2)
        self.sums.add(("sample", names[single(sample[3])], self.stacks[single(sample[4])] if sample[4] else ()), 1, 0)


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def message(data):
    """Field number -> its values, of the wire types that pprof has: varints and bytes."""
    fields, at = collections.defaultdict(list), 0
    while at < len(data):
        tag, at = varint(data, at)
        value, at = varint(data, at)
        assert tag & 7 in (0, 2), "wire type %d" % (tag & 7)
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
        fields[tag >> 3].append(value)
    return fields


def numbers(values):
    """A repeated number: packed, or one by one."""
    found = []
    for value in values:
        at = 0
        while isinstance(value, bytes) and at < len(value):
            number, at = varint(value, at)
            found.append(number)
        if isinstance(value, int):
            found.append(value)
    return found


class Pprof:
    def __init__(self, path):
        with gzip.open(path) as file:
            profile = message(file.read())
        self.strings = [text.decode() for text in profile[6]]
        self.types = [tuple(self.text(message(kind)[field]) for field in (1, 2)) for kind in profile[1]]
        self.samples = [message(sample) for sample in profile[2]]
        self.mappings = self.by_id(profile[3])
        self.locations = self.by_id(profile[4])
        self.functions = self.by_id(profile[5])
        self.duration = profile[10]
        self.check()

    def by_id(self, messages):
        found = [message(data) for data in messages]
        ids = {single(each[1]): each for each in found}
        assert len(ids) == len(found) and 0 not in ids, "an id twice, or 0"
        return ids

    def text(self, index):
        return self.strings[single(index)]

    def check(self):
        assert self.strings[0] == "" and self.types
        for location in self.locations.values():
            mapping = self.mappings[single(location[2])] if single(location[2]) else None
            address = single(location[3])
            assert not mapping or single(mapping[2]) <= address < single(mapping[3]), hex(address)

    def lines(self, location):
        """Name, file and line of the functions of one location, innermost first."""
        lines = map(message, self.locations[location][4])
        functions = [(self.functions[single(line[1])], single(line[2])) for line in lines]
        return [(plain(self.text(function[2])), self.text(function[4]), line) for function, line in functions]

    def names(self, location):
        """Outermost first."""
        return [name for name, _, _ in self.lines(location)][::-1]

    def labels(self, sample):
        found = {}
        for data in sample[3]:
            label = message(data)
            found[self.text(label[1])] = self.text(label[2]) if label[2] else single(label[3])
        return found

    def sums(self):
        sums = Sums()
        for sample in self.samples:
            stack = tuple(name for location in numbers(sample[1])[::-1] for name in self.names(location))
            if len(stack) == 1 and stack[0] in NO_LOSS:
                stack = ()
            values = list(zip(self.types, numbers(sample[2]), strict=True))  # a merged recording may have a name twice
            event, number = next((kind, value) for (kind, unit), value in values if value and unit == "count")
            value = sum(value for (kind, _), value in values if kind == event + "_value")
            sums.add((event, plain(self.labels(sample)["comm"]), stack), number, value)
        return sums


def single(values):
    return values[-1] if values else 0


def without_inlined(event, task, stack):
    """pprof says by its lines what is inlined, not in the name."""
    return event, task, tuple(name.removesuffix(" (inlined)") for name in stack)
