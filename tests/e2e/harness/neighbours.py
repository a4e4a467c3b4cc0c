# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""An ordinary user with files that hinder a recorder: runs the programs neighbour.c and flood.c without privileges. Used by
tests and by bench/neighbours."""

import contextlib
import os
import shutil
import signal
import stat
import subprocess
import tempfile

USER = 12345
FUSE = os.makedev(10, 229)
SILENT = ("lookup", "open", "getattr", "read", "fault", "lock")
FLOODS = ("notes", "symbols", "frames", "dwarf", "jitdump", "perfmap", "fifo", "fifos", "rewrite", "mappings", "names")


class NotHere(Exception):
    """This machine does not let them."""


@contextlib.contextmanager
def place():
    """A folder that is theirs, and a FUSE device that all may open, as it is where udev runs."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        device, theirs = os.path.join(folder, "device"), os.path.join(folder, "theirs")
        os.mknod(device, stat.S_IFCHR | 0o666, FUSE)
        os.chmod(device, 0o666)
        os.mkdir(theirs)
        os.chown(theirs, USER, USER)
        yield theirs, device


@contextlib.contextmanager
def neighbour(kind, programs):
    """Runs beside; `programs` is the folder where its program was built."""
    with place() as (folder, device):
        name = "neighbour" if kind in SILENT else "flood"
        program = shutil.copy(os.path.join(programs, name), os.path.dirname(folder))
        os.chmod(program, 0o755)
        command = [program, kind, folder] + ([device] if kind in SILENT else [])
        running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, user=USER, group=USER, extra_groups=[],
                                   start_new_session=True)
        try:
            line = running.stdout.readline()
            if line.startswith("skip: "):
                raise NotHere(line[len("skip: "):].strip())
            assert line == "ready\n", line
            yield
        finally:
            os.killpg(running.pid, signal.SIGKILL)
            running.communicate()
            with contextlib.suppress(OSError):
                os.unlink("/tmp/perf-%d.map" % running.pid)


def switch(count):
    """Two processes that wake one another: some events for the recorder to lose."""
    load = ("import os, sys\na, b = os.pipe(), os.pipe()\nchild = os.fork()\n"
            "me, you = (a[0], b[1]) if child else (b[0], a[1])\n"
            "if child: os.write(you, b'x')\n"
            "for i in range(%d): os.read(me, 1), os.write(you, b'x')\n"
            "if child: os._exit(0)\n" % count)
    subprocess.run(["python3", "-c", load], check=True, timeout=300)
