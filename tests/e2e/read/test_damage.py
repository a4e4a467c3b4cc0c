#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Damaged recordings: a killed recorder, a full disk, cut and altered files. Whole blocks are read, and one error names the
offset of the damage."""

import os
import re
import resource
import shutil
import struct
import zlib

from harness.cases import STACKMAP, Skip, main, needs, needs_command, program, run, stackmap
from harness.damage import check_printed_ledger, damage_of, read_damaged
from harness.recording import parse_events, record

BLOCK_HEADER = struct.Struct("<IIBBHIIIIIQQ")  # struct trace_block_header
FILE_HEADER_BYTES = 16
BLOCK_MAGIC = 0x4B4C4253
EVENTS_BLOCK = 6


def known_calls(calls=70000):
    workload = program("known_counts")
    return record("-e", "u:%s:counted" % workload, "--", workload, "calls=%d" % calls)


def blocks(path):
    """(offset, bytes, type, records) of each block of a file."""
    found, at = [], FILE_HEADER_BYTES
    with open(path, "rb") as file:
        data = file.read()
    while at + BLOCK_HEADER.size <= len(data):
        magic, _, kind, _, _, _, stored, _, records, *_ = BLOCK_HEADER.unpack_from(data, at)
        assert magic == BLOCK_MAGIC, at
        size = BLOCK_HEADER.size + stored
        if at + size > len(data):
            break
        found.append((at, size, kind, records))
        at += size
    return found


def events_before(path, offset):
    return sum(records for at, size, kind, records in blocks(path) if kind == EVENTS_BLOCK and at + size <= offset)


def program_ids(text):
    return {int(number) for number in re.findall(r"prog_id:\s*(\d+)", text)}


def programs_alive(numbers):
    return [number for number in numbers
            if run("bpftool", "prog", "show", "id", number, status=None).returncode == 0]


def test_recorder_killed():
    needs("bpf", "uprobes")
    needs_command("bpftool", "version")
    # The recorder is killed once a block of events is in the file.
    workload = program("known_counts")
    command = "cat /proc/$PPID/fdinfo/* >programs; size=0; until [ $size -gt 20000 ]; do %s calls=50000; " \
        "size=$(stat -c %%s f.data); done; kill -KILL $PPID" % workload
    stackmap("record", "-o", "f.data", "-e", "u:%s:counted" % workload, "--", "sh", "-c", command, status=-9)
    with open("programs", encoding="ascii") as file:
        programs = program_ids(file.read())
    assert programs, "the recorder had no program"
    wait_until_gone(programs)
    events, offset = read_damaged("f.data")
    whole = blocks("f.data")
    assert events == events_before("f.data", offset) > 0, (events, offset)
    assert offset == whole[-1][0] + whole[-1][1], (offset, whole[-1])
    script = stackmap("script", "f.data", status=1)
    assert damage_of(script) and len(parse_events(script.stdout)) == events, script.stderr


def wait_until_gone(programs):
    """The kernel frees programs of a dead process after a grace period."""
    for _ in range(1000):
        if not programs_alive(programs):
            return
    raise AssertionError("programs that outlive their recorder: %s" % programs_alive(programs))


def test_full_disk():
    needs("bpf", "uprobes")
    os.mkdir("disk")
    if run("mount", "-t", "tmpfs", "-o", "size=64k", "none", "disk", status=None).returncode:
        raise Skip("cannot mount a tmpfs here")
    try:
        fill_output("disk/f.data", "No space left on device")
    finally:
        run("umount", "disk")


def test_file_size_limit():
    needs("bpf", "uprobes")
    fill_output("f.data", "File too large",
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536)))


def test_reader_of_the_pipe_is_gone():
    needs("bpf", "uprobes")
    workload = program("known_counts")
    done = run("bash", "-c", '"$@" | head -c 100 >/dev/null; exit ${PIPESTATUS[0]}', "bash", STACKMAP, "record", "-o", "-",
               "-e", "u:%s:counted" % workload, "--", workload, "calls=70000", status=1)
    assert "Broken pipe" in done.stderr, done.stderr


def fill_output(path, why, **options):
    workload = program("call_paths")
    done = stackmap("record", "-o", path, "--no-dedup", "--ring", "32M", "-e", "u:%s:leaf" % workload, "--",
                    workload, 12000, 10, status=1, **options)
    assert why in done.stderr and "write_error" in done.stderr, done.stderr
    check_printed_ledger(done.stderr)
    events, offset = read_damaged(path)
    assert events == events_before(path, offset), (events, offset)


def test_cut_file():
    needs("bpf", "uprobes")
    known_calls()
    whole = blocks("f.data")
    size = os.path.getsize("f.data")
    for cut in sorted({at + part for at, bytes_, _, _ in whole for part in (0, 1, 47, bytes_ - 1)}):
        shutil.copy("f.data", "cut.data")
        os.truncate("cut.data", cut)
        first = min(at for at, bytes_, _, _ in whole if at + bytes_ > cut)
        events, offset = read_damaged("cut.data")
        assert (events, offset) == (events_before("f.data", cut), first), (cut, size, events, offset)


def test_one_flipped_bit_in_each_block():
    needs("bpf", "uprobes")
    known_calls()
    with open("f.data", "rb") as file:
        data = file.read()
    for at, size, _, _ in blocks("f.data"):
        for place in (at, at + 5, at + 20, at + size - 1, at + size // 2):
            flipped = bytearray(data)
            flipped[place] ^= 1 << place % 8
            with open("flipped.data", "wb") as file:
                file.write(flipped)
            events, offset = read_damaged("flipped.data")
            assert (events, offset) == (events_before("f.data", at), at), (at, place, events, offset)


def test_file_of_a_newer_version():
    needs("bpf", "uprobes")
    known_calls(calls=10)
    with open("f.data", "r+b") as file:
        header = bytearray(file.read(FILE_HEADER_BYTES))
        header[10] = 255
        header[12:16] = struct.pack("<I", zlib.crc32(bytes(header[:12])))
        file.seek(0)
        file.write(header)
    done = stackmap("report", "f.data", status=1)
    assert "version" in done.stderr and done.stderr.count("\n") == 1 and not done.stdout, done.stderr


def test_undamaged_blocks_are_found():
    """The measure of the cases above: it finds all blocks and all events of a whole file."""
    needs("bpf", "uprobes")
    ledger = known_calls(calls=1000).check()
    size = os.path.getsize("f.data")
    last = blocks("f.data")[-1]
    assert last[0] + last[1] == size and events_before("f.data", size) == ledger["recorded"] == 1000


if __name__ == "__main__":
    main(globals())
