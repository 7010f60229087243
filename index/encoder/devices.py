"""Choose where torch computes: on the CPU or a GPU."""

from __future__ import annotations

import contextlib
import sys
import warnings
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path

from corpus.errors import UsageError


class Device(StrEnum):
    """Where to compute, as named on the command line."""

    AUTO = "auto"  # a GPU if there is one and it is worth starting
    CPU = "cpu"
    CUDA = "cuda"  # NVIDIA's GPUs, and AMD's, which torch calls by the same name
    MPS = "mps"  # GPUs of Apple silicon


def find_gpu(device: Device) -> Device | None:
    """Return the GPU to compute on, or None for the CPU; torch is imported only if there may be a GPU.

    Raises:
        UsageError: The requested GPU is missing, or torch cannot use it.
    """
    if device is Device.CPU or (device is Device.AUTO and not _has_driver()):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about GPUs it cannot use
            return _usable_gpu(device)
    except ImportError as error:
        if device is Device.AUTO:
            return None
        raise UsageError(f"the device {device} needs torch, which is missing: pip install torch") from error


def require_gpu(device: Device) -> None:
    """Raise a UsageError if a requested GPU is missing, like `find_gpu`, but import torch only if it seems to be."""
    if device in (Device.CUDA, Device.MPS) and not (find_spec("torch") and _has_driver()):
        find_gpu(device)


def _usable_gpu(device: Device) -> Device | None:
    import torch

    available = {Device.CUDA: torch.cuda.is_available, Device.MPS: torch.backends.mps.is_available}
    gpu = next((gpu for gpu, is_usable in available.items() if device in (gpu, Device.AUTO) and is_usable()), None)
    if gpu is None and device is not Device.AUTO:
        built = torch.backends.mps.is_built() if device is Device.MPS else torch.version.cuda or torch.version.hip
        reason = (
            f"torch finds no GPU that it can use as {device}; is its driver installed?"
            if built
            else f"torch {torch.__version__} is built without it: https://pytorch.org/get-started has others."
        )
        raise UsageError(f"the device {device} cannot be used: {reason} `--device auto` uses what is there.")
    return gpu


def _has_driver() -> bool:
    """Whether there may be a GPU: looking for its driver takes milliseconds, importing torch takes seconds."""
    import ctypes
    import platform

    if sys.platform == "darwin":
        return platform.machine() == "arm64"
    with contextlib.suppress(OSError):
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        return True
    return Path("/dev/kfd").exists()  # AMD's
