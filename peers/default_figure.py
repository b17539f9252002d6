"""Accuracy against speed as a picture in SVG, with a panel for each stream.

It looks like the figures of `crates/broadstream-report`, which has lines and bars but no points with labels.
Every point is labelled where it stands, and libraries differ by their shapes, so that nothing depends on
colours. The picture brings its own background and follows the reader's colour scheme.
"""

import math
from xml.sax.saxutils import escape

import contestants
from label_placement import HEIGHT, Box, place_labels, place_text

COLUMNS = 3
WIDTH, PANEL_HEIGHT = 960, 200
MARGIN, LEFT, ABOVE, BELOW = 14, 44, 34, 30
FONT = "Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif"
LABEL_SIZE = 10.5

# The colours of the report's figures, and what replaces them on a dark background.
INK, MUTED, GRID, AXIS, BACKGROUND = "#1f2328", "#59636e", "#e4e7eb", "#8c959f", "#ffffff"
DARK = {
    INK: "#e6edf3",
    MUTED: "#9198a1",
    GRID: "#2a3038",
    AXIS: "#6e7681",
    BACKGROUND: "#0d1117",
    "#0072b2": "#4aa8e0",
    "#d55e00": "#f0803c",
    "#009e73": "#2fc298",
    "#cc79a7": "#e29cc4",
    "#6b6f76": "#a3a8b0",
}

# By contestant: its label, its colour and its shape. A library has one colour and one shape.
STYLES = {
    contestants.DEFAULT: ("broadstream", "#0072b2", "circle"),
    contestants.BASELINE: ("baseline", "#0072b2", "circle"),
    contestants.SINGLE: ("single", "#0072b2", "circle"),
    contestants.CAPYMOA_FOREST: ("ARF", "#d55e00", "triangle"),
    contestants.CAPYMOA_PATCHES: ("SRP", "#d55e00", "triangle"),
    contestants.CAPYMOA_TREE: ("HT", "#d55e00", "triangle"),
    contestants.RIVER_FOREST: ("River ARF", "#009e73", "diamond"),
    contestants.RIVER_BAGGING: ("River LB", "#009e73", "diamond"),
    contestants.LIGHTGBM: ("LightGBM", "#cc79a7", "square"),
    contestants.IRITHYLL: ("SGBT", "#6b6f76", "plus"),
}
KEY = [
    ("circle", "#0072b2", "broadstream: the default; single: --preset single"),
    ("triangle", "#d55e00", "CapyMOA: ARF(10), SRP(10), Hoeffding tree"),
    ("diamond", "#009e73", "River: ARF(10), LeveragingBagging(10)"),
    ("square", "#cc79a7", "LightGBM, refitted regularly"),
    ("plus", "#6b6f76", "irithyll: SGBT(100)"),
]


def draw(results):
    """The picture of the table."""
    measured = results.names("table", "stream")
    streams = [name for name in results.streams if name in measured]
    # The key takes the place after the last panel.
    rows = math.ceil((len(streams) + 1) / COLUMNS)
    pitch = ABOVE + PANEL_HEIGHT + BELOW
    height = MARGIN + rows * pitch + 14
    parts = []
    for position in range(len(streams) + 1):
        column, row = position % COLUMNS, position // COLUMNS
        cell_width = (WIDTH - 2 * MARGIN) / COLUMNS
        left, top = MARGIN + column * cell_width, MARGIN + row * pitch + ABOVE
        area = Box(left + LEFT, top, left + cell_width - 8, top + PANEL_HEIGHT)
        if position < len(streams):
            parts += panel(streams[position], points_of(results, streams[position]), area)
        else:
            parts += key(area)
    return document(parts, height, streams)


def points_of(results, stream):
    """By contestant: speed, accuracy in percent, and whether that is of the whole stream."""
    points = {}
    for name in [*STYLES, contestants.NO_CHANGE]:
        cell = results.done("table", name, stream)
        if cell:
            whole = cell.samples >= results.streams[stream]["samples"]
            points[name] = (cell.speed, 100 * cell.accuracy, whole)
    return points


def panel(stream, points, area):
    """A panel with its axes, points and labels."""
    no_change = points.pop(contestants.NO_CHANGE, None)
    parts = [text(area.left, area.top - 12, stream, INK, size=13.5, bold=True)]
    if not points:
        return parts
    speeds, accuracies = zip(*((point[0], point[1]) for point in points.values()), strict=True)
    low, high = decades(speeds)
    bottom, top = padded(accuracies)

    def across(speed):
        share = (math.log10(speed) - low) / (high - low)
        return area.left + share * (area.right - area.left)

    def up(accuracy):
        return area.bottom - (accuracy - bottom) / (top - bottom) * (area.bottom - area.top)

    for value in ticks(bottom, top):
        y = up(value)
        parts.append(line(area.left, y, area.right, y, GRID))
        parts.append(text(area.left - 7, y + 4, f"{value:g}", MUTED, anchor="end"))
    for power in range(math.ceil(low), math.floor(high) + 1):
        x = across(10**power)
        parts.append(line(x, area.top, x, area.bottom, GRID))
        parts.append(text(x, area.bottom + 16, power_text(power), MUTED, anchor="middle"))
    parts.append(line(area.left, area.bottom, area.right, area.bottom, AXIS))
    places = [(across(speed), up(accuracy)) for speed, accuracy, _ in points.values()]
    obstacles = []
    if no_change and bottom <= no_change[1] <= top:
        y = up(no_change[1])
        box = place_text(text_width("no change"), y, area, places)
        obstacles.append(box)
        parts.append(line(area.left, y, area.right, y, AXIS, dash="4 3"))
        parts.append(text(box.left, box.bottom - 2.5, "no change", MUTED, LABEL_SIZE))
    widths = [text_width(STYLES[name][0], name == contestants.DEFAULT) for name in points]
    boxes = place_labels(places, widths, area, obstacles)
    for place, box in zip(places, boxes, strict=True):
        parts += leader(place, box)
    for (name, (_, _, whole)), place, box in zip(points.items(), places, boxes, strict=True):
        label, colour, shape = STYLES[name]
        parts.append(marker(place, shape, colour, whole and name != contestants.BASELINE))
        bold = name == contestants.DEFAULT
        # Where the estimated width is wrong, the side next to the point is right.
        anchor, x = label_anchor(place, box)
        parts.append(text(x, box.bottom - 2.5, label, INK, LABEL_SIZE, anchor, bold))
    return parts


def text_width(content, bold=False):
    """An estimate for fonts of the kind that the picture names."""
    em = sum(
        0.3
        if letter in "fijlrt ,:()I"
        else 0.85
        if letter in "mwMW"
        else 0.7
        if letter.isupper()
        else 0.57
        for letter in content
    )
    return LABEL_SIZE * em * (1.08 if bold else 1)


def label_anchor(place, box):
    """The end of a label's text that is fixed, and where."""
    if box.left > place[0]:
        return "start", box.left
    if box.right < place[0]:
        return "end", box.right
    return "middle", (box.left + box.right) / 2


def decades(speeds):
    """The ends of a logarithmic axis as powers of ten, with some room, and at least one decade."""
    low, high = math.log10(min(speeds)), math.log10(max(speeds))
    room = max(0.08 * (high - low), (1.2 - (high - low)) / 2)
    return low - room, high + room


def padded(accuracies):
    """The ends of the axis of accuracies, with some room, and at least two percent."""
    low, high = min(accuracies), max(accuracies)
    room = max(0.1 * (high - low), (2 - (high - low)) / 2)
    return low - room, high + room


def ticks(low, high, most=5):
    """Multiples of 1, 2 or 5 times a power of ten, at most `most` of them."""
    power = 10 ** math.floor(math.log10((high - low) / most))
    step = next(
        factor * power
        for factor in (1, 2, 5, 10, 20)
        if high // (factor * power) - math.ceil(low / (factor * power)) < most
    )
    multiples = range(math.ceil(low / step), math.floor(high / step) + 1)
    return [round(i * step, 9) for i in multiples]


def power_text(power):
    """A power of ten as people write it: 100, 1k, 10k, 1M."""
    for least, unit in ((6, "M"), (3, "k")):
        if power >= least:
            return f"{10 ** (power - least)}{unit}"
    return f"{10**power:g}"


def leader(place, box):
    """A thin line to a label that is not beside its point."""
    x, y = place
    nearest = (min(max(x, box.left), box.right), min(max(y, box.top), box.bottom))
    if math.dist(place, nearest) <= 12:
        return []
    return [line(x, y, *nearest, AXIS)]


def marker(place, shape, colour, filled):
    """The symbol of a point; without its filling where the accuracy is not that of the whole stream."""
    x, y = place
    fill = colour if filled else BACKGROUND
    attributes = f'fill="{fill}" stroke="{colour}" stroke-width="1.5"'
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" {attributes}/>'
    corners = {
        "triangle": [(0, -4.8), (4.6, 3.4), (-4.6, 3.4)],
        "diamond": [(0, -5.2), (4.6, 0), (0, 5.2), (-4.6, 0)],
        "square": [(-3.6, -3.6), (3.6, -3.6), (3.6, 3.6), (-3.6, 3.6)],
        "plus": [
            *[(-1.5, -4.6), (1.5, -4.6), (1.5, -1.5), (4.6, -1.5), (4.6, 1.5), (1.5, 1.5)],
            *[(1.5, 4.6), (-1.5, 4.6), (-1.5, 1.5), (-4.6, 1.5), (-4.6, -1.5), (-1.5, -1.5)],
        ],
    }[shape]
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return f'<polygon points="{points}" {attributes}/>'


def key(area):
    """What the shapes and labels stand for."""
    parts = []
    left, y = area.left - LEFT + 20, area.top + 6
    for shape, colour, label in KEY:
        parts.append(marker((left, y), shape, colour, True))
        parts.append(text(left + 12, y + 4, label, INK, LABEL_SIZE))
        y += HEIGHT + 10
    parts.append(marker((left, y), "circle", "#6b6f76", False))
    parts.append(
        text(left + 12, y + 4, "hollow: over fewer samples, or the baseline", INK, LABEL_SIZE)
    )
    y += 34
    for label in ["Up: accuracy in percent.", "Right: samples per second."]:
        parts.append(text(left, y, label, MUTED))
        y += 18
    return parts


def line(x1, y1, x2, y2, colour, dash=None):
    dash = f' stroke-dasharray="{dash}"' if dash else ""
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{colour}"{dash}/>'


def text(x, y, content, colour, size=11.5, anchor="start", bold=False):
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"{weight} '
        f'fill="{colour}">{escape(content)}</text>'
    )


def document(parts, height, streams):
    """The whole picture. On a dark background, a style sheet replaces colours by their attributes."""
    rules = "".join(
        f'[fill="{light}"]{{fill:{dark}}}[stroke="{light}"]{{stroke:{dark}}}'
        for light, dark in DARK.items()
    )
    description = f"Accuracy in percent against samples per second, on {', '.join(streams)}."
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" font-family="{FONT}" role="img" '
            'aria-labelledby="default-title default-description">',
            '<title id="default-title">Accuracy against speed</title>',
            f'<desc id="default-description">{escape(description)}</desc>',
            f"<style>@media (prefers-color-scheme: dark){{{rules}}}</style>",
            f'<rect width="{WIDTH}" height="{height}" fill="{BACKGROUND}"/>',
            *parts,
            "</svg>\n",
        ]
    )
