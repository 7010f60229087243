"""Parse XML into elements with local names; a file that declares entities is refused, and nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterator
from html.entities import entitydefs
from xml.etree.ElementTree import Element, ParseError, XMLParser
from xml.parsers import expat

from corpus.errors import Unreadable


def parse_xml(data: bytes) -> Element:
    """Parse XML; names of elements and attributes lose their namespaces, but a relationship's id is `r:id`.

    Raises:
        Unreadable: It is malformed, or declares entities, which can be nested into billions of letters.
    """
    check = expat.ParserCreate()
    check.EntityDeclHandler = _refuse
    parser = XMLParser()  # noqa: S314 - entity declarations are refused first
    # Old books use these entities without declaring them.
    parser.entity.update(entitydefs)
    try:
        check.Parse(data, True)  # noqa: FBT003 - the parser's own signature
        parser.feed(data)
        root: Element = parser.close()
    except (expat.ExpatError, ParseError, LookupError, ValueError) as error:
        raise Unreadable("damaged: XML is not well formed") from error
    names: dict[str, str] = {}
    for element in root.iter():
        tag = element.tag
        element.tag = names.get(tag) or names.setdefault(tag, tag.rpartition("}")[2])
        if (keys := element.keys()) and "{" in "".join(keys):
            attributes = {_local(key): value for key, value in element.items()}
            element.attrib.clear()
            element.attrib.update(attributes)
    return root


def _refuse(*declared: object) -> None:
    raise Unreadable("declares XML entities, which are not supported")


def _local(key: str) -> str:
    name = key.rpartition("}")[2]
    return "r:id" if name == "id" and "relationships" in key else name


def each(element: Element | None, *names: str, skip: frozenset[str] = frozenset()) -> Iterator[Element]:
    """Yield descendants with these names in order, without descending into them or into elements in `skip`."""
    pending = [] if element is None else [iter(element)]
    while pending:
        for child in pending[-1]:
            if child.tag in names:
                yield child
            elif child.tag not in skip:
                pending.append(iter(child))
                break
        else:
            pending.pop()


def first(element: Element | None, name: str) -> Element | None:
    """Return the first descendant with this name."""
    return next(each(element, name), None)
