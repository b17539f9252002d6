"""The metrics of the library's `metrics` module, with the same definitions.

They are computed from the confusion matrix: how many samples of each true class were predicted as
which. `None` stands for "no prediction", which is wrong without being a class.
"""

import math
from collections import Counter, deque


class Metrics:
    """The metrics over all samples so far, and the accuracy over the last `window` samples."""

    def __init__(self, window):
        self.samples = 0
        self.correct = 0
        self.support = Counter()
        self.predicted = Counter()
        self.hits = Counter()
        self._recalls = {}
        self._balanced_accuracies = []
        self._window = deque(maxlen=window)

    def add(self, truth, predicted):
        """Count a sample."""
        self.samples += 1
        self.support[truth] += 1
        self.predicted[predicted] += 1
        hit = predicted is not None and predicted == truth
        if hit:
            self.correct += 1
            self.hits[truth] += 1
        self._recalls[truth] = self.hits[truth] / self.support[truth]
        self._balanced_accuracies.append(self.bacc())
        self._window.append(hit)

    def oca(self):
        """Online cumulative accuracy."""
        return self.correct / self.samples if self.samples else 0.0

    def window_oca(self):
        """The accuracy over the last samples."""
        return sum(self._window) / len(self._window) if self._window else 0.0

    def bacc(self):
        """Balanced accuracy: the mean recall of the classes that have occurred as truth."""
        return math.fsum(self._recalls.values()) / len(self._recalls) if self._recalls else 0.0

    def avrbacc(self):
        """Average balanced accuracy: the mean, over all samples, of the balanced accuracy so far."""
        return math.fsum(self._balanced_accuracies) / self.samples if self.samples else 0.0

    def f1(self):
        """Macro F1: the mean over the classes that occur as truth or as prediction."""
        classes = (set(self.support) | set(self.predicted)) - {None}
        if not classes:
            return 0.0
        terms = (2 * self.hits[c] / (self.support[c] + self.predicted[c]) for c in classes)
        return math.fsum(terms) / len(classes)

    def mcc(self):
        """Matthews correlation coefficient; 0 where it is undefined."""
        truth = self.samples**2 - sum(n * n for n in self.support.values())
        prediction = self.samples**2 - sum(n * n for n in self.predicted.values())
        if truth == 0 or prediction == 0:
            return 0.0
        covariance = self.samples * self.correct - self._by_chance()
        return max(-1.0, min(1.0, covariance / math.sqrt(truth * prediction)))

    def kappa(self):
        """Cohen's kappa; 0 where it is undefined."""
        room = self.samples**2 - self._by_chance()
        return (self.samples * self.correct - self._by_chance()) / room if room else 0.0

    def _by_chance(self):
        return sum(count * self.predicted[c] for c, count in self.support.items())

    def summary(self):
        """All metrics by name."""
        return {
            "oca": self.oca(),
            "oce": 1 - self.oca(),
            "bacc": self.bacc(),
            "avrbacc": self.avrbacc(),
            "f1": self.f1(),
            "mcc": self.mcc(),
            "kappa": self.kappa(),
        }
