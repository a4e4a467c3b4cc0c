#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Leaves one line number for each function in a BPF object: thin_lines.py INPUT OUTPUT.

clang writes a line for nearly each instruction (.BTF.ext, Documentation/bpf/btf.rst), and the kernel demands one for
each function. Each further line costs at the start of a recording: libbpf searches all of them once for each function
of each program, the kernel checks them and moves them with the instructions, and keeps them as long as the program.
They name lines in the verifier's log and in annotated programs, where each function still has its own.
"""
import struct
import sys

SYMBOLS, FUNCTION = 2, 2  # SHT_SYMTAB, STT_FUNC
LINE_BYTES = 16  # offset of the instruction, file, line, line and column


def sections(data):
    """(name, header) of each section; the header: name, type, flags, address, offset, size, link, info..."""
    offset, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size) for i in range(count)]
    return [(text_at(data, headers[names][4] + header[0]), header) for header in headers]


def text_at(data, offset):
    return data[offset:data.index(b"\0", offset)].decode()


def function_starts(data, named):
    """Offsets of the functions in each section, by the section's name."""
    starts = {}
    for _, header in named:
        if header[1] != SYMBOLS:
            continue
        for at in range(header[4], header[4] + header[5], 24):
            _, info, _, section, value, _ = struct.unpack_from("<IBBHQQ", data, at)
            if info & 15 == FUNCTION:
                starts.setdefault(named[section][0], set()).add(value)
    return starts


def thin(data):
    named = sections(data)
    starts = function_starts(data, named)
    at = {name: header[4] for name, header in named}
    types, extension = at[".BTF"], at[".BTF.ext"]
    header_bytes, _, _, names = struct.unpack_from("<4I", data, types + 4)
    names += types + header_bytes
    header_bytes, _, _, first, size = struct.unpack_from("<5I", data, extension + 4)
    first += extension + header_bytes
    record_bytes, = struct.unpack_from("<I", data, first)
    assert record_bytes == LINE_BYTES
    kept, place = bytearray(data[first:first + 4]), first + 4
    while place < first + size:
        name, count = struct.unpack_from("<II", data, place)
        records = [data[place + 8 + i * LINE_BYTES:][:LINE_BYTES] for i in range(count)]
        place += 8 + count * LINE_BYTES
        records = [record for record in records
                   if struct.unpack_from("<I", record)[0] in starts[text_at(data, names + name)]]
        if records:
            kept += struct.pack("<II", name, len(records)) + b"".join(records)
    struct.pack_into("<I", data, extension + 20, len(kept))
    data[first:first + size] = kept + bytes(size - len(kept))


def main():
    with open(sys.argv[1], "rb") as file:
        data = bytearray(file.read())
    thin(data)
    with open(sys.argv[2], "wb") as file:
        file.write(data)


if __name__ == "__main__":
    main()
