"""Definitions in source code by tree-sitter, where the extra `qa[code]` is installed: the only import of it.

A grammar is a wheel of its own from the package index; nothing is fetched when a file is read. What stands in a file
that a grammar finds odd is looked at all the same, as tree-sitter goes on behind an error.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any

from corpus.text.lines import LineMap

# First and one past the last character, and the names from the outermost inwards.
Span = tuple[int, int, tuple[str, ...]]

# Raised whenever the same file would be taken apart otherwise, as with a new version of a grammar.
VERSION = 2
# A larger file is made by a program; its tree would take more memory, and some grammars more time, than any file may.
MAX_CHARACTERS = 500_000
# A shorter definition stays with what stands around it: a signature, a line that gives something back.
_LEAST_LINES = 3
_DEEPEST = 4
_DEEPEST_NODE = 30
_LONGEST_NAME = 120
# By media type: the module of the grammar, and the function in it.
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
    # The grammar with elements of HTML in it reads the language without them as well, but for one old way to convert.
    "text/x-typescript": ("tree_sitter_typescript", "language_tsx"),
}
# Nodes that define something, in whatever grammar they occur.
_DEFINE = frozenset(
    (
        *("function_definition", "function_declaration", "generator_function_declaration", "function_item"),
        *("function_signature_item", "method_definition", "method_declaration", "constructor_declaration"),
        *("init_declaration", "abstract_method_signature", "method_signature"),
        *(
            "class_declaration",
            "class_definition",
            "class_specifier",
            "abstract_class_declaration",
            "object_declaration",
        ),
        *(
            "object_definition",
            "interface_declaration",
            "protocol_declaration",
            "trait_declaration",
            "trait_definition",
        ),
        *("trait_item", "impl_item", "struct_item", "union_item", "enum_item", "mod_item", "macro_definition"),
        *("struct_declaration", "record_declaration", "enum_declaration", "enum_definition", "delegate_declaration"),
        *("annotation_type_declaration", "namespace_definition", "namespace_declaration", "internal_module", "module"),
        *("type_spec", "type_alias_declaration", "type_definition", "property_declaration"),
    )
)
# These name a type wherever it is used, and define it only with a body.
_WITH_BODY = ("struct_specifier", "union_specifier", "enum_specifier")
# So do these where they hold a function, in the field named here.
_HOLDERS = {"variable_declarator": "value", "assignment_expression": "right"}
_FUNCTIONS = ("arrow_function", "function_expression", "generator_function")
# What macros make a grammar take for a name.
_NO_NAMES = frozenset({"if", "for", "while", "switch", "return", "else", "do", "catch"})
# In these a property is no more than a variable.
_NO_PROPERTIES = frozenset({"text/x-kotlin", "text/x-swift", "text/x-php"})
# What stands around a definition and belongs to it.
_AROUND = frozenset({"export_statement", "template_declaration", "lexical_declaration", "variable_declaration"})
_AROUND_ONE = frozenset({"type_declaration"})
# What may stand right above one.
_LEADS = re.compile(r"comment|attribute|annotation|decorator")
_NAMES = re.compile(r"identifier|operator_name|destructor_name|^constant$")


def edition() -> int:
    """A number for the grammars that are installed, 0 for none: with others, files are read otherwise."""
    if find_spec("tree_sitter") is None:
        return 0
    found = sum(1 << place for place, (module, _) in enumerate(_GRAMMARS.values()) if find_spec(module) is not None)
    return found * 100 + VERSION if found else 0


def definitions(text: str, media_type: str) -> list[Span] | None:
    """The definitions of a source file with the comments above them.

    Returns:
        None where the language has no grammar here, or the file is too large for one.
    """
    if len(text) > MAX_CHARACTERS or media_type not in _GRAMMARS:
        return None
    language = _language(media_type)
    if language is None:
        return None
    import tree_sitter  # noqa: PLC0415 - an extra

    data = text.encode()
    tree = tree_sitter.Parser(language).parse(data)
    lines = LineMap(text)
    found = set()
    # Of comments and attributes on lines of their own: the row each ends in, and that which it begins in.
    leads: dict[int, int] = {}
    for node in _nodes(tree):
        kind = node.type
        if _is_lead(kind):
            if _stands_alone(node, data):
                leads[_last_row(node)] = node.start_point.row
        elif _defines(node, kind, media_type) and (name := _name(node)):
            first, last = _rows(node, leads)
            if last - first + 1 >= _LEAST_LINES:
                found.add((first, min(last, len(lines) - 1), name))
    return list(_nested(sorted(found, key=lambda one: (one[0], -one[1], one[2])), lines))


@cache
def _language(media_type: str) -> Any | None:
    module, function = _GRAMMARS[media_type]
    try:
        import tree_sitter  # noqa: PLC0415

        return tree_sitter.Language(getattr(importlib.import_module(module), function)())
    except (ImportError, AttributeError, ValueError, TypeError):  # not there, or made for another version
        return None


def _nodes(tree: Any) -> Iterator[Any]:
    """The nodes in order, but for those very deep down; a query would take quadratic time for ever deeper brackets."""
    cursor = tree.walk()
    depth = 0
    while True:
        node = cursor.node
        if node.is_named:
            yield node
        if depth < _DEEPEST_NODE and cursor.goto_first_child():
            depth += 1
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            depth -= 1


@lru_cache(4096)
def _is_lead(kind: str) -> bool:
    """Whether what is of this kind may stand right above a definition."""
    return _LEADS.search(kind) is not None


def _defines(node: Any, kind: str, media_type: str) -> bool:
    if kind in _WITH_BODY:
        return node.child_by_field_name("body") is not None
    if kind in _HOLDERS:
        held = node.child_by_field_name(_HOLDERS[kind])
        return held is not None and held.type in _FUNCTIONS
    return kind in _DEFINE and not (kind == "property_declaration" and media_type in _NO_PROPERTIES)


def _name(node: Any) -> str:
    """What is defined, in one line: "Boat.row" for a method that stands outside of its type."""
    if node.type == "impl_item":
        kind, trait = node.child_by_field_name("type"), node.child_by_field_name("trait")
        return f"{_text(trait)} for {_text(kind)}" if trait is not None else _text(kind)
    named = node.child_by_field_name("name") or node.child_by_field_name("left")
    if named is None:
        named = _declared(node) or next((child for child in node.named_children if _NAMES.search(child.type)), None)
    if named is None:
        return "init" if node.type == "init_declaration" else ""
    receiver = node.child_by_field_name("receiver")
    owner = re.findall(r"\w+", _text(receiver).partition("[")[0])[-1:] if receiver is not None else []
    # Behind a macro, the type may seem to be part of the name.
    own = _text(named).rpartition(" ")[2] if not _text(named).startswith("operator") else _text(named)
    return "" if own in _NO_NAMES else ".".join([*owner, own])


def _declared(node: Any) -> Any | None:
    """In C, the name within what is declared: the f of `int *f(int a)`."""
    found = node.child_by_field_name("declarator")
    while found is not None and not _NAMES.search(found.type):
        inner = found.child_by_field_name("declarator")
        if inner is None:
            return next((child for child in found.named_children if _NAMES.search(child.type)), None)
        found = inner
    return found


def _text(node: Any) -> str:
    return " ".join(node.text[:1000].decode(errors="replace").split())[:_LONGEST_NAME]


def _rows(node: Any, leads: Mapping[int, int]) -> tuple[int, int]:
    """First and last row of a definition, from 0, with the comments and attributes right above it."""
    while (parent := node.parent) is not None and (
        parent.type in _AROUND or (parent.type in _AROUND_ONE and parent.named_child_count == 1)
    ):
        node = parent
    first = node.start_point.row
    while first - 1 in leads:
        first = leads[first - 1]
    return first, _last_row(node)


def _stands_alone(node: Any, data: bytes) -> bool:
    """Whether nothing else stands on a node's lines."""
    start, end = node.start_byte, node.end_byte
    stop = data.find(b"\n", end) if node.end_point.column else end
    before, behind = data[start - node.start_point.column : start], data[end : stop if stop >= 0 else len(data)]
    return not before.strip() and not behind.strip()


def _last_row(node: Any) -> int:
    """The row that a node ends in; one that takes its line's end with it ends at the beginning of the next."""
    row: int = node.end_point.row
    return row - 1 if node.end_point.column == 0 and row > node.start_point.row else row


def _nested(found: Sequence[tuple[int, int, str]], lines: LineMap) -> Iterator[Span]:
    """Spans in characters, with the names of those around them; what begins and ends with its parent is the same."""
    around: list[tuple[int, int, str]] = []
    for first, last, name in found:
        while around and around[-1][1] < first:
            around.pop()
        if around and (last > around[-1][1] or (first, last) == around[-1][:2]):
            continue
        around.append((first, last, name))
        if len(around) <= _DEEPEST:
            yield lines.span(first + 1)[0], lines.span(last + 1)[1], tuple(part for _, _, part in around)
