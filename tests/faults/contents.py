"""Faults 47 to 60: heads and bodies that are not what they should be, and what a page
says.
"""

from __future__ import annotations
import gzip
import zlib

from tests.faults.answers import (
    HTML,
    PAGE,
    TEXT,
    chunked,
    encoded,
    fail,
    html,
    lack_end,
    make_case,
    page_head,
    raw_deflate,
    read,
)
from tests.faults.model import Fault
from tests.server import closing, endless, http, resetting


def _spoil(data: bytes) -> bytes:
    """Change the check sum at the end of *data*."""
    return data[:-8] + bytes(8)


FAULTS = (
    Fault(
        number=47,
        name="a head of more than 100 KiB",
        injected="one header of 200 KiB; one without end",
        promise="read up to a limit; `unavailable` beyond",
        cases=(
            *read({"200 KiB": closing(html(PAGE, f"X-A: {'a' * 204_800}"))}),
            *fail(
                "unavailable",
                {"without end": endless(b"a" * 65_536, b"HTTP/1.1 200 OK\r\nX: ")},
                requests=1,
            ),
        ),
    ),
    Fault(
        number=48,
        name="9,000 headers",
        injected="9,000 headers in 90 KiB",
        promise="`bad_response`",
        cases=fail(
            "bad_response",
            {"": closing(html(PAGE, *(f"X{n}: a" for n in range(9000))))},
        ),
    ),
    Fault(
        number=49,
        name="gzip that is not whole, or none",
        injected="text, gzip with a changed byte, gzip that is cut",
        promise="`bad_response`; what is cut says so",
        cases=(
            *fail(
                "bad_response",
                {
                    "text": encoded(PAGE, "gzip"),
                    "changed": encoded(_spoil(gzip.compress(PAGE)), "gzip"),
                },
            ),
            make_case(
                name="cut",
                answers=(
                    encoded(gzip.compress(bytes(range(32, 127)) * 15)[:60], "gzip"),
                ),
                expected="cut",
                requests=2,
            ),
        ),
    ),
    Fault(
        number=50,
        name="gzip of several members",
        injected="a page compressed in two parts; padding after it; deflate with and without its header",
        promise="the whole page",
        cases=read(
            {
                "two members": encoded(
                    gzip.compress(PAGE[:20]) + gzip.compress(PAGE[20:]), "gzip"
                ),
                "rubbish after it": encoded(gzip.compress(PAGE) + b"RUBBISH", "gzip"),
                "deflate": encoded(zlib.compress(PAGE), "deflate"),
                "deflate without its header": encoded(raw_deflate(PAGE), "deflate"),
            }
        ),
    ),
    Fault(
        number=51,
        name="a `Content-Length` that lies",
        injected="too long, too short, two, negative, not a number, beside chunks; chunks that are malformed or have no end",
        promise="read where browsers do; what has no end says so; else `unavailable`",
        cases=(
            *read(
                {
                    # what is beyond the length is not read
                    "too short": closing(html(PAGE) + b"<p>and more"),
                    "negative": closing(page_head("Content-Length: -1") + PAGE),
                    "no number": closing(page_head("Content-Length: many") + PAGE),
                }
            ),
            *lack_end(
                {
                    "too long": closing(page_head("Content-Length: 9999") + PAGE),
                    "chunks without an end": closing(chunked(b"5\r\nhello\r\n")),
                    "a reset half-way": resetting(
                        page_head("Content-Length: 9999") + PAGE
                    ),
                }
            ),
            *fail(
                "unavailable",
                {
                    "two": html(PAGE, "Content-Length: 3"),
                    "malformed chunks": closing(chunked(b"ZZ\r\nhello\r\n")),
                    "an encoding within the transfer": closing(
                        chunked(b"0\r\n\r\n", "Transfer-Encoding: gzip")
                    ),
                },
                requests=1,
            ),
        ),
    ),
    Fault(
        number=52,
        name="a charset that does not exist",
        injected="unknown labels, Python's codecs (base64, idna, punycode), UTF-7",
        promise="read by the Encoding Standard, in linear time; never an error",
        cases=read(
            {
                name: http(PAGE, "200 OK", f"{HTML}; charset={name}")
                for name in (
                    "x-bogus",
                    "base64",
                    "idna",
                    "punycode",
                    "utf-7",
                    "rot13",
                    "\xff",
                    "undefined",
                )
            }
        ),
        proven_by=(
            "tests/core/reading/test_charset.py::test_a_label_never_reaches_pythons_codecs",
            "tests/timed/test_text.py::test_scanning_for_a_label_takes_linear_time",
        ),
    ),
    Fault(
        number=53,
        name="a `Content-Type` that lies",
        injected="HTML as PNG, PDF and video as HTML, nonsense, none",
        promise="the bytes decide; what is not text is never parsed as text",
        cases=(
            *read(
                {
                    "none": http(PAGE),
                    "HTML as PNG": http(PAGE, "200 OK", "Content-Type: image/png"),
                    "nonsense": http(PAGE, "200 OK", "Content-Type: \xff;;=/"),
                }
            ),
            *fail(
                "unsupported_content",
                {
                    "PDF as HTML": html(b"%PDF-1.7 \0\xff"),
                    "video as HTML": html(b"\0\0\0\x18ftypmp42"),
                    "any bytes as text": http(
                        bytes(range(256)) * 4, "200 OK", "Content-Type: text/plain"
                    ),
                },
            ),
        ),
    ),
    Fault(
        number=54,
        name="markup that costs too much",
        injected="100,000 nested elements, attributes without end, one line of 5 MB, NUL bytes",
        promise="read within bounds of time and memory, and what was cut is said",
        cases=(
            make_case(
                name="NUL bytes",
                answers=(html(PAGE.replace(b"algae", b"al\0gae")),),
                expected="ok",
                text=TEXT,
                peers=False,
            ),
            make_case(
                name="nested",
                answers=(html(PAGE.replace(b"<p>", b"<div>" * 100_000)),),
                expected="ok",
                text=TEXT,
            ),
        ),
        proven_by=(
            "tests/timed/test_pages.py::test_the_article_survives_hostile_markup",
            "tests/timed/test_pages.py::test_hardening_takes_linear_time",
            "tests/core/reading/html/test_harden.py::test_nesting_that_is_not_obvious_is_bounded",
        ),
    ),
    Fault(
        number=55,
        name="a page that leads elsewhere by itself",
        injected="`<meta http-equiv=refresh>`, a script, `<base>`",
        promise="a page with text is read, and not left; `<base>` counts only if it is http(s)",
        cases=read(
            {
                "refresh": html(
                    b"<meta http-equiv=refresh content='10;url=http://169.254.169.254/'>"
                    + PAGE
                ),
                "base": html(b"<base href='file:///etc/'>" + PAGE),
                "script": html(
                    b"<script>location='http://169.254.169.254/'</script>"
                    + PAGE
                    + b"<script>"
                ),
            }
        ),
        proven_by=(
            "tests/core/reading/html/test_page.py::test_links_are_relative_to_the_base_of_a_page_if_it_is_http",
        ),
    ),
    Fault(
        number=56,
        name="answers that are not a page",
        injected="204, 304, 101, HTTP/0.9, HTTP/2, status 99 and 999, broken heads, nothing; errors with a page as their body",
        promise="an error, in time, and never the body; a head with a mistake is read",
        cases=(
            *fail(
                "bad_response",
                {
                    "204": http(b"", "204 No Content"),
                    "204 with a body": closing(http(b"hello", "204 No Content")),
                    "304": closing(b"HTTP/1.1 304 Not Modified\r\n\r\n"),
                },
            ),
            *fail(
                "unavailable",
                {
                    "HTTP/0.9": closing(PAGE),
                    "nothing": closing(b""),
                    "a reset": resetting(b""),
                    "500": http(PAGE, "500 Oops", HTML),
                    "503": http(PAGE, "503 Busy", HTML),
                    "500 in gzip": http(
                        gzip.compress(PAGE), "500 Oops", HTML, "Content-Encoding: gzip"
                    ),
                },
            ),
            *read({"a blank before the colon": closing(html(PAGE, "X-A : 1"))}),
            *fail(
                "unavailable",
                {
                    "101": closing(
                        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nraw"
                    ),
                    "HTTP/2": closing(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
                    "status 99": closing(
                        b"HTTP/1.1 99 Weird\r\nContent-Length: 0\r\n\r\n"
                    ),
                    "no status": closing(b"HTTP/1.1 OK\r\n\r\n"),
                    "NUL in a header": closing(html(PAGE, "X-A: a\0b")),
                },
                requests=1,
            ),
            *fail("bad_request", {"400": http(PAGE, "400 Bad Request", HTML)}),
            *fail(
                "access_denied",
                {
                    status[:3]: http(PAGE, status, HTML)
                    for status in (
                        "401 Unauthorized",
                        "402 Payment Required",
                        "451 Unavailable For Legal Reasons",
                    )
                },
            ),
            *fail(
                "page_not_found",
                {status: http(PAGE, f"{status} No", HTML) for status in ("404", "410")},
            ),
            *fail(
                "rate_limited",
                {"429": http(PAGE, "429 Slow", HTML, "Retry-After: 99999999999")},
            ),
            *fail(
                "blocked",
                {
                    **{
                        status: http(PAGE, f"{status} No", HTML)
                        for status in ("403", "418", "999")
                    },
                    "a challenge with 200": html(
                        b"<title>Just a moment...</title><script>_cf_chl_opt={}</script>"
                    ),
                    "a challenge with 503": http(
                        PAGE, "503 Busy", HTML, "cf-mitigated: challenge"
                    ),
                },
            ),
            *fail("unsupported_content", {"blanks": html(b" \n")}),
            *fail(
                "needs_browser",
                {
                    "nothing but scripts": html(
                        b"<div id=root></div><script src=/a.js></script>"
                    )
                },
            ),
            make_case(
                name="206",
                answers=(http(PAGE, "206 Partial Content", HTML),),
                expected="cut",
                text=TEXT,
                peers=False,
            ),
            *read(
                {
                    "an ordinary page": html(PAGE),
                    "203": http(PAGE, "203 Non-Authoritative Information", HTML),
                    "chunks": closing(
                        chunked(b"%x\r\n%s\r\n0\r\n\r\n" % (len(PAGE), PAGE))
                    ),
                    "chunks and trailers": closing(
                        chunked(b"%x\r\n%s\r\n0\r\nX: 1\r\n\r\n" % (len(PAGE), PAGE))
                    ),
                    "no length": closing(page_head() + PAGE),
                    "early hints before it": closing(
                        b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + html(PAGE)
                    ),
                    "a continue before it": closing(
                        b"HTTP/1.1 100 Continue\r\n\r\n" + html(PAGE)
                    ),
                    "bytes beyond ASCII in a header": html(PAGE, "X-A: \xff\xfe"),
                    "a header of 50 KiB": html(PAGE, f"X-A: {'a' * 51_200}"),
                    "a hundred cookies": html(
                        PAGE, *(f"Set-Cookie: c{n}=1" for n in range(100))
                    ),
                    "line ends without a return": closing(
                        b"HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: %d\n\n%s"
                        % (len(PAGE), PAGE)
                    ),
                }
            ),
        ),
    ),
    Fault(
        number=57,
        name="text that people cannot see",
        injected="63 spellings of hiding styles, invisible characters",
        promise="left out, and counted in a note; what style sheets hide, only by `browser`",
        proven_by=(
            "tests/core/reading/html/test_hidden.py::test_hidden_text_is_not_read",
            "tests/core/reading/html/test_hidden.py::test_hidden_text_is_counted",
            "tests/core/reading/html/test_hidden.py::test_invisible_characters_are_removed",
        ),
    ),
    Fault(
        number=58,
        name="a page that closes our delimiter",
        injected="a page with marks like ours",
        promise="the marks have a boundary that nobody can predict",
        proven_by=(
            "tests/core/test_render.py::test_data_from_the_web_is_between_marks_that_no_page_can_predict",
        ),
    ),
    Fault(
        number=59,
        name="a URL that nobody found or named",
        injected='such URLs, with `provenance="seen"`',
        promise="refused before any look-up",
        proven_by=(
            "tests/core/provenance/test_provenance.py::test_nothing_else_may_be_opened_not_even_a_little_else",
            "tests/core/provenance/test_provenance.py::test_nothing_added_to_a_seen_url_gets_through",
            "tests/langchain/test_provenance.py::test_only_found_urls_are_opened_and_the_error_says_why",
        ),
    ),
    Fault(
        number=60,
        name="a `robots.txt` that is odd",
        injected="404, errors, redirects, wildcards, a mark before the text, many stars, delays, a large file",
        promise="RFC 9309: 4xx allows, 5xx and silence refuse; five redirects, 500 KiB, a day; time is bounded",
        proven_by=(
            "tests/timed/test_text.py::test_many_stars_do_not_take_long",
            *(
                f"tests/core/layers/test_robots.py::{name}"
                for name in (
                    "test_robots_txt_is_obeyed",
                    "test_without_a_file_everything_is_allowed",
                    "test_without_an_answer_nothing_is_allowed_and_the_error_names_the_file",
                    "test_five_redirects_are_followed_and_more_count_as_no_file",
                    "test_it_is_fetched_like_a_page_and_only_its_first_500_kib_count",
                    "test_it_is_kept_as_long_as_the_site_says_and_for_a_day_at_most",
                )
            ),
        ),
    ),
)
