#!/usr/bin/env python3
"""Draw the pictures of the documents from the trace of the README.

    package/site/screenshots.py BUILD-FOLDER [OUTPUT-FOLDER]      `make screenshots` calls it

Needs Chromium. It uses the fonts of the machine, so letters differ between machines.
"""
import base64
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "lib"))
import browser  # pylint: disable=wrong-import-position

TRACE = ROOT / "tests" / "data" / "screens" / "pretrain.gpuprof"
PICTURES = {"html.png": ""}  # name: the part of the page's address that selects the view
WIDTH, HEIGHT = 1366, 900


def main():
    build, output = Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "docs" / "reference"
    if not browser.find():
        sys.exit("make screenshots needs Chromium: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder, browser.Browser(WIDTH, HEIGHT) as shown:
        page = os.path.join(folder, "page.html")
        subprocess.run([build / "gpuprof", "html", "-o", page, TRACE], stdout=subprocess.DEVNULL, check=True)
        for name, view in PICTURES.items():
            shown.open(page, view)
            shown.frames()
            (output / name).write_bytes(base64.b64decode(shown.call("Page.captureScreenshot")["data"]))


if __name__ == "__main__":
    main()
