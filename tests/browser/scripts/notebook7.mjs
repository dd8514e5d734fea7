// Notebook 7: one notebook to a page, the same extension.
import { assert, browse, config, eventually, Replay, shot } from "./lib.mjs";
import { drawn } from "./lab.mjs";

await browse(async (browser) => {
  const page = await browser.newPage({ viewport: { width: 1200, height: 1000 } });
  await page.goto(`${config.url}notebooks/saved.ipynb?token=${config.token}`);
  // Notebook 7 takes the focus to its first cell when the kernel is there.
  await page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").waitFor({ timeout: 60000 });
  await page.waitForTimeout(2000);
  for (let i = 0; i < config.charts.length; i++) {
    const cell = page.locator(".jp-Notebook .jp-Cell").nth(i);
    await eventually(`cell ${i}`, () => cell.scrollIntoViewIfNeeded({ timeout: 2000 }), 60000);
    const figure = cell.locator(".jp-OutputArea .kafkalab-chart");
    await drawn(figure, config.charts[i]);
    if (config.charts[i].kind === "replay") await new Replay(figure, config.charts[i].frames).stepsByMouseAndKeyboard();
  }
  await page.getByRole("menubar").getByRole("menuitem", { name: "File", exact: true }).click();
  assert.equal(await page.locator(".lm-Menu-itemLabel", { hasText: "Export as stepping HTML" }).count(), 1, "the menu entry");
  await shot(page, "notebook7");
});
