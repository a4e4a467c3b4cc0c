# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Objects of BPF in the kernel, by their ids."""

import ctypes
import errno
import os
import platform

from harness.cases import Skip

BPF = {"x86_64": 321, "aarch64": 280}  # the system call
NEXT_ID = {"prog": 11, "map": 12, "link": 31}  # commands


class NextId(ctypes.Structure):
    _fields_ = [("start_id", ctypes.c_uint32), ("next_id", ctypes.c_uint32), ("open_flags", ctypes.c_uint32)]


def is_there(kind, number):
    """Asked without opening it, as bpftool would: a prog array that is opened and closed while the kernel still clears it
    has one reference too many from then on, and stays for ever (prog_array_map_clear(), which takes one for work that is
    queued already)."""
    if platform.machine() not in BPF:
        raise Skip("the number of bpf() is not known here")
    asked = NextId(start_id=number - 1)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(BPF[platform.machine()], NEXT_ID[kind], ctypes.byref(asked), ctypes.sizeof(asked)) == 0:
        return asked.next_id == number
    assert ctypes.get_errno() == errno.ENOENT, os.strerror(ctypes.get_errno())
    return False
