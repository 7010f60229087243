"""A compiled copy is made once, checked, replaced if damaged, and never required; the model is a single product."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

from index.compiled import compiled_copy
from index.compiled.compiled_copy import CompiledCopy, CopyCheck, Hint
from index.compiled.runtime import CompileError
from index.storage.sealed import read_sealed, seal
from index.storage.vectors import Vectors

WIDTH = 96
GENERATOR = np.random.default_rng(5)
WEIGHTS = GENERATOR.normal(size=(48, WIDTH)).astype(np.float32)
INPUT = GENERATOR.normal(size=(3, WIDTH)).astype(np.float32)
FOREIGN = seal(b"of another version of OpenVINO")


def make(library: Any) -> tuple[Any, CopyCheck]:
    op = library.opset13
    value = op.parameter([-1, WIDTH], np.float32)
    product = op.matmul(value, op.constant(WEIGHTS), transpose_a=False, transpose_b=True)
    return library.Model([op.result(product)], [value], "one product"), lambda compiled, *, quantised: None


def compute(hint: Hint = Hint.LATENCY, name: str = "small") -> Vectors:
    """Load a copy, which is made if it is missing, and return what it computes."""
    result: Vectors = CompiledCopy(name, name, make).load(hint)([INPUT])[0]
    return result


@pytest.fixture
def copy(cache: Path) -> Path:
    """The folder of a copy in the cache."""
    assert np.allclose(compute(), INPUT @ WEIGHTS.T, rtol=1e-2, atol=0.1)
    return cache / "qa" / "compiled" / "small"


def test_a_damaged_copy_is_replaced(copy: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.clear()
    expected = compute()
    assert "preparing" not in caplog.text
    weights = copy / "model.bin"
    data = bytearray(weights.read_bytes())
    data[len(data) // 2] ^= 1
    weights.write_bytes(data)
    assert np.array_equal(compute(), expected)
    assert weights.read_bytes() != bytes(data)
    assert "preparing small for this machine (once)" in caplog.text


def test_a_copy_that_another_process_has_just_made_is_kept(cache: Path) -> None:
    """That process may be loading its files."""
    files: list[int] = []

    def make_twice(library: Any) -> tuple[Any, CopyCheck]:
        compute()
        files.append((cache / "qa/compiled/small/model.bin").stat().st_ino)
        return make(library)

    result = CompiledCopy("small", "small", make_twice).load(Hint.LATENCY)([INPUT])[0]
    assert np.array_equal(result, compute())
    assert files == [(cache / "qa/compiled/small/model.bin").stat().st_ino]
    assert [path.name for path in (cache / "qa" / "compiled").iterdir()] == ["small"]


@pytest.mark.parametrize("damage", ["none", "missing", "bit flip", "other version"])
def test_damaged_files_prepared_for_the_processor_are_replaced(copy: Path, damage: str) -> None:
    """A copy has such a file for each hint."""
    expected = compute()
    files = sorted(copy.glob("*.prepared"))
    assert len(files) == len(Hint)
    for prepared in files:
        data = prepared.read_bytes()
        if damage == "missing":
            prepared.unlink()
        elif damage == "bit flip":
            prepared.write_bytes(data[:-9] + bytes([data[-9] ^ 1]) + data[-8:])
        elif damage == "other version":
            prepared.write_bytes(FOREIGN)
    for count, hint in enumerate(Hint, 1):
        assert np.array_equal(compute(hint), expected)
        intact = [file for file in files if len(read_sealed(file) or b"") > len(FOREIGN)]
        assert len(intact) == (2 if damage == "none" else count)


@pytest.fixture
def no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the cache folder unusable, and return a folder for temporary files."""
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    (temporary := tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    return temporary


def test_without_a_cache_a_copy_is_made_for_this_process(no_cache: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It computes the same and leaves no files; one warning for all models names the folder and the fix."""
    for name in ("small", "another"):
        assert np.allclose(compute(name=name), INPUT @ WEIGHTS.T, rtol=1e-2, atol=0.1)
    assert list(no_cache.iterdir()) == []
    (warning,) = [message for message in caplog.messages if "preparing" not in message]
    folder = no_cache.parent / "file" / "qa" / "compiled"
    assert warning.startswith(f"cannot keep compiled models in {folder}: Not a directory. ")
    assert warning.endswith("Set XDG_CACHE_HOME to a folder of yours.")


def test_without_a_cache_or_a_temporary_folder_there_is_no_copy(no_cache: Path) -> None:
    no_cache.rmdir()
    with pytest.raises(CompileError, match="the compiled model cannot be written to a temporary folder"):
        compute()


def test_a_model_that_cannot_be_built_is_a_compile_error(cache: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The cache is not blamed, and no files are left; torch can be used instead."""

    def refuse(_: object) -> NoReturn:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "model.safetensors")

    with pytest.raises(CompileError, match=r"^small cannot be compiled: .*denied: 'model\.safetensors'"):
        CompiledCopy("small", "key", refuse).load(Hint.LATENCY)
    assert "cannot keep compiled models" not in caplog.text
    assert list((cache / "qa" / "compiled").iterdir()) == []


def test_a_copy_that_fails_its_check_is_not_kept(cache: Path) -> None:
    def make_wrong(library: Any) -> tuple[Any, CopyCheck]:
        def check(compiled: Any, *, quantised: bool) -> None:
            raise CompileError("other vectors")

        return make(library)[0], check

    with pytest.raises(CompileError, match="other vectors"):
        CompiledCopy("small", "key", make_wrong).load(Hint.LATENCY)
    assert list((cache / "qa" / "compiled").iterdir()) == []


def test_a_copy_that_does_not_load_is_a_compile_error(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_copy, "_load", lambda *_, **__: 1 / 0)
    with pytest.raises(CompileError, match="cannot be loaded: division by zero"):
        compute()
