# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
An instance in the kernel, and its objects: every map, program and link that is pinned in its folder, with the kernel's
own sizes. Objects shared with other instances (_engine-N) count apart."""
import ctypes
import errno
import glob
import json
import math
import os
import platform
import re
import subprocess
import sys
import time

from measure import STACKMAP, run, skip, works

HOME = "/sys/fs/bpf/stackmap"
NAME = f"bench-{os.getpid()}"
SYS_BPF = {"x86_64": 321, "aarch64": 280}[platform.machine()]
FD_BY_ID = {"prog": 13, "map": 14, "link": 30}  # commands of bpf(2)

libc = ctypes.CDLL(None, use_errno=True)


def engine_folder():
    """The folder that all instances share: its name ends with the version of its contents."""
    return glob.glob(f"{HOME}/_engine-*")[0]


def need_instances():
    if not works(["bpftool", "version"]):
        skip("bpftool is not installed")
    if not works([STACKMAP, "start", NAME, "-e", "sched:sched_switch"]):
        skip("stackmap cannot start an instance here")
    run([STACKMAP, "stop", NAME])


def _is_there(kind, number):
    attributes = ctypes.create_string_buffer(number.to_bytes(4, "little"), 128)
    fd = libc.syscall(SYS_BPF, FD_BY_ID[kind], attributes, len(attributes))
    if fd >= 0:
        os.close(fd)
    return fd >= 0 or ctypes.get_errno() != errno.ENOENT


def _objects(kind):
    """All objects of a kind. bpftool fails if it meets a link that is being made, and is run again then."""
    command = ["bpftool", "-j", "-f", kind, "show"]
    for _ in range(100):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0 or "temporarily unavailable" not in done.stdout + done.stderr:
            break
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout


def pinned(folder):
    """kind -> what bpftool knows of each object pinned below the folder."""
    found = {}
    for kind in FD_BY_ID:
        every = json.loads(_objects(kind))
        found[kind] = [one for one in every if any(path.startswith(folder + "/") for path in one.get("pinned", []))]
    return found


def memory(objects):
    """Bytes of maps and of programs, translated code included."""
    maps = sum(one["bytes_memlock"] for one in objects["map"])
    programs = sum(one["bytes_memlock"] + one.get("bytes_jited", 0) for one in objects["prog"])
    return maps + programs


def largest(objects, count=6):
    """The largest maps with their sizes, as text."""
    maps = sorted(objects["map"], key=lambda one: -one["bytes_memlock"])
    return ", ".join(f"{one['name']} {one['bytes_memlock'] / 2**20:.1f}" for one in maps[:count])


class Instance:
    def __init__(self, *options, name=NAME):
        self.name = name
        self.options = options
        self.folder = f"{HOME}/{name}"

    def __enter__(self):
        self.started = time.monotonic()
        run([STACKMAP, "start", self.name, *self.options])
        return self

    def __exit__(self, *error):
        if os.path.isdir(self.folder):
            self.stop()

    def stop(self):
        """Stops the instance; returns the seconds until all of its objects are freed. A prog array is not waited for: it is
        never freed if another process looks at it while the kernel clears it (tests/e2e/harness/bpf_objects.py)."""
        objects = [(kind, one["id"]) for kind, ones in pinned(self.folder).items() for one in ones
                   if one.get("type") != "prog_array"]
        begin = time.monotonic()
        run([STACKMAP, "stop", self.name])
        while any(_is_there(kind, number) for kind, number in objects):
            time.sleep(0.001)
        return time.monotonic() - begin

    def first_event(self):
        """Seconds from its start to its first event; endless if that was overwritten before it could be seen."""
        if self.ledger()["lost"].get("overwritten", 0):
            return math.inf
        text = run([STACKMAP, "script", "--ids", "--instance", self.name])
        return float(re.search(r"\] ([0-9.]+): ", text)[1]) - self.started

    def file(self, name):
        with open(f"{self.folder}/{name}", "rb") as file:
            return file.read()

    def ledger(self):
        return json.loads(run([STACKMAP, "report", "--json", "--instance", self.name]))["ledger"]

    def objects(self):
        """The instance's own objects; the engine's maps are pinned in its folder, too."""
        shared = {one["id"] for one in pinned(engine_folder())["map"]}
        own = pinned(self.folder)
        own["map"] = [one for one in own["map"] if one["id"] not in shared]
        return own

    def memory(self):
        return memory(self.objects())


def engine_memory():
    return memory(pinned(engine_folder()))
