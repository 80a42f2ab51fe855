// Build the pages of each framework into one file, with the framework in it: `npm install && npm run build`.
import { readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";
import { compile } from "svelte/compiler";

const svelte = {
  name: "svelte",
  setup(builder) {
    builder.onLoad({ filter: /\.svelte$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const element = source.includes("<svelte:options customElement");
      const { js } = compile(source, { filename: path, generate: "client", css: "injected", customElement: element, dev: false });
      return { contents: js.code, loader: "js" };
    });
  },
};

await build({
  entryPoints: { react: "src/react.jsx", vue: "src/vue.js", svelte: "src/svelte.js" },
  outdir: "built",
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  jsx: "automatic",
  legalComments: "inline", // the licence notes of the frameworks stay
  conditions: ["browser", "production"],
  alias: { vue: "vue/dist/vue.esm-bundler.js" },
  define: {
    "process.env.NODE_ENV": '"production"',
    __VUE_OPTIONS_API__: "true",
    __VUE_PROD_DEVTOOLS__: "false",
    __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false",
  },
  plugins: [svelte],
});

const licences = await Promise.all(
  ["react", "react-dom", "scheduler", "vue", "svelte"].map(async (name) => {
    const { version } = JSON.parse(await readFile(`node_modules/${name}/package.json`, "utf8"));
    const file = name === "svelte" ? "LICENSE.md" : "LICENSE";
    return `${name} ${version}\n\n${await readFile(`node_modules/${name}/${file}`, "utf8")}`;
  }),
);
await writeFile("built/LICENSES.txt", licences.join("\n\n"));
