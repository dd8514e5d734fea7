// A screenshot of every chart of the page, in light and dark, wide and narrow, for the Go test to compare.
import { join } from "node:path";
import { assert, browse, config, eventually } from "./lib.mjs";

await browse(async (browser) => {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1400, 400]) {
      const page = await (await browser.newContext({ offline: true, colorScheme, viewport: { width, height: 900 } })).newPage();
      await page.goto(config.page);
      const charts = await page.locator(".chart").all();
      for (const [i, chart] of charts.entries()) {
        await chart.scrollIntoViewIfNeeded();
        await eventually(`chart ${i}`, async () => assert.ok((await chart.locator(".kafkalab-chart svg path, .kafkalab-chart svg rect, .kafkalab-chart svg text").count()) > 8), 20000);
        await page.waitForTimeout(60);
        await chart.locator(".kafkalab-chart").screenshot({ path: join(config.shots, `${colorScheme}-${width}-${config.names[i]}.png`), animations: "disabled" });
      }
      await page.context().close();
    }
  }
});
