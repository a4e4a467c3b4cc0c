#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Access to a store, and the check of its identity: passwords, certificates, proxies of the environment."""

import contextlib
import ctypes
import os
import re
import shutil
import ssl
import time

from harness.cases import STACKMAP, Skip, main, needs, needs_command, program, run, stackmap
from harness.clickhouse import PASSWORD, USER, Server, clickhouse, password_file, url_of
from harness.engine_folder import CLONE_NEWNET, enter_own_mounts
from harness.recording import record
from harness.store_proxy import Proxy


def certificate(name, address, authority=None):
    """A key and a certificate for an address, signed by an authority or by itself; the file of both."""
    run("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-keyout", name + ".key", "-out", name + ".csr", "-subj", "/CN=" + name)
    with open(name + ".ext", "w", encoding="ascii") as file:
        file.write("subjectAltName=IP:%s,DNS:%s\nbasicConstraints=CA:%s\n" % (address, name, "FALSE" if authority else "TRUE"))
    signer = ["-CA", authority + ".pem", "-CAkey", authority + ".pem", "-CAcreateserial"] if authority else [
        "-signkey", name + ".key"]
    run("openssl", "x509", "-req", "-in", name + ".csr", "-out", name + ".crt", "-days", "2", "-extfile", name + ".ext", *signer)
    with open(name + ".pem", "w", encoding="ascii") as both:
        for part in (name + ".crt", name + ".key"):
            with open(part, encoding="ascii") as file:
                both.write(file.read())
    return name + ".pem"


@contextlib.contextmanager
def behind_tls(server, pem, listen=("127.0.0.1", 0)):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    proxy = Proxy(server.port, context, listen)
    try:
        yield "https://127.0.0.1:%d" % proxy.port
    finally:
        proxy.close()


def store(action, url, *options, **more):
    return stackmap("store", action, url, "--user", USER, "--password-file", password_file(), *options, **more)


def test_certificates_are_verified():
    needs_command("openssl", "version")
    certificate("authority", "127.0.0.9")
    certificate("other", "127.0.0.9")
    with clickhouse() as (server,):
        with behind_tls(server, certificate("right", "127.0.0.1", "authority")) as url:
            store("init", url, "--ca-file", "authority.crt")
            store("check", url, "--ca-file", "authority.crt")
            for options in ["--ca-file", "other.crt"], []:
                assert "certificate" in store("check", url, *options, status=1).stderr.lower()
            assert store("check", url.replace("https", "http"), status=1).stderr
        with behind_tls(server, certificate("elsewhere", "127.0.0.2", "authority")) as url:
            assert "does not match" in store("check", url, "--ca-file", "authority.crt", status=1).stderr


def test_no_password_in_the_clear():
    """Only to this host a password goes without TLS, unless that is asked for by name."""
    with open("password", "w", encoding="ascii") as file:
        file.write("x")
    os.chmod("password", 0o600)
    url, access = "http://stackmap.invalid", ["--user", "me", "--password-file", "password"]
    for command in ["store", "check", url], ["report", "--from", url], ["hosts", "--from", url]:
        done = stackmap(*command, *access, status=1)
        assert "use https, or --allow-cleartext" in done.stderr, (command, done.stderr)
        done = stackmap(*command, *access, "--allow-cleartext", status=1)
        assert "use https" not in done.stderr and "stackmap.invalid" in done.stderr, (command, done.stderr)
        stackmap(*command, status=1)  # no password, so no refusal


def test_users_and_proxies():
    with clickhouse() as (server,):
        store("init", server.url)
        os.mkdir("credentials")
        with open("credentials/stackmap.password", "w", encoding="ascii") as file:
            file.write(PASSWORD)
        environment = {**os.environ, "CREDENTIALS_DIRECTORY": os.path.abspath("credentials")}
        said = stackmap("store", "check", server.url, "--user", USER, env=environment, status=1).stderr
        assert "everybody may read it" in said, said
        os.chmod("credentials/stackmap.password", 0o600)
        stackmap("store", "check", server.url, "--user", USER, env=environment)
        assert "--password-file" in stackmap("store", "check", server.url, "--user", USER, status=1).stderr
        store("check", server.url, env={**os.environ, "http_proxy": "http://127.0.0.1:1", "all_proxy": "http://127.0.0.1:1"})
        wrong = stackmap("store", "check", server.url.replace("//", "//%s:hidden@" % USER), status=2)
        assert "hidden" not in wrong.stderr


def enter_own_machine():
    """Gives this process a network and names of hosts of its own; from here on the system trusts authority.crt alone."""
    enter_own_mounts()
    if ctypes.CDLL(None).unshare(CLONE_NEWNET):
        raise Skip("no network namespace here")
    run("ip", "link", "set", "lo", "up")
    with open("hosts", "w", encoding="ascii") as file:
        file.write("127.0.0.1 db1\n127.0.0.2 db2\n")
    run("mount", "--bind", "hosts", "/etc/hosts")
    run("mount", "-t", "tmpfs", "none", "/etc/ssl/certs")
    shutil.copy("authority.crt", "/etc/ssl/certs/ca-certificates.crt")


def examples(page):
    with open(os.path.join(os.path.dirname(__file__), "../../../docs/man", page), encoding="utf-8") as file:
        found = [line[4:].strip() for line in file if line.startswith(".Dl stackmap ")]
    assert found, page
    return found


class ServerOfPages(Server):
    others = "admin", "reader"


def test_examples_of_the_pages():
    """Those of `store` and `hosts`, as they stand: on two servers db1 and db2, whose service `web` has a function ssl_read."""
    needs("bpf", "uprobes")
    needs_command("openssl", "version")
    certificate("authority", "127.0.0.9")
    with open("web.c", "w", encoding="ascii") as file:
        file.write("#include <unistd.h>\nvoid ssl_read(void) { getppid(); }\nint main(void) { ssl_read(); return 0; }\n")
    run("gcc", "-O0", "-g0", "web.c", "-o", "web")
    recording = record("-e", "u:./web:ssl_read", "--", "./web")
    pem = [certificate(name, address, "authority") for name, address in (("db1", "127.0.0.1"), ("db2", "127.0.0.2"))]
    enter_own_machine()
    password_file()
    environment = {**os.environ, "PATH": "%s:%s" % (os.path.dirname(STACKMAP), os.environ["PATH"])}
    with clickhouse(2, kind=ServerOfPages) as (one, two):
        with behind_tls(one, pem[0], ("127.0.0.1", 8443)), behind_tls(two, pem[1], ("127.0.0.2", 8443)):
            for command in examples("stackmap-store.1"):
                run("sh", "-c", command, env=environment)
            run(program("store_recording"), url_of([one, two]), USER, PASSWORD, "host", "web", "1.0", int(time.time()) // 10 * 10 - 600, 1,
                recording.path)
            run("sh", "-c", examples("stackmap-store.1")[1], env=environment)
            command, = examples("stackmap-hosts.1")
            assert re.search("host +web +1.0 ", run("sh", "-c", command, env=environment).stdout)


main(globals())
