# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Stands between a sender and its store, and does to requests what networks and machines do to them. Each request is a
connection of its own behind the proxy, so that its answer ends where that connection ends."""

import email.utils
import re
import socket
import threading
import time

FAULTS = ("cut", "swallow", "hold")


class Proxy:
    """plan(fault): done to the next insert of events, once.

    cut      half of the body arrives, then both connections end
    swallow  the insert is done, its answer is not delivered
    hold     half of the body arrives, the rest only at release(); `finished` is set when the server has answered

    skew: seconds that are added to the date of each answer; skews: of the next answers, one each. held: a fault is at work. tls: an
    ssl.SSLContext of this side. refused: "all": inserts get 413; "first": those with the stacks of the first one that has any do."""

    def __init__(self, port, tls=None, listen=("127.0.0.1", 0)):
        self.server_port, self.skew, self.fault, self.tls = port, 0, None, tls
        self.skews, self.refused, self.poison = [], set(), None
        self.held, self.released, self.finished = threading.Event(), threading.Event(), threading.Event()
        self.listening = socket.create_server(listen)
        self.port = self.listening.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def close(self):
        self.released.set()
        self.listening.close()

    def plan(self, fault):
        assert fault in FAULTS
        for event in (self.held, self.released, self.finished):
            event.clear()
        self.fault = fault

    def release(self):
        self.released.set()

    def accept(self):
        while True:
            try:
                client, _ = self.listening.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            with (self.tls.wrap_socket(client, server_side=True) if self.tls else client) as client:
                head, body = read_request(client)
                if head:
                    self.pass_on(client, head, body)
        except OSError:
            pass

    def take_fault(self, head):
        fault = self.fault if b"INSERT%20INTO%20events" in head.split(b"\r\n", 1)[0] else None
        if fault:
            self.fault = None
        return fault

    def refuses(self, head, body):
        line = head.split(b"\r\n", 1)[0]
        if "first" in self.refused and b"INSERT%20INTO%20stacks" in line:
            self.poison = self.poison or body
            return body == self.poison
        return "all" in self.refused and b"INSERT%20INTO" in line

    def pass_on(self, client, head, body):
        if self.refuses(head, body):
            client.sendall(b"HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            return
        fault = self.take_fault(head)
        with socket.create_connection(("127.0.0.1", self.server_port)) as server:
            server.sendall(re.sub(rb"\r\n\r\n$", b"\r\nConnection: close\r\n\r\n", head))
            server.sendall(body[:len(body) // 2])
            if fault in ("cut", "hold"):
                self.held.set()
            if fault == "cut":
                return
            if fault == "hold":
                self.released.wait()
            server.sendall(body[len(body) // 2:])
            answer = read_all(server)
            if fault:
                self.finished.set()
            if fault != "swallow":
                client.sendall(self.date(answer))

    def date(self, answer):
        return re.sub(rb"(?m)^Date: [^\r]*", b"Date: " + email.utils.formatdate(time.time() + (self.skews.pop(0) if self.skews else self.skew), usegmt=True).encode(),
                      answer, count=1)


def read_request(client):
    data = b""
    while b"\r\n\r\n" not in data:
        more = client.recv(65536)
        if not more:
            return b"", b""
        data += more
    end = data.index(b"\r\n\r\n") + 4
    length = re.search(rb"(?im)^content-length: (\d+)", data[:end])
    while length and len(data) - end < int(length[1]):
        data += client.recv(1 << 20) or b""
    return data[:end], data[end:]


def read_all(server):
    answer = b""
    while True:
        more = server.recv(1 << 20)
        if not more:
            return answer
        answer += more
