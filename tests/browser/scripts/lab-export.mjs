// JupyterLab's own "Save and Export Notebook As > HTML", sanitised as its dialog proposes.
import { assert, browse, config, shot } from "./lib.mjs";
import { Lab } from "./lab.mjs";

await browse(async (browser) => {
  const lab = await Lab.open(browser, config.name);
  const arrives = Promise.race([
    lab.page.context().waitForEvent("page").then((page) => ({ page })),
    lab.page.waitForEvent("download").then((download) => ({ download })),
  ]);
  arrives.catch(() => {}); // awaited below
  await lab.menu("File", "Save and Export Notebook As", /^HTML$/);
  const dialog = lab.page.locator(".jp-Dialog");
  if (await dialog.waitFor({ timeout: 5000 }).then(() => true, () => false)) {
    await shot(lab.page, "lab-own-export-dialog");
    const sanitise = dialog.locator("input[type=checkbox]").first();
    assert.ok(await sanitise.isChecked(), "sanitising is no longer the default");
    await dialog.locator("button.jp-mod-accept").click();
  }
  const { page, download } = await arrives;
  const shown = page ?? await lab.page.context().newPage();
  if (download) {
    const { copyFileSync } = await import("node:fs");
    const copy = `${await download.path()}.html`;
    copyFileSync(await download.path(), copy);
    await shown.goto(`file://${copy}`);
  }
  await shown.waitForLoadState("load");
  const sizes = await shown.locator("img").evaluateAll((all) => all.filter((e) => e.src.startsWith("data:image/png")).map((e) => [e.naturalWidth, e.getBoundingClientRect().width]));
  assert.equal(sizes.length, config.pictures, "pictures");
  for (const [natural, width] of sizes) assert.ok(natural >= 600 && width > 100, `a picture of ${natural} px shows with ${width}`);
  const text = await shown.locator("body").innerText();
  for (const source of ["vnd.kafkalab", '"spec"', "kafkalabCharts", "<svg"]) assert.ok(!text.includes(source), `the page shows ${source}`);
  await shown.locator("img").last().scrollIntoViewIfNeeded();
  await shot(shown, `lab-own-export-${config.name}`);
});
