"""Records what commands print on a terminal of 80 columns, as an SVG that plays it.

    pip install pyte==0.8.2
    python3 docs/cast/record.py FILE.svg ROWS 'COMMAND' …

Each command is typed, run through `sh -c` and waited for. A pause of more than a second is shown as a second.
"""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from html import escape
from pathlib import Path

import pyte

COLUMNS = 80
LONGEST_PAUSE_S = 1.0
FRAME_S = 0.2
LAST_S = 6.0
TYPED_S = 0.04
CHARACTER_PX, LINE_PX, MARGIN_PX = 8.4, 19, 14
COLORS = {
    "black": "#30363d", "red": "#ff7b72", "green": "#7ee787", "brown": "#e3b341", "yellow": "#e3b341",
    "blue": "#79c0ff", "magenta": "#d2a8ff", "cyan": "#a5d6ff", "white": "#f0f6fc", "default": "#e6edf3",
}  # fmt: skip


def output_of(command):
    """Yields the seconds since the last piece of a command's output, and the piece. An error if the command fails to start."""
    main, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
    child = subprocess.Popen(["sh", "-c", command], stdin=terminal, stdout=terminal, stderr=terminal, env=environment)
    os.close(terminal)
    before = time.monotonic()
    while True:
        ready, _, _ = select.select([main], [], [], 0.1)
        if not ready:
            if child.poll() is not None:
                break
            continue
        try:
            piece = os.read(main, 65536)
        except OSError:  # The last process that had the terminal has closed it.
            break
        if not piece:
            break
        now = time.monotonic()
        yield now - before, piece
        before = now
    child.wait()
    os.close(main)


def played(rows, commands):
    """Returns screens, each with the second from which it is shown, and the second of the end."""
    screen = pyte.Screen(COLUMNS, rows)
    stream = pyte.ByteStream(screen)
    frames, now = [], 0.0

    def show():
        lines = tuple(line_of(screen.buffer[row]) for row in range(rows))
        if not frames or frames[-1][1] != lines:
            if frames and now - frames[-1][0] < FRAME_S:
                frames[-1] = (frames[-1][0], lines)
            else:
                frames.append((now, lines))

    for command in commands:
        stream.feed(b"\x1b[1m$\x1b[0m ")
        for character in command:
            stream.feed(character.encode())
            now += TYPED_S
            show()
        stream.feed(b"\r\n")
        for pause, piece in output_of(command):
            now += min(pause, LONGEST_PAUSE_S)
            stream.feed(piece)
            show()
        now += LONGEST_PAUSE_S
    return frames, now + LAST_S


def line_of(cells):
    """Returns a line as runs of characters of one look."""
    runs = []
    for column in range(COLUMNS):
        cell = cells[column]
        look = (cell.fg, cell.bold)
        if runs and runs[-1][0] == look:
            runs[-1][1] += cell.data
        else:
            runs.append([look, cell.data])
    while runs and not runs[-1][1].strip():
        runs.pop()
    return tuple((look, text) for look, text in runs)


def drawn(line):
    """Returns a line as spans of SVG. Colours that have no name are those of 256."""
    spans, column = [], 0
    for (color, is_bold), text in line:
        fill = COLORS.get(color.removeprefix("bright"), f"#{color}" if len(color) == 6 else COLORS["default"])
        weight = ' font-weight="bold"' if is_bold else ""
        x = MARGIN_PX + column * CHARACTER_PX
        if text.strip():
            spans.append(f'<tspan x="{x:.1f}" fill="{fill}"{weight}>{escape(text.rstrip())}</tspan>')
        column += len(text)
    return "".join(spans)


def svg(frames, end, rows):
    """Returns the picture. A line that stands for several screens is written once."""
    width, height = COLUMNS * CHARACTER_PX + 2 * MARGIN_PX, rows * LINE_PX + 2 * MARGIN_PX
    starts = [start for start, _ in frames] + [end]
    shown, rules = [], []
    for row in range(rows):
        nth = 0
        while nth < len(frames):
            line, last = frames[nth][1][row], nth
            while last + 1 < len(frames) and frames[last + 1][1][row] == line:
                last += 1
            if line:
                begin, until = starts[nth] / end * 100, starts[last + 1] / end * 100
                name = f"l{len(rules)}"
                hidden_after = f"{until:.3f}%,100%{{opacity:0}}" if until < 99.99 else ""
                rules.append(
                    f"@keyframes {name}{{0%{{opacity:0}}{begin:.3f}%{{opacity:1}}{hidden_after}}}"
                    f".{name}{{animation:{name} {end:.1f}s steps(1,end) infinite}}"
                )
                y = MARGIN_PX + (row + 0.75) * LINE_PX
                # Who plays nothing sees the last screen.
                resting = ' opacity="0"' if hidden_after else ""
                shown.append(f'<text y="{y:.1f}" class="{name}"{resting}>{drawn(line)}</text>')
            nth = last + 1
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'font-family="ui-monospace,Menlo,Consolas,monospace" font-size="14">\n'
        f"<style>text{{white-space:pre}}{''.join(rules)}</style>\n"
        f'<rect width="100%" height="100%" rx="8" fill="#0d1117"/>\n' + "\n".join(shown) + "\n</svg>\n"
    )


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    count = int(sys.argv[2])
    Path(sys.argv[1]).write_text(svg(*played(count, sys.argv[3:]), count))
