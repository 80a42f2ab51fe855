// Decline consent walls. It never accepts: a wall that offers no way to decline is taken away, unanswered.
//
// Each framework: [name, its box, the controls that decline, in order of preference, and the controls that lead to them].
// Names of elements are those that the frameworks document for styling and testing.
(() => {
  const { dom } = websearch;
  // They are data, since the reader of HTML leaves out the same boxes.
  const FRAMEWORKS = websearch.consent.frameworks;
  // What people call it, in the languages of Europe. These words and its place identify a wall of an unknown framework.
  const ABOUT = new RegExp(websearch.consent.about, "i");
  const DECLINE = new RegExp(
    "\\b(?:reject|decline|deny|refuse|disagree|do not (?:accept|consent|agree|allow)|don[\u2019']t (?:accept|allow)|no,? thanks|" +
      "without (?:accepting|agreeing|consent)|(?:only |strictly )?(?:necessary|essential|required)(?: cookies)?(?: only)?|" +
      "ablehnen|verweigern|nur (?:notwendige|erforderliche|essenzielle)|ohne (?:einwilligung|zustimmung)|" +
      "refuser|sans accepter|continuer sans|rechazar|solo (?:las )?necesarias|rifiuta|solo (?:i )?necessari|" +
      "recusar|rejeitar|apenas necess\u00e1ri|weigeren|afwijzen|alleen noodzakelijk|odrzu\u0107|tylko niezb\u0119dne|" +
      "avvis|afvis|kun n\u00f8dvendige|neka|endast n\u00f6dv\u00e4ndiga|hylk\u00e4\u00e4|vain v\u00e4ltt\u00e4m\u00e4tt\u00f6m\u00e4t|odm\u00edtnout|elutas\u00edt|reddet|" +
      "resping|odmietnu|odbij|zavrni)|" +
      "\u03b1\u03c0\u03cc\u03c1\u03c1\u03b9\u03c8\u03b7|\u043e\u0442\u043a\u043b\u043e\u043d\u0438\u0442\u044c|\u043e\u0442\u043a\u0430\u0437\u0430\u0442\u044c\u0441\u044f|\u0432\u0456\u0434\u0445\u0438\u043b\u0438\u0442\u0438|" +
      "\u62d2\u5426|\u62d2\u7edd|\u62d2\u7d55|\u540c\u610f\u3057\u306a\u3044|\uac70\ubd80|\ub3d9\uc758\ud558\uc9c0 \uc54a",
    "i",
  );
  const ALSO_ACCEPTS = /\b(?:and|und|et|y|e|&) (?:accept|akzept|accepter|aceptar)|(?:accept|agree to|allow) all/i;
  const ACCEPT = /accept|agree|allow|consent|akzept|zustimm|erlaub|einverstanden|aceptar|permitir|accetta|acconsent|aceitar|accepteren|toestaan|zgadzam|godkend|godta|till\u00e5t|hyv\u00e4ksy|\bok\b|got it/i;

  // A control that says "accept" declines nothing, whatever its name in the page is.
  const accepts = (element) => {
    const said = `${dom.said(element)} ${dom.attribute(element, "aria-label") ?? ""}`;
    return ACCEPT.test(said) && !DECLINE.test(said);
  };
  // Where the controls of a box may be: in it, in its shadow root, in its frame if that is of this origin.
  const placesOf = (box) => {
    const places = [box];
    for (const place of places) {
      const shadow = dom.type(place) === 1 && dom.shadowRoot(place);
      if (shadow) places.push(shadow);
      for (const element of dom.findAllIn(place, "*")) {
        const inner = dom.shadowRoot(element) ?? dom.inside(element);
        if (inner && places.length < 20) places.push(inner);
      }
    }
    return places;
  };
  const controlIn = (places, selectors) => {
    if (!selectors) return null;
    for (const selector of selectors.split(",")) {
      for (const place of places) {
        for (const element of dom.findAllIn(place, selector)) if (!accepts(element) && dom.isRendered(element)) return element;
      }
    }
    return null;
  };
  const buttonThatDeclines = (places) => {
    for (const place of places) {
      for (const element of dom.findAllIn(place, 'button,[role="button"],a,input[type="button"]')) {
        const href = dom.name(element) === "a" ? dom.attribute(element, "href") ?? "#" : "#";
        const said = dom.said(element) || dom.attribute(element, "value") || "";
        if (said.length < 60 && /^(?:#|javascript:)/i.test(href) && declines(said) && dom.isRendered(element)) return element;
      }
    }
    return null;
  };
  const declines = (said) => DECLINE.test(said) && !ALSO_ACCEPTS.test(said);
  const isShown = (box) => dom.isSeen(box) || placesOf(box).some((place) => place !== box && [...dom.findAllIn(place, "button,a,div")].some(dom.isSeen));

  // A box of no known framework: it lies over the page and speaks of cookies and the like.
  const unknownWall = () => {
    for (const element of dom.findAll('dialog[open],[role="dialog"],[role="alertdialog"],[class*="cookie" i],[id*="cookie" i],[class*="consent" i],[id*="consent" i],[class*="gdpr" i],[id*="gdpr" i]')) {
      const name = dom.name(element);
      if (name === "body" || name === "html" || name === "script" || name === "style" || !dom.isSeen(element)) continue;
      const said = dom.said(element);
      if (said.length < 20 || said.length > 6_000 || !ABOUT.test(said)) continue;
      const over = overPage(element);
      if (over) return over;
    }
    return null;
  };
  // A box that stands in the page, under any name: it speaks of cookies and the like, and asks to accept them. It is
  // declined where it offers that, and stays where it is; it is a wall if there is next to nothing besides.
  const wallInPage = () => {
    for (const control of dom.findAll('button,[role="button"],a[href="#"],a:not([href])')) {
      if (dom.said(control).length > 60 || !accepts(control) || !dom.isSeen(control)) continue;
      for (let at = dom.parent(control), up = 0; at && up < 6 && dom.name(at) !== "html"; at = dom.parent(at), up++) {
        const said = dom.said(at);
        if (said.length > 3_000) break;
        if (!ABOUT.test(said)) continue;
        if (buttonThatDeclines([at])) return at;
        if (dom.name(at) === "body" || said.length > dom.innerText(dom.body(dom.top)).length / 2) return at;
      }
    }
    return null;
  };
  const overPage = (element) => {
    for (let at = element, up = 0; at && up < 6; at = dom.parent(at), up++) {
      if (/^(?:body|html|main|article)$/.test(dom.name(at))) return null;
      if (/fixed|sticky/.test(getComputedStyle(at).position) || (dom.name(at) === "dialog" && dom.has(at, "open"))) return at;
    }
    return null;
  };
  const findWall = () => {
    for (const [name, selector, decline, more] of FRAMEWORKS) {
      const boxes = dom.findAll(selector).filter(isShown);
      if (boxes.length) return { name, boxes, decline, more };
    }
    const over = unknownWall();
    const box = over ?? wallInPage();
    return box && { name: "", boxes: [box], decline: "", more: "", isInPage: !over };
  };

  // Take one step towards declining. Returns null if there is no wall, or its name and what was done.
  const asked = new Set(); // what was clicked, and "wall" if one in the page was reported
  websearch.decline = () => {
    const wall = findWall();
    if (!wall) return null;
    const places = wall.boxes.flatMap(placesOf);
    const control = controlIn(places, wall.decline) ?? buttonThatDeclines(places);
    if (control && !asked.has(control)) {
      asked.add(control);
      dom.click(control);
      return { name: wall.name, did: "declined" };
    }
    const more = controlIn(places, wall.more);
    if (more && !asked.has(more)) {
      asked.add(more);
      dom.click(more);
      return { name: wall.name, did: "asked" };
    }
    if (wall.isInPage) return control || asked.has("wall") ? null : (asked.add("wall"), { name: "", did: "stopped" });
    takeAway(wall.boxes);
    return { name: wall.name, did: "removed" };
  };

  // Remove the boxes and what darkens the page behind them, and let the page scroll again.
  const takeAway = (boxes) => {
    for (const box of boxes) dom.remove(box);
    for (const element of dom.findAll("body > div,body > section,body > aside")) {
      const style = getComputedStyle(element);
      const rect = dom.rect(element);
      const covers = rect.width >= innerWidth * 0.95 && rect.height >= innerHeight * 0.95;
      if (style.position === "fixed" && covers && !dom.said(element)) dom.remove(element);
    }
    for (const element of [dom.root(dom.top), dom.body(dom.top)]) {
      if (!element) continue;
      const style = getComputedStyle(element);
      for (const [name, value, is] of [
        ["overflow", "visible", style.overflowY === "hidden"],
        ["position", "static", style.position === "fixed"],
        ["filter", "none", style.filter !== "none"],
      ]) {
        if (is) element.style.setProperty(name, value, "important");
      }
    }
  };
})();
