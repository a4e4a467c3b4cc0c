# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""ClickHouse servers of the test's own: Debian's package clickhouse-server (18.16), never the one of the system. Each has a
folder, a free port on 127.0.0.1, and a user with a password; it is stopped by its process id, and its folder goes with it.

A current ClickHouse is npm's `chdb`, a library, behind chdb_server.js; `./setup check` fetches it."""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from harness.skip import Skip

SERVER = "clickhouse-server"
USER, PASSWORD = "agent", "a password of the tests"
SECONDS_MAX = 60  # only against what never happens: a server that does not start

CONFIG = """<?xml version="1.0"?>
<yandex>
  <logger><level>warning</level><log>{folder}/log</log><errorlog>{folder}/errors</errorlog></logger>
  <listen_host>127.0.0.1</listen_host>
  <http_port>{port}</http_port>
  <tcp_port>{tcp_port}</tcp_port>
  <path>{data}/</path>
  <tmp_path>{data}/tmp/</tmp_path>
  <user_files_path>{data}/user_files/</user_files_path>
  <format_schema_path>{data}/format_schemas/</format_schema_path>
  <users_config>{folder}/users.xml</users_config>
  <default_profile>default</default_profile>
  <default_database>default</default_database>
  <mark_cache_size>16777216</mark_cache_size>
  <uncompressed_cache_size>0</uncompressed_cache_size>
  <max_concurrent_queries>50</max_concurrent_queries>
  <keep_alive_timeout>10</keep_alive_timeout>
  <timezone>UTC</timezone>
  <background_pool_size>4</background_pool_size>
  <compression><case>
    <min_part_size>0</min_part_size><min_part_size_ratio>0</min_part_size_ratio><method>zstd</method>
  </case></compression>
  <remote_servers>{clusters}</remote_servers>
</yandex>
"""

USERS = """<?xml version="1.0"?>
<yandex>
  <profiles><default>
    <max_threads>2</max_threads><max_memory_usage>1000000000</max_memory_usage><use_uncompressed_cache>0</use_uncompressed_cache>
    <load_balancing>in_order</load_balancing>
  </default></profiles>
  <quotas><default><interval><duration>3600</duration><queries>0</queries><errors>0</errors><result_rows>0</result_rows>
    <read_rows>0</read_rows><execution_time>0</execution_time></interval></default></quotas>
  <users>{users}</users>
</yandex>
"""
USER_ENTRY = "<{0}><password>{1}</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></{0}>"


def free_port():
    with contextlib.closing(socket.socket()) as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def needs_clickhouse():
    if not shutil.which(SERVER):
        raise Skip("there is no clickhouse-server (Debian 12 has it)")


class Refused(Exception):
    """An error message of the server."""


def ask(port, sql, user=USER, password=PASSWORD, **settings):
    """The rows of an answer, as lists of strings."""
    target = "http://127.0.0.1:%d/?%s" % (port, urllib.parse.urlencode(settings))
    request = urllib.request.Request(target, sql.encode(), {"X-ClickHouse-User": user, "X-ClickHouse-Key": password})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=SECONDS_MAX) as answer:
            text = answer.read().decode()
    except urllib.error.HTTPError as error:
        raise Refused(error.read().decode(errors="replace")) from error
    return [line.split("\t") for line in text.splitlines()]


class Server:
    """One server. data: its data folder, which may be a small file system; its own if none is given."""

    user, password = USER, PASSWORD
    others = ()  # more users with this password

    def __init__(self, folder, data=None, clusters=""):
        self.folder, self.data = pathlib.Path(folder), pathlib.Path(data or folder + "/data")
        self.port, self.tcp_port, self.clusters, self.process = free_port(), free_port(), clusters, None
        self.folder.mkdir(parents=True, exist_ok=True)

    @property
    def url(self):
        return "http://127.0.0.1:%d" % self.port

    def configure(self):
        self.data.mkdir(exist_ok=True)
        entries = [USER_ENTRY.format(user, self.password) for user in (self.user, *self.others)]
        (self.folder / "users.xml").write_text(USERS.format(users="".join(entries)))
        (self.folder / "config.xml").write_text(CONFIG.format(
            folder=self.folder, data=self.data, port=self.port, tcp_port=self.tcp_port, clusters=self.clusters))

    def begin(self):
        """Starts it, and does not wait."""
        self.configure()
        with open(self.folder / "output", "ab") as output:
            self.process = subprocess.Popen([SERVER, "--config-file=%s" % (self.folder / "config.xml")], cwd=self.folder,
                                            stdin=subprocess.DEVNULL, stdout=output, stderr=output)

    def await_ready(self):
        over = time.monotonic() + SECONDS_MAX
        while True:
            assert self.process.poll() is None, "clickhouse-server ended:\n%s" % self.complaints()
            with contextlib.suppress(OSError, Refused):
                self.ask("SELECT 1")
                return
            assert time.monotonic() < over, "clickhouse-server does not answer:\n%s" % self.complaints()
            time.sleep(0.05)

    def start(self):
        self.begin()
        self.await_ready()

    def stop(self, how=signal.SIGKILL):
        if self.process:
            self.process.send_signal(how)
            self.process.wait()
            self.process = None

    def complaints(self):
        return "".join((self.folder / name).read_text(errors="replace")[-3000:]
                       for name in ("output", "errors") if (self.folder / name).exists())

    def ask(self, sql, **options):
        return ask(self.port, sql, **{"user": self.user, "password": self.password, **options})


class FreshServer(Server):
    """As a newcomer has it: the user `default`, without a password."""

    user, password = "default", ""


def cluster_of(servers):
    """All of them as the shards of one cluster named `fleet`."""
    shards = "".join(
        "<shard><replica><host>127.0.0.1</host><port>%d</port><user>%s</user><password>%s</password></replica></shard>"
        % (server.tcp_port, USER, PASSWORD) for server in servers)
    return "<fleet>%s</fleet>" % shards


@contextlib.contextmanager
def clickhouse(shards=1, data=None, kind=Server):
    """Starts `count` servers and gives them as a list. data: data folder of the first one."""
    needs_clickhouse()
    with tempfile.TemporaryDirectory(prefix="stackmap-clickhouse-") as folder:
        servers = [kind(os.path.join(folder, str(i)), None if i else data) for i in range(shards)]
        for server in servers:
            server.clusters = cluster_of(servers)
        try:
            for server in servers:
                server.begin()
            for server in servers:
                server.await_ready()
            yield servers
        finally:
            for server in servers:
                server.stop()


CHDB = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "stackmap" / "chdb"


class Modern:
    """A current ClickHouse; `port`, `url`, `ask` as Server has them."""

    def __init__(self, folder):
        script = pathlib.Path(__file__).with_name("chdb_server.js")
        self.process = subprocess.Popen(["node", script, CHDB, folder, USER, PASSWORD], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.port = int(self.process.stdout.readline() or 0)
        assert self.port, "chdb does not start:\n%s" % self.process.stderr.read().decode(errors="replace")

    @property
    def url(self):
        return "http://127.0.0.1:%d" % self.port

    def ask(self, sql, **options):
        return ask(self.port, sql, **options)

    def stop(self):
        self.process.kill()
        self.process.communicate()


@contextlib.contextmanager
def modern_clickhouse():
    if not shutil.which("node") or not (CHDB / "node_modules" / "chdb").is_dir():
        raise Skip("there is no current ClickHouse in %s (./setup check fetches it)" % CHDB)
    with tempfile.TemporaryDirectory(prefix="stackmap-chdb-") as folder:
        server = Modern(folder)
        try:
            yield server
        finally:
            server.stop()


def url_of(servers, database="stackmap"):
    """The URL of a store on them."""
    return "http://%s/%s" % (",".join("127.0.0.1:%d" % server.port for server in servers), database)


def password_file(folder="."):
    path = pathlib.Path(folder) / "password"
    path.write_text(PASSWORD + "\n")
    path.chmod(0o600)
    return path
