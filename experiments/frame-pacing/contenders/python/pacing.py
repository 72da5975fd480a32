"""Writes states when they are due, with time.sleep."""

import os
import platform
import sys
import time

STDOUT = 1


def play_absolute(states):
    """Sleeps until each deadline, so that late wake-ups do not add up."""
    start_ns = time.monotonic_ns()
    for due_ns, line in states:
        left_ns = start_ns + due_ns - time.monotonic_ns()
        if left_ns > 0:  # even a sleep of nothing takes a system call and its slack
            time.sleep(left_ns / 1e9)
        os.write(STDOUT, line)


def play_relative(states):
    """Sleeps for what lies between two states: every delay moves all that follows."""
    last_ns = 0
    for due_ns, line in states:
        if due_ns > last_ns:
            time.sleep((due_ns - last_ns) / 1e9)
        os.write(STDOUT, line)
        last_ns = due_ns


PLAYERS = {b"absolute": play_absolute, b"relative": play_relative}


def read_state(line):
    due_ns, state = line.split(b" ", 1)
    return int(due_ns), state


def main():
    os.write(STDOUT, b"ready\n")
    for head in sys.stdin.buffer:
        _, how, count = head.split()
        states = [read_state(sys.stdin.buffer.readline()) for _ in range(int(count))]
        PLAYERS[how](states)


if sys.argv[1:] == ["--version"]:
    sys.exit(print(platform.python_implementation(), platform.python_version()))
main()
