"""Arrays of numbers, with any layout in memory."""

from __future__ import annotations

import numpy as np
import pytest

INTEGERS = np.random.default_rng(1).integers(-4, 5, size=(80, 3))


@pytest.mark.parametrize(
    "kind",
    ["f8", "f4", "f2", "i8", "i4", "i1", ">f8", ">i2", ">f4", "longdouble"],
)
def test_arrays_of_numbers_mean_their_numbers(kind, means):
    means(INTEGERS.astype(kind), INTEGERS.tolist())


@pytest.mark.parametrize("kind", ["u1", "u8", "?"])
def test_arrays_of_unsigned_numbers_and_truth_values_mean_numbers(kind, means):
    array = (INTEGERS > 0).astype(kind)
    means(array, [[float(value) for value in row] for row in array])


@pytest.mark.parametrize(
    "view",
    [
        np.asfortranarray,
        lambda X: np.repeat(X, 2, axis=0)[::2],
        lambda X: np.repeat(X, 3, axis=1)[:, ::3],
        lambda X: np.ascontiguousarray(X[::-1])[::-1],
        lambda X: np.ascontiguousarray(X[:, ::-1])[:, ::-1],
        lambda X: np.ascontiguousarray(X.T).T,
    ],
    ids=["Fortran", "strided rows", "strided columns", "backward", "mirrored", "transposed"],
)
@pytest.mark.parametrize("kind", ["f8", "f4"])
def test_arrays_may_lie_in_any_way(view, kind, means):
    means(view(INTEGERS.astype(kind)), INTEGERS.tolist())


def test_repeated_rows_may_be_one_in_memory(means):
    means(np.broadcast_to(np.array([1.0, 2.0]), (70, 2)), [[1.0, 2.0]] * 70)


@pytest.fixture
def packed():
    """Packed records, whose floats are misaligned."""
    kind = np.dtype([("before", "u1"), ("row", "f8", (3,)), ("weight", "f8")])
    records = np.zeros(len(INTEGERS), dtype=kind)
    records["row"] = INTEGERS
    records["weight"] = 1 + np.arange(len(INTEGERS)) % 3
    assert not records["row"].flags.aligned
    return records


def test_arrays_need_not_be_aligned(packed, means):
    means(packed["row"], INTEGERS.tolist())


def test_weights_need_not_be_aligned(packed, new_model):
    one, other = new_model(), new_model()
    y = [i % 2 for i in range(len(INTEGERS))]
    one.learn_many(INTEGERS, y, packed["weight"])
    other.learn_many(INTEGERS, y, packed["weight"].tolist())
    assert np.array_equal(one.weights, other.weights)


def test_one_unaligned_sample_means_its_numbers(new_model):
    packed = np.zeros(3, dtype=[("before", "u1"), ("value", "f8")])
    packed["value"] = [1.0, 2.0, 3.0]
    # A running scaling has no scale yet for the first sample.
    one, other = new_model(scaling="none"), new_model(scaling="none")
    one.learn_one(packed["value"], "a")
    other.learn_one([1.0, 2.0, 3.0], "a")
    assert np.array_equal(one.weights, other.weights)


def test_read_only_arrays_are_read(means):
    array = INTEGERS.astype(float)
    array.flags.writeable = False
    means(array, INTEGERS.tolist())


def test_mapped_files_are_read(means, tmp_path):
    np.save(tmp_path / "rows.npy", INTEGERS.astype("f4"))
    means(np.load(tmp_path / "rows.npy", mmap_mode="r"), INTEGERS.tolist())


def test_masked_cells_are_absent(means):
    array = INTEGERS.astype(float)
    absent = np.where(array > 2, np.nan, array)
    means(np.ma.masked_greater(array, 2), absent.tolist())
