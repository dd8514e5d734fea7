// A display that grows: 500 updates of one figure of each kind leak nothing, never show nothing, and leave the
// reader's slider where it is.
import { assert, browse, config, watch } from "./lib.mjs";

await browse(async (browser) => {
  const page = await browser.newPage({ viewport: { width: 1000, height: 900 } });
  const wrong = watch(page, { allowed: (url) => url === config.page });
  await page.goto(config.page);
  for (const chart of config.charts) {
    const seen = await page.evaluate(async (chart) => {
      const host = document.body.appendChild(document.createElement("div"));
      let loads = 0;
      let resized = 0;
      const library = { ...kafkalabECharts, init: (...given) => {
        const instance = kafkalabECharts.init(...given);
        const resize = instance.resize.bind(instance);
        instance.resize = (size) => (resized++, resize(size));
        return instance;
      } };
      const figure = kafkalabCharts.create(host, { loadECharts: async () => (loads++, library) });
      const spec = JSON.parse(chart.spec);
      const part = (n) => {
        const frames = spec.frames && { frames: spec.frames.slice(0, Math.max(2, Math.ceil((spec.frames.length * n) / 500))) };
        const series = spec.series && { series: spec.series.map((s) => ({ ...s, points: s.points.slice(0, Math.ceil((s.points.length * n) / 500)) })) };
        return { ...chart, spec: JSON.stringify({ ...spec, ...frames, ...series }) };
      };
      const drawn = () => host.querySelectorAll("svg *").length;
      const settle = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
      figure.update(part(1), "");
      for (let i = 0; i < 50 && !drawn(); i++) await settle();
      const slider = host.querySelector("input[type=range]");
      if (slider) {
        slider.value = "0";
        slider.dispatchEvent(new Event("input"));
      }
      const first = host.firstElementChild;
      const times = [];
      let blank = 0;
      let jumps = 0;
      const high = host.offsetHeight;
      for (let n = 2; n <= 500; n++) {
        const begun = performance.now();
        figure.update(part(n), "");
        for (let i = 0; i < 8; i++) await null; // a curve is drawn when the library has come
        times.push(performance.now() - begun);
        await settle();
        if (drawn() < 5) blank++;
        if (host.offsetHeight !== high) jumps++;
      }
      // A story that is thinned as it grows: the reader stays at the moment that they look at.
      let moved = "";
      if (slider && chart.kind === "replay") {
        const middle = Math.floor(spec.frames.length / 2) | 1;
        slider.value = String(middle);
        slider.dispatchEvent(new Event("input"));
        figure.update({ ...chart, spec: JSON.stringify({ ...spec, frames: spec.frames.filter((_, i) => i % 2 === 0) }) }, "");
        const stands = host.querySelector("output").textContent;
        if (!stands.startsWith(`${spec.frames[middle + 1].t} ms`)) moved = `from ${spec.frames[middle].t} ms to ${stands}`;
        slider.value = "0";
        slider.dispatchEvent(new Event("input"));
      }
      times.sort((a, b) => a - b);
      const out = { kind: chart.kind, blank, jumps, elements: document.querySelectorAll("*").length, at: slider ? slider.value : "0", same: host.firstElementChild === first, moved,
        median: times[250], late: times[474], resized, charts: host.querySelectorAll("svg").length, loads };
      figure.dispose();
      host.remove();
      return { ...out, left: document.querySelectorAll("body *").length };
    }, chart);
    console.log(JSON.stringify(seen));
    assert.equal(seen.blank, 0, "it was blank in between");
    assert.equal(seen.jumps, 0, "its height has jumped");
    assert.equal(seen.at, "0", "the reader's slider has moved");
    assert.equal(seen.moved, "", "the reader was moved to another moment");
    assert.ok(seen.same, "the figure was built anew");
    assert.equal(seen.resized, 0, "an update of the same size draws twice"); // the median is 1 to 8 ms; a machine may be slow
  }
  const left = await page.evaluate(() => document.querySelectorAll("div").length);
  assert.equal(left, 0, "something of the figures is left on the page");
  assert.deepEqual(wrong, []);
});
