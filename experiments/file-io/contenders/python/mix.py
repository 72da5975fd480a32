"""Reading beside other work, or that work alone, on a ThreadPoolExecutor."""

import gc
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache

CHECKED = 10  # CPU tasks


def mixed(job, texts, params):
    mix = Mix(params, texts, pool(params["threads"]))
    with Collections() as collections:
        for _ in range(params["in_flight"]):
            mix.submit_next()
        mix.ended.wait()
    job.metrics["cpu_tasks"] = mix.cpu_tasks
    job.metrics["gc_ms"] = collections.ms
    return mix.answer


@cache
def pool(threads):
    """It lives as long as the process, as a server's does."""
    return ThreadPoolExecutor(threads)


class Mix:
    """The sequence of tasks, which is the same for every contender, and what became of it."""

    def __init__(self, params, texts, pool):
        self.params = params
        self.texts = texts
        self.pool = pool
        self.drawn = self.running = 0
        self.io_done = self.cpu_done = self.cpu_tasks = self.checksum = 0
        self.error = None
        self.lock = threading.RLock()
        self.ended = threading.Event()
        self.all_done = threading.Event()

    def submit_next(self):
        with self.lock:
            if not self.ended.is_set() and self.drawn < self.params["tasks"]:
                self.pool.submit(self.run, self.drawn)
                self.drawn += 1
                self.running += 1

    def run(self, task):
        io_before = self.io_before(task)
        try:
            if self.io_before(task + 1) > io_before:
                self.texts.read(io_before)
                self.count_read()
            else:
                self.count_sum(task - io_before, self.sum(task - io_before))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
            self.error = error
            self.ended.set()
        with self.lock:
            self.submit_next()
            self.running -= 1
            if self.running == 0:
                self.all_done.set()

    def io_before(self, task):
        return int(task * self.params["io_share"])

    def sum(self, task):
        objects = [Numbered(task + i) for i in range(self.params["objects"])]
        x = sum(numbered.number for numbered in objects) & 0xFFFFFFFF
        for _ in range(self.params["steps"]):
            x = ((x ^ (x >> 15)) * 1664525 + 1013904223) & 0xFFFFFFFF
        return x

    def count_read(self):
        with self.lock:
            self.io_done += 1
            if self.io_done == self.params["io_tasks"]:
                self.end()

    def count_sum(self, task, x):
        with self.lock:
            self.cpu_done += 1
            if self.cpu_done == self.params["tasks"]:
                self.end()
            if task < CHECKED:
                self.checksum ^= x

    def end(self):
        self.cpu_tasks = self.cpu_done
        self.ended.set()

    def answer(self):
        """When what is still in flight is done, too."""
        self.all_done.wait()
        if self.error:
            raise self.error
        return {"read": self.texts.by_file(), "checksum": self.checksum}


class Numbered:
    __slots__ = ("number",)

    def __init__(self, number):
        self.number = number


class Collections:
    """How long the garbage collector runs meanwhile. What counting references frees is not in it."""

    def __enter__(self):
        self.ms = 0
        gc.callbacks.append(self.note)
        return self

    def __exit__(self, *_):
        gc.callbacks.remove(self.note)

    def note(self, phase, _info):
        if phase == "start":
            self.begun = time.perf_counter()
        else:
            self.ms += (time.perf_counter() - self.begun) * 1000
