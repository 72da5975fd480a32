import os
import sys
import threading

count = int(sys.argv[1])
(there_out, there_in), (back_out, back_in) = os.pipe(), os.pipe()


def answer():
    for _ in range(count):
        value = int.from_bytes(os.read(there_out, 8), "little")
        os.write(back_in, (value + 1).to_bytes(8, "little"))


thread = threading.Thread(target=answer)
thread.start()
total = 0
for i in range(count):
    os.write(there_in, i.to_bytes(8, "little"))
    total += int.from_bytes(os.read(back_out, 8), "little")
thread.join()
print(total)
