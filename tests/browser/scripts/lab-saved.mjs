// A notebook that came with outputs and without trust: the charts are live all the same; a learner's own
// option is not drawn, its picture is.
import { assert, browse, config, Replay, shot } from "./lib.mjs";
import { drawn, Lab } from "./lab.mjs";

await browse(async (browser) => {
  const lab = await Lab.open(browser, "saved.ipynb");
  if (config.version) assert.equal(await lab.page.evaluate(() => window.jupyterapp.version), config.version);
  for (let i = 0; i < config.charts.length; i++) {
    await lab.scrollTo(i);
    await drawn(lab.figure(i), config.charts[i]);
    const { kind, frames } = config.charts[i];
    if (kind === "replay") await new Replay(lab.figure(i), frames).stepsByMouseAndKeyboard();
  }
  const own = config.charts.length;
  await lab.scrollTo(own);
  const figure = lab.figure(own);
  await figure.locator("img").waitFor();
  assert.equal(await figure.getAttribute("data-kafkalab"), "png", "an untrusted option was drawn");
  assert.equal(await figure.locator("img").getAttribute("alt"), "a bar");
  assert.equal(await figure.locator("svg").count(), 0);

  // Keys at a figure are the figure's: "b" would insert a cell, "d d" would delete one, "z" undo.
  const cells = await lab.cells();
  const replay = config.charts.findIndex((c) => c.kind === "replay");
  await lab.scrollTo(replay);
  await lab.figure(replay).focus();
  for (const key of ["b", "a", "d", "d", "z", "x", "ArrowLeft"]) await lab.page.keyboard.press(key);
  assert.equal(await lab.cells(), cells, "a key at the figure changed the notebook");
  assert.equal(await lab.figure(replay).count(), 1);

  await lab.scrollTo(0);
  await lab.page.waitForTimeout(300);
  await shot(lab.page, "lab-untrusted-light");
  await lab.setTheme("JupyterLab Dark");
  await lab.page.waitForTimeout(800);
  for (let i = 0; i < config.charts.length; i++) {
    await lab.scrollTo(i);
    await drawn(lab.figure(i), config.charts[i]);
    const fills = await lab.figure(i).locator("svg text").evaluateAll((all) => all.map((e) => getComputedStyle(e).fill));
    assert.ok(fills.includes("rgb(228, 231, 235)") && !fills.includes("rgb(31, 31, 31)") || config.charts[i].kind !== "curve", `dark ink in chart ${i}: ${fills[0]}`);
  }
  await lab.scrollTo(2);
  await lab.page.waitForTimeout(300);
  await shot(lab.page, "lab-untrusted-dark");
  await lab.setTheme("JupyterLab Light");

  // Trusting the notebook draws the learner's own chart too.
  await lab.command("notebook:trust");
  await (await lab.dialog()).locator("button.jp-mod-accept").click();
  await lab.scrollTo(own);
  await drawn(lab.figure(own), { kind: "echarts", h: 240, alt: "a bar" });
  await shot(lab.page, "lab-trusted-own");

  // Where the chunk with ECharts is not to be had, the curves are pictures and the rest is live.
  const other = await Lab.open(browser, "saved.ipynb", {}, (page) => page.route("**/echarts.*.js", (route) => route.abort()));
  for (let i = 0; i < config.charts.length; i++) {
    await other.scrollTo(i);
    const { kind, alt } = config.charts[i];
    if (kind !== "curve") {
      await drawn(other.figure(i), config.charts[i]);
      continue;
    }
    await other.figure(i).locator("img").waitFor();
    assert.equal(await other.figure(i).locator("img").getAttribute("alt"), alt);
  }
});
