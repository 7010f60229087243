"""XML as a tree of elements by their local names; entities that a file declares are refused, nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser
from xml.parsers import expat

from corpus.errors import Unreadable

_BROKEN = "damaged: XML in it is not well formed"


def parse_xml(data: bytes) -> Element:
    """Parse XML; names of elements and attributes lose their namespaces, but `id` of another namespace is `r:id`.

    Raises:
        Unreadable: It is not well formed, or declares entities, which can be nested into billions of letters.
    """
    _check(data)
    parser = XMLParser()  # noqa: S314 - what declares entities was refused
    try:
        parser.feed(data)
        root: Element = parser.close()
    except (ParseError, LookupError, ValueError):
        return _leniently(data)
    names: dict[str, str] = {}
    for element in root.iter():
        tag = element.tag
        element.tag = names.get(tag) or names.setdefault(tag, tag.rpartition("}")[2])
        if (keys := element.keys()) and "{" in "".join(keys):
            attributes = {_local(key): value for key, value in element.items()}
            element.attrib.clear()
            element.attrib.update(attributes)
    return root


def _check(data: bytes) -> None:
    """Go through XML without making anything of it."""
    parser = expat.ParserCreate()
    parser.EntityDeclHandler = _refuse
    _feed(parser, data)


def _refuse(*declared: object) -> None:
    raise Unreadable("declares entities of its own, which are not expanded")


def _feed(parser: expat.XMLParserType, data: bytes) -> None:
    try:
        parser.Parse(data, True)  # noqa: FBT003 - the parser's own signature
    except (expat.ExpatError, LookupError) as error:
        raise Unreadable(_BROKEN) from error


def _leniently(data: bytes) -> Element:
    """The same tree in more time, where references to entities that nothing declares are passed over."""
    builder = TreeBuilder()
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True

    def start(name: str, attributes: dict[str, str]) -> None:
        builder.start(name.rpartition("}")[2], {_local(key): value for key, value in attributes.items()})

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda name: builder.end(name.rpartition("}")[2])
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = _refuse
    _feed(parser, data)
    try:
        root: Element = builder.close()
    except AssertionError as error:
        raise Unreadable(_BROKEN) from error
    return root


def _local(key: str) -> str:
    name = key.rpartition("}")[2]
    return "r:id" if name == "id" and "relationships" in key else name


def each(element: Element, *names: str, leave: frozenset[str] = frozenset()) -> Iterator[Element]:
    """Elements of these names below another, in order; nothing inside those that are found or left."""
    pending = [iter(element)]
    while pending:
        for child in pending[-1]:
            if child.tag in names:
                yield child
            elif child.tag not in leave:
                pending.append(iter(child))
                break
        else:
            pending.pop()


def first(element: Element, name: str) -> Element | None:
    """The first element of that name below another."""
    return next(each(element, name), None)
