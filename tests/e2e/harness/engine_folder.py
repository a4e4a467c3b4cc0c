# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The folder of the engine that recordings share, in a private BPF file system."""

import ctypes
import glob
import json
import os
import re

from harness.cases import Skip, needs_command, run

BPFFS = "/sys/fs/bpf"
HOME = BPFFS + "/stackmap"
with open(os.path.join(os.path.dirname(__file__), "../../../abi/deferral.h"), encoding="utf-8") as header:
    ENGINE = "_engine-" + re.search(r"^#define ENGINE_VERSION (\d+)$", header.read(), re.MULTILINE).group(1)
FOLDER = HOME + "/" + ENGINE
SHARED = {"engine_state", "engine_tasks", "file_tables", "mapping_numbers", "mappings", "moved_code", "rules", "script_ids",
          "script_numbers", "script_records", "unwinders"}
CLONE_NEWNS, CLONE_NEWNET, MS_REC, MS_PRIVATE = 0x20000, 0x40000000, 1 << 14, 1 << 18
has_own_mounts = False


def engine_state():
    needs_command("bpftool", "version")
    dump = json.loads(run("bpftool", "-j", "map", "dump", "pinned", FOLDER + "/engine_state").stdout)
    return dump[0]["formatted"]["value"]


def forget_tables():
    """Deletes the unwind tables that the start of an instance has made for running programs. The engine's name differs in a
    PID namespace; this file system has only one engine."""
    needs_command("bpftool", "version")
    tables, = glob.glob(FOLDER + "*/file_tables")
    chunks = json.loads(run("bpftool", "-j", "map", "dump", "pinned", tables).stdout)
    assert chunks, "start made no table"
    with open("forget", "w") as file:
        file.writelines("map delete pinned %s key %s\n" % (tables, " ".join(chunk["key"])) for chunk in chunks)
    run("bpftool", "batch", "file", "forget")


def check_one_unwind(before):
    now = engine_state()
    for counter in ("cookie_last", "unwinder_next"):
        assert now[counter] - before[counter] == 1, (counter, before, now)


def enter_own_mounts():
    """Gives this process, once, a mount namespace of its own, so that its mounts end with the test; needs root."""
    global has_own_mounts
    if has_own_mounts:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) or libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None):
        raise Skip("no mount namespace here: %s" % os.strerror(ctypes.get_errno()))
    has_own_mounts = True


def fresh_bpffs():
    """Mounts an empty BPF file system, which has no recordings of others, in mounts of this process alone."""
    enter_own_mounts()
    run("mount", "-t", "bpf", "bpf", BPFFS)
