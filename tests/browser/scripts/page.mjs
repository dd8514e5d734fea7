// The exported page, opened from disk with the network off.
import { assert, browse, config, eventually, Replay, shot, watch } from "./lib.mjs";

const ink = (page, selector) => page.locator(selector).evaluate((e) => getComputedStyle(e).color);

await browse(async (browser) => {
  for (const colorScheme of ["light", "dark"]) {
    const context = await browser.newContext({ offline: true, colorScheme, viewport: { width: 1040, height: 900 } });
    const page = await context.newPage();
    const wrong = watch(page, { allowed: (url) => url === config.page });
    await page.goto(config.page);
    const charts = page.locator(".chart");
    assert.equal(await charts.count(), config.charts.length);
    for (let i = 0; i < config.charts.length; i++) {
      const { kind, h, alt, frames } = config.charts[i];
      const figure = charts.nth(i).locator(".kafkalab-chart");
      await charts.nth(i).scrollIntoViewIfNeeded();
      await eventually(`chart ${i} (${kind})`, async () => assert.ok((await figure.locator("svg path, svg rect, svg text").count()) > 8, "it is not drawn"));
      assert.equal(await figure.getAttribute("data-kafkalab"), kind);
      assert.equal(await figure.getAttribute("aria-label"), alt);
      assert.equal((await figure.boundingBox()).height, h, `the height of chart ${i}`);
      assert.equal(await charts.nth(i).locator("> img").isVisible(), false, `the PNG of chart ${i} shows too`);
      if (frames && colorScheme === "light") await new Replay(figure, frames).stepsByMouseAndKeyboard();
      if (kind === "echarts") { // its tooltip is text in the drawing, whatever its formatter says
        await figure.hover({ position: { x: 400, y: h / 2 } });
        await eventually("the tooltip as text", async () => assert.match(await figure.locator("svg").textContent(), /<img src=x/));
        assert.equal(await figure.locator("img").count(), 0);
        assert.deepEqual(await page.evaluate(() => globalThis.ran ?? []), []);
      }
      if (kind === "curve") {
        await figure.hover({ position: { x: 400, y: h / 2 } });
        await eventually("the tooltip", async () => assert.match(await figure.textContent(), /\d ms.*: \d/));
      }
    }
    const [text, paper] = [await ink(page, "main"), await page.locator("body").evaluate((e) => getComputedStyle(e).backgroundColor)];
    assert.notEqual(text, paper);
    await page.evaluate(() => scrollTo(0, 0));
    await page.mouse.move(0, 0);
    await shot(page, `${config.shots}-${colorScheme}`, { fullPage: true });
    assert.deepEqual(wrong, []);
    await context.close();
  }

  // A narrow window: nothing sticks out.
  const narrow = await browser.newPage({ viewport: { width: 420, height: 800 } });
  await narrow.goto(config.page);
  for (const chart of await narrow.locator(".chart").all()) await chart.scrollIntoViewIfNeeded();
  await narrow.waitForTimeout(300);
  assert.equal(await narrow.evaluate(() => document.documentElement.scrollWidth), 420, "the page is wider than its window");
  await shot(narrow, `${config.shots}-narrow`, { fullPage: true });

  // Without JavaScript the pictures show.
  const still = await browser.newPage({ javaScriptEnabled: false, viewport: { width: 1040, height: 900 } });
  await still.goto(config.page);
  assert.equal(await still.locator(".kafkalab-chart").count(), 0);
  for (const image of await still.locator(".chart > img").all()) assert.ok(await image.isVisible(), "a PNG does not show");
  await shot(still, `${config.shots}-no-script`, { fullPage: true });
});
