#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`export --to`: receivers get the recording once, their identity is verified, and their answers are not trusted."""

import base64
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import urllib.parse

from harness.cases import PROGRAMS, STACKMAP, Skip, main, needs_command, run, stackmap
from harness.exportable import real, report_of, small
from harness.exported import Pprof, without_inlined
from harness.otlp import Otlp
from harness.receiver import certificate, is_cut, is_endless, is_silent, receiver, says

PARCA = os.path.join(PROGRAMS, "..", "..", "readers", "node_modules")
KINDS = "otlp", "pyroscope", "parca"


def push(url, *options, status=0, path=None):
    return stackmap("export", "--to", url, *options, path or small(), status=status)


def sent(kind, *options, path=None):
    """The one request that a recording is."""
    with receiver() as server:
        push(server.url(kind), *options, path=path)
    (request,) = server.requests
    return request


def check_equal(found, expected):
    wrong = [(key, found.get(key), expected.get(key)) for key in {*found, *expected}
             if found.get(key) != expected.get(key)]
    assert not wrong, "%d stacks differ (sent, report), such as %s" % (len(wrong), wrong[:3])


def each_recording():
    yield small()
    try:
        yield real()
    except Skip as reason:
        print(reason)


def without_colons(event, task, stack):
    return event.replace(":", "."), task, tuple(name.removesuffix(" (inlined)") for name in stack)


def profile_of(request):
    """The profile that Pyroscope and Parca get."""
    if request.headers["Content-Type"].startswith("multipart/"):
        return request.parts()["profile"]
    (series,) = json.loads(request.body)["series"]
    (sample,) = series["samples"]
    return base64.b64decode(sample["raw_profile"], validate=True)


# --- requests ---


def test_otlp():
    for path in each_recording():
        request = sent("otlp", path=path)
        assert request.path == "/v1development/profiles"
        assert request.headers["Content-Type"] == "application/x-protobuf" and request.headers["Content-Encoding"] == "gzip"
        check_equal(Otlp(gzip.decompress(request.body)).sums(), report_of(path).renamed(without_inlined))


def test_otlp_says_whose_it_is():
    request = sent("otlp", "--label", "service=shop", "--label", "version=1.5", "--label", "host=web7", "--label", "zone=eu=1")
    resource = Otlp(gzip.decompress(request.body)).resource
    assert resource["service.name"] == "shop" and resource["service.version"] == "1.5"
    assert resource["host.name"] == "web7" and resource["zone"] == "eu=1"


def test_pprof_of_both():
    for kind in "pyroscope", "parca":
        for path in each_recording():
            profile = Pprof(io.BytesIO(profile_of(sent(kind, path=path))))
            check_equal(profile.sums(), report_of(path).renamed(without_colons))
            assert not any(":" in name for name, _ in profile.types)


def test_pprof_is_read_by_go():
    needs_command("go", "tool", "pprof", "-h")
    for kind in "pyroscope", "parca":
        with open(kind + ".pb.gz", "wb") as file:
            file.write(profile_of(sent(kind)))
        text = run("go", "tool", "pprof", "-top", "-sample_index=sched.sched_switch_value", kind + ".pb.gz").stdout
        assert "Total samples = 1.50us" in text.replace("1500ns", "1.50us"), text


def test_query_of_pyroscope():
    request = sent("pyroscope", "--label", "service=my shop{1}", "--label", "9zone/b=x,y=z", "--label", "version=1.5")
    path, _, query = request.path.partition("?")
    words = urllib.parse.parse_qs(query, strict_parsing=True)
    assert path == "/ingest" and "format" not in words
    assert words["name"] == ["my_shop_1_{host=testhost,version=1.5,_9zone_b=x_y_z}"], words
    start, end = (int(words[name][0]) for name in ("from", "until"))
    assert 0 <= end - start - 12 <= 1 and start > 10**9, words
    config = json.loads(request.parts()["sample_type_config"])
    types = [name for name, _ in Pprof(io.BytesIO(request.parts()["profile"])).types]
    assert set(types) <= set(config), (types, config)
    assert {each["display-name"] for each in config.values()} == {"stackmap"}


def test_labels_of_parca():
    request = sent("parca", "--label", "service=shop", "--label", "a-b=\u00e9")
    assert request.path == "/profiles/writeraw" and request.headers["Content-Type"] == "application/json"
    (series,) = json.loads(request.body)["series"]
    assert {each["name"]: each["value"] for each in series["labels"]["labels"]} == {
        "__name__": "stackmap", "host": "testhost", "service": "shop", "a_b": "\u00e9"}


READ_BY_PARCA = """
import { readFileSync, writeFileSync } from "node:fs";
import { WriteRawRequest } from "./profilestore.mjs";
const request = WriteRawRequest.fromJsonString(readFileSync("body.json", "utf8"), { ignoreUnknownFields: false });
const [series] = request.series;
writeFileSync("raw.pb.gz", series.samples[0].rawProfile);
console.log(JSON.stringify(series.labels.labels.map(label => [label.name, label.value])));
"""


def parca_reader():
    """Parca's own description of the request, as modules that node finds."""
    made = os.path.join(PARCA, "@parca", "client", "dist")
    if not os.path.isdir(made):
        raise Skip("@parca/client is not installed: './setup check' does it")
    needs_command("node", "--version")
    os.symlink(os.path.realpath(PARCA), "node_modules")
    for name in "parca/profilestore/v1alpha1/profilestore", "google/protobuf/duration", "google/protobuf/timestamp":
        with open(os.path.join(made, name + ".js"), encoding="utf-8") as file:
            text = re.sub(r'from "\.[./\w]*/(\w+)"', r'from "./\1.mjs"', file.read())
        with open(os.path.basename(name) + ".mjs", "w", encoding="utf-8") as file:
            file.write(text)
    with open("read.mjs", "w", encoding="utf-8") as file:
        file.write(READ_BY_PARCA)


def test_parca_by_its_own_definition():
    parca_reader()
    request = sent("parca", "--label", "service=shop")
    with open("body.json", "wb") as file:
        file.write(request.body)
    labels = json.loads(run("node", "read.mjs").stdout)
    assert labels == [["__name__", "stackmap"], ["host", "testhost"], ["service", "shop"]], labels
    check_equal(Pprof("raw.pb.gz").sums(), report_of(small()).renamed(without_colons))


def test_filters_and_nothing():
    """Events outside of the selection are not sent; an empty selection sends no request."""
    choice = ["--event", "sched:*", "--time", "101,111", "--comm", "sh"]
    check_equal(Otlp(gzip.decompress(sent("otlp", *choice).body)).sums(), report_of(small(), *choice))
    for kind in KINDS:
        with receiver() as server:
            push(server.url(kind), "--comm", "nobody")
        assert not server.requests


def test_a_path_of_ones_own():
    with receiver() as server:
        push(server.url("otlp", "/tenants/a/v1development/profiles"))
        push(server.url("otlp", "/"))
    assert [request.path for request in server.requests] == ["/tenants/a/v1development/profiles", "/v1development/profiles"]


# --- identity of the client ---


def secret(text, mode=0o600, name="secret"):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(name, mode)
    return name


def test_password_and_token():
    request = sent("otlp", "--user", "me", "--password-file", secret("pass word\n"))
    assert request.headers["Authorization"] == "Basic " + base64.b64encode(b"me:pass word").decode()
    request = sent("otlp", "--bearer-file", secret("to.ken"))
    assert request.headers["Authorization"] == "Bearer to.ken"
    assert "Authorization" not in sent("otlp").headers


def test_password_of_a_service():
    os.mkdir("credentials")
    secret("from systemd", name="credentials/stackmap.password")
    with receiver() as server:
        stackmap("export", "--to", server.url("otlp"), "--user", "me", small(),
                 env={**os.environ, "CREDENTIALS_DIRECTORY": os.path.abspath("credentials")})
    assert server.requests[0].headers["Authorization"] == "Basic " + base64.b64encode(b"me:from systemd").decode()


def test_secrets_that_are_none():
    with receiver() as server:
        for text, mode, why in ("x\n", 0o644, "everybody may read it"), ("", 0o600, "no single line"), ("a\nb\n", 0o600, "no single line"):
            done = push(server.url("otlp"), "--bearer-file", secret(text, mode), status=1)
            assert why in done.stderr, done.stderr
        assert "No such file" in push(server.url("otlp"), "--bearer-file", "gone", status=1).stderr
    assert not server.requests


def test_no_secret_in_the_clear():
    """Only to this host a password goes without TLS."""
    for option in ["--bearer-file", secret("x")], ["--user", "me", "--password-file", secret("x")]:
        done = push("otlp+http://stackmap.invalid", *option, status=1)
        assert "use https" in done.stderr, done.stderr
        done = push("otlp+http://stackmap.invalid", *option, "--allow-cleartext", status=1)
        assert "use https" not in done.stderr and "stackmap.invalid" in done.stderr, done.stderr


def test_urls():
    for url, why in {
        "otlp+https://me:hidden@127.0.0.1/": "may not hold a user or password",
        "otlp+https://hidden@127.0.0.1/": "may not hold a user or password",
        "otlp+https://127.0.0.1/?token=hidden": "may not hold a query",
        "https://127.0.0.1/": "no kind of receiver",
        "otlp+ftp://127.0.0.1/": "neither http:// nor https://",
        "otlp+https://": "host is missing",
        "otlp+https://127.0.0.1:70000/": "port",
        "otlp+https://127.0.0.1/a b": "path",
    }.items():
        done = push(url, status=2)
        assert why in done.stderr and "hidden" not in done.stderr, (url, done.stderr)


def test_options_that_need_each_other():
    for options in ["--label", "a=b"], ["--bearer-file", "x"]:
        assert "only with --to" in stackmap("export", *options, small(), status=2).stderr
    for options in ["--user", "me"], ["--ca-file", "x"], ["--password-file", "x"]:
        assert "for a store" in stackmap("export", *options, small(), status=2).stderr
    url = "otlp+http://127.0.0.1:1"
    for options in ["-f", "otlp"], ["-o", "x"], ["--by", "count"]:
        assert "goes without" in push(url, *options, status=2).stderr
    for options in (["--label", "novalue"], ["--label", "=x"], ["--password-file", "x"],
                    ["--bearer-file", "x", "--user", "me"]):
        assert push(url, *options, status=2).stderr


# --- identity of the receiver ---


def test_tls():
    trusted = certificate("trusted", "IP:127.0.0.1")
    with receiver(tls=trusted) as server:
        unknown = push(server.url("otlp"), status=1).stderr
        assert "certificate" in unknown.lower() and not server.requests, unknown
        push(server.url("otlp"), "--ca-file", trusted[0])
        assert len(server.requests) == 1
        other = certificate("other", "IP:127.0.0.1")
        push(server.url("otlp"), "--ca-file", other[0], status=1)
    elsewhere = certificate("elsewhere", "DNS:elsewhere.invalid")
    with receiver(tls=elsewhere) as server:
        push(server.url("otlp"), "--ca-file", elsewhere[0], status=1)
        assert not server.requests


def test_a_redirect_is_not_followed():
    with receiver() as other:
        place = other.url("x").removeprefix("x+") + "/"
        for status in 301, 302, 307, 308:
            with receiver(says(status, Location=place)) as server:
                done = push(server.url("otlp"), "--user", "me", "--password-file", secret("x"), status=1)
            assert "another server" in done.stderr and len(server.requests) == 1, done.stderr
    assert not other.requests


# --- answers; no request is ever sent twice ---


def failure(answer, kind="otlp"):
    with receiver(answer) as server:
        done = push(server.url(kind), status=1)
    assert len(server.requests) == 1, "sent %d times" % len(server.requests)
    (line,) = done.stderr.splitlines()
    return line


def test_refusals():
    for kind in KINDS:
        for status, why in {400: "no such thing", 401: "say who you are", 403: "say who you are", 404: "nothing receives profiles",
                            413: "too large", 429: "cannot take more now", 500: "may have been stored or not",
                            503: "cannot take more now"}.items():
            line = failure(says(status, b"no such thing"), kind)
            assert "HTTP %d: no such thing" % status in line and why in line, line


def test_what_is_said_is_shown_as_text():
    assert "HTTP 400: a ?[31mb?" in failure(says(400, b"a \x1b[31mb\xff\nc"))
    assert len(failure(says(400, b"x" * 60000))) < 400
    status = b"\x08\x03\x12\x08bad type"
    assert "HTTP 400: bad type" in failure(says(400, status)), failure(says(400, status))


def test_taken_in_part():
    partial = b"\x0a\x0a\x08\x02\x12\x06no \x1b[m"
    assert "2 profiles were rejected: no ?[m" in failure(says(200, partial))
    only_a_note = b"\x0a\x06\x12\x04note"
    with receiver(says(200, only_a_note)) as server:
        push(server.url("otlp"))
    assert "not one of OTLP" in failure(says(200, b"<html>"))


def test_answers_that_end_early_or_never():
    for kind in KINDS:
        for answer in is_cut, is_silent:
            assert "http://127.0.0.1" in failure(answer, kind)
        assert "more than 65536 bytes" in failure(is_endless, kind)


def test_nobody_is_there():
    with receiver() as server:
        url = server.url("otlp")
    assert "http://127.0.0.1" in push(url, status=1).stderr


def test_a_damaged_recording_is_sent_as_far_as_it_goes():
    shutil.copy(small(), "cut.data")
    os.truncate("cut.data", os.path.getsize("cut.data") - 20)
    with receiver() as server:
        done = push(server.url("otlp"), status=1, path="cut.data")
    assert done.stderr and len(server.requests) == 1


def test_without_libcurl():
    """It is loaded when something is sent, and by no other export."""
    needs_command("ldd", "--version")
    assert "libcurl" not in subprocess.run(["ldd", STACKMAP], capture_output=True, check=True, timeout=60).stdout.decode()


main(globals())
