// Scroll through the page, a screen at a time, and remember the rows of lists that show only some at a time.
(() => {
  const { dom } = websearch;
  const MOST_ROWS = 2_000;
  const MOST_ROW = 20_000; // characters of HTML
  const MOST_SCROLLERS = 5;
  let rows = 0;

  // The parts of the page that scroll on their own and have most of their content out of sight.
  const scrollers = () => {
    const found = [];
    if (dom.isLarge()) return found;
    for (const element of dom.findAll("div,main,section,article,ul,ol,tbody,[style*=overflow],[class*=scroll i]")) {
      if (element.scrollHeight <= element.clientHeight * 1.5 || element.clientHeight < 100 || element.clientWidth < 200) continue;
      if (/auto|scroll/.test(getComputedStyle(element).overflowY) && dom.isSeen(element)) found.push(element);
      if (found.length === MOST_SCROLLERS) break;
    }
    return found;
  };

  // Lists whose rows a script puts in their place: absolute, moved by a transform, or beside spacers.
  const isPlaced = (list) => {
    if (/padding-(?:top|bottom)|padding:|transform|translate/.test(dom.attribute(list, "style") ?? "")) return true;
    const rows = [...dom.childrenOf(list)].slice(0, 10);
    const placed = rows.filter((row) => /absolute|transform|translate/.test(dom.attribute(row, "style") ?? "")).length;
    const ends = [rows[0], dom.lastElement(list)];
    return placed > rows.length / 2 || ends.some((row) => /height/.test(dom.attribute(row, "style") ?? "") && !dom.said(row));
  };
  const lists = () => {
    const found = new Set();
    for (const element of dom.findAll("[style]")) {
      for (const list of [element, dom.parent(element)]) {
        if (list && dom.count(list) >= 3 && dom.name(list) !== "body" && !found.has(list) && isPlaced(list)) found.add(list);
      }
      if (found.size >= 20) break;
    }
    return [...found].filter((one) => ![...found].some((other) => other !== one && dom.contains(one, other)));
  };
  const remember = () => {
    for (const list of lists()) {
      const known = websearch.kept.get(list) ?? new Map();
      for (const child of dom.childrenOf(list)) {
        if (rows >= MOST_ROWS) break;
        const said = dom.said(child);
        if (!said || said.length > MOST_ROW || known.get(said)?.nodes.length > 3) continue;
        if (known.has(said)) {
          if (!known.get(said).nodes.includes(child)) known.get(said).nodes.push(child);
        } else {
          known.set(said, { said, html: websearch.serialise(child, MOST_ROW), nodes: [child] });
          rows++;
        }
      }
      websearch.kept.set(list, known);
    }
  };

  // Move one screen on, in the page and in what scrolls within it. Returns whether anything moved.
  websearch.scroll = () => {
    const inner = scrollers();
    const root = dom.root(dom.top);
    const goesOn = root && scrollY + innerHeight < root.scrollHeight - 2;
    if (goesOn || inner.length) remember();
    let moved = false;
    if (goesOn) {
      const before = scrollY;
      scrollTo({ top: before + innerHeight * 0.9, behavior: "instant" });
      moved = scrollY > before;
    }
    for (const element of inner) {
      const before = element.scrollTop;
      element.scrollTo({ top: before + element.clientHeight * 0.9, behavior: "instant" });
      moved ||= element.scrollTop > before;
    }
    return moved;
  };
  websearch.measure = () =>
    (dom.root(dom.top)?.scrollHeight ?? 0) + scrollers().reduce((sum, one) => sum + one.scrollHeight, 0);
  websearch.scrollBack = () => {
    if (websearch.kept.size) remember();
    scrollTo({ top: 0, behavior: "instant" });
  };
  // A row is still there if it says at least what it said.
  websearch.isGone = (row) => !row.nodes.some((node) => dom.isConnected(node) && dom.said(node).startsWith(row.said));
  // How many rows were seen that are in their lists no more.
  websearch.countGone = () => {
    let gone = 0;
    for (const known of websearch.kept.values()) for (const row of known.values()) gone += websearch.isGone(row);
    return gone;
  };
})();
