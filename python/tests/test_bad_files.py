"""Invalid model files and pickles are refused, and failed calls leave files intact."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import pickle
import resource
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest

import broadstream

load = broadstream.OnlineBLS.load


@pytest.fixture
def content(trained, saved):
    return saved(trained)


@pytest.mark.parametrize("share", [0.01, 0.3, 0.7, 0.9999])
def test_truncated_files_are_refused(share, content, tmp_path):
    path = tmp_path / "model.bsm"
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(ValueError, match="truncated: its header declares"):
        load(path)
    with pytest.raises(ValueError, match="truncated"):
        load(io.BytesIO(path.read_bytes()))


def test_altered_files_are_refused(content):
    # The first bytes identify the format.
    for place in np.linspace(20, len(content) - 1, 60).astype(int):
        altered = bytearray(content)
        altered[place] ^= 0x40
        with pytest.raises(ValueError, match=r"damaged or was modified|truncated|too long"):
            load(io.BytesIO(bytes(altered)))


def test_files_with_more_behind_them_are_refused(content):
    with pytest.raises(ValueError, match="too long"):
        load(io.BytesIO(content + b"more"))


@pytest.mark.parametrize(
    ("garbage", "message"),
    [
        (b"", "not a broadstream model file"),
        (b"\0" * 1000, "not a broadstream model file"),
        (b"label,x\n1,2\n", "not a broadstream model file"),
        (b"\x89BSM\r\n", "truncated"),
        (b"\x89BSM\r\n\x1a\n" + b"\xff" * 200, "format version 4294967295"),
    ],
    ids=["empty", "zeros", "a table", "the beginning", "the beginning and garbage"],
)
def test_garbage_is_refused(garbage, message, tmp_path):
    path = tmp_path / "model.bsm"
    path.write_bytes(garbage)
    with pytest.raises(ValueError, match=message):
        load(path)


def test_files_that_cannot_be_read_say_which(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"missing.bsm"):
        load(tmp_path / "missing.bsm")
    with pytest.raises(IsADirectoryError, match=tmp_path.name):
        load(tmp_path)
    with pytest.raises(TypeError, match="bytes"):
        load(io.StringIO("text"))
    for none in (None, 3, [], b"\x89BSM"):
        with pytest.raises((TypeError, OSError)):
            load(none)


def test_places_that_cannot_be_written_say_which(trained, tmp_path):
    with pytest.raises(FileNotFoundError, match="missing"):
        trained.save(tmp_path / "missing" / "model.bsm")
    with pytest.raises(IsADirectoryError, match=tmp_path.name):
        trained.save(tmp_path)
    with pytest.raises(TypeError):
        trained.save(io.StringIO())
    for none in (None, 3, []):
        with pytest.raises(TypeError):
            trained.save(none)
    assert list(tmp_path.iterdir()) == []


def test_refused_labels_leave_the_file_as_it_was(trained, tmp_path, content):
    path = tmp_path / "model.bsm"
    path.write_bytes(content)
    trained.learn_one([1.0] * 4, ("a", "pair"))
    with pytest.raises(TypeError, match=r"tuple.*pickle"):
        trained.save(path)
    file = io.BytesIO()
    with pytest.raises(TypeError, match="tuple"):
        trained.save(file)
    assert file.getvalue() == b""
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_failed_writing_leaves_the_file_as_it_was(trained, tmp_path, content):
    path = tmp_path / "model.bsm"
    path.write_bytes(content)
    trained.learn_one([1.0] * 4, 0)
    # A limit on the length of files stands for a disk that is full.
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(content) // 2, limits[1]))
    try:
        with pytest.raises(OSError, match=r"File too large.*model\.bsm") as error:
            trained.save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (error.value.errno, error.value.filename) == (errno.EFBIG, str(path))
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


HOLDER = """
import fcntl, sys
lock = open(sys.argv[1], "w")
fcntl.flock(lock, fcntl.LOCK_EX)
print("locked", flush=True)
sys.stdin.read()
"""


def test_files_that_another_process_has_locked_are_not_replaced(trained, tmp_path, content):
    path = tmp_path / "model.bsm"
    path.write_bytes(content)
    trained.learn_one([1.0] * 4, 0)
    program = [sys.executable, "-c", HOLDER, str(tmp_path / ".model.bsm.lock")]
    with subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "locked\n"
        with pytest.raises(
            BlockingIOError, match=r"model\.bsm: another program is using this file"
        ):
            trained.save(path)
        assert path.read_bytes() == content
        assert load(path).learned == 100
        holder.stdin.close()
    trained.save(path)
    assert load(path).learned == 101
    assert list(tmp_path.iterdir()) == [path]


def test_threads_that_save_to_one_path_never_mix_their_models(new_model, numbers, tmp_path, saved):
    path = tmp_path / "model.bsm"
    models = [new_model(seed=seed) for seed in range(3)]
    for model in models:
        model.learn_many(*numbers)
    contents = {saved(model) for model in models}
    models[0].save(path)
    written = []

    def save(model):
        for _ in range(20):
            model.save(path)
            written.append(model)

    threads = [threading.Thread(target=save, args=(model,)) for model in models]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert path.read_bytes() in contents
    assert len(written) == 20 * len(models), "a save waits for its turn"
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_no_file_is_not_replaced_by_one(trained, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # Kept open, so that writing does not wait for a reader.
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        trained.save(pipe)
    except (OSError, ValueError):
        pass
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)


def test_saving_keeps_permissions_owners_and_links(trained, tmp_path):
    path, link = tmp_path / "model.bsm", tmp_path / "link.bsm"
    trained.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~_umask()
    path.chmod(0o640)
    # Only a privileged program can give a file away; for others the owner is their own.
    with contextlib.suppress(PermissionError):
        os.chown(path, 12345, 54321)
    owner = (path.stat().st_uid, path.stat().st_gid)
    link.symlink_to(path.name)
    trained.learn_one([1.0] * 4, 0)
    trained.save(link)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert (path.stat().st_uid, path.stat().st_gid) == owner
    assert load(path).learned == 101


def _umask():
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def test_altered_pickles_are_refused(trained):
    restore, (state, labels, threads) = trained.__reduce__()
    altered = bytearray(state)
    altered[len(altered) // 2] ^= 1
    for broken, message in [
        (b"", "not a broadstream model file"),
        (state[:100], "truncated"),
        (bytes(altered), "damaged or was modified"),
    ]:
        with pytest.raises(ValueError, match=message):
            restore(broken, labels, threads)
    pickled = pickle.dumps(trained)
    place = pickled.index(state) + len(state) // 2
    with pytest.raises(ValueError, match="damaged or was modified"):
        pickle.loads(pickled[:place] + bytes([pickled[place] ^ 1]) + pickled[place + 1 :])
    with pytest.raises(pickle.UnpicklingError):
        pickle.loads(pickled[:-20])


@pytest.mark.parametrize(
    "labels", [[], [0], [0, 1], [0, 1, 2, 3], [0, 1, 1], [0, 1, None], [0, 1, []]]
)
def test_pickles_with_other_labels_are_refused(labels, trained):
    restore, (state, own, threads) = trained.__reduce__()
    assert len(own) == 3
    with pytest.raises((ValueError, TypeError)):
        restore(state, labels, threads)


@pytest.mark.parametrize("threads", [0, -1, 5000, 10**30, None, "2"])
def test_pickles_with_impossible_threads_are_refused(threads, trained):
    restore, (state, labels, _) = trained.__reduce__()
    # Python's own error for a number out of range, which only a forged pickle can contain.
    with pytest.raises((ValueError, TypeError, OverflowError)):
        restore(state, labels, threads)
