from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import dump_svmlight_file

from diptych.experiments import readers
from diptych.experiments.readers import CATALOGUE, DataError, find_sources, positives, read_part

EVERY = [known.name for known in CATALOGUE]


def test_archives_are_found_and_read(folder: Path) -> None:
    sources = find_sources(folder, EVERY)
    assert list(sources) == ["ijcnn1", "pima"]
    (X, y), test = sources["ijcnn1"].read()
    assert X.shape == (240, 3)
    assert X.dtype == np.float64
    assert y.dtype == bool
    assert test is not None
    assert sources["pima"].read()[1] is None


@pytest.mark.parametrize(("ending", "squeeze"), [("", bytes), (".bz2", bz2.compress), (".gz", gzip.compress)])
def test_libsvm_text_is_read_plain_and_compressed(tmp_path: Path, ending: str, squeeze) -> None:
    X, y = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]), np.array([1, -1])
    dump_svmlight_file(X, y, str(tmp_path / "plain"), zero_based=False)
    (tmp_path / f"ijcnn1{ending}").write_bytes(squeeze((tmp_path / "plain").read_bytes()))
    dump_svmlight_file(X[:, :2], y, str(tmp_path / "plain"), zero_based=False)
    (tmp_path / f"ijcnn1.t{ending}").write_bytes(squeeze((tmp_path / "plain").read_bytes()))
    train, test = find_sources(tmp_path, EVERY)["ijcnn1"].read()
    np.testing.assert_array_equal(train[0], X)
    np.testing.assert_array_equal(train[1], [True, False])
    assert test is not None
    assert test[0].shape == (2, 3)  # as many features as the training part, though the file names fewer


def test_labels_of_many_classes_are_halved_as_in_the_paper() -> None:
    np.testing.assert_array_equal(positives(np.array([1, 2, 3, 4, 5, 7]), "satimage"), [True] * 3 + [False] * 3)
    np.testing.assert_array_equal(positives(np.array([0.0, 1.0]), "x"), [False, True])
    with pytest.raises(DataError, match="one class only"):
        positives(np.ones(3), "x")


def test_webspam_is_found_under_any_of_its_names(tmp_path: Path) -> None:
    (tmp_path / "webspam_wc_normalized_unigram.svm").write_text("1 1:0.5\n-1 2:1\n")
    assert find_sources(tmp_path, EVERY)["webspam"].read()[0][0].shape == (2, 2)


def test_folders_without_data_are_refused_in_one_sentence(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(DataError, match="there is no folder"):
        find_sources(tmp_path / "missing", EVERY)
    with pytest.raises(DataError, match=r"no known data set \(names looked for.*http: kddcup99_http.npz"):
        find_sources(tmp_path, ["http"])
    with pytest.raises(DataError, match="nothing is not a known data set; known are ijcnn1"):
        find_sources(folder, ["nothing"])
    (folder / "ijcnn1_test.npz").unlink()  # without its test part a data set does not count
    assert list(find_sources(folder, EVERY)) == ["pima"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.npz", b"no archive", "is not an archive with X and y"),
        ("a", b"no numbers here\n", "is not LIBSVM text"),
    ],
)
def test_broken_files_are_refused(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_part(tmp_path / name)


def test_incomplete_tables_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", X=np.ones((3, 2)))
    with pytest.raises(DataError, match="archive with X and y"):
        read_part(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", X=np.array([[np.nan], [1.0]]), y=np.array([-1, 1]))
    with pytest.raises(DataError, match="finite table"):
        read_part(tmp_path / "a.npz")


def test_a_sparse_table_too_large_for_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "free_memory", lambda: 8.0 * 2**30)
    wide = csr_matrix((1000, 16_000_000))
    with pytest.raises(DataError, match=r"takes 476.8 GiB as dense tables and 8.0 GiB are free; sparse tables"):
        readers.dense(wide, "webspam")


def test_free_memory_is_known_or_unbounded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert readers.free_memory() > 0
    monkeypatch.delattr(readers.os, "sysconf")
    assert readers.free_memory() == float("inf")


def test_the_digest_follows_the_contents(folder: Path) -> None:
    source = find_sources(folder, ["pima"])["pima"]
    before = source.digest()
    assert source.digest() == before
    source.train.write_bytes(source.train.read_bytes() + b" ")
    assert source.digest() != before
