# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A recording as its user sees it: made by `record`, read back by the other commands, and checked against itself."""

import collections
import functools
import json
import re
import struct

from harness.cases import stackmap, unexcused

HEAD = re.compile(r"^ *(.*?) +(\d+)(?: \[(\d+)\])? +([0-9.]+|\[counted only\]): +(?:(\d+) +)?(.*):(?: ((?:since before ?)?(?:(?:woke|holds a lock of|lock held by|queued by|begun by).*?)?)| *?)(?: and \d+ \S+)?(?: trace ([0-9a-f]{32}) span ([0-9a-f]{16}))?(?: x(\d+))?$")
FRAME = re.compile(r"^\t *([0-9a-f]+) (.*) \((.*)\)$")
ID_HEAD = re.compile(r"^(.*)-(\d+) \[(\d+)\] ([0-9.]+|\[counted only\]): ([^<]*):(?: x(\d+))?( <.*|)$")
STACK_ID = re.compile(r"<(stack_id|user_stack_id) (\d+)>")

BIN_MAGIC, BIN_VERSION = 0x464D5342, 2

Event = collections.namedtuple("Event", "comm tid cpu time name frames value other times trace span", defaults=[0, None, 1, None, None])
Frame = collections.namedtuple("Frame", "address name object")
IdLine = collections.namedtuple("IdLine", "comm tid name kernel user times is_timed")
Stack = collections.namedtuple("Stack", "refs flags frames")


def is_kernel(frame):
    return frame.address >> 63


def kernel_frames(event):
    return [frame for frame in event.frames if is_kernel(frame)]


def user_frames(event):
    return [frame for frame in event.frames
            if not is_kernel(frame) and (frame.object != "[unknown]" or frame.name.endswith("frames omitted]"))]


def function(frame):
    """schedule+0x48 -> schedule"""
    return frame.name.split("+0x")[0]


def names_of(event):
    return [function(frame) for frame in user_frames(event)]


def marker(event):
    """The reason why the user stack is missing or ends early, or None."""
    markers = [frame.name.strip("[]") for frame in event.frames if frame.object == "[user stack]"]
    return markers[0] if markers else None


def parse_frames(lines):
    frames = []
    for line in lines.splitlines():
        match = FRAME.match(line)
        assert match, "no frame: " + line
        frames.append(Frame(int(match[1], 16), match[2], match[3]))
    return tuple(frames)


def parse_events(text):
    """The text of `script`, perf's or ours, to events. Equal stacks are parsed once."""
    events, stacks = [], {}
    for part in text.split("\n\n"):
        head_line, _, lines = part.lstrip("\n").partition("\n")
        if not head_line:
            continue
        head = HEAD.match(head_line)
        assert head, "no head of an event: " + head_line
        if lines not in stacks:
            stacks[lines] = parse_frames(lines)
        time = float(head[4]) if head[4] != "[counted only]" else None
        events.append(Event(head[1], int(head[2]), int(head[3] or 0), time, head[6], stacks[lines],
                            int(head[5] or 0), head[7], int(head[10] or 1), head[8], head[9]))
    return events


def parse_ids(text):
    lines, stacks = [], {}
    for line in text.splitlines():
        head = ID_HEAD.match(line)
        assert head, "no event with ids: " + line
        if head[7] not in stacks:
            stacks[head[7]] = {which: int(number) for which, number in STACK_ID.findall(head[7])}
        ids = stacks[head[7]]
        lines.append(IdLine(head[1], int(head[2]), head[5], ids.get("stack_id"), ids.get("user_stack_id"), int(head[6] or 1), head[4] != "[counted only]"))
    return lines


def parse_stack_map_bin(data):
    """id -> Stack, and the stacks without an id; every byte of the file is accounted for."""
    magic, version, count, reserved = struct.unpack_from("=4I", data)
    assert (magic, version, reserved) == (BIN_MAGIC, BIN_VERSION, 0), (hex(magic), version, reserved)
    by_id, without_id, at = {}, [], 16
    for _ in range(count):
        stack_id, depth, refs, flags = struct.unpack_from("=4I", data, at)
        stack = Stack(refs, flags, struct.unpack_from("=%dQ" % depth, data, at + 16))
        at += 16 + 8 * depth
        if stack_id:
            assert stack_id not in by_id, "two stacks have the id %d" % stack_id
            by_id[stack_id] = stack
        else:
            without_id.append(stack)
    assert at == len(data), "%d bytes behind the last stack" % (len(data) - at)
    return by_id, without_id


def once(read):
    """A method of Recording whose result stays with its object, as the file does not change."""
    @functools.wraps(read)
    def kept(self, *arguments, **options):
        key = (read.__name__, arguments, *options.items())
        if key not in self.results:
            self.results[key] = read(self, *arguments, **options)
        return self.results[key]
    return kept


class Recording:
    """Of a file that is complete: each command reads it once."""

    def __init__(self, path, messages="", is_window=False):
        """is_window: the file is one of several, and the stack map was emptied in between: a stack may have one id before, one after."""
        self.path = path
        self.messages = messages
        self.is_window = is_window
        self.results = {}

    def read(self, *command, **options):
        return stackmap(*command, self.path, **options).stdout

    @functools.cached_property
    def script(self):
        return self.read("script", "--no-inline")

    @once
    def events(self):
        return parse_events(self.script)

    @once
    def ids(self):
        return parse_ids(self.read("script", "--ids"))

    @once
    def report(self):
        return json.loads(self.read("report", "--json", "--no-inline"))

    def ledger(self):
        return self.report()["ledger"]

    def stacks(self):
        out = self.path + ".bin"
        stackmap("export", "-f", "stack_map_bin", "-o", out, self.path)
        with open(out, "rb") as file:
            return parse_stack_map_bin(file.read())

    @once
    @unexcused
    def check(self, has_spare_stacks=False):
        """Checks the invariants of a complete recording: the ledger adds up, and every id exists. Spare stacks are those of no event."""
        report = self.report()
        check_ledger(report["ledger"])
        kept = report["ledger"]["recorded"] + report["ledger"]["counted_only"]
        assert sum(stack["count"] for stack in report["stacks"]) == kept
        lines = self.ids()
        shown = sum(line.times for line in lines)
        assert shown == kept, "%d events, %d recorded or counted" % (shown, kept)
        assert self.script.count("\n\n") == len(lines)
        self.check_ids(lines, has_spare_stacks)
        return report["ledger"]

    def stack_ends(self, lines):
        """id -> where its user stack ends early: part of its identity, and not in stack_map_bin. Equal texts are parsed once."""
        texts = {(line.user, event.lstrip("\n").partition("\n")[2]) for line, event in zip(lines, self.script.split("\n\n")) if line.user}
        return {user: frame.name for user, text in texts for frame in parse_frames(text) if frame.object == "[user stack]"}

    def check_ids(self, lines, has_spare_stacks=False):
        by_id, without_id = self.stacks()
        used = collections.Counter()
        for line in lines:
            used.update({number: line.times for number in {line.kernel, line.user} if number})
        for number, count in used.items():
            assert number in by_id, "the id %d names no stack" % number
            assert by_id[number].refs == count, (number, by_id[number].refs, count)
        ends = self.stack_ends(lines)
        shown = {number: stack for number, stack in by_id.items() if all(stack.frames)}  # 0: kptr_restrict hides it
        identities = collections.Counter((stack.flags, stack.frames, ends.get(number)) for number, stack in shown.items())
        twice = [identity for identity, count in identities.items() if count > 1]
        assert not twice or self.is_window, "one stack, two ids: %s" % twice
        for stack in [*by_id.values(), *without_id]:
            assert stack.frames and (stack.refs or has_spare_stacks), stack


@unexcused
def check_ledger(ledger):
    assert ledger["produced"] == ledger["recorded"] + ledger["counted_only"] + sum(ledger["lost"].values()), ledger
    sources = ledger.get("sources")
    if sources:
        for what in "recorded", "counted_only":
            assert sum(source[what] for source in sources) == ledger[what], ledger
        assert sum(source["lost"] for source in sources) <= sum(ledger["lost"].values()), ledger


@unexcused
def user_account(recording):
    """reason or stop -> events, of those that have any; the stacks and reasons are those of all events."""
    ledger = recording.check()
    account = ledger["user_stacks"]
    found = {name: count for part in (account["stops"], account["reasons"]) for name, count in part.items() if count}
    assert account["complete"] + account["unknown_end"] + sum(found.values()) == ledger["recorded"] + ledger["counted_only"], ledger
    return account["complete"], found


def second_half(events):
    """The later events, when the program's code has its unwind tables: a loaded machine may take long to make these, and only a
    limited number of stacks waits for them."""
    return events[len(events) // 2:]


def check_whole_later(recording, least, one_of, excuses=lambda event: False):
    """A recording has so many whole stacks at least, and in its second half at most one of so many is cut without an excuse."""
    complete, rest = user_account(recording)
    later = second_half(recording.events())
    cut = [marker(event) for event in later if marker(event) and not excuses(event)]
    assert complete > least and len(cut) <= len(later) / one_of, (complete, rest, collections.Counter(cut))


TRIES = 4


def one_with_names(make, has_names):
    """A recording that is told to end waits for names for about a second, and on a loaded machine they may come later. Names that
    are not given at all are in none of several recordings."""
    for _ in range(TRIES):
        made = make()
        if has_names(made):
            break
    return made


def record(*arguments, output="f.data", **options):
    """Records; the last arguments are usually `--` and a command."""
    done = stackmap("record", "-o", output, *arguments, **options)
    return Recording(output, done.stderr)
