# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The folder of the engine that recordings share, in a private BPF file system."""

import glob
import json
import os
import sys

from harness.cases import OWN, needs_command, run

BPFFS = "/sys/fs/bpf"
HOME = BPFFS + "/stackmap"
FOLDER = HOME + "/_engine-13"
SHARED = {"engine_state", "engine_tasks", "file_tables", "mapping_numbers", "mappings", "moved_code", "rules", "script_ids",
          "script_numbers", "script_records", "unwinders"}
OWN_MOUNTS = "STACKMAP_TEST_OWN_MOUNTS"


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


def fresh_bpffs():
    run("mount", "-t", "bpf", "bpf", BPFFS)


def enter_own_mounts():
    if OWN_MOUNTS in os.environ:
        return
    OWN.cleanup()  # the program that this becomes has another
    try:
        os.execvpe("unshare", ["unshare", "-m", sys.executable, *sys.argv], {**os.environ, OWN_MOUNTS: "1"})
    except OSError as error:
        print("no unshare here: %s" % error)
        sys.exit(77)
