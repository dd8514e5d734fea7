// Builds ../echarts.js and ../echarts-full.js, copies the licences of what is in them, and writes ../SHA256SUMS.
//
//   cd charts/assets/build && npm ci && npm run build
//
// Each is one classic script that sets one global (kafkalabECharts, kafkalabEChartsFull) and touches nothing
// else. A browser takes it by <script> or by import(), and goja runs it in Go for the static pictures.
import { createHash } from "node:crypto";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const assets = dirname(here);
const modules = join(here, "node_modules");
const pinned = (name) => JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8")).version;

for (const [entry, name, globalName] of [
  ["entry.js", "echarts.js", "kafkalabECharts"],
  ["entry-full.js", "echarts-full.js", "kafkalabEChartsFull"],
]) {
  await build({
    entryPoints: [join(here, entry)],
    outfile: join(assets, name),
    bundle: true,
    minify: true,
    charset: "ascii",
    legalComments: "none",
    format: "iife",
    globalName,
    target: "es2018",
    define: { "process.env.NODE_ENV": '"production"' },
    banner: {
      js:
        `/* Apache ECharts ${pinned("echarts")} (Apache-2.0) with zrender ${pinned("zrender")} (BSD-3-Clause) and ` +
        `tslib ${pinned("tslib")} (0BSD), bundled for Kafka Lab by build/build.mjs. See licenses/. */`,
    },
    footer: { js: `globalThis.${globalName}=${globalName};` },
  });
}

for (const [from, to] of [
  ["echarts/LICENSE", "echarts.LICENSE.txt"],
  ["echarts/NOTICE", "echarts.NOTICE.txt"],
  ["echarts/licenses/LICENSE-d3", "echarts-d3.LICENSE.txt"],
  ["zrender/LICENSE", "zrender.LICENSE.txt"],
  ["tslib/LICENSE.txt", "tslib.LICENSE.txt"],
]) {
  copyFileSync(join(modules, from), join(assets, "licenses", to));
}

const files = ["echarts-full.js", "echarts.js", "licenses/echarts-d3.LICENSE.txt", "licenses/echarts.LICENSE.txt", "licenses/echarts.NOTICE.txt", "licenses/tslib.LICENSE.txt", "licenses/zrender.LICENSE.txt"];
const sum = (name) => createHash("sha256").update(readFileSync(join(assets, name))).digest("hex");
writeFileSync(join(assets, "SHA256SUMS"), files.map((name) => `${sum(name)}  ${name}\n`).join(""));
