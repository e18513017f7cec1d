#!/usr/bin/env python3
"""`gpuprof serve`: who is let in, that its numbers are those of the other commands, that nobody can hang it, and the page in a browser."""
import concurrent.futures
import glob
import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import time
import unittest
import urllib.error
import urllib.request

from support import BUILD, GPUPROF, LIMIT_S, ROOT, Case, main
import browser  # in the folder that support names
from page import Page

DEMO = os.path.join(BUILD, "programs", "demo")
KINETO = os.path.join(ROOT, "tests", "data", "kineto")
ENDPOINTS = ("/", "/api/summary", "/api/kernels", "/api/advice", "/api/flame", "/api/memory", "/api/holistic", "/api/compile",
             "/api/timeline", "/trace")

# Answers as the Perfetto UI does, and tells what it was given.
PERFETTO = """<!doctype html><script>
addEventListener('message', async (e) => {
	if (e.data === 'PING') { e.source.postMessage('PONG', '*'); return; }
	const { buffer, title, fileName } = e.data.perfetto, hash = new Uint8Array(await crypto.subtle.digest('SHA-256', buffer));
	e.source.postMessage({ hash: [...hash].map((b) => b.toString(16).padStart(2, '0')).join(''), title, fileName }, '*');
});
</script>"""


class Server:
    def __init__(self, case, *arguments, **environment):
        self.process = subprocess.Popen([GPUPROF, "serve", *arguments], cwd=case.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        universal_newlines=True, env=dict(os.environ, **environment))
        case.addCleanup(self.end)
        self.address = self.process.stdout.readline().strip()
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})", self.address)
        if not match:
            raise AssertionError((self.address, self.process.stderr.read()))
        self.port, self.token = int(match.group(1)), match.group(2)

    def end(self, number=signal.SIGINT):
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.wait(timeout=LIMIT_S)
        for stream in (self.process.stdout, self.process.stderr):
            stream.close()
        return self.process.returncode

    def ask(self, path, method="GET", headers=None, token=True, data=None):
        """(status, headers, body)"""
        if token:
            path += ("&" if "?" in path else "?") + "token=" + self.token
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method, headers=headers or {}, data=data)
        try:
            with urllib.request.build_opener(NoRedirect).open(request, timeout=LIMIT_S) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, error.read()

    def json(self, path):
        status, headers, body = self.ask(path)
        assert status == 200 and headers["Content-Type"] == "application/json", (status, body)
        return json.loads(body)

    def raw(self, text, half=False):
        """The answer to those bytes; half: no more will come."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=LIMIT_S) as connection:
            pieces = []
            try:
                connection.sendall(text)
                if half:
                    connection.shutdown(socket.SHUT_WR)
                while not pieces or pieces[-1]:
                    pieces.append(connection.recv(65536))
            except OSError:
                pass  # it has closed the connection
            return b"".join(pieces)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class ServeCase(Case):
    recorded = None  # a trace, once for all tests

    def record(self, name="out"):
        done = self.run_program([DEMO], options=("-o", name, "--chrome", "none", "--stacks=all"))
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path(name + ".gpuprof")

    def trace(self):
        if not ServeCase.recorded:
            with open(self.record(), "rb") as file:
                ServeCase.recorded = file.read()
        with open(self.path("out.gpuprof"), "wb") as file:
            file.write(ServeCase.recorded)
        return file.name

    def write_kernels(self, count):
        """A trace of so many kernels of different names."""
        events = [{"ph": "X", "cat": "kernel", "name": f"kernel_{i}", "pid": 0, "tid": 7, "ts": 10 * i, "dur": 5, "args": {"device": 0, "context": 1, "stream": 7, "correlation": i + 1}}
                  for i in range(count)]
        with open(self.path("kernels.json"), "w", encoding="utf-8") as file:
            json.dump({"schemaVersion": 1, "deviceProperties": [], "traceEvents": events}, file)
        return file.name

    def printed(self, *arguments):
        done = self.run_gpuprof(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


class NumbersTest(ServeCase):
    """They are those of the other commands."""

    def test_of_a_long_table_the_first_rows_are_answered_unless_all_are_wanted(self):
        server = Server(self, self.write_kernels(10050))
        for path, rows in (("/api/kernels", 10000), ("/api/kernels?top=0", 10050), ("/api/kernels?top=10020", 10020)):
            self.assertEqual(len(server.json(path)["rows"]), rows, path)

    def assert_agrees(self, trace):
        server = Server(self, trace)

        def tables(*options):
            return json.loads(self.printed("summary", "--format", "json", *options, trace))

        self.assertEqual(server.json("/api/summary"), tables())
        self.assertEqual(server.json("/api/summary?by=kernel,api&top=3"), tables("--by", "kernel,api", "--top", "3"))
        self.assertEqual(server.json("/api/kernels"), tables("--by", "kernel"))
        self.assertEqual(server.json("/api/kernels?names=full&sort=Count"), tables("--by", "kernel", "-f", "--sort", "Count"))
        self.assertEqual(server.json("/api/memory"), tables("--memory"))
        self.assertEqual(server.json("/api/holistic"), tables("--by", "time,idle,kind,kernel"))
        self.assertEqual(server.json("/api/compile"), tables("--by", "module,tuning"))
        self.assertEqual(server.json("/api/advice"), json.loads(self.printed("advice", "--format", "json", trace)))
        self.assertEqual(server.json("/api/timeline?from=1ms&to=0.002s"), server.json("/api/timeline?from=1000000&to=2000000"))
        self.assertEqual(server.json("/api/flame"), json.loads(self.printed("export", "-F", "speedscope", "-o", "-", trace)))
        self.assertEqual(server.json("/api/flame?value=calls"),
                         json.loads(self.printed("export", "-F", "speedscope", "-v", "calls", "-o", "-", trace)))
        self.printed("export", "-F", "perfetto", "-o", "out.pftrace", trace)
        with open(self.path("out.pftrace"), "rb") as file:
            self.assertEqual(server.ask("/trace")[2], file.read())
        return server

    def timeline_by_kernel(self, server, path="/api/timeline?limit=100000"):
        sums = {}
        for track in server.json(path)["tracks"]:
            for span in (span for row in track["rows"] for span in row if span["kind"] == "kernel"):
                count, total = sums.get(span["name"], (0, 0))
                sums[span["name"]] = count + span.get("count", 1), total + span.get("busy", span["duration"])
        return sums

    def test_of_a_recording(self):
        trace = self.trace()
        server = self.assert_agrees(trace)
        kernels = {row["Name"]: (row["Count"], row["Total"]) for row in server.json("/api/kernels")["rows"]}
        self.assertGreater(len(kernels), 1)
        self.assertEqual(self.timeline_by_kernel(server), kernels)

    def test_of_a_trace_of_torch(self):
        for trace in sorted(glob.glob(KINETO + "/*.json*"))[:1] or self.skipTest("no such trace here"):
            self.assert_agrees(trace)

    def test_the_timeline_has_the_events_of_the_page(self):
        trace = self.trace()
        server = Server(self, trace)
        self.printed("html", "-o", "page.html", trace)
        page = Page(self.path("page.html"))
        index, answer = page.json("index"), server.json("/api/timeline?limit=100000")
        self.assertEqual([(t["kind"], t["id"], t["name"], [r for r in t["rows"] if r]) for t in index["tracks"]],
                         [(t["kind"], t["id"], t["name"], [len(r) for r in t["rows"] if r]) for t in answer["tracks"]])
        spans = [span for track in answer["tracks"] for row in track["rows"] for span in row]
        self.assertEqual(answer["events"], index["events"])
        first = min(event["start"] for event in page.events())
        self.assertEqual([(e["start"] - first, e["duration"], index["labels"]["texts"][e["label"]]) for e in page.events()],
                         [(s["start"] - answer["from"], s["duration"], s["name"]) for s in spans])

    def test_fewer_spans_are_of_as_many_events(self):
        server = Server(self, self.trace())
        whole = server.json("/api/timeline?limit=100000")
        few = server.json("/api/timeline?limit=60")
        self.assertLessEqual(few["spans"], 60)
        self.assertLess(few["spans"], whole["spans"])
        self.assertEqual(few["left_out"], 0)

        def sums(answer):
            """Events and their time, of each track."""
            spans = [[span for row in track["rows"] for span in row] for track in answer["tracks"]]
            return [(sum(s.get("count", 1) for s in track), sum(s.get("busy", s["duration"]) for s in track)) for track in spans]

        self.assertEqual(sums(few), sums(whole))

    def test_what_has_no_row_of_its_own_is_a_span_too(self):
        events = [{"ph": "X", "cat": "kernel", "name": "same", "pid": 0, "tid": 7, "ts": 1000 + n, "dur": 500, "args": {"device": 0, "context": 1, "stream": 7, "correlation": n}}
                  for n in range(100)]
        with open(self.path("many.json"), "w", encoding="utf-8") as file:
            json.dump({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}], "traceEvents": events}, file)
        answer = Server(self, file.name).json("/api/timeline")
        *rows, last = answer["tracks"][0]["rows"]
        self.assertEqual((len(rows), answer["crowded"]), (64, 36))
        self.assertEqual([(span["kind"], span["count"], span["busy"]) for span in last], [("together", 36, 36 * 500_000)])

    def test_a_window(self):
        server = Server(self, self.trace())
        whole = server.json("/api/timeline?limit=100000")
        starts = sorted(span["start"] for track in whole["tracks"] for row in track["rows"] for span in row if span["duration"] >= 1000)
        middle = starts[len(starts) // 2]
        window = server.json(f"/api/timeline?from={middle}&to={middle + whole['to'] // 10}&least=1000&limit=100000")

        def ends(span):
            return span["start"] + span["duration"]

        wanted = [s for t in whole["tracks"] for r in t["rows"] for s in r
                  if s["start"] < window["to"] and ends(s) > window["from"] and s["duration"] >= 1000]
        self.assertEqual([s for t in window["tracks"] for r in t["rows"] for s in r], wanted)
        self.assertGreater(len(wanted), 0)

    def test_the_page_is_the_same_but_for_what_a_server_adds(self):
        trace, pages = self.trace(), set()
        for options in ((), ("--min-duration", "10us"), ("--limit", "20"), ("--min-duration", "10us", "--limit", "20")):
            status, headers, body = Server(self, *options, trace).ask("/")
            self.assertEqual((status, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
            self.assertIn(b"; connect-src 'self'\">", body)
            self.printed("html", "-o", "page.html", *options, trace)
            with open(self.path("page.html"), "rb") as file:
                page = file.read()
            self.assertNotIn(b"connect-src", page)
            served = re.sub(rb"<script type=application/octet-stream data-k=served [^\n]*\n", b"", body.replace(b"; connect-src 'self'", b""))
            self.assertEqual(served, page)
            pages.add(page)
        self.assertEqual(len(pages), 4)

    def test_several_traces_are_one_page(self):
        one, other = self.record("one"), self.record("other")
        server = Server(self, one, other)
        self.assertEqual(server.json("/api/summary?by=process"),
                         json.loads(self.printed("summary", "--format", "json", "--by", "process", one, other)))
        self.assertEqual(len({track["pid"] for track in server.json("/api/timeline")["tracks"]}), 2)
        self.assertGreater(len(server.ask("/trace")[2]), 1000)


class DoorTest(ServeCase):
    def setUp(self):
        super().setUp()
        self.server = Server(self, self.trace())

    def test_without_the_token_nothing_is_told(self):
        for path in (*ENDPOINTS, "/nothing", "/?token=", "/?token=" + "0" * 32, "/?token=" + self.server.token[:-1], "/?Token=" + self.server.token,
                     "/?token=wrong&token=" + self.server.token):
            for method in ("GET", "HEAD", "POST"):
                status, headers, body = self.server.ask(path, method, token=False)
                self.assertEqual(status, 403, path)
                self.assertNotIn(self.server.token.encode(), body + str(headers).encode())

    def test_other_hosts_are_refused(self):
        for host in ("evil.example", f"evil.example:{self.server.port}", "127.0.0.1", f"127.0.0.1:{self.server.port + 1}", "localhost",
                     f"localhost:{self.server.port}"):
            self.assertEqual(self.server.ask("/", headers={"Host": host})[0], 403, host)
        bare = f"GET /?token={self.server.token} HTTP/1.0\r\n\r\n".encode()
        self.assertIn(b" 403 ", self.server.raw(bare).split(b"\r\n")[0])

    def test_nothing_can_be_written(self):
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
            status, headers, _ = self.server.ask("/api/kernels", method, data=b"x" * 100_000 if method == "POST" else None)
            self.assertEqual((status, headers["Allow"]), (405, "GET, HEAD"), method)

    def test_head_is_get_without_its_body(self):
        for path in ENDPOINTS:
            got, head = self.server.ask(path), self.server.ask(path, "HEAD")
            self.assertEqual((head[0], head[2]), (200, b""))
            self.assertEqual(int(head[1]["Content-Length"]), len(got[2]))
            self.assertEqual(head[1]["Content-Type"], got[1]["Content-Type"])

    def test_no_file_is_served(self):
        for path in ("/out.gpuprof", "/etc/passwd", "/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc%2fpasswd",
                     "//etc/passwd", "/api/", "/api/summary/..", "/index.html", "/%00", "/favicon.ico"):
            self.assertEqual(self.server.ask(path)[0], 404 if path != "/%00" else 200, path)

    def test_headers_keep_others_out(self):
        for path in (*ENDPOINTS, "/nothing"):
            headers = self.server.ask(path)[1]
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(headers["Referrer-Policy"], "no-referrer")
            self.assertEqual(headers["Cache-Control"], "no-store")
            self.assertEqual(headers["Cross-Origin-Resource-Policy"], "same-origin")
            self.assertIn("frame-ancestors 'none'", headers["Content-Security-Policy"])
            self.assertIsNone(headers["Access-Control-Allow-Origin"])

    def test_wrong_parameters_are_named(self):
        for path, text in (("/api/kernels?top=-1", "top needs"), ("/api/kernels?top=1e9", "top needs"), ("/api/kernels?x=1", "no parameter x"),
                           ("/api/summary?by=", "no such table"), ("/api/summary?by=kernel,,", "no such table"),
                           ("/api/kernels?sort=%3Cb%3E", "no column"), ("/api/timeline?from=9&to=1", "from must be before to"),
                           ("/api/timeline?limit=100001", "limit needs"), ("/api/timeline?from=99999999999999999999", "from needs"),
                           ("/api/flame?value=%00", "use one of"), ("/trace?from=-1", "from needs"),
                           ("/trace?from=900s", "there are no events in that part; calls and operations last from 0 to "),
                           ("/api/memory?" + "&".join("a%d=1" % i for i in range(40)), "parameter"),
                           ("/?" + "a" * 5000 + "=1", "no parameter aaa")):
            status, headers, body = self.server.ask(path)
            self.assertEqual((status, headers["Content-Type"]), (400 if "a39" not in path else status, "text/plain; charset=utf-8"), path)
            self.assertIn(text if "a39" not in path else "", body.decode(), path)

    def test_what_is_not_http_ends_nothing(self):
        unfinished = [socket.create_connection(("127.0.0.1", self.server.port)) for _ in range(2)]
        for connection, text in zip(unfinished, (b"\r\n\r\n", b"\0" * 1000 + b"\r\n\r\n")):
            connection.sendall(text)  # the server waits for the rest
        for text in (b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"A" * 100_000 + b"\r\n\r\n",
                     b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: y\r\n" * 10_000 + b"\r\n", b"GET /%ff%zz?%=%&=& HTTP/1.1\r\nHost: a\r\n\r\n",
                     b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n"):
            self.assertNotIn(b" 200 ", self.server.raw(text, half=True)[:20])
        self.assertEqual(self.server.ask("/api/kernels")[0], 200)
        for connection in unfinished:
            connection.close()

    def test_many_at_once(self):
        with concurrent.futures.ThreadPoolExecutor(24) as pool:
            answers = list(pool.map(self.server.ask, list(ENDPOINTS) * 24))
        self.assertEqual({status for status, _, _ in answers}, {200})
        self.assertEqual(len({body for _, _, body in answers}), len(ENDPOINTS))

    def test_the_slow_and_the_silent_delay_nobody(self):
        idle = [socket.create_connection(("127.0.0.1", self.server.port)) for _ in range(20)]
        asked = b"GET /trace?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % (self.server.token.encode(), self.server.port)
        for connection in idle[:5]:
            connection.sendall(b"GET /")  # and no more
        for connection in idle[5:10]:
            connection.sendall(asked)  # and reads nothing
        for connection in idle[10:15]:
            connection.sendall(asked)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            connection.close()  # and goes
        self.assertEqual(self.server.ask("/api/kernels")[0], 200)
        self.assertEqual(self.server.ask("/trace")[0], 200)
        for connection in idle:
            connection.close()
        self.assertEqual(self.server.end(), 0)

    def test_there_are_not_more_connections_than_it_has_room_for(self):
        many = [socket.create_connection(("127.0.0.1", self.server.port)) for _ in range(100)]
        descriptors = len(os.listdir(f"/proc/{self.server.process.pid}/fd"))
        self.assertLess(descriptors, 90)
        for connection in many:
            connection.close()
        self.assertEqual(self.server.ask("/api/kernels")[0], 200)

    def test_who_does_not_show_the_token_is_not_waited_for(self):
        """Other users can connect, and send a byte now and then."""
        silent = [socket.create_connection(("127.0.0.1", self.server.port)) for _ in range(70)]
        begin = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            asked = pool.submit(self.server.ask, "/api/kernels")
            while not concurrent.futures.wait([asked], 0.5).done:
                for connection in silent:
                    try:
                        connection.send(b"G")
                    except OSError:
                        pass
        self.assertEqual(asked.result()[0], 200)
        self.assertLess(time.monotonic() - begin, 30)
        for connection in silent:
            connection.close()

    def test_it_listens_on_this_machine_alone(self):
        with open("/proc/net/tcp", encoding="ascii") as file:
            listening = {line.split()[1] for line in file if line.split()[3] == "0A" and line.split()[1].endswith(f":{self.server.port:04X}")}
        self.assertEqual(listening, {f"0100007F:{self.server.port:04X}"})


class CommandTest(ServeCase):
    def test_signals_end_it(self):
        trace = self.trace()
        for number in (signal.SIGINT, signal.SIGTERM):
            server = Server(self, trace)
            server.ask("/")
            self.assertEqual(server.end(number), 0)

    def test_a_port_of_ones_own(self):
        trace = self.trace()
        server = Server(self, trace)
        done = self.run_gpuprof("serve", "--port", str(server.port), trace)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn(f"gpuprof: serve: cannot listen at 127.0.0.1:{server.port}: ", done.stderr)
        port = server.port
        server.ask("/api/kernels")
        self.assertEqual(server.end(), 0)
        self.assertEqual(Server(self, "--port", str(port), trace).port, port)

    def test_wrong_command_lines(self):
        for arguments in ((), ("--port", "65536", "x"), ("--port", "http", "x"), ("--nothing", "x")):
            done = self.run_gpuprof("serve", *arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
        done = self.run_gpuprof("serve", "nothing.gpuprof")
        self.assertEqual((done.returncode, done.stdout), (1, ""))

    def test_without_the_library_it_says_what_to_install(self):
        self.write("libmicrohttpd.so.12", "")
        done = subprocess.run([GPUPROF, "serve", self.trace()], env=dict(os.environ, LD_LIBRARY_PATH=self.folder), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=LIMIT_S, universal_newlines=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("apt-get install libmicrohttpd12", done.stderr)
        self.assertIn("gpuprof html FILE", done.stderr)

    def test_help_names_every_path(self):
        text = self.printed("serve", "--help")
        for path in ENDPOINTS:
            self.assertIn(f"\n  {path} ", text)

    def test_open_starts_the_browser_with_an_address_for_once(self):
        os.mkfifo(self.path("opened.fifo"))
        self.write("xdg-open", '#!/bin/sh\nprintf "%s %s %s\\n" "$1" "$(ulimit -d)" "$(sed -n "s/SigIgn:.//p" /proc/$$/status)" >opened.fifo\n', 0o755)
        server = Server(self, "--open", self.trace(), PATH=self.folder + ":" + os.environ["PATH"])
        with open(self.path("opened.fifo"), encoding="ascii") as file:
            address, limit, ignored = file.read().split()
        self.assertNotIn(server.token, address)
        path = address[len(f"http://127.0.0.1:{server.port}"):]
        self.assertRegex(path, r"^/\?once=[0-9a-f]{32}$")
        ours = (signal.SIGPIPE, signal.SIGCHLD, signal.SIGXFSZ)  # ignored while it serves
        self.assertEqual([number for number in ours if int(ignored, 16) >> number - 1 & 1], [])
        self.assertEqual(limit, subprocess.run(["sh", "-c", "ulimit -d"], stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout.strip())
        status, headers, _ = server.ask(path, token=False)
        self.assertEqual((status, headers["Location"]), (303, server.address))
        self.assertEqual(server.ask(path, token=False)[0], 403)

    def test_without_a_browser_the_address_is_there(self):
        server = Server(self, "--open", self.trace(), PATH=self.folder)
        self.assertEqual(server.ask("/api/kernels")[0], 200)
        server.process.send_signal(signal.SIGINT)
        self.assertIn("gpuprof: serve: cannot start xdg-open", server.process.stderr.read())
        self.assertEqual(server.end(), 0)


class BrowserTest(ServeCase):
    """In a real one."""

    def setUp(self):
        super().setUp()
        self.browser = browser.start(self)
        self.server = Server(self, self.trace())

    def click_perfetto(self):
        x, y = self.browser.run("(() => { const box = $$('#perfetto').getBoundingClientRect();"
                                " return [box.x + box.width / 2, box.y + box.height / 2]; })()".replace("$$", "document.querySelector"))
        self.browser.click(x, y)

    def test_the_page_needs_nothing_but_its_server(self):
        self.assertEqual(self.browser.visit(self.server.address), "all")
        for view in ("timeline", "kernels", "flame", "memory", "tables"):
            self.browser.run(f"document.querySelector('[data-view={view}]').click()")
            self.browser.frames()
        self.assertEqual(self.browser.problems, [])
        self.assertEqual(self.browser.run("gpuprof.checksums()"), self.browser.run("gpuprof.state.index.sums"))

    def test_the_trace_is_handed_to_the_perfetto_ui(self):
        self.browser.stand_in("https://ui.perfetto.dev", PERFETTO)
        self.assertEqual(self.browser.visit(self.server.address), "all")
        self.browser.run("globalThis.told = new Promise((done) => addEventListener('message', (e) => e.data.hash && done(e.data))); 1")
        self.click_perfetto()
        told = self.browser.run("told")
        self.assertEqual(told, {"hash": hashlib.sha256(self.server.ask("/trace")[2]).hexdigest(), "title": "demo", "fileName": "demo.pftrace"})
        self.browser.run("new Promise((done) => { const look = () => document.querySelector('#perfetto').disabled ? setTimeout(look, 10) :"
                         " done(1); look(); })")
        self.assertEqual(self.browser.problems, [])

    def test_it_is_said_when_the_server_has_ended(self):
        self.browser.stand_in("https://ui.perfetto.dev", PERFETTO)
        self.assertEqual(self.browser.visit(self.server.address), "all")
        self.assertEqual(self.server.end(), 0)
        self.click_perfetto()
        self.assertEqual(self.browser.run("new Promise((done) => { const look = () => document.querySelector('#banner').hidden ? setTimeout(look, 10)"
                                          " : done(document.querySelector('#banner').textContent); look(); })"),
                         "The trace could not be opened in the Perfetto UI: gpuprof serve has ended.")

    def test_a_file_has_no_such_button(self):
        trace = self.trace()
        self.printed("html", "-o", "page.html", trace)
        self.assertEqual(self.browser.open(self.path("page.html")), "all")
        self.assertFalse(self.browser.run("!!document.querySelector('#perfetto')"))
        self.assertEqual(self.browser.problems, [])


if __name__ == "__main__":
    main()
