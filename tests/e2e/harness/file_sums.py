# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The content of a recording, added up by a program that shares no code with stackmap: its bytes are read as
stackmap-data(5) says (tests/unit/trace/page_reader.py), frames are named by the symbols in the file, as stackmap-report(1)
says."""

import bisect
import collections
import os
import sys

from harness.exported import Sums, plain

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "unit", "trace"))
import page_reader  # noqa: E402

STOPS = ("none root depth budget not_code null_return no_rule stack_unreadable table_unreadable bad_table unsupported "
         "unknown_register no_progress unaligned").split()
NO_LOSS = ("not_asked", "no_frames", "refused", "interrupt")
TRUNCATED = 1
ANONYMOUS = 3

Event = collections.namedtuple("Event", "source comm pid tid cpu value times stack user kernel")


def fields(line, count):
    """The fields behind the first word: numbers, and a text."""
    return line.split(" ", count)[1:]


class Names:
    def __init__(self, file):
        self.shown, self.modules = file.addresses_shown, file.modules
        self.mappings, self.symbols = {}, collections.defaultdict(list)
        for line in file.lines:
            number, kind, _, base, _, path = fields(line, 6)
            self.mappings[int(number)] = int(kind), int(base, 16), path or "[unknown]"
        for line in file.symbols:
            mapping, start, size, _, name = fields(line, 5)
            if name:  # else the bounds of a function
                self.symbols[int(mapping)].append((int(start, 16), int(size), name))
        for symbols in self.symbols.values():
            symbols.sort()

    def symbol(self, mapping, place):
        symbols = self.symbols[mapping]
        at = bisect.bisect(symbols, (place, float("inf")))
        if at and place < symbols[at - 1][0] + symbols[at - 1][1]:
            return symbols[at - 1][2]
        return None

    def kernel(self, frame, is_return):
        name = self.symbol(0, frame - is_return)
        if name or not self.shown:
            return name or "[unknown]"
        in_module = ("%s+0x%x" % (module, frame - start) for start, end, module in self.modules if start <= frame < end)
        return next(in_module, "0x%x" % frame)

    def user(self, frame, is_return):
        number, offset = frame >> 40, frame & (1 << 40) - 1
        name = self.symbol(number, offset - is_return)
        kind, base, path = self.mappings.get(number, (0, 0, ""))
        if name or not kind:
            return name or "[unknown]"
        return "0x%x" % (base + offset) if kind == ANONYMOUS else "%s+0x%x" % (os.path.basename(path), offset)

    def frame(self, frame, is_return):
        return self.kernel(frame, is_return) if frame >> 63 else self.user(frame, is_return)


class FileSums:
    def __init__(self, path):
        self.file = page_reader.Recording()
        with open(path, "rb") as file:
            self.file.read(file.read())
        self.names = Names(self.file)
        self.stacks = [self.stack(line) for line in self.file.stack_lines]
        self.tasks = collections.defaultdict(list)
        for line in self.file.task_lines:
            time, tid, tgid, _, comm = fields(line, 5)
            self.tasks[int(tid)].append((int(time), int(tgid), comm))
        self.events = [self.event(event) for event in map(self.file.resolved, self.file.events)]

    @staticmethod
    def stack(line):
        """Flags, and frames."""
        _, flags, _, *frames = line.split()[1:]
        return int(flags), [int(frame, 16) for frame in frames]

    def task(self, tid, time):
        """The last valid one of a thread's names."""
        tasks = [task for task in self.tasks[tid] if task[0] <= time]
        return max(tasks, key=lambda task: task[0])[1:] if tasks else (0, "")

    def side(self, reference, leaf):
        """Outermost first; the leaf, if it is on this side, is the innermost."""
        has_stack, number = reference
        frames = [(leaf, False)] if leaf else []
        if not has_stack:
            reason = page_reader.REASONS[number]
            cut = [] if reason in NO_LOSS else ["[%s]" % reason]
        else:
            flags, addresses = self.stacks[self.file.index[number]]
            frames += [(frame, bool(i or leaf)) for i, frame in enumerate(addresses)]
            stop = flags >> 8 & 15
            cut = ["[truncated]"] if flags & TRUNCATED else ["[%s]" % STOPS[stop]] if stop > 1 else []
        return cut + [self.names.frame(*frame) for frame in reversed(frames)]

    def event(self, event):
        time, cpu, tid, kind, kernel, user, leaf, value, times, _ = event
        tgid, comm = self.task(tid, time)
        stack = self.side(user, 0 if leaf >> 63 else leaf) + self.side(kernel, leaf if leaf >> 63 else 0)
        numbers = (self.file.index[number] if has_stack else None for has_stack, number in (user, kernel))
        return Event(self.file.sources[kind][0], plain(comm), tgid, tid, cpu, value, times, tuple(map(plain, stack)),
                     *numbers)

    def by_stack(self):
        """As the exports are read: {(source, task, stack): [number, sum of values]}."""
        sums = Sums()
        for event in self.events:
            sums.add((event.source, event.comm or "[unknown]", event.stack), event.times, event.value)
        return sums

    def by(self, *keys):
        """{(source, keys...): [number, sum of values]}"""
        sums = Sums()
        for event in self.events:
            sums.add((event.source, *(getattr(event, key) for key in keys)), event.times, event.value)
        return sums

    def stack_references(self):
        """How many events refer to each stack, by its frames."""
        numbers = collections.Counter()
        for event in self.events:
            for number in (event.user, event.kernel):
                if number is not None:
                    numbers[number] += event.times
        counts = collections.Counter()
        for number, count in numbers.items():
            counts[tuple(0 if frame >> 63 and not self.names.shown else frame for frame in self.stacks[number][1])] += count
        return counts
