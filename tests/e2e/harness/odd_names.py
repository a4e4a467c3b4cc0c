# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Malicious names, which a terminal, a reader or a spreadsheet would interpret as commands."""

import subprocess
import unicodedata

from harness.cases import SECONDS_MAX, STACKMAP

CLASSES = {
    "C0": b"\x1b[31m\x07",
    "end of line": b"\r\n",
    "DEL": b"\x7f\x7f",
    "C1": "\x9b31m".encode(),
    "byte of C1": b"\x9b31m",
    "order": "\u202e".encode(),
    "isolated order": "\u2066\u200f".encode(),
    "without a picture": "\u200b\ufeff".encode(),
    "separator of lines": "\u2028".encode(),
    "tag": "\U000e0041".encode(),
    "no UTF-8": b"\xc3\xff\xed\xa0\x80",
}
WITHOUT_PICTURE = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180f\u3164\ufe00\ufe0f\uffa0"


def name_of(kind):
    return b"ab" + CLASSES[kind] + b"yz"


def is_utf8(name):
    try:
        return bool(name.decode())
    except UnicodeDecodeError:
        return False


def is_hidden(character):
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") or character in WITHOUT_PICTURE


def check_shown(what, output, seen=True):
    """The terminal gets only text, and the name is shown on one line."""
    hidden = [character for character in output.decode() if is_hidden(character) and character not in "\n\t"]
    assert not hidden, (what, hidden, output)
    assert b"\nyz" not in output, (what, output)
    assert not seen or b"ab?" in output, (what, output)


def outputs(*words, status=0):
    """Standard output and standard error, as they are."""
    done = subprocess.run([STACKMAP, *words], stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=SECONDS_MAX)
    assert status is None or done.returncode == status, (words, done.returncode, done.stderr)
    return done.stdout, done.stderr
