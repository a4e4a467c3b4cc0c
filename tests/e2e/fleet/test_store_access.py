#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Access to a store, and the check of its identity: passwords, certificates, proxies of the environment."""

import contextlib
import os
import ssl

from harness.cases import main, needs_command, run, stackmap
from harness.clickhouse import PASSWORD, USER, clickhouse, password_file
from harness.store_proxy import Proxy


def certificate(name, address, authority=None):
    """A key and a certificate for an address, signed by an authority or by itself; the file of both."""
    run("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-keyout", name + ".key", "-out", name + ".csr", "-subj", "/CN=" + name)
    with open(name + ".ext", "w", encoding="ascii") as file:
        file.write("subjectAltName=IP:%s\nbasicConstraints=CA:%s\n" % (address, "FALSE" if authority else "TRUE"))
    signer = ["-CA", authority + ".pem", "-CAkey", authority + ".pem", "-CAcreateserial"] if authority else [
        "-signkey", name + ".key"]
    run("openssl", "x509", "-req", "-in", name + ".csr", "-out", name + ".crt", "-days", "2", "-extfile", name + ".ext", *signer)
    with open(name + ".pem", "w", encoding="ascii") as both:
        for part in (name + ".crt", name + ".key"):
            with open(part, encoding="ascii") as file:
                both.write(file.read())
    return name + ".pem"


@contextlib.contextmanager
def behind_tls(server, pem):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    proxy = Proxy(server.port, context)
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


main(globals())
