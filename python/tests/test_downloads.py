"""Datasets are downloaded, prepared and compared with their checksums."""

from __future__ import annotations

import http.server
import threading

import pytest

from broadstream import datasets


@pytest.fixture
def server(tmp_path):
    """Serve the files of a folder on this machine."""
    folder = tmp_path / "served"
    folder.mkdir()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=str(folder))

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def serve(folder):
    (folder / "letter").mkdir()
    rows = ["T,2,8,3,5,1,8,13,0,6,6,10,8,0,8,0,8\n"] * 20_000
    (folder / "letter" / "letter-recognition.zip").write_text("".join(rows))


def test_a_file_that_is_not_the_dataset_is_refused(server, tmp_path):
    folder, mirror = server
    serve(folder)
    seen = []
    with pytest.raises(ValueError, match="letter"):
        datasets.dataset("letter").fetch(
            tmp_path / "data", mirror=mirror, progress=lambda *state: seen.append(state)
        )
    assert seen and seen[0][0].endswith("letter-recognition.zip") and seen[0][1] > 0
    assert not list((tmp_path / "data").glob("*.csv.gz"))


def test_an_exception_of_the_progress_is_raised(server, tmp_path):
    folder, mirror = server
    serve(folder)

    def fail(*_):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        datasets.dataset("letter").fetch(tmp_path / "data", mirror=mirror, progress=fail)


def test_a_generator_has_no_file(tmp_path):
    with pytest.raises(ValueError, match="made by a generator"):
        datasets.dataset("sea").fetch(tmp_path)
