import itertools
import random
import unittest
from xml.etree import ElementTree

from contestants import BASELINE, DEFAULT, NO_CHANGE
from default_figure import decades, draw, padded, power_text, ticks
from label_placement import Box, place_labels, place_text
from test_default_page import add, example

SVG = "{http://www.w3.org/2000/svg}"


class Picture(unittest.TestCase):
    def setUp(self):
        self.results = example()
        self.results.streams["A & B"] = {"source": "", "samples": 1000, "inputs": 1, "classes": 2}
        add(self.results, "table", DEFAULT, "A & B", correct=900, seconds=0.5)
        add(self.results, "table", NO_CHANGE, "A & B", correct=899, seconds=0.001)
        self.root = ElementTree.fromstring(draw(self.results))
        self.texts = [element.text for element in self.root.iter(f"{SVG}text")]

    def test_every_stream_and_every_result_is_labelled(self):
        for stream in ("SEA", "Adult", "A & B"):
            self.assertIn(stream, self.texts)
        self.assertEqual(self.texts.count("broadstream"), 3)
        self.assertEqual(self.texts.count("baseline"), 2)
        self.assertEqual(self.texts.count("ARF"), 1)
        self.assertEqual(self.texts.count("River ARF"), 1)
        # One failed, and has no place.
        self.assertEqual(self.texts.count("LightGBM"), 0)
        self.assertEqual(self.texts.count("no change"), 1)

    def test_nothing_is_drawn_outside(self):
        width, height = (float(self.root.get(name)) for name in ("width", "height"))
        for element in self.root.iter(f"{SVG}circle"):
            self.assertTrue(0 <= float(element.get("cx")) <= width)
            self.assertTrue(0 <= float(element.get("cy")) <= height)
        for element in self.root.iter(f"{SVG}text"):
            self.assertTrue(0 <= float(element.get("x")) <= width, element.text)
            self.assertTrue(0 <= float(element.get("y")) <= height, element.text)

    def test_every_colour_has_one_for_a_dark_background(self):
        (style,) = (element.text for element in self.root.iter(f"{SVG}style"))
        for element in self.root.iter():
            for attribute in ("fill", "stroke"):
                if colour := element.get(attribute):
                    self.assertIn(f'[{attribute}="{colour}"]', style)

    def test_there_is_a_picture_without_results(self):
        self.results.measurements = []
        ElementTree.fromstring(draw(self.results))

    def test_equal_results_have_a_picture(self):
        self.results.measurements = []
        for name in (DEFAULT, BASELINE):
            add(self.results, "table", name, "SEA", correct=1000, seconds=1.0)
        ElementTree.fromstring(draw(self.results))


class Axes(unittest.TestCase):
    def test_ticks_are_round_and_few(self):
        self.assertEqual(ticks(81.3, 94.2), [85, 90])
        self.assertEqual(ticks(0, 100), [0, 50, 100])
        self.assertEqual(ticks(99.1, 99.9), [99.2, 99.4, 99.6, 99.8])

    def test_axes_have_room(self):
        self.assertEqual(decades([100, 100]), (1.4, 2.6))
        low, high = decades([10, 1e5])
        self.assertLess(low, 1)
        self.assertGreater(high, 5)
        self.assertEqual(padded([90, 90]), (89, 91))

    def test_powers_are_short(self):
        found = [power_text(power) for power in range(-1, 7)]
        self.assertEqual(found, ["0.1", "1", "10", "100", "1k", "10k", "100k", "1M"])


class Labels(unittest.TestCase):
    def test_labels_of_scattered_points_do_not_overlap(self):
        area = Box(0, 0, 250, 200)
        for seed in range(20):
            source = random.Random(seed)
            points = [(source.uniform(10, 240), source.uniform(10, 190)) for _ in range(9)]
            boxes = place_labels(points, [50] * 9, area)
            pairs = itertools.combinations(boxes, 2)
            with self.subTest(seed=seed):
                self.assertEqual(sum(a.overlap(b) for a, b in pairs), 0)
                self.assertEqual(sum(box.outside(area) for box in boxes), 0)

    def test_obstacles_are_avoided(self):
        obstacle = Box(0, 80, 250, 120)
        boxes = place_labels([(100, 75), (100, 125)], [50] * 2, Box(0, 0, 250, 200), [obstacle])
        self.assertEqual([box.overlap(obstacle) for box in boxes], [0, 0])

    def test_a_text_on_a_line_avoids_points(self):
        area = Box(0, 0, 200, 100)
        box = place_text(50, 50, area, [(180, 42), (180, 58), (20, 58)])
        self.assertEqual((box.left, box.bottom), (3, 48))

    def test_labels_of_equal_points_do_not_overlap(self):
        boxes = place_labels([(100, 100)] * 6, [50] * 6, Box(0, 0, 250, 200))
        pairs = itertools.combinations(boxes, 2)
        self.assertEqual(sum(a.overlap(b) for a, b in pairs), 0)


if __name__ == "__main__":
    unittest.main()
