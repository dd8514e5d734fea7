// JupyterLab without the extension: the pictures.
import { assert, browse, config, shot } from "./lib.mjs";
import { Lab } from "./lab.mjs";

await browse(async (browser) => {
  const lab = await Lab.open(browser, "saved.ipynb");
  for (let i = 0; i <= config.charts.length; i++) {
    await lab.scrollTo(i);
    const image = lab.cell(i).locator(".jp-OutputArea img");
    await image.waitFor();
    assert.equal(await image.evaluate((e) => e.naturalWidth), 600);
  }
  assert.equal(await lab.page.locator(".kafkalab-chart").count(), 0);
  await shot(lab.page, "lab-plain");
});
