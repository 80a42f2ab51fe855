"""GitHub: repositories, code and issues.

Code needs a token: ``topic="code"`` searches code if there is one, and repositories
otherwise. The query may have GitHub's qualifiers, such as ``language:python`` or
``repo:owner/name``. A date is when a repository was last pushed to, or an issue opened.
"""

from __future__ import annotations
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from websearch_core import provider as kit
from websearch_core.errors import RateLimited, Unavailable, UnsupportedOption

_Kind = Literal["repositories", "code", "issues"]

_SECONDARY_WAIT = 60.0  # seconds; what GitHub asks for where it names no time
_HEADERS = {
    "Accept": "application/vnd.github.text-match+json",
    "X-GitHub-Api-Version": "2022-11-28",
}
_PERIOD = ("time_range", "after", "before")
_DATES: dict[_Kind, str] = {"repositories": "pushed", "issues": "created"}


@kit.provider
class GitHub:
    """Searches GitHub.

    Args:
        api_key: A token; optional, except for code. It needs no permissions for what is
            public.
        base_url: Where the API is; for GitHub Enterprise Server,
            ``https://HOST/api/v3``.
        kind: What to search; unset, the topic of the query decides.
    """

    name = "github"
    options: ClassVar[frozenset[str]] = frozenset(
        {"topic", "time_range", "after", "before", "page"}
    )
    emulated: ClassVar[frozenset[str]] = frozenset({"time_range"})  # sent as dates
    topics: ClassVar[frozenset[str]] = frozenset({"code"})
    limits: ClassVar[kit.Limits] = kit.Limits(results_per_request=100, results=1000)
    about: ClassVar[kit.Service] = kit.Service(
        api_urls=("https://docs.github.com/en/rest/search/search",),
        signup_url="https://github.com/settings/personal-access-tokens",
        free_allowance="10 searches a minute without a token, 30 with one, of code 10",
        price="free",
        prices=kit.FREE,
        as_of="2026-11",
        compared="the pages of version 2022-11-28 of its API, 2026-11",
    )

    api_key: Annotated[kit.Key | None, kit.Env("GITHUB_TOKEN", "GH_TOKEN")] = None
    base_url: kit.BaseUrl = "https://api.github.com"
    kind: Annotated[_Kind | None, kit.ProjectFile()] = None

    @kit.page_by_page
    def search(
        self, query: kit.SearchQuery, number: int, size: int
    ) -> kit.Flow[tuple[kit.SearchResponse, bool]]:
        """Search, page by page until the limit is reached."""
        kind = self._choose_kind(query)
        params = {
            "q": _write_query(query, kind),
            "per_page": size,
            "page": number + 1 if number else None,
        }
        request = kit.get_json(self, f"search/{kind}", params, query, headers=_HEADERS)
        body = self._decode((yield request))
        page = kit.parse_search(
            self,
            query,
            body,
            path="items",
            title=_find_title,
            url="html_url",
            snippet=_find_snippet,
            published=("pushed_at", "created_at"),
            author=("user.login", "owner.login", "repository.owner.login"),
            snippet_length=600,
        )
        if body.get("incomplete_results") is True:
            if not page.results:
                raise Unavailable(
                    "github search failed: it ran out of time", provider=self.name
                )
            note = "github ran out of time: results may be missing"
            page = page.with_notes(note, partial=True)
        total = body.get("total_count")
        return page, isinstance(total, int) and (number + 1) * size < total

    def _choose_kind(self, query: kit.SearchQuery) -> _Kind:
        if self.kind:
            return self.kind
        if query.topic == "code" and self.api_key:
            return "code"
        return "repositories"

    def _decode(self, response: kit.Response) -> dict[str, Any]:
        """Return the answer, or raise the error in it.

        That the rate limit is reached, GitHub says with 403, too.
        """
        if response.status != 403 or not _is_about_rate(response):
            return kit.decode(response, self, detail=_join_reasons)
        words = kit.find_message(kit.as_json(response))
        error = kit.error_for(response, self, detail=words, kind=RateLimited)
        if not error.retry_after:
            resets = [limit.reset for limit in response.rate_limits]
            seconds = [reset for reset in resets if reset is not None]
            error.retry_after = next(iter(seconds), _SECONDARY_WAIT)
        raise error


def _is_about_rate(response: kit.Response) -> bool:
    if b"rate limit" in response.content[:2000]:
        return True
    if "x-ratelimit-remaining" not in response.headers:
        return False
    return any(limit.is_exhausted for limit in response.rate_limits)


def _write_query(query: kit.SearchQuery, kind: _Kind) -> str:
    """Return the query with the qualifiers that express its options."""
    first, last = kit.date_range(query)
    words = query.text
    if first or last:
        if kind not in _DATES:
            period = [name for name in _PERIOD if getattr(query, name)]
            raise UnsupportedOption.by(GitHub, "has no dates of code", *period)
        words += f" {_DATES[kind]}:{first or '*'}..{last or '*'}"
    has_type = "is:" in words or "type:" in words
    if kind == "issues" and not has_type:
        words += " is:issue"  # GitHub searches either issues or pull requests
    return words


def _find_title(item: Mapping[str, Any]) -> Any:
    """Return the name of a repository, the repository and path of a file, or the title
    of an issue.
    """
    path = kit.as_text(item.get("path"))
    if path is None:
        return item.get("full_name") or item.get("title") or item.get("name")
    repository = kit.find_value(item, "repository.full_name")
    return f"{repository}: {path}" if repository else path


def _find_snippet(item: Mapping[str, Any]) -> str:
    """Return the description of a repository, the beginning of an issue, or the
    matching lines of a file.
    """
    text = kit.as_text(item.get("description")) or kit.as_text(item.get("body"))
    if text:
        return text
    matches = kit.as_objects(item.get("text_matches"))
    fragments = [kit.as_text(match.get("fragment")) for match in matches]
    return " … ".join(filter(None, fragments))


def _join_reasons(body: Any) -> str:
    """Return the message with the reasons in it: ``Validation Failed: The search is
    longer than 256 characters.``
    """
    problem = kit.as_object(body)
    reasons = kit.as_objects(problem.get("errors"))
    messages = [kit.as_text(part.get("message")) for part in [problem, *reasons]]
    return ": ".join(filter(None, messages))
