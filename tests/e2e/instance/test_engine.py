#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The objects that recordings share through the BPF file system: made by the first recording, removed by the last one, and
cleaned after a killed one. Runs in a mount namespace with a private BPF file system."""

import contextlib
import os
import re
import subprocess

from harness.cases import SECONDS_MAX, STACKMAP, main, needs, needs_command, run
from harness.engine_folder import BPFFS, FOLDER, HOME, SHARED, enter_own_mounts, fresh_bpffs
from harness.recording import Recording


class Recorder:
    """Records a command that runs until it is told to end."""

    def __init__(self, output, *options):
        needs("bpf", "perf events")
        self.output = output
        self.process = subprocess.Popen(
            [STACKMAP, "record", "-o", output, "-e", "page-faults", *options, "--", "cat"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.wait_for_command()

    def wait_for_command(self):
        """It has recorded from the start when the command echoes."""
        self.process.stdin.write(b"x\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == b"x\n", self.process.stderr.read()

    def maps(self):
        """The ids of the maps it holds."""
        found, folder = set(), "/proc/%d/fdinfo" % self.process.pid
        for name in os.listdir(folder):
            with contextlib.suppress(FileNotFoundError), open(os.path.join(folder, name), encoding="ascii") as file:
                found |= set(re.findall(r"^map_id:\s*(\d+)$", file.read(), re.M))  # else closed since
        return found

    def end(self):
        _, messages = self.process.communicate(timeout=SECONDS_MAX)
        assert self.process.returncode == 0, messages
        return Recording(self.output, messages.decode()).check()

    def kill(self):
        self.process.kill()
        self.process.communicate(timeout=SECONDS_MAX)


def pins():
    return set(os.listdir(FOLDER)) if os.path.isdir(FOLDER) else None


def test_recordings_at_once_share():
    fresh_bpffs()
    first, second = Recorder("first.data"), Recorder("second.data")
    assert pins() == SHARED, pins()
    assert os.stat(FOLDER).st_mode & 0o777 == 0o700 and os.stat(FOLDER + "/rules").st_mode & 0o777 == 0o600
    common = first.maps() & second.maps()
    assert len(common) == len(SHARED), (first.maps(), second.maps())
    first.end()
    assert pins() == SHARED, "the second uses them still"
    third = Recorder("third.data")
    assert third.maps() & common == common, "the engine outlives the one who made it"
    second.end()
    third.end()
    assert not os.path.exists(HOME), "the last one leaves nothing"


def test_a_killed_recorder_leaves_nothing_wrong():
    fresh_bpffs()
    killed = Recorder("killed.data")
    old = killed.maps()
    killed.kill()
    assert pins() == SHARED, "nobody was there to remove them"
    later = Recorder("later.data")
    assert not later.maps() & old, "maps that the killed one may have left half-written"
    later.end()
    assert not os.path.exists(HOME)


def test_the_last_of_two_is_killed():
    fresh_bpffs()
    first, second = Recorder("first.data"), Recorder("second.data")
    second.kill()
    assert pins() == SHARED
    first.end()
    assert not os.path.exists(HOME)


def test_pins_of_another_size_are_let_alone():
    """A recorder of another build: each has its own maps, and both work."""
    fresh_bpffs()
    first = Recorder("first.data")
    os.unlink(FOLDER + "/rules")
    second = Recorder("second.data")
    assert not first.maps() & second.maps()
    second.end()
    assert pins() == SHARED - {"rules"}
    first.end()
    assert not os.path.exists(HOME)


def test_it_mounts_the_file_system():
    run("mount", "-t", "tmpfs", "none", BPFFS)
    recorder = Recorder("f.data")
    assert pins() == SHARED
    recorder.end()


def test_without_a_file_system():
    """A user who may not mount can record nevertheless."""
    needs_command("setpriv", "--version")
    run("mount", "-t", "tmpfs", "none", BPFFS)
    done = run("setpriv", "--bounding-set", "-sys_admin", "--", STACKMAP, "record", "-F", 99, "-o", "f.data", "--", "true")
    Recording("f.data", done.stderr).check()
    assert not os.path.exists(HOME)


def test_a_stopped_recorder_stops_nobody():
    """The stopped recorder holds the lock of the folder: the other one records without the shared engine."""
    needs_command("flock", "--version")
    fresh_bpffs()
    os.mkdir(HOME)
    with subprocess.Popen(["flock", "-x", HOME, "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        holder.stdin.write(b"x")
        holder.stdin.flush()
        assert holder.stdout.read(1) == b"x"
        Recorder("f.data").end()
        holder.stdin.close()


if __name__ == "__main__":
    enter_own_mounts()
    main(globals())
