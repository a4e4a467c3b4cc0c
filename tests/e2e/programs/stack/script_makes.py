# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes functions, runs them and frees them, for so many seconds of CPU time: memory of one is that of the next. Each pair of functions has a
number: in their names, in the name of their file, or in both by turns.

usage: script_makes.py names|files|both SECONDS"""

import sys
import time

WHAT = sys.argv[1]
END = float(sys.argv[2])
SOURCE = """def inner%s():
    total = 0
    for i in range(300):
        total += i * i
    return total
def outer%s():
    return inner%s()
"""


def make(number):
    in_names = WHAT == "names" or (WHAT == "both" and number & 1)
    suffix = "_%06d" % number if in_names else ""
    made = {}
    exec(compile(SOURCE % (suffix, suffix, suffix), "made" if in_names else "made_%06d" % number, "exec"), made)
    return made["outer" + suffix]


count = 0
while time.process_time() < END:
    outer = make(count)
    outer()
    del outer
    count = (count + 1) % 50000
