"""What a researcher would run: the paper's updates in numpy and scipy, at one order.

Usage: researcher.py ORDER. Prints one JSON object: versions, and for each way the seconds that each
of some samples took. Every way learns the same samples, and its weights are checked against a dense
solve of all of them; if one is off, nothing is printed and the script fails.
"""

import json
import sys
import time

import numpy as np
import scipy
from scipy.linalg import cho_solve, cholesky, solve_triangular

CLASSES = 10
RIDGE = 1.0
SAMPLES = 5
TOLERANCE = 1e-8


class Givens:
    """K = R'R, a rotation for each column (the paper's equation 15), then two solves."""

    name = "numpy, a Givens rotation per column; scipy `solve_triangular`"

    def __init__(self, order):
        # By rows: a rotation combines a row of R with the sample, and both are then contiguous.
        self.r = np.sqrt(RIDGE) * np.eye(order)
        self.q = np.zeros((order, CLASSES))

    def learn(self, a, y):
        r, v = self.r, a.copy()
        self.q += np.outer(a, y)
        for j in range(len(v)):
            length = np.hypot(r[j, j], v[j])
            c, s = r[j, j] / length, v[j] / length
            row = r[j, j:]
            rotated = c * row + s * v[j:]
            v[j:] = c * v[j:] - s * row
            r[j, j:] = rotated
        return solve_triangular(r, solve_triangular(r, self.q, trans="T"))


class FullCholesky:
    """K is kept, and factorised for every sample."""

    name = "scipy, `cholesky` and `cho_solve` for each sample"

    def __init__(self, order):
        self.k = RIDGE * np.eye(order)
        self.q = np.zeros((order, CLASSES))

    def learn(self, a, y):
        self.k += np.outer(a, a)
        self.q += np.outer(a, y)
        return cho_solve((cholesky(self.k, lower=True), True), self.q)


class Inverse:
    """K is kept, and inverted for every sample."""

    name = "numpy, `inv` for each sample"

    def __init__(self, order):
        self.k = RIDGE * np.eye(order)
        self.q = np.zeros((order, CLASSES))

    def learn(self, a, y):
        self.k += np.outer(a, a)
        self.q += np.outer(a, y)
        return np.linalg.inv(self.k) @ self.q


def main():
    order = int(sys.argv[1])
    random = np.random.default_rng(order)
    # One sample more than is timed: the first is for caches and lazy imports.
    features = random.uniform(-1.0, 1.0, (SAMPLES + 1, order))
    targets = np.eye(CLASSES)[random.integers(0, CLASSES, SAMPLES + 1)]
    expected = np.linalg.solve(RIDGE * np.eye(order) + features.T @ features, features.T @ targets)

    ways = []
    for way in (Givens, FullCholesky, Inverse):
        state = way(order)
        seconds = []
        for a, y in zip(features, targets):
            started = time.perf_counter()
            weights = state.learn(a, y)
            seconds.append(time.perf_counter() - started)
        apart = np.abs(weights - expected).max() / np.abs(expected).max()
        if not apart <= TOLERANCE:
            sys.exit(f"{way.name}: weights differ by {apart:.1e}, more than {TOLERANCE:.0e}")
        ways.append({"name": way.name, "seconds": seconds[1:]})
    versions = {"numpy": np.__version__, "scipy": scipy.__version__}
    versions["Python"] = sys.version.split()[0]
    json.dump({"versions": versions, "ways": ways}, sys.stdout)
    print()


if __name__ == "__main__":
    main()
