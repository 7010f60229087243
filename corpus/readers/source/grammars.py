"""Definitions in source code by tree-sitter, with the extra `code`.

Each grammar is a separate wheel; nothing is downloaded at run time. The parser continues after a syntax error.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any

from corpus.text.lines import LineMap

# First character, one past the last, and the names of the enclosing definitions and of the definition itself.
Definition = tuple[int, int, tuple[str, ...]]

# Incremented whenever other definitions are found in the same file, such as with a new version of a grammar.
VERSION = 2
# Larger files are generated; their trees take too much memory, and with some grammars too much time.
MAX_CHARACTERS = 500_000
# Shorter definitions, such as signatures, stay in the block around them.
_MIN_LINES = 3
_MAX_DEPTH = 4
_MAX_NODE_DEPTH = 30
_MAX_NAME = 120
# By media type: the name of the grammar, and of the function in it if it is not `language`.
_GRAMMARS = {
    "text/x-c": "c", "text/x-c++": "cpp", "text/x-csharp": "c_sharp", "text/x-go": "go", "text/x-java": "java",
    "text/javascript": "javascript", "text/x-kotlin": "kotlin", "text/x-php": "php.language_php",
    "text/x-rust": "rust", "text/x-scala": "scala", "text/x-swift": "swift",
    # Reads TypeScript too, except casts in angle brackets.
    "text/x-typescript": "typescript.language_tsx",
}  # fmt: skip
# Added to the set of grammars of files that were read with different sets.
_MIXED = 1 << len(_GRAMMARS)
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
# These occur wherever a type is used, and define it only if they have a body.
_WITH_BODY = ("struct_specifier", "union_specifier", "enum_specifier")
# Nodes that define a function if the field named here is one.
_FUNCTION_FIELDS = {"variable_declarator": "value", "assignment_expression": "right"}
_FUNCTIONS = ("arrow_function", "function_expression", "generator_function")
# A grammar may mistake these for names after a macro.
_KEYWORDS = frozenset({"if", "for", "while", "switch", "return", "else", "do", "catch"})
# In these languages a property is only a variable.
_NO_PROPERTIES = frozenset({"text/x-kotlin", "text/x-swift", "text/x-php"})
# Nodes around a definition that belong to it; a type declaration does only if it has a single type.
_WRAPPERS = frozenset({"export_statement", "template_declaration", "lexical_declaration", "variable_declaration"})
_LEADS = re.compile(r"comment|attribute|annotation|decorator")
_NAMES = re.compile(r"identifier|operator_name|destructor_name|^constant$")


def grammar_version() -> int:
    """Return a number for the set of installed grammars, which affects how files are read, or 0 without any."""
    if find_spec("tree_sitter") is None:
        return 0
    modules = [f"tree_sitter_{name.partition('.')[0]}" for name in _GRAMMARS.values()]
    installed = sum(1 << bit for bit, module in enumerate(modules) if find_spec(module) is not None)
    return installed * 100 + VERSION if installed else 0


def mixed_version(version: int) -> int:
    """Return the version of source files that were not all read with the same set of grammars, lastly with this one."""
    return (version // 100 | _MIXED) * 100 + VERSION


def types_read_otherwise(version: int) -> frozenset[str] | None:
    """Return the media types of source files that were read with other grammars in this version of a set.

    None if the same grammars would find other definitions, too.
    """
    current = grammar_version()
    if version and current and version % 100 != current % 100:
        return None
    differing = version // 100 ^ current // 100
    if version // 100 & _MIXED:
        return frozenset(_GRAMMARS)
    types = [media_type for bit, media_type in enumerate(_GRAMMARS) if differing >> bit & 1]
    # The grammar of C++ reads headers, whose type is that of C.
    return frozenset([*types, *(["text/x-c"] if "text/x-c++" in types else [])])


def find_definitions(text: str, media_type: str) -> list[Definition]:
    """Return the definitions in a source file, including the comments above them, in order, outer definitions first.

    Without a grammar, or in a file that is too large, there are none.
    """
    language = _language(media_type) if len(text) <= MAX_CHARACTERS else None
    if language is None:
        return []
    import tree_sitter  # noqa: PLC0415 - an extra

    data = text.encode()
    lines = LineMap(text)
    rows = set()
    # The first row of each comment or attribute on lines of its own, by its last row.
    lead_rows: dict[int, int] = {}
    for node in _walk_nodes(tree_sitter.Parser(language).parse(data)):
        kind = node.type
        if _is_lead(kind):
            if _is_alone_on_lines(node, data):
                lead_rows[_last_row(node)] = node.start_point.row
        elif _is_definition(node, kind, media_type) and (name := _name(node)):
            first, last = _rows(node, lead_rows)
            if last - first + 1 >= _MIN_LINES:
                rows.add((first, min(last, len(lines) - 1), name))
    return list(_to_definitions(sorted(rows, key=lambda row: (row[0], -row[1], row[2])), lines))


@cache
def _language(media_type: str) -> Any | None:
    if media_type not in _GRAMMARS:
        return None
    name, _, function = _GRAMMARS[media_type].partition(".")
    try:
        import tree_sitter  # noqa: PLC0415

        grammar = importlib.import_module(f"tree_sitter_{name}")
        return tree_sitter.Language(getattr(grammar, function or "language")())
    except (ImportError, AttributeError, ValueError, TypeError):  # missing, or built for another version
        return None


def _walk_nodes(tree: Any) -> Iterator[Any]:
    """Yield the named nodes in order, down to a maximum depth; a query takes quadratic time on nested brackets."""
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
    """Whether a node of this kind belongs to a definition directly below it."""
    return _LEADS.search(kind) is not None


def _is_definition(node: Any, kind: str, media_type: str) -> bool:
    if kind in _WITH_BODY:
        return node.child_by_field_name("body") is not None
    if kind in _FUNCTION_FIELDS:
        value = node.child_by_field_name(_FUNCTION_FIELDS[kind])
        return value is not None and value.type in _FUNCTIONS
    return kind in _DEFINITIONS and not (kind == "property_declaration" and media_type in _NO_PROPERTIES)


def _name(node: Any) -> str:
    """Return the name of a definition on one line, such as "Boat.row" for a method outside its type, or ""."""
    if node.type == "impl_item":
        kind, trait = node.child_by_field_name("type"), node.child_by_field_name("trait")
        return f"{_text(trait)} for {_text(kind)}" if trait is not None else _text(kind)
    child = node.child_by_field_name("name") or node.child_by_field_name("left") or _declared(node) or _first_name(node)
    if child is None:
        return "init" if node.type == "init_declaration" else ""
    receiver = node.child_by_field_name("receiver")
    owner = re.findall(r"\w+", _text(receiver).partition("[")[0])[-1:] if receiver is not None else []
    # After a macro, the type may seem to be part of the name.
    name = _text(child) if _text(child).startswith("operator") else _text(child).rpartition(" ")[2]
    return "" if name in _KEYWORDS else ".".join([*owner, name])


def _declared(node: Any) -> Any | None:
    """Return the name inside a C declarator: the f of `int *f(int a)`."""
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and not _NAMES.search(declarator.type):
        inner = declarator.child_by_field_name("declarator")
        if inner is None:
            return _first_name(declarator)
        declarator = inner
    return declarator


def _first_name(node: Any) -> Any | None:
    return next((child for child in node.named_children if _NAMES.search(child.type)), None)


def _text(node: Any) -> str:
    return " ".join(node.text[:1000].decode(errors="replace").split())[:_MAX_NAME]


def _rows(node: Any, lead_rows: Mapping[int, int]) -> tuple[int, int]:
    """Return the first and last row of a definition (from 0), with the comments and attributes directly above it."""
    while (parent := node.parent) is not None and (
        parent.type in _WRAPPERS or (parent.type == "type_declaration" and parent.named_child_count == 1)
    ):
        node = parent
    first = node.start_point.row
    while first - 1 in lead_rows:
        first = lead_rows[first - 1]
    return first, _last_row(node)


def _is_alone_on_lines(node: Any, data: bytes) -> bool:
    """Whether nothing else is on a node's lines."""
    start, end = node.start_byte, node.end_byte
    line_end = data.find(b"\n", end) if node.end_point.column else end
    before, after = data[start - node.start_point.column : start], data[end : line_end if line_end >= 0 else len(data)]
    return not before.strip() and not after.strip()


def _last_row(node: Any) -> int:
    """Return the last row of a node; a node that includes a final newline does not end on the next row."""
    row: int = node.end_point.row
    return row - 1 if node.end_point.column == 0 and row > node.start_point.row else row


def _to_definitions(rows: Sequence[tuple[int, int, str]], lines: LineMap) -> Iterator[Definition]:
    """Convert rows to characters and add enclosing names, without definitions that equal or end after their parent."""
    enclosing: list[tuple[int, int, str]] = []
    for first, last, name in rows:
        while enclosing and enclosing[-1][1] < first:
            enclosing.pop()
        if enclosing and (last > enclosing[-1][1] or (first, last) == enclosing[-1][:2]):
            continue
        enclosing.append((first, last, name))
        if len(enclosing) <= _MAX_DEPTH:
            yield lines.span(first + 1)[0], lines.span(last + 1)[1], tuple(part for _, _, part in enclosing)
