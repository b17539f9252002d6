"""Place labels beside points so that they cover neither each other nor the points.

Each label tries a few places around its point, near ones first. The places are improved in turns, since a
label that comes later may leave a better place to an earlier one.
"""

from dataclasses import dataclass

HEIGHT = 12
# Half the size of what a point covers.
POINT = 5
PASSES = 6


@dataclass(frozen=True)
class Box:
    """A rectangle."""

    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other):
        """The area that both cover."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(width, 0) * max(height, 0)

    def outside(self, other):
        """The area that is not within another box."""
        return (self.right - self.left) * (self.bottom - self.top) - self.overlap(other)


def place_labels(points, widths, area, obstacles=()):
    """A box for the label of each point (x, y), all of them within `area` where that is possible."""
    marks = [*map(mark, points), *obstacles]
    choices = [list(candidates(point, width)) for point, width in zip(points, widths, strict=True)]
    chosen = [boxes[0] for boxes in choices]
    for _ in range(PASSES):
        for i, boxes in enumerate(choices):
            others = [box for j, box in enumerate(chosen) if j != i] + marks

            def cost(candidate, others=others):
                rank, box = candidate
                covered = sum(box.overlap(other) for other in others)
                # The distance only decides where nothing is covered.
                return 1000 * (covered + box.outside(area)) + rank

            chosen[i] = min(enumerate(boxes), key=cost)[1]
    return chosen


def place_text(width, y, area, points):
    """A box for a text on a line across the area: where it covers the fewest points."""
    boxes = [
        Box(left, top, left + width, top + HEIGHT)
        for top in (y - HEIGHT - 2, y + 2)
        for left in (area.right - width - 3, area.left + 3)
    ]
    marks = [mark(point) for point in points]
    return min(boxes, key=lambda box: sum(map(box.overlap, marks)) + box.outside(area))


def mark(point):
    """What a point covers."""
    x, y = point
    return Box(x - POINT, y - POINT, x + POINT, y + POINT)


def candidates(point, width):
    """Places for a label: beside, above and below its point, at growing distances."""
    x, y = point
    for distance in range(8, 70, 6):
        reach = distance if distance == 8 else distance / 2
        beside = y - HEIGHT / 2
        for left, top in [
            (x + distance, beside),
            (x - distance - width, beside),
            (x - width / 2, y - distance - HEIGHT),
            (x - width / 2, y + distance),
            (x + reach, y - distance - HEIGHT / 2),
            (x + reach, y + distance - HEIGHT / 2),
            (x - reach - width, y - distance - HEIGHT / 2),
            (x - reach - width, y + distance - HEIGHT / 2),
        ]:
            yield Box(left, top, left + width, top + HEIGHT)
