"""Answers of the servers of pages, and the cases that they make."""

from __future__ import annotations
import base64
import zlib
from collections.abc import Mapping
from functools import partial

from tests.faults.model import Case
from tests.server import Answer, head, http

HTML = "Content-Type: text/html"
PAGE = b"<title>Kelp</title><p>Brown algae of the northern seas."
TEXT = "Brown algae of the northern seas."
# longer than the limit of the cases that are cut
LONG = "<p>Brown algae of the northern seas. " * 200
LIMIT = 2000
BOMB = 128 * 2**20  # bytes in each bomb
# As many zeros, compressed by brotli 1.2.1; nothing here can make them.
BROTLI = zlib.decompress(
    base64.b64decode(
        "eNoBagCV/8///3/4JwDisUAg9/6f////8E8AxGEBgO79P////+GfAIjDIgDd+3/+///DPwEQhwUAuvf//P//h38CIA4LAHTv//n//w//BEAcFgDo3v/z//8f/gmAOCwA0L3/5///P/wTAHFYAKB7/z9ngj1E"
    )
)

make_case = partial(Case, where="page")


def html(body: bytes, *headers: str) -> bytes:
    """Answer with a page."""
    return http(body, "200 OK", HTML, *headers)


def page_head(*headers: str) -> bytes:
    """Answer with the beginning of a page, whose length is not known."""
    return head("200 OK", HTML, *headers)


def chunked(body: bytes, *headers: str) -> bytes:
    return page_head("Transfer-Encoding: chunked", *headers) + body


def encoded(body: bytes, encoding: str) -> bytes:
    return html(body, f"Content-Encoding: {encoding}")


def raw_deflate(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(data) + compressor.flush()


def _make_bomb(text: bytes) -> bytes:
    """Compress *text*, repeated, with gzip."""
    compressor = zlib.compressobj(6, wbits=zlib.MAX_WBITS | 16)
    piece = text * (2**20 // len(text))
    return (
        b"".join(compressor.compress(piece) for _ in range(BOMB // len(piece)))
        + compressor.flush()
    )


def to(place: str) -> bytes:
    return http(b"", "302 Found", f"Location: {place.encode().decode('latin-1')}")


def read(answers: Mapping[str, Answer]) -> tuple[Case, ...]:
    """Pages that are read as if nothing were wrong."""
    return tuple(
        make_case(name=name, answers=(answer,), expected="ok", text=TEXT)
        for name, answer in answers.items()
    )


def fail(
    code: str, answers: Mapping[str, Answer], requests: int = 0, *, peers: bool = True
) -> tuple[Case, ...]:
    """Pages that end in an error: after three attempts if that may pass."""
    requests = requests or (3 if code == "unavailable" else 1)
    return tuple(
        make_case(
            name=name, answers=(answer,), expected=code, requests=requests, peers=peers
        )
        for name, answer in answers.items()
    )


def cut(answers: Mapping[str, Answer], *, peers: bool = True) -> tuple[Case, ...]:
    """Pages that are cut at a limit; others have none that is so low."""
    return tuple(
        make_case(
            name=name,
            answers=(answer,),
            expected="cut",
            requests=1,
            max_bytes=LIMIT,
            peers=peers,
        )
        for name, answer in answers.items()
    )


def lack_end(answers: Mapping[str, Answer]) -> tuple[Case, ...]:
    """Pages whose end does not arrive, not at a second attempt either."""
    return tuple(
        make_case(name=name, answers=(answer,), expected="cut", requests=2)
        for name, answer in answers.items()
    )


def drip(answers: Mapping[str, Answer], *, is_page: bool = False) -> tuple[Case, ...]:
    """Answers that do not end. A page is cut if a part of it takes half of the time
    that is left, as any part may on a busy machine.
    """
    return tuple(
        make_case(
            name=name,
            answers=(answer,),
            expected="timed_out",
            may_be_cut=is_page,
            limit=0.5,
        )
        for name, answer in answers.items()
    )


GZIP = _make_bomb(b"<p>boom ")
