# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The outermost frames of complete user stacks."""

import collections
import functools
import os
import re
import sys

from harness.cases import unexcused
from harness.recording import marker, user_frames

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "unwind", "situations"))
from judge import is_start_at  # noqa: E402


@functools.lru_cache(maxsize=None)
def begins_something(name, path):
    if re.fullmatch(r"(_start|(__)?clone3?|thread_start)\+0x[0-9a-f]+", name):
        return True
    without_symbol = re.fullmatch(re.escape(os.path.basename(path)) + r"\+0x([0-9a-f]+)(\.\.0x[0-9a-f]+)?", name)
    return bool(without_symbol) and is_start_at(path, int(without_symbol[1], 16))


@unexcused
def check_roots(events):
    """A stack without a mark ends where a program or a thread begins."""
    roots = collections.Counter((stack[-1].name, stack[-1].object) for event in events
                                for stack in [user_frames(event)] if stack and not marker(event))
    wrong = {root: count for root, count in roots.items() if not begins_something(*root)}
    assert roots and not wrong, wrong
