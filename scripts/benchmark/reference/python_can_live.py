"""Counts the frames on CAN interfaces with python-can, a Notifier over all of them, as its documentation has it.

Arguments: the interfaces. Says `ready`; when standard input has ended and half a second brings nothing more, says how
many frames came and what processor time that took, as JSON.
"""
import json
import resource
import sys
import time

import can


class Counter(can.Listener):
    def __init__(self):
        self.count = 0
        self.last = time.monotonic()

    def on_message_received(self, msg):
        self.count += 1
        self.last = time.monotonic()


counter = Counter()
buses = [can.Bus(name, bustype="socketcan") for name in sys.argv[1:]]
notifier = can.Notifier(buses, [counter])
before = resource.getrusage(resource.RUSAGE_SELF)
print("ready", flush=True)
sys.stdin.read()
while time.monotonic() - counter.last < 0.5:
    time.sleep(0.1)
after = resource.getrusage(resource.RUSAGE_SELF)
notifier.stop()
for bus in buses:
    bus.shutdown()
processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
print(json.dumps({"received": counter.count, "processor": processor}), flush=True)
