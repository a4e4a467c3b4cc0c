#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
An event of a span takes at most two operations of the hash map of spans: only span_begin() and span_end() use the map, an event runs one of them
once, and no way through either has more than two calls of map helpers.

usage: test_span_operations.py capture.bpf.o
"""
import struct
import sys

FUNCTIONS = ("span_begin", "span_end")
MAP_HELPERS = (1, 2, 3)  # bpf_map_lookup_elem(), bpf_map_update_elem(), bpf_map_delete_elem()
CALL, EXIT, JUMP, FAR_JUMP, WIDE, CONDITIONAL = 0x85, 0x95, 0x05, 0x06, 0x18, (0x05, 0x06)  # codes of instructions; classes


class Object:
    """An ELF object: sections by name, symbols as (name, section, offset, bytes), relocations of a section."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        at, = struct.unpack_from("<Q", self.data, 40)
        size, count, names = struct.unpack_from("<HHH", self.data, 58)
        headers = [struct.unpack_from("<IIQQQQIIQQ", self.data, at + index * size) for index in range(count)]
        self.headers = {self.text(headers[names][4], header[0]): header for header in headers}
        self.order = [self.text(headers[names][4], header[0]) for header in headers]

    def text(self, table, at):
        return self.data[table + at:self.data.index(b"\0", table + at)].decode()

    def entries(self, name, form):
        begin, length = self.headers[name][4:6]
        return struct.iter_unpack(form, self.data[begin:begin + length])

    def symbols(self):
        for name, _, _, section, offset, length in self.entries(".symtab", "<IBBHQQ"):
            yield self.text(self.headers[".strtab"][4], name), section, offset, length


def most_map_calls(code):
    """Returns the greatest number of calls of map helpers on a path through a function. Fails on a loop, which has no greatest number."""
    instructions = list(struct.iter_unpack("<BBhi", code))
    most, pending = {}, [0]
    begun = set()
    while pending:
        at = pending[-1]
        operation, registers, jump, number = instructions[at]
        next_ones = [] if operation == EXIT else [at + 2 if operation == WIDE else at + 1]
        if operation in (JUMP, FAR_JUMP):
            next_ones = [at + 1 + (jump if operation == JUMP else number)]
        elif operation & 7 in CONDITIONAL and operation not in (CALL, EXIT):
            next_ones.append(at + 1 + jump)
        new = [each for each in next_ones if each not in most]
        if begun & set(new):
            raise ValueError("a loop")
        if new:
            begun.add(at)
            pending.append(new[0])
            continue
        is_map_call = operation == CALL and registers >> 4 == 0 and number in MAP_HELPERS
        most[at] = is_map_call + max((most[each] for each in next_ones), default=0)
        begun.discard(at)
        pending.pop()
    return most[0]


def main(path):
    found = Object(path)
    symbols = list(found.symbols())
    functions = {name: (section, offset, length) for name, section, offset, length in symbols if name in FUNCTIONS}
    users = set()
    for name in found.order:
        section = name[4:]
        if not name.startswith(".rel") or section.startswith((".debug", ".BTF")) or section not in found.headers:
            continue
        for offset, info in found.entries(name, "<QQ"):
            if symbols[info >> 32][0] == "spans":
                users.add(next((each for each, (where, begin, length) in functions.items()
                                if found.order[where] == section and begin <= offset < begin + length), "%s+%d" % (section, offset)))
    assert users == set(FUNCTIONS), users
    for name, (section, begin, length) in functions.items():
        start = found.headers[found.order[section]][4] + begin
        most = most_map_calls(found.data[start:start + length])
        assert most == 2, "%s: %d operations" % (name, most)


main(sys.argv[1])
