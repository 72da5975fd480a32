import queue
import sys
import threading

kind, count = getattr(queue, sys.argv[1]), int(sys.argv[2])
there, back = kind(), kind()


def answer():
    for _ in range(count):
        back.put(there.get() + 1)


thread = threading.Thread(target=answer)
thread.start()
total = 0
for i in range(count):
    there.put(i)
    total += back.get()
thread.join()
print(total)
