"""The server: lists and calls tools, and lists and reads documents and passages."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import anyio
import mcp_types as types
from anyio.to_thread import run_sync
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from corpus.errors import QAError
from qa.mcp.collections import NamedCollections
from qa.mcp.resources import TEMPLATES, list_documents, read_resource
from qa.mcp.tools import check_arguments, tools

# Seconds until the models are loaded, so that the first responses need not wait for them.
_OPENING_DELAY = 0.1
_INSTRUCTIONS = (
    "Answers from documents on this machine ({}), offline. `ask` quotes the answer and cites its source; if `found` is "
    "false, say so rather than guess. `show` reads around a citation."
)

_Context = ServerRequestContext[Any, Any]
_T = TypeVar("_T")


def serve_agents(roots: Sequence[Path], *, follow: bool, version: str) -> None:
    """Serve collections on stdin and stdout until stdin ends; all other output goes to stderr."""
    anyio.run(_serve, agent_server(NamedCollections(roots, follow=follow), version))


async def _serve(server: Server[Any]) -> None:
    async with stdio_server() as (receive, send):
        await server.run(receive, send, server.create_initialization_options())


def agent_server(collections: NamedCollections, version: str) -> Server[Any]:
    """Return a server of collections; it closes them when it ends."""
    handlers = Handlers(collections)
    return Server(
        "qa",
        version=version,
        title="qa",
        instructions=_INSTRUCTIONS.format(", ".join(collections.names)),
        lifespan=handlers.lifespan,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
    )


class Handlers:
    """Handles all kinds of requests, in threads."""

    def __init__(self, collections: NamedCollections) -> None:
        self._collections = collections
        self._tools = tools(collections.names)

    @asynccontextmanager
    async def lifespan(self, _server: Server[Any]) -> AsyncIterator[None]:
        """Open the collections in the background while requests are answered."""
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._open)
                yield
                group.cancel_scope.cancel()
        finally:
            self._collections.close()

    async def _open(self) -> None:
        await anyio.sleep(_OPENING_DELAY)
        await _in_thread(self._collections.open_all)

    async def list_tools(self, _ctx: _Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """Describe the tools."""
        return types.ListToolsResult(tools=list(self._tools.values()))

    async def call_tool(self, _ctx: _Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Call a tool; its errors are results, so that the agent can correct the call."""
        try:
            body = await _in_thread(partial(self._call, params.name, params.arguments or {}))
        except QAError as error:
            return types.CallToolResult(content=[types.TextContent(text=str(error))], is_error=True)
        text = json.dumps(body, ensure_ascii=False)
        return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=body)

    def _call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if name not in self._tools:
            raise MCPError(code=types.INVALID_PARAMS, message=f"no tool {name}")
        checked = check_arguments(self._tools[name], arguments)
        with self._collections.reading(checked.pop("collection", None)) as served:
            return served.body(name, checked)

    async def list_resources(
        self, _ctx: _Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """List documents, a page at a time."""
        cursor = params.cursor if params is not None else None
        return await _map_errors(partial(list_documents, self._collections, cursor))

    async def list_templates(
        self, _ctx: _Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """List the URI templates of documents and passages."""
        return types.ListResourceTemplatesResult(resource_templates=list(TEMPLATES))

    async def read_resource(self, _ctx: _Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Read a document or a passage as text."""
        return await _map_errors(partial(read_resource, self._collections, str(params.uri)))


async def _in_thread(work: Callable[[], _T]) -> _T:
    return await run_sync(work, abandon_on_cancel=True)


async def _map_errors(work: Callable[[], _T]) -> _T:
    try:
        return await _in_thread(work)
    except QAError as error:
        raise MCPError(code=types.INVALID_PARAMS, message=str(error)) from error
