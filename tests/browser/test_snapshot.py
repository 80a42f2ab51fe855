"""What a browser shows is read, what it hides is not, and a page cannot make the
browser say otherwise.
"""

from __future__ import annotations
import re
from types import MappingProxyType

import pytest

from tests.browser.site.server import serve
from tests.core.reading.html.test_hidden import KEPT_SHUT, OPENED, SPELLED
from websearch_core._browser import scripts
from websearch_core._browser.find import find_browser
from websearch_core._browser.host import host
from websearch_core._browser.render import Renderer
from websearch_core._net.guard import Guard
from websearch_core._net.sender import Sender
from websearch_core.errors import ConfigurationError
from websearch_core.flow import Request
from websearch_core.reading._html.blocks import find_blocks
from websearch_core.reading._html.harden import harden
from websearch_core.reading._html.parse import parse

pytestmark = [pytest.mark.e2e, pytest.mark.enable_socket]

LIMIT = "MOST_ELEMENTS: 101_000"  # in the script
SEEN = (
    "<p>"
    + "Every reader can see this sentence, and that is the point of it. " * 8
    + "</p>"
)

# Style sheets that hide, in the ways that pages write them.
HIDING_SHEETS = {
    "a class": (".x{display:none}", "<p class=x>{}</p>"),
    "an id": ("#x{display:none}", "<p id=x>{}</p>"),
    "an element": ("aside{display:none}", "<aside>{}</aside>"),
    "any element of a class": ("*.x{display:none}", "<p class='a x'>{}</p>"),
    "a compound": ("p.x.y#z{display:none}", "<p class='y x' id=z>{}</p>"),
    "a list": ("h6, .y ,.x{color:red;display:none}", "<p class=x>{}</p>"),
    "what is in it": (".x{display:none}", "<div class=x><p>a <b>{}</b></p></div>"),
    "a tiny font": (".x{font-size:0}", "<p class=x>{}</p>"),
    "an invisible box": (".x{visibility:hidden}", "<p class=x>{}</p>"),
    "no opacity": (".x{opacity:.01}", "<p class=x>{}</p>"),
    "far away": (".x{position:absolute;left:-9999px}", "<p class=x>{}</p>"),
    "for screen readers": (
        ".x{clip:rect(0,0,0,0);position:absolute}",
        "<p class=x>{}</p>",
    ),
    "clear": (".x{color:transparent}", "<p class=x>{}</p>"),
    "an escaped name": (r".md\:x{display:none}", "<p class=md:x>{}</p>"),
    "an escaped property": (r".x{d\69splay:none}", "<p class=x>{}</p>"),
    "an escaped value": (r".x{display:n\6f ne}", "<p class=x>{}</p>"),
    "comments": (
        "/* } */ .x/* { */{/**/display/**/:/**/none/**/}",
        "<p class=x>{}</p>",
    ),
    "a name in an old comment": ("<!-- .x{display:none} -->", "<p class=x>{}</p>"),
    "capitals": (".X{DISPLAY:NONE}", "<p class=X>{}</p>"),
    "a brace in a string": (
        '.a:before{content:"}"} .x{display:none}',
        "<p class=x>{}</p>",
    ),
    "a brace in an address": (
        ".a{background:url(}.x{)} .x{display:none}",
        "<p class=x>{}</p>",
    ),
    "a quote in an address": (
        '.a{background:url(a")} .x{display:none} .b{content:"a"}',
        "<p class=x>{}</p>",
    ),
    "a comment in an address": (
        ".a{background:url(/*)} .x{display:none}",
        "<p class=x>{}</p>",
    ),
    "never closed": (".x{display:none", "<p class=x>{}</p>"),
    "after a bad rule": ("!!{} .a{;;} .x{display:none}", "<p class=x>{}</p>"),
    "after an import": (
        "@import url(a.css); @charset 'x'; .x{display:none}",
        "<p class=x>{}</p>",
    ),
    "after keyframes": (
        "@keyframes a{from{top:0}to{top:1px}} .x{display:none}",
        "<p class=x>{}</p>",
    ),
    "on screens": ("@media screen{.x{display:none}}", "<p class=x>{}</p>"),
    "on wide and on narrow screens": (
        "@media (min-width:1px) and (max-width:9000px){.x{display:none}}",
        "<p class=x>{}</p>",
    ),
    "each on its screen": (
        "@media (min-width:900px){.x{display:none}} @media (max-width:899px){.x{opacity:0}}",
        "<p class=x>{}</p>",
    ),
    "where it is supported": (
        "@supports (display:grid){.x{display:none}}",
        "<p class=x>{}</p>",
    ),
    "in a layer": ("@layer a, b; @layer a{.x{display:none}}", "<p class=x>{}</p>"),
    "around a nested rule": (".x{display:none; .y{color:red}}", "<p class=x>{}</p>"),
    "after a nested rule": (".x{.y{color:red} display:none}", "<p class=x>{}</p>"),
    "a nested rule for another": (
        ".x{display:none; .y{display:block}}",
        "<p class=x>{}</p>",
    ),
    "important": (
        ".x{display:none!important} .x{display:block}",
        "<p class=x style='display:block'>{}</p>",
    ),
    "more specific": ("p.x{display:none} .x{display:block}", "<p class=x>{}</p>"),
    "later": (".x{display:block} .y{display:none}", "<p class='y x'>{}</p>"),
    "after what is not valid": (".x{display:none;display:shown}", "<p class=x>{}</p>"),
    "before what is for something else": (
        ".x{display:none} .y{display:block} p b{display:block}",
        "<p class=x>{}</p>",
    ),
    "before what is for its first letter": (
        ".x{display:none} .x::before{display:block}",
        "<p class=x>{}</p>",
    ),
    "before what is elsewhere": (
        ".x{display:none} .elsewhere .x{display:block}",
        "<p class=x>{}</p>",
    ),
    "before what is printed": (
        ".x{display:none} @media print{.x{display:block}}",
        "<p class=x>{}</p>",
    ),
    "together with its style": (
        ".x{display:block;height:0}.x{overflow:hidden;height:0}",
        "<p class=x>{}</p>",
    ),
}

# Each hides its text: by style sheets with what the style of an element can say, and in
# other ways.
ONLY_BROWSERS_KNOW = {
    "a sheet of another element": ("#a ~ .x{display:none}", "<p id=a>a</p><p class=x>{}</p>"),
    "a selector that we do not read": (":is(p:nth-last-child(1)){display:none}", "<p>{}</p>"),
    "the ground of what is around": ("div{background:#123456}p{color:#123456}", "<div><p>{}</p></div>"),
    "white on the canvas": (".x{color:#fff}", "<p class=x>{}</p>"),
    "a container": ("main{container-type:size;height:9px}@container (max-height:99px){.x{display:none}}", "<main><p class=x>{}</p></main>"),
    "variables": (":root{--a:none}.x{display:var(--a)}", "<p class=x>{}</p>"),
    "two rules that hide together": (".x{height:0}.y{overflow:hidden}", "<p class='x y'>{}</p>"),
    "what is around": (".x{opacity:0}", "<div class=x><p>a <b>{}</b></p></div>"),
    "a slot that shows nothing": ("", "<div><template shadowrootmode=open><p>a</p></template>{}</div>"),
    "a long part": (".x{display:none}", "<p class=x>{} " + "and many more words of the same kind, " * 60 + "</p>"),
    "a sheet in a shadow root": ("", "<div><template shadowrootmode=open><style>p{{display:none}}</style><p>{}</p></template></div>"),
    "a moved frame": ("iframe{position:absolute;left:-5000px}", "<iframe srcdoc='<p>{}</p>'></iframe>"),
    "what never fades in": (".x{opacity:0;transition:opacity 1s}", "<p class=x>{}</p>"),
    "script": ("", "<script>addEventListener('load', () => {{ document.querySelector('.x').style.display = 'none' }})</script><p class=x>{}</p>"),
    "faint around faint": ("div,p{opacity:.19}", "<div><p>{}</p></div>"),
    "a mask that lets nothing through": ("p{mask-image:radial-gradient(#0000,transparent)}", "<p>{}</p>"),
    "a path without area": ("p{clip-path:path('M5 5 L5 5Z')}", "<p>{}</p>"),
    "a corner outside of the box": ("p{clip-path:polygon(-4px -4px,-2px -4px,-2px -2px)}", "<p>{}</p>"),
    "a blur": ("p{filter:blur(2em)}", "<p>{}</p>"),
    "black on black": ("p{background:#fff;filter:brightness(0)}", "<p>{}</p>"),
    "grey on grey": ("body{background:#7f7f7f}p{filter:contrast(0%)}", "<p>{}</p>"),
    "the back of a card": ("p{transform:rotateX(180deg);backface-visibility:hidden}", "<p>{}</p>"),
    "lighter than white": ("body{background:white}p{mix-blend-mode:lighten}", "<p>{}</p>"),
    "the colour of a gradient": ("div{background:linear-gradient(#123,#123)}p{color:#123}", "<div><p>{}</p></div>"),
    "below the last line": ("div{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:1;overflow:hidden;height:20px}p{margin:40px}", "<div>a<p>{}</p></div>"),
    "a shadow without colour": ("p{color:#0000;text-shadow:1px 1px #0000}", "<p>{}</p>"),
    "a class that a script sets": (".js .x{display:none}", "<script>document.documentElement.className = 'js'</script><p class=x>{}</p>"),
}  # fmt: skip
SHOWN = {
    "a part of a frame": ("", "<iframe srcdoc='<p>{}</p>'></iframe>"),
    "a slot": ("", "<div><template shadowrootmode=open><b><slot></slot></b></template><p>{}</p></div>"),
    "what a sheet shows": ("p{display:block!important}", "<p hidden style='display:none'>{}</p>"),
    "a popover that a sheet shows": ("div{display:block!important}", "<div popover>{}</div>"),
    "white on an image": ("div{background:url(a.png)}p{color:#fff}", "<div><p>{}</p></div>"),
    "white over a picture": ("div{position:relative}p{position:absolute;color:#fff;top:0}", "<div><img src=a.png><p>{}</p></div>"),
    "white on dark": ("div{background:#222}p{color:#fff}", "<div><p>{}</p></div>"),
    "a larger font inside": (".x{font-size:0}p{font-size:16px}", "<div class=x><p>{}</p></div>"),
    "visible inside": (".x{visibility:hidden}p{visibility:visible}", "<div class=x><p>{}</p></div>"),
    "a colour inside": (".x{color:transparent}p{color:#000}", "<div class=x>a<p>{}</p></div>"),
    "what fades in": ("@keyframes in{from{opacity:0}}.x{animation:in 99s}", "<p class=x>{}</p>"),
    "a slide of a carousel": (".c{overflow:hidden;width:300px}.s{display:flex;width:3000px;transform:translateX(-900px)}.s p{width:300px}", "<div class=c><div class=s><p>{}</p><p>b</p><p>c</p><p>d</p></div></div>"),
    "what scrolls": (".c{overflow:auto;height:50px}.s{height:9000px}", "<div class=c><div class=s></div><p>{}</p></div>"),
    "details": ("", "<details><summary>a</summary><p>{}</p></details>"),
    "a heading that looks like a control": ("h3{cursor:pointer}.b{display:none}", "<h3 onclick='this.nextElementSibling.className=``'>More</h3><div class=b>{} and a few more words</div>"),
    "what `until-found` hides": ("", "<button aria-controls=x>More</button><p hidden=until-found id=x>{}</p>"),
    "a gradient": (".x{color:transparent;background:linear-gradient(red,blue);background-clip:text}", "<p class=x>{}</p>"),
    "a document in capitals": ("", "<P CLASS=X>{}</P>"),
    "half as dark twice": ("div,p{opacity:.5}", "<div><p>{}</p></div>"),
    "a mask that fades out": ("p{mask-image:linear-gradient(#000,transparent)}", "<p>{}</p>"),
    "a slanted edge": ("p{clip-path:polygon(0 0,100% 0,100% 90%,0 100%)}", "<p>{}</p>"),
    "a path around": ("p{clip-path:path('M0 0 H900 V500 H0Z')}", "<p>{}</p>"),
    "a slight blur": ("p{filter:blur(.5px) brightness(.8) contrast(1.2)}", "<p>{}</p>"),
    "black on white": ("p{filter:brightness(0)}", "<p>{}</p>"),
    "the front of a card": ("p{transform:rotateX(20deg);backface-visibility:hidden}", "<p>{}</p>"),
    "darker than white": ("body{background:white}p{mix-blend-mode:multiply}", "<p>{}</p>"),
    "a gradient of two colours": ("div{background:linear-gradient(#123,#fed)}p{color:#123}", "<div><p>{}</p></div>"),
    "the lines of a teaser": ("div{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:3;overflow:hidden}", "<div>a <p>{}</p></div>"),
    "a shadow alone": ("p{color:#0000;text-shadow:1px 1px #000}", "<p>{}</p>"),
}  # fmt: skip
# Without a browser these are taken for hiding, but a browser shows the text: there is
# no box to clip, or it can be scrolled to.
REACHED = {
    "clip:rect(0 0 0 0)",
    "clip:rect(1px,1px,1px,1px)",
    "transform:translate3d(0,9999px,0)",
}
CLOBBERED = """
<form id=f><input name=firstChild><input name=childNodes><input name=attributes><input name=shadowRoot><input name=nodeType>
<p>{}</p></form><img name=body><img name=documentElement><form name=getAnimations></form><a id=websearch></a><a id=websearch name=dom></a>
<object name=URL></object><img name=readyState>
<script>
for (const owner of [Node, Element, HTMLElement, Document, Array, String, Map, Set, RegExp]) {{
  for (const name of Object.getOwnPropertyNames(owner.prototype)) {{
    try {{ Object.defineProperty(owner.prototype, name, {{ get() {{ return () => "a lie"; }}, configurable: true }}); }} catch {{}}
  }}
}}
window.getComputedStyle = () => ({{ display: "none" }});
JSON.stringify = () => "a lie";
</script>"""


@pytest.fixture(scope="module")
def show():
    """``show({name: html})`` returns the visible text of each page, as the reader gets
    it from the browser.
    """
    try:
        find_browser()
    except ConfigurationError as error:
        pytest.skip(str(error))

    def show(body, others=MappingProxyType({})):
        with serve(more={**others, "/page": body}) as origin:
            request = Request(
                url=f"{origin}/page",
                guarded=True,
                max_bytes=5_000_000,
                transport=Renderer(),
            )
            response = Sender(Guard.allowing(["127.0.0.0/8"])).send(request)
        shown = find_blocks(parse(harden(response.content).source).body, rendered=True)
        return "\n".join(shown.block_texts), response

    yield show
    host.end()


def in_frames(pages):
    """Put each page in a frame of its own, so that one visit covers all of them."""
    frames = []
    for number, (css, body) in enumerate(pages.values()):
        html = f"<!DOCTYPE html><style>{css}</style>{SEEN if number < 1 else ''}{body.format(f'Secret{number}x')}"
        frames.append(
            f'<iframe width=1000 height=600 srcdoc="{html.replace("&", "&amp;").replace(chr(34), "&quot;")}"></iframe>'
        )
    return f"<!DOCTYPE html><body>{SEEN}{''.join(frames)}"


def find_seen(pages, text):
    """Return the names of the pages whose text was seen."""
    seen = {int(number) for number in re.findall(r"Secret(\d+)x", text)}
    return {name for number, name in enumerate(pages) if number in seen}


def test_what_only_a_browser_knows_to_be_hidden_is_left_out(show):
    text, _ = show(in_frames(ONLY_BROWSERS_KNOW))

    assert "Every reader can see" in text
    assert find_seen(ONLY_BROWSERS_KNOW, text) == set()


@pytest.mark.smoke
def test_what_a_browser_shows_is_read(show):
    text, _ = show(in_frames(SHOWN))

    assert set(SHOWN) - find_seen(SHOWN, text) == set()


def test_a_page_of_frames_says_what_they_say(show):
    frames = "".join(f'<frame src="data:text/html,no"><frame src="{n}">' for n in "ab")
    page = f"<html><head></head><frameset cols='*,*,*,*'>{frames}</frameset>"
    text, response = show(page, {"/a": f"{SEEN}first", "/b": f"{SEEN}second"})

    assert [text.count(word) for word in ("first", "second")] == [1, 1]
    assert response.notes == ("2 frames of other sites were left out",)


def test_what_style_sheets_hide_is_left_out(show):
    text, _ = show(in_frames(HIDING_SHEETS))

    assert find_seen(HIDING_SHEETS, text) == set()


def test_every_spelling_of_a_style_that_hides_is_left_out(show):
    pages = {
        style: (f".x{{{style}}}", "<p class=x>{}</p>")
        for style in SPELLED
        if style not in REACHED
    }
    text, _ = show(in_frames(pages))

    assert find_seen(pages, text) == set()


def test_controls_open_what_they_would_open_without_a_browser(show):
    pages = {
        name: ("", body)
        for name, body in OPENED.items()
        if "React" not in name and "piece" not in name
    }
    text, _ = show(in_frames(pages))

    assert set(pages) - find_seen(pages, text) == set()


def test_other_hidden_text_stays_hidden(show):
    # it has no box to clip
    pages = {name: ("", body) for name, body in KEPT_SHUT.items() if name != "clipped"}
    text, _ = show(in_frames(pages))

    assert find_seen(pages, text) == set()


def test_a_page_cannot_stand_between_the_browser_and_its_elements(show):
    text, response = show(
        f"<!DOCTYPE html><body>{SEEN}{CLOBBERED.format('Words in a form')}<p hidden>Secret</p>"
    )

    assert "Words in a form" in text
    assert "Every reader can see" in text
    assert "Secret" not in text
    assert "a lie" not in text
    assert response.url.endswith("/page")


def test_scripts_handlers_and_form_values_are_not_in_the_html(show):
    body = f"{SEEN}<p onclick='evil()' style='color:red'>a</p><input value=secret><textarea>secret</textarea><script>evil()</script>"
    html = show(
        f"<body>{body}<p>&lt;script>quoted()&lt;/script> <b title='\"><script>x</script>'>b</b>"
    )[1].content.decode()

    assert "evil" not in html
    assert "secret" not in html
    assert "<script" not in html
    assert "&lt;script&gt;quoted()" in html


def test_a_control_that_leads_elsewhere_costs_no_text(show):
    body = f"{SEEN}<div id=a><button onclick=\"location='/elsewhere'\">Show more</button></div>"
    text, response = show(f"<!DOCTYPE html><body>{body}")

    assert "Every reader can see" in text
    assert response.url.endswith("/page")
    assert response.status == 200


def test_links_and_forms_are_not_followed(show):
    visits = "<script>document.addEventListener('click', () => document.body.append('CLICKED'))</script>"
    body = "<a href='/elsewhere'>Read more</a><form action='/elsewhere'><button>Show more</button></form><nav><button aria-expanded=false>Menu</button></nav>"
    text, response = show(f"<!DOCTYPE html><body>{SEEN}{body}{visits}")

    assert "CLICKED" not in text
    assert response.url.endswith("/page")


@pytest.mark.parametrize(
    "script",
    [
        "for (let at = document.body, n = 0; n < 900; n++) at = at.appendChild(document.createElement('div'))",
        "document.body.insertAdjacentHTML('beforeend', '<b>word </b>'.repeat(10400))",
        "document.body.append('x'.repeat(5.2e6))",
    ],
    ids=["deep", "many", "long"],
)
def test_a_huge_page_is_cut(show, script, monkeypatch):
    source = scripts._source()
    # a slow machine
    monkeypatch.setattr(
        scripts, "_source", lambda: source.replace(LIMIT, "MOST_ELEMENTS: 10_000")
    )
    assert LIMIT in source
    text, response = show(f"<!DOCTYPE html><body>{SEEN}<script>{script}</script>")

    assert "Every reader can see" in text
    assert response.truncated
    assert len(response.content) <= 5_000_000
