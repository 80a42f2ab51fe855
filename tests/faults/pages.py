"""Faults 30 to 46: what the URL of a page, its redirects and its body can do to whoever
reads it.
"""

from __future__ import annotations
import gzip

from tests.faults.answers import (
    BOMB,
    BROTLI,
    GZIP,
    LONG,
    PAGE,
    TEXT,
    chunked,
    cut,
    drip,
    encoded,
    fail,
    html,
    make_case,
    page_head,
    to,
)
from tests.faults.model import Fault
from tests.server import closing, endless, head, http

_CORPUS = "tests/core/net/test_guard_corpus.py"
_SENDER = "tests/core/net/test_sender.py"
_HINT = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"

FAULTS = (
    Fault(
        number=30,
        name="a hostile URL",
        injected="a corpus of 1,177 hostile and honest URLs",
        promise="hostile ones are refused and nothing is connected to, ambiguous ones are not looked up, honest ones are read",
        proven_by=(
            f"{_CORPUS}::test_nothing_forbidden_or_ambiguous_is_connected_to_and_nothing_ambiguous_is_looked_up",
            f"{_CORPUS}::test_everything_honest_is_read_from_one_public_address_that_was_judged",
        ),
    ),
    Fault(
        number=31,
        name="a name that changes its address (DNS rebinding)",
        injected="a resolver that answers with a public address, then with that of a metadata service",
        promise="one look-up for each connection, which goes to the address that was judged",
        proven_by=(
            f"{_CORPUS}::test_a_name_that_changes_its_mind_is_judged_again_for_every_connection",
            f"{_CORPUS}::test_a_name_that_changes_its_mind_between_two_hops_is_judged_at_both",
            f"{_SENDER}::test_the_address_judged_is_the_address_connected_to",
        ),
    ),
    Fault(
        number=32,
        name="a private address among public ones",
        injected="a resolver with both",
        promise="the name is refused",
        proven_by=(
            f"{_CORPUS}::test_one_bad_address_among_good_ones_rules_out_all_of_them",
        ),
    ),
    Fault(
        number=33,
        name="a redirect to where nobody may go",
        injected="`Location` with a private or metadata address, a file, data, a password, another scheme, broken brackets",
        promise="`unsafe_url` at that hop, and nothing is connected to",
        cases=fail(
            "unsafe_url",
            {
                place: to(place)
                for place in (
                    "http://10.0.0.1/",
                    "http://169.254.169.254/",
                    "http://[::ffff:169.254.169.254]/",
                    "http://2130706433/",
                    "file:///etc/passwd",
                    "data:text/html,hi",
                    "ftp://a.example/",
                    "gopher://127.0.0.1/",
                    "javascript:1",
                    "http://u:p@127.0.0.1/",
                    "http://[::1",
                    "//[",
                    "//℀.example",
                    "//a：b",
                    "http://[",
                    "https://[",
                    "//[::1",
                    "//]",
                    "//[v1.x]:y",
                    f"/{'a' * 71_680}",
                )
            }
            | {
                "refresh": html(
                    b"<meta http-equiv=refresh content='0;url=http://169.254.169.254/'>Moved."
                )
            },
            peers=False,
        ),
        proven_by=(
            f"{_CORPUS}::test_a_redirect_that_leads_astray_is_refused_as_unsafe",
        ),
    ),
    Fault(
        number=34,
        name="redirects without end",
        injected="a redirect to itself; a chain of ever new places",
        promise="`bad_response` after ten",
        cases=(
            *fail("bad_response", {"to itself": to("/page")}, requests=11),
            make_case(
                name="ever new",
                answers=tuple(to(f"/page?{number}") for number in range(30)),
                expected="bad_response",
                requests=11,
            ),
            *fail("bad_response", {"nowhere": http(b"", "302 Found")}),
        ),
    ),
    Fault(
        number=35,
        name="a redirect from https to http",
        injected="a server with a good certificate that redirects",
        promise="`unsafe_url`",
        cases=(
            make_case(
                answers=(to("http://127.0.0.1/"),),
                expected="unsafe_url",
                requests=1,
                base="https://127.0.0.1:{port}",
                certificate="good",
                peers=False,
            ),
        ),
    ),
    Fault(
        number=36,
        name="a redirect with a body without end",
        injected="that answer, then a page",
        promise="the body is not read; the page is",
        cases=(
            make_case(
                answers=(
                    endless(b"x" * 65_536, head("302 Found", "Location: /there")),
                    html(PAGE),
                ),
                expected="ok",
                text=TEXT,
                requests=2,
            ),
        ),
    ),
    Fault(
        number=37,
        name="cookies, and a redirect",
        injected="`Set-Cookie`, then a redirect",
        promise="no cookie, key or referrer is sent",
        proven_by=(
            "tests/faults/test_connections.py::test_nothing_of_ours_goes_along_a_redirect",
        ),
    ),
    Fault(
        number=38,
        name="proxies in the environment",
        injected="`HTTP_PROXY`, `ALL_PROXY`",
        promise="not used for pages",
        proven_by=(
            f"{_SENDER}::test_proxies_of_the_environment_are_for_services_and_never_for_pages",
        ),
    ),
    Fault(
        number=39,
        name="two hosts at one address, a certificate for one of them",
        injected="a server with a certificate for the first, which is read first",
        promise="the second is refused, and its request never sent",
        proven_by=(
            "tests/faults/test_connections.py::test_a_connection_to_one_host_is_not_used_for_another",
        ),
    ),
    Fault(
        number=40,
        name="a bomb of gzip",
        injected=f"{len(GZIP) // 1024} KiB that become {BOMB // 2**20} MiB",
        promise="cut at the limit, and said so",
        cases=(
            *cut({"a page": closing(encoded(GZIP, "gzip"))}),
            *cut(
                {"a small page": encoded(gzip.compress(b"<p>boom " * 2**17), "gzip")},
                peers=False,
            ),
        ),
    ),
    Fault(
        number=41,
        name="an encoding that was not asked for",
        injected="a bomb of brotli, zstd, an encoding that nobody knows",
        promise="`bad_response`, and nothing is unpacked",
        cases=fail(
            "bad_response",
            {
                "brotli": closing(encoded(BROTLI, "br")),
                "zstd": encoded(b"\x28\xb5\x2f\xfd", "zstd"),
                "unknown": encoded(PAGE, "compress"),
            },
        ),
    ),
    Fault(
        number=42,
        name="gzip within gzip",
        injected=f"{len(gzip.compress(GZIP))} bytes that become {BOMB // 2**20} MiB",
        promise="cut at the limit, like any page",
        cases=cut({"twice": closing(encoded(gzip.compress(GZIP), "gzip, gzip"))}),
    ),
    Fault(
        number=43,
        name="a body without end",
        injected="bytes, or chunks, that never stop",
        promise="cut at the limit, and said so",
        cases=(
            *cut(
                {
                    "a body": endless(LONG.encode() * 4, page_head()),
                    "chunks": endless(
                        b"8000\r\n" + b"<p>kelp " * 4096 + b"\r\n", chunked(b"")
                    ),
                }
            ),
            *cut(
                {
                    "longer than the limit": html(LONG.encode()),
                    "one line": http(b"a" * 5000, "200 OK", "Content-Type: text/plain"),
                },
                peers=False,
            ),
        ),
    ),
    Fault(
        number=44,
        name="one byte at a time",
        injected="a body, a header, a status line; silence before and after the head",
        promise="`timed_out`; a page may also be cut, with a note",
        cases=drip({"body": endless(b"x", page_head(), 0.02)}, is_page=True)
        + drip(
            {
                "header": endless(b"a", b"HTTP/1.1 200 OK\r\nX: ", 0.02),
                "status line": endless(b"H", b"", 0.02),
                "silence": endless(b"", b"", 0.05),
                "silence after the head": endless(
                    b"", page_head("Content-Length: 100"), 0.05
                ),
            }
        ),
    ),
    Fault(
        number=45,
        name="chunks of one byte, extensions of chunks",
        injected="both without end",
        promise="`timed_out`; a page may also be cut, with a note",
        cases=drip(
            {"chunks": endless(b"1\r\nx\r\n", chunked(b""), 0.001)}, is_page=True
        )
        + drip(
            {
                "extensions": endless(
                    b"1;" + b"a" * 30_000 + b"\r\nx\r\n", chunked(b"")
                ),
            }
        ),
    ),
    Fault(
        number=46,
        name="early hints without end",
        injected="`103 Early Hints`, again and again, as fast as they can be read; one every 20 ms",
        promise="`unavailable`; `timed_out`",
        cases=(
            *fail("unavailable", {"fast": endless(_HINT * 50)}, requests=1),
            *drip({"slow": endless(_HINT, pause=0.02)}),
        ),
    ),
)
