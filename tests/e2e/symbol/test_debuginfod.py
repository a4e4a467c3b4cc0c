#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Debug files from a debuginfod server: a small one of the test's own, which may be late, or lie."""

import contextlib
import http.server
import os
import pty
import re
import shutil
import signal
import subprocess
import threading

from harness.cases import STACKMAP, Skip, main, needs_command, run, stackmap
from harness.inlined_program import INLINED, build, hottest, record_calls, split

BARE = "bare"
LIBRARY = "/usr/lib/%s-linux-gnu/libdebuginfod.so.1" % os.uname().machine


class Handler(http.server.BaseHTTPRequestHandler):
    disable_nagle_algorithm = True  # else an answer waits for an acknowledgement
    def do_GET(self):
        server = self.server
        server.asked.append(self.path)
        server.arrived.set()
        if server.hangs:
            server.over.wait()
            return
        data = server.files.get(self.path)
        if data is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        half = len(data) // 2 if server.pauses else len(data)
        with contextlib.suppress(OSError):
            self.wfile.write(data[:half])
            if server.pauses:
                server.over.wait()
            self.wfile.write(data[half:])

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    """files: what it has, by path. hangs: it answers nothing; pauses: in the middle of a file; both until `over`."""
    daemon_threads = True

    def __init__(self, hangs=False, pauses=False):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.asked = {}, []
        self.hangs, self.pauses = hangs, pauses
        self.arrived, self.over = threading.Event(), threading.Event()

    def offer(self, build_id, kind, path):
        with open(path, "rb") as file:
            self.files["/buildid/%s/%s" % (build_id, kind)] = file.read()

    def kinds(self, build_id):
        return [path.split("/")[3] for path in self.asked if build_id in path]

    def environment(self, **more):
        """An empty cache of libdebuginfod each time."""
        shutil.rmtree("fetched", ignore_errors=True)
        return {**os.environ, "DEBUGINFOD_URLS": "http://127.0.0.1:%d" % self.server_port,
                "DEBUGINFOD_CACHE_PATH": os.path.abspath("fetched"), **more}


@contextlib.contextmanager
def serving(**how):
    needs_command("ls", LIBRARY)
    server = Server(**how)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        thread.join()
        server.server_close()


def build_id_of(path):
    return re.search(r"Build ID: (\w+)", run("readelf", "-n", path).stdout).group(1)


def made_bare(keep="-S"):
    """A recording of a program without debug information, which lies in bare.debug, where the report does not search."""
    build(BARE)
    split(BARE, keep)
    made = record_calls(BARE)
    os.mkdir("away")
    shutil.move("bare.debug", "away/bare.debug")
    return made, build_id_of(BARE)


def ask(made, environment, *options):
    done = stackmap("report", "--json", *options, made.path, env=environment)
    return hottest(done.stdout), done.stderr


def test_names_from_a_server():
    made, build_id = made_bare()
    with serving() as server:
        server.offer(build_id, "debuginfo", "away/bare.debug")
        names, notes = ask(made, server.environment(), "--debuginfod")
        assert names == INLINED and "bare:" not in notes, notes
        assert server.kinds(build_id) == ["debuginfo"]
        assert ask(made, server.environment())[0] == INLINED


def test_nothing_is_asked_unless_wanted():
    made, build_id = made_bare()
    with serving() as server:
        server.offer(build_id, "debuginfo", "away/bare.debug")
        for options in ["--no-debuginfod"], ["--no-debuginfod", "--debuginfod"], ["--no-inline"]:
            names, notes = ask(made, server.environment(), *options)
            assert names[0].startswith("bare+0x") and not notes, (names, notes)
        names, notes = ask(made, server.environment(DEBUGINFOD_URLS=""))
        assert names[0].startswith("bare+0x") and not notes, (names, notes)
        assert not server.asked, server.asked
    done = stackmap("report", "--debuginfod", made.path, status=2)
    assert "DEBUGINFOD_URLS" in done.stderr and not done.stdout, done


def test_files_that_are_here_are_not_fetched():
    build("whole")
    made = record_calls("whole")
    with serving() as server:
        assert ask(made, server.environment(), "--debuginfod")[0] == INLINED
        assert not server.kinds(build_id_of("whole")), server.asked


def test_a_program_that_is_not_here():
    """The recording says where its code lies, so only its debug file is asked for."""
    made, build_id = made_bare()
    shutil.move(BARE, "away")
    with serving() as server:
        assert ask(made, server.environment(), "--debuginfod")[0][0].startswith("bare+0x")
        server.offer(build_id, "debuginfo", "away/bare.debug")
        names, notes = ask(made, server.environment(), "--debuginfod")
        assert names == INLINED, (names, notes)
        assert server.kinds(build_id) == ["debuginfo"] * 2, server.asked


def test_what_libdebuginfod_keeps_is_not_fetched_again():
    made, build_id = made_bare()
    with serving() as server:
        server.offer(build_id, "debuginfo", "away/bare.debug")
        environment = server.environment()
        for _ in range(2):
            done = stackmap("report", "--json", made.path, env=environment)
            assert hottest(done.stdout) == INLINED, done.stderr
        assert server.kinds(build_id) == ["debuginfo"]


def test_another_file():
    made, build_id = made_bare()
    with open("other.c", "w", encoding="ascii") as file:
        file.write("int main(void) { return 1; }\n")
    run("gcc", "-g", "-Wl,--build-id", "other.c", "-o", "other")
    for path in "other", "other.c":
        with serving() as server:
            server.offer(build_id, "debuginfo", path)
            names, notes = ask(made, server.environment(), "--debuginfod")
            assert names[0].startswith("bare+0x"), names
            assert re.search(r"bare: .*debuginfod: what was sent is another file\n", notes), notes


def test_no_server_has_it():
    made, build_id = made_bare()
    with serving() as server:
        names, notes = ask(made, server.environment(), "--debuginfod")
        assert names[0].startswith("bare+0x"), names
        assert len(re.findall(r"/bare: .*debuginfod: no server has it\n", notes)) == 1, notes
        assert server.kinds(build_id) == ["debuginfo"]
        gone = server.environment()
    names, notes = ask(made, gone, "--debuginfod")
    assert names[0].startswith("bare+0x") and re.search(r"/bare: .*debuginfod: .*refused\n", notes), (names, notes)


def test_no_library():
    """It is said once, not of each file."""
    if os.geteuid():
        raise Skip("hiding it takes root")
    made, _ = made_bare(keep="-g")
    with open("empty", "wb"), serving() as server:
        done = run("unshare", "-m", "sh", "-c", 'mount --bind empty "$1"; shift; exec "$@"', "sh", os.path.realpath(LIBRARY),
                   STACKMAP, "report", "--json", made.path, env=server.environment())
        assert hottest(done.stdout)[:2] == INLINED[1:]
        assert done.stderr.count("debuginfod") == 2 and "there is no libdebuginfod.so.1\n" in done.stderr, done.stderr
        assert not server.asked


def test_a_server_that_does_not_answer():
    """It costs the limit of one file, not of each."""
    made, _ = made_bare(keep="-g")
    with serving(hangs=True) as server:
        names, notes = ask(made, server.environment(DEBUGINFOD_MAXTIME="1"), "--debuginfod")
        assert names[:2] == INLINED[1:], names
        assert len(set(server.asked)) == 1, server.asked
        assert notes.count("debuginfod") == 1 and "no answer, no more is asked for\n" in notes, notes


def test_a_server_that_is_slow():
    """Others of its files may be small."""
    made, build_id = made_bare()
    with serving(pauses=True) as server:
        server.offer(build_id, "debuginfo", "away/bare.debug")
        names, notes = ask(made, server.environment(DEBUGINFOD_MAXTIME="1"), "--debuginfod")
        assert names[0].startswith("bare+0x"), names
        assert re.search(r"/bare: .*debuginfod: it takes longer than it may", notes), notes
        assert set(server.asked) > set(server.files), server.asked


def start(made, environment, **streams):
    return subprocess.Popen([STACKMAP, "report", "--json", "--debuginfod", made.path], env=environment,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True, **streams)


def test_interrupt():
    """To the whole group, as the terminal sends it."""
    made, _ = made_bare(keep="-g")
    with serving(hangs=True) as server:
        process = start(made, server.environment(), stderr=subprocess.PIPE)
        assert server.arrived.wait(60)
        os.killpg(process.pid, signal.SIGINT)
        out, notes = process.communicate(timeout=60)
        assert process.returncode == 0, (process.returncode, notes)
        assert hottest(out)[:2] == INLINED[1:]
        assert notes.count(b"debuginfod") == 1 and b"abandoned, no more is asked for\n" in notes, notes
        assert len(set(server.asked)) == 1, server.asked


def read_until(terminal, text, seen=b""):
    while text not in seen:
        seen += os.read(terminal, 4096)
    return seen


def test_progress_on_a_terminal():
    made, build_id = made_bare()
    with serving(pauses=True) as server:
        server.offer(build_id, "debuginfo", "away/bare.debug")
        terminal, end = pty.openpty()
        process = start(made, server.environment(TERM="xterm"), stderr=end)
        os.close(end)
        seen = read_until(terminal, b"debuginfod: bare 0.0 of 0.0 MiB")
        server.over.set()
        out, _ = process.communicate(timeout=60)
        assert hottest(out) == INLINED
        with contextlib.suppress(OSError):  # the terminal is gone with the process
            while True:
                seen += os.read(terminal, 4096)
        os.close(terminal)
    lines = [line for line in seen.split(b"\r\n") if b"debuginfod: bare" in line]
    assert len(lines) == 1 and b"\r\x1b[K" in lines[0].rpartition(b"without)")[2], seen


if __name__ == "__main__":
    main(globals())
