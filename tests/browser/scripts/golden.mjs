// The live picture against the golden one that Go drew for the PNG: shape by shape, colour by colour.
import { assert, browse, config } from "./lib.mjs";

// shapes runs in the page: every shape of a picture as one line, with what its groups give it.
function shapes(source, height) {
  const root = typeof source === "string" ? new DOMParser().parseFromString(source, "image/svg+xml").documentElement : source;
  const inherited = (e, name) => {
    for (let at = e; at && at !== root; at = at.parentElement) if (at.hasAttribute(name)) return at.getAttribute(name);
    return "";
  };
  const round = (text) => text.replace(/-?\d*\.?\d+/g, (n) => String(Math.round(Number(n) * 10) / 10 + 0)).replace(/[\s,]+/g, " ");
  const colour = (text) => text.toLowerCase().replace(/^#([0-9a-f])([0-9a-f])([0-9a-f])$/, "#$1$1$2$2$3$3");
  const own = { rect: ["x", "y", "width", "height", "rx"], line: ["x1", "y1", "x2", "y2"], circle: ["cx", "cy", "r"], path: ["d"], text: ["y"] };
  const lines = [];
  for (const e of root.querySelectorAll("rect, line, circle, path, text")) {
    if (e.getAttribute("stroke") === "transparent") continue; // only there to be pointed at
    if (Number(e.getAttribute("y") ?? e.getAttribute("y1")) >= height) continue; // the PNG's list of what happened
    const words = e.tagName === "text" ? [e.firstChild?.textContent ?? "", inherited(e, "text-anchor"), round(e.getAttribute("x"))] : [];
    const place = own[e.tagName].map((name) => round(e.getAttribute(name) ?? ""));
    const paint = ["fill", "stroke", "opacity"].map((name) => colour(inherited(e, name)));
    lines.push([e.tagName, ...place, ...words, ...paint].join(" | "));
    const note = e.querySelector("tspan"); // "out of ISR" follows the name, however wide the font
    if (note) lines.push(["text", round(e.getAttribute("y")), note.textContent, "", colour(note.getAttribute("fill")), "", inherited(e, "opacity")].join(" | "));
  }
  return lines;
}

// textsOnTexts runs in the page: the pairs of level texts of a picture that lie on each other in this browser's font.
function textsOnTexts(root) {
  const level = (e) => e.textContent.trim() && !/matrix|rotate/.test(e.getAttribute("transform") ?? "");
  const boxes = [...root.querySelectorAll("text")].filter(level).map((e) => ({ text: e.textContent, box: e.getBoundingClientRect() }))
    .map(({ text, box }) => ({ text, left: box.left, right: box.right, top: box.top + box.height * 0.2, bottom: box.bottom - box.height * 0.2 }));
  const found = [];
  boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => {
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (across > 1 && down > 1) found.push(`${a.text} | ${b.text}, by ${Math.round(across)} x ${Math.round(down)} px`);
  }));
  return found;
}

await browse(async (browser) => {
  const page = await browser.newPage();
  await page.goto(config.page);
  await page.evaluate(`globalThis.shapes = ${shapes}; globalThis.textsOnTexts = ${textsOnTexts}`);
  for (const { name, chart } of config.named) {
    const found = await page.evaluate(async (chart) => {
      const host = document.body.appendChild(document.createElement("div"));
      host.style.width = "820px";
      const figure = kafkalabCharts.create(host, { loadECharts: async () => kafkalabECharts });
      figure.update(chart, "");
      for (let i = 0; i < 50 && !host.querySelector("svg text"); i++) await new Promise((done) => setTimeout(done, 20));
      const pairs = textsOnTexts(host.querySelector(".kafkalab-picture > svg") ?? host.querySelector("svg"));
      const words = host.querySelectorAll("svg text").length;
      figure.dispose();
      host.remove();
      return { pairs, words };
    }, chart);
    assert.ok(found.words > 3, `${name} has ${found.words} texts`);
    assert.deepEqual(found.pairs, [], `texts of ${name} lie on each other`);
  }
  for (const { name, svg, chart } of config.pictures) {
    const [golden, live] = await page.evaluate(async ([svg, chart]) => {
      const host = document.body.appendChild(document.createElement("div"));
      const figure = kafkalabCharts.create(host, { loadECharts: () => Promise.reject(new Error("no curves")) });
      figure.update(chart, "");
      const both = [shapes(svg, JSON.parse(chart.spec).height), shapes(host.querySelector(":scope .kafkalab-picture > svg"))];
      figure.dispose();
      return both;
    }, [svg, chart]);
    // The golden one has a white page behind it, and its notes stand at measured places.
    const same = (lines) => lines.filter((line) => !/^rect \| 0 \| 0 \| \d+ \| \d+ \|  \| #ffffff/.test(line))
      .map((line) => line.replace(/^(text \| \S+ \| )out of ISR \| .*?\| (#\S+ \|  \| \S*)$/, "$1out of ISR |  | $2")).sort();
    const [want, got] = [same(golden), same(live)];
    const missing = want.filter((line) => !got.includes(line));
    const extra = got.filter((line) => !want.includes(line));
    assert.deepEqual({ missing, extra }, { missing: [], extra: [] }, name);
    assert.ok(got.length > 20, `${name} has ${got.length} shapes`);
    console.log(`${name}: ${got.length} shapes are the golden ones`);
  }
});
