"""Reads a log with python-can; answers the requests of contest.ts, or with `once` reads it and ends."""
import struct
import sys
import time

import can


def read(name):
    count = 0
    for _ in can.LogReader(name):
        count += 1
    return count


class Digest:
    def __init__(self):
        self.count = self.low = self.high = 0

    def add(self, place, part, value):
        bits = struct.unpack("<Q", struct.pack("<d", value))[0]
        key = ((place + 1) * 0x9E3779B1 & 0xFFFFFFFF) ^ ((part + 1) * 0x85EBCA6B & 0xFFFFFFFF)
        self.low = (self.low + ((bits & 0xFFFFFFFF) ^ key) * 0xC2B2AE35) & 0xFFFFFFFF
        self.high = (self.high + ((bits >> 32) ^ key) * 0x27D4EB2F) & 0xFFFFFFFF
        self.count += 1


def check(name):
    digest = Digest()
    for place, message in enumerate(can.LogReader(name)):
        digest.add(place, 0, round(message.timestamp * 1e6))
        digest.add(place, 1, message.arbitration_id | (0x80000000 if message.is_extended_id else 0))
        digest.add(place, 2, message.dlc)
        for i, byte in enumerate(message.data):
            digest.add(place, 3 + i, byte)
    return f"{digest.count} {digest.low} {digest.high}"


if sys.argv[1] == "once":
    read(sys.argv[2])
else:
    for request in sys.stdin:
        if request.strip() == "check":
            print(check(sys.argv[2]), flush=True)
        else:
            start = time.monotonic_ns()
            read(sys.argv[2])
            print(time.monotonic_ns() - start, flush=True)
