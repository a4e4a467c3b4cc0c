# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Where a user stack ends that is said to be whole."""

import collections
import functools
import os
import re
import struct

from harness.recording import marker, user_frames

# exit() at the end of a thread: where the C library has begun it.
THREAD_END = {"x86_64": b"\xb8\x3c\0\0\0\x0f\x05", "aarch64": b"\xa8\x0b\x80\xd2\x01\0\0\xd4"}.get(os.uname().machine)
NEAR = 64


@functools.lru_cache(maxsize=None)
def entry_offset(path):
    """Where in a file of 64 bits its program, or the loader, begins."""
    with open(path, "rb") as file:
        data = file.read()
    entry, first = struct.unpack_from("=QQ", data, 24)
    size, count = struct.unpack_from("=HH", data, 54)
    for at in range(first, first + count * size, size):
        kind, _, offset, address, _, length = struct.unpack_from("=IIQQQQ", data, at)
        if kind == 1 and address <= entry < address + length:
            return entry - address + offset
    return -NEAR


@functools.lru_cache(maxsize=None)
def begins_something(name, path):
    if re.fullmatch(r"(_start|(__)?clone3?)\+0x[0-9a-f]+", name):
        return True
    without_symbol = re.fullmatch(re.escape(os.path.basename(path)) + r"\+0x([0-9a-f]+)(\.\.0x[0-9a-f]+)?", name)
    if not without_symbol or not os.path.isfile(path):
        return False
    offset = int(without_symbol[1], 16)
    with open(path, "rb") as file:
        file.seek(offset - NEAR)
        return 0 <= offset - entry_offset(path) < NEAR or THREAD_END in file.read(2 * NEAR)


def check_roots(events):
    """What is said to be whole ends where a program or a thread begins."""
    roots = collections.Counter((stack[-1].name, stack[-1].object) for event in events
                                for stack in [user_frames(event)] if stack and not marker(event))
    wrong = {root: count for root, count in roots.items() if not begins_something(*root)}
    assert roots and not wrong, wrong
