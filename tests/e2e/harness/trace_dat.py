# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Data of ftrace: an instance on this machine; and hand-written files of a kernel with stack ids: trace.dat (version 6),
stack_map_bin and mappings."""

import os
import re
import struct
import subprocess
import tempfile

from harness.recording import BIN_MAGIC, BIN_VERSION
from harness.skip import Skip

TRACEFS = "/sys/kernel/tracing"

PAGE = 4096
DATA = PAGE - 16
MISSED, STORED = 1 << 31, 1 << 30
HARDIRQ = 8

HEADER_PAGE = """\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;
"""
HEADER_EVENT = """# compressed entry header
\ttype_len    :    5 bits
\ttime_delta  :   27 bits
\tarray       :   32 bits

\tpadding     : type == 29
\ttime_extend : type == 30
\ttime_stamp : type == 31
\tdata max type_len  == 28
"""
COMMON = """\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

"""
# name -> id, fields: (type, name, offset, size)
FTRACE = {
    "kernel_stack": (4, [("int", "size", 8, 4), ("unsigned long", "caller[]", 16, 0)]),
    "user_stack": (13, [("unsigned int", "tgid", 8, 4), ("unsigned long", "caller[8]", 16, 64)]),
    "stack_id": (22, [("unsigned int", "stack_id", 8, 4)]),
    "user_stack_cookie": (23, [("u64", "cookie", 8, 8)]),
    "user_stack_id": (24, [("u64", "cookie", 8, 8), ("unsigned int", "stack_id", 16, 4), ("unsigned int", "reason", 20, 4)]),
}
EVENTS = {"work": {"begin": (300, [("int", "size", 8, 4)]), "end": (301, [("int", "size", 8, 4)])}}


def format_of(name, number, fields):
    lines = "".join("\tfield:%s %s;\toffset:%d;\tsize:%d;\tsigned:0;\n" % field for field in fields)
    return 'name: %s\nID: %d\nformat:\n%s%s\nprint fmt: "x"\n' % (name, number, COMMON, lines)


def sized(text, size="Q"):
    data = text.encode()
    return struct.pack("<" + size, len(data)) + data


def formats(events):
    return struct.pack("<I", len(events)) + b"".join(sized(format_of(name, *event)) for name, event in events.items())


class Ring:
    """Entries of one CPU. A stack goes to the thread and flags of the event that it is of."""

    def __init__(self, start=1000000):
        self.start = start
        self.pages = [[b"", 0]]

    def put(self, number, tid, payload, flags=0):
        data = struct.pack("<HBBi", number, flags, 0, tid) + payload
        data += bytes(-len(data) % 4)
        if len(data) <= 112:
            entry = struct.pack("<I", len(data) // 4 | 1000 << 5) + data
        else:
            entry = struct.pack("<II", 1000 << 5, len(data) + 4) + data
        if len(self.pages[-1][0]) + len(entry) > DATA - 8:
            self.gap(None)
        self.pages[-1][0] += entry

    def gap(self, lost):
        """A new page, before which `lost` entries were lost; 0: an unknown number, None: no loss."""
        self.pages.append([b"", lost])

    def event(self, name, tid, flags=0):
        self.put(EVENTS["work"][name][0], tid, struct.pack("<i", 1), flags)

    def stack_id(self, number, tid, flags=0):
        self.put(FTRACE["stack_id"][0], tid, struct.pack("<I", number), flags)

    def stack(self, frames, tid, flags=0):
        self.put(FTRACE["kernel_stack"][0], tid, struct.pack("<i4x%dQ" % len(frames), len(frames), *frames), flags)

    def cookie(self, cookie, tid, flags=0):
        self.put(FTRACE["user_stack_cookie"][0], tid, struct.pack("<Q", cookie), flags)

    def answer(self, cookie, tid, number=0, reason=0):
        self.put(FTRACE["user_stack_id"][0], tid, struct.pack("<QII", cookie, number, reason))

    def data(self):
        data = b""
        for at, (entries, lost) in enumerate(self.pages):
            commit, stored = len(entries), b""
            if at and lost is not None:
                commit |= MISSED | (STORED if lost else 0)
                stored = struct.pack("<Q", lost) if lost else b""
            page = struct.pack("<QQ", self.start + at * 10000000, commit) + entries + stored
            data += page + bytes(PAGE - len(page))
        return data


def write_trace_dat(path, rings, kallsyms="", tasks=()):
    head = b"\x17\x08\x44tracing6\0" + struct.pack("<BBI", 0, 8, PAGE)
    head += b"header_page\0" + sized(HEADER_PAGE) + b"header_event\0" + sized(HEADER_EVENT) + formats(FTRACE)
    head += struct.pack("<I", len(EVENTS)) + b"".join(system.encode() + b"\0" + formats(events) for system, events in EVENTS.items())
    head += sized(kallsyms, "I") + sized("", "I") + sized("".join("%d %s\n" % task for task in tasks))
    head += struct.pack("<I", len(rings)) + b"options  \0" + struct.pack("<H", 0) + b"flyrecord\0"
    begin = len(head) + 16 * len(rings)
    begin += -begin % PAGE
    where, data = b"", b""
    for ring in rings:
        where += struct.pack("<QQ", begin + len(data), len(ring.data()))
        data += ring.data()
    with open(path, "wb") as file:
        file.write(head + where + bytes(begin - len(head) - len(where)) + data)


def user_frame(number, offset):
    return number << 40 | offset


def write_stacks(folder, stacks, mappings=()):
    """stacks: id -> frames. mappings: (number, build id, path)."""
    data = struct.pack("=4I", BIN_MAGIC, BIN_VERSION, len(stacks), 0)
    for number, frames in stacks.items():
        data += struct.pack("=4I%dQ" % len(frames), number, len(frames), 1, 0, *frames)
    with open(os.path.join(folder, "stack_map_bin"), "wb") as file:
        file.write(data)
    with open(os.path.join(folder, "mappings"), "w", encoding="utf-8") as file:
        file.write("kernel vmlinux 0xffffffff81000000-0xffffffff82000000 -\n")
        file.writelines("%d %s %s\n" % mapping for mapping in mappings)


class Instance:
    """An instance of ftrace that the test makes and removes."""

    def __init__(self):
        try:
            self.path = tempfile.mkdtemp(prefix="stackmap-import-", dir=os.path.join(TRACEFS, "instances"))
        except OSError as error:
            raise Skip("no instance of ftrace can be made: %s" % error) from error

    def write(self, name, text):
        with open(os.path.join(self.path, name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        with open(os.path.join(self.path, name), encoding="utf-8", errors="replace") as file:
            return file.read()

    def lost(self):
        cpus = os.listdir(os.path.join(self.path, "per_cpu"))
        stats = [self.read("per_cpu/%s/stats" % cpu) for cpu in cpus]
        return sum(int(re.search(r"^overrun: (\d+)", text, re.M)[1]) for text in stats)

    def record(self, is_enough=lambda: True):
        self.write("options/stacktrace", "1")
        self.write("options/sym-addr", "1")
        self.write("events/sched/sched_switch/enable", "1")
        for _ in range(100):
            subprocess.run(["ls", "-lR", "/usr/include"], stdout=subprocess.DEVNULL, check=True)
            if is_enough():
                break
        self.write("tracing_on", "0")
        return self.read("trace")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if os.path.isdir(self.path):  # trace-cmd removes it
            os.rmdir(self.path)
