"""Removes what clients must not see: where the collection, its index and model, and the user's settings are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from corpus import INDEX_FOLDER
from qa.collection.opening import UPDATE_FAILED
from qa.collection.settings import user_file

_UPDATE_FAILED = f"{UPDATE_FAILED}see the server's terminal for details. Answering from the index as it is."


def without_folder(message: str, root: Path) -> str:
    """Return a message with the names of the collection and of the file with the user's settings, without folders."""
    for path in filter(lambda path: path.name, (user_file(), root)):
        for shown in (str(path), os.path.realpath(path)):
            message = message.replace(shown, path.name)
    return message


def public_note(note: str, root: Path) -> str:
    """Return a note on the index as clients may see it: what failed may name other folders, or a host."""
    return _UPDATE_FAILED if note.startswith(UPDATE_FAILED) else without_folder(note, root)


def public_body(body: dict[str, Any], root: Path) -> dict[str, Any]:
    """Return a command's JSON as clients may see it; texts of documents are left unchanged."""
    public = dict(body)
    if "model" in body:
        public["model"] = _model_name(body["model"])
    if isinstance(index := body.get("index"), dict):
        public["index"] = {**index, "model": _model_name(index["model"])}
        if "note" in index:
            public["index"]["note"] = public_note(index["note"], root)
    elif index is not None:  # from `qa status`: a folder, or the address of a store
        public["index"] = INDEX_FOLDER
    if settings := body.get("settings"):
        public["settings"] = without_folder(settings, root)
    if "changes" in body:
        reason = body["changes"]["problem"]
        public["changes"] = {**body["changes"], "problem": reason and without_folder(reason, root)}
    return public


def _model_name(model: str) -> str:
    """Return a model's name; if it is a folder, that folder's name."""
    return Path(model).name if Path(model).is_absolute() else model
