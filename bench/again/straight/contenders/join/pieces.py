import sys

way, count, repeats = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


def join():
    return "".join([str(i) for i in range(count)])


def plus():
    text = ""
    for i in range(count):
        text += str(i)
    return text


for _ in range(repeats):
    text = join() if way == "join" else plus()
print(len(text))
