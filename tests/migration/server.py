"""A server on this machine that answers as the search services do, and has the pages of
an invented site.

Old and new code ask it for the same things. `send_here` in `new.py` sends their
requests to it, whatever host they are for; the header ``Host`` says which service or
site is meant. All services know the same three pages.
"""

from __future__ import annotations
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.server import Received, Server, head, http

SITE = "http://harbour.example"
HITS = [
    {
        "title": "Tide tables of Ellersund",
        "url": f"{SITE}/tides",
        "text": "High water at Ellersund is at 04:10.",
    },
    {
        "title": "Moorings",
        "url": f"{SITE}/moorings",
        "text": "Visitors moor at the eastern quay.",
    },
    {
        "title": "Fees",
        "url": f"{SITE}/fees",
        "text": "A night costs 12 crowns for each metre.",
    },
]
# in the menu and in the footer of every page
NOISE = ("Charts for sale", "Follow the harbour office")
_FIRST = {
    "title": "The harbour office",
    "url": f"{SITE}/",
    "text": "It is open from eight to four.",
}
FACTS = tuple(
    value for hit in HITS for value in (hit["title"], hit["url"], hit["text"])
)
URLS = frozenset(hit["url"] for hit in HITS)
_LONG = "The harbour office measures this at the head of the pier, each hour, and publishes the mean of the last month."


def _page(hit: Mapping[str, str], script: bool = False) -> str:
    main = f"<h1>{hit['title']}</h1><p>{hit['text']} {_LONG}</p><p>{_LONG}</p>"
    shown = (
        f"<script>document.querySelector('main').innerHTML = {json.dumps(main)}</script>"
        if script
        else ""
    )
    links = "".join(
        f"<li><a href='{urlsplit(each['url']).path}'>Part {n}</a></li>"
        for n, each in enumerate(HITS, 1)
    )
    return (
        f"<!DOCTYPE html><html lang='en'><head><title>{hit['title']}</title></head><body>"
        f"<nav><ul><li><a href='/shop'>{NOISE[0]}</a></li>{links}</ul></nav>"
        f"<main><article>{'' if script else main}</article></main><footer><p>{NOISE[1]}</p></footer>{shown}</body></html>"
    )


def _sitemap() -> str:
    urls = "".join(f"<url><loc>{hit['url']}</loc></url>" for hit in HITS)
    return f"<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{urls}</urlset>"


_PAGES: dict[str, tuple[int, str, str]] = {
    **{urlsplit(hit["url"]).path: (200, "text/html", _page(hit)) for hit in HITS},
    "/": (200, "text/html", _page(_FIRST)),
    "/app": (200, "text/html", _page(HITS[0], script=True)),
    "/broken": (
        500,
        "text/html",
        _page({"title": "Out of order", "text": "The server is down."}),
    ),
    "/sitemap.xml": (200, "application/xml", _sitemap()),
    "/robots.txt": (200, "text/plain", "User-agent: *\nAllow: /\n"),
}


def _rename(**names: str) -> list[dict[str, Any]]:
    """Return the hits with other names for their fields: ``title="title",
    link="url"``.
    """
    return [{theirs: hit[ours] for theirs, ours in names.items()} for hit in HITS]


def _markdown(hit: Mapping[str, str]) -> str:
    return f"# {hit['title']}\n\n{hit['text']} {_LONG}"


def _hit(url: str) -> Mapping[str, str]:
    return next((hit for hit in HITS if hit["url"] == url), _FIRST)


def _tavily(path: str, asked: dict[str, Any]) -> Any:
    if path == "/extract":
        urls = asked["urls"] if isinstance(asked["urls"], list) else [asked["urls"]]
        return {"results": [{"url": u, "raw_content": _markdown(_hit(u)), "images": []} for u in urls],
                "failed_results": [], "response_time": 0.1}  # fmt: skip
    if path == "/map":
        return {
            "base_url": asked["url"],
            "results": [hit["url"] for hit in HITS],
            "response_time": 0.1,
        }
    if path == "/crawl":
        return {"base_url": asked["url"], "response_time": 0.1,
                "results": [{"url": hit["url"], "raw_content": _markdown(hit)} for hit in HITS]}  # fmt: skip
    raw = asked.get("include_raw_content")
    results = [{**hit, "content": hit["text"], "score": 0.9, "raw_content": _markdown(hit) if raw else None}
               for hit in HITS[: asked.get("max_results") or 5]]  # fmt: skip
    answer = HITS[0]["text"] if asked.get("include_answer") else None
    return {"query": asked["query"], "answer": answer, "images": [], "follow_up_questions": None,
            "results": [{n: v for n, v in each.items() if n != "text"} for each in results], "response_time": 0.1}  # fmt: skip


def _exa(path: str, asked: dict[str, Any]) -> Any:
    def describe(hit: Mapping[str, str]) -> dict[str, Any]:
        return {"id": hit["url"], "title": hit["title"], "url": hit["url"], "score": 0.5, "publishedDate": None,
                "author": None, "text": hit["text"], "highlights": [hit["text"]], "highlightScores": [0.5]}  # fmt: skip

    found = (
        [_hit(u) for u in asked.get("urls") or asked.get("ids") or ()]
        if path == "/contents"
        else HITS
    )
    statuses = [{"id": hit["url"], "status": "success"} for hit in found]
    return {"requestId": "1", "results": [describe(hit) for hit in found][: asked.get("numResults", 10)],
            "statuses": statuses, "costDollars": {"total": 0.005}}  # fmt: skip


def _brave(path: str, asked: dict[str, Any]) -> Any:
    found = _rename(title="title", url="url", description="text")[
        : int(asked.get("count") or 20)
    ]
    if "/news/" in path:
        return {"type": "news", "query": {"original": asked["q"]}, "results": found}
    return {
        "type": "search",
        "query": {"original": asked["q"]},
        "web": {"type": "search", "results": found},
    }


def _serper(path: str, asked: dict[str, Any]) -> Any:
    found = _rename(title="title", link="url", snippet="text")[
        : int(asked.get("num") or 10)
    ]
    ranked = [{**hit, "position": n} for n, hit in enumerate(found, 1)]
    if path == "/news":
        return {"searchParameters": {"q": asked["q"]}, "news": ranked}
    return {
        "searchParameters": {"q": asked["q"]},
        "answerBox": {"answer": HITS[0]["text"]},
        "organic": ranked,
    }


def _serpapi(_: str, asked: dict[str, Any]) -> Any:
    found = _rename(title="title", link="url", snippet="text")
    return {"search_metadata": {"status": "Success"}, "search_information": {"organic_results_state": "Results"},
            "answer_box": {"answer": HITS[0]["text"]},
            "organic_results": [{**hit, "position": n} for n, hit in enumerate(found, 1)]}  # fmt: skip


def _google(_: str, asked: dict[str, Any]) -> Any:
    found = _rename(title="title", link="url", snippet="text")[
        : int(asked.get("num") or 10)
    ]
    return {
        "kind": "customsearch#search",
        "items": found,
        "searchInformation": {"totalResults": "3"},
    }


def _bing(path: str, asked: dict[str, Any]) -> Any:
    if "/news/" in path:
        return {"value": _rename(name="title", url="url", description="text")}
    return {
        "webPages": {
            "value": _rename(name="title", url="url", snippet="text")[
                : int(asked.get("count") or 10)
            ]
        }
    }


def _searx(_: str, asked: dict[str, Any]) -> Any:
    found = [{**hit, "engine": "bing", "engines": ["bing"], "category": "general", "template": "default.html"}
             for hit in _rename(title="title", url="url", content="text")]  # fmt: skip
    return {"query": asked["q"], "number_of_results": 3, "results": found, "answers": [], "infoboxes": [],
            "suggestions": [], "corrections": [], "unresponsive_engines": []}  # fmt: skip


def _you(path: str, asked: dict[str, Any]) -> Any:
    if path == "/v1/contents":
        return [
            {"url": u, "title": _hit(u)["title"], "markdown": _markdown(_hit(u))}
            for u in asked["urls"]
        ]
    found = [
        {**hit, "snippets": [hit["description"]]}
        for hit in _rename(title="title", url="url", description="text")
    ]
    return {"hits": found, "results": {"web": found, "news": []},
            "metadata": {"search_uuid": "1", "query": asked.get("query"), "latency": 0.1}}  # fmt: skip


def _jina(_: str, asked: dict[str, Any]) -> Any:
    found = [{**hit, "content": hit["description"], "usage": {"tokens": 9}}
             for hit in _rename(title="title", url="url", description="text")]  # fmt: skip
    return {"code": 200, "status": 20000, "data": found}


def _mojeek(_: str, asked: dict[str, Any]) -> Any:
    found = _rename(title="title", url="url", desc="text")
    return {
        "response": {
            "status": "OK",
            "head": {"query": asked["q"], "return": 3, "results": 3},
            "results": found,
        }
    }


def _perplexity(_: str, asked: dict[str, Any]) -> Any:
    found = [{**hit, "date": "2026-05-02", "last_updated": "2026-09-11"}
             for hit in _rename(title="title", url="url", snippet="text")]  # fmt: skip
    return {
        "id": "1",
        "results": found[: asked.get("max_results") or 10],
        "server_time": None,
    }


def _parallel(path: str, asked: dict[str, Any]) -> Any:
    if "extract" in path:
        pages = [{"url": u, "title": _hit(u)["title"], "publish_date": None, "excerpts": [_hit(u)["text"]],
                  "full_content": _markdown(_hit(u))} for u in asked["urls"]]  # fmt: skip
        return {
            "extract_id": "1",
            "session_id": "1",
            "results": pages,
            "errors": [],
            "warnings": None,
            "usage": [],
        }
    found = [{**hit, "publish_date": None, "excerpts": [hit.pop("text")]}
             for hit in _rename(title="title", url="url", text="text")]  # fmt: skip
    return {
        "search_id": "1",
        "session_id": "1",
        "results": found,
        "warnings": None,
        "usage": [],
    }


def _firecrawl(path: str, asked: dict[str, Any]) -> Any:
    def scrape(hit: Mapping[str, str]) -> dict[str, Any]:
        about = {
            "title": hit["title"],
            "sourceURL": hit["url"],
            "url": hit["url"],
            "statusCode": 200,
        }
        return {"markdown": _markdown(hit), "metadata": about, "links": []}

    if path.endswith("/scrape"):
        return {"success": True, "data": scrape(_hit(asked["url"]))}
    if path.endswith("/map"):
        return {"success": True, "links": _rename(url="url", title="title")}
    if path.endswith("/search"):
        return {
            "success": True,
            "creditsUsed": 1,
            "data": {"web": _rename(title="title", url="url", description="text")},
        }
    if path.endswith("/crawl"):
        return {
            "success": True,
            "id": "1",
            "url": "https://api.firecrawl.dev/v2/crawl/1",
        }
    return {"success": True, "status": "completed", "total": 3, "completed": 3, "creditsUsed": 3,
            "expiresAt": "2026-12-01T00:00:00Z", "data": [scrape(hit) for hit in HITS]}  # fmt: skip


_ARTICLE = "https://en.wikipedia.org/wiki/"


def _wikipedia(path: str, asked: dict[str, Any]) -> Any:
    """Articles whose names are the titles of the hits."""
    if path.startswith("/wiki/"):
        return _page(next(hit for hit in HITS if _link(hit).endswith(path)))
    names = asked.get("titles", "").split("|")
    pages = [
        (n, hit)
        for n, hit in enumerate(HITS, 1)
        if hit["title"] in names or str(n) == asked.get("pageids")
    ]
    if asked.get("list") == "search":
        found = [{"ns": 0, "title": hit["title"], "pageid": n, "snippet": hit["text"], "timestamp": "2026-03-04T05:06:07Z"}
                 for n, hit in enumerate(HITS, 1)]  # fmt: skip
        return {"batchcomplete": True, "query": {"search": found}}
    described = {
        str(n): {"pageid": n, "ns": 0, "title": hit["title"], "extract": hit["text"], "fullurl": _link(hit),
                 "revisions": [{"revid": 1, "parentid": 0, "*": hit["text"]}]}
        for n, hit in pages
    }  # fmt: skip
    return {"batchcomplete": "", "query": {"pages": described}}


def _link(hit: Mapping[str, str]) -> str:
    return _ARTICLE + hit["title"].replace(" ", "_")


def _arxiv(_: str, asked: dict[str, Any]) -> str:
    entries = "".join(
        f"<entry><id>http://arxiv.org/abs/2603.0000{n}v1</id><title>{hit['title']}</title>"
        f"<updated>2026-03-09T00:00:00Z</updated><published>2026-03-04T05:06:07Z</published>"
        f"<summary>{hit['text']}</summary><author><name>Ada Holm</name></author>"
        f"<link href='https://arxiv.org/abs/2603.0000{n}v1' rel='alternate' type='text/html'/>"
        f"<link href='https://arxiv.org/pdf/2603.0000{n}v1' rel='related' type='application/pdf' title='pdf'/>"
        "<arxiv:primary_category term='physics.ao-ph'/><category term='physics.ao-ph'/></entry>"
        for n, hit in enumerate(HITS, 1)
    )
    return (
        "<?xml version='1.0' encoding='UTF-8'?><feed xmlns='http://www.w3.org/2005/Atom' "
        "xmlns:opensearch='http://a9.com/-/spec/opensearch/1.1/' xmlns:arxiv='http://arxiv.org/schemas/atom'>"
        "<id>https://arxiv.org/api/1</id><title>arXiv Query</title><updated>2026-04-07T00:00:00Z</updated>"
        "<opensearch:itemsPerPage>3</opensearch:itemsPerPage><opensearch:totalResults>3</opensearch:totalResults>"
        f"<opensearch:startIndex>0</opensearch:startIndex>{entries}</feed>"
    )


def _stackexchange(path: str, asked: dict[str, Any]) -> Any:
    if path.rstrip("/").endswith("/sites"):
        sites = [
            {
                "api_site_parameter": "stackoverflow",
                "name": "Stack Overflow",
                "site_url": "https://stackoverflow.com",
            }
        ]
        return {
            "items": sites,
            "has_more": False,
            "quota_remaining": 99,
            "quota_max": 300,
        }
    found = [{"question_id": n, "title": hit["title"], "body": f"<p>{hit['text']}</p>", "excerpt": hit["text"],
              "link": hit["url"], "score": 4, "is_answered": True, "answer_count": 1, "tags": ["tides"],
              "item_type": "question", "creation_date": 1772600767, "last_activity_date": 1772600767,
              "owner": {"display_name": "Ada"}} for n, hit in enumerate(HITS, 1)]  # fmt: skip
    return {"items": found, "has_more": False, "quota_remaining": 99, "quota_max": 300}


def _crawl4ai(_: str, asked: dict[str, Any]) -> Any:
    results = [{"url": u, "success": True, "status_code": 200, "error_message": "", "metadata": {"title": _hit(u)["title"]},
                "markdown": {"raw_markdown": _markdown(_hit(u)), "fit_markdown": _markdown(_hit(u))}, "links": {}}
               for u in asked["urls"]]  # fmt: skip
    return {"success": True, "results": results}


def _duckduckgo(path: str, asked: dict[str, Any]) -> Any:
    if path == "/":  # what the older library begins with
        return "<script>vqd='4-1'</script>"
    if path == "/d.js":
        found = json.dumps(
            [{"t": hit["title"], "u": hit["url"], "a": hit["text"]} for hit in HITS]
        )
        return f"DDG.pageLayout.load('d',{found});DDG.duckbar.load({{}});"
    found = "".join(
        f"<div class='result results_links results_links_deep web-result'><div class='links_main links_deep result__body'>"
        f"<h2 class='result__title'><a rel='nofollow' class='result__a' href='{hit['url']}'>{hit['title']}</a></h2>"
        f"<a class='result__snippet' href='{hit['url']}'>{hit['text']}</a></div></div>"
        for hit in HITS
    )
    return f"<!DOCTYPE html><html><body><div class='serp__results'><div id='links' class='results'>{found}</div></div>"


_SERVICES: dict[str, Callable[[str, dict[str, Any]], Any]] = {
    "api.tavily.com": _tavily,
    "api.exa.ai": _exa,
    "api.search.brave.com": _brave,
    "google.serper.dev": _serper,
    "serpapi.com": _serpapi,
    "customsearch.googleapis.com": _google,
    "www.googleapis.com": _google,
    "api.bing.microsoft.com": _bing,
    "searx.example": _searx,
    "api.ydc-index.io": _you,
    "ydc-index.io": _you,
    "s.jina.ai": _jina,
    "www.mojeek.com": _mojeek,
    "api.mojeek.com": _mojeek,
    "api.perplexity.ai": _perplexity,
    "api.parallel.ai": _parallel,
    "api.firecrawl.dev": _firecrawl,
    "crawl.example": _crawl4ai,
    "en.wikipedia.org": _wikipedia,
    "export.arxiv.org": _arxiv,
    "api.stackexchange.com": _stackexchange,
    "html.duckduckgo.com": _duckduckgo,
    "duckduckgo.com": _duckduckgo,
    "links.duckduckgo.com": _duckduckgo,
}


def answer(method: str, host: str, target: str, body: bytes) -> tuple[int, str, str]:
    """Return the status, the media type and the body of the answer to a request."""
    parts = urlsplit(target)
    if host in ("harbour.example", "www.harbour.example"):
        return _PAGES.get(parts.path) or (
            404,
            "text/html",
            _page({"title": "No such page", "text": "It has moved."}),
        )
    if host == "r.jina.ai":
        return 200, "text/plain", _markdown(_hit(target.removeprefix("/")))
    service = _SERVICES.get(host)
    if service is None:
        return 404, "text/plain", f"nobody is called {host} here"
    asked: dict[str, Any] = {
        name: values[-1] for name, values in parse_qs(parts.query).items()
    }
    if body.lstrip().startswith(b"{"):
        asked |= json.loads(body)
    elif body:
        asked |= {name: values[-1] for name, values in parse_qs(body.decode()).items()}
    found = service(parts.path, asked)
    if isinstance(found, str):
        return (
            200,
            "application/atom+xml" if found.startswith("<?xml") else "text/html",
            found,
        )
    return 200, "application/json", json.dumps(found)


@contextmanager
def serve() -> Iterator[tuple[int, list[str]]]:
    """Answer on 127.0.0.1 during the block: yields the port, and a list to which each
    request is added.
    """
    asked: list[str] = []

    def reply(request: Received) -> bytes:
        path, headers, body = request
        method = headers[":method"]
        host = headers.get("host", "").partition(":")[0]
        asked.append(f"{method} {host}{urlsplit(path).path}")
        status, media_type, text = answer(method, host, path, body)
        kind = f"Content-Type: {media_type}; charset=utf-8"
        if method == "HEAD":
            length = f"Content-Length: {len(text.encode())}"
            return head(f"{status} Status", kind, length)
        return http(text, f"{status} Status", kind)

    with Server(reply=reply) as server:
        yield server.port, asked
