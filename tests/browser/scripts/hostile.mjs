// Hostile charts on a page without any policy: the drawing script alone must keep them from running.
import { assert, browse, config, eventually, shot, watch } from "./lib.mjs";

await browse(async (browser) => {
  const page = await browser.newPage({ viewport: { width: 1000, height: 900 } });
  const all = watch(page, { allowed: (url) => url === config.page });
  // ECharts may stumble over an option of somebody else's; that it throws is no harm.
  const wrong = { get list() { return config.stumbles ? all.filter((what) => !/^(error|console):/.test(what)) : all; } };
  await page.goto(config.page);
  await eventually("all charts", async () => {
    const shown = await page.locator(".kafkalab-chart").evaluateAll((all) => all.map((e) => e.dataset.kafkalab));
    assert.equal(shown.length, config.kinds.length);
    shown.forEach((kind, i) => config.kinds[i] === "?" ? assert.ok(kind) : assert.equal(kind, config.kinds[i], `chart ${i}: ${config.names[i]}`));
    const drawn = await page.locator(".kafkalab-chart").evaluateAll((all) => all.every((e) => e.querySelector("svg, img, p")));
    assert.ok(drawn, "one is empty");
  });
  let points = 0;
  for (const figure of await page.locator(".kafkalab-chart").all()) {
    await figure.scrollIntoViewIfNeeded();
    const box = await figure.boundingBox();
    for (const [x, y] of [[0.1, 0.1], [0.3, 0.2], [0.3, 0.6], [0.5, 0.5], [0.7, 0.4], [0.9, 0.8], [0.15, 0.08], [0.2, 0.95]]) {
      await page.mouse.move(box.x + box.width * x, box.y + Math.min(box.height, 700) * y);
      await page.mouse.down();
      await page.mouse.up();
      points++;
    }
  }
  await page.waitForTimeout(500);
  assert.deepEqual(await page.evaluate(() => globalThis.ran ?? []), [], "something of a chart's ran");
  assert.equal(await page.evaluate(() => Object.keys(Object.prototype).length), 0, "Object.prototype has grown");
  assert.equal(await page.locator(".kafkalab-chart").locator("script, iframe, a, object, foreignObject, image").count(), 0);
  for (const src of await page.locator(".kafkalab-chart img").evaluateAll((all) => all.map((e) => e.src))) {
    assert.ok(src.startsWith("data:image/png;base64,"), src);
  }
  await shot(page, "hostile", { fullPage: true });
  assert.deepEqual(wrong.list, []);
  console.log(`${points} points hovered and clicked over ${config.kinds.length} charts`);
});
