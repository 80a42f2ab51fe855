"""Wikipedia: the articles of the encyclopedia, in the language of the query.

Wikimedia refuses programs that do not say who runs them: set the ``contact`` of
``Http``, or ``WEB_SEARCH_HTTP_CONTACT``. The query's language chooses the Wikipedia;
``base_url`` may be any other wiki that runs MediaWiki below ``/w``. The date of a
result is that of the article's last change.
"""

from __future__ import annotations
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import quote, urlsplit

from websearch_core import errors
from websearch_core import provider as kit

_CORRECTED = "wikipedia corrected the spelling of the query: see suggestions"
_KINDS: dict[str, type[errors.ServiceError]] = {
    "ratelimited": errors.RateLimited,
    "permissiondenied": errors.AuthenticationError,
    "readapidenied": errors.AuthenticationError,
    "maxlag": errors.Unavailable,
    "readonly": errors.Unavailable,
    "internal_api_error_DBQueryError": errors.Unavailable,
    "cirrussearch-backend-error": errors.Unavailable,
    "cirrussearch-too-busy-error": errors.Unavailable,
}


@kit.provider
class Wikipedia:
    """Searches Wikipedia.

    Args:
        base_url: The wiki, if the query has no language.
    """

    name = "wikipedia"
    options: ClassVar[frozenset[str]] = frozenset({"language", "page"})
    # https://meta.wikimedia.org/wiki/List_of_Wikipedias: those with more than 10,000
    # articles
    languages: ClassVar[Mapping[str, str]] = kit.codes("""
        ab ace af als am an ang anp ar ary arz as ast av avk awa az azb ba ban bar bcl
        be bg bh bjn bm bn bo bpy br bs bug ca ce ceb ckb co crh cs cv cy da de diq dv
        el eml en eo es et eu fa fi fo fr frr fy ga gan gd gl gn gom gu ha hak he hi hif
        hr hsb ht hu hy hyw ia id ie ig ilo io is it ja jv ka kbp kk km kn ko ku kv ky
        la lb li lij lld lmo ln lo lt lv mai mdf mg mhr mi min mk ml mn mnw mr mrj ms mt
        mwl my myv mzn nah nap no nds ne new nl nn nqo nso nv oc or os pa pam pap pl pms
        pnb ps pt qu ro ru rue rw sa sah sat sc scn sco sd se sh si sk sl smn sn so sq
        sr sr-latn=sr su sv sw szl ta te tg th tk tl tr tt tum tyv uk ur uz vec vi vo wa
        war wo wuu xmf yi yo yue zea zgh zh zh-hant=zh zu
    """)
    limits: ClassVar[kit.Limits] = kit.Limits(
        results_per_request=50, results=10_000, query_length=300, concurrent=1
    )
    about: ClassVar[kit.Service] = kit.Service(
        api_urls=(
            "https://www.mediawiki.org/wiki/API:Search",
            "https://foundation.wikimedia.org/wiki/Policy:Wikimedia_Foundation_User-Agent_Policy",
        ),
        free_allowance="keyless, at the pace of a person",
        price="free",
        prices=kit.FREE,
        as_of="2026-11",
        compared="the pages of its API, 2026-11",
        terms="Texts are under CC BY-SA 4.0: name the article and the licence where "
        "you show them.",
    )

    base_url: kit.BaseUrl = "https://en.wikipedia.org"

    @kit.page_by_page
    def search(
        self, query: kit.SearchQuery, number: int, size: int
    ) -> kit.Flow[tuple[kit.SearchResponse, bool]]:
        """Search, page by page until the limit is reached."""
        wiki = self._choose_wiki(query)
        params = {
            "action": "query",
            "list": "search",
            "srsearch": query.text,
            "srlimit": size,
            "sroffset": number * size or None,
            "srprop": "snippet|timestamp",
            "format": "json",
            "formatversion": 2,
        }
        response = yield kit.Request(
            url=f"{wiki}/w/api.php", params=kit.with_extra(params, query)
        )
        body = kit.decode(response, self, kind=_classify_error)
        items, notes = kit.take_results(body, self.name, "query.search")
        articles = [item for item in kit.as_objects(items) if not _is_redirect(item)]
        about = kit.as_object(kit.find_value(body, "query.searchinfo"))
        suggestion = kit.as_text(about.get("suggestion"))
        rewritten = kit.as_text(about.get("rewrittenquery"))
        page = kit.parse_search(
            self,
            query,
            body,
            articles,
            url=lambda item: _write_url(wiki, item),
            published="timestamp",
            markup="html",
            suggestions=tuple(filter(None, [suggestion, rewritten])),
            notes=(_CORRECTED,) if rewritten else notes,
        )
        return page, isinstance(body.get("continue"), dict)

    def _choose_wiki(self, query: kit.SearchQuery) -> str:
        language = kit.find_language(query, self)
        if language is None:
            return self.base_url
        if not (urlsplit(self.base_url).hostname or "").endswith(".wikipedia.org"):
            raise errors.UnsupportedOption.by(
                self, "has one language in the wiki of this base_url", "language"
            )
        return f"https://{language}.wikipedia.org"


def _classify_error(body: Any) -> type[errors.ServiceError] | None:
    error = kit.as_object(kit.find_value(body, "error"))
    if not error:
        return None
    return _KINDS.get(str(error.get("code")), errors.BadRequest)


def _is_redirect(item: Mapping[str, Any]) -> bool:
    return str(item.get("snippet")).startswith("#REDIRECT")


def _write_url(wiki: str, item: Mapping[str, Any]) -> str | None:
    """Return the address of an article, which the service leaves out."""
    title = kit.as_text(item.get("title"))
    if title is None:
        return None
    return f"{wiki}/wiki/{quote(title.replace(' ', '_'), safe='/:@!$*(),;')}"
