# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A page in headless Chromium, moved by its own debugging protocol over a pair of pipes: messages in JSON, each
ended by a NUL. No network, no driver program, no port that another test could have."""

import atexit
import base64
import contextlib
import functools
import json
import os
import shutil
import subprocess
import tempfile

from harness.skip import Skip

PROGRAMS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
OPTIONS = ["--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
           "--disable-extensions", "--disable-background-networking", "--no-first-run", "--force-device-scale-factor=1"]
WINDOW = (1200, 800)


class Browser:
    """One process for all pages of a test: starting it costs more than most pages."""

    def __init__(self, program):
        to_child, self.to_browser = os.pipe()
        self.from_browser, from_child = os.pipe()
        self.folder = tempfile.TemporaryDirectory(prefix="stackmap-browser-", ignore_cleanup_errors=True)
        self.rest = b""
        self.number = 0

        def take_pipes():
            """The numbers that the browser expects; the ends may have been any."""
            ends = [os.dup(to_child), os.dup(from_child)]
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self.child = subprocess.Popen([program, *OPTIONS, "--user-data-dir=" + self.folder.name], close_fds=False,
                                      preexec_fn=take_pipes, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        atexit.register(self.close)

    def close(self):
        self.child.kill()
        self.child.wait()
        self.folder.cleanup()

    def send(self, message):
        self.number += 1
        os.write(self.to_browser, json.dumps({"id": self.number, **message}).encode() + b"\0")
        return self.number

    def receive(self):
        while b"\0" not in self.rest:
            data = os.read(self.from_browser, 1 << 20)
            assert data, "the browser went away"
            self.rest += data
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)


class Page:
    """Reads and moves one page, as a person would: by what it shows, the mouse and the keyboard. Each page has its own
    storage and process."""

    def __init__(self, browser):
        self.browser = browser
        self.session = {}
        self.errors = []
        self.download = None
        self.context = self.call("Target.createBrowserContext")["browserContextId"]
        self.attach()

    def note(self, message):
        """Stores each error of the page."""
        if message.get("method") == "Runtime.exceptionThrown":
            details = message["params"]["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif message.get("method") == "Log.entryAdded" and message["params"]["entry"]["level"] == "error":
            self.errors.append(message["params"]["entry"]["text"])
        elif message.get("method") == "Browser.downloadProgress":
            self.download = message["params"]["state"]

    def send(self, method, **parameters):
        return self.browser.send({"method": method, "params": parameters, **self.session})

    def call(self, method, **parameters):
        number = self.send(method, **parameters)
        while True:
            message = self.browser.receive()
            self.note(message)
            if message.get("id") == number:
                assert "error" not in message, "%s: %s" % (method, message.get("error"))
                return message["result"]

    def wait_for(self, method):
        while True:
            message = self.browser.receive()
            self.note(message)
            if message.get("method") == method:
                return message["params"]

    def attach(self):
        target = self.call("Target.createTarget", url="about:blank", browserContextId=self.context)["targetId"]
        self.session = {"sessionId": self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]}
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")
        self.call("Performance.enable", timeDomain="threadTicks")
        self.resize(*WINDOW)

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def open(self, path, scheme="light", fragment=""):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.send("Page.navigate", url="file://" + os.path.realpath(path) + "#" * bool(fragment) + fragment)
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
        """CPU seconds of the page's main thread since its start: scripts, layout, painting."""
        metrics = {metric["name"]: metric["value"] for metric in self.call("Performance.getMetrics")["metrics"]}
        return metrics["TaskDuration"]

    def screenshot(self):
        """The window as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def accessible(self):
        """The content for screen readers: (role, name) of each element."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]]

    def saved(self, act):
        """The file that the page saves when act() is called."""
        folder = tempfile.mkdtemp(dir=self.browser.folder.name)
        self.call("Browser.setDownloadBehavior", behavior="allow", browserContextId=self.context, downloadPath=folder, eventsEnabled=True)
        self.download = None
        act()
        while self.download != "completed":
            assert self.download != "canceled"
            self.wait_for("Browser.downloadProgress")
        name, = os.listdir(folder)
        with open(os.path.join(folder, name), "rb") as file:
            return name, file.read()

    def copied(self):
        """The text in the clipboard."""
        self.call("Browser.grantPermissions", browserContextId=self.context, permissions=["clipboardReadWrite"])
        return self.value("navigator.clipboard.readText()")

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


def find_program():
    for name in PROGRAMS:
        path = shutil.which(name)
        if path:
            return path
    raise Skip("no Chromium here (Debian package chromium-headless-shell)")


@functools.lru_cache(maxsize=None)
def the_browser():
    return Browser(find_program())


@contextlib.contextmanager
def page():
    """An empty page; what went wrong in it is an error here."""
    opened = Page(the_browser())
    try:
        yield opened
        assert not opened.errors, opened.errors
    finally:
        opened.session = {}
        opened.call("Target.disposeBrowserContext", browserContextId=opened.context)
