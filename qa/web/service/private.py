"""What no client is told: where on this machine the collection is, its index and its model."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from corpus import INDEX_FOLDER


def without_folder(message: str, root: Path) -> str:
    """Return a message with the collection's name in place of its folder."""
    for folder in (str(root), os.path.realpath(root)):
        message = message.replace(folder, root.name) if root.name else message
    return message


def public_body(body: dict[str, Any], root: Path) -> dict[str, Any]:
    """Return the JSON of a command as clients get it; texts of documents are as they are."""
    found = dict(body)
    if "model" in body:
        found["model"] = _model_name(body["model"])
    if isinstance(about := body.get("index"), dict):
        found["index"] = {**about, "model": _model_name(about["model"])}
    elif about is not None:  # of `qa status`: a folder, or the address of a store
        found["index"] = INDEX_FOLDER
    if "changes" in body:
        reason = body["changes"]["problem"]
        found["changes"] = {**body["changes"], "problem": reason and without_folder(reason, root)}
    return found


def _model_name(model: str) -> str:
    """A model may be a folder."""
    return Path(model).name if Path(model).is_absolute() else model
