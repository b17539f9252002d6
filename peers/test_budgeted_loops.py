import unittest

import numpy

from budgeted_loops import FIRST_CHUNK, in_chunks, next_chunk, one_by_one, refitted


class Clock:
    """A stopwatch that goes on by `step` seconds whenever it is read."""

    def __init__(self, step):
        self.step = step
        self.now = -step

    def __call__(self):
        return self

    def seconds(self):
        self.now += self.step
        return self.now

    def cpu_seconds(self):
        return self.now / 2


class Majority:
    """Remembers the order of calls and predicts the last label."""

    def __init__(self):
        self.label = None
        self.calls = []

    def predict_one(self, x):
        self.calls.append(("predict", x))
        return self.label

    def learn_one(self, x, y):
        self.calls.append(("learn", x))
        self.label = y


class OneByOne(unittest.TestCase):
    def test_a_sample_is_predicted_before_it_is_learned(self):
        model = Majority()
        outcome = one_by_one(model, [("a", 0), ("b", 0), ("c", 1)], budget=100, watch=Clock(1))
        self.assertEqual((outcome.samples, outcome.correct), (3, 1))
        expected = [(call, x) for x in "abc" for call in ("predict", "learn")]
        self.assertEqual(model.calls, expected)

    def test_no_sample_is_begun_after_the_budget(self):
        outcome = one_by_one(Majority(), [("a", 0)] * 10, budget=4, watch=Clock(1))
        # Begun at 0, 1, 2 and 3 seconds.
        self.assertEqual((outcome.samples, outcome.correct), (4, 3))


class Chunks(unittest.TestCase):
    def test_all_samples_are_learned_within_the_budget(self):
        chunks = []

        def learn_chunk(samples):
            chunks.append(samples)
            return samples // 2

        outcome = in_chunks(learn_chunk, 20_000, budget=100, watch=Clock(0.001))
        self.assertEqual((sum(chunks), outcome.samples, outcome.correct), (20_000, 20_000, 10_000))
        # A fast learner is not called more often than necessary.
        self.assertEqual(chunks, [FIRST_CHUNK, 20_000 - FIRST_CHUNK])

    def test_a_slow_learner_is_cut(self):
        clock = Clock(0)

        def learn_chunk(samples):
            clock.now += samples / 100
            return samples

        outcome = in_chunks(learn_chunk, 20_000, budget=40, watch=clock)
        # 100 samples in a second; the last chunk does not exceed the budget.
        self.assertEqual(outcome.samples, 4_000)
        self.assertAlmostEqual(outcome.seconds, 40)

    def test_a_chunk_takes_a_share_of_the_budget(self):
        self.assertEqual(next_chunk(0, 20_000, 0, 80), FIRST_CHUNK)
        self.assertEqual(next_chunk(0, 100, 0, 80), 100)
        self.assertEqual(next_chunk(500, 20_000, 5, 80), 1_000)
        self.assertEqual(next_chunk(500, 800, 5, 80), 300)
        self.assertEqual(next_chunk(500, 20_000, 79, 80), 6)
        self.assertEqual(next_chunk(500, 20_000, 80, 80), 0)
        self.assertEqual(next_chunk(20_000, 20_000, 5, 80), 0)
        self.assertEqual(next_chunk(500, 20_000, 5, float("inf")), 19_500)


class Refits(unittest.TestCase):
    def setUp(self):
        self.fitted = []

    def fit(self, x, y):
        """Predict the label that was learned last."""
        self.fitted.append(len(y))
        label = y[-1]
        return lambda x: numpy.full(len(x), label)

    def run_on(self, labels, **options):
        y = numpy.array(labels)
        x = numpy.zeros((len(y), 1))
        return refitted(self.fit, x, y, **{"every": 4, "budget": 100, "watch": Clock(1), **options})

    def test_everything_seen_is_refitted(self):
        outcome = self.run_on([0, 1, 1, 1, 1, 1, 0, 0, 0, 0])
        self.assertEqual(self.fitted, [4, 8, 10])
        # The majority before the first refit (0, 1, 1), then 1, then 0.
        self.assertEqual((outcome.samples, outcome.correct), (10, 1 + 2 + 2))

    def test_a_single_class_is_not_fitted(self):
        outcome = self.run_on([0] * 6 + [1] * 6)
        self.assertEqual(self.fitted, [8, 12])
        self.assertEqual((outcome.samples, outcome.correct), (12, 3 + 2 + 4))

    def test_no_refit_is_begun_after_the_budget(self):
        outcome = self.run_on([0, 1] * 10, budget=2)
        self.assertEqual((outcome.samples, self.fitted), (8, [4, 8]))


if __name__ == "__main__":
    unittest.main()
