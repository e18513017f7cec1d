"""Drive a headless Chromium through a pipe by the DevTools protocol; needs no package but the
browser.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile

ANSWER_S = 120  # time limit for an answer of the browser
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find():
    """The browser's path, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def begin(test):
    if not find():
        test.skipTest("Chromium is not installed: apt-get install chromium")
    try:
        return Browser()
    except (EOFError, OSError) as error:
        test.skipTest(f"Chromium does not start here: {error}")


def start(test):
    """A browser for the test, which closes it at its end; the test is skipped if there is no
    browser.
    """
    browser = begin(test)
    test.addCleanup(browser.close)
    return browser


def share(test):
    """The same with one browser for all tests of the class. Each test finds its page as a new one:
    empty, without anything stored, of the usual size.
    """
    group = type(test)
    if not getattr(group, "shared_browser", None):
        group.shared_browser = begin(test)
        group.addClassCleanup(group.shared_browser.close)
    test.addCleanup(end, group)
    return group.shared_browser


def end(group):
    """Empty the page. If the browser has died, the next test gets a new one."""
    try:
        group.shared_browser.empty_page()
    except (OSError, EOFError, RuntimeError):
        group.shared_browser = None


class Browser:
    """A browser with one page. `problems` has its console errors, exceptions, and requests to other
    machines.
    """

    def __init__(self, width=1366, height=768):
        self.folder = tempfile.mkdtemp(prefix="gpuprof-browser-")
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()
        self.next_id, self.buffer = 0, b""
        arguments = [find(), "--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
                     "--user-data-dir=" + self.folder, f"--window-size={width},{height}", "about:blank"]
        if os.geteuid() == 0:
            arguments.insert(1, "--no-sandbox")
        # the protocol uses descriptors 3 and 4
        script = 'exec "$@" 3<&%d 4>&%d' % (to_browser, from_browser)
        self.process = subprocess.Popen(["bash", "-c", script, "bash", *arguments], pass_fds=(to_browser, from_browser),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.session, self.problems, self.server, self.stand_ins = None, [], None, {}
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.resize(width, height)

    def empty_page(self):
        self.call("Storage.clearDataForOrigin", origin="file://", storageTypes="local_storage")
        self.call("Page.resetNavigationHistory")  # a full one loses entries
        self.call("Page.navigate", url="about:blank")
        self.call("Emulation.setEmulatedMedia", media="")
        self.resize(1366, 768)
        self.problems, self.server = [], None

    def resize(self, width, height, ratio=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=ratio, mobile=False)

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (OSError, EOFError):
            pass
        self.process.wait(timeout=30)
        os.close(self.write_end)
        os.close(self.read_end)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def read_message(self):
        while b"\0" not in self.buffer:
            if not select.select([self.read_end], [], [], ANSWER_S)[0]:
                raise EOFError("the browser does not answer")
            piece = os.read(self.read_end, 1 << 20)
            if not piece:
                raise EOFError("the browser has exited")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def note(self, message):
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.problems.append("exception: " + details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.problems.append("console: " + json.dumps(parameters["args"])[:400])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.problems.append("log: " + parameters["entry"]["text"])
        elif method == "Network.responseReceived" and self.is_foreign(parameters["response"]["url"]):
            self.problems.append("network: " + parameters["response"]["url"])
        elif method == "Page.javascriptDialogOpening":
            self.problems.append("dialog: " + parameters["message"])

        elif method == "Target.attachedToTarget":
            for origin in self.stand_ins:
                self.send(parameters["sessionId"], "Fetch.enable", patterns=[{"urlPattern": origin + "/*"}])
            self.send(parameters["sessionId"], "Runtime.runIfWaitingForDebugger")
        elif method == "Fetch.requestPaused":
            body = next(text for origin, text in self.stand_ins.items() if parameters["request"]["url"].startswith(origin))
            self.send(message["sessionId"], "Fetch.fulfillRequest", requestId=parameters["requestId"], responseCode=200,
                      responseHeaders=[{"name": "Content-Type", "value": "text/html"}], body=base64.b64encode(body.encode()).decode())

    def is_foreign(self, url):
        return url.startswith("http") and not (self.server and url.startswith(self.server))

    def stand_in(self, origin, text):
        """From now on, windows that the page opens at this origin get this text; nothing is loaded
        from there.
        """
        self.stand_ins[origin] = text
        self.send(None, "Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True, flatten=True)

    def send(self, session, method, **parameters):
        """Send a request without waiting for its result; returns the request's number."""
        self.next_id += 1
        request = {"id": self.next_id, "method": method, "params": parameters}
        if session:
            request["sessionId"] = session
        os.write(self.write_end, json.dumps(request).encode() + b"\0")
        return self.next_id

    def call(self, method, **parameters):
        number = self.send(self.session, method, **parameters)
        while True:
            message = self.read_message()
            self.note(message)
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(method + ": " + message["error"]["message"])
                return message["result"]

    def run(self, code):
        """The value of an expression in the page. Waits for a promise."""
        result = self.call("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", "error in " + code))
        return result["result"].get("value")

    def open(self, path, hash_text="", **more):
        return self.visit("file://" + os.path.abspath(path) + hash_text, **more)

    def visit(self, url, ready="['all', 'part', 'nothing', 'failed'].includes(document.body?.dataset.ready)"):
        if url.startswith("http"):
            self.server = url[:url.index("/", len("https://"))]
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        return self.run("new Promise((done) => { const look = () => (document.URL !== 'about:blank' && (" + ready + ")) ? "
                        "done(document.body.dataset.ready) : setTimeout(look, 10); look(); })")

    def frames(self, count=2):
        """Let the page draw."""
        self.run("new Promise((done) => { let left = %d; const next = () => left-- ? requestAnimationFrame(next) : done(1); next(); })" % count)

    def key(self, key, code=None, shift=False):
        code = code or ("Key" + key.upper() if len(key) == 1 and key.isalpha() else "Digit" + key if key.isdigit() else key)
        text = key if len(key) == 1 else {"Enter": "\r"}.get(key, "")
        base = {"key": key, "code": code, "modifiers": 8 if shift else 0, "windowsVirtualKeyCode": {"Enter": 13, "Escape": 27, "Tab": 9}.get(key, 0)}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **base)
        self.call("Input.dispatchKeyEvent", type="keyUp", **base)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def print_pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True, landscape=True)["data"])
