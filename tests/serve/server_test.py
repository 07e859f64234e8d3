#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Day 80's server over real sockets: clients that ask, read slowly, leave, and send what they must not. Its argument is the program; words
behind it choose tests, as unittest takes them. Ends with 77, which CTest calls skipped, where the build has no server."""
import base64
import contextlib
import http.client
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import speaker  # noqa: E402

PROGRAM, FOLDER = "", Path()
JSON = {"Content-Type": "application/json"}
SOON = 20  # seconds in which what has to happen happens on a busy machine


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def within(predicate, seconds=SOON):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if predicate():
            return True
        time.sleep(0.02)
    return False


class Served:
    """The program, as a user starts it."""

    def __init__(self, *flags):
        self.port = free_port()
        self.log = open(FOLDER / f"log{self.port}", "w+")
        self.process = subprocess.Popen([PROGRAM, "--model", str(FOLDER), "--port", str(self.port), *flags], stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=subprocess.STDOUT)
        if not within(lambda: "http://" in self.said() or self.process.poll() is not None, 60) or self.process.poll() is not None:
            raise RuntimeError(self.said())

    def said(self):
        return Path(self.log.name).read_text()

    def end(self, number=signal.SIGINT):
        """(exit code, the last line that it said)"""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            code = self.process.wait(SOON)
        finally:
            self.process.kill()
            self.log.close()
        return code, self.said().splitlines()[-1]

    def ask(self, path, body=None, headers=None, method=None):
        """(status, headers, JSON or text)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with contextlib.closing(connection):
            data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
            connection.request(method or ("GET" if body is None else "POST"), path, data, JSON if headers is None else headers)
            answer = connection.getresponse()
            text = answer.read()
            is_json = answer.getheader("Content-Type") == "application/json"
            return answer.status, answer.headers, json.loads(text) if is_json else text.decode()

    def health(self):
        return self.ask("/health")[2]

    def open_stream(self, tokens, prompt="a", slow=False):
        """A socket on which an answer begins to come."""
        body = json.dumps({"prompt": prompt, "max_tokens": tokens, "stream": True}).encode()
        return self.send(b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                         % len(body) + body, slow)

    def send(self, data, slow=False):
        one = socket.socket()
        one.settimeout(60)
        if slow:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        one.connect(("127.0.0.1", self.port))
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it may refuse before all is sent
            one.sendall(data)
        return one

    @staticmethod
    def read_until(one, what):
        text = b""
        while what not in text:
            part = one.recv(1 << 16)
            assert part, text
            text += part
        return text

    def raw(self, data, seconds=60):
        """(status, the error's code) that answers bytes; status 0 where none does."""
        with self.send(data) as one:
            one.settimeout(seconds)
            text = b""
            with contextlib.suppress(ConnectionResetError):
                while part := one.recv(1 << 16):
                    text += part
        head, _, rest = text.partition(b"\r\n\r\n")
        status = int(head.split()[1]) if head.startswith(b"HTTP/1.1 ") else 0
        return status, json.loads(rest)["error"]["code"] if status else ""


def events(text):
    """The events of a whole stream; the last one must be [DONE]."""
    parts = text.split("\n\n")
    assert parts[-2:] == ["data: [DONE]", ""], parts[-3:]
    return [json.loads(part.removeprefix("data: ")) for part in parts[:-2]]


def is_whole(text):
    """Whether it has no more replacements than the two that a cut-off character at either end makes."""
    return "\ufffd" not in text[4:-1]


class Case(unittest.TestCase):
    FLAGS = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Served(*cls.FLAGS)

    @classmethod
    def tearDownClass(cls):
        code, last = cls.server.end()
        assert (code, last) == (0, "ok: the server was stopped"), (code, last)

    def all_free(self, seconds=SOON):
        """Soon nothing is running or waiting any more."""
        slots = int(dict(zip(self.FLAGS[::2], self.FLAGS[1::2])).get("--sequences", 4))
        self.assertTrue(within(lambda: [self.server.health()[key] for key in ("free_slots", "running", "waiting")] == [slots, 0, 0], seconds),
                        self.server.health())


class Answers(Case):
    def test_whole_and_streamed_are_one_text(self):
        for path, asked, prompt in (("/v1/completions", {"prompt": "abc"}, 3), ("/v1/completions", {"prompt": ""}, 1),
                                    ("/v1/chat/completions", {"messages": [{"role": "user", "content": "abc"}]}, 4)):
            for tokens, temperature in ((0, 0), (1, 1), (45, 0), (45, 1)):
                asked.update(model="gpt", max_tokens=tokens, temperature=temperature, seed=1)
                expected = speaker.says(prompt, tokens).decode(errors="replace")
                status, _, whole = self.server.ask(path, {**asked, "stream": False})
                self.assertEqual(status, 200, whole)
                choice = whole["choices"][0]
                self.assertEqual(choice["text"] if "text" in choice else choice["message"]["content"], expected)
                self.assertEqual(choice["finish_reason"], "length")
                self.assertEqual(whole["usage"], {"prompt_tokens": prompt, "completion_tokens": tokens, "total_tokens": prompt + tokens})
                status, headers, text = self.server.ask(path, {**asked, "stream": True, "stream_options": {"include_usage": True}})
                self.assertEqual((status, headers["Content-Type"]), (200, "text/event-stream"))
                *told, usage = events(text)
                self.assertEqual((usage["choices"], usage["usage"]), ([], whole["usage"]))
                pieces = [event["choices"][0] for event in told]
                texts = [piece["text"] if "text" in piece else piece["delta"].get("content", "") for piece in pieces]
                self.assertEqual("".join(texts), expected)
                self.assertEqual([piece["finish_reason"] for piece in pieces], [None] * (len(pieces) - 1) + ["length"])
                self.assertEqual({event["id"] for event in told}, {usage["id"]})
                # A character of four bytes is four tokens and one piece.
                for piece in texts[1:-1]:
                    self.assertLessEqual(piece.count("\ufffd"), 1)
                self.assertTrue(is_whole("".join(texts)))
        self.all_free()

    def test_the_context_is_the_end_of_it(self):
        def asked(prompt, tokens):
            return self.server.ask("/v1/completions", {"prompt": "a" * prompt, "max_tokens": tokens})
        for prompt, tokens in ((speaker.CONTEXT, 0), (speaker.CONTEXT - 1, 1)):
            self.assertEqual(asked(prompt, tokens)[0], 200)
        for prompt, tokens in ((speaker.CONTEXT, 1), (speaker.CONTEXT + 1, 0), (1, speaker.CONTEXT), (100000, 1)):
            status, _, said = asked(prompt, tokens)
            self.assertEqual((status, said["error"]["code"]), (400, "context_length_exceeded"), (prompt, tokens))
        # Without max_tokens a completion has 16, and a chat all that there is room for; here the text ends by itself.
        self.assertEqual(self.server.ask("/v1/completions", {"prompt": "ab"})[2]["usage"]["completion_tokens"], 16)
        said = self.server.ask("/v1/chat/completions", {"messages": [{"role": "user", "content": "a" * (speaker.ENDS_AT - 100)}]})[2]
        self.assertEqual(said["choices"][0]["finish_reason"], "stop")
        self.assertEqual(said["choices"][0]["message"]["content"], speaker.TEXT[speaker.ENDS_AT - 99:].decode(errors="replace"))

    def test_a_stop_spans_tokens_and_is_not_sent(self):
        text = speaker.says(1, 110).decode(errors="replace")
        for stop in ("quick", "\U0001f98a j", "界! T", ["nothing", "jumps"], ["wn", "brown"], "e" * 256):
            end = min((text.find(one) for one in ([stop] if isinstance(stop, str) else stop) if one in text), default=len(text))
            asked = {"prompt": "a", "max_tokens": 110, "stop": stop}
            whole = self.server.ask("/v1/completions", asked)[2]["choices"][0]
            pieces = [event["choices"][0] for event in events(self.server.ask("/v1/completions", {**asked, "stream": True})[2])]
            self.assertEqual(whole["text"], text[:end], stop)
            self.assertEqual("".join(piece["text"] for piece in pieces), text[:end], stop)
            finish = "stop" if end < len(text) else "length"
            self.assertEqual((whole["finish_reason"], pieces[-1]["finish_reason"]), (finish, finish))
        self.all_free()

    def test_many_at_once_lose_nothing(self):
        def one(number):
            prompt, tokens = 1 + number % 7, 10 + number
            asked = {"prompt": "p" * prompt, "max_tokens": tokens, "stream": number % 2 == 1, "seed": number}
            status, _, said = self.server.ask("/v1/completions", asked)
            self.assertEqual(status, 200, said)
            got = said["choices"][0]["text"] if number % 2 == 0 else "".join(event["choices"][0]["text"] for event in events(said))
            self.assertEqual(got, speaker.says(prompt, tokens).decode(errors="replace"))
            return 1
        for clients in (1, 8, 32):
            with ThreadPoolExecutor(clients) as pool:
                self.assertEqual(sum(pool.map(one, range(clients))), clients)
            self.all_free()

    def test_words_come_one_after_the_other(self):
        with self.server.open_stream(1500) as one:
            self.assertNotIn(b"[DONE]", self.server.read_until(one, b"data: "))
            self.assertEqual(self.server.health()["running"], 1)
        self.all_free()

    def test_who_leaves_frees_the_slot(self):
        with self.server.open_stream(1500) as one:
            one.recv(100)
        self.all_free()
        body = json.dumps({"prompt": "a", "max_tokens": 1500}).encode()
        began = time.monotonic()
        with self.server.send(b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                              % len(body) + body):
            self.assertTrue(within(lambda: self.server.health()["running"] == 1))
        self.all_free()
        # All of it would take longer than to leave.
        self.server.ask("/v1/completions", {"prompt": "a", "max_tokens": 20})
        self.assertLess(time.monotonic() - began, 60)

    def test_what_there_is(self):
        self.assertEqual(self.server.ask("/v1/models")[2]["data"][0]["id"], "gpt")
        self.assertEqual(self.server.health()["status"], "ok")
        status, headers, page = self.server.ask("/")
        self.assertEqual((status, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
        self.assertIn("connect-src 'self'", headers["Content-Security-Policy"])
        self.assertNotRegex(page, r"innerHTML|https?://")

    def test_curl(self):
        if not shutil.which("curl"):
            self.skipTest("needs curl")
        for stream in (False, True):
            line = ["curl", "-sSN", f"http://127.0.0.1:{self.server.port}/v1/completions", "-H", "Content-Type: application/json",
                    "-d", json.dumps({"prompt": "abc", "max_tokens": 30, "stream": stream})]
            said = subprocess.run(line, stdout=subprocess.PIPE, check=True, timeout=60).stdout.decode()
            got = "".join(event["choices"][0]["text"] for event in events(said)) if stream else json.loads(said)["choices"][0]["text"]
            self.assertEqual(got, speaker.says(3, 30).decode(errors="replace"))

    def test_the_openai_client(self):
        try:
            import openai
        except ImportError:
            self.skipTest("needs Python's openai (python3 -m pip install openai)")
        client = openai.OpenAI(base_url=f"http://127.0.0.1:{self.server.port}/v1", api_key="none", max_retries=0, timeout=60)
        self.assertEqual([model.id for model in client.models.list()], ["gpt"])
        text = speaker.says(3, 40).decode(errors="replace")
        whole = client.completions.create(model="gpt", prompt="abc", max_tokens=40)
        self.assertEqual((whole.choices[0].text, whole.usage.completion_tokens), (text, 40))
        self.assertEqual("".join(part.choices[0].text for part in client.completions.create(model="gpt", prompt="abc", max_tokens=40, stream=True)),
                         text)
        messages, text = [{"role": "user", "content": "abc"}], speaker.says(4, 40).decode(errors="replace")
        whole = client.chat.completions.create(model="gpt", messages=messages, max_tokens=40, stop=["nowhere"])
        self.assertEqual((whole.choices[0].message.content, whole.choices[0].finish_reason), (text, "length"))
        parts = list(client.chat.completions.create(model="gpt", messages=messages, max_tokens=40, stream=True,
                                                    stream_options={"include_usage": True}))
        self.assertEqual("".join(part.choices[0].delta.content or "" for part in parts if part.choices), text)
        self.assertEqual(parts[-1].usage.total_tokens, 44)
        with self.assertRaises(openai.NotFoundError):
            client.completions.create(model="gpt-5", prompt="a")
        with self.assertRaises(openai.BadRequestError) as raised:
            client.chat.completions.create(model="gpt", messages=messages, n=2)
        self.assertEqual(raised.exception.code, "unsupported_parameter")
        # Who leaves a stream in its middle.
        stream = client.completions.create(model="gpt", prompt="a", max_tokens=1500, stream=True)
        next(iter(stream))
        stream.close()
        self.all_free()


class Refused(Case):
    def test_fields(self):
        chat = [{"role": "user", "content": "a"}]
        deep = "[" * 100 + "]" * 100
        cases = [  # (status, code, the body's text or what it has beside a prompt)
            (400, "invalid_json", "{"), (400, "invalid_json", ""), (400, "invalid_json", "[]"), (400, "invalid_json", "null"),
            (400, "invalid_json", '{"prompt": "a", "x": %s}' % deep), (400, "invalid_json", '{"prompt": "\udcff"}'),
            (400, "invalid_json", '{"prompt": "a"} {'), (400, "invalid_json", '{"prompt": "a", "temperature": NaN}'),
            (400, "invalid_json", '{"prompt": "a", "temperature": 1e999}'), (400, "invalid_type", "{}"),
            (400, "invalid_value", {"temperature": -0.1}), (400, "invalid_value", {"temperature": 1e308}),
            (400, "invalid_value", {"temperature": "1"}), (400, "invalid_value", {"top_p": 1.5}),
            (400, "invalid_value", {"max_tokens": -1}), (400, "invalid_value", {"max_tokens": 1.5}),
            (400, "invalid_value", {"max_tokens": 1 << 40}), (400, "context_length_exceeded", {"max_tokens": 1 << 20}),
            (400, "invalid_value", {"seed": 1 << 64}), (400, "invalid_value", {"stop": list("abcde")}),
            (400, "invalid_value", {"stop": ""}), (400, "invalid_value", {"stop": "a" * 257}), (400, "invalid_type", {"stop": [1]}),
            (400, "invalid_type", {"stream": 1}), (400, "invalid_value", {"stream_options": {}}), (400, "invalid_type", {"prompt": [1, 2]}),
            (400, "unsupported_parameter", {"n": 2}), (400, "unsupported_parameter", {"logprobs": 5}),
            (400, "unsupported_parameter", {"logprobs": True}), (400, "unsupported_parameter", {"tools": [{}]}),
            (400, "unsupported_parameter", {"best_of": 3}), (400, "unsupported_parameter", {"echo": True}),
            (400, "unsupported_parameter", {"logit_bias": {"1": 5}}), (404, "model_not_found", {"model": "gpt-5"}),
            (400, "invalid_type", {"model": 5}),
            (400, "invalid_type", {"messages": []}, 1), (400, "invalid_type", {"messages": ["a"]}, 1),
            (400, "invalid_value", {"messages": [{"role": "wizard", "content": "a"}]}, 1),
            (400, "invalid_type", {"messages": [{"role": "user"}]}, 1), (400, "unsupported_parameter", {"messages": chat, "n": 2}, 1),
            (400, "unsupported_parameter", {"messages": chat, "tools": [{}]}, 1),
            (400, "unsupported_parameter", {"messages": chat, "logprobs": True}, 1)]
        for status, code, body, *is_chat in cases:
            data = body.encode(errors="surrogateescape") if isinstance(body, str) else \
                json.dumps(body if is_chat else {"prompt": "a", **body}).encode()
            got, _, said = self.server.ask("/v1/chat/completions" if is_chat else "/v1/completions", data)
            self.assertEqual((got, said["error"]["code"]), (status, code), body)
            self.assertEqual(said["error"]["type"], "invalid_request_error")
            self.assertTrue(said["error"]["message"])
        # What changes nothing is taken.
        harmless = {"prompt": "a", "max_tokens": 1, "n": 1, "logprobs": None, "tools": [], "user": "me", "temperature": 0, "top_p": 1}
        self.assertEqual(self.server.ask("/v1/completions", harmless)[0], 200)
        self.all_free()

    def test_bytes(self):
        def post(headers, body=b"", path=b"/v1/completions"):
            return self.server.raw(b"POST " + path + b" HTTP/1.1\r\nHost: localhost\r\n" + headers + b"\r\n" + body)
        for expected, got in (
                ((413, "http_413"), post(b"Content-Length: 1048577\r\n", b"x" * 1048577)),
                ((413, "http_413"), post(b"Content-Length: 99999999999999999999\r\n", b"{}")),
                ((413, "http_413"), post(b"Transfer-Encoding: chunked\r\n", b"10000\r\n%s\r\n" % (b"x" * 65536) * 20 + b"0\r\n\r\n")),
                ((415, "http_415"), post(b"Content-Encoding: gzip\r\nContent-Length: 2\r\n", b"{}")),
                ((404, "http_404"), post(b"Content-Length: 2\r\n", b"{}", b"/v1/nothing")),
                ((404, "http_404"), self.server.raw(b"GET /v1/completions HTTP/1.1\r\nHost: localhost\r\n\r\n")),
                ((403, "wrong_host"), self.server.raw(b"GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n")),
                ((403, "wrong_host"), self.server.raw(b"GET /health HTTP/1.1\r\n\r\n")),
                ((403, "wrong_origin"), post(b"Origin: http://evil.example\r\nContent-Length: 2\r\n", b"{}")),
                ((400, "http_400"), self.server.raw(b"\x00\xff\r\n\r\n")),
                ((400, "http_400"), self.server.raw(b"GET /health HTTP/1.1\r\nA: " + b"x" * 9000 + b"\r\n\r\n")),
                ((414, "http_414"), self.server.raw(b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"))):
            self.assertEqual(got, expected)
        # A line, and lines, that do not end. Newer versions of the library have limits of their own for them.
        for endless in (b"GET /" + b"x" * 1200000, b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 200000):
            self.assertIn(self.server.raw(endless)[0], (400, 414, 431))
        # The largest body that there may be, whose prompt is too long then.
        body = b'{"prompt": "%s"}' % (b"a" * (1048576 - 14))
        self.assertEqual(post(b"Content-Length: 1048576\r\n", body), (400, "context_length_exceeded"))
        self.all_free()

    def test_who_does_not_go_on(self):
        """Half a head, a head without its body, and a byte now and then: each is over in five seconds, and nobody waits meanwhile."""
        halves = [b"GET /hea", b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{"]
        began = time.monotonic()
        drip = self.server.send(b"GET / HTTP/1.1\r\n")
        with ThreadPoolExecutor(4) as pool, drip:
            slow = [pool.submit(self.server.raw, half) for half in halves * 2]
            status = 0
            for _ in range(60):
                with contextlib.suppress(OSError):
                    drip.sendall(b"A")
                self.assertEqual(self.server.ask("/health")[0], 200)
                time.sleep(0.25)
                with contextlib.suppress(BlockingIOError, ConnectionResetError):
                    status = status or int(drip.recv(4096, socket.MSG_DONTWAIT).split()[1])
                if status:
                    break
            self.assertEqual(status, 408)
            for half, answer in zip(halves * 2, slow):
                self.assertIn(answer.result()[0], (400, 408), half)
        self.assertGreater(time.monotonic() - began, 4)
        self.assertLess(time.monotonic() - began, 5 + SOON)


class Full(Case):
    FLAGS = ("--sequences", "1", "--waiting", "1")

    def test_the_third_is_turned_away(self):
        with self.server.open_stream(1500) as first:
            self.server.read_until(first, b"data: ")
            with self.server.open_stream(5) as second:
                self.assertTrue(within(lambda: self.server.health()["waiting"] == 1))
                status, headers, said = self.server.ask("/v1/completions", {"prompt": "a", "max_tokens": 1})
                self.assertEqual((status, headers["Retry-After"], said["error"]["code"]), (429, "1", "queue_full"))
                self.assertEqual(said["error"]["type"], "rate_limit_error")
                first.close()  # whose slot the second one gets
                self.server.read_until(second, b"[DONE]")
        self.all_free()
        self.assertEqual(self.server.ask("/v1/completions", {"prompt": "a", "max_tokens": 1})[0], 200)


class Slow(Case):
    FLAGS = ("--sequences", "2")

    def test_a_slow_reader_holds_up_nobody(self):
        with self.server.open_stream(1500, slow=True):
            self.assertTrue(within(lambda: self.server.health()["running"] == 1))
            status, _, said = self.server.ask("/v1/completions", {"prompt": "abc", "max_tokens": 30})
            self.assertEqual((status, said["choices"][0]["text"]), (200, speaker.says(3, 30).decode(errors="replace")))
            self.all_free(5 + SOON)  # though the client is still there


class Ends(unittest.TestCase):
    def test_ctrl_c_ends_open_streams(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            server = Served("--sequences", "2")
            self.addCleanup(server.process.kill)
            with contextlib.ExitStack() as stack:
                one, two = (stack.enter_context(server.open_stream(1500)) for _ in range(2))
                server.read_until(one, b"data: ")
                server.read_until(two, b"data: ")
                three = stack.enter_context(server.open_stream(1500))
                self.assertTrue(within(lambda: server.health()["waiting"] == 1))
                self.assertEqual(server.end(number), (0, "ok: the server was stopped"))
                for client in (one, two, three):
                    text = b""
                    while part := client.recv(1 << 16):
                        text += part
                    self.assertIn(b'"code":"stopped"', text)
                    self.assertTrue(text.endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n"), text[-100:])

    def test_it_listens_where_it_is_told(self):
        def reaches(port, address):
            try:
                with socket.create_connection((address, port), 5):
                    return True
            except ConnectionRefusedError:
                return False
        here = Served()
        self.addCleanup(here.end)
        self.assertEqual([reaches(here.port, address) for address in ("127.0.0.1", "127.0.0.2")], [True, False])
        everywhere = Served("--host", "0.0.0.0")
        self.addCleanup(everywhere.end)
        self.assertTrue(reaches(everywhere.port, "127.0.0.2"))
        with everywhere.send(b"GET /health HTTP/1.1\r\nHost: anything\r\n\r\n") as one:
            self.assertTrue(one.recv(100).startswith(b"HTTP/1.1 200"))
        taken = subprocess.run([PROGRAM, "--model", str(FOLDER), "--port", str(here.port)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               check=False, timeout=60)
        self.assertNotEqual(taken.returncode, 0)
        self.assertIn("--port takes another", " ".join(taken.stdout.decode().split()))


class Chat(unittest.TestCase):
    """The program beside the server: a conversation on a command line."""

    def test_ctrl_c_ends_an_answer_and_the_conversation_goes_on(self):
        with subprocess.Popen([Path(PROGRAM).with_name("day80_chat"), "--talk", "--tokens", "1400", "--model", str(FOLDER)], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as chat:
            self.addCleanup(chat.kill)

            def until(what):
                text = b""
                while what not in text:
                    part = chat.stdout.read1(1 << 16)
                    self.assertTrue(part, text)
                    text += part
                return text
            def say(line):
                """The whole characters of an answer that Ctrl-C ends."""
                chat.stdin.write(line)
                chat.stdin.flush()
                text = until(b"quick")
                chat.send_signal(signal.SIGINT)
                text += until(b" (interrupted)\n> ")
                return text.partition(b" (interrupted)")[0].decode().strip("\ufffd").encode()
            until(b"> ")
            first = say(b"abc\n")
            begin = speaker.TEXT.index(first)
            self.assertIn(begin, (3, 4))
            # What was said is still there: the text goes on behind it, and behind the new line's one token. A character may be cut off.
            second = say(b"a\n")
            self.assertTrue(any(speaker.TEXT[begin + len(first) + 1 + cut:].startswith(second) for cut in range(7)), (first, second))
            last = chat.communicate(timeout=SOON)[0].splitlines()[-1]
            self.assertTrue(last.startswith(b"ok: "), last)
            self.assertEqual(chat.returncode, 0)


class Browser:
    """A Chromium without a window, by WebDriver's own protocol."""

    def __init__(self, driver, chromium):
        self.port = free_port()
        self.driver = subprocess.Popen([driver, f"--port={self.port}", "--log-level=SEVERE"], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if not within(self._ready, 60):
            raise RuntimeError("chromedriver does not answer")
        # Its sandbox needs rights that containers do not give; it sees our own page alone.
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={FOLDER / 'browser'}"]
        asked = {"alwaysMatch": {"goog:chromeOptions": {"binary": chromium, "args": flags}, "goog:loggingPrefs": {"browser": "ALL"}}}
        self.session = ""
        self.session = "/session/" + self("POST", "/session", capabilities=asked)["sessionId"]

    def _ready(self):
        try:
            return self.driver.poll() is None and self("GET", "/status")["ready"]
        except OSError:
            return False

    def __call__(self, method, path, **body):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with contextlib.closing(connection):
            connection.request(method, path if path in ("/session", "/status") else self.session + path,
                               json.dumps(body) if method == "POST" else None, JSON)
            value = json.loads(connection.getresponse().read())["value"]
        if isinstance(value, dict) and "error" in value:
            raise RuntimeError(value["message"])
        return value

    def run(self, script):
        return self("POST", "/execute/sync", script="return " + script, args=[])

    def element(self, css):
        return "/element/" + next(iter(self("POST", "/element", using="css selector", value=css).values()))

    def type(self, css, text):
        self("POST", self.element(css) + "/value", text=text)

    def click(self, css):
        self("POST", self.element(css) + "/click")

    def picture(self, name):
        """Kept where SERVER_PICTURES names a folder, for somebody who looks."""
        if os.environ.get("SERVER_PICTURES"):
            Path(os.environ["SERVER_PICTURES"], name).write_bytes(base64.b64decode(self("GET", "/screenshot")))

    def end(self):
        with contextlib.suppress(Exception):
            self("DELETE", "")
        self.driver.terminate()
        self.driver.wait()


class Page(Case):
    def setUp(self):
        chromium, driver = (next(filter(None, map(shutil.which, names)), None)
                            for names in (("chromium", "chromium-browser", "google-chrome"), ("chromedriver",)))
        if not chromium or not driver:
            self.skipTest("needs chromium (sudo apt-get install chromium chromium-driver)")
        self.browser = Browser(driver, chromium)
        self.addCleanup(self.browser.end)

    def last(self):
        return self.browser.run("document.querySelector('#log p:last-child')?.textContent")

    def state(self):
        return self.browser.run("document.getElementById('state').textContent")

    def test_somebody_speaks_and_stops_it(self):
        b = self.browser
        b("POST", "/window/rect", width=1000, height=700)
        b("POST", "/url", url=f"http://127.0.0.1:{self.server.port}/")
        self.assertTrue(within(lambda: b.run("document.getElementById('model').textContent") == "gpt on a CPU"))
        # A text to its end. What is typed is text, and stays it.
        b.type("#most", "60")
        said = "<b>a</b>"
        b.type("#text", said + "\ue007")
        self.assertTrue(within(lambda: self.state() == "60 tokens, as long as it may be", 60), self.state())
        self.assertEqual(self.last(), speaker.says(len(said) + 1, 60).decode(errors="replace"))
        self.assertEqual(b.run("document.querySelectorAll('#log b').length"), 0)
        self.assertEqual(b.run("document.querySelector('#log p.user').textContent"), said)
        b.picture("whole.png")
        # Words come one after the other, and Stop frees the slot.
        b("POST", b.element("#most") + "/clear")
        b.type("#text", "b")
        b.click("#send")
        self.assertTrue(within(lambda: self.state() == "writes", 60), self.state())
        seen = [len(self.last())]
        self.assertTrue(within(lambda: len(self.last()) > seen[0], 60))
        self.assertEqual(b.run("document.getElementById('send').textContent"), "Stop")
        self.assertEqual(self.server.health()["running"], 1)
        b.picture("writes.png")
        b.click("#send")
        self.assertTrue(within(lambda: self.state() == "stopped"), self.state())
        self.all_free()
        self.assertEqual(b.run("document.getElementById('send').textContent"), "Send")
        # In a narrow window nothing is cut off.
        b("POST", "/window/rect", width=500, height=700)
        b("POST", "/goog/cdp/execute", cmd="Emulation.setDeviceMetricsOverride",
          params={"width": 320, "height": 600, "deviceScaleFactor": 1, "mobile": True})
        self.assertTrue(within(lambda: b.run("innerWidth") == 320))
        self.assertLessEqual(b.run("document.documentElement.scrollWidth"), 320)
        self.assertTrue(b.run("document.getElementById('send').getBoundingClientRect().bottom <= innerHeight"))
        b.picture("narrow.png")
        # A refusal is shown, and a new conversation forgets.
        b.type("#text", "c" * 3000)
        b.click("#send")
        self.assertTrue(within(lambda: "the model's context is 2048 tokens" in (self.last() or "")), self.last())
        b.click("#new")
        self.assertEqual(b.run("document.getElementById('log').children.length"), 0)
        # The browser notes the refused request by itself; nothing else is there.
        problems = [entry["message"] for entry in b("POST", "/se/log", type="browser") if "status of 400" not in entry["message"]]
        self.assertEqual(problems, [])


def main():
    global PROGRAM, FOLDER
    PROGRAM = sys.argv.pop(1)
    with tempfile.TemporaryDirectory(prefix="days-server-") as folder:
        FOLDER = Path(folder)
        speaker.write(FOLDER)
        done = subprocess.run([PROGRAM, "--model", folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=120)
        if b"\nskip: " in b"\n" + done.stdout:
            print(done.stdout.decode())
            return 77
        good = unittest.main(exit=False).result.wasSuccessful()
        took = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        print(f"programs and their tests took {sum(one.ru_utime + one.ru_stime for one in took):.1f} s of CPU", flush=True)
        return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
