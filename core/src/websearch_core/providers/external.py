"""External: any service that answers a search with JSON, by declaration alone.

Your settings say how it is asked, and where its answer has what. A settings file that
was merely found cannot declare a service. The declaration is checked when a provider is
made of it; what an answer lacks is an empty field. JSON is
https://www.rfc-editor.org/rfc/rfc8259.
"""

from __future__ import annotations
import re
from collections.abc import Mapping
from dataclasses import field
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, PlainValidator, SecretStr

from websearch_core import provider as kit
from websearch_core.errors import BadResponse, ConfigurationError
from websearch_core.keys._keys import ApiKey
from websearch_core.provider._declare import Destination, KeyHeader, check_base_url

_OPTIONS = kit.SearchQuery.model_fields.keys() - {
    "text",
    "extra",
    "unsupported",
    "max_snippet_chars",
}


def _check_url(value: str) -> str:
    if "?" in value:
        raise ValueError(
            "must end before the ?: parameters belong in constants, a key in api_key "
            "with key_parameter"
        )
    return check_base_url(value)


def _check_path(value: str) -> str:
    if not re.fullmatch(r"([^.\s]+(\.[^.\s]+)*)?", value):
        raise ValueError("must be names with dots between them, such as data.items")
    return value


_Path = Annotated[str, AfterValidator(_check_path)]
_Name = Annotated[_Path, Field(min_length=1)]


@kit.provider
class External:
    """Searches with a service that you declare.

    A path names what is inside objects: ``data.items``. Those of a result's fields
    begin at the result.

    Args:
        base_url: The URL that searches are sent to.
        api_key: The key of the service, if it has any.
        method: ``GET`` sends the parameters in the URL, ``POST`` as JSON.
        parameters: The service's name for the ``query``, and for each option of a
            search that it supports, such as ``limit``, ``page``, ``language`` or
            ``time_range``; with ``POST``, a path.
        constants: More parameters, which are sent as they are.
        key_header: The header that the key is sent in; in ``Authorization``, as a
            bearer token.
        key_parameter: The parameter of the URL that the key is sent in, instead of a
            header.
        results: The path of the list of results; empty if the answer is that list.
        title: The path of a result's title.
        url: The path of its URL.
        snippet: The path of its snippet, as plain text or HTML.
        content: The path of the text of its page, as Markdown, if the service returns
            that.
        published: The path of its date, in any common form.
        author: The path of its author.
        score: The path of its score.
        answer: The path of a direct answer.
    """

    name = "external"
    label = "External service"
    # an instance has those that it declares
    options: ClassVar[frozenset[str]] = frozenset()

    # closed to files that were merely found
    base_url: Annotated[str, AfterValidator(_check_url), Destination()]
    api_key: Annotated[
        Annotated[SecretStr, PlainValidator(ApiKey.of)] | None,
        kit.Env("EXTERNAL_API_KEY"),
    ] = None
    method: Literal["GET", "POST"] = "GET"
    parameters: Mapping[str, _Name] = field(
        default_factory=lambda: {"query": "q"}, hash=False
    )
    constants: Mapping[str, Any] = field(default_factory=dict, hash=False)
    key_header: KeyHeader = "Authorization"
    key_parameter: str | None = None
    results: _Path = "results"
    title: _Path = "title"
    url: _Path = "url"
    snippet: _Path = "snippet"
    content: _Path = "content"
    published: _Path = "published"
    author: _Path = "author"
    score: _Path = "score"
    answer: _Path = "answer"

    def __post_init__(self) -> None:
        """Refuse parameters for what is not an option of a search."""
        if "query" not in self.parameters:
            raise ConfigurationError(
                "external: parameters: say how the service calls the query, as in "
                "{query = 'q'}"
            )
        if unknown := sorted(self.parameters.keys() - _OPTIONS - {"query"}):
            raise ConfigurationError(
                f"external: parameters: {', '.join(unknown)}: not an option of a "
                f"search; those are "
                f"{', '.join(sorted(_OPTIONS))}; what is always the same belongs in "
                f"constants"
            )
        # in a body, what is inside of another counts too
        end = "." if self.method == "POST" else "\n"
        sent = sorted(
            name + end
            for name in filter(None, (*self.parameters.values(), self.key_parameter))
        )
        if clash := next(
            (name for name, other in pairwise(sent) if other.startswith(name)), ""
        ):
            raise ConfigurationError(
                f"external: parameters: {clash[:-1]} would be sent twice"
            )
        object.__setattr__(
            self, "options", frozenset(self.parameters) - {"query", "limit"}
        )

    def search(self, query: kit.SearchQuery, /) -> kit.Flow[kit.SearchResponse]:
        """Search."""
        kit.check_options(query, self)
        response = yield self._request(query)
        body = self._body(response)
        # without a path, the body is the list
        items, notes = kit.take_results(body, self.name, self.results)
        if notes:
            notes = (
                f"{self.name}'s answer has no list at {self.results}: is it elsewhere?",
            )
        if items and not any(kit.find_value(item, self.url) for item in items):
            raise BadResponse(
                f"external search failed: no result has a URL at {self.url}",
                provider=self.name,
            )
        names = ("title", "url", "snippet", "content", "published", "author", "score")
        facts: dict[str, Any] = {
            "answer": kit.as_text(kit.find_value(body, self.answer)),
            "notes": notes,
        }
        return kit.parse_search(
            self,
            query,
            body,
            items,
            **facts,
            **{name: getattr(self, name) for name in names},
        )

    def _request(self, query: kit.SearchQuery) -> kit.Request:
        asked = {
            "query": query.text,
            "limit": query.limit,
            **query.model_dump(mode="json", include=set(self.options)),
        }
        sent: dict[str, Any] = dict(self.constants)
        for name, path in self.parameters.items():
            if name in {"query", "limit"} or name in query.requested():
                _put(
                    sent,
                    path.split(".") if self.method == "POST" else [path],
                    asked[name],
                )
        sent = kit.with_extra(sent, query)
        in_header, in_url = kit.place_key(self)
        return kit.Request(
            url=self.base_url,
            method=self.method,
            params={}
            if self.method == "POST"
            else {name: _as_text(value) for name, value in sent.items()},
            json=sent if self.method == "POST" else None,
            headers={"Accept": "application/json", **in_header},
            secret_params=in_url,
        )

    def _body(self, response: kit.Response) -> Any:
        """Return the answer: an object, or a list if that is what the declaration
        says.
        """
        found = (
            None
            if response.truncated or response.status >= 300
            else kit.as_json(response)
        )
        if not isinstance(found, list):
            return kit.decode(response, self)
        if self.results:
            raise BadResponse(
                "external search failed: its answer is a list, so results has to be "
                "empty",
                provider=self.name,
            )
        return found


def _put(body: dict[str, Any], path: list[str], value: Any) -> None:
    for key in path[:-1]:
        inner = dict(
            kit.as_object(body.get(key))
        )  # a copy: the constants stay as they are
        body[key] = inner
        body = inner
    body[path[-1]] = value


def _as_text(value: Any) -> str:
    """Return *value* as it is written in a URL."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
