"""Parse XML into elements with local names; files that declare entities are refused, and nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterator
from html.entities import entitydefs
from xml.etree.ElementTree import Element, ParseError, XMLParser
from xml.parsers import expat

from corpus.errors import Unreadable


def parse_xml(data: bytes) -> Element:
    """Parse XML; elements and attributes lose their namespaces, but a relationship's id becomes `r:id`.

    Raises:
        Unreadable: It is malformed, or declares entities, which can be nested into billions of letters.
    """
    entity_check = expat.ParserCreate()
    entity_check.EntityDeclHandler = _refuse_entities
    parser = XMLParser()  # noqa: S314 - entity declarations are refused first
    # Old books use HTML entities without declaring them.
    parser.entity.update(entitydefs)
    try:
        entity_check.Parse(data, True)  # noqa: FBT003 - the parser's own signature
        parser.feed(data)
        root: Element = parser.close()
    except (expat.ExpatError, ParseError, LookupError, ValueError) as error:
        raise Unreadable("damaged: XML is not well formed") from error
    names: dict[str, str] = {}
    for element in root.iter():
        tag = element.tag
        element.tag = names.get(tag) or names.setdefault(tag, tag.rpartition("}")[2])
        if (keys := element.keys()) and "{" in "".join(keys):
            attributes = {_local_name(key): value for key, value in element.items()}
            element.attrib.clear()
            element.attrib.update(attributes)
    return root


def _refuse_entities(*declared: object) -> None:
    raise Unreadable("declares XML entities, which are not supported")


def _local_name(key: str) -> str:
    name = key.rpartition("}")[2]
    return "r:id" if name == "id" and "relationships" in key else name


def find_all(element: Element | None, *names: str, skip: frozenset[str] = frozenset()) -> Iterator[Element]:
    """Yield descendants with these names in order, without descending into them or into elements named in `skip`."""
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


def find_first(element: Element | None, name: str) -> Element | None:
    """Return the first descendant with this name."""
    return next(find_all(element, name), None)


def value_at(element: Element, path: str) -> str:
    """Return the attribute `val` of the first element at a path, "" if there is none."""
    target = element.find(path)
    return "" if target is None else target.get("val", "")


def whole_number(text: str, *, default: int = 0) -> int:
    """Return the number that an attribute states, or the default if it is none of up to eight digits."""
    return int(text) if text.isdecimal() and len(text) < 9 else default
