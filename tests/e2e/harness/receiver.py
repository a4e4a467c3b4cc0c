# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A receiver of profiles for tests: stores requests, and gives prepared answers, also invalid ones."""

import contextlib
import email
import email.policy
import http.server
import os
import ssl
import subprocess
import threading

from harness.cases import needs_command


class Request:
    def __init__(self, path, headers, body):
        self.path, self.headers, self.body = path, headers, body

    def parts(self):
        """The parts of a form: name -> bytes."""
        head = ("Content-Type: %s\r\n\r\n" % self.headers["Content-Type"]).encode()
        form = email.message_from_bytes(head + self.body, policy=email.policy.HTTP)
        assert form.get_content_type() == "multipart/form-data", form.get_content_type()
        return {part.get_param("name", header="content-disposition"): part.get_payload(decode=True) for part in form.iter_parts()}


class Handler(http.server.BaseHTTPRequestHandler):
    disable_nagle_algorithm = True  # else an answer waits for an acknowledgement
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append(Request(self.path, self.headers, body))
        with contextlib.suppress(OSError):
            self.server.answer(self)

    do_GET = do_POST

    def log_message(self, *_):
        pass


def says(status=200, body=b"", **headers):
    def answer(handler):
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)
    return answer


def is_cut(handler):
    """Less than it promised."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b"\0" * 10)
    handler.close_connection = True


def is_silent(handler):
    """Reads the request and never answers."""
    handler.close_connection = True


def is_endless(handler):
    handler.send_response(200)
    handler.send_header("Connection", "close")
    handler.end_headers()
    while True:
        handler.wfile.write(b"\0" * 4096)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, answer, tls):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer, self.requests = answer, []
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.scheme = "https" if tls else "http"

    def handle_error(self, *_):
        pass

    def url(self, kind, path="", host="127.0.0.1"):
        return "%s+%s://%s:%d%s" % (kind, self.scheme, host, self.server_address[1], path)


@contextlib.contextmanager
def receiver(answer=says(), tls=None):
    """`tls`: files of a certificate and its key."""
    with Server(answer, tls) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def certificate(name, alternatives):
    """One that only those trust who are told to: the files of it and of its key."""
    needs_command("openssl", "version")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=" + name, "-addext", "subjectAltName=" + alternatives,
                    "-keyout", name + ".key", "-out", name + ".pem"], check=True, capture_output=True, timeout=120)
    return os.path.abspath(name + ".pem"), os.path.abspath(name + ".key")
