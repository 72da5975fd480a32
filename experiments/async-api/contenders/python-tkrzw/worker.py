"""Stores records in Tkrzw's hash database, a batch at a time, in the way that its argument names."""

import os
import platform
import sys

import tkrzw
from kumite_kit import serve

RECORDS_MAX = 100_000_000  # Their numbers have eight digits.


def one_after_another(dbm):
    def batch(numbers):
        statuses = [dbm.Set(key := digits(n), key) for n in numbers]
        return [status for status in statuses if not status.IsOK()]

    return batch, lambda: None


def asynchronous(dbm):
    """The library's own asynchronous interface, with one thread."""
    adapter = tkrzw.AsyncDBM(dbm, 1)

    def batch(numbers):
        futures = [adapter.Set(key := digits(n), key) for n in numbers]
        statuses = [future.Get() for future in futures]
        return [status for status in statuses if not status.IsOK()]

    return batch, adapter.Destruct


# A model gives how to store a batch, which says what failed, and how to end what that needs.
MODELS = {"python-sync": one_after_another, "python-async": asynchronous}


def digits(n):
    """The key and the value of a record."""
    return b"%08d" % n


def work(job, path, model):
    records, batch_size = job.params["records"], job.params["batch_size"]
    if not 1 <= records <= RECORDS_MAX or batch_size < 1:
        raise ValueError(f"records is 1 to {RECORDS_MAX}, and batch_size at least 1")
    dbm = tkrzw.DBM()
    dbm.Open(path, True, truncate=True, num_buckets=2 * records).OrDie()
    batch, end = model(dbm)
    stored = store(batch, records, batch_size)

    def after():
        end()
        dbm.Close().OrDie()
        return check(job, path, records, stored)

    return after


def store(batch, records, batch_size):
    """Ends with the first batch that has a failure; gives how many are in batches that have none."""
    for begin in range(0, records, batch_size):
        if failures := batch(range(begin, min(begin + batch_size, records))):
            print(f"records from {begin} on: {failures[0]}", file=sys.stderr)
            return begin
    return records


def check(job, path, records, stored):
    """Reads the file: how many records it has, and 1,000, evenly spread, the first and the last included."""
    dbm = tkrzw.DBM()
    dbm.Open(path, False).OrDie()
    sample = min(records, 1000)
    keys = [digits(i * (records - 1) // max(sample - 1, 1)) for i in range(sample)]
    values = [dbm.Get(key) for key in keys]
    missing = values.count(None)
    wrong = sum(value not in (None, key) for key, value in zip(keys, values))
    # A record that is missing in the sample is one of those that the count lacks, unless another came in its place.
    lost = max(records - dbm.Count(), missing)
    garbled = max(dbm.Count() - records, 0) + wrong
    dbm.Close().OrDie()
    job.metrics = {
        "file_bytes": os.path.getsize(path),
        "lost_records": lost,
        "garbled_records": garbled,
    }
    os.remove(path)
    return {"stored": stored, "lost": lost, "garbled": garbled}


name = sys.argv[1]
if name == "--version":
    sys.exit(
        print(f"Python {platform.python_version()}, Tkrzw {tkrzw.Utility.VERSION}")
    )
path = os.path.join(os.environ["SCRATCH"], "records.tkh")
serve(name, lambda job: work(job, path, MODELS[name]))
