# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks of an instance after a fault: it goes on counting, or it is gone without remains, and the next instance works."""

import contextlib
import json
import os
import random
import re

from harness.bpf_objects import shown
from harness.cases import needs, needs_command, program, run, stackmap
from harness.engine_folder import HOME, fresh_bpffs
from harness.waiting import read_text, wait_until

POOL = 1000000 + 16 * (os.getpid() % 32768)
COUNTS = program("known_counts")
COUNTED = "u:%s:counted" % COUNTS
OPTIONS = ("--pool", POOL, "-e", COUNTED)
INSTANCE = HOME + "/x"
STEPS = random.Random(os.environ.get("STACKMAP_TEST_SEED", "steps"))


# --- what there is ---

def own_objects():
    """Stack maps of the size that only this test uses."""
    table_bytes = own_objects.table_bytes
    maps = {entry["id"] for entry in shown("map") if entry.get("bytes_value") == table_bytes}
    return [("map", number) for number in maps]


def learn_table_size():
    fresh_bpffs()
    start()
    table = json.loads(run("bpftool", "-j", "map", "show", "pinned", INSTANCE + "/pins/map_table_0").stdout)
    own_objects.table_bytes = table["bytes_value"]
    stop()


def begin():
    needs("bpf", "uprobes")
    needs_command("strace", "-V")
    needs_command("bpftool", "version")
    if not hasattr(own_objects, "table_bytes"):
        learn_table_size()
    fresh_bpffs()


def check_nothing_left():
    """Checks that all objects are freed, which takes a grace period."""
    assert not os.path.exists(HOME), [*os.walk(HOME)]
    wait_until(lambda: not own_objects())


# --- an instance ---

def start(*options, status=0, name="x"):
    return stackmap("start", name, *OPTIONS, *options, status=status)


def stop(name="x"):
    return stackmap("stop", name)


def stat(name="x"):
    text = read_text("%s/%s/stack_map_stat" % (HOME, name))
    return {line.split(": ")[0]: int(line.split(": ")[1]) for line in re.findall(r"^[a-z_]+: \d+$", text, re.M)}


def check_stat(found):
    """The ledger of the instance, which is behind its generation."""
    lost = sum(found[name] for name in list(found)[list(found).index("recorded") + 1:])
    assert found["produced"] == found["recorded"] + lost, found


def check_counts(name="x"):
    """Each event is in the ledger, recorded or not."""
    before = stat(name)
    run(COUNTS, "calls=100")
    found = stat(name)
    assert found["produced"] - before["produced"] == 100, (before, found)
    check_stat(found)
    return found["recorded"] - before["recorded"]


def check_works(name="x"):
    """It takes events."""
    recorded = check_counts(name)
    assert recorded == 100, recorded


def check_next_start():
    """The next instance works and leaves no objects, independent of the remains of the one before."""
    start()
    check_works()
    stop()
    check_nothing_left()


# --- faults on the way ---

def numbered(names):
    """Each with the number of times that it was there: (name, n-th)."""
    counts, found = {}, []
    for name in names:
        counts[name] = counts.get(name, 0) + 1
        found.append((name, counts[name]))
    return found


@contextlib.contextmanager
def told(*what):
    """Says in which step it went wrong."""
    try:
        yield
    except Exception as error:
        raise AssertionError("%s: %s" % (" ".join(map(str, what)), error)) from error
