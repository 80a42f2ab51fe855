// Open what a reader would open: details, accordions, "read more", tabs. Only controls that cannot navigate by themselves
// are clicked; what their handlers do is watched by `settle.py`.
(() => {
  const { dom } = websearch;
  const MOST_CLICKS = 40;
  const NOT_CONTENT =
    'nav,header,footer,aside,form,dialog,[role="navigation"],[role="menu"],[role="menubar"],[role="search"],[role="dialog"],' +
    '[role="banner"],[role="contentinfo"],[role="toolbar"],[role="listbox"],[role="combobox"],[aria-modal="true"]';
  const CONTROLS = 'button,[role="button"],summary,a:not([href]),a[href="#"],a[href^="javascript:"],[aria-expanded],[aria-controls]';
  // What the controls that show more of the same say, in the languages of most of the web.
  const MORE = new RegExp(
    "^\\W*(?:" +
      [
        "(?:read|show|see|view|load|display) (?:more|all|full|the (?:rest|full|whole))(?:\\W.*)?", "more|continue reading|expand(?: all)?",
        "mehr (?:lesen|anzeigen|laden|erfahren)|weiterlesen|alle anzeigen", "(?:lire|voir|afficher|charger) (?:la suite|plus|tout)",
        "(?:leer|ver|mostrar|cargar) (?:m\u00e1s|todo)", "(?:ler|ver|mostrar|carregar) (?:mais|tudo)",
        "(?:leggi|mostra|vedi|carica) (?:tutto|di pi\u00f9|altro)|continua a leggere", "(?:lees|meer) (?:meer|lezen|weergeven|laden)|toon meer",
        "czytaj (?:dalej|wi\u0119cej)|poka\u017c wi\u0119cej", "(?:\u0447\u0438\u0442\u0430\u0442\u044c|\u043f\u043e\u043a\u0430\u0437\u0430\u0442\u044c) (?:\u0434\u0430\u043b\u0435\u0435|\u0435\u0449[\u0435\u0451]|\u043f\u043e\u043b\u043d\u043e\u0441\u0442\u044c\u044e)",
        "devam\u0131n\u0131 oku|daha fazla(?: g\u00f6ster)?", "\u3082\u3063\u3068\u898b\u308b|\u7d9a\u304d\u3092\u8aad\u3080", "(?:\u67e5\u770b|\u663e\u793a|\u52a0\u8f7d|\u9605\u8bfb)(?:\u66f4\u591a|\u5168\u6587)|\u5c55\u5f00", "\ub354 ?\ubcf4\uae30",
      ].join("|") +
      ")\\W*$",
    "i",
  );
  const clicked = new WeakSet();
  let clicks = 0;

  const navigates = (element) => {
    const link = dom.closest(element, "a[href],area[href]");
    const target = link && dom.attribute(link, "href").trim();
    if (target && !/^(?:#|javascript:\s*(?:void\b|;|$))/i.test(target)) return true;
    if (dom.closest(element, "form,label,select,[download],[target],[popovertarget],[commandfor]")) return true;
    return dom.has(element, "disabled") || /^(?:true|menu|listbox|tree|grid|dialog)$/.test(dom.attribute(element, "aria-haspopup") ?? "");
  };
  const press = (element) => {
    clicked.add(element);
    clicks++;
    dom.click(element);
  };
  const saysMore = (element) => dom.attribute(element, "aria-expanded") === null && MORE.test(dom.said(element).slice(0, 60));
  // What says "more" may be pressed again, as long as `settle.py` asks: each time it may bring more.
  const mayPress = (element) =>
    clicks < MOST_CLICKS && dom.isHTML(element) && !(clicked.has(element) && !saysMore(element)) && !navigates(element) &&
    !dom.closest(element, NOT_CONTENT) && dom.isSeen(element);

  // The header of an accordion without ARIA: it looks like a control, and what follows it is out of sight.
  const opensNext = (element) => {
    if (getComputedStyle(element).cursor !== "pointer" || dom.said(element).length > 200) return false;
    const next = dom.nextElement(element);
    if (!next || dom.said(next).length < 20 || /^(?:script|style|template|noscript)$/.test(dom.name(next))) return false;
    return !dom.isSeen(next) || dom.rect(next).height <= 1;
  };
  const isOpener = (element) => {
    const expanded = dom.attribute(element, "aria-expanded");
    if (dom.attribute(element, "role") === "tab" || dom.name(element) === "summary") return false;
    return expanded === "false" || saysMore(element);
  };
  const openers = () => {
    const controls = dom.findAll(CONTROLS).filter((element) => isOpener(element) && mayPress(element));
    const headers = dom
      .findAll("h2,h3,h4,h5,h6,dt,div,button,p,span,li")
      .filter((element) => dom.count(element) < 4 && opensNext(element) && mayPress(element));
    return [...new Set([...controls, ...headers])];
  };

  const closedDetails = () =>
    dom.findAll("details:not([open])").filter((details) => !dom.closest(details, 'nav,header,footer,[role="navigation"],[role="menu"]'));

  // Whether `open` or `nextTab` would open something.
  websearch.canOpen = () => closedDetails().length + openers().length + tabs().length > 0;

  // Open all that is closed. Details need no click. Returns how many were opened.
  websearch.open = () => {
    let opened = 0;
    for (const details of closedDetails()) {
      details.setAttribute("open", ""); // pages that load what is inside hear of it
      details.removeAttribute("name"); // or the next of its group would close it
      opened++;
    }
    for (const element of openers()) {
      if (!dom.isConnected(element) || !isOpener(element) && !opensNext(element)) continue; // an earlier click changed it
      press(element);
      opened++;
    }
    return opened;
  };

  // Tabs, one at a time: a panel that its script replaces is remembered.
  const tabs = () =>
    dom.findAll('[role="tab"]').filter((tab) => dom.attribute(tab, "aria-selected") !== "true" && mayPress(tab) && !hasPanel(tab));
  const named = (element, id) => {
    const root = dom.rootNode(element);
    return [...dom.findAllIn(root, `[id="${CSS.escape(id)}"]`)][0] ?? null;
  };
  // A panel with text in the DOM needs no click: the reader takes it as one that a control opens.
  const hasPanel = (tab) => {
    const id = dom.attribute(tab, "aria-controls");
    const panel = id && named(tab, id);
    return panel ? !dom.isSeen(panel) && dom.said(panel).length > 0 : false;
  };
  const panelOf = (tab) => {
    const id = dom.attribute(tab, "aria-controls");
    const panel = id && named(tab, id);
    if (panel && dom.isSeen(panel)) return panel;
    for (let at = dom.parent(tab), up = 0; at && up < 5; at = dom.parent(at), up++) {
      for (const found of dom.findAllIn(at, '[role="tabpanel"]')) if (dom.isSeen(found)) return found;
    }
    return null;
  };
  const rememberPanel = (group) => {
    const panel = panelOf(group.tab);
    if (!panel) return;
    const said = dom.said(panel);
    if (!said || group.panels.has(said)) return;
    group.panels.set(said, { said, html: websearch.serialise(panel, 200_000), nodes: [panel] });
    group.last = panel;
  };
  const groups = new Map();
  const groupOf = (tab) => {
    const list = dom.closest(tab, '[role="tablist"]') ?? dom.parentNode(tab);
    if (!groups.has(list)) {
      const selected = [...dom.findAllIn(list, '[role="tab"][aria-selected="true"]')][0];
      groups.set(list, { tab: selected ?? tab, first: selected, panels: new Map(), last: null });
    }
    return groups.get(list);
  };

  // Show the next tab that was not shown yet. Returns whether there was one.
  websearch.nextTab = () => {
    for (const group of groups.values()) rememberPanel(group);
    const tab = tabs()[0];
    if (!tab) return false;
    const group = groupOf(tab);
    rememberPanel(group);
    group.tab = tab;
    press(tab);
    return true;
  };
  // All panels of a group stand where the one that is shown now stands.
  websearch.keepTabs = () => {
    for (const group of groups.values()) {
      rememberPanel(group);
      const place = group.last && dom.isConnected(group.last) ? group.last : panelOf(group.tab);
      if (place && group.panels.size > 1) websearch.panels.set(place, [...group.panels.values()].map((panel) => panel.html));
    }
  };
  websearch.panels = new Map();
})();
