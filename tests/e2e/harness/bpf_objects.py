# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Objects of BPF in the kernel, by their ids."""

import ctypes
import errno
import json
import os
import platform

from harness.cases import Skip, needs_command, run

BPF = {"x86_64": 321, "aarch64": 280}  # the system call
NEXT_ID = {"prog": 11, "map": 12, "link": 31}  # commands


class NextId(ctypes.Structure):
    _fields_ = [("start_id", ctypes.c_uint32), ("next_id", ctypes.c_uint32), ("open_flags", ctypes.c_uint32)]


def shown(kind):
    """All objects of a kind, as bpftool shows them. A prog array is not among them: if anybody lists maps while the
    kernel clears it, it has one reference too many and stays for ever, empty (prog_array_map_clear() takes one for work
    that is queued already). Its programs are freed all the same. Where bpftool comes upon a link that somebody is still
    making it gives up, and is asked again."""
    needs_command("bpftool", "version")
    for _ in range(100):
        done = run("bpftool", "-j", "-f", kind, "show", status=None)
        if "temporarily unavailable" not in done.stdout + done.stderr:
            break
    assert done.returncode == 0, done.stdout + done.stderr
    return [one for one in json.loads(done.stdout) if one.get("type") != "prog_array"]


def is_there(kind, number):
    """Asked without opening it."""
    if platform.machine() not in BPF:
        raise Skip("the number of bpf() is not known here")
    asked = NextId(start_id=number - 1)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(BPF[platform.machine()], NEXT_ID[kind], ctypes.byref(asked), ctypes.sizeof(asked)) == 0:
        return asked.next_id == number
    assert ctypes.get_errno() == errno.ENOENT, os.strerror(ctypes.get_errno())
    return False
