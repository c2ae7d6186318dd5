"""Draws terminal text with colours as a PNG: draw-screen.py FILE.ansi FILE.png. Needs libcairo and DejaVu Sans Mono.

The pictures beside test/e2e/first-screen are made so. No package of the project can draw, and a browser is no part of it.
"""

import ctypes
import ctypes.util
import re
import sys

COLUMNS, LINES, SIZE = 80, 24, 15
CELL_WIDTH, CELL_HEIGHT, MARGIN = 9, 19, 12
COLORS = {
    "31": (0.94, 0.44, 0.42),
    "32": (0.55, 0.80, 0.48),
    "33": (0.93, 0.78, 0.40),
    "36": (0.45, 0.78, 0.85),
}
TEXT, DIM, PAPER = (0.86, 0.87, 0.89), (0.52, 0.55, 0.60), (0.11, 0.12, 0.14)

cairo = ctypes.CDLL(ctypes.util.find_library("cairo") or "libcairo.so.2")
for name in ("cairo_image_surface_create", "cairo_create"):
    getattr(cairo, name).restype = ctypes.c_void_p


def number(value):
    return ctypes.c_double(value)


def draw(text, path):
    width, height = COLUMNS * CELL_WIDTH + 2 * MARGIN, LINES * CELL_HEIGHT + 2 * MARGIN
    surface = ctypes.c_void_p(cairo.cairo_image_surface_create(0, width, height))
    pen = ctypes.c_void_p(cairo.cairo_create(surface))
    cairo.cairo_set_source_rgb(pen, *map(number, PAPER))
    cairo.cairo_paint(pen)
    cairo.cairo_set_font_size(pen, number(SIZE))
    state = {"color": TEXT, "isDim": False, "isBold": False}
    for row, line in enumerate(text.rstrip("\n").split("\n")[:LINES]):
        draw_line(pen, line, MARGIN + (row + 0.75) * CELL_HEIGHT, state)
    if cairo.cairo_surface_write_to_png(surface, path.encode()) != 0:
        sys.exit(f"{path} cannot be written")


def draw_line(pen, line, y, state):
    column = 0
    for part in re.split(r"(\x1b\[\d+m)", line):
        code = re.fullmatch(r"\x1b\[(\d+)m", part)
        if code:
            take_code(code[1], state)
            continue
        cairo.cairo_select_font_face(pen, b"DejaVu Sans Mono", 0, int(state["isBold"]))
        cairo.cairo_set_source_rgb(pen, *map(number, DIM if state["isDim"] else state["color"]))
        for letter in part:
            cairo.cairo_move_to(pen, number(MARGIN + column * CELL_WIDTH), number(y))
            cairo.cairo_show_text(pen, letter.encode())
            column += 1


def take_code(code, state):
    if code in COLORS:
        state["color"] = COLORS[code]
    elif code == "39":
        state["color"] = TEXT
    elif code in ("1", "2"):
        state["isBold" if code == "1" else "isDim"] = True
    elif code == "22":
        state["isBold"] = state["isDim"] = False


with open(sys.argv[1], encoding="utf8") as file:
    draw(file.read(), sys.argv[2])
