# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Events of four kinds, whose callers stack/test_script_frames.py knows: so many rounds in a callback of C, and as many in a
generator. Then some system calls are made in new copies of a library, each with a build id of its own: no table of such a file is
known at the event.

usage: script_events.py ROUNDS LIBRARY"""

import ctypes
import mmap
import os
import sys
import time

PAGES = 4
COPIES = 10
ROUNDS = int(sys.argv[1])


def allocate():
    bytearray(40000)


def touch():
    memory = mmap.mmap(-1, PAGES * mmap.PAGESIZE)
    for page in range(PAGES):
        memory[page * mmap.PAGESIZE] = 1
    memory.close()


def wait():
    time.sleep(0.0002)


def call():
    os.getppid()


def step(value):
    allocate()
    touch()
    wait()
    call()
    return value


def generate():
    for i in range(ROUNDS):
        yield step(i)


def call_copy(number):
    with open(sys.argv[2], "rb") as file:
        data = bytearray(file.read())
    data[data.index(b"GNU\0", data.index(b"\x14\0\0\0\x03\0\0\0GNU\0")) + 4] = number
    with open("copy%d.so" % number, "wb") as file:
        file.write(data)
    ctypes.CDLL(os.path.abspath("copy%d.so" % number)).call_getppid()


def run():
    sorted(range(ROUNDS), key=step)
    list(generate())
    for i in range(COPIES):
        call_copy(i)


run()
