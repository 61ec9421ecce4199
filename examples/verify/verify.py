#!/usr/bin/env python3
"""Verify the chain of hashes of a recording: python3 verify.py recording.jsonl"""
import hashlib
import re
import sys

LINE = re.compile(rb'\{"hash":"([0-9a-f]{32})","seq":([0-9]+),("type":"([a-z]+)".*\})', re.DOTALL)


def problems(data):
    before, kind = b"0" * 32, b""
    lines = data.split(b"\n")
    if lines.pop():
        yield "the last line is torn"
    for number, text in enumerate(lines, start=1):
        line = LINE.fullmatch(text)
        if not line:
            yield f"line {number}: not a line of a recording"
            continue
        said, seq, body, kind = line.groups()
        if int(seq) != number:
            yield f"line {number}: its number is {int(seq)}"
        if hashlib.sha256(before + b"{" + body).hexdigest()[:32] != said.decode():
            yield f"line {number}: its hash does not follow from line {number - 1}"
        before = said
    if kind != b"close":
        yield "the last line is not a close line"
    print(len(lines), "lines, last hash", before.decode())


found = list(problems(open(sys.argv[1], "rb").read()))
print("\n".join(found) or "intact")
sys.exit(1 if found else 0)
