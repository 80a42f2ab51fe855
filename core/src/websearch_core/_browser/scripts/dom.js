// What the other scripts share: the DOM read through getters that a page cannot cover by naming its elements
// (`<input name="childNodes">` in a form, `<img name="body">`), and open shadow roots and frames of the same origin.
(() => {
  const property = (owner, name) => Function.prototype.call.bind(Object.getOwnPropertyDescriptor(owner.prototype, name).get);
  const method = (owner, name) => Function.prototype.call.bind(owner.prototype[name]);

  const dom = {
    MOST_ELEMENTS: 101_000, // a little more than the reader takes
    LARGE: 20_000, // elements: what takes time for each is done without
    firstChild: property(Node, "firstChild"),
    nextSibling: property(Node, "nextSibling"),
    nextElement: property(Element, "nextElementSibling"),
    lastElement: property(Element, "lastElementChild"),
    childrenOf: property(Element, "children"),
    parent: property(Node, "parentElement"),
    parentNode: property(Node, "parentNode"),
    rootNode: method(Node, "getRootNode"),
    isConnected: property(Node, "isConnected"),
    contains: method(Node, "contains"),
    type: property(Node, "nodeType"),
    data: property(CharacterData, "data"),
    textContent: property(Node, "textContent"),
    innerText: property(HTMLElement, "innerText"),
    name: property(Element, "localName"),
    namespace: property(Element, "namespaceURI"),
    attributes: property(Element, "attributes"),
    attribute: method(Element, "getAttribute"),
    has: method(Element, "hasAttribute"),
    matches: method(Element, "matches"),
    closest: method(Element, "closest"),
    count: property(Element, "childElementCount"),
    rect: method(Element, "getBoundingClientRect"),
    isRendered: method(Element, "checkVisibility"),
    find: method(Element, "querySelector"),
    remove: method(Element, "remove"),
    click: method(HTMLElement, "click"),
    shadowRoot: property(Element, "shadowRoot"),
    slotted: method(HTMLSlotElement, "assignedNodes"),
    frameDocuments: new Map([
      ["iframe", property(HTMLIFrameElement, "contentDocument")],
      ["frame", property(HTMLFrameElement, "contentDocument")],
    ]),
    root: property(Document, "documentElement"),
    body: property(Document, "body"),
    state: property(Document, "readyState"),
    address: property(Document, "URL"),
  };
  const top = globalThis.document;
  dom.top = top;

  // The document of a frame; null if it is of another origin, or the element is none.
  dom.inside = (frame) => {
    const documentOf = dom.frameDocuments.get(dom.name(frame));
    if (!documentOf) return null;
    try {
      return documentOf(frame);
    } catch {
      return null;
    }
  };

  // The document, its open shadow roots and frames, and theirs. Found again for each call: pages add them.
  let known = null;
  let isLarge = false;
  dom.roots = () => {
    if (known) return known;
    queueMicrotask(() => { known = null; });
    const found = (known = [top]);
    let seen = 0;
    for (const root of found) {
      for (const element of findAll(root, "*")) {
        if (++seen > dom.MOST_ELEMENTS) break;
        const inner = dom.shadowRoot(element) ?? dom.inside(element);
        if (inner && found.length < 500) found.push(inner);
      }
    }
    isLarge = seen > dom.LARGE;
    return found;
  };
  dom.isLarge = () => (dom.roots(), isLarge);
  // By the number of the type: a document in a frame is not an instance of this window's `Document`.
  const findAll = (where, selector) => {
    const owner = { 9: Document, 11: DocumentFragment }[dom.type(where)] ?? Element;
    return owner.prototype.querySelectorAll.call(where, selector);
  };
  dom.findAllIn = findAll;
  dom.findAll = (selector) => dom.roots().flatMap((root) => [...findAll(root, selector)]);

  // Elements of frames are not instances of this window's classes.
  dom.isHTML = (node) => dom.type(node) === 1 && dom.namespace(node) === "http://www.w3.org/1999/xhtml";

  // Whether people can see an element now, as far as styles say.
  dom.isSeen = (element) => {
    if (!dom.isRendered(element, { opacityProperty: true, visibilityProperty: true })) return false;
    const box = dom.rect(element);
    return box.width > 1 && box.height > 1;
  };
  dom.said = (element) => dom.textContent(element).replace(/\s+/g, " ").trim();

  Object.defineProperty(globalThis, "websearch", { value: { dom }, configurable: true });
})();
