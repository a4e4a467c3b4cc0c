#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""bpf/thin_lines.py leaves the line at the first instruction of each function, and refuses an object that lacks one."""
import os
import struct
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../bpf"))
import thin_lines  # noqa: E402

HEADER_BYTES = 64  # of an ELF file, and of a section
STRINGS = 3  # SHT_STRTAB
NAMES = b"\0.BTF\0.BTF.ext\0symbols\0names\0prog\0first\0second\0"
BTF_BYTES, EXTENSION_BYTES = 24, 32  # headers


def name_of(text):
    return NAMES.index(b"\0" + text.encode() + b"\0") + 1


def elf_object(functions, offsets):
    """An object whose section `prog` has these functions, name -> offset, and lines at these offsets."""
    lines = struct.pack("<III", thin_lines.LINE_BYTES, name_of("prog"), len(offsets))
    lines += b"".join(struct.pack("<4I", offset, 0, 0, line << 10) for line, offset in enumerate(offsets, 1))
    btf = struct.pack("<HBBIIIII", 0xeb9f, 1, 0, BTF_BYTES, 0, 0, 0, len(NAMES)) + NAMES
    extension = struct.pack("<HBBIIIIIII", 0xeb9f, 1, 0, EXTENSION_BYTES, 0, 0, 0, len(lines), 0, 0) + lines
    symbols = b"".join(struct.pack("<IBBHQQ", name_of(name), thin_lines.FUNCTION, 0, 5, offset, 8)
                       for name, offset in functions.items())
    parts = [("", 0, b""), (".BTF", 1, btf), (".BTF.ext", 1, extension), ("symbols", thin_lines.SYMBOLS, symbols),
             ("names", STRINGS, NAMES), ("prog", 1, bytes(64))]
    headers, content = b"", b""
    for name, kind, part in parts:
        at = HEADER_BYTES * (1 + len(parts)) + len(content)
        headers += struct.pack("<IIQQQQIIQQ", name_of(name) if name else 0, kind, 0, 0, at, len(part), 4, 0, 0, 0)
        content += part
    file = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF", 1, 247, 1, 0, 0, HEADER_BYTES, 0, HEADER_BYTES, 0, 0, HEADER_BYTES,
                       len(parts), 4)
    return bytearray(file + headers + content)


def lines_of(data):
    """(number of bytes of lines, offsets of the lines)"""
    start = next(header[4] for name, header in thin_lines.sections(data) if name == ".BTF.ext")
    size, = struct.unpack_from("<I", data, start + 20)
    first = start + EXTENSION_BYTES
    count, = struct.unpack_from("<I", data, first + 8)
    return size, [struct.unpack_from("<I", data, first + 12 + i * thin_lines.LINE_BYTES)[0] for i in range(count)]


class Lines(unittest.TestCase):
    def refusal(self, functions, offsets):
        with self.assertRaises(SystemExit) as raised:
            thin_lines.thin(elf_object(functions, offsets))
        return str(raised.exception)

    def test_each_function_keeps_its_first_line(self):
        data = elf_object({"first": 0, "second": 24}, [0, 8, 16, 24, 32])
        whole = len(data)
        thin_lines.thin(data)
        self.assertEqual(lines_of(data), (12 + 2 * thin_lines.LINE_BYTES, [0, 24]))
        self.assertEqual(len(data), whole)

    def test_a_function_without_a_first_line_is_named(self):
        self.assertIn("prog: no line at the first instruction of second", self.refusal({"first": 0, "second": 24}, [0, 8, 32]))
        self.assertIn("of first, second", self.refusal({"first": 0, "second": 24}, [8, 32]))

    def test_lines_without_functions_are_refused(self):
        self.assertIn("section prog has lines, and no function", self.refusal({}, [0]))


unittest.main()
