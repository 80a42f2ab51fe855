"""What stands in the way of a page: challenges against robots, and pages that say
nothing without scripts.

The marks are those of the pages that vendors of bot protection serve instead, not of
scripts in every page. A site can also offer Markdown that does not say what its page
says: a wall, an error or nothing, under a 200.
"""

from __future__ import annotations
import re
from collections.abc import Set as AbstractSet
from html import unescape

from .._text.terms import split_terms
from .._text.urls import find_origin
from ..flow import Response

_MAX_SOURCE = 100_000  # bytes; no challenge is longer
# characters: a page with more text than that has content besides a challenge
_CHALLENGE_LENGTH = 1_000
_PLEA_LENGTH = 300  # characters of a request to switch scripts on, in any language

_HEADERS = (
    ("cf-mitigated", "challenge", "Cloudflare"),
    ("x-amzn-waf-action", "", "AWS WAF"),
    ("x-vercel-mitigated", "", "Vercel"),
    ("x-datadome", "captcha", "DataDome"),
)
_SOURCE = (
    (
        "Cloudflare",
        (
            rb"_cf_chl_opt|cf-browser-verification|id=\"challenge-error-text\"|"
            rb"cf-error-details"
        ),
    ),
    (
        "DataDome",
        (
            rb"captcha-delivery\.com/|Please enable JS and disable any ad "
            rb"blocker"
        ),
    ),
    (
        "HUMAN",
        (
            rb"px-captcha|captcha\.px-cdn\.net|captcha\.px-cloud\.net|"
            rb"\"blockScript\"\s*:"
        ),
    ),
    ("Akamai", rb"errors\.edgesuite\.net|sec-if-cpt-container|sec-cpt-if|bm-verify="),
    (
        "AWS WAF",
        (
            rb"awsWafCookieDomainList|\.awswaf\.com/[^\"']{1,200}challenge|"
            rb"AwsWafIntegration\.checkForceRefresh"
        ),
    ),
    (
        "Imperva",
        (
            rb"Incapsula incident "
            rb"ID|_Incapsula_Resource\?[^\"']{0,40}(?:CWUDNSAI|SWCNGEEC|"
            rb"incident_id)"
        ),
    ),
    ("Imperva", rb"Pardon Our Interruption"),
    (
        "Kasada",
        (
            rb"window\.KPSDK=|/149e9513-01fa-4fb0-aad4-566afd725d1b/[0-9a-f-]{36}"
            rb"/ips\.js"
        ),
    ),
    (
        "F5",
        (
            rb"The requested URL was rejected\. Please consult with your "
            rb"administrator|TSPD_101"
        ),
    ),
    ("Sucuri", rb"sucuri_cloudproxy_js|Sucuri WebSite Firewall - Access Denied"),
    (
        "DDoS-Guard",
        (
            rb"/\.well-known/ddos-guard/(?:js-challenge|check)|"
            rb"<title>DDoS-Guard</title>"
        ),
    ),
    ("Anubis", rb"anubis_challenge|/\.within\.website/x/cmd/anubis/"),
    ("Vercel", rb"Vercel Security Checkpoint"),
    (
        "Google",
        (
            rb"Our systems have detected unusual traffic from your computer "
            rb"network|id=\"captcha-form\""
        ),
    ),
    ("Amazon", rb"/errors/validateCaptcha"),
)
_WIDGETS = re.compile(
    rb"g-recaptcha|h-captcha|cf-turnstile|geetest_|arkoselabs\.com|friendlycaptcha",
    re.IGNORECASE,
)
_TEXTS = (
    (
        "Cloudflare",
        (
            r"Just a moment\.\.\.|Attention Required! \| Cloudflare|security by "
            r"Cloudflare"
        ),
    ),
    (
        "Cloudflare",
        (
            r"needs to review the security of your connection before "
            r"proceeding|Checking your browser before"
        ),
    ),
    ("HUMAN", r"Press (?:&|and) Hold to confirm|Access to this page has been denied"),
    (
        "Akamai",
        (
            r"You don't have permission to access .{1,300} on this "
            r"server\.\s+Reference\W{1,3}#?[0-9a-f]"
        ),
    ),
    ("AWS WAF", r"Let's confirm you are human"),
    ("Imperva", r"Incapsula incident ID|Pardon Our Interruption"),
    ("Anubis", r"Making sure you(?:'|\u2019)re not a bot"),
    ("Vercel", r"Vercel Security Checkpoint"),
    ("Google", r"detected unusual traffic from your computer network"),
    ("Amazon", r"make sure you(?:'|\u2019)re not a robot"),
    (
        "a CAPTCHA",
        (
            r"(?:Verify|Confirm|Checking|Verifying) (?:that )?you(?: are|'re) "
            r"(?:a )?(?:not a )?(?:human|robot)"
        ),
    ),
)
# `re` is slow if it ignores case
_BY_SOURCE = tuple((name, re.compile(marks.lower())) for name, marks in _SOURCE)
_BY_TEXT = tuple(
    (name, re.compile(marks, re.IGNORECASE | re.DOTALL)) for name, marks in _TEXTS
)
_NAMED = re.compile(r"java\s?script", re.IGNORECASE)
_PLEA = re.compile(
    r"\b(?:enable|requires?|needs?|turn "
    r"on|activate|support|without|allow)\b.{0,40}javascript"
    r"|javascript\b.{0,40}\b(?:enabled|disabled|required|needed|turned off|not "
    r"available|to (?:run|use|view))\b",
    re.IGNORECASE | re.DOTALL,
)
_SCRIPT = re.compile(rb"<script\b", re.IGNORECASE)
_NOSCRIPT = re.compile(
    rb"<noscript\b[^>]{0,200}>[^<]{0,200}(?:<[^/][^<]{0,200}){0,5}java\s?script",
    re.IGNORECASE,
)
_WAITING = re.compile(
    r"(?:(?:loading|please wait|just a moment|one "
    r"moment|initiali[sz]ing|redirecting|computing)\W{0,5}"
    r"|(?:loading|fetching|connecting|preparing|starting)(?: [\w']{1,20}){0,4}"
    r" ?(?:\.{3}|\u2026|[,.:;\u2013-] ?(?:please|one moment|just a "
    r"moment)[^.!?]{0,40}\W{0,5})"
    r"|(?:please wait|one moment|just a moment),? (?:please|while)[^.!?]{0,60}\W{0,5}"
    r"|(?:l\xe4dt|wird geladen|bitte warten|chargement(?: en "
    r"cours)?|cargando|carregando"
    r"|caricamento(?: in "
    r"corso)?|laden|\u0142adowanie|"
    r"\u0437\u0430\u0433\u0440\u0443\u0437\u043a\u0430|y\xfckleniyor"
    r"|\u8aad\u307f\u8fbc\u307f\u4e2d|\u52a0\u8f7d\u4e2d|"
    r"\u6b63\u5728\u52a0\u8f7d)\W{0,5})",
    re.IGNORECASE,
)
# How a consent wall begins, and what stands on its buttons.
_CONSENT = re.compile(
    r".{0,60}\b(?:cookies?|privacy|consent|datenschutz|privatsphäre)\b",
    re.IGNORECASE | re.DOTALL,
)
_CHOICE = re.compile(
    r"acc?ept|accett|akzept|allow|agree|reject|declin|ablehn|refus|rechaz|rifiut",
    re.IGNORECASE,
)
_MAX_CHOICES = 60  # characters of the buttons, which are the last line
# Where scripts put the page, if nothing is there yet: the main part, the root of an
# application, a custom element.
_EMPTY_MAIN = re.compile(
    rb"<main\b[^>]{0,500}>(?:\s|<!--[^>]{0,200}-->){0,50}</main>", re.IGNORECASE
)
_EMPTY_ROOT = re.compile(
    rb"<div\b[^>]{0,200}\bid\s{0,5}=\s{0,5}[\"']?(?:root|app|content|"
    rb"main|__next|__nuxt|app-root|react-root|svelte)[\"'\s>]"
    rb"[^<]{0,200}(?<=>)\s{0,50}</div>"
    rb"|<([a-z][a-z0-9]{0,30}-[a-z0-9-]{1,50})\b[^>]{0,300}>\s{0,50}</\1>",
    re.IGNORECASE,
)
_EMPTY_LIST = re.compile(
    rb"<(ul|ol|dl|table|tbody)\b[^<>]{0,500}>(?:\s|<!--[^>]{0,200}-->){0,50}</\1>",
    re.IGNORECASE,
)
_INVISIBLE = frozenset({b"script", b"style", b"noscript", b"title", b"template"})
# Headings, controls and menus: a page that has nothing else has yet to get its text.
_FRAME = frozenset(
    b"h1 h2 h3 h4 h5 h6 button label legend summary select nav header footer".split()
)
_WORD = re.compile(r"\b[^\W_]{4,}\b")
_FIRST = 5  # words of a text that are looked for in the page
# characters of Markdown, targets of links included: a longer page says something
_MAX_TEXT = 100_000
_MAX_AROUND = 600  # characters around an empty main part: navigation, a banner
_BEGINNING = 3_000  # characters in which most pages say more than that
# characters of links or names of pictures, or beside an empty list, which are all that
# a page says
_MAX_MENU = 100
_MAX_LABELS = 40  # characters of words that do not make a sentence
# a figure, or the end of a sentence
_STATES = re.compile(r"\d|[.!?\u2026\u3002\uff01\uff1f\u061f\u0964]\W{0,9}\Z")
_PICTURE_NAME = re.compile(
    rb"<img\b[^<>]{0,500}?\salt\s{0,5}=\s{0,5}(?:\"([^\"]{1,300})\"|"
    rb"'([^']{1,300})'|([^\s\"'>]{1,300}))",
    re.IGNORECASE,
)
_PASSWORD = re.compile(
    rb"<input\b[^<>]{0,500}?\stype\s{0,5}=\s{0,5}[\"']?password\b", re.IGNORECASE
)
_LOGIN = re.compile(
    r"https?://(?:accounts?|auth|cas|idp?|login|signin|sso)\."
    r"|https?://[^/?#]+/(?:[^/?#]*/){0,8}"
    r"(?:auth|authorize|cas|log-?in|oauth2?|openid|openid-connect|"
    r"saml2?|sign-?in|sso|wp-login\.php)(?:[/?#.]|$)",
    re.IGNORECASE,
)
# linear: nothing that it runs over can begin another link
_LINK = re.compile(r"\[([^\[\]]*+)\]\([^()\s]*+\)")
_MAX_LENGTH = 600  # characters: longer Markdown says more than that it is not here
# bytes of words outside headings: a page with fewer says next to nothing
_MIN_SIZE = 60
_SIGN_IN = re.compile(
    r"\b(?:sign|log)(?:ged)?[ -]?in (?:to|with|for|is required|required|or "
    r"(?:sign|register|create))\b"
    r"|\bplease (?:sign|log)[ -]?in\b|\byou (?:must|need to) (?:be "
    r"(?:signed|logged)|sign|log)[ -]?in\b"
    r"|\b(?:login|sign-?in|authentication|subscription) (?:is "
    r")?required\b|\b(?:members|subscribers)[ -]only\b"
    r"|\bsubscribe to (?:read|continue)\b|\bcreate (?:an?|your) (?:free )?account to\b"
    r"|\b(?:melden|loggen) sie sich (?:bitte )?(?:an|ein)\b|\banmelden, "
    r"um\b|\bconnectez-vous\b|\bidentifiez-vous\b"
    r"|\binici[ae]r? sesi[oó]n\b|\bfaça (?:o )?login\b|\baccedi per\b|"
    r"\bвойдите\b"  # noqa: RUF001 - Russian
    r"|ログインして|请(?:先)?登录|請(?:先)?登入|로그인",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"(?:(?:http |error |status )*[45]\d\d\b(?:\W|\Z)"
    r"|(?:the |this )?(?:page|document|resource|url)? ?(?:was |could |is )?"
    r"(?:not (?:be )?found|does ?n[o']t exist|unavailable)\b|something went "
    r"wrong|internal server error|bad gateway"
    r"|service unavailable|access denied|forbidden|an? (?:unexpected )?error (?:has "
    r")?occurred"
    r"|seite nicht gefunden|page (?:introuvable|non trouvée)|página no "
    r"encontrada|страница не найдена"
    r"|ページが見つかりません|页面不存在|找不到页面)",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^#{1,6}[ \t].*$", re.MULTILINE)
_LINK_TARGET = re.compile(r"\]\([^()\s]*\)|https?://\S+")


def find_challenge(response: Response, text: str | None = None) -> str | None:
    """Return who answers with a challenge against robots instead of the page, such as
    ``Cloudflare``, or None.

    A banner or a script of such a vendor in a page with content is not one; *text* is
    that of the page, if it was parsed. A header may say that it is one nevertheless.
    """
    for header, mark, name in _HEADERS:
        value = response.headers.get(header, "").lower()
        if value and mark in value:
            return name
    if text is not None and len(text) >= _CHALLENGE_LENGTH:
        return None
    source = response.content[:_MAX_SOURCE].lower()
    for name, marks in _BY_SOURCE:
        if marks.search(source):
            return name
    is_empty = text is not None and not text.strip()
    if is_empty and _WIDGETS.search(source):
        return "a CAPTCHA"
    return None


def find_challenge_text(title: str, text: str) -> str | None:
    """Return the same from a page's title and text alone, for services that return no
    more.
    """
    if len(text) >= _CHALLENGE_LENGTH:
        return None
    words = f"{title}\n{text}"
    for name, marks in _BY_TEXT:
        if marks.search(words):
            return name
    return None


def asks_for_scripts(text: str) -> bool:
    """Return whether a short text asks its reader to switch scripts on."""
    return _NAMED.search(text) is not None and _PLEA.search(text) is not None


def needs_scripts(text: str, source: bytes, route: str = "") -> bool:
    """Return whether the page whose HTML is *source* has no content without running its
    scripts.

    In its *text*, as Markdown, asking for scripts, or to wait, is saying nothing, and
    so is a menu, headings and buttons, the names of a few pictures, a consent wall, a
    few words around a main part or a list that is empty, or labels without a sentence.
    *route* is the fragment of its URL if its scripts are to show what that names: then
    it is another page.
    """
    source = source[:_MAX_SOURCE]
    if route and _SCRIPT.search(source):
        return True
    if _says_much(text):
        return False
    words = _LINK.sub(r"\1", text).strip()
    if not words:
        return True
    if len(words) > _MAX_AROUND or not _SCRIPT.search(source):
        return False
    if _is_frame(words, source):
        return True
    if _EMPTY_MAIN.search(source) and _is_visible(words, source):
        return True
    if len(words) > _PLEA_LENGTH:
        return False
    if _is_around_nothing(words, source) and _is_visible(words, source):
        return True
    if len(words) <= _MAX_MENU and _is_menu(text, words, source):
        return True
    return _is_plea(words, source)


def _is_frame(words: str, source: bytes) -> bool:
    """Return whether the words are those of headings, controls and menus, and nothing
    stands outside of these.
    """
    outside = _FRAME
    if len(words) <= _MAX_MENU or _EMPTY_ROOT.search(source):
        outside = _FRAME | {b"a"}
    if re.search(r"\w", _find_visible(source, outside)):
        return False
    return any(word in words for word in _WORD.findall(_find_visible(source)))


def _is_around_nothing(words: str, source: bytes) -> bool:
    """Return whether the words stand around a part that scripts have yet to fill, or
    are too few to be a text.
    """
    if _EMPTY_ROOT.search(source):
        return True
    if len(words) <= _MAX_LABELS and not _STATES.search(words):
        return True
    return len(words) <= _MAX_MENU and _EMPTY_LIST.search(source) is not None


def _is_menu(text: str, words: str, source: bytes) -> bool:
    """Return whether a text is only links, or the names of pictures."""
    if not re.search(r"\w", _LINK.sub("", text)):
        return True
    return _names_pictures(words, source)


def _is_plea(words: str, source: bytes) -> bool:
    """Return whether a text asks to switch scripts on, to wait, or for consent."""
    asks = _PLEA.search(words) or _NOSCRIPT.search(source)
    if asks and _NAMED.search(words):
        return True
    last = words.splitlines()[-1]
    has_choice = len(last) <= _MAX_CHOICES and _CHOICE.search(last)
    if has_choice and _CONSENT.match(words):
        return True
    return _WAITING.fullmatch(last.lstrip("#* ").strip()) is not None


def asks_for_login(
    text: str, source: bytes, url: str = "", start_url: str = ""
) -> bool:
    """Return whether a page asks for a login and says little else, or is where another
    site sends those without one.

    Its *text* is Markdown; *start_url* is its URL before redirects.
    """
    if _says_much(text):
        return False
    is_elsewhere = _is_login_elsewhere(url, start_url)
    if not is_elsewhere and not _PASSWORD.search(source[:_MAX_SOURCE]):
        return False
    limit = _MAX_AROUND if is_elsewhere else _PLEA_LENGTH
    return len(_LINK.sub(r"\1", text)) <= limit


def _is_login_elsewhere(url: str, start_url: str) -> bool:
    if not url or not start_url:
        return False
    if find_origin(url) == find_origin(start_url):
        return False
    return _LOGIN.match(url) is not None


def _says_much(text: str) -> bool:
    """Return True only if *text* is longer than `_MAX_TEXT`, or than `_MAX_AROUND`
    without the targets of its links.

    For most texts the beginning is enough to tell, so neither the rest nor the source
    of the page is searched.
    """
    if len(text) > _MAX_TEXT:
        return True
    beginning = text[:_BEGINNING]
    # in no link: neither a label nor a target has these
    end = max(beginning.rfind(" ["), beginning.rfind("\n["))
    if end >= 0:
        beginning = beginning[:end]
    elif "[" in beginning:
        return False
    return len(_LINK.sub(r"\1", beginning).strip()) > _MAX_AROUND


def _names_pictures(words: str, source: bytes) -> bool:
    """Return whether a text is only the names of pictures, such as the logo that a page
    shows while it loads.
    """
    names = b" ".join(map(b"".join, _PICTURE_NAME.findall(source)))
    parts = set(words.split())
    if not parts <= set(unescape(names.decode("utf-8", "replace")).split()):
        return False
    return parts.isdisjoint(_find_visible(source).split())


def _is_visible(words: str, source: bytes) -> bool:
    """Return whether a text stands in the page, and not only in its data or in
    ``<noscript>``.
    """
    first_words = _WORD.findall(words)[:_FIRST]
    # as elements in a line follow one another
    visible = "".join(_find_visible(source).split())
    return bool(first_words) and all(word in visible for word in first_words)


def _find_visible(source: bytes, outside: AbstractSet[bytes] = frozenset()) -> str:
    """Return the text that stands in the page, *outside* of some elements."""
    invisible = _INVISIBLE | outside
    texts: list[bytes] = []
    end = b""  # of the invisible element that this is in: /script
    for piece in source.split(b"<"):
        if end:
            if piece[: len(end)].lower() == end:
                end = b""
            continue
        tag, *texts_after = piece.split(b">", maxsplit=1)
        name = b""
        if tag.strip():
            name = tag.split(maxsplit=1)[0].lower()
        if name in invisible:
            end = b"/" + name
        else:
            texts += texts_after
    return b" ".join(texts).decode("utf-8", "replace")


def find_stub(title: str, text: str) -> str | None:
    """Return why Markdown that a site offers does not say what its page says, such as
    ``asks to sign in``, or None.
    """
    words = text.strip()
    if not words:
        return "is empty"
    if len(words) <= _MAX_LENGTH:
        problem = _find_wall(title, words)
        if problem:
            return problem
    prose = _LINK_TARGET.sub("", _HEADING.sub("", words[: 10 * _MAX_LENGTH]))
    if len("".join(prose.split()).encode()) < _MIN_SIZE:
        return "says next to nothing"
    return None


def _find_wall(title: str, words: str) -> str | None:
    """Return what a short text says instead of its page; None if it may be that."""
    if find_challenge_text(title, words):
        return "is a challenge against robots"
    if asks_for_scripts(words):
        return "asks for scripts"
    if _SIGN_IN.search(words):
        return "asks to sign in"
    first_line = words.partition("\n")[0].lstrip("#* ")
    if _FAILED.match(first_line) or _FAILED.match(title):
        return "reports an error"
    if words[0] == "{" and words[-1] == "}":
        return "reports an error"
    return None


def says_the_same(text: str, other: str) -> bool:
    """Return whether *text* has at least half of the words of *other*, in any order."""
    words = {term.form for term in split_terms(other)}
    shared = words & {term.form for term in split_terms(text)}
    return 2 * len(shared) >= len(words)
