#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Commands read a store like recordings, with the same results: rows that an agent's own code has made of real recordings,
on servers of the test's own."""

import contextlib
import csv
import http.server
import json
import os
import re
import shutil
import struct
import threading
import time
import urllib.parse

from harness.cases import STACKMAP, main, needs, on_terminal, program, run, stackmap
from harness.clickhouse import PASSWORD, USER, clickhouse, modern_clickhouse, password_file, url_of
from harness.recording import record

NOW = int(time.time()) // 10 * 10 - 600
LATER = NOW + 120  # a second window, in another minute


class Store:
    """The store on these servers, as a user asks it."""

    def __init__(self, servers):
        self.servers, self.url, self.password = servers, url_of(servers), password_file()
        run(program("store_recording"), self.url, USER, PASSWORD, "init")

    def put(self, host, service, version, *files, at=NOW, times=1):
        run(program("store_recording"), self.url, USER, PASSWORD, host, service, version, at, times, *files)

    def read(self, command, *arguments, status=0):
        return stackmap(command, "--from", self.url, "--user", USER, "--password-file", self.password, *arguments, status=status)

    def folded(self, *arguments, by="count", **options):
        return sorted(self.read("export", "--by", by, *arguments, **options).stdout.splitlines())

    def report(self, *arguments, **options):
        return json.loads(self.read("report", "--json", *arguments, **options).stdout)

    def hosts(self, *arguments):
        return json.loads(self.read("hosts", "--json", *arguments).stdout)


def folded(path, by="count"):
    """Names of the symbol table only: what was inlined at a leaf is not kept, a leaf is the start of its function."""
    return sorted(stackmap("export", "--no-inline", "--by", by, path).stdout.splitlines())


def paths(name, count, repeats):
    """A recording of `count` stacks, each `repeats` times."""
    needs("bpf", "uprobes")
    workload = program("call_paths")
    path = name + ".data"
    record("-e", "u:%s:leaf" % workload, "--", workload, count, repeats, output=path)
    return path


def stack_of(path):
    """The hash of its first one."""
    return re.search(r"<stack ([0-9a-f]{32})>", stackmap("script", "--hashes", path).stdout.splitlines()[0])[1]


def merged(*files):
    stackmap("merge", "-o", "merged.data", *files)
    return "merged.data"


def counts_of(report):
    return sum(stack["count"] for stack in report["stacks"])


@contextlib.contextmanager
def one_server():
    with clickhouse() as servers:
        yield Store(servers)


@contextlib.contextmanager
def two_servers():
    """Two shards, and names of hosts of which each has at least one."""
    with clickhouse(shards=2) as servers:
        yield Store(servers)


def hosts_of_shards(store):
    """A host for each shard."""
    found = {}
    for number in range(64):
        host = "web%d" % number
        store.put(host, "probe", "0", PROBE[0], at=NOW - 7200)
        for shard, server in enumerate(store.servers):
            if [[host]] == server.ask("SELECT DISTINCT host FROM stackmap.events WHERE host = '%s'" % host):
                found.setdefault(shard, host)
        if len(found) == len(store.servers):
            return [found[shard] for shard in sorted(found)]
    raise AssertionError("64 hosts are all on one shard: %s" % found)


PROBE = []


def check_same(store, files):
    """The store gives the same frames, counts and values for the service as the merged recordings."""
    whole = merged(*files)
    for by in ("count", "value"):
        ours, theirs = store.folded("--service", "shop", by=by), folded(whole, by)
        assert ours == theirs, (sorted(set(ours) - set(theirs))[:4], sorted(set(theirs) - set(ours))[:4])
    report = store.report("--service", "shop")
    local = json.loads(stackmap("report", "--no-inline", "--json", whole).stdout)
    assert counts_of(report) == counts_of(local)
    assert report["ledger"]["recorded"] == local["ledger"]["recorded"] and report["ledger"]["lost"]["not_stored"] == 0
    page = store.read("flamegraph", "--service", "shop", "-o", "page.html").stderr
    assert page.split()[1] == str(counts_of(local)), page


def whole_machine(name):
    needs("bpf")
    record("-F", "499", "-e", "cpu-clock", "-e", "offcpu-time", "--", "sh", "-c",
           "for i in 1 2 3 4 5 6 7 8 9; do ls -lR /usr/include >/dev/null; done", output=name)
    return name


def test_service_is_its_merged_recordings():
    files = [paths("first", 50, 3), paths("second", 80, 2), whole_machine("third.data")]
    PROBE[:] = files[:1]
    with two_servers() as store:
        first, second = hosts_of_shards(store)
        store.put(first, "shop", "1.4", files[0])
        store.put(second, "shop", "1.4", files[1], files[2], at=LATER)
        check_same(store, files)


def test_current_server():
    files = [paths("first", 50, 3), whole_machine("second.data")]
    with modern_clickhouse() as server:
        store = Store([server])
        store.put("web1", "shop", "1.4", files[0])
        store.put("web2", "shop", "1.5", files[1], at=LATER)
        check_same(store, files)
        assert {(row["host"], row["version"]) for row in store.hosts("--function", "leaf")} == {("web1", "1.4")}
        assert [(row["host"], row["count"]) for row in store.hosts("--stack", stack_of(files[0]))] == [("web1", 3)]
        assert counts_of(store.report("--service", "sh*", "--version", "1.4", "--host", "web[13]", "--cap", "7")) == 150


def test_choices():
    files = [paths("first", 10, 3), paths("second", 20, 2)]
    with one_server() as store:
        store.put("web1", "shop", "1.4", files[0])
        store.put("web2", "shop", "1.5", files[1], at=LATER)
        store.put("db1", "pg", "9", files[1], at=LATER)

        assert counts_of(store.report()) == 110
        assert counts_of(store.report("--service", "shop")) == 70
        assert counts_of(store.report("--host", "web*", "--host", "nowhere")) == 70
        assert counts_of(store.report("--host", "db1")) == 40
        assert store.report("--host", "db1")["ledger"]["recorded"] == 40
        assert counts_of(store.report("--comm", "call_pat*")) == 110
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(LATER))
        assert counts_of(store.report("--until", stamp)) == 30
        assert counts_of(store.report("--since", stamp)) == 80

        wrong = store.read("report", "--service", "sho[x]p*", status=1).stderr
        assert "no such service" in wrong and "shop" in wrong, wrong
        for option in (("--pid", "1"), ("--tid", "1"), ("--cpu", "0"), ("--time", "1,2"), ("--instance", "x")):
            assert "not with --from" in store.read("report", *option, status=2).stderr
        for keys in ("pid", "tid", "cpu"):
            assert "a store has no" in store.read("report", "--sort", keys, status=2).stderr
        assert "--from" in stackmap("report", "--service", "x", status=2).stderr
        assert "nothing" in store.read("report", "--since", "2001-01-01", "--until", "2001-01-02").stderr \
            or "no host" in store.read("report", "--since", "2001-01-01", "--until", "2001-01-02").stderr
        rows = store.report("--sort", "cgroup")["rows"]
        assert sum(row["self"]["count"] for row in rows) == 110, rows


def without_noise(table):
    """Events of a store have the time of their window, by which no noise can be known."""
    rows = list(csv.DictReader(table.splitlines()))
    for row in rows:
        del row["noise"]
    assert rows, table
    return rows


def test_differences():
    files = [paths("first", 10, 3), paths("second", 20, 3)]
    with one_server() as store:
        store.put("web1", "shop", "1.4", files[0])
        store.put("web2", "shop", "1.5", files[1], at=LATER)
        local = without_noise(stackmap("diff", "--no-inline", "--stacks", "--csv", *files).stdout)
        stamp = [time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) for at in (NOW, LATER)]
        for sides in (["--version", "1.4", "1.5"], ["--host", "web1", "web2"], ["--since", stamp[0], "--until", stamp[1], stamp[1]]):
            assert without_noise(store.read("diff", "--stacks", "--csv", *sides).stdout) == local, sides
        assert "one operand" in store.read("diff", "--version", "1.4", status=2).stderr
        store.read("flamegraph", "--version", "1.4", "-o", "page.html", "1.5")


def test_hosts():
    files = [paths("first", 10, 3), whole_machine("second.data")]
    with one_server() as store:
        store.put("web1", "shop", "1.4", files[0])
        store.put("web2", "shop", "1.5", files[0])
        store.put("web2", "shop", "1.5", files[1], at=LATER)
        assert [(row["host"], row["count"], row["percent"]) for row in store.hosts("--function", "lea[f]")] == [
            ("web1", 30, 50), ("web2", 30, 50)]
        found = store.hosts("--stack", stack_of(files[0]))
        assert [(row["host"], row["count"]) for row in found] == [("web1", 3), ("web2", 3)]
        assert sum(row["count"] for row in store.hosts("--service", "shop", "--version", "1.4")) == 30
        assert "no function" in store.read("hosts", "--function", "nobody_has_this", status=1).stderr
        store.put("host-" * 20 + "1", "service-" * 20, "1.4", files[0])
        whole = store.read("hosts").stdout
        assert "host-" * 20 + "1" in whole and "service-" * 20 in whole, whole
        shown = on_terminal([STACKMAP, "hosts", "--from", store.url, "--user", USER, "--password-file", store.password], COLUMNS="90")
        lines = shown[1].splitlines()
        assert shown[0] == 0 and len(lines) == len(whole.splitlines()) and max(map(len, lines)) <= 90, lines
        assert any(re.search(r"host-\S*\.\.\.\S*1 ", line) for line in lines), lines


def test_cap():
    """Beyond the cap stacks are one; no event is lost by that."""
    files = [paths("first", 40, 1), paths("second", 8, 50)]
    PROBE[:] = files[:1]
    with two_servers() as store:
        hosts = hosts_of_shards(store)
        for host in hosts:
            store.put(host, "shop", "1.4", *files)
        rows = {stack["user"][0]: stack["count"] for stack in store.report("--service", "shop", "--cap", "8")["stacks"]
                if "[rest]" in stack["user"]}
        # paths 0 to 7 are in both recordings
        assert rows == {"[rest]": 2 * 32}, rows
        assert counts_of(store.report("--service", "shop", "--cap", "8")) == 2 * (40 + 400)


def test_server_is_away():
    files = [paths("first", 10, 3)]
    PROBE[:] = files
    with two_servers() as store:
        first, second = hosts_of_shards(store)
        store.put(first, "shop", "1.4", files[0])
        store.put(second, "shop", "1.4", files[0])
        store.servers[1].stop()
        done = store.read("report", "--json", "--service", "shop", status=1)
        assert counts_of(json.loads(done.stdout)) == 30
        assert str(store.servers[1].port) in done.stderr and str(store.servers[0].port) not in done.stderr, done.stderr
        assert str(store.servers[1].port) in store.read("hosts", status=1).stderr
        store.servers[0].stop()
        store.read("report", "--service", "shop", status=1)


def test_repeated_rows_count_once():
    files = [paths("first", 10, 3)]
    with one_server() as store:
        store.servers[0].ask("SYSTEM STOP MERGES")
        store.put("web1", "shop", "1.4", files[0], times=2)
        assert store.servers[0].ask("SELECT sum(count) FROM stackmap.events") == [["60"]]
        done = store.read("report", "--json")
        report = json.loads(done.stdout)
        assert counts_of(report) == 30 and report["ledger"]["lost"]["not_stored"] == 0
        assert not done.stderr, done.stderr


def test_missing_rows_are_said():
    files = [paths("first", 10, 3)]
    with one_server() as store:
        store.put("web1", "shop", "1.4", files[0])
        store.put("web2", "shop", "1.4", files[0], times=0)
        store.put("web3", "shop", "1.4", files[0], times=2)
        done = store.read("report", "--json")
        report = json.loads(done.stdout)
        assert counts_of(report) == 60
        assert report["ledger"]["produced"] == 90 and report["ledger"]["recorded"] == 60
        assert report["ledger"]["lost"]["not_stored"] == 30
        assert "30 events" in done.stderr and "web2 (30)" in done.stderr and "web1" not in done.stderr, done.stderr
        assert "not_stored" in store.read("report", "--no-pager").stdout


def test_names_for_a_whole_fleet():
    """A debug file that the host does not have gives the store the names of inlined functions, as in a local report."""
    needs("bpf")
    workload = shutil.copy(program("inlined_calls"), "gone")
    record("-e", "syscalls:sys_enter_getppid", "--no-kernel", "--", os.path.realpath(workload), 7, output="inlined.data")
    local = sorted(stackmap("export", "inlined.data").stdout.splitlines())
    assert "ask_again_[i];ask_[i]" in local[0], local
    os.makedirs("files/deep")
    shutil.move(workload, "files/deep/other_name")
    with one_server() as store:
        store.put("web1", "shop", "1.4", "inlined.data")
        assert "ask" not in store.folded()[0]
        said = run(STACKMAP, "store", "--user", USER, "--password-file", store.password, "symbolize", "--debug-dir", "files",
                   store.url).stdout
        assert int(said.split()[0]) > 0, said
        assert "caller;ask_again_[i];ask_[i];" in store.folded()[0], store.folded()
        assert "ask" not in store.folded("--no-inline")[0]
        assert store.folded()[0].rpartition(" ")[2] == "7"
        again = run(STACKMAP, "store", "--user", USER, "--password-file", store.password, "symbolize", "--debug-dir", "files",
                    store.url).stdout
        assert again.startswith("0 of "), again


def test_top():
    files = [paths("first", 10, 3)]
    with one_server() as store:
        store.put("web1", "shop", "1.4", files[0])
        done = store.read("top", "--batch", "--iterations", "2", "--delay", "1", "--since", "1h", "--service", "shop")
        shown = done.stdout
        assert shown.count("30 events in 3600.0 s") == 2 and shown.count("100.00% 100.00%  leaf") == 2, (shown, done.stderr)
        assert "not with --from" in store.read("top", "--batch", "--pid", "1", status=2).stderr


NAMES = ["it's", 'a "b"', "back\\slash", "new\nline", "'; DROP TABLE stackmap.events; --", "\\'", "%s%n", "*", "ü\t"]


def test_names_are_no_sql():
    files = [paths("first", 5, 1)]
    with one_server() as store:
        for number, name in enumerate(NAMES):
            store.put("host%d" % number, name, name, files[0], at=NOW + 10 * number)
        for name in NAMES:
            found = store.hosts("--service", name.replace("\\", "\\\\").replace("*", "[*]")
                                if set("*?[") & set(name) else name)
            assert [row["service"] for row in found] == [name], (name, found)
            if not set("*?[") & set(name):
                assert counts_of(store.report("--service", name, "--version", name)) == 5, name
            store.read("report", "--comm", name, "--event", name, status=None)
        assert counts_of(store.report()) == 5 * len(NAMES)
        shown = store.read("hosts").stdout
        assert "new?line" in shown and len(shown.splitlines()) == 1 + len(NAMES), shown


# --- servers that answer anything ---


def varint(number):
    text = b""
    while number > 127:
        text, number = text + bytes([number & 127 | 128]), number >> 7
    return text + bytes([number])


HOSTILE = [
    b"", b"\x00", b"\xff" * 64, b"\x05web", varint(1 << 62) + b"x", b"\x80" * 4096, b"\xff" * (1 << 20), b"<html>no</html>",
    struct.pack("<I", 1) * 5000, varint(3) + b"web" + struct.pack("<QQQ", 1, 2, (1 << 64) - 1),
    b"\xaa" * 16 + struct.pack("<H", 65535) + b"\x04root\x04root\x01" + varint(1 << 40),
]


def text(value):
    return varint(len(value)) + value.encode()


STACK, OBJECT = b"S" * 16, b"O" * 16
# The answers of an honest server with one event, by the beginning of the query.
HONEST = {
    "SELECT max(version)": None,
    "SELECT host, sum(p)": text("web1") + struct.pack("<QQQ", 1, 1, 1),
    "SELECT host, sum(e)": b"",
    "SELECT cause": b"",
    "SELECT host, any(kernel)": text("web1") + text("6.1") + text("x86_64") + struct.pack("<H", 2),
    "SELECT event, sum(count)": text("cpu-clock") + struct.pack("<QQQ", 1, 0, 1),
    "SELECT event, stack": text("cpu-clock") + STACK + struct.pack("<QQ", 1, 0),
    "SELECT stack AS s": STACK + text("comm") + text("cpu-clock") + struct.pack("<IQQ", 1700000000, 1, 0),
    "SELECT stack, kernel_depth": STACK + struct.pack("<H", 0) + text("no_frames") + text("root") + b"\x02"
                                  + varint(1) + OBJECT + varint(1) + struct.pack("<Q", 5),
    "SELECT object, offset": OBJECT + struct.pack("<QQQ", 5, 0, 10) + varint(2) + text("inner") + text("outer"),
    "SELECT object, kind": OBJECT + b"\x01" + text("abcd") + text("/bin/x") + b"\x00",
    "SELECT DISTINCT name": text("outer"),
    "SELECT DISTINCT stack": STACK,
    "SELECT host, service": text("web1") + text("s") + text("v") + text("cpu-clock") + struct.pack("<QQ", 1, 0),
}


class Liar(http.server.BaseHTTPRequestHandler):
    """A server that gives a false answer to one query."""
    disable_nagle_algorithm = True  # else an answer waits for an acknowledgement

    protocol_version = "HTTP/1.1"

    def answer(self, body, length=None):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        query = urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query)["query"][0]
        stage = next((stage for stage in HONEST if query.startswith(stage)), None)
        self.server.asked.add(stage)
        if stage == self.server.stage and self.server.cut:
            self.answer(self.server.lie, len(self.server.lie) + 1000)
            self.close_connection = True
        elif stage == self.server.stage:
            self.answer(self.server.lie)
        else:
            self.answer(struct.pack("<IQ", 1, 1) if stage == "SELECT max(version)" else HONEST.get(stage, b""))

    do_GET = do_POST

    def log_message(self, *_):
        pass


class LiarServer(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        """A client that gets a false answer closes the connection."""


@contextlib.contextmanager
def liar(stage, lie=b"", cut=False):
    server = LiarServer(("127.0.0.1", 0), Liar)
    server.stage, server.lie, server.cut, server.asked = stage, lie, cut, set()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield "http://127.0.0.1:%d" % server.server_port, server
    finally:
        server.shutdown()
        server.server_close()


def limited(*arguments):
    """With less memory than a lie could ask for; a sanitizer needs more for itself than any limit allows."""
    if "ASAN_OPTIONS" in os.environ:
        return stackmap(*arguments, status=None)
    return run("sh", "-c", 'ulimit -v 2000000; exec "$@"', "sh", STACKMAP, *arguments, status=None)


READERS = (("report", "--json"), ("hosts", "--json", "--function", "oute*"))


def test_an_honest_answer():
    """The answers that are lied about below are such as a server gives: each question is met."""
    with liar(None) as (url, server):
        report = json.loads(stackmap("report", "--json", "--from", url).stdout)
        assert report["stacks"][0]["user"] == ["inner (inlined)", "outer"] or report["stacks"][0]["user"] == ["outer"], report
        assert json.loads(stackmap("hosts", "--json", "--function", "oute*", "--from", url).stdout)[0]["host"] == "web1"
        assert server.asked == set(HONEST) - {"SELECT host, sum(e)", "SELECT event, stack"}, server.asked


def test_hostile_answers():
    for stage in HONEST:
        whole = HONEST[stage] or b""
        lies = HOSTILE + [whole[:len(whole) // 2], whole[:-1], whole + b"\x05", whole * 3, bytes(255 - byte for byte in whole)]
        for lie in lies:
            with liar(stage, lie) as (url, _):
                for command in READERS:
                    done = limited(*command, "--from", url)
                    assert done.returncode in (0, 1), (stage, lie[:40], command, done.returncode, done.stderr)
                    assert done.returncode == 0 or done.stderr, (stage, lie[:40], command)
        with liar(stage, b"\x01", cut=True) as (url, server):
            done = limited("report", "--from", url)
            assert done.returncode == (1 if stage in server.asked else 0), (stage, done.stderr)


if __name__ == "__main__":
    main(globals())
