# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Calls of every kind, whose callers stack/test_script_frames.py knows: runs for so many seconds of CPU time, in five threads.

usage: script_calls.py SECONDS"""

import ctypes
import sys
import threading
import time

END = float(sys.argv[1])
COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
qsort = ctypes.CDLL(None).qsort


def burn():
    total = 0
    for i in range(400):
        total += i * i % 7
    return total


def inner():
    burn()


def work(value):
    inner()
    return value


def generate():
    for i in range(5):
        work(i)
        yield i


def recurse(depth):
    return recurse(depth - 1) if depth else work(depth)


def recurse_through_c(depth):
    if depth:
        return max([1, 2], key=lambda value: recurse_through_c(depth - 1) or 1)
    return work(depth)


def catch():
    try:
        work(1)
        raise ValueError
    except ValueError:
        work(2)


class Item:
    def __init__(self):
        work(1)

    def __del__(self):
        work(2)

    def __lt__(self, other):
        work(3)
        return True


def compare(left, right):
    work(1)
    return 0


CALLBACK = COMPARE(compare)


def run():
    numbers = (ctypes.c_int * 4)(4, 3, 2, 1)
    while time.process_time() < END:
        sorted([3, 1, 2], key=work)
        list(generate())
        recurse(50)
        recurse_through_c(3)
        catch()
        item = Item()
        del item
        sorted([Item(), Item()])
        qsort(numbers, 4, 4, CALLBACK)
        exec("work(1)", globals())


threads = [threading.Thread(target=run) for _ in range(4)]
for thread in threads:
    thread.start()
run()
for thread in threads:
    thread.join()
