"""External: any service that answers a search with JSON, by declaration alone.

Your settings say how it is asked, and where its answer has what. A settings file that
was merely found cannot declare a service. What an answer lacks is an empty field. JSON
is https://www.rfc-editor.org/rfc/rfc8259.
"""

from __future__ import annotations
import re
from collections.abc import Callable, Mapping
from dataclasses import field, replace
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
        Annotated[SecretStr | str | Callable[[], str], PlainValidator(ApiKey.of)]
        | None,
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
                "external: parameters: give the name of the service's query parameter, "
                "as in {query = 'q'}"
            )
        unknown = sorted(self.parameters.keys() - _OPTIONS - {"query"})
        if unknown:
            raise ConfigurationError(
                f"external: parameters: {', '.join(unknown)}: not an option of a "
                f"search; those are {', '.join(sorted(_OPTIONS))}; what is always the "
                f"same belongs in constants"
            )
        clash = self._find_clash()
        if clash is not None:
            raise ConfigurationError(
                f"external: parameters: {clash} would be sent twice"
            )
        options = frozenset(self.parameters) - {"query", "limit"}
        object.__setattr__(self, "options", options)

    def _find_clash(self) -> str | None:
        """Return the name of a parameter that would be sent twice. In a body, a name
        inside of another counts, too.
        """
        end = "." if self.method == "POST" else "\n"
        names = [*self.parameters.values(), self.key_parameter]
        paths = sorted(f"{name}{end}" for name in names if name)
        for path, following in pairwise(paths):
            if following.startswith(path):
                return path.removesuffix(end)
        return None

    def search(self, query: kit.SearchQuery, /) -> kit.Flow[kit.SearchResponse]:
        """Search."""
        kit.check_options(query, self)
        body = self._decode((yield self._request(query)))
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
        return kit.parse_search(
            self,
            query,
            body,
            items,
            title=self.title,
            url=self.url,
            snippet=self.snippet,
            content=self.content,
            published=self.published,
            author=self.author,
            score=self.score,
            answer=kit.as_text(kit.find_value(body, self.answer)),
            notes=notes,
        )

    def _request(self, query: kit.SearchQuery) -> kit.Request:
        parameters = kit.with_extra(self._parameters(query), query)
        key_headers, key_params = kit.place_key(self)
        request = kit.Request(
            url=self.base_url,
            method=self.method,
            headers={"Accept": "application/json", **key_headers},
            secret_params=key_params,
        )
        if self.method == "POST":
            return replace(request, json=parameters)
        params = {name: _write_value(value) for name, value in parameters.items()}
        return replace(request, params=params)

    def _parameters(self, query: kit.SearchQuery) -> dict[str, Any]:
        values = query.model_dump(mode="json", include=set(self.options))
        values |= {"query": query.text, "limit": query.limit}
        names = {"query", "limit"} | query.requested()
        parameters = dict(self.constants)
        for name, path in self.parameters.items():
            if name in names:
                keys = path.split(".") if self.method == "POST" else [path]
                _put(parameters, keys, values[name])
        return parameters

    def _decode(self, response: kit.Response) -> Any:
        """Return the answer: an object, or a list if that is what the declaration
        says.
        """
        is_whole = not response.truncated and response.status < 300
        body = kit.as_json(response) if is_whole else None
        if not isinstance(body, list):
            return kit.decode(response, self)
        if self.results:
            raise BadResponse(
                "external search failed: its response is a list, so results has to be "
                "empty",
                provider=self.name,
            )
        return body


def _put(body: dict[str, Any], path: list[str], value: Any) -> None:
    for key in path[:-1]:
        # a copy: the constants stay as they are
        inner = dict(kit.as_object(body.get(key)))
        body[key] = inner
        body = inner
    body[path[-1]] = value


def _write_value(value: Any) -> str:
    """Return *value* as it is written in a URL."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
