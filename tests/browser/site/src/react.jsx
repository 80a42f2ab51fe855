import { Component, Suspense, use, useEffect, useRef, useState } from "react";
import { createRoot, hydrateRoot } from "react-dom/client";
import { article, load, pause, rows } from "./api.js";

const Text = ({ text }) => (
  <article>
    <h1>{text.title}</h1>
    <p className="byline">By {text.author}</p>
    {text.paragraphs.map((one) => <p key={one}>{one}</p>)}
  </article>
);
const Frame = ({ children }) => (
  <>
    <header>
      <a href="/">The Harbour Review</a>
      <nav><ul>{["Coast", "Kitchen", "Workshop", "Travel"].map((one) => <li key={one}><a href={`/section/${one}`}>{one}</a></li>)}</ul></nav>
    </header>
    <main>{children}</main>
    <footer><p>© The Harbour Review. All rights reserved. <a href="/imprint">Imprint</a> <a href="/privacy">Privacy</a></p></footer>
  </>
);
const useLoaded = (start) => {
  const [value, set] = useState(null);
  useEffect(() => { start().then(set); }, []);
  return value;
};

const Fetched = () => {
  const text = useLoaded(() => article("tide-tables"));
  return <Frame>{text ? <Text text={text} /> : <p>Loading…</p>}</Frame>;
};

// Three requests in a row: the session, the list, the article.
const Chained = () => {
  const text = useLoaded(async () => {
    const { list } = await load("/api/session?delay=400");
    const { name } = await load(`${list}?delay=400`);
    return article(name, 400);
  });
  return <Frame>{text ? <Text text={text} /> : <div className="spinner" style={{ width: 40, height: 40 }} role="progressbar" />}</Frame>;
};

const suspended = article("sourdough", 500);
const Inner = () => <Text text={use(suspended)} />;
const Suspended = () => (
  <Frame>
    <Suspense fallback={<div className="skeleton">{[1, 2, 3].map((one) => <div key={one} className="line" style={{ height: 16, background: "#ddd", margin: 8 }} />)}</div>}>
      <Inner />
    </Suspense>
  </Frame>
);

// Only the selected panel exists.
const Tabs = () => {
  const names = ["lighthouse", "clock-repair", "night-trains"];
  const [chosen, choose] = useState(0);
  const [texts, set] = useState({});
  const name = names[chosen];
  useEffect(() => { article(name, 100).then((text) => set((all) => ({ ...all, [name]: text }))); }, [name]);
  return (
    <Frame>
      <div role="tablist">
        {["People", "Workshop", "Travel"].map((label, at) => (
          <button key={label} role="tab" id={`tab${at}`} aria-selected={at === chosen} aria-controls={`panel${at}`} onClick={() => choose(at)}>{label}</button>
        ))}
      </div>
      <section key={name} role="tabpanel" id={`panel${chosen}`} aria-labelledby={`tab${chosen}`}>
        {texts[name] ? <Text text={texts[name]} /> : <p>Loading…</p>}
      </section>
    </Frame>
  );
};

// What is closed does not exist.
const Item = ({ name, first }) => {
  const [isOpen, open] = useState(first);
  const [text, set] = useState(null);
  useEffect(() => { article(name, 50).then(set); }, []);
  return text && (
    <section>
      <h2><button type="button" aria-expanded={isOpen} onClick={() => open(!isOpen)}>{text.title}</button></h2>
      {isOpen && <div>{text.paragraphs.map((one) => <p key={one}>{one}</p>)}</div>}
    </section>
  );
};
const Accordion = () => <Frame><h1>Questions about the coast</h1>{["kelp-farm", "salt-pans", "lighthouse"].map((one, at) => <Item key={one} name={one} first={at === 0} />)}</Frame>;

const Row = ({ row, ...rest }) => <li {...rest}><h3>{row.name}</h3><p>{row.text}</p></li>;

// More rows come when the end of the list comes into view.
const Infinite = () => {
  const [all, set] = useState([]);
  const [ended, end] = useState(false);
  const edge = useRef(null);
  const busy = useRef(false);
  useEffect(() => {
    const watcher = new IntersectionObserver(async ([entry]) => {
      if (!entry.isIntersecting || busy.current) return;
      busy.current = true;
      const { rows: more, isLast } = await rows(all.length, 12);
      set((before) => [...before, ...more]);
      busy.current = false;
      if (isLast) end(true);
    });
    if (edge.current) watcher.observe(edge.current);
    return () => watcher.disconnect();
  }, [all.length]);
  return <Frame><h1>Harbours of the north</h1><ul>{all.map((row) => <Row key={row.name} row={row} style={{ minHeight: 240 }} />)}</ul>{!ended && <div ref={edge} className="loader" style={{ height: 40 }}>Loading more…</div>}</Frame>;
};

// A list in a box that scrolls, of which only the rows in view exist.
const HEIGHT = 90;
const Virtual = () => {
  const all = useLoaded(() => rows(0, 48)) ?? { rows: [] };
  const [top, scroll] = useState(0);
  const first = Math.max(0, Math.floor(top / HEIGHT) - 2);
  const seen = all.rows.slice(first, first + 12);
  return (
    <Frame>
      <h1>Harbours of the north</h1>
      <div style={{ height: 600, overflow: "auto" }} onScroll={(event) => scroll(event.currentTarget.scrollTop)}>
        <ul style={{ height: all.rows.length * HEIGHT, position: "relative", margin: 0, padding: 0 }}>
          {seen.map((row, at) => <Row key={row.name} row={row} style={{ position: "absolute", top: (first + at) * HEIGHT, height: HEIGHT, left: 0, right: 0, listStyle: "none" }} />)}
        </ul>
      </div>
    </Frame>
  );
};

// The start page sends its visitors to the newest article, without loading another document.
const Routed = () => {
  const [path, go] = useState(location.pathname);
  useEffect(() => { pause(200).then(() => { history.replaceState(null, "", "/react-router/map-paper"); go(location.pathname); }); }, []);
  const name = path.split("/")[2];
  const [text, set] = useState(null);
  useEffect(() => { if (name) article(name).then(set); }, [name]);
  return <Frame>{text ? <Text text={text} /> : <p>One moment please</p>}</Frame>;
};

// The server sent another text than this one: React throws it away and renders again.
const Hydrated = () => {
  const text = useLoaded(() => article("library-heat", 200));
  return <Frame>{text ? <Text text={text} /> : <p>Rendered at {String(new Date(0).getFullYear())}</p>}</Frame>;
};

const Broken = () => { throw new Error("a bug of the page"); };

class Boundary extends Component {
  state = { failed: false };
  static getDerivedStateFromError() { return { failed: true }; }
  render() {
    return this.state.failed
      ? <article><h1>This article cannot be shown</h1><p>The archive of the Harbour Review is being moved to another building this week, so its older articles cannot be shown here until Monday. Subscribers may order a printed copy from the office by telephone, and will get it within three working days.</p></article>
      : this.props.children;
  }
}
const Failing = () => { const [error, set] = useState(null); useEffect(() => { load("/api/fail").catch(set); }, []); if (error) throw error; return <p>Loading…</p>; };
const Caught = () => <Frame><Boundary><Failing /></Boundary></Frame>;

const PAGES = {
  "react-fetch": Fetched, "react-chain": Chained, "react-suspense": Suspended, "react-tabs": Tabs, "react-accordion": Accordion,
  "react-infinite": Infinite, "react-virtual": Virtual, "react-router": Routed, "react-hydration": Hydrated,
  "react-crash": Broken, "react-error": Caught,
};
const root = document.getElementById("root");
const Page = PAGES[root.dataset.page];
if (root.firstElementChild) hydrateRoot(root, <Page />, { onRecoverableError() {} });
else createRoot(root).render(<Page />);
