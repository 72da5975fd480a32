"""A link between two network namespaces that is as slow and as lossy as it is told: relay.py NET1 ADDRESS1 NET2 ADDRESS2
DELAY_MS LOSS. Packets to NET1 are delayed, so that the way there and back takes that long; LOSS of all are lost, in both
directions. `host` is the namespace that it is started in. It ends with its standard input."""

import ctypes
import fcntl
import heapq
import os
import random
import select
import struct
import subprocess
import sys
import time

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
CLONE_NEWNET = 0x40000000
LONGEST_PACKET = 65536


def enter(namespace):
    handle = os.open(namespace, os.O_RDONLY)
    if ctypes.CDLL(None, use_errno=True).setns(handle, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), f"cannot enter {namespace}")
    os.close(handle)


def end_of_link(net, name, address, peer):
    """An end in a namespace; the descriptor stays there when we leave it."""
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    if net != "host":
        enter(f"/run/netns/{net}")
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TUN | IFF_NO_PI))
    subprocess.run(["ip", "addr", "add", address, "peer", peer, "dev", name], check=True)
    subprocess.run(["ip", "link", "set", name, "up"], check=True)
    if ctypes.CDLL(None, use_errno=True).setns(home, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "cannot go home")
    os.close(home)
    return tun


def main():
    net1, address1, net2, address2, delay_ms, loss = sys.argv[1:]
    delay, loss = float(delay_ms) / 1e3, float(loss)
    near = end_of_link(net1, "kumite-near", address1, address2)
    far = end_of_link(net2, "kumite-far", address2, address1)
    drawn = random.Random(1)
    waiting, lost, passed = [], 0, 0
    print("ready", flush=True)
    while True:
        limit = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        ready, _, _ = select.select([near, far, sys.stdin], [], [], limit)
        if sys.stdin in ready and not sys.stdin.buffer.read1():
            break
        for source, sink, late in ((far, near, delay), (near, far, 0.0)):
            while source in ready:
                try:
                    packet = os.read(source, LONGEST_PACKET)
                except BlockingIOError:
                    break
                passed += 1
                if drawn.random() < loss:
                    lost += 1
                else:
                    heapq.heappush(waiting, (time.monotonic() + late, passed, sink, packet))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, sink, packet = heapq.heappop(waiting)
            os.write(sink, packet)
    print(f"{passed} packets, {lost} lost", flush=True)


main()
