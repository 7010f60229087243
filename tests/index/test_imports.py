"""Importing the package loads no heavy library."""

from __future__ import annotations

from pathlib import Path

import pytest

import index
from tests.index.conftest import run_code

FOLDER = Path(index.__file__).parent
# The part of the module with the names for type checkers.
TYPED = (FOLDER / "__init__.py").read_text(encoding="utf-8").partition("_NAMES")[0]
MODULES = sorted(".".join(path.relative_to(FOLDER).with_suffix("").parts) for path in FOLDER.rglob("[a-z]*.py"))


def test_importing_all_of_the_package_loads_no_heavy_library() -> None:
    code = (
        "import sys\n"
        + "".join(f"import index.{name}\n" for name in MODULES)
        + "heavy = {'torch', 'faiss', 'transformers', 'sentence_transformers', 'huggingface_hub', 'tokenizers', 'qa'}\n"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    assert run_code(code).stdout == "[]\n"


@pytest.mark.parametrize("action", ["count", "update"])
def test_neither_counting_tokens_nor_an_empty_update_loads_torch(tmp_path: Path, action: str) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom index.encoder.model_files import find\n"
        "from index.encoder.torch_backend import TorchEncoder\nfrom index.update.report import Request\n"
        "from index.update.update import update_index as update\n"
        "encoder = TorchEncoder(find())\n"
        "if sys.argv[1] == 'count':\n    assert encoder.count_tokens(['hello world']) == [2]\n"
        "else:\n    assert update(Request(Path(sys.argv[2]), encoder)).documents == 0\n"
        "    assert update(Request(Path(sys.argv[2]), encoder)).unchanged == 0\n"
        "print(sorted({'torch', 'transformers'} & sys.modules.keys()))"
    )
    assert run_code(code, action, tmp_path).stdout == "[]\n"


@pytest.mark.parametrize("name", dir(index))
def test_every_public_name_can_be_imported_and_is_typed(name: str) -> None:
    assert getattr(index, name) is not None
    assert f" {name}," in TYPED or f" {name}\n" in TYPED
