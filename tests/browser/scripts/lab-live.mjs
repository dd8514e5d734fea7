// Cells that are run: trusted outputs, a display that grows, and the menu entry for the stepping page.
import { readFileSync } from "node:fs";
import { assert, browse, config, eventually, Replay, shot } from "./lib.mjs";
import { drawn, Lab } from "./lab.mjs";

const chart = (kind) => config.charts.find((c) => c.name === kind);

await browse(async (browser) => {
  const lab = await Lab.open(browser, "live.ipynb");
  const requests = [];
  lab.page.on("request", (request) => requests.push(request.url()));
  await lab.runAll();
  await lab.whenRun();
  await lab.scrollTo(0);
  await drawn(lab.figure(0), chart("lag"));
  await lab.scrollTo(1);
  await drawn(lab.figure(1), chart("replay"));
  assert.equal(requests.filter((url) => url.includes("/echarts.")).length, 1, "ECharts is loaded once, at the first curve");
  await lab.scrollTo(2);
  assert.match((await lab.output(2)).join(""), /grown/);
  const replay = new Replay(lab.figure(1), chart("replay").frames);
  await replay.stepsByMouseAndKeyboard(); // it begins at the end: it followed as it grew

  // A reader who went back stays there while the display grows on.
  await replay.figure.focus();
  await lab.page.keyboard.press("Home");
  await lab.scrollTo(2);
  await lab.cell(2).locator(".jp-InputArea-editor").click();
  await lab.page.keyboard.press("Shift+Enter");
  await lab.whenRun();
  await replay.shows(0);

  // Saving by keyboard goes on working with the focus in a figure.
  await lab.scrollTo(1);
  await replay.figure.focus();
  const saved = lab.page.waitForResponse((r) => r.request().method() === "PUT" && r.url().includes("live.ipynb"));
  await lab.page.keyboard.press("Control+s");
  await saved;
  await shot(lab.page, "lab-live");

  const download = lab.page.waitForEvent("download");
  await lab.menu("File", "Export as stepping HTML");
  const page = await download;
  assert.equal(page.suggestedFilename(), "live.html");
  const text = readFileSync(await page.path(), "utf8");
  assert.ok(text.startsWith("<p>live.ipynb ") && text.length > 3000000, text.slice(0, 60));

  // A page that cannot be made is a sentence in a dialog: the kernel's, or ours when it has no such target.
  await lab.addCell("fails = True");
  await lab.whenRun();
  await lab.menu("File", "Export as stepping HTML");
  const refusal = await lab.dialog();
  await eventually("the kernel's sentence", async () => assert.match(await refusal.textContent(), /no page for live\.ipynb/));
  await refusal.locator(".jp-Dialog-footer button").first().click();
  await refusal.waitFor({ state: "hidden" });
  const other = await Lab.open(browser, "saved.ipynb");
  await other.menu("File", "Export as stepping HTML");
  const dialog = await other.dialog();
  await eventually("the dialog", async () => assert.match(await dialog.textContent(), /kernel does not know the export/));
  await shot(other.page, "lab-export-error");
});
