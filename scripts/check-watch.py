#!/usr/bin/env python3
"""Looks at the page of a run in headless Chromium: numbers change, a section and a plot are drawn, buttons work, stop ends the run
with its restart file, nothing is reported in the console, and a phone does not scroll sideways.

    scripts/check-watch.py LBMC [--chromium PATH] [--shots FOLDER]

LBMC is the program. It needs Python alone, and Chromium. With --shots, pictures of the page are written there.
"""

import argparse
import base64
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

PATIENCE = 60.0


class Browser:
    """A page of Chromium, by its DevTools protocol over a WebSocket (RFC 6455)."""

    def __init__(self, program, profile):
        self.log = open(profile / "chromium.log", "wb")
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--remote-debugging-port=0",
             f"--user-data-dir={profile}", "about:blank"],
            stdout=self.log, stderr=self.log)
        port = wait(lambda: read_port(profile), "Chromium")
        pages = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list"))
        path = next(page for page in pages if page["type"] == "page")["webSocketDebuggerUrl"].split(str(port), 1)[1]
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        self.input = self.socket.makefile("rb")
        while self.input.readline().strip():
            pass
        self.number, self.problems = 0, []
        for domain in ["Runtime", "Log", "Page"]:
            self.call(f"{domain}.enable")

    def call(self, method, **values):
        self.number += 1
        text = json.dumps({"id": self.number, "method": method, "params": values}).encode()
        mask = os.urandom(4)
        length = bytes([0x80 | len(text)]) if len(text) < 126 else bytes([0x80 | 126]) + struct.pack(">H", len(text))
        self.socket.sendall(b"\x81" + length + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(text)))
        while True:
            message = json.loads(self.receive())
            if message.get("id") == self.number:
                assert "error" not in message, message
                return message["result"]
            self.note(message)

    def receive(self):
        parts = b""
        while True:
            first, second = self.input.read(2)
            length = second & 127
            if length > 125:
                length = struct.unpack(">H" if length == 126 else ">Q", self.input.read(2 if length == 126 else 8))[0]
            parts += self.input.read(length)
            if first & 0x80:
                return parts

    def note(self, message):
        values = message.get("params", {})
        if message.get("method") == "Runtime.exceptionThrown":
            self.problems.append(values["exceptionDetails"])
        elif message.get("method") == "Log.entryAdded" and values["entry"]["level"] in ("error", "warning"):
            self.problems.append(values["entry"])
        elif message.get("method") == "Runtime.consoleAPICalled" and values["type"] in ("error", "warning"):
            self.problems.append(values)

    def value(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)

    def shot(self, path):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=False)["data"]
        path.write_bytes(base64.b64decode(data))

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()


def read_port(profile):
    path = profile / "DevToolsActivePort"
    text = path.read_text().split() if path.exists() else []
    return int(text[0]) if text else None


def wait(condition, what):
    began = time.monotonic()
    while time.monotonic() - began < PATIENCE:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise SystemExit(f"{what}: not within {PATIENCE:.0f} s")


def address(process):
    """The address that the program prints."""
    for line in process.stderr:
        found = re.search(r"http://127\.0\.0\.1:\d+/[0-9a-f]{32}/", line)
        if found:
            return found.group()
    raise SystemExit("the program printed no address")


def look(browser, folder, arguments):
    program = [str(Path(arguments.lbmc).resolve()), "run", "cavity2d", "--watch", "--out", str(folder / "out")]
    settings = ["--set", "output.series=500", "--set", "stop.steps=100000000", "--set", "-stop.steady", "--set", "-stop.check_every"]
    run = subprocess.Popen(program + settings, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder)
    try:
        url = address(run)
        browser.size(1280, 1150)
        browser.call("Page.navigate", url=url)
        text = lambda id: browser.value(f"document.getElementById('{id}')?.textContent ?? ''")
        step = lambda: int((text("fact-step").split() or ["0"])[0])
        first = wait(step, "a step on the page")
        wait(lambda: step() > first, "a step that changes")
        wait(lambda: text("section-text").startswith("step "), "a section")
        section = "(() => { const c = document.getElementById('section-canvas'); const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;" \
                  " return new Set(new Uint32Array(d.buffer)).size; })()"
        wait(lambda: browser.value(section) > 20, "a section with colours")
        wait(lambda: browser.value("document.querySelectorAll('figure.plot path').length") > 0, "a plot")
        browser.value("document.getElementById('pause').click()")
        wait(lambda: text("phase") == "paused", "a pause")
        paused = step()
        time.sleep(1.2)
        assert step() == paused, "it goes on while it pauses"
        browser.value("document.getElementById('pictures').open = true")
        wait(lambda: browser.value("document.getElementById('picture').naturalWidth") > 100, "a picture")
        browser.value("document.getElementById('section-field').value = 'vorticity';"
                      "document.getElementById('section-field').dispatchEvent(new Event('input'))")
        wait(lambda: "1/step" in text("section-text"), "another field")
        browser.value("document.getElementById('pause').click()")
        wait(lambda: step() > paused, "a run that goes on")
        browser.value("document.getElementById('fields').click()")
        wait(lambda: list((folder / "out").glob("fields_*.vti")), "a file of fields")
        browser.value("document.getElementById('restart').click()")
        wait((folder / "out/restart.lbmc").exists, "a restart file")

        if arguments.shots:
            arguments.shots.mkdir(parents=True, exist_ok=True)
            browser.value("window.scrollTo(0, 0)")
            browser.shot(arguments.shots / "watch.png")
        browser.size(375, 800)
        browser.value("new Promise(requestAnimationFrame)")
        assert browser.value("document.documentElement.scrollWidth") <= 375, "a phone scrolls sideways"
        if arguments.shots:
            browser.shot(arguments.shots / "watch-phone.png")

        (folder / "out/restart.lbmc").unlink()
        browser.value("document.getElementById('stop').click()")
        wait(lambda: text("phase") == "interrupted", "the end on the page")
        assert run.wait(timeout=PATIENCE) == 130, run.returncode
    finally:
        run.kill()
        run.communicate()
    summary = json.loads((folder / "out/summary.json").read_text())
    assert summary["status"] == "interrupted" and (folder / "out/restart.lbmc").stat().st_size > 1000, summary["status"]


def look_at_folder(browser, folder, arguments):
    server = subprocess.Popen([str(Path(arguments.lbmc).resolve()), "watch", str(folder / "out")], stderr=subprocess.PIPE, text=True)
    try:
        browser.call("Page.navigate", url=address(server))
        phase = lambda: browser.value("document.getElementById('phase')?.textContent ?? ''")
        wait(lambda: phase() == "interrupted", "the page of a run that is over")
        wait(lambda: browser.value("document.querySelectorAll('figure.plot path').length") > 0, "its plots")
        server.send_signal(2)
        assert server.wait(timeout=PATIENCE) == 0
    finally:
        server.kill()
        server.communicate()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lbmc")
    parser.add_argument("--chromium", default=shutil.which("chromium") or shutil.which("chromium-browser") or "chromium")
    parser.add_argument("--shots", type=Path)
    arguments = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "profile").mkdir()
        browser = Browser(arguments.chromium, folder / "profile")
        try:
            look(browser, folder, arguments)
            # The last questions to a run that has ended find no server.
            problems = [problem for problem in browser.problems if "ERR_CONNECTION_REFUSED" not in json.dumps(problem)]
            browser.problems.clear()
            look_at_folder(browser, folder, arguments)
            problems += [problem for problem in browser.problems if "ERR_CONNECTION_REFUSED" not in json.dumps(problem)]
        finally:
            browser.close()
        if problems:
            sys.exit("the console of the browser reports:\n" + "\n".join(json.dumps(problem) for problem in problems))
    print(f"the page works ({time.monotonic() - began:.1f} s)")


if __name__ == "__main__":
    main()
