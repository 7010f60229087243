"""A compiled copy is made once, checked, replaced if damaged, and never required; here of a model with one product."""

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


def loaded_result(hint: Hint = Hint.LATENCY, name: str = "small") -> Vectors:
    """What a copy computes that is loaded, and made if it is missing."""
    found: Vectors = CompiledCopy(name, name, make).load(hint)([INPUT])[0]
    return found


@pytest.fixture
def made(cache: Path) -> Path:
    """The folder of a copy in the cache."""
    assert np.allclose(loaded_result(), INPUT @ WEIGHTS.T, rtol=1e-2, atol=0.1)
    return cache / "qa" / "compiled" / "small"


def test_a_damaged_copy_is_replaced(made: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.clear()
    expected = loaded_result()
    assert "preparing" not in caplog.text
    weights = made / "model.bin"
    data = bytearray(weights.read_bytes())
    data[len(data) // 2] ^= 1
    weights.write_bytes(data)
    assert np.array_equal(loaded_result(), expected)
    assert weights.read_bytes() != bytes(data)
    assert "preparing small for this machine (once)" in caplog.text


@pytest.mark.parametrize("damage", ["none", "missing", "flipped", "another"])
def test_damaged_files_prepared_for_the_processor_are_replaced(made: Path, damage: str) -> None:
    """A copy comes with one for each hint."""
    expected = loaded_result()
    both = sorted(made.glob("*.prepared"))
    assert len(both) == len(Hint)
    for prepared in both:
        data = prepared.read_bytes()
        if damage == "missing":
            prepared.unlink()
        elif damage == "flipped":
            prepared.write_bytes(data[:-9] + bytes([data[-9] ^ 1]) + data[-8:])
        elif damage == "another":
            prepared.write_bytes(FOREIGN)
    for count, hint in enumerate(Hint, 1):
        assert np.array_equal(loaded_result(hint), expected)
        sound = [file for file in both if len(read_sealed(file) or b"") > len(FOREIGN)]
        assert len(sound) == (2 if damage == "none" else count)


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files, and none for the cache, because a file is in the way."""
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    (temporary := tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    return temporary


def test_without_a_cache_a_copy_is_made_for_this_process(nowhere: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It computes the same, leaves nothing behind, and one line, for all models, names the folder and the fix."""
    for name in ("small", "another"):
        assert np.allclose(loaded_result(name=name), INPUT @ WEIGHTS.T, rtol=1e-2, atol=0.1)
    assert list(nowhere.iterdir()) == []
    (warning,) = [message for message in caplog.messages if "preparing" not in message]
    folder = nowhere.parent / "file" / "qa" / "compiled"
    assert warning.startswith(f"cannot keep compiled models in {folder}: Not a directory. ")
    assert warning.endswith("Set XDG_CACHE_HOME to a folder of yours.")


def test_without_a_temporary_folder_too_there_is_no_copy(nowhere: Path) -> None:
    nowhere.rmdir()
    with pytest.raises(CompileError, match="the compiled model cannot be written to a temporary folder"):
        loaded_result()


def test_a_model_that_cannot_be_built_is_a_compile_error(cache: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It is not blamed on the cache, and nothing is left behind; torch can be used instead."""

    def refuse(_: object) -> NoReturn:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "model.safetensors")

    with pytest.raises(CompileError, match=r"^small cannot be compiled: .*denied: 'model\.safetensors'"):
        CompiledCopy("small", "key", refuse).load(Hint.LATENCY)
    assert "cannot keep compiled models" not in caplog.text
    assert list((cache / "qa" / "compiled").iterdir()) == []


def test_a_copy_that_fails_its_check_is_not_kept(cache: Path) -> None:
    def wrong(library: Any) -> tuple[Any, CopyCheck]:
        def check(compiled: Any, *, quantised: bool) -> None:
            raise CompileError("other vectors")

        return make(library)[0], check

    with pytest.raises(CompileError, match="other vectors"):
        CompiledCopy("small", "key", wrong).load(Hint.LATENCY)
    assert list((cache / "qa" / "compiled").iterdir()) == []


def test_a_copy_that_does_not_load_is_a_compile_error(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_copy, "_load", lambda *_, **__: 1 / 0)
    with pytest.raises(CompileError, match="cannot be loaded: division by zero"):
        loaded_result()
