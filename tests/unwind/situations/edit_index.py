#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
edit_index FROM TO FORM: a copy of a program whose .eh_frame_hdr has another form, while .eh_frame stays as it is.

    none       no table, as GNU ld writes if it cannot sort      empty    a table of 0 entries
    unsorted   the entries in reverse order                      wide     entries of 8 bytes, in place of the array `spare`
"""
import os
import struct
import subprocess
import sys

SEGMENT = struct.Struct("<IIQQQQQQ")
LOAD, EH_FRAME_HDR = 1, 0x6474E550
OMIT, PCREL_S8, UDATA4, DATAREL_S8 = 0xFF, 0x1C, 0x03, 0x3C


def symbol(path, name):
    lines = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout.splitlines()
    return next(int(line.split()[0], 16) for line in lines if line.split()[-1] == name)


def main():
    source, target, form = sys.argv[1:]
    with open(source, "rb") as file:
        data = bytearray(file.read())
    first, count = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
    places = [first + SEGMENT.size * i for i in range(count)]
    place = next(at for at in places if SEGMENT.unpack_from(data, at)[0] == EH_FRAME_HDR)
    kind, flags, at, address, _, *rest = SEGMENT.unpack_from(data, place)
    entries, = struct.unpack_from("<I", data, at + 8)
    table = [struct.unpack_from("<ii", data, at + 12 + 8 * i) for i in range(entries)]
    if form == "none":
        data[at + 2:at + 4] = bytes([OMIT, OMIT])
    elif form == "empty":
        struct.pack_into("<I", data, at + 8, 0)
    elif form == "unsorted":
        for i, entry in enumerate(reversed(table)):
            struct.pack_into("<ii", data, at + 12 + 8 * i, *entry)
    else:
        spare = symbol(source, "spare")
        loads = [load for load in (SEGMENT.unpack_from(data, each) for each in places) if load[0] == LOAD]
        to = next(load[2] + spare - load[3] for load in loads if load[3] <= spare < load[3] + load[5])
        frames = address + 4 + struct.unpack_from("<i", data, at + 4)[0]
        wide = bytes([1, PCREL_S8, UDATA4, DATAREL_S8]) + struct.pack("<qI", frames - spare - 4, entries)
        wide += b"".join(struct.pack("<qq", function + address - spare, entry + address - spare) for function, entry in table)
        data[to:to + len(wide)] = wide
        SEGMENT.pack_into(data, place, kind, flags, to, spare, spare, len(wide), len(wide), rest[-1])
    with open(target, "wb") as file:
        file.write(data)
    os.chmod(target, 0o755)


main()
