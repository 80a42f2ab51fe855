"""Twenty ways in which scripts make a page, one page each, with its code in it, and
what a reader must find there.
"""

from __future__ import annotations
from typing import NamedTuple

_FERRY = (
    "The ferry to Norrholm leaves at 7.40 from the inner pier, and carries forty people and twelve bicycles. "
    "In winter it waits for the school bus, which may be late when the pass is closed."
)
_OFFICE = (
    "Tickets are sold on board and cost 14 crowns one way. The office by the crane opens an hour before each crossing, "
    "and keeps what was left behind for thirty days."
)
_HEAD = "<!DOCTYPE html><html lang=en><meta charset=utf-8><title>{}</title><body>"
_ARTICLE = f"<h1>Ferries of the north</h1><p>{_FERRY}</p><p>{_OFFICE}</p>"


class Kind(NamedTuple):
    """A page.

    Args:
        html: Its source, without the head.
        says: What its reader must get; nothing if a reader of text can get nothing, so
            that an error is right.
        never: What must not be there.
        route: The fragment to ask for.

    """

    html: str
    says: tuple[str, ...] = ("7.40 from the inner pier", "14 crowns one way")
    never: tuple[str, ...] = ()
    route: str = ""


KINDS = {
    "template": Kind(
        "<main id=m><h1>{{title}}</h1><p v-for='one in parts'>{{one}}</p></main>"
        f"<script>setTimeout(() => {{ m.innerHTML = `{_ARTICLE}` }}, 300)</script>",
        never=("{{",),
    ),
    "hash-route": Kind(
        "<nav><a href='#/'>Home</a> <a href='#/b'>Ferries</a></nav><main id=m></main><script>const show = () => { m.innerHTML"
        f" = location.hash === '#/b' ? `{_ARTICLE}` : '<h1>Welcome</h1><p>This is the first page of the harbour, with a few"
        " words about its history and the people who work here, from early morning until the lamps are lit.</p>' };"
        "addEventListener('hashchange', show); show()</script>",
        never=("This is the first page",),
        route="#/b",
    ),
    "history-route": Kind(
        "<nav><a href=/>Home</a></nav><div id=app></div><script>history.replaceState({}, '', location.pathname + '/ferries');"
        f"app.innerHTML = `{_ARTICLE}`</script>"
    ),
    "tabs": Kind(
        "<div role=tablist><button role=tab id=t1 aria-selected=true>Times</button><button role=tab id=t2 "
        "aria-selected=false>Prices</button></div><div role=tabpanel id=p></div><script>const show = (tab, text) => {"
        "for (const one of [t1, t2]) one.setAttribute('aria-selected', one === tab); p.innerHTML = `<p>${text}</p>` };"
        f"t1.onclick = () => show(t1, '{_FERRY}'); t2.onclick = () => show(t2, '{_OFFICE}'); t1.click()</script>"
    ),
    "accordion": Kind(
        "<main><h1>Questions</h1><button id=a aria-expanded=false>When does it leave?</button><div id=x></div>"
        "<button id=b aria-expanded=false>What does it cost?</button><div id=y></div></main><script>"
        f"a.onclick = () => {{ a.setAttribute('aria-expanded', 'true'); x.innerHTML = '<p>{_FERRY}</p>' }};"
        f"b.onclick = () => {{ b.setAttribute('aria-expanded', 'true'); y.innerHTML = '<p>{_OFFICE}</p>' }}</script>"
    ),
    "lazy-images": Kind(
        f"<main id=m></main><script>m.innerHTML = `{_ARTICLE}` + [1, 2, 3].map((n) => `<figure style='min-height:1500px'>"
        "<img loading=lazy src=/none${n}.png alt=''><figcaption></figcaption></figure>`).join('');"
        "const watch = new IntersectionObserver((seen) => { for (const one of seen) if (one.isIntersecting)"
        " one.target.querySelector('figcaption').textContent = 'The pier of Norrholm in the storm of 1911, from the north' });"
        "for (const one of document.querySelectorAll('figure')) watch.observe(one)</script>",
        says=("7.40 from the inner pier", "The pier of Norrholm in the storm of 1911"),
    ),
    "infinite": Kind(
        "<h1>All crossings</h1><ul id=list></ul><script>let n = 0; const more = () => { for (let k = 0; k < 20 && n < 4000; k++)"
        " list.insertAdjacentHTML('beforeend', `<li style='height:60px'>Crossing ${++n} leaves with ${n % 40} people</li>`) };"
        "more(); addEventListener('scroll', () => { if (scrollY + innerHeight > document.body.scrollHeight - 200) more() })</script>",
        says=("Crossing 1 leaves", "Crossing 60 leaves"),
    ),
    "fetched-faq": Kind(
        "<h1>Help</h1><dl id=faq></dl><script>fetch('/faq.json').then((r) => r.json()).then((all) => { faq.innerHTML ="
        " all.map((one) => `<dt>${one.q}</dt><dd>${one.a}</dd>`).join('') })</script>"
    ),
    "server-events": Kind(
        "<h1>Notices</h1><div id=log aria-live=polite></div><script>const from = new EventSource('/notices.events');"
        "from.onmessage = (said) => log.insertAdjacentHTML('beforeend', `<p>${said.data}</p>`); from.onerror = () => from.close()"
        "</script>"
    ),
    "slow-api": Kind(
        "<div id=root><p>Loading the timetable…</p></div><script>setTimeout(() => fetch('/api/article/tide-tables?delay=1500')"
        f".then(() => {{ root.innerHTML = `{_ARTICLE}` }}), 2000)</script>",
        never=("Loading the timetable",),
    ),
    "consent": Kind(
        "<div id=gate><h2>Your privacy</h2><p>We and 812 partners store cookies on this device.</p>"
        "<button id=yes>Accept all</button> <button id=no>Reject all</button></div><main id=m></main><script>"
        "yes.onclick = () => { gate.remove(); m.innerHTML = '<p>You are being tracked by all of our partners now.</p>' };"
        f"no.onclick = () => {{ gate.remove(); m.innerHTML = `{_ARTICLE}` }}</script>",
        never=("being tracked", "812 partners"),
    ),
    "open-shadow": Kind(
        "<div id=host></div><script>host.attachShadow({ mode: 'open' }).innerHTML = "
        f"`<style>p {{ color: #222 }}</style>{_ARTICLE}`</script>"
    ),
    "closed-shadow": Kind(
        f"<div id=host></div><script>host.attachShadow({{ mode: 'closed' }}).innerHTML = `{_ARTICLE}`</script>"
    ),
    "canvas": Kind(
        "<canvas id=c width=900 height=300></canvas><script>const on = c.getContext('2d'); on.font = '20px serif';"
        f"on.fillText('{_FERRY}', 10, 50)</script>",
        says=(),
    ),
    "frame": Kind(
        f"<div id=d></div><script>const made = document.createElement('iframe'); made.width = 900; made.height = 500;"
        f"d.append(made); made.contentDocument.body.innerHTML = `{_ARTICLE}`</script>"
    ),
    "component": Kind(
        "<ferry-times></ferry-times><script>customElements.define('ferry-times', class extends HTMLElement {"
        f"connectedCallback() {{ this.innerHTML = `{_ARTICLE}` }} }})</script>"
    ),
    "service-worker": Kind(
        "<div id=out></div><script>const show = () => fetch('/ferries.json').then((r) => r.json()).then((text) => {"
        " out.innerHTML = `<h1>Ferries</h1><p>${text.a}</p><p>${text.b}</p>` });"
        "navigator.serviceWorker ? navigator.serviceWorker.register('/worker.js').then(show, show) : show()</script>"
    ),
    "virtual": Kind(
        "<h1>Berths</h1><div id=box style='height:400px;overflow:auto'><div id=all style='position:relative;height:4000px'>"
        "</div></div><script>const draw = () => { const from = Math.floor(box.scrollTop / 40); all.innerHTML = '';"
        "for (let n = from; n < Math.min(100, from + 12); n++) all.insertAdjacentHTML('beforeend',"
        " `<div style='position:absolute;top:${n * 40}px'>Berth ${n + 1} is ${3 + n % 7} metres deep</div>`) };"
        "box.onscroll = draw; draw()</script>",
        says=("Berth 1 is 3 metres", "Berth 60 is", "Berth 100 is"),
    ),
    "print": Kind(
        "<style>@media screen { .paper { display: none } }</style><div id=sheet></div><script>sheet.innerHTML = "
        f"`{_ARTICLE}<p class=paper>Printed for the archive on request</p>`; print()</script>",
        never=("Printed for the archive",),
    ),
    "noscript": Kind(
        f"<noscript><h1>Ferries</h1><p>{_FERRY}</p><p>{_OFFICE} This list is for those who read without scripts.</p></noscript>"
        f"<div id=app></div><script>app.innerHTML = `{_ARTICLE}`</script>"
    ),
}  # fmt: skip
_WALL = (
    "<div id=w><p>{}</p><button id=yes>{}</button>{}</div><main id=m></main><script>"
    "yes.onclick = () => {{ w.remove(); m.innerHTML = '<p>You have agreed to everything that we could think of.</p>' }};"
    f"if (window.no) no.onclick = () => {{{{ w.remove(); m.innerHTML = `{_ARTICLE}` }}}}</script>"
)
_NO = "<button id=no>{}</button>"
_AGREED = ("You have agreed",)
WALLS = {
    "only-accept": Kind(
        _WALL.format("We store cookies to know you better.", "I agree", ""),
        says=(),
        never=_AGREED,
    ),
    "german": Kind(
        _WALL.format(
            "Wir speichern Cookies.", "Alle akzeptieren", _NO.format("Nur notwendige")
        ),
        never=_AGREED,
    ),
    "japanese": Kind(
        _WALL.format("クッキーを使います。OK?", "OK", _NO.format("すべて拒否")),
        never=_AGREED,
    ),
}
_DATA = {
    "/faq.json": f'[{{"q": "When does it leave?", "a": "{_FERRY}"}}, {{"q": "What does it cost?", "a": "{_OFFICE}"}}]',
    "/ferries.json": f'{{"a": "{_FERRY}", "b": "{_OFFICE}"}}',
    "/notices.events": f"data: {_FERRY}\n\ndata: {_OFFICE}\n\n",
    "/worker.js": "addEventListener('fetch', () => {})",
}
_PAGES = {f"/kinds/{name}": kind for name, kind in KINDS.items()} | {
    f"/walls/{name}": kind for name, kind in WALLS.items()
}
FILES = {path: _HEAD.format(path) + kind.html for path, kind in _PAGES.items()} | _DATA
