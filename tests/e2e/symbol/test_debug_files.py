#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Debug information in several files, and malicious debug information. A bad file costs its own names, and no others: each
recording is of two programs, and the second one's are always whole."""

import json
import lzma
import os
import re
import shutil
import struct

from harness.cases import main, needs, needs_command, run, stackmap
from harness.inlined_program import ASK_PARENT, INLINED, build, record_calls, split
from harness.recording import parse_events, record


def write(name, text):
    with open(name, "w", encoding="ascii") as file:
        file.write(text)


def edit(path, *edits):
    """Writes bytes at places of a file."""
    with open(path, "r+b") as file:
        for at, data in edits:
            file.seek(at)
            file.write(data)


# dwz moves the entries that two programs share.

SHARED = """
struct common { int number; struct { long first; char name[80]; } inside; struct common *next; };
static inline __attribute__((always_inline)) int inner(struct common *common)
{ """ + ASK_PARENT + """ return common->number; }
static inline __attribute__((always_inline)) int middle(struct common *common)
{ return inner(common) + 1; }
"""

PROGRAM = """
#include "shared.h"
struct common common;
__attribute__((noinline)) int outer(void)
{ int result = middle(&common);
  __asm__ volatile("nop");
  return result; }
int main(void) { for (int i = 0; i < %d; i++) outer(); return 0; }
"""


def build_pair():
    needs_command("dwz", "--version")
    write("shared.h", SHARED)
    for name, times in ("first", 5), ("second", 6):
        write(name + ".c", PROGRAM % times)
        run("gcc", "-O2", "-g", "-Wl,--build-id", name + ".c", "-o", name)


def lines_of(made):
    """Names and lines of source of the program's own frames, of one event; and what is said beside it."""
    done = stackmap("script", "--lines", made.path)
    frames = re.findall(r"^\t *[0-9a-f]+ (\w+(?: \(inlined\))?)(?:\+0x\S+ \(.*/first\))?\n  (.*)$", done.stdout.split("\n\n")[0],
                        re.MULTILINE)
    return frames, done.stderr


def lines_of_addr2line(path, made):
    """The same of the innermost frame's address, as binutils see it."""
    place = next(int(frame.address) for frame in parse_events(made.script)[0].frames if frame.object.endswith("/first"))
    headers = run("readelf", "-lW", path).stdout
    offset, address = next((int(start, 16), int(virtual, 16)) for start, virtual in
                           re.findall(r"LOAD +0x(\w+) 0x(\w+) .* R E ", headers))
    text = run("addr2line", "-if", "-e", path, hex(place - 1 - offset + address)).stdout.split("\n")
    return list(zip(text[0::2], text[1::2]))


def test_a_shared_file():
    build_pair()
    shutil.copy("first", "whole")
    made = record_calls("first")
    expected, said = lines_of(made)
    assert [name for name, _ in expected] == ["inner (inlined)", "middle (inlined)", "outer", "main"], expected
    assert [(name.split()[0], line) for name, line in expected[:3]] == lines_of_addr2line("whole", made)
    run("dwz", "-m", "shared.debug", "first", "second")
    assert ".gnu_debugaltlink" in sections_of("first")
    assert (expected, said) == lines_of(made) and not said
    shutil.copy("shared.debug", "kept")
    with open("shared.debug", "rb") as file:
        at = file.read().index(b"GNU\0")
    edit("shared.debug", (at + 4, bytes(20)))
    without_shared(made)
    os.remove("shared.debug")
    without_shared(made)
    os.mkfifo("shared.debug")
    without_shared(made)
    os.remove("shared.debug")
    shutil.move("kept", "shared.debug")
    assert lines_of(made)[0] == expected


def without_shared(made):
    """Names of symbols, and a word about it: chains with holes would be wrong."""
    done = stackmap("report", "--json", made.path)
    assert json.loads(done.stdout)["stacks"][0]["user"][:2] == ["outer", "main"], done.stdout
    assert "first: its debug information is not used" in done.stderr and ".gnu_debugaltlink" in done.stderr, done.stderr


def test_split_debug_information():
    """Names of symbols, and no others."""
    build("split")
    for version in "-gdwarf-4", "-gdwarf-5":
        run("gcc", "-O2", version, "-gsplit-dwarf", "-Wl,--build-id", "split.c", "-o", "split")
        made = record_calls("split")
        assert json.loads(made.read("report", "--json"))["stacks"][0]["user"][:2] == ["outer", "main"]
        assert " outer+0x" in made.read("script", "--lines")


# Files that lie.


class Liar:
    """A program whose debug information is in liar.debug, and an honest one, in one recording."""

    def __init__(self):
        build("liar")
        split("liar")
        build("honest")
        with open("liar.debug", "rb") as file:
            self.debug = file.read()
        self.sections = sections_of("liar.debug")
        needs("bpf", "raw tracepoints")
        self.made = record("-e", "syscalls:sys_enter_getppid", "--", "sh", "-c", "./liar; ./honest")
        assert self.tell(lambda: None)[0] == INLINED

    def tell(self, lie):
        """The innermost functions of the liar after a change of its file, and the messages of the report."""
        with open("liar.debug", "wb") as file:
            file.write(self.debug)
        lie()
        done = stackmap("report", "--json", self.made.path)
        names, total = {}, 0
        for stack in json.loads(done.stdout)["stacks"]:
            names.setdefault(stack["comm"], stack["user"][:3])
            total += stack["count"]
        assert names["honest"] == INLINED and total >= 10, done.stdout
        return names["liar"], done.stderr

    def offset(self, section):
        return self.sections[section][0]

    def references(self, attribute):
        """Where in the file this attribute of an entry stands, and the entry's own number."""
        text, entry, found = run("readelf", "--debug-dump=info", "liar.debug").stdout, 0, []
        for line in text.splitlines():
            head, value = re.match(r" <\d+><(\w+)>", line), re.match(r" +<(\w+)> +" + attribute, line)
            entry = int(head[1], 16) if head else entry
            if value:
                found.append((self.offset(".debug_info") + int(value[1], 16), entry))
        assert found, text
        return found


def sections_of(path):
    """name -> (offset, bytes, number)"""
    lines = re.findall(r"\[ *(\d+)\] (\S+) +\S+ +\w+ (\w+) (\w+)", run("readelf", "-SW", path).stdout)
    return {name: (int(offset, 16), int(size, 16), int(number)) for number, name, offset, size in lines}


def header_of(data, number):
    """Where the header of a section is."""
    return struct.unpack_from("<Q", data, 0x28)[0] + 64 * number


def replace(section, data):
    with open("section", "wb") as file:
        file.write(data)
    run("objcopy", "--update-section", section + "=section", "liar.debug")


def test_entries_that_refer_to_themselves():
    liar = Liar()
    for attribute in "DW_AT_abstract_origin", "DW_AT_sibling":
        places = liar.references(attribute)
        first = places[0][1]
        for target in None, first:
            names, _ = liar.tell(lambda: edit("liar.debug", *[
                (at, struct.pack("<I", entry if target is None else target)) for at, entry in places]))
            assert {"outer", "[unknown] (inlined)"} & set(names), names


def test_sections_that_are_nowhere():
    liar = Liar()
    count, = struct.unpack_from("<H", liar.debug, 0x3c)
    kept = {liar.sections[".note.gnu.build-id"][2], struct.unpack_from("<H", liar.debug, 0x3e)[0]}
    table = header_of(liar.debug, 0)
    for offset, size in (0, 2**64 - 1), (2**62, 2**40), (2**64 - 1, 8), (len(liar.debug) - 1, 2**33), (table, 2**20):
        names, _ = liar.tell(lambda: edit("liar.debug", *[
            (header_of(liar.debug, i) + 24, struct.pack("<QQ", offset, size)) for i in range(1, count) if i not in kept]))
        assert names[0] == "outer" or names[0].startswith("liar+0x"), names
    for edits in [(0x3c, b"\xff\xfe")], [(0x3c, b"\0\0"), (table + 32, struct.pack("<Q", 2**40))]:
        liar.tell(lambda: edit("liar.debug", *edits))


def test_units_of_another_length():
    """Either all of it is read, or it is told."""
    liar = Liar()
    for length in 0, 3, 20, 60, 2**31 - 1, 2**32 - 2, 2**32 - 1:
        names, said = liar.tell(lambda: edit("liar.debug", (liar.offset(".debug_info"), struct.pack("<I", length))))
        is_told = "liar.debug: its debug information is not used: it is damaged" in said
        assert (names[:2] == ["outer", "main"]) if is_told else (names == INLINED), (length, names, said)


def test_programs_with_damaged_headers():
    """The kernel runs them; whoever records them gets no names from them, or right ones."""
    needs("bpf", "raw tracepoints")
    build("liar")
    build("honest")
    with open("liar", "rb") as file:
        program = file.read()
    count, = struct.unpack_from("<H", program, 0x3c)
    table, symbols = header_of(program, 0), sections_of("liar")[".symtab"][2]
    places = [header_of(program, i) + 24 for i in range(1, count)]
    for edits in ([(at, struct.pack("<QQ", 2**62, 2**40)) for at in places],
                  [(at, struct.pack("<QQ", table, 2**33)) for at in places],
                  [(header_of(program, symbols) + 32, struct.pack("<Q", 2**63))],
                  [(header_of(program, symbols) + 40, struct.pack("<I", symbols))],  # names are in the table itself
                  [(header_of(program, symbols) + 56, struct.pack("<Q", 0))],
                  [(0x28, struct.pack("<Q", 2**64 - 64))],
                  [(0x3a, struct.pack("<HHH", 0, 0xffff, 0xfffe))]):
        os.remove("liar")
        with open("liar", "wb") as file:
            file.write(program)
        os.chmod("liar", 0o755)
        edit("liar", *edits)
        made = record("-e", "syscalls:sys_enter_getppid", "--", "sh", "-c", "./liar; ./honest")
        made.check()
        for options in [], ["--no-inline"]:
            names = {}
            for stack in json.loads(made.read("report", "--json", *options))["stacks"]:
                names.setdefault(stack["comm"], []).append(stack["user"])
            assert names["honest"][0][:2] == (["outer", "main"] if options else INLINED[:2]), names
            for name in (name for stack in names["liar"] for name in stack[:2]):
                assert name in INLINED or name.startswith("liar+0x"), names


def test_bombs():
    """Sections of a few bytes that say they are a terabyte, or have a hundred megabytes of zeros in them."""
    liar = Liar()

    def swell(kind, letters):
        run("objcopy", "--compress-debug-sections=" + kind, "liar.debug")
        swollen = [offset for name, (offset, _, _) in sections_of("liar.debug").items()
                   if name.startswith((".debug_", ".zdebug_"))]
        edit("liar.debug", *[(offset + (8 if letters == "<Q" else 4), struct.pack(letters, 2**40)) for offset in swollen])

    for kind, letters in ("zlib-gabi", "<Q"), ("zlib-gnu", ">Q"):
        names, said = liar.tell(lambda: swell(kind, letters))
        assert names == ["outer", "main", names[2]], names
        assert "liar.debug: its debug information is not used: it is damaged" in said, said
    symbols = lzma.compress(bytes(100 << 20))
    run("objcopy", "--strip-all", "liar")
    with open("packed", "wb") as file:
        file.write(symbols)
    run("objcopy", "--add-section", ".gnu_debugdata=packed", "liar")
    names, _ = liar.tell(lambda: os.remove("liar.debug"))
    assert names[0].startswith("liar+0x"), names


def test_what_is_no_file():
    liar = Liar()

    def become(make):
        os.remove("liar.debug")
        make()

    for make in (lambda: os.mkfifo("liar.debug"), lambda: os.symlink("/dev/zero", "liar.debug"),
                 lambda: os.symlink("/proc/self/mem", "liar.debug"), lambda: os.symlink("liar.debug", "liar.debug"),
                 lambda: os.mkdir("liar.debug"), lambda: os.truncate(os.open("liar.debug", os.O_CREAT | os.O_RDWR), 10 << 40)):
        names, _ = liar.tell(lambda: become(make))
        assert names[0].startswith("liar+0x"), names
        os.rmdir("liar.debug") if os.path.isdir("liar.debug") else os.remove("liar.debug")


def test_a_link_that_leads_outside():
    """Only a name counts, beside the program or in folders for it."""
    liar = Liar()
    os.mkdir("folder")
    shutil.copy("liar.debug", "folder/liar.debug")
    for link in "folder/liar.debug", "../%s/folder/liar.debug" % os.path.basename(os.getcwd()), "..":
        run("objcopy", "--remove-section", ".gnu_debuglink", "liar")
        with open("link", "wb") as file:
            file.write(link.encode() + bytes(4 - len(link) % 4) + bytes(4))
        run("objcopy", "--add-section", ".gnu_debuglink=link", "liar")
        names, _ = liar.tell(lambda: os.remove("liar.debug"))
        assert names[0].startswith("liar+0x"), (link, names)


main(globals())
