import io
import sys

count, repeats = int(sys.argv[1]), int(sys.argv[2])


def stream():
    text = io.StringIO()
    for i in range(count):
        text.write(str(i))
    return text.getvalue()


for _ in range(repeats):
    text = stream()
print(len(text))
