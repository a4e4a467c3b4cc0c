# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A reader of recordings written from stackmap-data(5) alone, beside the library's: what both find in a file, is in it."""
import ctypes
import struct
import zlib

MASK = 2**64 - 1


REASONS = ("not_asked no_frames unreadable no_room gone refused changed no_state answer_lost answer_overwritten "
           "unanswered interrupt before").split()
LOST = ("ring_full ring_busy overwritten nested recursion paused write_error reset no_memory spool_full clock not_stored "
        "table_full").split()
STOPS = ("none root depth budget not_code null_return no_rule stack_unreadable table_unreadable bad_table unsupported "
         "unknown_register no_progress unaligned guessed").split()


class Column:
    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def signed(self):
        return unzigzag(self.varint())

    def string(self):
        end = self.data.index(0, self.at)
        text = self.data[self.at:end].decode(errors="replace")
        self.at = end + 1
        return text

    def hexadecimal(self, count):
        self.at += count
        return bytes(self.data[self.at - count:self.at]).hex()

    def skip(self, count):
        self.at += count

    def left(self):
        return len(self.data) - self.at


def unzigzag(code):
    return code >> 1 if code % 2 == 0 else -(code >> 1) - 1


def stack_code(code, newest):
    """(True, index) or (False, reason), and the highest index so far."""
    if code < 16:
        return (False, code), newest
    index = newest + unzigzag(code - 16)
    return (True, index), max(newest, index)


class Numbers:
    """A number column."""

    def __init__(self, codes, bits):
        self.codes, self.stream, self.used = codes, int.from_bytes(bits.data, "little"), 0

    def bits(self, count):
        value = self.stream >> self.used & (1 << count) - 1
        self.used += count
        return value

    def next(self):
        code = self.codes.byte()
        if code < 8:
            return code
        if code == 255:
            return self.bits(64)
        return (8 + code % 8) << (code - 8) // 8 | self.bits((code - 8) // 8)


class KeyOrder:
    def __init__(self):
        self.successors, self.keys, self.before = {}, 0, None

    def next(self, symbol):
        recent = self.successors.setdefault(self.before, [])
        if symbol < 4:
            key = recent[symbol]
        elif symbol == 4:
            key = self.keys
            self.keys += 1
        else:
            key = symbol - 5
        if key in recent:
            recent.remove(key)
        recent.insert(0, key)
        del recent[4:]
        self.before = key
        return key


def decompressed(payload, size):
    """One frame of zstd, by the library that stackmap itself is linked with: Python has none of its own."""
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    raw = ctypes.create_string_buffer(size)
    got = library.ZSTD_decompress(raw, ctypes.c_size_t(size), payload, ctypes.c_size_t(len(payload)))
    assert got == size, (got, size)
    return raw.raw


class Recording:
    def __init__(self):
        self.version, self.kinds = None, set()  # kinds of blocks in the file
        self.lines, self.symbols, self.events = [], [], []
        self.addresses_shown, self.sources = None, []
        self.cgroup_lines, self.task_lines, self.modules = [], [], []
        self.stack_lines, self.ledger, self.time_lines, self.contexts, self.attributes = [], [], [], [], []
        self.index, self.resolution = [], {}  # by index in the file: of the stack given out, and what a placeholder is
        self.frames, self.order = [0], KeyOrder()
        self.order.keys = 1

    def info(self, records, columns, header):
        fields = [columns[0].varint() for _ in range(6)]
        self.addresses_shown = bool(fields[5])

    def sources_of_block(self, records, columns, header):
        numbers, text = columns
        for _ in range(records):
            extras = numbers.varint()
            self.sources.append((text.string(), extras, text.string()))
            if extras & 4:
                assert self.version in (8, 9, 10, 11)
                for _ in ("unit", "name of the value", "name of the further value"):
                    text.string()

    def modules_of_block(self, records, columns, header):
        numbers, text = columns
        for _ in range(records):
            start, end, size = (numbers.varint() for _ in range(3))
            numbers.skip(size)
            self.modules.append((start, end, text.string()))

    def mappings(self, records, columns, header):
        numbers, text = columns
        for _ in range(records):
            number, kind, tgid, base, size = (numbers.varint() for _ in range(5))
            numbers.skip(size)
            self.lines.append(f"mapping {number} {kind} {tgid} {base:x} {size} {text.string()}")

    def cgroups(self, records, columns, header):
        numbers, text = columns
        for _ in range(records):
            self.cgroup_lines.append(f"cgroup {numbers.varint()} {text.string()}")

    def tasks(self, records, columns, header):
        numbers, text = columns
        for _ in range(records):
            time, tid = numbers.varint(), numbers.varint()
            tgid = (tid + numbers.signed()) % 2**32
            self.task_lines.append(f"task {time} {tid} {tgid} {numbers.varint()} {text.string()}")

    def times(self, records, columns, header):
        numbers = columns[0]
        assert self.version in (5, 7, 8, 9, 10, 11)
        for _ in range(records):
            begin, length = numbers.varint(), numbers.varint()
            spent = [numbers.varint() for _ in range(numbers.varint())]
            stolen, tid = numbers.signed(), numbers.varint()
            tgid = (tid + numbers.signed()) % 2**32
            assert sum(spent) == length
            self.time_lines.append(f"time {begin} {begin + length} {' '.join(map(str, spent))} {stolen} {tid} {tgid}")

    def contexts_of_block(self, records, columns, header):
        assert self.version in (7, 8, 9, 10, 11)
        for _ in range(records):
            ids = columns[0].hexadecimal(16), columns[0].hexadecimal(8)
            number = columns[0].varint() if self.version == 11 else 0
            self.contexts.append((*ids, self.attributes[number - 1] if number else "-"))

    def attributes_of_block(self, records, columns, header):
        assert self.version == 11
        for _ in range(records):
            columns[0].varint()  # the program
            self.attributes.append(columns[0].hexadecimal(columns[0].varint()))

    def stacks(self, records, columns, header):
        ids, shapes, order, regions, offsets = columns
        stack_id = generation = 0
        path = []
        for _ in range(records):
            stack_id = (stack_id + ids.signed()) % 2**32
            flags = shapes.varint()
            generation += shapes.signed()
            shared, further = shapes.varint(), shapes.varint()
            if shared + further == 0:
                self.index.append(None)
                continue
            path = path[:shared]
            for _ in range(further):
                self.order.before = path[-1] if path else 0
                caller = self.frames[self.order.before]
                new = self.order.keys
                key = self.order.next(order.varint())
                if key == new:
                    self.frames.append(self.new_frame(caller, regions, offsets))
                path.append(key)
            frames = " ".join(f"{self.frames[key]:x}" for key in reversed(path))
            self.index.append(len(self.stack_lines))
            self.stack_lines.append(f"stack {stack_id} {flags} {generation} {frames}")

    @staticmethod
    def new_frame(caller, regions, offsets):
        step = regions.signed()
        low = offsets.varint() if step else caller % 2**40 + offsets.signed()
        return (caller >> 40) + step << 40 | low

    def resolutions(self, records, columns, header):
        placeholders, stacks = columns[:2]
        leaves = Numbers(columns[2], columns[3])
        placeholder = leaf = newest = 0
        for _ in range(records):
            placeholder += placeholders.signed()
            leaf = (leaf + unzigzag(leaves.next())) & MASK
            stack, newest = stack_code(stacks.varint(), newest)
            self.resolution[placeholder] = (stack, leaf)

    def events_of_block(self, records, columns, header):
        tasks, kernel, user, order = columns[:4]
        time, leaf, value = (Numbers(columns[i], columns[i + 1]) for i in (4, 6, 8))
        has_leaf, has_value = leaf.codes.left(), value.codes.left()
        repeats = Numbers(columns[10], columns[11]) if len(columns) > 10 else None
        has_repeats = repeats and repeats.codes.left()
        context = Numbers(columns[12], columns[13]) if len(columns) > 12 else None
        has_context = context and context.codes.left()
        further = Numbers(columns[14], columns[15]) if len(columns) > 14 else None
        has_further = further and further.codes.left()
        keys, tid, newest = [], 0, 0
        while tasks.left():
            tid += tasks.signed()
            stacks = [tid, tasks.varint()]
            for column in kernel, user:
                stack, newest = stack_code(column.varint(), newest)
                stacks.append(stack)
            keys.append(stacks)
        key_order, now = KeyOrder(), header["first"]
        leaves, values, last_leaf, contexts, furthers = {}, {}, {True: 0, False: 0}, {}, {}
        for _ in range(records):
            key = key_order.next(order.varint())
            thread, kind, in_kernel, in_user = keys[key]
            now += time.next()
            if has_leaf:
                step = unzigzag(leaf.next())
                leaves[key] = (leaves.get(key, last_leaf[in_kernel[0]]) + step) & MASK
                last_leaf[in_kernel[0]] = leaves[key]
            if has_value:
                values[key] = (values.get(key, 0) + unzigzag(value.next())) & MASK
            if has_context:
                contexts[key] = contexts.get(key, 0) + unzigzag(context.next())
            if has_further:
                furthers[key] = (furthers.get(key, 0) + unzigzag(further.next())) & MASK
            own = self.contexts[contexts[key] - 1] if contexts.get(key) else ("-", "-", "-")
            self.events.append((now, header["cpu"], thread, kind, in_kernel, in_user, leaves.get(key, 0),
                                values.get(key, 0), 1 + repeats.next() if has_repeats else 1, (*own[:2], str(furthers.get(key, 0)), own[2])))

    def resolved(self, event):
        """With the resolution in the place of a placeholder."""
        time, cpu, thread, kind, kernel, user, leaf, value, times, context = event
        has_stack, number = user
        if has_stack and self.index[number] is None:
            user, own_leaf = self.resolution.get(number, ((False, REASONS.index("unanswered")), 0))
            if not leaf or (user[0] and not leaf >> 63):
                leaf = own_leaf
        return time, cpu, thread, kind, kernel, user, leaf, value, times, context

    def event_line(self, event):
        time, cpu, thread, kind, kernel, user, leaf, value, times, context = self.resolved(event)
        where = " ".join(f"{name}{self.index[number]}" if has_stack else f"{name}-{number}"
                         for name, (has_stack, number) in (("k", kernel), ("u", user)))
        return f"event {time} {cpu} {thread} {kind} {where} {leaf:x} {value} x{times} {' '.join(context)}"

    def symbols_of_block(self, records, columns, header):
        numbers, text = columns
        mapping = start = slide = 0
        for _ in range(records):
            mapping += numbers.signed()
            start = (start + numbers.signed()) & MASK
            size = numbers.varint()
            slide += numbers.signed()
            address = (start + slide) & MASK
            self.symbols.append(f"symbol {mapping} {start:x} {size} {address:x} {text.string()}")

    def ledger_of_block(self, records, columns, header):
        numbers = columns[0]
        fields = [numbers.varint(), numbers.varint()]
        for names in LOST, REASONS, REASONS, STOPS:  # reasons of kernel stacks, and of user stacks
            counters = [numbers.varint() for _ in range(numbers.varint())]
            fields += counters + [0] * (len(names) - len(counters))
        self.ledger.append("ledger " + " ".join(map(str, fields)))

    def losses(self, records, columns, header):
        assert self.version in (9, 10, 11) and records == len(self.sources)
        for _ in range(records):
            self.ledger.append("losses " + " ".join(str(columns[0].varint()) for _ in range(3)))

    def read(self, data):
        magic, order, zero, self.version, checksum = struct.unpack_from("<8sBBHI", data)
        assert (magic, order, zero) == (b"stackmap", 1, 0) and self.version in (3, 4, 5, 6, 7, 8, 9, 10, 11)
        assert checksum == zlib.crc32(data[:12])
        readers = {0: self.info, 1: self.sources_of_block, 2: self.modules_of_block, 3: self.mappings,
                   4: self.stacks, 5: self.tasks, 6: self.events_of_block, 7: self.symbols_of_block,
                   8: self.ledger_of_block, 10: self.resolutions, 11: self.cgroups, 12: self.times, 13: self.contexts_of_block,
                   14: self.losses, 16: self.attributes_of_block}
        at = 16
        sequence = 0
        while at < len(data):
            (magic, checksum, kind, coding, cpu, number, stored, raw, records, columns, first,
             last) = struct.unpack_from("<4sIBBHIIIIIQQ", data, at)
            assert (magic, number) == (b"SBLK", sequence) and coding in (0, 1) and (coding or stored == raw)
            payload = data[at + 48:at + 48 + stored]
            assert checksum == zlib.crc32(data[at + 8:at + 48] + payload)
            if coding:
                payload = decompressed(payload, raw)
            head = Column(payload)
            lengths = [head.varint() for _ in range(columns)]
            parts = []
            for length in lengths:
                parts.append(Column(payload[head.at:head.at + length]))
                head.skip(length)
            assert head.left() == 0
            self.kinds.add(kind)
            if kind in readers:
                readers[kind](records, parts, {"cpu": cpu, "first": first, "last": last})
            at += 48 + stored
            sequence += 1
        assert kind == 9

    def text(self):
        self.events.sort(key=lambda event: event[:2])
        return (self.lines + self.cgroup_lines + self.task_lines + self.time_lines + self.stack_lines + self.symbols + self.ledger +
                [self.event_line(e) for e in self.events])
