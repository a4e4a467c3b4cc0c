#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Leaves one line number for each function in a BPF object: thin_lines.py INPUT OUTPUT.

clang writes a line for nearly each instruction (.BTF.ext, Documentation/bpf/btf.rst), and the kernel demands one for
each function. Each further line costs at the start of a recording: libbpf searches all of them once for each function
of each program, the kernel checks them and moves them with the instructions, and keeps them as long as the program.
They name lines in the verifier's log and in annotated programs, where each function still has its own.

The kernel refuses a program with a function that has no line at its first instruction, so this script refuses the object.
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


def functions_of_sections(data, named):
    """Section's name -> offset of a function -> its name."""
    functions = {}
    for _, header in named:
        if header[1] != SYMBOLS:
            continue
        names = named[header[6]][1][4]
        for at in range(header[4], header[4] + header[5], 24):
            name, info, _, section, value, _ = struct.unpack_from("<IBBHQQ", data, at)
            if info & 15 == FUNCTION:
                functions.setdefault(named[section][0], {})[value] = text_at(data, names + name)
    return functions


def offset_of_line(record):
    return struct.unpack_from("<I", record)[0]


def lines_of_functions(section, functions, records):
    """The lines at the functions' first instructions."""
    if not functions:
        sys.exit(f"thin_lines.py: section {section} has lines, and no function")
    records = [record for record in records if offset_of_line(record) in functions]
    with_line = {offset_of_line(record) for record in records}
    without = [name for offset, name in sorted(functions.items()) if offset not in with_line]
    if without:
        sys.exit(f"thin_lines.py: section {section}: no line at the first instruction of {', '.join(without)}")
    return records


def thin(data):
    named = sections(data)
    functions = functions_of_sections(data, named)
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
        section = text_at(data, names + name)
        records = lines_of_functions(section, functions.get(section), records)
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
