// How far a page is: `settle.py` asks again and again until the answer stays the same.
(() => {
  const { dom } = websearch;
  const MOST = 300_000; // characters that are compared
  const SHORT = 200; // characters: a page with scripts that says less may still have to begin
  const BUSY =
    '[aria-busy="true"],[role="progressbar"],progress:not([value]),[class*="skeleton" i],[class*="spinner" i],' +
    '[class*="shimmer" i],[class*="loader" i],[class*="loading" i],[class*="placeholder-glow" i]';
  const WAITING = /^\W*(?:loading|please wait|just a moment|one moment|initiali[sz]ing|fetching|connecting|redirecting)\b/i;

  const text = () => {
    let said = "";
    const textOf = dom.isLarge() ? dom.textContent : dom.innerText;
    for (const root of dom.roots()) {
      if (said.length > MOST) break;
      if (dom.type(root) === 9) {
        const body = dom.body(root);
        if (body) said += textOf(body);
      } else {
        for (let child = dom.firstChild(root); child; child = dom.nextSibling(child)) {
          if (dom.type(child) === 3) said += dom.data(child);
          else if (dom.isHTML(child) && dom.name(child) !== "style") said += textOf(child);
        }
      }
    }
    return said.slice(0, MOST);
  };
  const hash = (said) => {
    let sum = 0;
    for (let at = 0; at < said.length; at++) sum = (Math.imul(sum, 31) + said.charCodeAt(at)) | 0;
    return sum;
  };
  const isBusy = () => {
    let looked = 0;
    for (const element of dom.findAll(BUSY)) {
      if (looked++ > 50) return false;
      const name = dom.name(element);
      if (name === "body" || name === "html" || name === "img" || name === "script") continue;
      // A class such as "loading" on a part with text says how the part loads its images.
      if (dom.said(element).length < 60 && dom.isSeen(element)) return true;
    }
    return false;
  };

  websearch.probe = () => {
    const said = text().replace(/\d+/g, "0").trim(); // a clock that ticks says nothing new
    const hasScripts = dom.findAllIn(dom.top, "script:not([type]),script[type*=javascript],script[type=module]").length > 0;
    return {
      state: dom.state(dom.top),
      url: dom.address(dom.top),
      length: said.length,
      hash: hash(said),
      waits: (hasScripts && (said.length < SHORT || WAITING.test(said))) || isBusy(),
      isLarge: dom.isLarge(),
    };
  };
})();
