"""The built-in reader as a flow; tests/core/net/test_sender.py and tests/faults run it
with a server.
"""

from __future__ import annotations

import pytest

from websearch_core.errors import (
    AccessDenied,
    BadResponse,
    Blocked,
    NeedsBrowser,
    PageNotFound,
    TooLarge,
    Unavailable,
    UnsafeURL,
    UnsupportedContent,
)
from websearch_core.flow import Response, run
from websearch_core.providers.direct import Direct
from websearch_core.testing import play, reply

URL = "https://page.example/a/b"
HTML = "<html><head><title>Kelp</title></head><body><main><p>Brown algae of the northern seas.</p></main></body></html>"


def redirect(location, status=302):
    return reply(b"", status, location=location)


def test_a_page_is_fetched_through_the_guard_without_data_of_the_caller():
    request = next(Direct().read(URL))

    assert request.guarded
    assert not {"cookie", "authorization", "referer"} & {
        name.lower() for name in request.headers
    }


def test_html_becomes_a_page():
    page = play(Direct().read(URL), reply(HTML)).result

    assert (page.title, page.content.strip()) == (
        "Kelp",
        "Brown algae of the northern seas.",
    )
    assert (page.url, page.final_url, page.provider, page.media_type) == (
        URL,
        URL,
        "direct",
        "text/html",
    )


@pytest.mark.parametrize(
    ("location", "there"),
    [
        ("/c", "https://page.example/c"),
        ("c?d=e", "https://page.example/a/c?d=e"),
        ("//other.example/c", "https://other.example/c"),
        ("https://other.example/c", "https://other.example/c"),
    ],
)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_it_follows_redirects_itself(status, location, there):
    outcome = play(Direct().read(URL), redirect(location, status), reply(HTML))

    assert [request.url for request in outcome.requests] == [URL, there]
    assert (outcome.result.url, outcome.result.final_url) == (URL, there)
    assert [request for request in outcome.requests if not request.guarded] == []


def test_at_most_ten_redirects_are_followed():
    ten = [redirect(f"/{n}") for n in range(10)]

    assert play(Direct().read(URL), *ten, reply(HTML)).result.content
    with pytest.raises(BadResponse, match="more than 10 redirects"):
        play(Direct().read(URL), *ten, redirect("/more"))


def visit(pages, **options):
    """Read the page at URL in a web of *pages*; return it with the URLs that were asked
    for, or raise its error.
    """
    asked = []

    def send(request):
        assert request.guarded
        asked.append(request.url)
        answer = pages[request.url]
        return answer if isinstance(answer, Response) else reply(answer)

    return run(Direct(**options).read(URL), send), asked


def refresh(
    where,
    *,
    body="<p>Redirecting&hellip; <a href=/kelp>Click here</a> if nothing happens.</p>",
):
    return f'<html><head><meta http-equiv="refresh" content="{where}"></head><body>{body}</body></html>'


KELP = "https://page.example/kelp"
AT_LENGTH = (
    "<p>The lamp is trimmed at dusk, and again at midnight when the wind is high.</p>"
    * 5
)


@pytest.mark.parametrize(
    "page",
    [
        refresh("0; url=/kelp"),
        refresh("3;URL='../kelp'"),
        refresh("0, https://page.example/kelp", body=""),
        refresh(
            "0; url=/kelp", body="<div id=root></div><script src=/app.js></script>"
        ),
        "<noscript><meta content=0;url=/kelp http-equiv=Refresh></noscript><div id=root></div><script src=/a></script>",
        "<base href=https://page.example/x/><meta http-equiv=refresh content=0;url=../kelp>",
        Response(
            status=200,
            content=refresh("0;url=/kelp").encode("utf-16"),
            headers={"content-type": "text/html"},
        ),
    ],
)
def test_a_page_that_only_sends_its_visitors_on_is_a_redirect(page):
    found, asked = visit({URL: page, KELP: HTML})

    assert asked == [URL, KELP]
    assert (found.url, found.final_url, found.title) == (URL, KELP, "Kelp")


@pytest.mark.parametrize(
    "page",
    [
        refresh("30; url=/kelp"),
        refresh("9" * 5000 + "; url=/kelp"),
        refresh("5"),
        refresh("soon; url=/kelp"),
        refresh("0; url=#top"),
        refresh("0; url=javascript:alert(1)"),
        refresh("0; url=/kelp", body=AT_LENGTH),
        "<!-- <meta http-equiv=refresh content=0;url=/kelp> --><p>Brown algae of the northern seas.</p>",
        "<script>'<meta http-equiv=refresh content=0;url=/kelp>'</script><p>Brown algae of the northern seas.</p>",
        Response(
            status=200,
            content=refresh("0;url=/kelp").encode(),
            headers={"content-type": "text/plain"},
        ),
    ],
)
def test_a_page_that_says_something_or_stays_is_read(page):
    found, asked = visit({URL: page})

    assert asked == [URL]
    assert found.content.strip()


def test_pages_that_send_on_count_as_redirects_and_go_where_redirects_may():
    chain = {URL: refresh("0;url=/1")} | {
        f"https://page.example/{n}": refresh(f"0;url=/{n + 1}") for n in range(1, 12)
    }

    with pytest.raises(BadResponse, match="more than 10 redirects"):
        visit(chain)
    with pytest.raises(UnsafeURL, match="from https to http"):
        visit({URL: refresh("0;url=http://other.example/")})
    with pytest.raises(Blocked, match="Cloudflare"):
        visit(
            {
                URL: refresh(
                    "0;url=/kelp", body="<script>window._cf_chl_opt = {}</script>"
                )
            }
        )
    with pytest.raises(PageNotFound):
        visit({URL: Response(status=404, content=refresh("0;url=/kelp").encode())})


def test_a_redirect_without_location_is_an_error():
    with pytest.raises(BadResponse, match="leads nowhere"):
        play(Direct().read(URL), reply(b"", 302))


@pytest.mark.parametrize(
    "location",
    [
        "http://other.example/",
        "http://page.example:8080/",
        URL.replace("https", "http"),
    ],
)
def test_https_does_not_become_http_unless_allowed(location):
    with pytest.raises(UnsafeURL, match="from https to http"):
        play(Direct().read(URL), redirect(location))
    outcome = play(
        Direct(allow_downgrade=True).read(URL), redirect(location), reply(HTML)
    )
    assert outcome.requests[-1].url == location


def test_a_redirect_to_http_of_the_same_host_is_tried_over_https():
    outcome = play(
        Direct().read(URL), redirect("http://page.example:80/c?d"), reply(HTML)
    )

    assert [request.url for request in outcome.requests] == [
        URL,
        "https://page.example/c?d",
    ]


@pytest.mark.parametrize("status", [201, 202, 207, 299])
def test_any_success_with_a_page_is_one(status):
    assert play(Direct().read(URL), reply(HTML, status)).result.status == status


@pytest.mark.parametrize("status", [300, 302, 308])
def test_a_redirect_that_has_a_page_and_leads_nowhere_is_that_page(status):
    assert play(Direct().read(URL), reply(HTML, status)).result.title == "Kelp"


def test_a_choice_without_a_page_is_a_redirect():
    assert play(Direct().read(URL), redirect("/c", 300), reply(HTML)).result.content


@pytest.mark.parametrize(
    ("header", "leads_on"),
    [
        ("0; url=/kelp", True),
        ("3;url='/kelp'", True),
        ("300; url=/kelp", False),
        ('"><b', False),
    ],
)
def test_a_refresh_in_a_header_counts_as_one_in_the_page(header, leads_on):
    here = reply("<p>This page is moving.</p>", refresh=header)

    page, asked = visit({URL: here, KELP: HTML})

    assert (asked == [URL, KELP]) is leads_on
    assert (page.title == "Kelp") is leads_on


def make_cut(content, kind="text/plain"):
    return Response(
        status=200, headers={"content-type": kind}, content=content, truncated=True
    )


def test_a_page_without_its_end_is_fetched_once_more():
    half = make_cut(b"kelp " * 10)

    outcome = play(Direct().read(URL), half, reply("whole", content_type="text/plain"))
    assert (outcome.result.content.strip(), outcome.result.truncated) == (
        "whole",
        False,
    )
    assert [request.url for request in outcome.requests] == [URL, URL]
    # its end is there, and only the length that the server states is wrong
    page = play(Direct().read(URL), make_cut(HTML.encode() + b"\n", "text/html")).result
    assert page.truncated


@pytest.mark.parametrize(
    "second",
    [
        Unavailable("gone"),
        reply("<p>Try again later", 503),
        make_cut(b"kelp"),
    ],
)
def test_what_arrived_is_kept_if_less_arrives_the_second_time(second):
    page = play(Direct().read(URL), make_cut(b"kelp " * 10), second).result

    assert page.content.count("kelp") == 10


def test_the_beginning_of_a_page_without_text_is_no_page_that_needs_its_scripts():
    head = make_cut(b"<html><head><script>", "text/html")

    with pytest.raises(Unavailable, match="only the beginning of the page arrived"):
        play(Direct().read(URL), head, head)


def test_a_page_takes_at_most_thirty_requests():
    answers = [redirect(f"/{n}") for n in range(30)]

    with pytest.raises(BadResponse, match="more than 30 requests"):
        play(Direct(max_redirects=100).read(URL), *answers)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, AccessDenied),
        (402, AccessDenied),
        (403, Blocked),
        (404, PageNotFound),
        (410, PageNotFound),
        (500, Unavailable),
        (204, BadResponse),
    ],
)
def test_an_error_page_is_never_content(status, kind):
    with pytest.raises(kind) as caught:
        play(
            Direct().read(URL),
            reply("<h1>Sorry!</h1><p>An apology of great length.", status),
        )
    assert caught.value.status == status


def test_a_page_that_was_cut_says_so():
    cut = make_cut(b"kelp " * 10)

    page = play(Direct().read(URL), cut, cut).result

    assert page.truncated
    assert "longer than the 50 bytes" in page.notes[0]


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("application/pdf", b"%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"),
        (
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            b"PK\x03\x04word/document.xml",
        ),
    ],
)
@pytest.mark.parametrize(
    ("most", "why", "requests"),
    [(5 * 2**20, "larger than 5 MiB", 1), (6 * 2**20, "not all of it arrived", 2)],
    ids=["cap", "connection"],
)
def test_a_file_that_cannot_be_read_because_it_was_cut_says_so(
    kind, content, most, why, requests
):
    content += bytes(5 * 2**20 - len(content))
    cut = Response(
        status=200, headers={"content-type": kind}, content=content, truncated=True
    )

    with pytest.raises(TooLarge, match=why) as caught:
        play(Direct(max_bytes=most, isolate=False).read(URL), *[cut] * requests)
    assert kind in str(caught.value)
    assert caught.value.provider == "direct"


def test_an_unsupported_file_that_was_cut_is_not_called_too_large():
    film = Response(
        status=200,
        headers={"content-type": "video/mp4"},
        content=b"\0\0\0\x20ftypisom",
        truncated=True,
    )

    with pytest.raises(UnsupportedContent, match="video/mp4"):
        play(Direct().read(URL), film, film)


CHALLENGES = {
    "Cloudflare": "<title>Just a moment...</title><script>window._cf_chl_opt = {cType: 'managed'}</script>",
    "DataDome": "<script>var dd={'rt':'c','host':'geo.captcha-delivery.com'}</script>"
    "<script src='https://ct.captcha-delivery.com/c.js'></script><p>Please enable JS and disable any ad blocker",
    "HUMAN": "<title>Access to this page has been denied.</title><div id='px-captcha'></div><p>Press & Hold to confirm",
    "Akamai": "<h1>Access Denied</h1>You don't have permission to access it.<p>https://errors.edgesuite.net/18.1",
    "AWS WAF": "<script>window.awsWafCookieDomainList = [];</script><p>JavaScript is disabled",
    "Imperva": "<iframe src='/_Incapsula_Resource?CWUDNSAI=27'>Request unsuccessful. Incapsula incident ID: 1</iframe>",
    "Anubis": "<title>Making sure you're not a bot!</title><script id='anubis_challenge'>{}</script>",
    "Kasada": "<script>window.KPSDK={}</script><script src='/149e9513-01fa-4fb0-aad4-566afd725d1b/"
    "2d206a39-8ed7-437e-a3be-862e0f06eea3/ips.js?tkrm_alpekz_s1.3=0'></script>",
    "Vercel": "<title>Vercel Security Checkpoint</title><p>We're verifying your browser",
    "Google": "<p>Our systems have detected unusual traffic from your computer network.",
}


@pytest.mark.parametrize("status", [200, 202, 403, 429, 503])
@pytest.mark.parametrize("who", CHALLENGES)
def test_a_challenge_is_blocked_and_named(who, status):
    with pytest.raises(
        Blocked, match=f"a challenge against robots by {who}$"
    ) as caught:
        play(
            Direct().read(URL),
            reply(f"<html><body>{CHALLENGES[who]}</body></html>", status),
        )
    assert (caught.value.status, caught.value.temporary, caught.value.provider) == (
        status,
        False,
        "direct",
    )


@pytest.mark.parametrize(
    ("headers", "who"),
    [
        ({"cf_mitigated": "challenge"}, "Cloudflare"),
        ({"x_amzn_waf_action": "captcha"}, "AWS WAF"),
    ],
)
def test_a_header_that_says_so_is_a_challenge_whatever_the_page_says(headers, who):
    with pytest.raises(Blocked, match=who):
        play(
            Direct().read(URL),
            reply(
                f"<main>{'<p>A long apology of the firewall.' * 99}</main>",
                200,
                **headers,
            ),
        )


def test_a_page_with_the_scripts_of_a_guard_is_content():
    article = "".join(
        f"<p>Paragraph {n} of an article on the history of the harbour and its lights.</p>"
        for n in range(30)
    )
    for extra in (
        CHALLENGES["DataDome"],
        "<script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>",
        "<div class='cookie-banner'>Verify you are human</div><div class='g-recaptcha'></div>",
    ):
        assert (
            "lights"
            in play(
                Direct().read(URL), reply(f"<body>{extra}<main>{article}</main></body>")
            ).result.content
        )


def test_a_short_page_with_the_scripts_of_a_guard_is_content():
    kasada = "/149e9513-01fa-4fb0-aad4-566afd725d1b/2d206a39-8ed7-437e-a3be-862e0f06eea3/p.js"
    page = f"<script>window._pxAppId='PX1'</script><script src='//js.datadome.co/tags.js'></script>{HTML}"
    page += f"<script src='{kasada}'></script>"

    assert play(Direct().read(URL), reply(page)).result.content


@pytest.mark.parametrize(
    "body",
    [
        "<div id=root></div><script src=/app.js></script>",
        "<noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div><script src=/a.js></script>",
        "<noscript>Bitte aktivieren Sie JavaScript.</noscript><div id=app></div><script src=/a.js></script>",
        "<div id=app>Loading...</div><script src=/a.js></script>",
        "<h1>Atlas</h1><p>Please wait…</p><script src=/a.js></script>",
        "<p>This site requires JavaScript to work.</p><script src=/a.js></script>",
        "<img src=/logo.svg alt='Fox &amp; Co'><div class=splash></div><script src=/a.js></script>",
        "<img alt=\"Fox\" src=/logo.svg> <img src=/sign.svg alt=&amp;> <img src=/wave.svg alt='Please wait'><script src=/a.js></script>",
    ],
)
def test_a_page_that_says_nothing_without_scripts_is_no_success(body):
    with pytest.raises(NeedsBrowser, match="without running its scripts") as caught:
        play(Direct().read(URL), reply(f"<html><body>{body}</body></html>"))
    assert caught.value.temporary is False


@pytest.mark.parametrize(
    "body",
    [
        "<p>JavaScript is a language.</p><script src=/a.js></script>",
        "<p>OK</p><script src=/a.js></script>",
        "<p>Loading docks open at six.</p><script src=/a.js></script>",
        "<p>Enable JavaScript in the settings of your browser.</p>",
        "<img src=/fox.jpg alt=Fox><p>Fox</p><script src=/a.js></script>",
        "<img src=/fox.jpg alt='A fox'>",
    ],
)
def test_a_short_page_is_a_page(body):
    assert play(
        Direct().read(URL), reply(f"<html><body>{body}</body></html>")
    ).result.content


def test_what_only_the_data_of_a_page_says_is_its_content():
    text = "The north light burns with a range of nineteen miles. " * 5
    data = f'{{"@context": "https://schema.org", "@type": "Article", "headline": "Lights", "articleBody": "{text}"}}'
    page = f'<script type="application/ld+json">{data}</script><div id=root></div><script src=/app.js></script>'

    assert "nineteen miles" in play(Direct().read(URL), reply(page)).result.content
