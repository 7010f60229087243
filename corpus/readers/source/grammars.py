"""Definitions in source code by tree-sitter, with the extra `code`.

Each grammar is a wheel of its own; nothing is fetched when a file is read. Behind a syntax error the parser goes on.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any

from corpus.text.lines import LineMap

# First character and one past the last, and the names of the definitions around it and its own, outermost first.
Definition = tuple[int, int, tuple[str, ...]]

# Raised with every change of what is found in the same file, such as by a new version of a grammar.
VERSION = 2
# Larger files are generated; their trees take too much memory, and with some grammars too much time.
MAX_CHARACTERS = 500_000
# Shorter definitions, such as signatures, stay with what surrounds them.
_MIN_LINES = 3
_MAX_DEPTH = 4
_MAX_NODE_DEPTH = 30
_MAX_NAME = 120
# By media type: the grammar's module, and the function in it.
_GRAMMARS = {
    "text/x-c": ("tree_sitter_c", "language"),
    "text/x-c++": ("tree_sitter_cpp", "language"),
    "text/x-csharp": ("tree_sitter_c_sharp", "language"),
    "text/x-go": ("tree_sitter_go", "language"),
    "text/x-java": ("tree_sitter_java", "language"),
    "text/javascript": ("tree_sitter_javascript", "language"),
    "text/x-kotlin": ("tree_sitter_kotlin", "language"),
    "text/x-php": ("tree_sitter_php", "language_php"),
    "text/x-rust": ("tree_sitter_rust", "language"),
    "text/x-scala": ("tree_sitter_scala", "language"),
    "text/x-swift": ("tree_sitter_swift", "language"),
    # Reads TypeScript too, but for casts in angle brackets.
    "text/x-typescript": ("tree_sitter_typescript", "language_tsx"),
}
# Nodes that are definitions, in any grammar.
_DEFINITIONS = frozenset(
    [
        *("function_definition", "function_declaration", "generator_function_declaration", "function_item"),
        *("function_signature_item", "method_definition", "method_declaration", "constructor_declaration"),
        *("init_declaration", "abstract_method_signature", "method_signature", "class_declaration", "class_definition"),
        *("class_specifier", "abstract_class_declaration", "object_declaration", "object_definition"),
        *("interface_declaration", "protocol_declaration", "trait_declaration", "trait_definition", "trait_item"),
        *("impl_item", "struct_item", "union_item", "enum_item", "mod_item", "macro_definition"),
        *("struct_declaration", "record_declaration", "enum_declaration", "enum_definition", "delegate_declaration"),
        *("annotation_type_declaration", "namespace_definition", "namespace_declaration", "internal_module", "module"),
        *("type_spec", "type_alias_declaration", "type_definition", "property_declaration"),
    ]
)
# These name a type in any use, and define it only with a body.
_WITH_BODY = ("struct_specifier", "union_specifier", "enum_specifier")
# These define a function if this field holds one.
_HOLDERS = {"variable_declarator": "value", "assignment_expression": "right"}
_FUNCTIONS = ("arrow_function", "function_expression", "generator_function")
# Behind macros, a grammar may take these for names.
_KEYWORDS = frozenset({"if", "for", "while", "switch", "return", "else", "do", "catch"})
# In these languages a property is only a variable.
_NO_PROPERTIES = frozenset({"text/x-kotlin", "text/x-swift", "text/x-php"})
# Nodes around a definition that belong to it; a type declaration only with a single type.
_WRAPPERS = frozenset({"export_statement", "template_declaration", "lexical_declaration", "variable_declaration"})
_LEADS = re.compile(r"comment|attribute|annotation|decorator")
_NAMES = re.compile(r"identifier|operator_name|destructor_name|^constant$")


def edition() -> int:
    """Return a number for the set of installed grammars, 0 for none: files are read otherwise with each."""
    if find_spec("tree_sitter") is None:
        return 0
    found = sum(1 << place for place, (module, _) in enumerate(_GRAMMARS.values()) if find_spec(module) is not None)
    return found * 100 + VERSION if found else 0


def definitions(text: str, media_type: str) -> list[Definition]:
    """Return the definitions in a source file with the comments above each, in order, outer ones first.

    There are none without a grammar, or in a file too large for one.
    """
    language = _language(media_type) if len(text) <= MAX_CHARACTERS else None
    if language is None:
        return []
    import tree_sitter  # noqa: PLC0415 - an extra

    data = text.encode()
    lines = LineMap(text)
    found = set()
    # The last row of each comment or attribute on lines of its own, and its first.
    leads: dict[int, int] = {}
    for node in _nodes(tree_sitter.Parser(language).parse(data)):
        kind = node.type
        if _is_lead(kind):
            if _is_alone(node, data):
                leads[_last_row(node)] = node.start_point.row
        elif _defines(node, kind, media_type) and (name := _name(node)):
            first, last = _rows(node, leads)
            if last - first + 1 >= _MIN_LINES:
                found.add((first, min(last, len(lines) - 1), name))
    return list(_nested(sorted(found, key=lambda one: (one[0], -one[1], one[2])), lines))


@cache
def _language(media_type: str) -> Any | None:
    if media_type not in _GRAMMARS:
        return None
    module, function = _GRAMMARS[media_type]
    try:
        import tree_sitter  # noqa: PLC0415

        return tree_sitter.Language(getattr(importlib.import_module(module), function)())
    except (ImportError, AttributeError, ValueError, TypeError):  # missing, or built for another version
        return None


def _nodes(tree: Any) -> Iterator[Any]:
    """The named nodes down to a depth, in order; a query takes quadratic time on nested brackets."""
    cursor = tree.walk()
    depth = 0
    while True:
        node = cursor.node
        if node.is_named:
            yield node
        if depth < _MAX_NODE_DEPTH and cursor.goto_first_child():
            depth += 1
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            depth -= 1


@lru_cache(4096)
def _is_lead(kind: str) -> bool:
    """Whether a node of this kind right above a definition belongs to it."""
    return _LEADS.search(kind) is not None


def _defines(node: Any, kind: str, media_type: str) -> bool:
    if kind in _WITH_BODY:
        return node.child_by_field_name("body") is not None
    if kind in _HOLDERS:
        held = node.child_by_field_name(_HOLDERS[kind])
        return held is not None and held.type in _FUNCTIONS
    return kind in _DEFINITIONS and not (kind == "property_declaration" and media_type in _NO_PROPERTIES)


def _name(node: Any) -> str:
    """The name of a definition on one line: "Boat.row" for a method outside its type, "" if it has none."""
    if node.type == "impl_item":
        kind, trait = node.child_by_field_name("type"), node.child_by_field_name("trait")
        return f"{_text(trait)} for {_text(kind)}" if trait is not None else _text(kind)
    named = node.child_by_field_name("name") or node.child_by_field_name("left") or _declared(node) or _first_name(node)
    if named is None:
        return "init" if node.type == "init_declaration" else ""
    receiver = node.child_by_field_name("receiver")
    owner = re.findall(r"\w+", _text(receiver).partition("[")[0])[-1:] if receiver is not None else []
    # Behind a macro, the type may seem to be part of the name.
    own = _text(named) if _text(named).startswith("operator") else _text(named).rpartition(" ")[2]
    return "" if own in _KEYWORDS else ".".join([*owner, own])


def _declared(node: Any) -> Any | None:
    """The name inside a declarator of C: the f of `int *f(int a)`."""
    found = node.child_by_field_name("declarator")
    while found is not None and not _NAMES.search(found.type):
        inner = found.child_by_field_name("declarator")
        if inner is None:
            return _first_name(found)
        found = inner
    return found


def _first_name(node: Any) -> Any | None:
    return next((child for child in node.named_children if _NAMES.search(child.type)), None)


def _text(node: Any) -> str:
    return " ".join(node.text[:1000].decode(errors="replace").split())[:_MAX_NAME]


def _rows(node: Any, leads: Mapping[int, int]) -> tuple[int, int]:
    """First and last row of a definition, from 0, with the comments and attributes right above it."""
    while (parent := node.parent) is not None and (
        parent.type in _WRAPPERS or (parent.type == "type_declaration" and parent.named_child_count == 1)
    ):
        node = parent
    first = node.start_point.row
    while first - 1 in leads:
        first = leads[first - 1]
    return first, _last_row(node)


def _is_alone(node: Any, data: bytes) -> bool:
    """Whether nothing else is on a node's lines."""
    start, end = node.start_byte, node.end_byte
    stop = data.find(b"\n", end) if node.end_point.column else end
    before, behind = data[start - node.start_point.column : start], data[end : stop if stop >= 0 else len(data)]
    return not before.strip() and not behind.strip()


def _last_row(node: Any) -> int:
    """The row that a node ends in, not counting the next where it takes in its line's end."""
    row: int = node.end_point.row
    return row - 1 if node.end_point.column == 0 and row > node.start_point.row else row


def _nested(found: Sequence[tuple[int, int, str]], lines: LineMap) -> Iterator[Definition]:
    """Rows as characters, below the names around them; one that coincides with its parent is dropped."""
    around: list[tuple[int, int, str]] = []
    for first, last, name in found:
        while around and around[-1][1] < first:
            around.pop()
        if around and (last > around[-1][1] or (first, last) == around[-1][:2]):
            continue
        around.append((first, last, name))
        if len(around) <= _MAX_DEPTH:
            yield lines.span(first + 1)[0], lines.span(last + 1)[1], tuple(part for _, _, part in around)
