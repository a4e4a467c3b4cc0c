# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A page in headless Chromium, moved by its own debugging protocol over a pair of pipes: messages in JSON, each
ended by a NUL. No network, no driver program, no port that another test could have."""

import base64
import contextlib
import json
import os
import shutil
import subprocess
import tempfile

from cases import Skip

PROGRAMS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
OPTIONS = ["--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
           "--disable-extensions", "--disable-background-networking", "--no-first-run", "--force-device-scale-factor=1"]
WINDOW = (1200, 800)


class Page:
    """Reads and moves one page, as a person would: by what it shows, the mouse and the keyboard."""

    def __init__(self, to_browser, from_browser):
        self.to_browser = to_browser
        self.from_browser = from_browser
        self.rest = b""
        self.number = 0
        self.session = None
        self.errors = []

    def receive(self):
        while b"\0" not in self.rest:
            data = os.read(self.from_browser, 1 << 20)
            assert data, "the browser went away"
            self.rest += data
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def note(self, message):
        """Nothing may go wrong in a page unseen."""
        if message.get("method") == "Runtime.exceptionThrown":
            details = message["params"]["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif message.get("method") == "Log.entryAdded" and message["params"]["entry"]["level"] == "error":
            self.errors.append(message["params"]["entry"]["text"])

    def send(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")

    def call(self, method, **parameters):
        self.send(method, **parameters)
        while True:
            message = self.receive()
            self.note(message)
            if message.get("id") == self.number:
                assert "error" not in message, "%s: %s" % (method, message.get("error"))
                return message["result"]

    def wait_for(self, method):
        while True:
            message = self.receive()
            self.note(message)
            if message.get("method") == method:
                return message["params"]

    def attach(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")
        self.call("Performance.enable", timeDomain="threadTicks")
        self.call("Emulation.setDeviceMetricsOverride", width=WINDOW[0], height=WINDOW[1], deviceScaleFactor=1,
                  mobile=False)

    def open(self, path, scheme="light"):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.send("Page.navigate", url="file://" + os.path.realpath(path))
        self.wait_for("Page.loadEventFired")
        self.drawn()

    def drawn(self):
        """Waits for the next frame and what it draws."""
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def text(self, selector):
        return self.value("document.querySelector(%s).textContent" % json.dumps(selector))

    def cpu_seconds(self):
        """Of the page's main thread since it began: scripts, layout, painting."""
        metrics = {metric["name"]: metric["value"] for metric in self.call("Performance.getMetrics")["metrics"]}
        return metrics["TaskDuration"]

    def box(self, selector):
        return self.value("(({x, y, width, height}) => ({x, y, width, height}))(document.querySelector(%s)"
                          ".getBoundingClientRect())" % json.dumps(selector))

    def place(self, selector, across, down):
        box = self.box(selector)
        return box["x"] + across * box["width"], box["y"] + down * box["height"]

    def mouse(self, kind, place, buttons=0):
        button = "left" if buttons or kind == "mouseReleased" else "none"
        self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button=button, buttons=buttons,
                  clickCount=1)

    def click(self, place):
        self.drag(place)

    def drag(self, *places):
        self.mouse("mouseMoved", places[0])
        self.mouse("mousePressed", places[0], 1)
        for place in places[1:]:
            self.mouse("mouseMoved", place, 1)
        self.mouse("mouseReleased", places[-1])
        self.drawn()

    def press(self, key, shift=False):
        for kind in ("keyDown", "keyUp"):
            text = {"text": key} if len(key) == 1 and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, modifiers=8 if shift else 0, **text)
        self.drawn()

    def type(self, selector, text):
        self.value("document.querySelector(%s).select()" % json.dumps(selector))
        self.call("Input.insertText", text=text)
        self.drawn()

    def choose(self, selector, value):
        self.value("(select => { select.value = %s; select.dispatchEvent(new Event('change')); })"
                   "(document.querySelector(%s))" % (json.dumps(value), json.dumps(selector)))
        self.drawn()

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))


def find_program():
    for name in PROGRAMS:
        path = shutil.which(name)
        if path:
            return path
    raise Skip("no Chromium here (Debian package chromium-headless-shell)")


@contextlib.contextmanager
def page():
    """A browser of its own, with an empty profile; what went wrong in its page is an error here."""
    program = find_program()
    to_child, to_browser = os.pipe()
    from_browser, from_child = os.pipe()

    def take_pipes():
        """The numbers that the browser expects; the ends may have been any."""
        ends = [os.dup(to_child), os.dup(from_child)]
        os.dup2(ends[0], 3)
        os.dup2(ends[1], 4)

    with tempfile.TemporaryDirectory(prefix="stackmap-browser-", ignore_cleanup_errors=True) as folder:
        child = subprocess.Popen([program, *OPTIONS, "--user-data-dir=" + folder, "about:blank"], close_fds=False,
                                 preexec_fn=take_pipes, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        opened = Page(to_browser, from_browser)
        try:
            opened.attach()
            yield opened
            assert not opened.errors, opened.errors
        finally:
            os.close(to_browser)
            os.close(from_browser)
            child.kill()
            child.wait()
