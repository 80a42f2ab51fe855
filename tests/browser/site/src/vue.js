import { createApp, defineAsyncComponent, h, Transition } from "vue";
import { article, load, pause, rows } from "./api.js";

const Text = {
  props: ["text"],
  template: `<article><h1>{{ text.title }}</h1><p class="byline">By {{ text.author }}</p><p v-for="one in text.paragraphs">{{ one }}</p></article>`,
};
const Frame = {
  template: `
    <div class="layout">
      <header class="site-header"><a href="/">Northern Almanac</a><nav><a v-for="one in ['News', 'Almanac', 'Shop', 'About']" :href="'/' + one">{{ one }}</a></nav></header>
      <main><slot /></main>
      <aside><h4>Most read</h4><ul><li v-for="one in ['Ten walks for a wet day', 'What the ferry costs now', 'A recipe for rhubarb']"><a href="/read">{{ one }}</a></li></ul></aside>
      <footer>Northern Almanac, founded 1891. <a href="/contact">Contact</a></footer>
    </div>`,
};
const components = { Frame, Text, Transition };
const page = (start, template, more = {}) => ({
  components, template, ...more,
  data: () => ({ text: null, ...(more.fields ?? {}) }),
  mounted() { start.call(this); },
});
const show = (name, delay) => async function () { this.text = await article(name, delay); };
const WHEN_THERE = `<Frame><Text v-if="text" :text="text" /><div v-else class="skeleton-card" aria-busy="true"><div style="height: 20px; width: 60%; background: #eee"></div></div></Frame>`;

const PAGES = {
  "vue-fetch": page(show("kelp-farm", 600), WHEN_THERE),
  // Nothing loads: a lone timer brings the text, which is in the script.
  "vue-timer": page(
    async function () { await pause(1_500); this.text = (await import("./late.js")).default; },
    `<Frame><Text v-if="text" :text="text" /><p v-else>Please wait</p></Frame>`,
  ),
  "vue-transition": page(
    show("bee-hotel", 100),
    `<Frame><Transition name="fade" appear><Text v-if="text" :text="text" /></Transition></Frame>`,
  ),
  // All panels exist, and all but one are hidden.
  "vue-tabs": page(
    async function () { for (const name of ["salt-pans", "sourdough"]) this.all.push(await article(name, 100)); },
    `<Frame>
      <div role="tablist"><button v-for="(one, at) in all" role="tab" :id="'t' + at" :aria-controls="'p' + at" :aria-selected="at === chosen" @click="chosen = at">{{ one.author }}</button></div>
      <div v-for="(one, at) in all" v-show="at === chosen" role="tabpanel" :id="'p' + at" :aria-labelledby="'t' + at"><Text :text="one" /></div>
    </Frame>`,
    { fields: { all: [], chosen: 0 } },
  ),
  // The first paragraph, and a button for the rest.
  "vue-more": page(
    show("night-trains", 100),
    `<Frame><article v-if="text"><h1>{{ text.title }}</h1><p v-for="one in text.paragraphs.slice(0, isOpen ? 9 : 1)">{{ one }}</p><button v-if="!isOpen" @click="isOpen = true">Read more</button></article></Frame>`,
    { fields: { isOpen: false } },
  ),
  "vue-hash": {
    components, data: () => ({ text: null }), template: WHEN_THERE,
    mounted() {
      addEventListener("hashchange", async () => { this.text = await article(location.hash.slice(2), 100); });
      setTimeout(() => { location.hash = "#/clock-repair"; }, 100);
    },
  },
  "vue-async": {
    components: { Frame, Late: defineAsyncComponent({ loader: async () => { const text = await article("lighthouse", 700); return { render: () => h(Text, { text }) }; }, loadingComponent: { template: `<div class="spinner">Loading...</div>` }, delay: 0 }) },
    template: `<Frame><Late /></Frame>`,
  },
  // A clock that ticks, and news that change every second, beside an article that comes after a while.
  "vue-clock": page(
    async function () {
      setInterval(() => { this.now = new Date().toISOString(); }, 100);
      setInterval(() => { this.news++; }, 1_000);
      this.text = await article("map-paper", 700);
    },
    `<Frame><aside class="ticker"><time>{{ now }}</time> {{ ["Rain is on its way", "The ferry is late", "Bread is cheaper", "A seal was seen"][news % 4] }}</aside><Text v-if="text" :text="text" /><p v-else>Loading</p></Frame>`,
    { fields: { now: "", news: 0 } },
  ),
  "vue-polling": page(
    async function () { setInterval(() => load("/api/session?delay=200"), 250); this.text = await article("tide-tables", 500); },
    WHEN_THERE,
  ),
  // "Load more" at the end of a list.
  "vue-load-more": page(
    async function () { await this.more(); },
    `<Frame><h1>Harbours of the north</h1><section><div v-for="row in all" class="card"><h3>{{ row.name }}</h3><p>{{ row.text }}</p></div></section><button v-if="!isLast" @click="more">Load more</button></Frame>`,
    {
      fields: { all: [], isLast: false },
      methods: { async more() { const answer = await rows(this.all.length, 9); this.all.push(...answer.rows); this.isLast = this.all.length >= 27; } },
    },
  ),
};
createApp(PAGES[document.getElementById("app").dataset.page]).mount("#app");
