// A learner's own charts, one of each type of go-echarts, in an exported page from disk.
import { assert, browse, config, inked, ownChart, shot, watch } from "./lib.mjs";

await browse(async (browser) => {
  const context = await browser.newContext({ offline: true, viewport: { width: 1000, height: 900 } });
  const page = await context.newPage();
  const wrong = watch(page, { allowed: (url) => url === config.page });
  await page.goto(config.page);
  const outputs = page.locator(".out");
  assert.equal(await outputs.count(), config.charts.length);
  for (let i = 0; i < config.charts.length; i++) {
    const { name, h, alt, code } = config.charts[i];
    const output = outputs.nth(i);
    await output.scrollIntoViewIfNeeded();
    if (code) {
      assert.equal(await output.locator("img").getAttribute("alt"), alt);
      assert.match(await output.locator(".note").textContent(), /functions along, which a page does not run/);
      assert.ok(await inked(page, output.locator("img")) > 500, `${name}: its picture is empty`);
      continue;
    }
    const figure = output.locator(".kafkalab-chart");
    await ownChart(page, figure, config.charts[i]);
    assert.equal(await output.locator(".chart > img").isVisible(), false, `${name}: its still picture shows too`);
    for (const [x, y] of [[0.5, 0.5], [0.3, 0.6], [0.7, 0.4]]) { // point at it and click: no error, nothing leaves the page
      await figure.hover({ position: { x: 900 * x, y: h * y } });
      await page.mouse.down();
      await page.mouse.up();
    }
  }
  await page.evaluate(() => scrollTo(0, 0));
  await shot(page, "show", { fullPage: true });
  assert.deepEqual(wrong, []);

  const still = await browser.newPage({ javaScriptEnabled: false, viewport: { width: 1000, height: 900 } });
  await still.goto(config.page);
  const images = await still.locator(".out img").all();
  assert.equal(images.length, config.charts.length);
  for (const [i, image] of images.entries()) {
    await image.scrollIntoViewIfNeeded();
    assert.ok(await image.isVisible() && (await image.boundingBox()).height > 100, `${config.charts[i].name}: no picture without JavaScript`);
    assert.equal(await image.getAttribute("alt"), config.charts[i].alt);
  }
});
