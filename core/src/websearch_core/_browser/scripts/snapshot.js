// The page as HTML, with what the browser knows about the visibility of each element written into its `style`.
//
// The reader decides what is hidden (reading/_html/hidden.py); this script only states facts: computed values of the
// properties that can hide, and, where only layout knows (a box without area, off the page), a declaration that says so.
(() => {
  const { dom } = websearch;
  const MOST_DEPTH = 400;
  const MOST_VALUE = 2_000; // characters of an attribute
  const VOID = new Set("area base br col embed hr img input link meta source track wbr".split(" "));
  const LEFT_OUT = new Set(
    "script style noscript template object embed applet svg canvas audio video map select datalist textarea link".split(" "),
  );
  const OTHER_TAGS = new Map([["slot", "span"], ["frameset", "div"]]);
  const NAMES = new Set("id for headers href aria-controls aria-labelledby aria-describedby data-target data-bs-target".split(" "));
  const DATA = /^(?:application\/ld\+json|math\/)/i; // scripts that are content
  const OFF_PAGE = 100; // pixels
  const FAR = 2_000;

  const escapeText = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const escapeValue = (text) => text.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;");
  const pixels = (value) => Number.parseFloat(value) || 0;
  const alpha = (colour) => {
    const parts = /^rgba?\(([^)]*)\)$/.exec(colour);
    if (!parts) return colour === "transparent" ? 0 : Number.parseFloat(/\/\s*([\d.]+)\)$/.exec(colour)?.[1] ?? "1");
    const numbers = parts[1].split(/[\s,/]+/);
    return numbers.length > 3 ? Number.parseFloat(numbers[3]) : 1;
  };

  // Whether it is worth asking the reader if two colours can be distinguished.
  const isNear = (one, other) => {
    const [a, b] = [one, other].map((colour) => /^rgba?\(([^)]*)\)$/.exec(colour)?.[1].split(/[\s,/]+/).map(Number));
    return a && b ? [0, 1, 2].every((at) => Math.abs(a[at] - b[at]) < 24) : one === other;
  };
  const coloursIn = (value) => value.match(/(?:rgba?|color|oklab|oklch|lab|lch)\([^()]*\)|\btransparent\b/g) ?? [];
  const isClear = (value) => coloursIn(value).length > 0 && coloursIn(value).every((colour) => alpha(colour) < 0.05);
  // The colour of a background that is a gradient of one colour; empty if it is none.
  const flatGradient = (image) => {
    const [first, ...others] = /^(?:repeating-)?(?:linear|radial|conic)-gradient\(/.test(image) ? coloursIn(image) : [];
    return first && alpha(first) > 0.9 && others.every((other) => isNear(first, other)) ? first : "";
  };
  const amountOf = (filter, name) => {
    const amount = new RegExp(`\\b${name}\\(([\\d.e+-]+)`).exec(filter);
    return amount ? Number.parseFloat(amount[1]) : null;
  };
  // Whether a shape has no area, or none that is right of and below the corner of the box.
  const isEmptyShape = (shape) => {
    if (!/^(?:path|shape|polygon)\(/.test(shape)) return false;
    const numbers = (shape.match(/-?\d*\.?\d+(?:e-?\d+)?/g) ?? []).map(Number);
    return !numbers.length || Math.max(...numbers) - Math.min(...numbers) <= 1 || Math.max(...numbers) <= 0;
  };
  const LIGHTENING = new Set(["screen", "lighten", "color-dodge", "plus-lighter"]);
  const DARKENING = new Set(["multiply", "darken", "color-burn", "plus-darker"]);
  const scoped = (value, name, scope) => {
    if (name === "href") return value.startsWith("#") && value.length > 1 ? `#${scope}${value.slice(1)}` : value;
    return value.replace(/(#?)(\S+)/g, (_, mark, id) => mark + scope + id);
  };

  // Collected while scrolling and opening: what a list or a panel showed, and shows no more. See `scroll.js` and `open.js`.
  const kept = (websearch.kept = new Map()); // by list, its rows by what they say

  class Snapshot {
    constructor(most) {
      this.most = most;
      this.pieces = [];
      this.length = 0;
      this.elements = 0;
      this.cut = false;
      this.foreignFrames = 0;
      this.styles = new Map();
      this.grounds = new Map();
      this.scopes = 0;
    }

    write(piece) {
      this.length += piece.length;
      if (this.length > this.most) this.cut = true;
      else this.pieces.push(piece);
    }

    // `around` is what holds for the place: the depth, whether boxes exist there, and inherited ways to hide.
    node(node, around) {
      if (this.cut) return;
      const type = dom.type(node);
      if (type === 3) this.write(escapeText(dom.data(node)));
      else if (type === 1) this.element(node, around);
    }

    children(element, around) {
      const shadow = dom.shadowRoot(element);
      const inner = { ...around, depth: around.depth + 1 };
      if (shadow) {
        inner.scope = this.newScope();
        for (let child = dom.firstChild(shadow); child; child = dom.nextSibling(child)) this.node(child, inner);
        return;
      }
      const slotted = dom.name(element) === "slot" && dom.isHTML(element) ? dom.slotted(element, { flatten: true }) : [];
      if (slotted.length) for (const child of slotted) this.node(child, inner);
      else for (let child = dom.firstChild(element); child; child = dom.nextSibling(child)) this.node(child, inner);
    }

    element(element, around) {
      const name = dom.name(element);
      if (name === "script") this.dataScript(element);
      if (name === "svg") this.write("<svg></svg>"); // a control may show nothing else
      if (LEFT_OUT.has(name) || this.cut) return;
      if (++this.elements > dom.MOST_ELEMENTS || around.depth > MOST_DEPTH) {
        this.cut = true;
        return;
      }
      const panels = websearch.panels?.get(element);
      if (panels) return panels.forEach((html) => this.write(html));
      if (name === "iframe" || name === "frame") return this.frame(element, around);
      const tag = /^[a-z][a-z0-9-]*$/.test(name) ? OTHER_TAGS.get(name) ?? name : "span";
      const look = this.look(element, around);
      this.write(`<${tag}${this.attributes(element, look.style, around.scope)}>`);
      if (VOID.has(tag)) return;
      const rows = kept.get(element);
      if (rows) this.rows(element, rows, look.around);
      else this.children(element, look.around);
      this.write(`</${tag}>`);
    }

    // The names of elements are unique in their document or shadow root only.
    newScope() {
      return `in${++this.scopes}-`;
    }

    dataScript(element) {
      if (DATA.test(dom.attribute(element, "type") ?? "")) {
        const type = escapeValue(dom.attribute(element, "type"));
        this.write(`<script type="${type}">${dom.textContent(element).replace(/<(?=\/script|!--)/gi, "\\u003c")}</script>`);
      }
    }

    frame(element, around) {
      const inside = dom.inside(element);
      const body = inside && dom.body(inside);
      const look = this.look(element, around);
      if (body) {
        this.write(`<div${look.style ? ` style="${escapeValue(look.style)}"` : ""}>`);
        this.children(body, { ...look.around, scope: this.newScope() });
        this.write("</div>");
      } else if (!inside && !look.style && around.hasBoxes) {
        const box = dom.rect(element);
        if (box.width > 150 && box.height > 50) this.foreignFrames++;
      }
    }

    // A list that shows only some of its rows at a time: those that were seen, in order, and the ones it shows now.
    rows(element, rows, around) {
      if (![...rows.values()].some(websearch.isGone)) return this.children(element, around);
      const inner = { ...around, depth: around.depth + 1 };
      const written = new Set();
      for (const [said, row] of rows) {
        written.add(said);
        this.write(row.html);
      }
      for (let child = dom.firstChild(element); child; child = dom.nextSibling(child)) {
        if (dom.type(child) !== 1 || !written.has(dom.said(child))) this.node(child, inner);
      }
    }

    attributes(element, style, scope) {
      let written = "";
      for (const { name, value: stated } of dom.attributes(element)) {
        const value = scope && NAMES.has(name) ? scoped(stated, name, scope) : stated;
        if (name === "style" || name === "value" || name === "srcdoc" || name === "srcset" || name === "nonce") continue;
        if (name.startsWith("on") || value.length > MOST_VALUE || !/^[a-z][a-z0-9:_.-]*$/.test(name)) continue;
        written += value ? ` ${name}="${escapeValue(value)}"` : ` ${name}`;
      }
      return style ? `${written} style="${escapeValue(style)}"` : written;
    }

    styleOf(element) {
      let style = this.styles.get(element);
      if (!style) this.styles.set(element, (style = getComputedStyle(element)));
      return style;
    }

    // Return the declarations that hide the element or undo the hiding around it, and what holds inside.
    look(element, around) {
      if (dom.name(element) === "head" || around.isHead) return { style: "", around: { ...around, isHead: true } };
      const style = this.styleOf(element);
      const said = [];
      const inside = { ...around };
      const shows = style.display !== "none" && style.display !== "";
      if (!shows) {
        inside.hasBoxes = false;
        said.push("display:none");
      } else if (dom.has(element, "hidden") || dom.has(element, "popover") || dom.name(element) === "dialog") {
        said.push("display:block"); // the attribute alone would hide it
      }
      const unseen = style.visibility !== "visible" && style.visibility !== "";
      if (unseen !== around.unseen) said.push(`visibility:${unseen ? "hidden" : "visible"}`);
      const font = pixels(style.fontSize);
      const tiny = font <= 2;
      if (tiny) said.push(`font-size:${font}px`);
      else if (around.tiny) said.push(`font-size:${font}px`);
      Object.assign(inside, { unseen, tiny });
      inside.opacity = around.opacity * Number(style.opacity);
      if (inside.opacity < 0.1 && around.opacity >= 0.1) said.push(`opacity:${inside.opacity}`);
      else if (shows && this.isDrawnAway(element, style)) said.push("opacity:0");
      if (style.filter.includes("opacity(")) said.push(`filter:${style.filter}`);
      if (style.contentVisibility === "hidden") said.push("content-visibility:hidden");
      if (pixels(style.letterSpacing) <= -5) said.push(`letter-spacing:${style.letterSpacing}`);
      if (Number(style.zoom) < 0.2) said.push(`zoom:${style.zoom}`);
      if (this.hasText(element)) {
        const ground = this.hiddenBy(element, style);
        if (ground) said.push(ground);
        else if (around.clear) said.push("color:#000;background-color:#fff");
        inside.clear = Boolean(ground) || (around.clear && !said.at(-1)?.startsWith("color:#000"));
      }
      if (!inside.hasBoxes) this.unboxed(style, said);
      else if (!unseen) this.box(element, style, inside, said);
      return { style: said.join(";"), around: inside };
    }

    // Whether an effect leaves nothing of the element that can be read.
    isDrawnAway(element, style) {
      if (isClear(style.maskImage ?? "") || isEmptyShape(style.clipPath)) return true;
      const turned = /^matrix3d\((.*)\)$/.exec(style.transform)?.[1].split(",").map(Number);
      if (style.backfaceVisibility === "hidden" && turned && turned[10] < 0) return true;
      const mode = style.mixBlendMode;
      if (LIGHTENING.has(mode) && this.isOn(element, "rgb(255, 255, 255)")) return true;
      if (DARKENING.has(mode) && this.isOn(element, "rgb(0, 0, 0)")) return true;
      if (style.filter === "none") return false;
      if (amountOf(style.filter, "blur") >= pixels(style.fontSize)) return true;
      const grey = (amountOf(style.filter, "contrast") ?? 1) < 0.05 && "rgb(128, 128, 128)";
      const black = (amountOf(style.filter, "brightness") ?? 1) < 0.05 && "rgb(0, 0, 0)";
      return Boolean(grey || black) && (alpha(style.backgroundColor) > 0.9 || this.isOn(element, grey || black));
    }

    // Whether what lies behind an element has a colour.
    isOn(element, colour) {
      const parent = this.above(element);
      const ground = parent && this.groundOf(parent);
      return Boolean(ground?.colour) && isNear(ground.colour, colour) && !this.isCovered(parent, ground.element);
    }

    hasText(element) {
      for (let child = dom.firstChild(element); child; child = dom.nextSibling(child)) {
        if (dom.type(child) === 3 && /\S/.test(dom.data(child))) return true;
      }
      return false;
    }

    // What would hide the element even if a control opened what is around it.
    unboxed(style, said) {
      if (style.clipPath !== "none") said.push(`clip-path:${style.clipPath}`);
      if (style.clip !== "auto") said.push(`clip:${style.clip}`);
      if (style.transform !== "none") said.push(`transform:${style.transform}`);
      if (Math.abs(pixels(style.textIndent)) >= OFF_PAGE) said.push(`text-indent:${style.textIndent}`);
      if (style.overflowY !== "visible" && (style.height === "0px" || style.maxHeight === "0px")) said.push("overflow:hidden;height:0");
      if (style.position === "static") return;
      for (const side of ["left", "right", "top", "bottom"]) {
        const by = pixels(style[side]);
        if (by <= -OFF_PAGE || by >= FAR) said.push(`position:absolute;${side}:${by}px`);
      }
    }

    // What hides by layout. `inside.shifts` says that something around moves its parts on purpose, as a carousel does.
    box(element, style, inside, said) {
      if (style.clipPath !== "none") said.push(`clip-path:${style.clipPath}`);
      if (style.clip !== "auto" && /absolute|fixed/.test(style.position)) said.push(`clip:${style.clip}`);
      if (Math.abs(pixels(style.textIndent)) >= OFF_PAGE) {
        said.push(`text-indent:${style.textIndent};overflow:${style.overflowX};white-space:${style.whiteSpace}`);
      }
      if (style.display === "inline" || style.display === "contents") return;
      const box = dom.rect(element);
      if (box.height && box.top >= inside.clampedAt) said.push("opacity:0"); // below the last line that is shown
      if (style.webkitLineClamp !== "none" && style.overflowY !== "visible") inside.clampedAt = Math.min(inside.clampedAt, box.bottom);
      const clips = style.overflowX !== "visible" || style.overflowY !== "visible" || /paint|strict|content/.test(style.contain);
      if (clips && (box.width <= 1 || box.height <= 1)) {
        said.push(`overflow:hidden;width:${box.width}px;height:${box.height}px`);
      }
      if (dom.isHTML(element) && (box.width < 0.5 || box.height < 0.5) && element.offsetWidth > 1 && element.offsetHeight > 1) {
        said.push("transform:scale(0)");
      }
      if (!inside.shifts && !inside.isOff && box.width) {
        const { scrollX, scrollY, innerWidth, innerHeight } = element.ownerDocument.defaultView ?? window;
        const left = box.left + scrollX;
        const top = box.top + scrollY;
        if (left < -OFF_PAGE || top < -OFF_PAGE) {
          const { right, bottom } = this.textBox(element);
          if (right + scrollX <= 0 || bottom + scrollY <= 0) {
            said.push("position:absolute;left:-9999px");
            inside.isOff = true;
          }
        } else if (
          (style.position === "absolute" && left >= innerWidth + FAR) ||
          (style.position === "fixed" && (box.left >= innerWidth || box.top >= innerHeight + OFF_PAGE))
        ) {
          said.push("position:absolute;left:9999px");
          inside.isOff = true;
        }
      }
      const name = dom.name(element);
      if (clips && name !== "body" && name !== "html" && box.width > 1) inside.shifts = true;
    }

    // The text of a box that begins off the page may lie in it, or not.
    textBox(element) {
      const range = element.ownerDocument.createRange();
      range.selectNodeContents(element);
      return range.getBoundingClientRect();
    }

    // Return declarations if text has no colour or that of what lies behind it, as far as that can be known.
    hiddenBy(element, style) {
      const colour = style.webkitTextFillColor || style.color;
      const isDrawn = (style.textShadow !== "none" && !isClear(style.textShadow)) || pixels(style.webkitTextStrokeWidth) > 0;
      if (alpha(colour) < 0.05) return isDrawn || style.backgroundClip.includes("text") ? "" : "color:transparent";
      if (isDrawn) return "";
      const ground = this.groundOf(element);
      if (!ground.colour || !isNear(colour, ground.colour) || this.isCovered(element, ground.element)) return "";
      return `color:${colour};background-color:${ground.colour}`;
    }

    // The colour behind an element and the element that has it; no colour if that is a picture or shines through.
    groundOf(element) {
      let ground = this.grounds.get(element);
      if (!ground) {
        const { backgroundColor, backgroundImage } = this.styleOf(element);
        const flat = flatGradient(backgroundImage);
        const shade = flat ? 1 : backgroundImage === "none" ? alpha(backgroundColor) : 0.5;
        const parent = shade <= 0.05 && this.above(element);
        if (parent) ground = this.groundOf(parent);
        else ground = { colour: shade > 0.9 ? flat || backgroundColor : shade > 0.05 ? "" : "rgb(255, 255, 255)", element };
        this.grounds.set(element, ground);
      }
      return ground;
    }

    // Whether something else may lie between the text and its ground: a picture, or a box before or after an element.
    isCovered(element, ground) {
      let positioned = false;
      for (let at = element; at; at = this.above(at)) {
        if (this.hasBoxes(at) || (positioned && this.hasPicture(at))) return true;
        if (at === ground) return false;
        positioned ||= this.styleOf(at).position !== "static";
      }
      return this.hasPicture(element.ownerDocument);
    }

    above(element) {
      const parent = dom.parentNode(element);
      if (!parent) return null;
      return dom.type(parent) === 11 ? parent.host ?? null : dom.type(parent) === 1 ? parent : null;
    }

    hasBoxes(element) {
      for (const pseudo of ["::before", "::after"]) {
        const style = getComputedStyle(element, pseudo);
        if (style.content !== "none" && (style.backgroundImage !== "none" || alpha(style.backgroundColor) > 0.05)) return true;
      }
      return false;
    }

    hasPicture(where) {
      return dom.findAllIn(where, "img,picture,video,canvas,svg,iframe,object,[style*=background]").length > 0;
    }
  }

  const START = { depth: 0, scope: "", hasBoxes: true, unseen: false, tiny: false, clear: false, shifts: false, isOff: false, isHead: false, opacity: 1, clampedAt: Infinity };

  // One element as it is now, for what may be gone at the end.
  websearch.serialise = (element, most) => {
    const snapshot = new Snapshot(most);
    snapshot.node(element, START);
    return snapshot.pieces.join("");
  };

  websearch.snapshot = (most) => {
    for (const animation of dom.top.getAnimations()) {
      if (animation.playState === "paused") continue; // people see it as it is
      try {
        animation.finish(); // text that is fading in has arrived
      } catch {} // it never ends
    }
    const snapshot = new Snapshot(most);
    const root = dom.root(dom.top);
    if (root) snapshot.node(root, START);
    return {
      html: "<!DOCTYPE html>" + snapshot.pieces.join(""),
      cut: snapshot.cut,
      url: dom.address(dom.top),
      foreignFrames: snapshot.foreignFrames,
    };
  };
})();
